"""What ``MilvusFactStore`` tells of changes (ADR 0084): the kept state hash is the naive one, little is read for it."""

import random
from dataclasses import replace

import pytest
from pymilvus import MilvusClient

from services.common.adapters.memory.facts import MemoryFactStore
from services.common.adapters.memory.graph import MemoryKnowledgeGraph
from services.common.adapters.milvus import MilvusFactStore, changes, facts
from services.common.adapters.milvus.database import MilvusDatabase
from services.common.ports.fact_changes import FactChanges, StateKnown
from services.common.ports.facts import FactStatus
from services.envelope.state_hashes import StateHashes
from tests.integration.milvus_target import empty_milvus, milvus_settings
from tests.property.test_envelope_state_hash import IDS, LABELS, MODEL, SELECTIONS, naive, perform, record

pytestmark = [pytest.mark.needs_milvus, pytest.mark.slow, pytest.mark.timeout(600)]

DIMENSION = 4  # of that module's facts
PREFIX = "groundtrail_tests_changes"
STEPS = 30
MANY = 3_000


async def opened(settings) -> MilvusFactStore:
    return await MilvusFactStore.open(settings, embedding_model="", dimension=DIMENSION)


@pytest.fixture
async def settings():
    found = milvus_settings(collection_prefix=PREFIX)
    await empty_milvus(found)
    yield found
    client = MilvusClient(found.uri)
    for name in client.list_collections():
        if name.startswith(PREFIX):
            client.drop_collection(name)
    client.close()


@pytest.fixture
async def store(settings):
    found = await opened(settings)
    yield found
    await found.close()


class Read:
    """Counts the rows that Milvus gives."""

    def __init__(self, monkeypatch) -> None:
        self.rows = 0
        real = MilvusDatabase.rows

        async def counted(database, *given, **named):
            found = await real(database, *given, **named)
            self.rows += len(found)
            return found

        monkeypatch.setattr(MilvusDatabase, "rows", counted)

    def taken(self) -> int:
        taken, self.rows = self.rows, 0
        return taken


def random_write(rng):
    some = rng.sample(IDS, rng.randint(1, 3))
    return rng.choice(
        [
            ("upsert", some, rng.choice(LABELS)),
            ("label", some, rng.choice(LABELS)),
            ("status", some, rng.choice(list(FactStatus))),
            ("erase", rng.choice(["s0", "s1"]), None),
            ("delete", some, None),
            ("touch", some, None),
            ("recluster", None, None),
        ]
    )


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "beside another process"])
async def test_the_kept_hash_is_the_naive_one_whoever_writes(settings, shared):
    settings = settings.model_copy(update={"consistency": "strong" if shared else "session"})
    rng, graph, memory = random.Random(3), MemoryKnowledgeGraph(), MemoryFactStore(DIMENSION)
    own = await opened(settings)
    other = await opened(settings) if shared else own
    assert isinstance(own, FactChanges)
    kept = StateHashes(own, graph, MODEL, shared_store=shared)
    for tick in range(STEPS):
        write = random_write(rng)
        await perform(rng.choice([own, other]), graph, tick, *write)
        if write[0] != "recluster":
            await perform(memory, graph, tick, *write)
        selection = rng.choice(SELECTIONS)
        assert await kept.of("t", selection) == await naive(memory, graph, selection), (tick, write, selection)
    for one in {own, other}:
        await one.close()


async def test_ten_new_facts_beside_three_thousand_are_ten_rows_to_read(store, monkeypatch):
    await store.upsert(
        [record(f"f{number}", number, f"c{number % 10}" if number % 3 else "") for number in range(MANY)]
    )
    states = StateHashes(store, MemoryKnowledgeGraph(), MODEL, shared_store=False)
    read = Read(monkeypatch)
    before = await states.of("t", ())
    assert read.taken() <= MANY + len(LABELS) * 10
    await store.upsert([record(f"f{MANY + number}", MANY + number) for number in range(10)])
    read.taken()
    after = await states.of("t", ())
    assert after != before
    assert read.taken() <= 12
    await store.set_status("t", ["f7", "f8"], FactStatus.STALE, at=record("f0", 9_999).modified_at)
    read.taken()
    stale = await states.of("t", ("c7", "c8"))
    assert read.taken() <= 4
    assert stale == await StateHashes(store, MemoryKnowledgeGraph(), MODEL, shared_store=False).of("t", ("c7", "c8"))


async def test_a_reader_that_is_far_behind_starts_over(store, monkeypatch):
    monkeypatch.setattr(changes, "MOST_CHANGES", 2)
    await store.upsert([record(name, 1) for name in IDS])
    seen = await store.state_changes("t", StateKnown(), frozenset({""}))
    assert (seen.starts_over, len(seen.added)) == (True, len(IDS))
    known = StateKnown(seen.change, frozenset({""}))
    await store.upsert([record(name, 2) for name in IDS[:2]])
    few = await store.state_changes("t", known, frozenset({""}))
    assert (few.starts_over, len(few.changed), few.added) == (False, 2, [])
    await store.upsert([record(IDS[3], 3)])
    many = await store.state_changes("t", known, frozenset({""}))
    assert (many.starts_over, many.changed, len(many.added)) == (True, [], len(IDS))


async def test_what_is_removed_without_a_trace_makes_a_reader_start_over_also_after_a_restart(settings, store):
    await store.upsert([record(name, 1) for name in IDS])
    known = StateKnown(await store.state_change("t"), frozenset({""}))
    await store.delete("t", IDS[:3])
    await store.upsert([record("f99", 2)])
    assert await store.state_change("t") == known.change + 2
    again = await opened(settings)
    for one in (store, again):
        seen = await one.state_changes("t", known, frozenset({""}))
        assert seen.starts_over
        assert {row.entry.fact_id for row in seen.added} == {*IDS[3:], "f99"}
        now = await one.state_changes("t", replace(known, change=seen.change), frozenset({""}))
        assert (now.starts_over, now.changed, now.added) == (False, [], [])
    await again.close()


async def test_outlines_are_the_facts_without_text(store, monkeypatch):
    monkeypatch.setattr(facts, "_BLOCK_ROWS", 3)
    await store.upsert([record(name, 1, LABELS[number % 4]) for number, name in enumerate(IDS)])
    await store.set_status("t", IDS[:1], FactStatus.QUARANTINED, at=record("f0", 5).modified_at)
    memory = MemoryFactStore(DIMENSION)
    await memory.upsert([record(name, 1, LABELS[number % 4]) for number, name in enumerate(IDS)])
    found = [one async for block in store.outlines("t") for one in block]
    expected = [(f.fact_id, f.content_hash, f.importance_weight, f.community_label) for f in await memory.get("t", IDS)]
    assert [(f.fact_id, f.content_hash, f.importance_weight, f.community_label) for f in found] == expected[1:]


async def test_labels_are_set_in_portions_and_each_is_seen(store, monkeypatch):
    monkeypatch.setattr(facts, "_LABELS_PER_WRITE", 3)
    await store.upsert([record(name, 1) for name in IDS])
    before = await store.state_change("t")
    await store.set_communities("t", {name: "x" if number % 2 else "" for number, name in enumerate(IDS)})
    assert [fact.community_label for fact in await store.get("t", IDS)] == ["", "x"] * (len(IDS) // 2)
    assert await store.state_change("t") == before + 3
