"""KnowledgeService over gRPC: ingest, change, search, withhold, erase; and every refusal (SPEC-003 §5, §17.2)."""

import asyncio
import uuid

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2
from google.protobuf.duration_pb2 import Duration

from services.common.settings.envelope import EnvelopeSettings
from tests.fakes.envelope_world import World, fresh_id, refused

INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
DOCUMENT = """# Claims

A motor accident must be reported to the insurer within seven days of the event.

The theft of a vehicle must be reported to the police within twenty-four hours.
"""
CHANGED = DOCUMENT.replace("seven days", "ten days")
ACCIDENT = "A motor accident must be reported to the insurer within seven days of the event."
THEFT = "The theft of a vehicle must be reported to the police within twenty-four hours."


@pytest.fixture
def world():
    return World()


@pytest.fixture
async def clients(world):
    async with world.serving() as clients:
        yield clients


@pytest.fixture
def alice(clients):
    return clients()


def statuses(facts):
    return {fact.content: ckf_pb2.FactStatus.Name(fact.status).removeprefix("FACT_STATUS_") for fact in facts}


async def test_a_document_becomes_facts_with_everything_they_need(alice):
    response = await alice.ingest(DOCUMENT, uri="claims.md", metadata={"owner": "claims"})
    assert (response.facts_created, response.facts_stale, response.unchanged) == (2, 0, False)
    source = response.source
    assert (source.title, source.uri, source.media_type, source.fact_count) == (
        "Claims",
        "claims.md",
        "text/markdown",
        2,
    )
    assert (source.status, dict(source.metadata)) == (ckf_pb2.SOURCE_STATUS_ACTIVE, {"owner": "claims"})
    facts = {fact.content: fact for fact in await alice.facts()}
    assert set(facts) == {ACCIDENT, THEFT}
    fact = facts[ACCIDENT]
    assert (fact.source_location, fact.importance_weight, fact.status) == ("# Claims", 0.75, ckf_pb2.FACT_STATUS_ACTIVE)
    assert [(entity.text, entity.span.start, entity.span.end) for entity in facts[THEFT].entities] == [("The", 0, 3)]
    assert (await alice.call("GetFact", fact_id=fact.fact_id)).fact == fact
    assert fact.embedding_model.startswith("memory-embedder@1")


async def test_the_same_bytes_again_change_nothing(alice):
    first = await alice.ingest(DOCUMENT)
    before = await alice.call("GetState")
    again = await alice.ingest(DOCUMENT)
    assert (again.unchanged, again.facts_created, again.facts_unchanged) == (True, 0, 2)
    assert again.source == first.source
    assert await alice.call("GetState") == before


async def test_a_changed_document_makes_what_it_lacks_stale_and_what_returns_active(alice, world):
    await alice.ingest(DOCUMENT)
    world.clock.advance(days=1)
    changed = await alice.ingest(CHANGED)
    assert (changed.facts_created, changed.facts_stale, changed.facts_unchanged, changed.source.fact_count) == (
        1,
        1,
        1,
        2,
    )
    assert statuses(await alice.facts()) == {
        ACCIDENT: "STALE",
        THEFT: "ACTIVE",
        ACCIDENT.replace("seven", "ten"): "ACTIVE",
    }
    back = await alice.ingest(DOCUMENT)
    assert (back.facts_created, back.facts_stale) == (1, 1)
    assert statuses(await alice.facts())[ACCIDENT] == "ACTIVE"


async def test_a_request_id_is_answered_as_the_first_time_and_bound_to_its_body(alice):
    request_id = fresh_id()
    first = await alice.ingest(DOCUMENT, request_id=request_id)
    assert await alice.ingest(DOCUMENT, request_id=request_id) == first
    async with refused(grpc.StatusCode.FAILED_PRECONDITION, "REQUEST_ID_REUSED"):
        await alice.ingest(CHANGED, request_id=request_id)


async def test_the_same_request_twice_at_once_is_done_once(alice):
    request_id = fresh_id()
    first, second = await asyncio.gather(*(alice.ingest(DOCUMENT, request_id=request_id) for _ in range(2)))
    assert first == second
    assert first.facts_created == 2


async def test_two_versions_at_once_leave_one_of_them(alice):
    await asyncio.gather(alice.ingest(DOCUMENT), alice.ingest(CHANGED))
    found = statuses(await alice.facts())
    assert sorted(found.values()) == ["ACTIVE", "ACTIVE", "STALE"]
    assert len((await alice.call("ListSources")).sources) == 1


async def test_facts_that_the_caller_cut(alice):
    old = await alice.call(
        "IngestFacts",
        uri="rules",
        source_type=ckf_pb2.SOURCE_TYPE_REGULATION,
        facts=[knowledge_service_pb2.FactInput(content="The limit is 500 euros.", source_location="§ 1")],
    )
    assert (old.facts_created, old.source.fact_count, old.source.title) == (1, 1, "rules")
    new = await alice.call(
        "IngestFacts",
        uri="rules",
        source_type=ckf_pb2.SOURCE_TYPE_REGULATION,
        facts=[
            {
                "content": "The limit is 600 euros.",
                "supersedes_fact_ids": list(old.fact_ids),
                "importance_weight": 0.95,
            },
            {"content": "The limit is 600 euros."},
        ],
    )
    assert (new.facts_created, new.facts_stale, new.source.fact_count) == (1, 1, 1)
    assert new.fact_ids[0] == new.fact_ids[1]
    facts = {fact.content: fact for fact in await alice.facts()}
    assert facts["The limit is 500 euros."].status == ckf_pb2.FACT_STATUS_STALE
    assert facts["The limit is 600 euros."].importance_weight == 0.95
    assert facts["The limit is 500 euros."].importance_weight == 0.90


async def test_search_by_meaning_and_by_words(alice):
    await alice.ingest(DOCUMENT)
    for mode in ("SEARCH_MODE_DENSE", "SEARCH_MODE_TEXT"):
        found = await alice.call("SearchFacts", query="theft of a vehicle", mode=mode, limit=1)
        assert [hit.fact.content for hit in found.hits] == [THEFT]
        assert found.mode == knowledge_service_pb2.SearchMode.Value(mode)
        assert found.hits[0].score > (0.3 if mode == "SEARCH_MODE_DENSE" else 0.0)


async def test_a_quarantined_fact_is_never_found_until_it_is_restored(alice):
    await alice.ingest(DOCUMENT)
    fact = next(fact for fact in await alice.facts() if fact.content == THEFT)
    changed = await alice.call("QuarantineFact", fact_id=fact.fact_id)
    assert changed.status == ckf_pb2.FACT_STATUS_QUARANTINED
    for mode in ("SEARCH_MODE_DENSE", "SEARCH_MODE_TEXT"):
        hits = (await alice.call("SearchFacts", query="theft of a vehicle", mode=mode)).hits
        assert THEFT not in [hit.fact.content for hit in hits]
    built = await alice.build("theft of a vehicle")
    assert [fact.content for fact in built.envelope.facts] == [ACCIDENT]
    await alice.ingest(DOCUMENT + "\nAn unrelated sentence that adds one more fact to the document.\n")
    assert statuses(await alice.facts())[THEFT] == "QUARANTINED"
    assert (await alice.call("RestoreFact", fact_id=fact.fact_id)).status == ckf_pb2.FACT_STATUS_ACTIVE
    assert THEFT in [fact.content for fact in (await alice.build("theft of a vehicle")).envelope.facts]


async def test_restoring_an_active_or_stale_fact_leaves_it(alice):
    await alice.ingest(DOCUMENT)
    await alice.ingest(CHANGED)
    stale = next(fact for fact in await alice.facts() if fact.content == ACCIDENT)
    assert (await alice.call("RestoreFact", fact_id=stale.fact_id)).status == ckf_pb2.FACT_STATUS_STALE


async def test_a_repeated_quarantine_is_answered_and_not_done_again(alice):
    await alice.ingest(DOCUMENT)
    fact_id = (await alice.facts())[0].fact_id
    request_id = fresh_id()
    first = await alice.call("QuarantineFact", request_id=request_id, fact_id=fact_id)
    await alice.call("RestoreFact", fact_id=fact_id)
    assert await alice.call("QuarantineFact", request_id=request_id, fact_id=fact_id) == first
    assert (await alice.call("GetFact", fact_id=fact_id)).fact.status == ckf_pb2.FACT_STATUS_ACTIVE


async def test_erased_content_is_returned_by_nothing_any_more(alice):
    source = (await alice.ingest(DOCUMENT, metadata={"person": "Jane"})).source
    await alice.call("RebuildCommunities")
    facts = await alice.facts()
    state = await alice.call("GetState")
    response = await alice.call("EraseSource", source_id=source.source_id)
    assert (response.facts_erased, response.source.status) == (2, ckf_pb2.SOURCE_STATUS_ERASED)
    assert (response.source.title, dict(response.source.metadata)) == ("", {})
    async with refused(NOT_FOUND, "FACT_NOT_FOUND"):
        await alice.call("GetFact", fact_id=facts[0].fact_id)
    assert await alice.facts() == []
    for mode in ("SEARCH_MODE_DENSE", "SEARCH_MODE_TEXT"):
        assert not (await alice.call("SearchFacts", query="theft of a vehicle", mode=mode)).hits
    assert not (await alice.build("theft of a vehicle")).envelope.facts
    tombstones = await alice.facts(statuses=[ckf_pb2.FACT_STATUS_DELETED])
    assert len(tombstones) == 2
    assert {(fact.content, fact.source_location, len(fact.entities)) for fact in tombstones} == {("", "", 0)}
    assert (await alice.call("GetState")).state_hash != state.state_hash
    assert (await alice.call("EraseSource", source_id=source.source_id)).facts_erased == 0


async def test_an_erased_document_that_comes_back_is_another_source(alice):
    first = (await alice.ingest(DOCUMENT)).source
    await alice.call("EraseSource", source_id=first.source_id)
    second = await alice.ingest(DOCUMENT)
    assert (second.facts_created, second.unchanged) == (2, False)
    assert second.source.source_id != first.source_id
    listed = (await alice.call("ListSources")).sources
    assert sorted(source.status for source in listed) == [ckf_pb2.SOURCE_STATUS_ACTIVE, ckf_pb2.SOURCE_STATUS_ERASED]


async def test_a_tenant_sees_nothing_of_another(clients, alice):
    source = (await alice.ingest(DOCUMENT)).source
    fact_id = (await alice.facts())[0].fact_id
    mallory = clients("mallory")
    assert await mallory.facts() == []
    assert not (await mallory.call("SearchFacts", query="theft of a vehicle")).hits
    assert not (await mallory.build("theft of a vehicle")).envelope.facts
    assert not (await mallory.call("ListSources")).sources
    for rpc in ("QuarantineFact", "RestoreFact", "GetFact"):
        async with refused(NOT_FOUND, "FACT_NOT_FOUND"):
            await mallory.call(rpc, fact_id=fact_id)
    async with refused(NOT_FOUND, "SOURCE_NOT_FOUND"):
        await mallory.call("EraseSource", source_id=source.source_id)
    other = await mallory.ingest(DOCUMENT)
    assert other.source.source_id != source.source_id
    assert {fact.fact_id for fact in await mallory.facts()}.isdisjoint({fact.fact_id for fact in await alice.facts()})


async def test_lists_are_paged_and_tokens_bound_to_their_filters(alice):
    await alice.ingest(DOCUMENT)
    await alice.ingest("Another document with one sentence in it, and no more.", uri="b.txt")
    first = await alice.call("ListFacts", page_size=2)
    rest = await alice.call("ListFacts", page_size=2, page_token=first.next_page_token)
    assert (len(first.facts), len(rest.facts), rest.next_page_token) == (2, 1, "")
    async with refused(INVALID, "PAGE_TOKEN_INVALID", "page_token"):
        await alice.call("ListFacts", communities=["x"], page_token=first.next_page_token)
    page = await alice.call("ListSources", page_size=1)
    assert len((await alice.call("ListSources", page_size=1, page_token=page.next_page_token)).sources) == 1
    async with refused(INVALID, "PAGE_TOKEN_INVALID"):
        await alice.call("ListSources", page_token="nonsense")


TOPICS = {
    "motor": "motor accident vehicle driver garage repair collision bumper",
    "travel": "travel luggage flight delay abroad passport hotel booking",
}


def clustered(count=4):
    """A document of two topics; within a topic the sentences share most words."""
    return "\n\n".join(
        f"{words} number{topic}{number} case{topic}{number} file{topic}{number}."
        for topic, words in TOPICS.items()
        for number in range(count)
    )


async def test_communities_are_found_named_and_listed(alice):
    await alice.ingest(clustered())
    rebuilt = await alice.call("RebuildCommunities")
    assert (rebuilt.epoch, rebuilt.community_count, rebuilt.fact_count, rebuilt.unclustered_fact_count) == (1, 2, 8, 0)
    communities = (await alice.call("ListCommunities")).communities
    assert [(community.label, community.fact_count) for community in communities] == [
        ("abroad-booking-delay", 4),
        ("accident-bumper-collision", 4),
    ]
    assert {fact.community_label for fact in await alice.facts()} == {c.label for c in communities}
    built = await alice.build("motor accident vehicle")
    assert built.envelope.ckf_communities[0] == "accident-bumper-collision"
    state = await alice.call("GetState", communities=["abroad-booking-delay"])
    assert (state.clustering_epoch, state.active_fact_count) == (1, 8)
    assert state.state_hash != (await alice.call("GetState")).state_hash


async def test_labels_do_not_outlive_the_words_they_were_made_of(alice):
    source = (await alice.ingest(clustered())).source
    await alice.ingest(DOCUMENT, uri="other.md")
    await alice.call("RebuildCommunities")
    await alice.call("EraseSource", source_id=source.source_id)
    assert not (await alice.call("ListCommunities")).communities
    assert (await alice.call("GetState")).clustering_epoch == 2


async def test_communities_are_computed_on_their_own_after_enough_new_facts():
    world = World(settings=EnvelopeSettings(recluster_after_facts=8))
    async with world.serving() as clients:
        alice = clients()
        await alice.ingest(clustered(3))
        assert (await alice.call("GetState")).clustering_epoch == 0
        await alice.ingest(clustered(4), uri="b.txt")
        assert (await alice.call("GetState")).clustering_epoch == 1


async def test_a_fact_past_its_time_to_live_is_stale(alice, world):
    await alice.ingest(DOCUMENT, ttl=Duration(seconds=60))
    world.clock.advance(seconds=61)
    assert set(statuses(await alice.facts()).values()) == {"STALE"}
    built = await alice.build("theft of a vehicle")
    assert {fact.freshness_score for fact in built.envelope.facts} == {0.0}


async def test_roles_are_enforced(clients):
    async with refused(grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING"):
        await clients("reader").ingest(DOCUMENT)


async def test_limits_are_refused_with_their_reason():
    settings = EnvelopeSettings(max_document_bytes=100, max_clustered_facts=1)
    async with World(settings=settings).serving() as clients:
        async with refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE", "content"):
            await clients().ingest("word " * 50)
        for number in (1, 2):
            await clients().ingest(f"This is the text of document number {number}, and no more.", uri=str(number))
        async with refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "QUEUE_FULL"):
            await clients().call("RebuildCommunities")


A_FACT = {"content": "The limit is 500 euros."}
NO_FACT = str(uuid.UUID(int=7))
CUT = {"uri": "u", "source_type": 1}


@pytest.mark.parametrize(
    ("rpc", "fields", "field"),
    [
        ("IngestSource", {"content": b"x", "uri": "", "source_type": 1}, "uri"),
        ("IngestSource", {"content": b"x", "uri": " u", "source_type": 1}, "uri"),
        ("IngestSource", {"content": b"x", "uri": "u", "source_type": 99}, "source_type"),
        ("IngestSource", {"content": b"", "uri": "u", "source_type": 1}, "content"),
        ("IngestSource", {"content": b"x", "uri": "u", "source_type": 1, "title": "t" * 513}, "title"),
        ("IngestSource", {"content": b"x", "uri": "u", "source_type": 1, "request_id": "1"}, "request_id"),
        (
            "IngestSource",
            {"content": b"x", "uri": "u", "source_type": 1, "importance_weight": 1.1},
            "importance_weight",
        ),
        ("IngestSource", {"content": b"x", "uri": "u", "source_type": 1, "ttl": Duration(seconds=-1)}, "ttl"),
        ("IngestSource", {"content": b"x", "uri": "u", "source_type": 1, "ttl": Duration(seconds=10**11)}, "ttl"),
        (
            "IngestSource",
            {"content": b"x", "uri": "u", "source_type": 1, "metadata": {"groundtrail.x": ""}},
            "metadata",
        ),
        ("IngestFacts", {**CUT, "facts": []}, "facts"),
        ("IngestFacts", {**CUT, "facts": [A_FACT] * 1001}, "facts"),
        ("IngestFacts", {**CUT, "facts": [A_FACT, {"content": "..."}]}, "facts[1].content"),
        ("IngestFacts", {**CUT, "facts": [{"content": "a b " * 2000}]}, "facts[0].content"),
        (
            "IngestFacts",
            {**CUT, "facts": [{**A_FACT, "supersedes_fact_ids": ["x"]}]},
            "facts[0].supersedes_fact_ids[0]",
        ),
        ("GetFact", {"fact_id": "x"}, "fact_id"),
        ("QuarantineFact", {"fact_id": ""}, "fact_id"),
        ("EraseSource", {"source_id": "x"}, "source_id"),
        ("RebuildCommunities", {"request_id": ""}, "request_id"),
        ("SearchFacts", {"query": "  "}, "query"),
        ("SearchFacts", {"query": "q" * 32_769}, "query"),
        ("SearchFacts", {"query": "q", "limit": 101}, "limit"),
        ("SearchFacts", {"query": "q", "mode": 9}, "mode"),
        ("SearchFacts", {"query": "q", "source_ids": ["x"]}, "source_ids[0]"),
        ("ListFacts", {"statuses": [0]}, "statuses"),
        ("GetState", {"communities": ["c"] * 101}, "communities"),
    ],
)
async def test_malformed_requests_name_the_field(alice, rpc, fields, field):
    async with refused(INVALID, "INVALID_FIELD", field):
        await alice.call(rpc, **fields)
    assert await alice.facts() == []


@pytest.mark.parametrize(
    ("rpc", "fields", "reason"),
    [
        ("GetFact", {"fact_id": NO_FACT}, "FACT_NOT_FOUND"),
        ("RestoreFact", {"fact_id": NO_FACT}, "FACT_NOT_FOUND"),
        ("EraseSource", {"source_id": NO_FACT}, "SOURCE_NOT_FOUND"),
        ("IngestFacts", {**CUT, "facts": [{**A_FACT, "supersedes_fact_ids": [NO_FACT]}]}, "FACT_NOT_FOUND"),
    ],
)
async def test_what_does_not_exist_is_not_found(alice, rpc, fields, reason):
    async with refused(NOT_FOUND, reason):
        await alice.call(rpc, **fields)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"\x89PNG\r\n\x1a\n\x00\x00", "UNSUPPORTED_MEDIA"), (b" \n ", "DOCUMENT_WITHOUT_TEXT")],
)
async def test_what_is_no_text_is_refused_and_leaves_nothing(alice, content, reason):
    async with refused(INVALID, reason, "content"):
        await alice.ingest(content)
    assert not (await alice.call("ListSources")).sources
