"""Phase 2 with the specification's numbers (SPEC-003 §6)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from services.common.ports.facts import FactStatus
from services.common.taxonomy import GroundingMode
from services.envelope.domain.candidates import Candidate, effective_status
from services.envelope.domain.communities import communities_by_relevance
from services.envelope.domain.expansion import expanded, thin_communities
from services.envelope.domain.freshness import age_days, freshness_score, horizon_days
from services.envelope.domain.ranking import RankingTerms, diversity_bonus, rank
from services.envelope.domain.temporal import is_time_sensitive
from services.envelope.domain.weights import RankWeights, effective_weights

NOW = datetime(2026, 5, 24, 9, 0, tzinfo=UTC)
QUERY = np.array([[1.0, 0.0, 0.0, 0.0]], dtype=np.float32)
TERMS = RankingTerms(RankWeights(), NOW, 365.0)


def vector(cosine, axis=1):
    """A unit vector with this cosine to the query; the rest lies on ``axis``."""
    values = np.zeros(4, dtype=np.float32)
    values[0], values[axis] = cosine, np.sqrt(1 - cosine**2)
    return values


def fact(fact_id, cosine, axis=1, **changes):
    values = {
        "fact_id": fact_id,
        "content": fact_id,
        "content_hash": fact_id * 8,
        "source_id": "s",
        "token_count": 10,
        "importance_weight": 0.7,
        "ingested_at": NOW,
        "embedding": vector(cosine, axis),
        "community": "c",
    }
    return Candidate(**(values | changes))


def test_composite_score_is_the_weighted_sum():
    old = fact("a", 0.8, ingested_at=NOW - timedelta(days=73), importance_weight=0.9)
    [ranked] = rank([old], QUERY, TERMS)
    assert ranked.relevance_score == pytest.approx(0.8, abs=1e-6)
    assert ranked.freshness_score == pytest.approx(0.8)
    assert ranked.diversity_bonus == 1.0
    assert ranked.composite_score == pytest.approx(0.8 * 0.5 + 0.9 * 0.25 + 0.8 * 0.15 + 1.0 * 0.1)


def test_relevance_is_the_best_over_the_sub_queries_and_never_negative():
    queries = np.stack([vector(0.0, 1), QUERY[0]])
    assert rank([fact("a", 0.8)], queries, TERMS)[0].relevance_score == pytest.approx(0.8, abs=1e-6)
    assert rank([fact("a", -0.5)], QUERY, TERMS)[0].relevance_score == 0.0


@pytest.mark.parametrize(
    ("selected", "total", "expected"),
    [(0, 5, 1.0), (1, 5, 0.8), (2, 5, 0.6), (3, 5, 0.0), (1, 2, 0.0), (0, 1, 1.0), (41, 100, 0.0), (40, 100, 0.6)],
)
def test_diversity_bonus_falls_and_ends_above_forty_percent(selected, total, expected):
    assert diversity_bonus(selected, total) == pytest.approx(expected)


def test_the_bonus_is_that_of_the_moment_of_selection():
    axes = {"a": 1, "b": 2, "c": 3}
    facts = [fact(name, 0.5 - index / 100, axes[name]) for index, name in enumerate("abc")]
    assert [round(entry.diversity_bonus, 3) for entry in rank(facts, QUERY, TERMS)] == [1.0, 0.667, 0.0]


def test_facts_of_no_community_count_by_source():
    facts = [
        fact("a", 0.5, 1, community="", source_id="s1"),
        fact("b", 0.5, 2, community="", source_id="s2"),
        fact("c", 0.5, 3, community="", source_id="s1"),
    ]
    assert [(r.candidate.fact_id, r.diversity_bonus) for r in rank(facts, QUERY, TERMS)] == [
        ("a", 1.0),
        ("b", 1.0),
        ("c", 0.0),
    ]


def test_of_two_near_identical_facts_the_higher_score_stays():
    low, high = fact("a", 0.9, 1, importance_weight=0.5), fact("b", 0.9, 1, importance_weight=0.9)
    assert [entry.candidate.fact_id for entry in rank([low, high], QUERY, TERMS)] == ["b"]


@pytest.mark.parametrize(("similarity", "count"), [(0.949, 2), (0.95, 2), (0.951, 1)])
def test_only_a_similarity_above_095_makes_a_duplicate(similarity, count):
    one = np.array([1, 0, 0, 0], dtype=np.float32)
    other = np.array([similarity, np.sqrt(1 - similarity**2), 0, 0], dtype=np.float32)
    kept = rank([replace(fact("a", 1.0), embedding=one), replace(fact("b", 1.0), embedding=other)], QUERY, TERMS)
    assert len(kept) == count


def test_nothing_gives_nothing():
    assert rank([], QUERY, TERMS) == ()


@pytest.mark.parametrize(
    ("days", "horizon", "stale", "expected"),
    [(0, 365, False, 1.0), (73, 365, False, 0.8), (365, 365, False, 0.0), (900, 365, False, 0.0), (0, 365, True, 0.0)],
)
def test_freshness(days, horizon, stale, expected):
    assert freshness_score(days, horizon, stale=stale) == pytest.approx(expected)


def test_temporal_queries_have_a_horizon_of_90_days():
    assert (horizon_days(365, time_sensitive=True), horizon_days(365, time_sensitive=False)) == (90.0, 365)
    assert age_days(NOW, NOW - timedelta(hours=12)) == 0.5
    assert age_days(NOW, NOW + timedelta(hours=12)) == 0.0


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What is the current limit?", True),
        ("latest figures", True),
        ("Which rules apply in 2026?", True),
        ("What changed this year?", True),
        ("What was decided in 2019?", False),
        ("What is the currency?", False),
        ("How long is the deadline?", False),
    ],
)
def test_temporal_indicators(query, expected):
    assert is_time_sensitive(query, 2026) is expected


@pytest.mark.parametrize(
    ("time_sensitive", "mode", "expected"),
    [
        (False, GroundingMode.CONTEXT_PREFERRED, (0.50, 0.25, 0.15, 0.10)),
        (True, GroundingMode.CONTEXT_PREFERRED, (0.40, 0.25, 0.25, 0.10)),
        (False, GroundingMode.CONTEXT_STRICT, (0.50 / 1.1, 0.35 / 1.1, 0.15 / 1.1, 0.10 / 1.1)),
        (True, GroundingMode.CONTEXT_STRICT, (0.40 / 1.1, 0.35 / 1.1, 0.25 / 1.1, 0.10 / 1.1)),
        (False, GroundingMode.OPEN, (0.35 / 0.75, 0.15 / 0.75, 0.15 / 0.75, 0.10 / 0.75)),
        (True, GroundingMode.OPEN, (0.35 / 0.85, 0.15 / 0.85, 0.25 / 0.85, 0.10 / 0.85)),
    ],
)
def test_weights_change_by_time_then_by_mode_then_sum_to_one(time_sensitive, mode, expected):
    weights = effective_weights(RankWeights(), time_sensitive=time_sensitive, mode=mode)
    found = (weights.relevance_weight, weights.importance_factor, weights.freshness_weight, weights.diversity_weight)
    assert found == pytest.approx(expected)
    assert weights.total == pytest.approx(1.0)


def test_weights_of_zero_are_refused():
    with pytest.raises(ValueError, match="not all be zero"):
        effective_weights(RankWeights(0, 0, 0, 0), time_sensitive=False, mode=GroundingMode.CONTEXT_PREFERRED)


def test_the_primary_community_holds_most_relevance():
    facts = [fact("a", 0.9, 1, community="x"), fact("b", 0.6, 2, community="y"), fact("c", 0.5, 3, community="y")]
    lone = fact("d", 0.1, 1, community="")
    assert communities_by_relevance(rank([*facts, lone], QUERY, TERMS)) == ("y", "x")


def test_a_fact_past_its_time_to_live_is_stale():
    day = timedelta(days=1)
    assert effective_status(FactStatus.ACTIVE, NOW - 2 * day, day, NOW) is FactStatus.STALE
    assert effective_status(FactStatus.ACTIVE, NOW, day, NOW) is FactStatus.ACTIVE
    assert effective_status(FactStatus.QUARANTINED, NOW - 2 * day, day, NOW) is FactStatus.QUARANTINED


def test_expansion_looks_into_thin_communities_and_takes_ten_near_facts_or_none():
    assert thin_communities(["x", "", "y", "x", "x", "z"], 1) == ("y",)
    near = {f"f{number}": 0.5 for number in range(10)}
    assert len(expanded(near, 0.5)) == 10
    assert expanded({**near, "f9": 0.49}, 0.5) == ()
