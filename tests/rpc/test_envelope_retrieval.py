"""Every mode of retrieval over the wire: SearchFacts, BuildEnvelope, PreviewEnvelope, and what goes wrong."""

import grpc
import pytest
from crp.ckf.v1 import knowledge_service_pb2 as ckf
from prometheus_client import CollectorRegistry, generate_latest

from services.common.errors import ErrorReason, UnavailableError
from services.common.settings.envelope import EnvelopeSettings
from services.common.taxonomy import RetrievalMode
from services.envelope.domain.search_mode import RESCORED_MODES
from services.envelope.metrics import RetrievalMetrics
from services.envelope.retrieval_counts import RetrievalCounts, TimeCounts
from tests.fakes.envelope_world import World, refused
from tests.fakes.rescorers import WordReranker, WordTokenVectors

INVALID = grpc.StatusCode.INVALID_ARGUMENT
THEFT = "Theft of the vehicle must be reported to the police within 24 hours."
FACTS = (
    THEFT,
    "Report an accident within three days of the event.",
    "The cafeteria opens at noon and closes at three.",
    "The police close a report after thirty days.",
)
QUERY = "theft of the vehicle reported to the police"
MODES = [f"SEARCH_MODE_{mode.name}" for mode in RetrievalMode]
RESCORED = [f"SEARCH_MODE_{mode.name}" for mode in sorted(RESCORED_MODES)]
GONE = UnavailableError(ErrorReason.MODEL_UNAVAILABLE, "gone")


async def filled(client):
    await client.call(
        "IngestFacts", uri="rules", source_type="SOURCE_TYPE_INTERNAL", facts=[{"content": text} for text in FACTS]
    )
    return client


def world(**settings):
    made = World(reranker=WordReranker(), token_vectors=WordTokenVectors())
    made.settings = EnvelopeSettings(**settings)
    return made


@pytest.mark.parametrize("mode", MODES)
async def test_search_in_every_mode(mode):
    async with world().serving() as client:
        alice = await filled(client())
        found = await alice.call("SearchFacts", query=QUERY, mode=mode, limit=3)
        assert ckf.SearchMode.Name(found.mode) == mode
        assert (found.keyword_fallback, list(found.warnings)) == (False, [])
        assert found.hits[0].fact.content == THEFT
        scores = [hit.score for hit in found.hits]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) == len({hit.fact.fact_id for hit in found.hits}) <= 3
        again = await alice.call("SearchFacts", query=QUERY, mode=mode, limit=3)
        assert again == found
        stranger = await client("mallory").call("SearchFacts", query=QUERY, mode=mode)
        assert list(stranger.hits) == []


@pytest.mark.parametrize("mode", MODES)
async def test_envelopes_in_every_mode_keep_relevance_as_the_cosine(mode):
    async with world().serving() as client:
        alice = await filled(client())
        dense = await alice.build(QUERY)
        built = await alice.build(QUERY, retrieval_mode=mode)
        assert ckf.SearchMode.Name(built.envelope.retrieval_mode) == mode
        assert not [warning for warning in built.warnings if "answered as" in warning]
        relevance = {fact.fact_id: fact.relevance_score for fact in dense.envelope.facts}
        found = {fact.fact_id: fact.relevance_score for fact in built.envelope.facts}
        assert found.items() <= relevance.items()
        assert THEFT in [fact.content for fact in built.envelope.facts]
        preview = await alice.call("PreviewEnvelope", query=QUERY, model="gpt-4o", retrieval_mode=mode)
        assert preview.preview.facts_available == built.envelope.total_facts_available


async def test_hybrid_is_the_default_and_the_setting_another():
    async with world().serving() as client:
        alice = await filled(client())
        assert (await alice.call("SearchFacts", query=QUERY)).mode == ckf.SEARCH_MODE_HYBRID
        assert (await alice.build(QUERY)).envelope.retrieval_mode == ckf.SEARCH_MODE_HYBRID
    async with world(retrieval_mode="dense").serving() as client:
        alice = await filled(client())
        assert (await alice.call("SearchFacts", query=QUERY)).mode == ckf.SEARCH_MODE_DENSE
        assert (await alice.build(QUERY)).envelope.retrieval_mode == ckf.SEARCH_MODE_DENSE
        hybrid = await alice.build(QUERY, retrieval_mode="SEARCH_MODE_HYBRID")
        assert hybrid.envelope.retrieval_mode == ckf.SEARCH_MODE_HYBRID


async def test_an_etag_of_one_mode_does_not_stand_in_another():
    async with world().serving() as client:
        alice = await filled(client())
        etag = (await alice.build(QUERY, retrieval_mode="SEARCH_MODE_HYBRID")).envelope.etag
        same = await alice.build(QUERY, retrieval_mode="SEARCH_MODE_HYBRID", if_match_etag=etag)
        assert same.not_modified
        assert same.envelope.retrieval_mode == ckf.SEARCH_MODE_HYBRID
        assert not (await alice.build(QUERY, retrieval_mode="SEARCH_MODE_TEXT", if_match_etag=etag)).not_modified


@pytest.mark.parametrize("mode", RESCORED)
async def test_a_model_that_cannot_serve_is_said_and_is_not_remembered(mode):
    broken = world()
    broken.reranker.error = broken.token_vectors.error = GONE
    async with broken.serving() as client:
        alice = await filled(client())
        found = await alice.call("SearchFacts", query=QUERY, mode=mode)
        assert found.mode == ckf.SEARCH_MODE_HYBRID
        assert "MODEL_UNAVAILABLE" in found.warnings[0]
        assert found.hits == (await alice.call("SearchFacts", query=QUERY, mode="SEARCH_MODE_HYBRID")).hits
        built = await alice.build(QUERY, retrieval_mode=mode)
        assert built.envelope.retrieval_mode == ckf.SEARCH_MODE_HYBRID
        assert any("answered as HYBRID" in warning for warning in built.warnings)
        broken.reranker.error = broken.token_vectors.error = None
        later = await alice.build(QUERY, retrieval_mode=mode, if_match_etag=built.envelope.etag)
        assert not later.not_modified
        assert ckf.SearchMode.Name(later.envelope.retrieval_mode) == mode


@pytest.mark.parametrize("mode", RESCORED)
async def test_a_deployment_without_the_model_serves_the_rest(mode):
    async with World().serving() as client:
        alice = await filled(client())
        found = await alice.call("SearchFacts", query=QUERY, mode=mode)
        assert (found.mode, len(found.warnings)) == (ckf.SEARCH_MODE_HYBRID, 1)
        assert found.hits[0].fact.content == THEFT


async def test_where_vectors_return_nothing_words_are_searched_and_the_answer_says_so():
    async with world(retrieval_least_cosine=1.0).serving() as client:
        alice = await filled(client())
        found = await alice.call("SearchFacts", query=QUERY)
        assert (found.keyword_fallback, found.mode) == (True, ckf.SEARCH_MODE_HYBRID)
        assert found.hits[0].fact.content == THEFT
        built = await alice.build(QUERY)
        assert any("found by their words" in warning for warning in built.warnings)
        words = await alice.call("SearchFacts", query=QUERY, mode="SEARCH_MODE_TEXT")
        assert not words.keyword_fallback
        assert [hit.fact.fact_id for hit in words.hits] == [hit.fact.fact_id for hit in found.hits]
        dense = await alice.call("SearchFacts", query=QUERY, mode="SEARCH_MODE_DENSE")
        assert [hit.score for hit in words.hits] == [hit.score for hit in dense.hits]


async def test_words_need_no_model():
    made = world()
    async with made.serving() as client:
        alice = await filled(client())
        before = len(made.embedding.calls)
        await alice.call("SearchFacts", query=QUERY, mode="SEARCH_MODE_TEXT")
        assert len(made.embedding.calls) == before
        await alice.call("SearchFacts", query=QUERY, mode="SEARCH_MODE_HYBRID")
        assert made.embedding.calls[before:] == [(QUERY,)]


async def test_after_an_erasure_no_token_vector_is_left_and_nothing_is_found():
    made = world()
    async with made.serving() as client:
        alice = await filled(client())
        await alice.call("SearchFacts", query=QUERY, mode="SEARCH_MODE_LATE_INTERACTION")
        (source,) = (await alice.call("ListSources")).sources
        await alice.call("EraseSource", source_id=source.source_id)
        for mode in MODES:
            assert list((await alice.call("SearchFacts", query=QUERY, mode=mode)).hits) == []
        await filled(alice)
        await alice.call("SearchFacts", query=QUERY, mode="SEARCH_MODE_LATE_INTERACTION")
        assert sorted(made.token_vectors.calls[-1]) == sorted([QUERY, *FACTS])


@pytest.mark.parametrize(
    ("rpc", "fields", "field"),
    [
        ("SearchFacts", {"query": "x", "mode": 99}, "mode"),
        ("SearchFacts", {"query": "x", "mode": "SEARCH_MODE_HYBRID", "limit": 101}, "limit"),
        ("SearchFacts", {"query": " ", "mode": "SEARCH_MODE_RERANKED"}, "query"),
        ("BuildEnvelope", {"query": "x", "model": "gpt-4o", "retrieval_mode": 99}, "retrieval_mode"),
        ("PreviewEnvelope", {"query": "x", "model": "gpt-4o", "retrieval_mode": 99}, "retrieval_mode"),
    ],
    ids=["unknown mode", "limit", "query", "build", "preview"],
)
async def test_what_is_refused(rpc, fields, field):
    async with world().serving() as client, refused(INVALID, "INVALID_FIELD", field):
        await client().call(rpc, **fields)


def test_counts_are_scraped_by_mode():
    counts, registry = RetrievalCounts(), CollectorRegistry()
    counts.ended(RetrievalMode.HYBRID, 0.004)
    counts.ended(RetrievalMode.RERANKED, 20.0)
    counts.fell_back(RetrievalMode.DENSE)
    counts.degraded(RetrievalMode.RERANKED, "QUEUE_FULL")
    registry.register(RetrievalMetrics(counts, TimeCounts()))
    text = generate_latest(registry).decode()
    for line in (
        'groundtrail_retrieval_duration_seconds_bucket{le="0.005",mode="HYBRID"} 1.0',
        'groundtrail_retrieval_duration_seconds_bucket{le="10.0",mode="RERANKED"} 0.0',
        'groundtrail_retrieval_duration_seconds_count{mode="RERANKED"} 1.0',
        'groundtrail_retrieval_duration_seconds_sum{mode="HYBRID"} 0.004',
        'groundtrail_retrieval_keyword_fallbacks_total{mode="DENSE"} 1.0',
        'groundtrail_retrieval_degraded_total{mode="RERANKED",reason="QUEUE_FULL"} 1.0',
    ):
        assert line in text.splitlines()


async def test_words_add_to_the_nearest_and_take_none_away():
    """SPEC-003 §5.2 step 1.2 and ADR 0110: the K nearest are candidates in every mode that searches vectors."""
    texts = [f"The fee of class {number} is due on day {number}." for number in range(1, 13)]
    found = {}
    for added in (0, 2):
        settings = {"retrieval_k": 2, "hybrid_candidates": added, "expansion_communities": 0, "neighbours_of": 0}
        async with world(**settings).serving() as client:
            alice = client()
            await alice.ingest("\n\n".join(texts), uri="fees.txt")
            for mode in ("SEARCH_MODE_DENSE", "SEARCH_MODE_HYBRID"):
                built = await alice.build("fee day 7 and day 11", retrieval_mode=mode)
                found[added, mode] = {fact.content for fact in built.envelope.facts}
    nearest = found[0, "SEARCH_MODE_DENSE"]
    assert len(nearest) == 2
    assert found[0, "SEARCH_MODE_HYBRID"] == found[2, "SEARCH_MODE_DENSE"] == nearest
    assert nearest <= found[2, "SEARCH_MODE_HYBRID"]
    assert len(found[2, "SEARCH_MODE_HYBRID"]) <= 4
