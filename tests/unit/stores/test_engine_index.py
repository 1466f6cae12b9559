"""An engine beside SQLite: it proposes, SQLite decides; what it cannot do costs time and never an answer (ADR 0129)."""

import asyncio
import threading

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from services.common.adapters.memory import MemoryVectorEngine
from services.common.adapters.sqlite import SqliteFactStore
from services.common.adapters.sqlite.engine_debts import debt_of
from services.common.adapters.sqlite.engine_index import AskedEngine
from services.common.engine_counts import EngineCounts
from services.common.errors import ErrorReason, UnavailableError
from services.common.ports.facts import FactFilter, FactStatus
from services.common.ports.vector_engine import VectorEngineError
from services.common.settings.stores import StoreSettings
from tests.contract.adapters import DIMENSION
from tests.contract.records import LATER, fact, random_vectors
from tests.patience import patient

SETTINGS = StoreSettings(disk_reserve_bytes=0, synchronous="NORMAL", exact_search_below=40, reader_connections=4)


class FaultyEngine(MemoryVectorEngine):
    """A memory engine that can be down, wait before it adds, and remembers what it was sent."""

    def __init__(self):
        super().__init__()
        self.down = set()
        self.sent = []
        self.added = []
        self.reached, self.go_on = threading.Event(), threading.Event()
        self.waits = False

    def asked(self, doing):
        if doing in self.down:
            raise VectorEngineError(f"memory could not {doing}: ConnectionRefused")

    def add(self, collection, numbers, vectors):
        self.asked("add")
        self.sent.append((collection, numbers.copy(), vectors.copy()))
        if self.waits:
            self.reached.set()
            assert self.go_on.wait(patient(20))
        super().add(collection, numbers, vectors)
        self.added += numbers.tolist()

    def remove(self, collection, numbers):
        self.asked("remove")
        super().remove(collection, numbers)

    def nearest(self, collection, queries, limit):
        self.asked("search")
        return super().nearest(collection, queries, limit)

    def numbers(self, collection):
        self.asked("list")
        return super().numbers(collection)

    def all_down(self):
        self.down = {"add", "remove", "search", "list"}


class Opened:
    """A store over an engine and a look behind its port."""

    def __init__(self, store, engine, counts):
        self.store, self.engine, self.counts = store, engine, counts

    @property
    def indexes(self):
        return self.store._vectors._indexes

    def tenant(self, number=1):
        return self.store._vectors._tenants[number]

    def view(self, number=1):
        return self.tenant(number).view

    def held(self, number=1):
        return MemoryVectorEngine.numbers(self.engine, self.indexes.collection(number)).tolist()

    async def search(self, queries, limit=5, tenant_id="tenant-a", **filters):
        results = await self.store.search(tenant_id, queries, limit=limit, where=FactFilter(**filters))
        return [[hit.fact.fact_id for hit in hits] for hits in results]

    async def settled(self, queries, tenant_id="tenant-a", number=1):
        """Search until the index is level with the facts, and the engine's removals are made."""
        async with asyncio.timeout(patient(20)):
            await self.search(queries, tenant_id=tenant_id)
            while self.tenant(number).building:  # noqa: ASYNC110 - a thread builds
                await asyncio.sleep(0.005)
            await asyncio.to_thread(self.indexes._chores.submit(lambda: None).result)


@pytest.fixture
def engine():
    return FaultyEngine()


@pytest.fixture
async def open_store(tmp_path, engine):
    opened = []

    async def open_(used=None, name="knowledge.db", **changes):
        counts = EngineCounts()
        settings = SETTINGS.model_copy(update=changes)
        store = await SqliteFactStore.open(
            tmp_path / name, settings, dimension=DIMENSION, engine=used or engine, counts=counts
        )
        opened.append(store)
        return Opened(store, used or engine, counts)

    yield open_
    for store in opened:
        await store.close()


def facts(vectors, first=0, **changes):
    return [fact(f"f{first + n:04}", embedding=row, **changes) for n, row in enumerate(vectors)]


def brute_force(vectors, query, limit=5):
    order = np.argsort(-(vectors.astype(np.float64) @ query.astype(np.float64)))
    return [f"f{n:04}" for n in order[:limit]]


async def test_below_the_threshold_the_engine_is_never_spoken_to(open_store, engine):
    engine.all_down()
    one, vectors = await open_store(), random_vectors(1, 39)
    await one.store.upsert(facts(vectors, source_id="s"))
    await one.settled(vectors[:1])
    assert await one.search(vectors[:3]) == [brute_force(vectors, query) for query in vectors[:3]]
    assert await one.store.erase_source("tenant-a", "s", at=LATER) == 39
    assert engine.sent == []


async def test_from_the_threshold_on_it_proposes_and_the_order_is_exact(open_store):
    one, vectors = await open_store(), random_vectors(1, 400)
    await one.store.upsert(facts(vectors))
    await one.settled(vectors[:1])
    assert (one.view().indexed, one.view().tail) == (400, ())
    assert one.held() == list(range(1, 401))
    assert await one.search(vectors[:50]) == [brute_force(vectors, query) for query in vectors[:50]]
    assert one.counts.of_searches("answered") == 1
    for name in ("failed", "short", "resting"):
        assert one.counts.of_searches(name) == 0


async def test_wrong_proposals_do_not_change_scores_or_their_order(open_store, engine, monkeypatch):
    """An engine's scores never reach an answer: what it proposes is ranked by the vectors in SQLite."""
    one, vectors = await open_store(), random_vectors(1, 200)
    await one.store.upsert(facts(vectors))
    await one.settled(vectors[:1])
    hits = await one.store.search("tenant-a", vectors[:5], limit=5)
    for found, query in zip(hits, vectors, strict=False):
        exact = [float(hit.fact.embedding.astype(np.float64) @ query.astype(np.float64)) for hit in found]
        assert [hit.score for hit in found] == pytest.approx(exact, abs=1e-6)
        assert exact == sorted(exact, reverse=True)


async def test_what_is_sent_is_vectors_and_numbers_under_a_name_without_the_tenant(open_store, engine):
    one, vectors = await open_store(), random_vectors(1, 50)
    await one.store.upsert(facts(vectors, content="a secret text", metadata={"who": "somebody"}))
    await one.settled(vectors[:1])
    ((collection, numbers, sent),) = engine.sent
    assert collection == one.indexes.collection(1)
    assert collection.startswith("groundtrail-")
    assert "tenant-a" not in collection
    assert (numbers.dtype, sent.dtype) == (np.int64, np.float32)
    assert np.array_equal(sent, vectors)


async def test_tenants_have_collections_of_their_own(open_store, engine):
    one, vectors = await open_store(), random_vectors(1, 100)
    await one.store.upsert(facts(vectors[:50]))
    await one.store.upsert(facts(vectors[50:], tenant_id="tenant-b"))
    await one.settled(vectors[:1])
    await one.settled(vectors[:1], "tenant-b", 2)
    assert one.held(1) == list(range(1, 51))
    assert one.held(2) == list(range(51, 101))
    assert (await one.search(vectors[60:61], 1))[0] == brute_force(vectors[:50], vectors[60], 1)


async def test_two_stores_share_an_engine_without_meeting(open_store, engine):
    one, other, vectors = await open_store(), await open_store(name="other.db"), random_vectors(1, 100)
    await one.store.upsert(facts(vectors[:50]))
    await other.store.upsert(facts(vectors[50:]))
    await one.settled(vectors[:1])
    await other.settled(vectors[:1])
    assert len({collection for collection, _, _ in engine.sent}) == 2
    assert await one.search(vectors[60:61], 1) == [brute_force(vectors[:50], vectors[60], 1)]


class TestRestart:
    async def test_nothing_is_sent_again(self, open_store, engine):
        one, vectors = await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])
        await one.store.close()
        engine.sent.clear()
        again = await open_store()
        await again.settled(vectors[:1])
        assert (again.view().indexed, again.view().tail) == (100, ())
        assert engine.sent == []
        assert await again.search(vectors) == [brute_force(vectors, query) for query in vectors]

    async def test_what_came_and_went_meanwhile_is_made_good(self, open_store, engine, tmp_path):
        one, vectors = await open_store(), random_vectors(1, 160)
        await one.store.upsert(facts(vectors[:100]))
        await one.settled(vectors[:1])
        await one.store.close()
        without = await SqliteFactStore.open(tmp_path / "knowledge.db", SETTINGS, dimension=DIMENSION)
        await without.upsert(facts(vectors[100:], 100))
        await without.set_status("tenant-a", ["f0003"], FactStatus.DELETED, at=LATER)
        await without.delete("tenant-a", ["f0004"])
        await without.close()
        again = await open_store()
        await again.settled(vectors[:1])
        await again.settled(vectors[:1])
        assert again.held() == [n for n in range(1, 161) if n not in {4, 5}]
        found = await again.search(vectors, 3)
        assert not {"f0003", "f0004"} & {name for hits in found for name in hits}

    async def test_vectors_of_others_are_destroyed_and_never_proposed(self, open_store, engine):
        one, vectors = await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])
        await one.store.close()
        MemoryVectorEngine.add(engine, one.indexes.collection(1), np.array([7777]), vectors[:1])
        again = await open_store()
        assert await again.search(vectors[:1], 1) == [["f0000"]]
        await again.settled(vectors[:1])
        assert 7777 not in again.held()

    async def test_a_hole_in_what_it_holds_is_filled(self, open_store, engine):
        one, vectors = await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])
        await one.store.close()
        MemoryVectorEngine.remove(engine, one.indexes.collection(1), np.array([31, 90]))
        again = await open_store()
        await again.settled(vectors[:1])
        assert again.held() == list(range(1, 101))
        assert await again.search(vectors) == [brute_force(vectors, query) for query in vectors]

    async def test_a_file_brought_back_from_a_copy_does_not_trust_the_vectors_of_the_time_between(
        self, open_store, engine, tmp_path
    ):
        """New facts then get numbers under which the engine holds others."""
        one, vectors = await open_store(), random_vectors(1, 200)
        await one.store.upsert(facts(vectors[:100]))
        await one.store.close()
        copy = (tmp_path / "knowledge.db").read_bytes()
        one = await open_store()
        await one.store.upsert(facts(vectors[100:], 100))
        await one.settled(vectors[:1])
        await one.store.close()
        for path in tmp_path.glob("knowledge.db-*"):
            path.unlink()
        (tmp_path / "knowledge.db").write_bytes(copy)
        others = random_vectors(9, 80)
        again = await open_store()
        await again.store.upsert(facts(others, 100))
        await again.settled(vectors[:1])
        now = np.concatenate([vectors[:100], others])
        assert again.held() == list(range(1, 181))
        assert await again.search(now) == [brute_force(now, query) for query in now]
        assert again.counts.of_searches("answered") == 1


class TestDown:
    async def test_at_search_answers_stay_right(self, open_store, engine):
        one, vectors = await open_store(), random_vectors(1, 300)
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])
        engine.all_down()
        assert await one.search(vectors[:20]) == [brute_force(vectors, query) for query in vectors[:20]]
        assert await one.search(vectors[:20]) == [brute_force(vectors, query) for query in vectors[:20]]
        assert one.counts.of_searches("failed") == 1
        assert one.counts.of_searches("resting") == 1

    async def test_while_it_is_to_be_filled_nothing_is_lost(self, open_store, engine):
        one, vectors = await open_store(), random_vectors(1, 100)
        engine.down = {"add"}
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])
        assert one.view().index is None
        assert await one.search(vectors) == [brute_force(vectors, query) for query in vectors]
        engine.down = set()
        one.indexes._asked.answered()
        await one.settled(vectors[:1])
        assert one.view().indexed == 100

    async def test_when_it_stops_half_way_the_rest_is_sent_later(self, open_store, engine, monkeypatch):
        monkeypatch.setattr("services.common.adapters.sqlite.engine_indexes._BLOCK", 30)
        original = FaultyEngine.add
        one, vectors = await open_store(), random_vectors(1, 100)
        broken = [True]

        def stopping(self, collection, numbers, vectors):
            if broken[0] and 31 in numbers:
                raise VectorEngineError("gone")
            original(self, collection, numbers, vectors)

        monkeypatch.setattr(FaultyEngine, "add", stopping)
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])
        assert one.held() == list(range(1, 31))
        broken[0] = False
        engine.sent.clear()
        one.indexes._asked.answered()
        await one.settled(vectors[:1])
        assert one.held() == list(range(1, 101))
        assert [numbers[0] for _, numbers, _ in engine.sent] == [31, 61, 91]

    async def test_at_start_the_first_search_is_right(self, open_store, engine):
        one, vectors = await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])
        await one.store.close()
        engine.all_down()
        again = await open_store()
        assert await again.search(vectors) == [brute_force(vectors, query) for query in vectors]

    async def test_one_that_has_lost_its_vectors_is_not_believed(self, open_store, engine):
        one, vectors = await open_store(), random_vectors(1, 200)
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])
        engine._held.clear()
        assert await one.search(vectors) == [brute_force(vectors, query) for query in vectors]
        assert one.counts.of_searches("short") == 1
        await one.settled(vectors[:1])  # and gets them again
        assert one.held() == list(range(1, 201))
        await one.search(vectors)
        assert (one.counts.of_searches("short"), one.counts.of_searches("answered")) == (1, 1)

    async def test_one_that_gives_less_than_it_has_is_not_filled_anew(self, open_store, engine, monkeypatch):
        one, vectors = await open_store(), random_vectors(1, 200)
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])
        original = FaultyEngine.nearest
        monkeypatch.setattr(FaultyEngine, "nearest", lambda self, c, q, limit: original(self, c, q, min(limit, 9)))
        view = one.view()
        for _ in range(2):
            assert await one.search(vectors) == [brute_force(vectors, query) for query in vectors]
        assert one.view() is view

    def test_it_rests_longer_each_time_and_no_more_once_it_answers(self, engine):
        now = [0.0]
        asked = AskedEngine(engine, EngineCounts(), lambda: now[0])
        for rest in (1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0):
            asked.failed("search", VectorEngineError("down"))
            asked.failed("search", VectorEngineError("another thread's"))
            now[0] += rest - 0.01
            assert asked.resting
            now[0] += 0.02
            assert not asked.resting
        asked.failed("search", VectorEngineError("down"))
        asked.answered()
        assert not asked.resting


def test_what_is_counted_are_metrics():
    counts, registry = EngineCounts(), CollectorRegistry()
    registry.register(counts)
    counts.searched("x", "answered")
    counts.searched("x", "answered")
    counts.failed("x", "add")
    values = {"engine": "x", "outcome": "answered"}
    assert registry.get_sample_value("groundtrail_vector_engine_searches_total", values) == 2
    values = {"engine": "x", "doing": "add"}
    assert registry.get_sample_value("groundtrail_vector_engine_failures_total", values) == 1


class TestErasure:
    async def test_it_is_done_once_the_engine_has_destroyed_the_vectors(self, open_store):
        one, vectors = await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors[:90], source_id="kept") + facts(vectors[90:], 90, source_id="erased"))
        await one.settled(vectors[:1])
        assert await one.store.erase_source("tenant-a", "erased", at=LATER) == 10
        assert one.held() == list(range(1, 91))

    async def test_down_it_says_so_and_the_next_call_finishes(self, open_store, engine):
        one, vectors = await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors[:90], source_id="kept") + facts(vectors[90:], 90, source_id="erased"))
        await one.settled(vectors[:1])
        engine.all_down()
        with pytest.raises(UnavailableError, match="erase them again") as refused:
            await one.store.erase_source("tenant-a", "erased", at=LATER)
        assert refused.value.reason is ErrorReason.STORE_UNAVAILABLE
        assert await one.store.count("tenant-a") == 90
        assert not any(name >= "f0090" for hits in await one.search(vectors[90:]) for name in hits)
        engine.down = set()
        assert await one.store.erase_source("tenant-a", "erased", at=LATER) == 0
        assert one.held() == list(range(1, 91))

    async def test_the_worked_example_of_0129(self, open_store, engine):
        one, vectors = await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])

        async def owed():
            found = await one.store._database.read(lambda c: debt_of(c, "tenant-a"))
            return found.change, found.numbers.tolist()

        first, nothing = await owed()
        assert nothing == []
        engine.down = {"remove"}
        with pytest.raises(UnavailableError):
            await one.store.set_status("tenant-a", ["f0006", "f0008"], FactStatus.DELETED, at=LATER)
        assert await owed() == (first + 1, [7, 9])
        engine.down = set()
        await one.store.set_status("tenant-a", ["f0011"], FactStatus.DELETED, at=LATER)
        assert await owed() == (first + 2, [])
        assert not {7, 9, 12} & set(one.held())

    async def test_one_that_succeeds_pays_what_an_earlier_one_owes(self, open_store, engine):
        one, vectors = await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])
        engine.down = {"remove"}
        with pytest.raises(UnavailableError):
            await one.store.set_status("tenant-a", ["f0001"], FactStatus.DELETED, at=LATER)
        engine.down = set()
        await one.store.set_status("tenant-a", ["f0002"], FactStatus.DELETED, at=LATER)
        assert not {2, 3} & set(one.held())

    async def test_a_crash_between_the_commit_and_the_engine_is_made_good_by_the_next_process(
        self, open_store, engine, monkeypatch
    ):
        one, vectors = await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors[:90], source_id="kept") + facts(vectors[90:], 90, source_id="erased"))
        await one.settled(vectors[:1])

        async def crash(_tenant_id):
            raise SystemExit

        monkeypatch.setattr(one.store._vectors, "forget", crash)
        with pytest.raises(SystemExit):
            await one.store.erase_source("tenant-a", "erased", at=LATER)
        await one.store.close()
        assert 95 in one.held()
        again = await open_store()
        assert await again.store.erase_source("tenant-a", "erased", at=LATER) == 0  # as recovery does
        assert again.held() == list(range(1, 91))

    async def test_a_build_that_began_before_sends_nothing_of_what_was_erased(self, open_store, engine, monkeypatch):
        monkeypatch.setattr("services.common.adapters.sqlite.engine_indexes._BLOCK", 30)
        one, vectors = await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors[:20], source_id="early") + facts(vectors[20:], 20, source_id="late"))
        engine.waits = True
        await one.search(vectors[:1])  # starts the build
        await asyncio.to_thread(engine.reached.wait, patient(20))
        early = asyncio.create_task(one.store.erase_source("tenant-a", "early", at=LATER))
        late = asyncio.create_task(one.store.set_status("tenant-a", ["f0095"], FactStatus.DELETED, at=LATER))
        async with asyncio.timeout(patient(20)):
            while await one.store.count("tenant-a") != 79:  # noqa: ASYNC110 - a thread writes
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.2)
        assert not early.done()  # the block that is being sent holds them
        engine.waits = False
        engine.go_on.set()
        await asyncio.gather(early, late)
        erased = {*range(1, 21), 96}
        assert not erased & set(one.held())
        await one.settled(vectors[:1])
        await one.settled(vectors[:1])
        assert not erased & set(one.held())
        assert not {"f0095", "f0003"} & {name for hits in await one.search(vectors, 5) for name in hits}
        assert 96 not in engine.added

    async def test_replaced_facts_leave_the_engine(self, open_store):
        one, vectors = await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors))
        await one.settled(vectors[:1])
        await one.store.upsert(facts(vectors[:1][:, ::-1].copy()))
        await one.settled(vectors[:1])
        assert 1 not in one.held()


class TestTwoProcesses:
    """Two stores over one file stand for two processes: they share nothing but the file, the locks and the engine."""

    async def test_each_finds_what_the_other_wrote(self, open_store):
        one, other, vectors = await open_store(), await open_store(), random_vectors(1, 200)
        await one.store.upsert(facts(vectors[:100]))
        await one.settled(vectors[:1])
        await other.settled(vectors[:1])
        await other.store.upsert(facts(vectors[100:], 100))
        for _ in range(2):
            await other.settled(vectors[:1])
            await one.settled(vectors[:1])
        expected = [brute_force(vectors, query) for query in vectors]
        assert await one.search(vectors) == expected
        assert await other.search(vectors) == expected
        assert one.held() == list(range(1, 201))

    async def test_one_does_not_destroy_what_the_other_has_just_sent(self, open_store, engine):
        one, vectors = await open_store(), random_vectors(1, 200)
        await one.store.upsert(facts(vectors[:100]))
        await one.settled(vectors[:1])
        other = await open_store()
        view = one.view()  # as of before
        await other.store.upsert(facts(vectors[100:], 100))
        await other.settled(vectors[:1])
        one.indexes.loaded(1, other.view().index, view)
        await asyncio.to_thread(one.indexes._chores.submit(lambda: None).result)
        assert one.held() == list(range(1, 201))

    async def test_what_one_erases_the_other_does_not_send(self, open_store, engine, monkeypatch):
        monkeypatch.setattr("services.common.adapters.sqlite.engine_indexes._BLOCK", 30)
        one, other, vectors = await open_store(), await open_store(), random_vectors(1, 100)
        await one.store.upsert(facts(vectors))
        engine.waits = True
        await one.search(vectors[:1])
        await asyncio.to_thread(engine.reached.wait, patient(20))
        erasing = asyncio.create_task(
            other.store.set_status("tenant-a", ["f0005", "f0070"], FactStatus.DELETED, at=LATER)
        )
        async with asyncio.timeout(patient(20)):
            while await other.store.count("tenant-a") != 98:  # noqa: ASYNC110 - a thread writes
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.2)
        assert not erasing.done()
        engine.waits = False
        engine.go_on.set()
        await erasing
        assert not {6, 71} & set(one.held())
        await one.settled(vectors[:1])
        assert not {6, 71} & set(one.held())
        assert 71 not in engine.added
