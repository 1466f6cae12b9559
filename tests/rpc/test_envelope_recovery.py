"""A crash, a full disk or a caller who leaves: nothing stays half-written."""

import asyncio

import grpc
import pytest

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.adapters.memory.facts import MemoryFactStore
from services.common.adapters.memory.graph import MemoryKnowledgeGraph
from services.common.errors import ErrorReason, LimitExceededError
from tests.fakes.envelope_world import World, refused
from tests.integration.milvus_target import empty_milvus, milvus_settings
from tests.integration.neo4j_target import empty_neo4j, neo4j_settings

FIRST = (
    "The deadline for a motor accident is seven days from the event.\n\n"
    "Glass is covered up to 1200 euros under the plus plan."
)
SECOND = FIRST.replace("seven", "ten")
WRITES = (
    *("upsert", "set_status", "supersede", "reinstate", "erase_source", "delete", "put_source", "delete_source"),
    *("put_outline", "delete_outline"),
)


class CrashError(Exception):
    """The process dies: nothing after this write happens."""


class Faults:
    """Counts the writes of both stores; at the chosen one it fails, before or after the write took effect."""

    def __init__(self):
        self.log = []
        self.fail_at = None
        self.error = None
        self.after = False
        self.dead = False

    def wrap(self, store):
        for name in WRITES:
            if hasattr(store, name):
                setattr(store, name, self._wrapped(name, getattr(store, name)))
        return store

    def _wrapped(self, name, write):
        async def run(*args, **kwargs):
            if self.dead:
                raise CrashError
            self.log.append(name)
            failing = self.fail_at is not None and len(self.log) == self.fail_at
            if failing and not self.after:
                raise self._fault()
            result = await write(*args, **kwargs)
            if failing:
                raise self._fault()
            return result

        return run

    def _fault(self):
        if self.error is None:
            self.dead = True
            return CrashError()
        return self.error

    def heal(self):
        self.fail_at, self.dead, self.error = None, False, None
        self.log.clear()


REAL = (pytest.mark.needs_neo4j, pytest.mark.timeout(300))
STORES = [
    pytest.param((), id="memory"),
    pytest.param(("neo4j",), id="neo4j", marks=REAL),
    pytest.param(("milvus", "neo4j"), id="milvus and neo4j", marks=(*REAL, pytest.mark.needs_milvus)),
]
"""Where the stores of a world are: a crash is between the vectors of one server and the graph of another."""


@pytest.fixture(params=STORES)
async def faulty(request):
    """A function that gives a world whose stores fail as told."""
    opened = []

    async def world_with(faults):
        facts, graph = MemoryFactStore(384), MemoryKnowledgeGraph()
        if "milvus" in request.param:
            from services.common.adapters.milvus import MilvusFactStore

            await empty_milvus(milvus_settings())
            facts = await MilvusFactStore.open(
                milvus_settings(), embedding_model=MemoryEmbeddingModel().fingerprint, dimension=384
            )
            opened.append(facts)
        if "neo4j" in request.param:
            from services.common.adapters.neo4j import Neo4jKnowledgeGraph

            await empty_neo4j(neo4j_settings())
            graph = await Neo4jKnowledgeGraph.open(neo4j_settings())
            opened.append(graph)
        return World(facts=faults.wrap(facts), graph=faults.wrap(graph))

    yield world_with
    for store in opened:
        await store.close()


async def contents(client):
    return sorted((fact.content, fact.status) for fact in await client.facts())


async def knowledge(client):
    """Return what is known of the sources, the order of their facts included."""
    found = []
    for source in (await client.call("ListSources")).sources:
        versions = (await client.call("GetSource", source_id=source.source_id)).versions
        kept = [(one.version, one.document_hash, one.fact_count) for one in versions]
        found.append((source.title, source.fact_count, source.status, source.document_hash, kept, await row_of(client)))
    return found


async def row_of(client):
    """Return the present facts in the order in which one names the next."""
    facts = [await client.call("GetFact", fact_id=fact.fact_id) for fact in await client.facts()]
    by_previous = {one.previous_fact_id: one.fact for one in facts if one.HasField("section")}
    row, last = [], ""
    while last in by_previous:
        row.append(by_previous[last].content)
        last = by_previous[last].fact_id
    return row


async def states_of(*documents):
    """What the knowledge looks like after each of the documents, undisturbed."""
    found = [([], [])]
    async with World().serving() as clients:
        for document in documents:
            await clients().ingest(document, uri="doc.txt")
            found.append((await contents(clients()), await knowledge(clients())))
    return found


@pytest.mark.tenth
@pytest.mark.parametrize("after", [False, True], ids=["before the write", "after the write"])
@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("existing", [False, True], ids=["new source", "changed source"])
async def test_after_a_crash_at_any_write_the_old_or_the_new_version_stands(faulty, existing, step, after):
    faults = Faults()
    world = await faulty(faults)
    documents = [FIRST, SECOND] if existing else [FIRST]
    states = await states_of(*documents)
    async with world.serving() as clients:
        if existing:
            await clients().ingest(FIRST, uri="doc.txt")
        faults.heal()
        faults.fail_at, faults.after = step, after
        async with refused(grpc.StatusCode.INTERNAL, "INTERNAL"):
            await clients().ingest(documents[-1], uri="doc.txt")
    faults.heal()
    async with world.serving() as clients:
        found = (await contents(clients()), await knowledge(clients()))
        assert found in states[-2:]
        assert await world.graph.unfinished_sources() == []
        await clients().ingest(documents[-1], uri="doc.txt")
        assert (await contents(clients()), await knowledge(clients())) == states[-1]


EDITIONS = [
    "The fee is seven euros. Dogs are kept on a lead.",
    "These rules are effective from 1 January 2100.\n\nThe fee is nine euros. Dogs are kept on a lead.",
    "These rules are effective from 1 January 2101.\n\nThe fee is eight euros. Dogs are kept on a lead.",
]


@pytest.mark.tenth
@pytest.mark.parametrize("after", [False, True], ids=["before the write", "after the write"])
@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 6])
async def test_after_a_crash_what_was_to_end_ends_when_it_was_to_or_will(faulty, step, after):
    """Of a second draft of what is to come: the present version and its end are as before, or as after it."""
    faults = Faults()
    world = await faulty(faults)
    states = await ends_after(*EDITIONS)
    async with world.serving() as clients:
        for document in EDITIONS[:-1]:
            await clients().ingest(document, uri="doc.txt")
        faults.heal()
        faults.fail_at, faults.after = step, after
        async with refused(grpc.StatusCode.INTERNAL, "INTERNAL"):
            await clients().ingest(EDITIONS[-1], uri="doc.txt")
    faults.heal()
    async with world.serving() as clients:
        assert await ends(clients()) in states[-2:]
        await clients().ingest(EDITIONS[-1], uri="doc.txt")
        assert await ends(clients()) == states[-1]


async def ends(client):
    facts = await client.facts()
    return sorted((fact.content, fact.status, str(fact.superseded_at), str(fact.valid_from)) for fact in facts)


async def ends_after(*documents):
    """What the facts look like after each of the documents, undisturbed."""
    found = []
    async with World().serving() as clients:
        for document in documents:
            await clients().ingest(document, uri="doc.txt")
            found.append(await ends(clients()))
    return found


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("after", [False, True])
async def test_an_erasure_that_began_is_finished_at_the_next_start(faulty, step, after):
    faults = Faults()
    world = await faulty(faults)
    async with world.serving() as clients:
        source = (await clients().ingest(FIRST, uri="doc.txt")).source
        faults.heal()
        faults.fail_at, faults.after = step, after
        async with refused(grpc.StatusCode.INTERNAL, "INTERNAL"):
            await clients().call("EraseSource", source_id=source.source_id)
    faults.heal()
    async with world.serving() as clients:
        began = (step, after) != (1, False)
        assert (await contents(clients()) == []) is began
        await clients().call("EraseSource", source_id=source.source_id)
        assert await contents(clients()) == []


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("existing", [False, True])
async def test_a_full_disk_leaves_the_old_version(faulty, existing, step):
    faults = Faults()
    states = await states_of(FIRST, SECOND)
    async with (await faulty(faults)).serving() as clients:
        if existing:
            await clients().ingest(FIRST, uri="doc.txt")
        faults.heal()
        faults.fail_at, faults.error = step, LimitExceededError(ErrorReason.STORAGE_FULL, "the disk is full")
        async with refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "STORAGE_FULL"):
            await clients().ingest(SECOND if existing else FIRST, uri="doc.txt")
        assert (await contents(clients()), await knowledge(clients())) == states[1 if existing else 0]
        faults.heal()
        await clients().ingest(SECOND if existing else FIRST, uri="doc.txt")
        assert await contents(clients()) == states[2 if existing else 1][0]


async def test_a_caller_who_leaves_during_the_write_does_not_tear_it():
    world = World()
    entered, leave = asyncio.Event(), asyncio.Event()
    upsert = world.facts.upsert

    async def slow(facts):
        entered.set()
        await leave.wait()
        await upsert(facts)

    world.facts.upsert = slow
    async with world.serving() as clients:
        call = asyncio.create_task(clients().ingest(FIRST, uri="doc.txt"))
        await entered.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        again = asyncio.create_task(clients().ingest(FIRST, uri="doc.txt"))
        await asyncio.sleep(0.05)
        leave.set()
        assert (await again).unchanged
        assert len(await contents(clients())) == 2
