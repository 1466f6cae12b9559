"""The retriever in every mode over the memory store: order, batches, fall-backs, deadlines, determinism."""

import asyncio
import uuid
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.adapters.memory.facts import MemoryFactStore
from services.common.context import CallContext, Caller, set_current_call
from services.common.encoding import sha256_hex
from services.common.errors import (
    ErrorReason,
    LimitExceededError,
    StartupError,
    UnavailableError,
)
from services.common.ports.facts import FactFilter, FactRecord, FactStatus
from services.common.settings.envelope import EnvelopeSettings
from services.common.taxonomy import RetrievalMode
from services.envelope.domain.fusion import blend
from services.envelope.domain.search_mode import RESCORED_MODES
from services.envelope.rescoring import CrossEncoderRescorer, LateInteractionRescorer, Rescoring, no_model
from services.envelope.retrieval import MAX_RESCORED, Retriever, SubQueries
from services.envelope.retrieval_counts import RetrievalCounts
from services.envelope.token_cache import TokenVectorCache
from tests.fakes.envelope_world import provider_of
from tests.fakes.rescorers import WordReranker, WordTokenVectors

NOW = datetime(2026, 5, 24, tzinfo=UTC)
TEXTS = (
    "Theft of the vehicle must be reported to the police within 24 hours.",
    "Report an accident within three days.",
    "The cafeteria opens at noon and closes at three.",
    "The police close a theft report after thirty days.",
    "A vehicle is insured from the day of its registration.",
)
QUESTIONS = ("theft of the vehicle reported to the police", "the cafeteria opens at noon")
UNAVAILABLE = UnavailableError(ErrorReason.MODEL_UNAVAILABLE, "gone")
FULL = LimitExceededError(ErrorReason.QUEUE_FULL, "full", retry_after_s=1.0)


class CountingStore(MemoryFactStore):
    """Remembers how often it was searched."""

    def __init__(self, dimension):
        super().__init__(dimension)
        self.searches = []
        self.text_searches = []

    async def search(self, tenant_id, queries, *, limit, where=None):
        self.searches.append(len(queries))
        return await super().search(tenant_id, queries, limit=limit, where=where)

    async def search_text(self, tenant_id, query, *, limit, where=None):
        self.text_searches.append(query)
        return await super().search_text(tenant_id, query, limit=limit, where=where)


class Bench:
    """A retriever over a few facts, with everything it uses in reach."""

    def __init__(self, **settings):
        self.embedding = MemoryEmbeddingModel(64)
        self.store = CountingStore(64)
        self.reranker = WordReranker()
        self.tokens = WordTokenVectors()
        self.counts = RetrievalCounts()
        cache = TokenVectorCache(1 << 20, 1 << 20)
        self.rescorers = {
            RetrievalMode.RERANKED: CrossEncoderRescorer(provider_of(self.reranker)),
            RetrievalMode.LATE_INTERACTION: LateInteractionRescorer(provider_of(self.tokens), cache),
        }
        self.retriever = Retriever(self.store, EnvelopeSettings(**settings), self.rescorers, self.counts)

    async def fill(self, texts=TEXTS, tenant="t"):
        vectors = await self.embedding.embed(texts)
        await self.store.upsert([fact(tenant, text, vector) for text, vector in zip(texts, vectors, strict=True)])
        return self

    async def queries(self, *texts):
        return SubQueries(texts, await self.embedding.embed(texts))

    async def ask(self, mode, *texts, limit=10, tenant="t", where=None):
        queries = await self.queries(*(texts or QUESTIONS))
        return await self.retriever.retrieve(tenant, queries, mode=mode, limit=limit, where=where)


def fact(tenant, text, vector):
    return FactRecord(
        tenant_id=tenant,
        fact_id=str(uuid.uuid5(uuid.NAMESPACE_OID, text)),
        content=text,
        content_hash=sha256_hex(text),
        source_id="source",
        source_location="",
        importance_weight=0.5,
        ingested_at=NOW,
        modified_at=NOW,
        status=FactStatus.ACTIVE,
        embedding=vector,
    )


def by_score(scored):
    """Order (score, text, hit) as the retriever does: best first, ties by id."""
    return -scored[0], scored[2].fact.fact_id


def contents(hits):
    return [hit.fact.content for hit in hits]


@pytest.fixture
async def bench():
    return await Bench().fill()


@pytest.mark.parametrize("mode", RetrievalMode)
async def test_every_mode_finds_the_fact_and_gives_its_cosine(bench, mode):
    found = await bench.ask(mode)
    assert (found.mode, found.keyword_fallback, found.warnings) == (mode, False, ())
    assert contents(found.hits[0])[0] == TEXTS[0]
    assert contents(found.hits[1])[0] == TEXTS[2]
    queries = await bench.queries(*QUESTIONS)
    for row, hits in zip(queries.vectors, found.hits, strict=True):
        cosines = [float(np.dot(hit.fact.embedding.astype(np.float64), row)) for hit in hits]
        assert [hit.cosine for hit in hits] == pytest.approx(cosines, abs=1e-6)
        assert list(hits) == sorted(hits, key=lambda hit: (-hit.score, hit.fact.fact_id))


@pytest.mark.parametrize("mode", RetrievalMode)
async def test_one_search_of_the_vectors_serves_all_sub_queries(bench, mode):
    await bench.ask(mode)
    assert bench.store.searches == ([] if mode is RetrievalMode.TEXT else [2])


async def test_hybrid_is_the_fusion_of_the_two_rankings(bench):
    dense, text, hybrid = [
        (await bench.ask(mode)).hits for mode in (RetrievalMode.DENSE, RetrievalMode.TEXT, RetrievalMode.HYBRID)
    ]
    for row in range(2):
        cosines = {hit.fact.fact_id: hit.cosine for hits in (dense, text) for hit in hits[row]}
        by_words = {hit.fact.fact_id: hit.score for hit in text[row]}
        expected = blend([hit.fact.fact_id for hit in dense[row]], cosines, by_words, words_weight=0.33)
        assert {hit.fact.fact_id: hit.score for hit in hybrid[row]} == pytest.approx(expected)
        assert list(hybrid[row]) == sorted(hybrid[row], key=lambda hit: (-hit.score, hit.fact.fact_id))


async def test_what_is_meant_as_it_is_written_comes_first():
    texts = ["Form KH-4419 reports theft.", "Form KH-4418 reports theft.", "Forms report theft and theft and theft."]
    bench = await Bench(hybrid_exact_weight=1.0).fill(texts)
    for query, first in (("theft form KH-4418", 1), ("theft form kh-4419", 0)):
        hits = (await bench.ask(RetrievalMode.HYBRID, query)).hits[0]
        assert hits[0].fact.content == texts[first]
        assert hits[0].score > 1.0 >= hits[1].score


async def test_the_nearest_are_candidates_whatever_the_words_find():
    """SPEC-003 §5.2 step 1.2: the K nearest neighbours of each sub-query."""
    texts = [f"entry {number} of the list" for number in range(30)]
    bench = await Bench(hybrid_words_weight=1.0).fill([*texts, "xylophone"])
    vectors = await bench.embedding.embed(["xylophone"])
    queries = SubQueries(("entry 7 of the list",), vectors)
    nearest = await bench.retriever.retrieve("t", queries, mode=RetrievalMode.DENSE, limit=5)
    found = await bench.retriever.candidates("t", queries, mode=RetrievalMode.HYBRID, limit=5)
    ids = [hit.fact.fact_id for hit in found.hits[0]]
    assert {hit.fact.fact_id for hit in nearest.hits[0]} <= set(ids)
    assert len(ids) == len(set(ids)) <= 10
    best = await bench.retriever.retrieve("t", queries, mode=RetrievalMode.HYBRID, limit=5)
    assert ids[:5] == [hit.fact.fact_id for hit in best.hits[0]]


async def test_long_candidates_are_fused_beside_the_event_loop(monkeypatch, bench):
    before = (await bench.ask(RetrievalMode.HYBRID)).hits
    monkeypatch.setattr("services.envelope.retrieval._IN_PLACE_CHARS", 0)
    assert (await bench.ask(RetrievalMode.HYBRID)).hits == before


@pytest.mark.parametrize("setting", ["dense", "text", "hybrid"])
def test_no_mode_means_the_settings(setting):
    retriever = Bench(retrieval_mode=setting).retriever
    assert retriever.mode(None) is RetrievalMode[setting.upper()]
    assert retriever.mode(RetrievalMode.RERANKED) is RetrievalMode.RERANKED
    assert Bench().retriever.mode(None) is RetrievalMode.HYBRID


async def test_the_depth_of_the_fusion_is_the_setting_and_at_least_the_limit(bench):
    shallow = await Bench(fusion_depth=1).fill()
    one = await shallow.ask(RetrievalMode.HYBRID, limit=1)
    assert len(one.hits[0]) == 1
    deep = await shallow.ask(RetrievalMode.HYBRID, limit=5)
    assert {len(hits) for hits in deep.hits} == {5}


async def test_the_cross_encoder_is_asked_once_with_every_pair_once(bench):
    found = await bench.ask(RetrievalMode.RERANKED, *QUESTIONS, QUESTIONS[0])
    (pairs,) = bench.reranker.calls
    assert len(pairs) == len(set(pairs)) == 2 * len(TEXTS)
    assert found.hits[0] == found.hits[2]


@pytest.mark.parametrize("weight", [0.1, 1.0, 40.0])
@pytest.mark.parametrize("mode", sorted(RESCORED_MODES))
async def test_the_models_list_is_a_third_one_of_its_own_weight(mode, weight):
    count = len(TEXTS) - 2
    bench = await Bench(
        reranked_candidates=count,
        late_interaction_candidates=count,
        reranked_weight=weight,
        late_interaction_weight=weight,
    ).fill()
    hybrid = (await bench.ask(RetrievalMode.HYBRID)).hits
    found = (await bench.ask(mode)).hits
    for question, before, after in zip(QUESTIONS, hybrid, found, strict=True):
        task = Rescoring(question, tuple(hit.fact for hit in before[:count]))
        (scores,) = await bench.rescorers[mode].scores("t", [task])
        own = sorted(zip(scores.tolist(), contents(before[:count]), before[:count], strict=True), key=by_score)
        low, high = own[-1][0], own[0][0]
        third = {text: weight * ((score - low) / (high - low) if high > low else 1.0) for score, text, _ in own}
        expected = {hit.fact.content: hit.score + third.get(hit.fact.content, 0.0) for hit in before}
        assert {hit.fact.content: hit.score for hit in after} == pytest.approx(expected)
        assert list(after) == sorted(after, key=lambda hit: (-hit.score, hit.fact.fact_id))


async def test_a_heavy_model_orders_alone_and_a_light_one_only_breaks_ties():
    light, heavy = [await Bench(reranked_weight=weight).fill() for weight in (1e-6, 1_000.0)]
    hybrid = (await light.ask(RetrievalMode.HYBRID, QUESTIONS[0])).hits[0]
    scores = [round(hit.score, 5) for hit in hybrid]  # what is closer than the light weight can be turned by it
    untied = [hit.fact.fact_id for hit, score in zip(hybrid, scores, strict=True) if scores.count(score) == 1]
    order = [hit.fact.fact_id for hit in (await light.ask(RetrievalMode.RERANKED, QUESTIONS[0])).hits[0]]
    assert [one for one in order if one in untied] == untied
    found = (await heavy.ask(RetrievalMode.RERANKED, QUESTIONS[0])).hits[0]
    shares = dict(
        zip(
            contents(found), await heavy.reranker.score([(QUESTIONS[0], text) for text in contents(found)]), strict=True
        )
    )
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


async def test_what_is_not_ordered_anew_stays_behind_in_its_order():
    bench = await Bench(reranked_candidates=2).fill()
    hybrid = (await bench.ask(RetrievalMode.HYBRID, QUESTIONS[0])).hits[0]
    found = (await bench.ask(RetrievalMode.RERANKED, QUESTIONS[0])).hits[0]
    assert len(bench.reranker.calls[0]) == 2
    assert {hit.fact.fact_id for hit in found[:2]} == {hit.fact.fact_id for hit in hybrid[:2]}
    assert found[2:] == hybrid[2:]


async def test_all_sub_queries_together_stay_below_the_bound():
    bench = await Bench(reranked_candidates=500, fusion_depth=100).fill([f"rule {number}" for number in range(90)])
    await bench.ask(RetrievalMode.RERANKED, *(f"which rule {number}" for number in range(8)), limit=50)
    (pairs,) = bench.reranker.calls
    assert len(pairs) == MAX_RESCORED == 8 * 64


async def test_late_interaction_encodes_queries_and_new_facts_in_one_call_and_remembers_facts(bench):
    first = await bench.ask(RetrievalMode.LATE_INTERACTION)
    assert [len(texts) for texts in bench.tokens.calls] == [2 + len(TEXTS)]
    second = await bench.ask(RetrievalMode.LATE_INTERACTION)
    assert bench.tokens.calls[1] == list(QUESTIONS)
    assert second == first


async def test_after_an_erasure_facts_are_encoded_again(bench):
    await bench.ask(RetrievalMode.LATE_INTERACTION)
    bench.retriever.forget("t")
    await bench.ask(RetrievalMode.LATE_INTERACTION)
    assert len(bench.tokens.calls[1]) == 2 + len(TEXTS)


async def test_one_tenants_token_vectors_are_not_anothers(bench):
    await bench.fill(tenant="other")
    await bench.ask(RetrievalMode.LATE_INTERACTION)
    await bench.ask(RetrievalMode.LATE_INTERACTION, tenant="other")
    assert len(bench.tokens.calls[1]) == 2 + len(TEXTS)


@pytest.mark.parametrize("mode", RetrievalMode)
async def test_nothing_asked_nothing_found(bench, mode):
    queries = SubQueries((), np.empty((0, 64), dtype=np.float32))
    found = await bench.retriever.retrieve("t", queries, mode=mode, limit=5)
    assert (found.hits, found.mode, found.warnings) == ((), mode, ())


async def test_no_fact_no_model_is_asked():
    bench = Bench()
    for mode in RetrievalMode:
        found = await bench.ask(mode)
        assert (found.mode, found.hits, found.keyword_fallback) == (mode, ((), ()), False)
    assert bench.reranker.calls == bench.tokens.calls == []


@pytest.mark.parametrize("mode", [mode for mode in RetrievalMode if mode is not RetrievalMode.TEXT])
async def test_words_are_searched_where_vectors_return_nothing(mode):
    bench = await Bench(retrieval_least_cosine=1.0).fill()
    found = await bench.ask(mode)
    assert (found.keyword_fallback, found.mode) == (True, mode)
    assert contents(found.hits[0])[0] == TEXTS[0]
    assert all(hit.cosine < 1.0 for hits in found.hits for hit in hits)
    assert bench.counts.modes[mode].keyword_fallbacks == 1


async def test_only_the_sub_query_without_vectors_falls_back():
    bench = await Bench(retrieval_least_cosine=0.99).fill()
    found = await bench.ask(RetrievalMode.DENSE, TEXTS[1], QUESTIONS[0])
    assert bench.store.text_searches == [QUESTIONS[0]]
    assert found.keyword_fallback
    assert contents(found.hits[0]) == [TEXTS[1]]
    assert found.hits[0][0].score == pytest.approx(1.0)


async def test_words_that_find_nothing_either_are_no_fall_back():
    bench = await Bench(retrieval_least_cosine=1.0).fill()
    found = await bench.ask(RetrievalMode.DENSE, "xylophone")
    assert (found.hits, found.keyword_fallback) == (((),), False)


@pytest.mark.parametrize("error", [UNAVAILABLE, FULL], ids=["unavailable", "full"])
@pytest.mark.parametrize("mode", sorted(RESCORED_MODES))
async def test_a_model_that_cannot_serve_is_said_and_the_answer_is_hybrids(bench, mode, error):
    bench.reranker.error = bench.tokens.error = error
    found = await bench.ask(mode)
    assert found.hits == (await bench.ask(RetrievalMode.HYBRID)).hits
    assert found.mode is RetrievalMode.HYBRID
    (warning,) = found.warnings
    assert warning.startswith(f"{mode.name} was answered as HYBRID")
    assert error.reason.value in warning
    assert bench.counts.modes[mode].degraded == {error.reason.value: 1}


@pytest.mark.parametrize("mode", sorted(RESCORED_MODES))
async def test_a_deployment_without_the_model_says_so(bench, mode):
    async def broken():
        raise StartupError("a file is not the pinned one")

    for provide in (no_model, broken):
        cache = TokenVectorCache(0, 0)
        bench.rescorers[RetrievalMode.RERANKED] = CrossEncoderRescorer(provide)
        bench.rescorers[RetrievalMode.LATE_INTERACTION] = LateInteractionRescorer(provide, cache)
        found = await bench.ask(mode)
        assert (found.mode, len(found.warnings)) == (RetrievalMode.HYBRID, 1)
    bench.rescorers.clear()
    assert (await bench.ask(mode)).mode is RetrievalMode.HYBRID


async def test_a_deadline_that_leaves_no_time_for_the_model_is_said(bench):
    bench.reranker.gate = asyncio.Event()  # never set: only the deadline ends the wait

    async def call():
        caller = Caller("t", "scope", frozenset(), "subject")
        deadline = asyncio.get_running_loop().time() + 0.05
        set_current_call(CallContext(caller, "id", "/x/Y", deadline))
        return await bench.ask(RetrievalMode.RERANKED)

    found = await asyncio.create_task(call())
    assert found.mode is RetrievalMode.HYBRID
    assert "DEADLINE_EXCEEDED" in found.warnings[0]
    assert len(bench.reranker.calls) == 1


async def test_a_bug_of_the_model_is_not_swallowed(bench):
    bench.reranker.error = ValueError("a bug")
    with pytest.raises(ValueError, match="a bug"):
        await bench.ask(RetrievalMode.RERANKED)


@pytest.mark.parametrize("mode", RetrievalMode)
async def test_the_same_search_gives_the_same_whatever_the_order_of_ingestion(mode):
    one = await Bench().fill()
    other = await Bench().fill(tuple(reversed(TEXTS)))
    assert [
        [(hit.fact.fact_id, hit.score) for hit in hits]
        for bench in (one, other)
        for hits in (await bench.ask(mode)).hits
    ] == [[(hit.fact.fact_id, hit.score) for hit in hits] for _ in range(2) for hits in (await one.ask(mode)).hits]


@pytest.mark.parametrize("mode", RetrievalMode)
async def test_filters_limit_and_tenant_hold_in_every_mode(bench, mode):
    assert (await bench.ask(mode, where=FactFilter(source_ids=("nowhere",)))).hits == ((), ())
    assert (await bench.ask(mode, tenant="stranger")).hits == ((), ())
    assert {len(hits) for hits in (await bench.ask(mode, limit=1)).hits} == {1}
    (known,) = [one for one in await bench.store.page("t", FactFilter(), after="", limit=9) if one.content == TEXTS[0]]
    await bench.store.upsert([replace(known, status=FactStatus.QUARANTINED)])
    assert TEXTS[0] not in contents((await bench.ask(mode)).hits[0])


async def test_searches_are_counted_by_mode(bench):
    await bench.ask(RetrievalMode.HYBRID)
    await bench.retriever.words("t", "theft", limit=3)
    counted = {mode: sum(counts.buckets) for mode, counts in bench.counts.modes.items() if sum(counts.buckets)}
    assert counted == {RetrievalMode.HYBRID: 1, RetrievalMode.TEXT: 1}
    assert bench.counts.modes[RetrievalMode.HYBRID].seconds > 0.0
