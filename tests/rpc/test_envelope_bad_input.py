"""What no request should hold, from outside: each is refused by its name, or answered as what it is.

Negative budgets, unknown tokenizers, a fact of 10,000 tokens, an embedding that is no number, filters that try to be
more than names. A million candidates are in ``test_envelope_million``.
"""

import math
import threading
from contextlib import asynccontextmanager

import grpc
import numpy as np
import pytest
from crp.ckf.v1 import ckf_pb2
from crp.envelope.v1 import envelope_service_pb2 as pb

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.adapters.sqlite import SqliteFactStore
from services.common.adapters.sqlite.graph import SqliteKnowledgeGraph
from services.common.context import Caller, Role
from services.common.settings.stores import StoreSettings
from services.envelope import envelope_app
from tests.fakes import envelope_world
from tests.fakes.envelope_world import MODEL, World, refused
from tests.patience import patient

INVALID = grpc.StatusCode.INVALID_ARGUMENT
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
QUERY = "How long is the deadline for a motor accident?"
FACT = "The deadline for a motor accident is seven days from the event."
INTERNAL_SOURCE = ckf_pb2.SOURCE_TYPE_INTERNAL


@pytest.fixture
async def alice():
    async with World().serving() as clients:
        client = clients()
        await client.ingest(FACT, uri="rules.txt")
        yield client


async def ingest_facts(client, *contents, uri="cut.txt"):
    facts = [{"content": content} for content in contents]
    return await client.call("IngestFacts", uri=uri, title="cut", source_type=INTERNAL_SOURCE, facts=facts)


def negative(field_number, value=-5):
    """Return a negative number as a client writes it who knows of no unsigned ones: ten bytes."""
    encoded, left = bytearray([field_number << 3 & 0x7F | 0x80, field_number >> 4]), value & (2**64 - 1)
    if field_number < 16:
        encoded = bytearray([field_number << 3])
    while left >= 0x80:
        encoded.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*encoded, left])


@pytest.mark.parametrize(
    ("request_type", "field"),
    [
        (kind, field)
        for kind in (pb.BuildEnvelopeRequest, pb.PreviewEnvelopeRequest, pb.CountTokensRequest)
        for field in ("max_envelope_tokens", "expected_response_tokens", "context_window_tokens")
        if field in kind.DESCRIPTOR.fields_by_name
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
async def test_a_negative_budget_is_refused(request_type, field):
    names = request_type.DESCRIPTOR.fields_by_name
    known = {"texts": ["x"]} if "texts" in names else {"query": QUERY}
    rpc = request_type.__name__.removesuffix("Request")
    sent = request_type(model=MODEL, **known).SerializeToString() + negative(names[field].number)
    assert getattr(request_type.FromString(sent), field) == 2**32 - 5
    async with World().serving() as clients:
        call = clients().channel.unary_unary(f"/crp.envelope.v1.EnvelopeService/{rpc}")
        async with refused(INVALID, "INVALID_FIELD", field):
            await call(sent, metadata=(("authorization", "alice"),), timeout=patient(20))


@pytest.mark.parametrize(
    "model", ["../../etc/passwd", "gpt-4o\0", "*", "gpt-4o' OR 1=1", "ft:", "ft:x:", "/", "\u202egpt"]
)
@pytest.mark.parametrize("rpc", ["BuildEnvelope", "PreviewEnvelope", "CountTokens"])
async def test_a_name_of_no_tokenizer_is_refused(alice, rpc, model):
    fields = {"texts": ["x"]} if rpc == "CountTokens" else {"query": QUERY}
    async with refused(INVALID, "UNKNOWN_MODEL", "model"):
        await alice.call(rpc, model=model, **fields)


LONG = f"The deadline for a motor accident is {'seven ' * 10_000}days."


async def test_a_fact_of_ten_thousand_tokens_is_refused_by_its_place(alice):
    assert (await alice.call("CountTokens", model=MODEL, texts=[LONG])).counts[0] > 10_000
    async with refused(INVALID, "INVALID_FIELD", "facts[1].content"):
        await ingest_facts(alice, "A short fact.", LONG)
    assert [fact.content for fact in await alice.facts()] == [FACT]


async def test_a_paragraph_of_ten_thousand_tokens_becomes_facts_of_the_usual_size(alice):
    await alice.ingest(LONG, uri="long.txt")
    facts = [fact.content for fact in await alice.facts() if fact.content != FACT]
    counts = (await alice.call("CountTokens", model=MODEL, texts=facts)).counts
    assert len(facts) > 1  # those that are alike are one
    assert max(counts) <= 2_048


async def test_a_carried_text_of_ten_thousand_tokens_is_packed_where_there_is_room_and_nowhere_else(alice):
    carried = [{"content": LONG, "source_window_id": "w"}]
    [tokens] = (await alice.call("CountTokens", model=MODEL, texts=[LONG])).counts
    whole = (await alice.build(QUERY, carried_facts=carried)).envelope
    assert {fact.content for fact in whole.facts} == {FACT, LONG}
    assert max(fact.token_count for fact in whole.facts) >= tokens
    small = (await alice.build(QUERY, carried_facts=carried, max_envelope_tokens=1_000)).envelope
    assert [fact.content for fact in small.facts] == [FACT]
    assert small.token_count <= 1_000


class BrokenEmbedding(MemoryEmbeddingModel):
    """Gives no number for one component of every text that says so."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    async def embed(self, texts):
        vectors = await super().embed(texts)
        for row, text in enumerate(texts):
            if "broken" in text:
                vectors[row, 3] = self.value
        return vectors


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
async def test_an_embedding_that_is_no_number_is_refused_and_leaves_nothing(value):
    async with World(embedding=BrokenEmbedding(value)).serving() as clients:
        alice = clients()
        await alice.ingest(FACT, uri="rules.txt")
        before = (await alice.call("GetState")).state_hash
        calls = {
            "IngestSource": {"uri": "b", "content": b"a broken fact", "source_type": INTERNAL_SOURCE},
            "IngestFacts": {
                "uri": "c",
                "title": "c",
                "source_type": INTERNAL_SOURCE,
                "facts": [{"content": FACT}, {"content": "a broken fact"}],
            },
            "BuildEnvelope": {"query": "a broken query", "model": MODEL},
            "PreviewEnvelope": {"query": "a broken query", "model": MODEL},
            "SearchFacts": {"query": "a broken query", "limit": 5},
        }
        for rpc, fields in calls.items():
            async with refused(UNAVAILABLE, "MODEL_UNAVAILABLE"):
                await alice.call(rpc, **fields)
        async with refused(UNAVAILABLE, "MODEL_UNAVAILABLE"):
            await alice.build(QUERY, carried_facts=[{"content": "a broken text", "source_window_id": "w"}])
        assert (await alice.call("GetState")).state_hash == before
        assert [fact.content for fact in (await alice.build(QUERY)).envelope.facts] == [FACT]


@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf, -0.1, 1.1])
async def test_a_weight_that_is_none_is_refused(alice, weight):
    async with refused(INVALID, "INVALID_FIELD", "importance_weight"):
        await alice.ingest("text", uri="w.txt", importance_weight=weight)
    async with refused(INVALID, "INVALID_FIELD", "facts[0].importance_weight"):
        facts = [{"content": "text", "importance_weight": weight}]
        await alice.call("IngestFacts", uri="w", title="w", source_type=INTERNAL_SOURCE, facts=facts)
    async with refused(INVALID, "INVALID_FIELD", "carried_facts[0].importance_weight"):
        carried = {"content": "text", "source_window_id": "w", "importance_weight": weight}
        await alice.build(QUERY, carried_facts=[carried])


async def test_thousands_of_facts_that_a_request_names_are_ranked_beside_the_event_loop(alice, monkeypatch):
    threads = []
    plain = envelope_app.assemble

    def assemble(*given):
        threads.append(threading.current_thread())
        return plain(*given)

    monkeypatch.setattr(envelope_app, "assemble", assemble)
    for part in range(3):
        contents = [f"Case {number} of part {part} is open." for number in range(1_000)]
        await ingest_facts(alice, *contents, uri=f"part {part}")
    named = [fact.fact_id async for fact in everything(alice)]
    built = await alice.build(QUERY, deferred_fact_ids=named, max_envelope_tokens=500)
    assert built.envelope.total_facts_available == len(named) == 3_001
    assert built.envelope.token_count <= 500
    await alice.build(QUERY)
    assert [thread is threading.main_thread() for thread in threads] == [False, True]


async def everything(client):
    token = ""
    while True:
        page = await client.call("ListFacts", page_size=1_000, page_token=token)
        for fact in page.facts:
            yield fact
        token = page.next_page_token
        if not token:
            return


EVIL = [
    "' OR 1=1 --",
    "a' OR '1'='1",
    '" or "1"=="1',
    "tenant-a') OR ('a'='a",
    "%",
    "*",
    "tenant_id",
    "'; DROP TABLE facts; --",
    "x\\' || true",
    "MATCH (n) DETACH DELETE n",
    "{{tenant}}",
    "community in ['x'] || tenant != ''",
]


@asynccontextmanager
async def on_sqlite(folder):
    facts = await SqliteFactStore.open(folder / "facts.db", StoreSettings(), dimension=384)
    graph = await SqliteKnowledgeGraph.open(folder / "graph.db", StoreSettings())
    try:
        async with World(facts=facts, graph=graph).serving() as clients:
            yield clients
    finally:
        await facts.close()
        await graph.close()


async def test_a_filter_is_a_name_and_nothing_else(tmp_path):
    async with on_sqlite(tmp_path) as clients:
        alice, mallory = clients("alice"), clients("mallory")
        await alice.ingest(FACT, uri="rules.txt")
        await mallory.ingest("Mallory knows nothing of motor accidents.", uri="m.txt")
        for name in EVIL:
            for client in (alice, mallory):
                for names in ([name], EVIL):
                    assert not (await client.call("SearchFacts", query=QUERY, limit=10, communities=names)).hits
                    assert not await client.facts(communities=names)
                async with refused(INVALID, "INVALID_FIELD", "source_ids[0]"):
                    await client.facts(source_ids=[name])
                async with refused(INVALID, "INVALID_FIELD", "source_ids[0]"):
                    await client.call("SearchFacts", query=QUERY, limit=10, source_ids=[name])
            for field in ("facts_seen", "deferred_fact_ids", "transferred_fact_ids", "active_fact_ids"):
                built = await mallory.build(QUERY, **{field: [name, *EVIL]})
                assert [fact.source_id for fact in built.envelope.facts] == [(await mallory.facts())[0].source_id]
        assert [fact.content for fact in await alice.facts()] == [FACT]


async def test_a_tenant_whose_name_looks_like_a_condition_sees_its_own_alone(tmp_path, monkeypatch):
    for name in EVIL:
        monkeypatch.setitem(
            envelope_world.CALLERS,
            name.encode().hex(),
            Caller(name, "crp_gw_test_evil", frozenset({Role.WRITER}), name),
        )
    async with on_sqlite(tmp_path) as clients:
        alice = clients("alice")
        await alice.ingest(FACT, uri="rules.txt")
        for name in EVIL:
            evil = clients(name.encode().hex())
            assert not (await evil.build(QUERY)).envelope.facts
            await evil.ingest(f"The deadline of {len(name)} days is that of a motor accident.", uri="own.txt")
            [own] = await evil.facts()
            assert [fact.fact_id for fact in (await evil.build(QUERY)).envelope.facts] == [own.fact_id]
            await evil.call("EraseSource", source_id=own.source_id)
            assert not await evil.facts()
        assert [fact.content for fact in (await alice.build(QUERY)).envelope.facts] == [FACT]


def test_a_negative_number_is_written_as_clients_write_it():
    assert pb.BuildEnvelopeRequest.FromString(negative(21, -1)).context_window_tokens == 2**32 - 1
    assert np.frombuffer(negative(10, -1), dtype=np.uint8).tolist() == [80, *[255] * 9, 1]


ACTING_NAMES = ["a\x1b[2Jb", "a\x07", "a\nb", "a\tb", "a\x7f", "a\x9b31m", "a\u2028b", "\u202egnp.exe", "a\u2066b"]


async def test_a_name_that_would_act_on_a_terminal_is_refused_where_it_enters(alice):
    fact = {"content": FACT}
    for name in ACTING_NAMES:
        for field, changes in {
            "uri": {"uri": f"{name}x", "facts": [fact]},
            "title": {"uri": "u", "title": name, "facts": [fact]},
            "facts[0].source_location": {"uri": "u", "facts": [fact | {"source_location": name}]},
            "facts[0].metadata": {"uri": "u", "facts": [fact | {"metadata": {name: "v"}}]},
        }.items():
            async with refused(INVALID, "INVALID_FIELD", field):
                await alice.call("IngestFacts", source_type=INTERNAL_SOURCE, **changes)


@pytest.mark.parametrize("name", ["Ordnung Ä.md", "قانون\u200f.txt", "می\u200cشود", "👩\u200d⚖️ rules"])
async def test_names_of_other_scripts_are_taken(alice, name):
    await alice.ingest(FACT, uri=name)


async def test_a_title_that_a_document_brings_along_is_cleaned(alice):
    body = f"<h1>A&#27;[2Jb</h1><p>{FACT}</p>"
    html = f"<html><head><title>Rules&#27;]0;x&#7;&#8238;</title></head><body>{body}</body></html>"
    await alice.ingest(html, uri="r.html", media_type="text/html")
    (title,) = [source.title for source in (await alice.call("ListSources")).sources if source.uri == "r.html"]
    assert title == "Rules ]0;x"
    places = [fact.source_location for fact in await alice.facts()]
    assert any("[2Jb" in place for place in places)
    assert all("\x1b" not in place for place in places)
