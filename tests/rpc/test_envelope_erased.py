"""What an erasure leaves behind: that there was a source, and nothing that a guess could be held against (ADR 0112)."""

import hashlib
import uuid
from contextlib import asynccontextmanager
from typing import Any, cast

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2

from services.common.adapters.memory.facts import MemoryFactStore
from services.common.adapters.memory.graph import MemoryKnowledgeGraph
from services.common.adapters.sqlite import SqliteFactStore, SqliteKnowledgeGraph
from services.common.settings.stores import StoreSettings
from tests.fakes.envelope_world import World, fresh_id, refused

URI = "patients/jane-doe.md"
PIN = "The door code of the ward for infectious diseases is 4822 and it changes every month."
OTHER = "The canteen of the hospital is open from seven in the morning until eight in the evening."


@asynccontextmanager
async def world_on(kind, folder):
    if kind == "memory":
        yield World(facts=MemoryFactStore(384), graph=MemoryKnowledgeGraph())
        return
    facts = await SqliteFactStore.open(folder / "knowledge.db", StoreSettings(), dimension=384)
    graph = await SqliteKnowledgeGraph.open(folder / "graph.db", StoreSettings())
    try:
        yield World(facts=cast("Any", facts), graph=cast("Any", graph))  # ports alike, typed as the memory adapters
    finally:
        await facts.close()
        await graph.close()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_nothing_that_remains_confirms_a_guess(kind, tmp_path):
    request_id = fresh_id()
    document = f"{PIN}\n\n{OTHER}"
    async with world_on(kind, tmp_path) as world, world.serving() as clients:
        alice = clients()
        source = (await alice.ingest(document, uri=URI, title="Jane Doe", request_id=request_id)).source
        fact = next(fact for fact in await alice.facts() if fact.content == PIN)
        assert fact.content_hash == hashlib.sha256(PIN.encode()).hexdigest()
        await alice.call("QuarantineFact", fact_id=fact.fact_id)
        await alice.call("EraseSource", source_id=source.source_id)

        (remaining,) = (await alice.call("ListSources")).sources
        assert (remaining.uri, remaining.title, remaining.document_hash) == ("", "", "")
        assert remaining.status == ckf_pb2.SOURCE_STATUS_ERASED
        tombstones = await alice.facts(statuses=[ckf_pb2.FACT_STATUS_DELETED])
        assert {tombstone.content_hash for tombstone in tombstones} == {"0" * 64}
        # Who knows everything but the key, and guesses right, finds it nowhere: not in ids either.
        guesses = {str(uuid.uuid5(uuid.UUID(source.source_id), f"{section}\x1f{PIN}")) for section in ("", "Jane Doe")}
        assert not guesses & {tombstone.fact_id for tombstone in tombstones}
        # The stored answer named the document: it is gone, and the request does not bring the document back.
        async with refused(grpc.StatusCode.FAILED_PRECONDITION, "REQUEST_ID_REUSED"):
            await alice.ingest(document, uri=URI, title="Jane Doe", request_id=request_id)
        assert len((await alice.call("ListSources")).sources) == 1


async def test_no_file_holds_what_was_erased(tmp_path):
    async with world_on("sqlite", tmp_path) as world, world.serving() as clients:
        alice = clients()
        kept = (await alice.ingest(OTHER, uri="canteen.md")).source
        source = (await alice.ingest(PIN, uri=URI, title="Jane Doe")).source
        key = (await world.graph.get_source("tenant-a", source.source_id)).metadata["groundtrail.key"]
        telling = [
            URI,
            "jane-doe",
            "Jane Doe",
            "4822",
            source.document_hash,
            hashlib.sha256(PIN.encode()).hexdigest(),
            key,
        ]
        before = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
        assert all(text.encode() in before for text in telling)
        await alice.call("EraseSource", source_id=source.source_id)
        for file in tmp_path.iterdir():
            if file.is_file():
                held = file.read_bytes()
                assert [text for text in telling if text.encode() in held] == [], file.name
        assert [one.uri for one in (await alice.call("ListSources")).sources if one.uri] == [kept.uri]


FEE, OTHER_FEE = "The late fee is 3 euros per day.", "The late fee is 5 euros per day."


async def test_no_answer_about_another_source_quotes_what_was_erased(tmp_path):
    """Told of disagreement when it was ingested, the other source's stored answer held the erased sentence."""
    request_id = fresh_id()
    async with world_on("sqlite", tmp_path) as world, world.serving() as clients:
        alice = clients()
        erased = (await alice.ingest(FEE, uri="fees.md")).source
        first = await alice.ingest(OTHER_FEE, uri="other.md", request_id=request_id)
        (told,) = first.report.disagreements
        assert (told.other_source_id, told.other_content) == (erased.source_id, FEE)
        assert await alice.ingest(OTHER_FEE, uri="other.md", request_id=request_id) == first
        await alice.call("EraseSource", source_id=erased.source_id)
        for file in tmp_path.iterdir():
            assert not file.is_file() or b"3 euros" not in file.read_bytes(), file.name
        again = await alice.ingest(OTHER_FEE, uri="other.md", request_id=request_id)
        told.ClearField("other_content")
        told.ClearField("other_value")
        assert again == first
        assert again.source.uri == "other.md"


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_two_sources_never_have_one_uri(kind, tmp_path):
    async with world_on(kind, tmp_path) as world, world.serving() as clients:
        alice = clients()
        source = (await alice.ingest(OTHER, uri=URI)).source
        stored = await world.graph.get_source("tenant-a", source.source_id)
        second = type(stored)(**{name: getattr(stored, name) for name in stored.__slots__} | {"source_id": fresh_id()})
        with pytest.raises(Exception, match="another process is bringing a document under this uri"):
            await world.graph.put_source(second)
        await alice.call("EraseSource", source_id=source.source_id)
        await world.graph.put_source(second)
