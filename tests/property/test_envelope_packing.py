"""Properties of packing that no example can show (SPEC-003 §4, §7)."""

from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.common.documents.document import Block, BlockKind, Document
from services.common.documents.facts.chunking import chunk
from services.common.ports.facts import FactStatus
from services.common.taxonomy import GroundingMode
from services.envelope.domain.assembly import PackingTerms, assemble
from services.envelope.domain.candidates import Candidate
from services.envelope.domain.etag import envelope_etag
from services.envelope.domain.ranking import RankingTerms, rank, relevance_scores
from services.envelope.domain.weights import RankWeights, effective_weights

NOW = datetime(2026, 5, 24, tzinfo=UTC)
DIMENSION = 6


@st.composite
def unit_vectors(draw):
    values = np.array(draw(st.lists(st.integers(-3, 3), min_size=DIMENSION, max_size=DIMENSION)), dtype=np.float32)
    if not values.any():
        values[0] = 1.0
    return values / np.linalg.norm(values)


@st.composite
def candidates(draw, number):
    return Candidate(
        fact_id=f"f{number}",
        content="",
        content_hash=f"h{draw(st.integers(0, 3))}",
        source_id=draw(st.sampled_from(["s1", "s2"])),
        token_count=draw(st.integers(1, 60)),
        importance_weight=draw(st.sampled_from([0.5, 0.7, 0.9, 0.95])),
        ingested_at=NOW - timedelta(days=draw(st.integers(0, 500))),
        embedding=draw(unit_vectors()),
        status=draw(st.sampled_from([FactStatus.ACTIVE, FactStatus.STALE])),
        community=draw(st.sampled_from(["", "x", "y"])),
    )


@st.composite
def builds(draw):
    facts = [draw(candidates(number)) for number in range(draw(st.integers(0, 12)))]
    queries = np.stack([draw(unit_vectors()) for _ in range(draw(st.integers(1, 2)))])
    weights = effective_weights(
        RankWeights(), time_sensitive=draw(st.booleans()), mode=draw(st.sampled_from(list(GroundingMode)))
    )
    terms = PackingTerms(RankingTerms(weights, NOW, 365.0), token_budget=draw(st.integers(1, 300)))
    return facts, queries, terms


@given(builds())
def test_an_envelope_never_exceeds_its_budget_and_accounts_for_every_token(build):
    facts, queries, terms = build
    found = assemble(facts, queries, terms)
    assert found.token_count == sum(fact.candidate.token_count for fact in found.facts)
    assert found.token_count <= terms.token_budget
    assert 0.0 <= found.saturation <= 1.0


@given(builds(), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(build, random):
    facts, queries, terms = build
    shuffled = list(facts)
    random.shuffle(shuffled)
    assert assemble(facts, queries, terms) == assemble(shuffled, queries, terms)


@given(builds())
def test_no_fact_stands_twice_and_what_is_left_out_did_not_fit(build):
    facts, queries, terms = build
    found = assemble(facts, queries, terms)
    ids = [fact.candidate.fact_id for fact in (*found.facts, *found.excluded)]
    assert len(ids) == len(set(ids))
    assert set(ids) <= {fact.fact_id for fact in facts}
    assert all(found.token_count + fact.candidate.token_count > terms.token_budget for fact in found.excluded)


@given(builds())
def test_included_and_deferred_are_the_ranked_facts_and_each_keeps_its_rank(build):
    facts, queries, terms = build
    found = assemble(facts, queries, terms)
    ranked = [fact.candidate.fact_id for fact in rank(facts, queries, terms.ranking)]
    included = {fact.candidate.fact_id for fact in found.facts}
    deferred = [fact.candidate.fact_id for fact in found.excluded]
    assert deferred == [fact_id for fact_id in ranked if fact_id not in included]
    assert included | set(deferred) == set(ranked)


@given(builds())
def test_the_same_build_twice_is_the_same_envelope(build):
    facts, queries, terms = build
    assert assemble(facts, queries, terms) == assemble(facts, queries, terms)


@given(st.lists(st.text(max_size=8), unique=True, max_size=8), st.randoms(use_true_random=False), st.text(max_size=4))
def test_an_etag_does_not_depend_on_the_order_of_the_facts(ids, random, salt):
    shuffled = list(ids)
    random.shuffle(shuffled)
    assert envelope_etag(ids, salt) == envelope_etag(shuffled, salt)


@given(builds(), st.integers(1, 300))
def test_every_fact_that_fits_alone_is_packed_or_displaced_by_a_better_one(build, budget):
    facts, queries, terms = build
    found = assemble(facts, queries, PackingTerms(terms.ranking, token_budget=budget))
    scores = {fact.candidate.fact_id: fact.composite_score for fact in found.facts}
    for fact in found.excluded:
        if fact.candidate.token_count <= budget:
            assert any(score >= fact.composite_score for score in scores.values())


@given(builds())
def test_the_kept_facts_are_no_duplicates_of_each_other(build):
    facts, queries, terms = build
    found = assemble(facts, queries, terms)
    vectors = [fact.candidate.embedding for fact in (*found.facts, *found.excluded)]
    for index, vector in enumerate(vectors[:-1]):
        rest = relevance_scores(vector[None, :], np.stack(vectors[index + 1 :]))
        assert rest.max() <= 0.95


@given(builds())
def test_scores_are_fractions(build):
    facts, queries, terms = build
    for fact in assemble(facts, queries, terms).facts:
        for score in (fact.relevance_score, fact.freshness_score, fact.diversity_bonus, fact.composite_score):
            assert 0.0 <= score <= 1.0


SENTENCES = st.lists(
    st.sampled_from(
        [
            "A motor accident must be reported within seven days of the event.",
            "It may be reported by telephone, by letter or through a broker.",
            "Short one.",
            "The following is excluded:",
            "However, the insurer may extend the period by thirty days.",
            "word " * 600,
        ]
    ),
    min_size=1,
    max_size=5,
)
BLOCKS = st.lists(
    st.builds(
        lambda kind, sentences, level: Block(kind, " ".join(" ".join(sentences).split()), level),
        st.sampled_from([BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.CODE]),
        SENTENCES,
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=6,
)


@given(BLOCKS)
def test_chunking_loses_no_word_and_makes_no_fact_too_long(blocks):
    drafts = chunk(Document("text/plain", "", tuple(blocks)), lambda text: len(text.split()))
    assert all(0 < len(draft.content.split()) <= 512 for draft in drafts)
    known = {word.strip(".:,") for draft in drafts for word in draft.content.split()}
    assert {word.strip(".:,") for block in blocks for word in block.text.split()} <= known
    assert len({(draft.section, draft.content) for draft in drafts}) == len(drafts)
