"""Ranking against a naive reading of SPEC-003 §6, step by step and candidate by candidate."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.ports.facts import FactStatus
from services.envelope.domain.candidates import Candidate
from services.envelope.domain.duplicates import differ_in_values
from services.envelope.domain.ranking import RankingTerms, rank
from services.envelope.domain.similarity import similar_pairs
from services.envelope.domain.weights import RankWeights

NOW = datetime(2026, 5, 24, 9, 0, tzinfo=UTC)
DIMENSION = 6
TEXTS = ("The limit is 30 days.", "The limit is 60 days.", "The fee is EUR 5.", "It applies to all members.")


def unit(values):
    vector = np.array(values, dtype=np.float32)
    length = np.linalg.norm(vector)
    return vector / length if length else np.eye(1, DIMENSION, dtype=np.float32)[0]


vectors = st.lists(st.integers(-2, 2), min_size=DIMENSION, max_size=DIMENSION).map(unit)
near_ties = st.sampled_from([0.5, 0.5 + 1e-9, 0.5 - 1e-9, 0.5 + 2e-7, 0.9, 0.1])
"""Weights that differ by less than the six decimals of a score, so that rounding makes ties."""


@st.composite
def candidate_lists(draw):
    count = draw(st.integers(0, 24))
    return [
        Candidate(
            fact_id=f"f{number:02}",
            content=draw(st.sampled_from(TEXTS)),
            content_hash=draw(st.sampled_from("abc")),
            source_id=draw(st.sampled_from("st")),
            token_count=1,
            importance_weight=draw(near_ties | st.floats(0, 1)),
            ingested_at=NOW - timedelta(days=draw(st.integers(0, 500))),
            embedding=draw(vectors),
            status=draw(st.sampled_from([FactStatus.ACTIVE, FactStatus.STALE])),
            community=draw(st.sampled_from(["", "x", "y"])),
        )
        for number in range(count)
    ]


def naive_rank(candidates, queries, terms):
    """The formulae as they are written: the greedy choice tries every waiting candidate at every step."""
    weights, scored = terms.weights, []
    waiting = sorted(candidates, key=lambda fact: (fact.content_hash, fact.fact_id))
    totals = {fact.diversity_group: 0 for fact in waiting}
    chosen = dict(totals)
    for fact in waiting:
        totals[fact.diversity_group] += 1
    places = {fact.fact_id: place for place, fact in enumerate(waiting)}

    def scores(fact):
        cosines = [float(np.dot(fact.embedding.astype(float), query.astype(float))) for query in queries]
        relevance = float(np.round(min(1.0, max(0.0, *cosines, 0.0)), 6))
        age = max(0.0, (NOW - fact.ingested_at).total_seconds() / 86_400)
        freshness = 0.0 if fact.status is FactStatus.STALE else max(0.0, 1.0 - age / terms.horizon_days)
        share = chosen[fact.diversity_group] / totals[fact.diversity_group]
        bonus = 0.0 if share > 0.40 else 1.0 - share
        composite = (
            weights.relevance_weight * relevance
            + weights.importance_factor * fact.importance_weight
            + weights.freshness_weight * freshness
            + weights.diversity_weight * bonus
        )
        return float(np.round(composite, 6)), bonus, relevance, float(np.round(freshness, 6))

    while waiting:
        best = max(waiting, key=lambda fact: (scores(fact)[0], -places[fact.fact_id]))
        scored.append((best, *scores(best)))
        chosen[best.diversity_group] += 1
        waiting.remove(best)
    scored.sort(key=lambda entry: (-entry[1], places[entry[0].fact_id]))
    kept = []
    for entry in scored:
        if not any(is_duplicate(entry[0], other[0], terms) for other in kept):
            kept.append(entry)
    return kept


def is_duplicate(one, other, terms):
    cosine = np.round(np.dot(one.embedding.astype(float), other.embedding.astype(float)), 6)
    return cosine > 0.95 and not (terms.compare_values and differ_in_values(one.content, other.content))


terms = st.builds(
    RankingTerms,
    weights=st.sampled_from([RankWeights(), RankWeights(0.4, 0.25, 0.25, 0.1), RankWeights(0.0, 0.0, 0.0, 1.0)]),
    now=st.just(NOW),
    horizon_days=st.sampled_from([365.0, 90.0]),
    compare_values=st.booleans(),
)


@given(candidate_lists(), st.lists(vectors, min_size=1, max_size=3), terms)
def test_ranking_is_the_naive_reading_of_the_formulae(candidates, queries, given_terms):
    found = rank(candidates, np.stack(queries), given_terms)
    assert [
        (fact.candidate, fact.composite_score, fact.diversity_bonus, fact.relevance_score, fact.freshness_score)
        for fact in found
    ] == naive_rank(candidates, queries, given_terms)


@given(candidate_lists(), terms, st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(candidates, given_terms, chance):
    queries = np.eye(1, DIMENSION, dtype=np.float32)
    shuffled = list(candidates)
    chance.shuffle(shuffled)
    assert rank(shuffled, queries, given_terms) == rank(candidates, queries, given_terms)


def pairs(rows):
    return [pair for block in similar_pairs(rows) for pair in zip(*(places.tolist() for places in block), strict=True)]


def test_pairs_are_found_across_blocks_and_only_above_the_limit():
    rng = np.random.default_rng(7)
    plain = rng.standard_normal((2_600, 16))
    plain[2_590] = plain[3] + 1e-3
    plain[1_500] = plain[1_499]
    rows = (plain / np.linalg.norm(plain, axis=1, keepdims=True)).astype(np.float32)
    exact = rows.astype(float) @ rows.astype(float).T
    expected = [tuple(pair) for pair in np.argwhere(np.triu(np.round(exact, 6) > 0.95, 1)).tolist()]
    assert {(3, 2_590), (1_499, 1_500)} <= set(expected)
    assert pairs(rows) == expected


@pytest.mark.parametrize(("similar", "kept"), [(TEXTS[:2], 2), ((TEXTS[0], TEXTS[0] + " "), 1)])
def test_what_states_other_values_is_no_duplicate(similar, kept):
    facts = [
        Candidate(f"f{number}", text, str(number), "s", 1, 0.5, NOW, np.eye(1, DIMENSION, dtype=np.float32)[0])
        for number, text in enumerate(similar)
    ]
    assert len(rank(facts, np.eye(1, DIMENSION, dtype=np.float32), RankingTerms(RankWeights(), NOW, 365.0))) == kept


def test_ten_thousand_alike_candidates_are_compared_in_blocks():
    rows = np.tile(np.eye(1, 4, dtype=np.float32), (3_000, 1))
    firsts, seconds = next(similar_pairs(rows))  # not four million pairs at once
    assert (len(firsts), firsts[:2].tolist(), seconds[:2].tolist()) == (4_096, [0, 0], [1, 2])
