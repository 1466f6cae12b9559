"""The HNSW index as a cache of SQLite: built and caught up in the background, kept on disk, never the truth."""

import asyncio
import json
import subprocess
import sys

import numpy as np
import pytest

from services.common.adapters.sqlite import SqliteFactStore
from services.common.ports.facts import FactFilter, FactStatus
from services.common.settings.stores import StoreSettings
from tests.contract.adapters import DIMENSION
from tests.contract.records import LATER, fact, random_vectors, vector
from tests.patience import patient

SETTINGS = StoreSettings(
    disk_reserve_bytes=0, synchronous="NORMAL", exact_search_below=40, hnsw_ef_search=256, reader_connections=8
)


class Opened:
    """A store and a look behind its port."""

    def __init__(self, store: SqliteFactStore) -> None:
        self.store = store

    def tenant(self, number: int = 1):
        return self.store._vectors._tenants[number]

    def view(self, number: int = 1):
        return self.tenant(number).view

    async def search(self, queries, limit=5, **filters):
        results = await self.store.search("tenant-a", queries, limit=limit, where=FactFilter(**filters))
        return [[hit.fact.fact_id for hit in hits] for hits in results]

    async def settled(self, queries) -> None:
        """Search until the index is level with the facts."""
        async with asyncio.timeout(patient(20)):
            await self.search(queries)
            while self.tenant().building:  # noqa: ASYNC110 - a thread builds
                await asyncio.sleep(0.005)


@pytest.fixture
async def open_store(tmp_path):
    opened = []

    async def open_(**changes):
        settings = SETTINGS.model_copy(update=changes)
        store = await SqliteFactStore.open(tmp_path / "knowledge.db", settings, dimension=DIMENSION)
        opened.append(store)
        return Opened(store)

    yield open_
    for store in opened:
        await store.close()


def facts(vectors, first: int = 0, **changes):
    return [fact(f"f{first + n:04}", embedding=row, **changes) for n, row in enumerate(vectors)]


def brute_force(vectors, query, limit=5) -> list[str]:
    order = np.argsort(-(vectors.astype(np.float64) @ query.astype(np.float64)))
    return [f"f{n:04}" for n in order[:limit]]


async def test_below_the_threshold_there_is_no_index(open_store):
    one, vectors = await open_store(), random_vectors(1, 39)
    await one.store.upsert(facts(vectors))
    await one.settled(vectors[:1])
    assert one.view().index is None
    assert len(one.view().tail[0]) == 39


async def test_from_the_threshold_on_all_facts_are_in_the_index(open_store):
    one, vectors = await open_store(), random_vectors(1, 400)
    await one.store.upsert(facts(vectors))
    await one.settled(vectors[:1])
    assert (len(one.view().index), one.view().indexed, one.view().tail) == (400, 400, ())
    assert await one.search(vectors[:50]) == [brute_force(vectors, query) for query in vectors[:50]]


async def test_a_few_new_facts_wait_beside_the_index_and_are_found(open_store):
    one, vectors = await open_store(), random_vectors(1, 408)
    await one.store.upsert(facts(vectors[:400]))
    await one.settled(vectors[:1])
    index = one.view().index
    for n in range(400, 408):
        await one.store.upsert(facts(vectors[n : n + 1], n))
        assert await one.search(vectors[n][None], 1) == [[f"f{n:04}"]]
    assert one.view().index is index
    assert len(one.view().tail) == 1


async def test_more_new_facts_are_added_without_building_anew(open_store, monkeypatch):
    one, vectors = await open_store(), random_vectors(1, 450)
    await one.store.upsert(facts(vectors[:400]))
    await one.settled(vectors[:1])
    added = []
    index_type = type(one.view().index)
    original = index_type.extended
    monkeypatch.setattr(
        index_type,
        "extended",
        lambda self, numbers, *rest: added.append(len(numbers)) or original(self, numbers, *rest),
    )
    await one.store.upsert(facts(vectors[400:], 400))
    await one.settled(vectors[:1])
    assert added == [50]
    assert one.view().indexed == 450
    assert await one.search(vectors) == [brute_force(vectors, query) for query in vectors]


async def test_facts_that_go_leave_at_once_and_the_index_later(open_store):
    one, vectors = await open_store(), random_vectors(1, 400)
    await one.store.upsert(facts(vectors))
    await one.settled(vectors[:1])
    gone = [f"f{n:04}" for n in range(0, 400, 4)]
    await one.store.delete("tenant-a", gone[:50])
    await one.store.set_status("tenant-a", gone[50:], FactStatus.DELETED, at=LATER)
    found = await one.search(vectors, 20)
    assert not {name for hits in found for name in hits} & set(gone)
    assert all(len(hits) == 20 for hits in found)
    await one.settled(vectors[:1])
    assert (len(one.view().index), len(one.view().numbers), one.view().gone_from_index) == (300, 300, 0)
    kept = np.array([n for n in range(400) if n % 4])
    assert await one.search(vectors[:20]) == [
        [f"f{kept[int(name[1:])]:04}" for name in brute_force(vectors[kept], query)] for query in vectors[:20]
    ]


async def test_selective_and_wide_filters_are_exact(open_store):
    one, vectors = await open_store(), random_vectors(1, 600)
    for n in range(3):
        part = slice(200 * n, 200 * n + 200)
        await one.store.upsert(facts(vectors[part], 200 * n, source_id=f"s{n}", community_label=f"c{n % 2}"))
    await one.settled(vectors[:1])
    assert await one.search(vectors[:20], source_ids=("s0",)) == [brute_force(vectors[:200], q) for q in vectors[:20]]
    wide = await one.search(vectors[:20], 30, communities=("c0",))
    allowed = np.r_[0:200, 400:600]
    expected = [
        [f"f{allowed[int(name[1:])]:04}" for name in brute_force(vectors[allowed], q, 30)] for q in vectors[:20]
    ]
    assert wide == expected


async def test_ties_beyond_what_the_index_proposes_go_by_id(open_store):
    one = await open_store()
    await one.store.upsert(facts([vector(1.0, 1.0)] * 300 + list(random_vectors(1, 100))))
    await one.settled(vector(1.0)[None])
    assert one.view().indexed == 400
    assert await one.search(vector(1.0, 1.0)[None], 5) == [[f"f{n:04}" for n in range(5)]]


async def test_a_restart_catches_up_from_the_file(open_store, monkeypatch):
    one, vectors = await open_store(), random_vectors(1, 410)
    await one.store.upsert(facts(vectors[:400]))
    await one.settled(vectors[:1])
    await one.store.upsert(facts(vectors[400:405], 400))
    await one.store.set_status("tenant-a", ["f0000"], FactStatus.QUARANTINED, at=LATER)
    await one.store.close()
    again = await open_store()
    await again.store.upsert(facts(vectors[405:], 405))
    monkeypatch.setattr(again.store._vectors, "_start_build", lambda *_: pytest.fail("built anew"))
    await again.search(vectors[:1])
    assert (again.view().indexed, len(again.view().tail[0])) == (400, 10)
    assert await again.search(vectors[1:]) == [
        [name for name in brute_force(vectors, query, 6) if name != "f0000"][:5] for query in vectors[1:]
    ]


@pytest.mark.parametrize("damage", ["digest", "store", "state", "missing", "emptied"])
async def test_a_file_that_cannot_be_trusted_is_not_used(open_store, tmp_path, damage):
    one, vectors = await open_store(), random_vectors(1, 100)
    await one.store.upsert(facts(vectors))
    await one.settled(vectors[:1])
    await one.store.close()
    index, state = tmp_path / "knowledge.indexes" / "1.hnsw", tmp_path / "knowledge.indexes" / "1.json"
    if damage == "digest":
        index.write_bytes(index.read_bytes()[:-1] + b"x")
    elif damage == "store":
        state.write_text(json.dumps(json.loads(state.read_text()) | {"store": "another"}))
    elif damage == "state":
        state.write_text("{")
    elif damage == "emptied":
        index.write_bytes(b"")
    else:
        index.unlink()
    again = await open_store()
    assert await again.search(vectors) == [brute_force(vectors, query) for query in vectors]


async def test_erased_vectors_do_not_stay_on_disk(open_store, tmp_path):
    one, vectors = await open_store(), random_vectors(1, 400)
    await one.store.upsert(facts(vectors[:390], source_id="kept") + facts(vectors[390:], 390, source_id="erased"))
    await one.settled(vectors[:1])
    directory = tmp_path / "knowledge.indexes"
    assert sorted(path.name for path in directory.iterdir()) == ["1.hnsw", "1.json"]
    await one.store.erase_source("tenant-a", "erased", at=LATER)
    assert list(directory.iterdir()) == []
    await one.settled(vectors[:1])
    await one.store.close()
    assert list(directory.iterdir()) == []
    again = await open_store()
    await again.settled(vectors[:1])
    assert again.view().indexed == 390
    assert sorted(path.name for path in directory.iterdir()) == ["1.hnsw", "1.json"]


async def test_another_store_over_the_file_removes_what_was_erased_from_its_index_file(open_store, tmp_path):
    one, other, vectors = await open_store(), await open_store(index_on_disk=False), random_vectors(1, 100)
    await one.store.upsert(facts(vectors))
    await one.settled(vectors[:1])
    await other.store.delete("tenant-a", ["f0003"])
    assert await one.search(vectors[3][None], 1) != [["f0003"]]
    assert list((tmp_path / "knowledge.indexes").iterdir()) == []


async def test_a_build_that_began_before_an_erasure_is_not_saved(open_store, tmp_path):
    one, vectors = await open_store(), random_vectors(1, 100)
    await one.store.upsert(facts(vectors))
    await one.settled(vectors[:1])
    files, index = one.store._vectors._indexes._files, one.view().index
    before = files.erasures(1)
    files.forget(1)
    assert files.save(1, index, before) is False
    assert files.save(1, index, files.erasures(1)) is True
    assert sorted(path.name for path in (tmp_path / "knowledge.indexes").iterdir()) == ["1.hnsw", "1.json"]


async def test_tenants_never_share_an_index(open_store):
    one, vectors = await open_store(), random_vectors(1, 200)
    await one.store.upsert(facts(vectors[:100]) + facts(vectors[100:], tenant_id="tenant-b"))
    await one.settled(vectors[:1])
    await one.store.search("tenant-b", vectors[:1], limit=1)
    assert one.view(1) is not one.view(2)
    assert not set(one.view(1).numbers.tolist()) & set(one.view(2).numbers.tolist())


async def test_the_tenant_searched_longest_ago_is_dropped_and_comes_back(open_store):
    one, vectors = await open_store(exact_search_below=10_000), random_vectors(1, 300)
    for tenant in ("tenant-a", "tenant-b", "tenant-c"):
        await one.store.upsert(facts(vectors, tenant_id=tenant))
    cache = one.store._vectors
    await one.search(vectors[:1])
    cache._settings = SETTINGS.model_copy(
        update={"vector_cache_bytes": 2 * one.view().memory_bytes, "exact_search_below": 10_000}
    )
    await one.store.search("tenant-b", vectors[:1], limit=1)
    await one.search(vectors[:1])
    await one.store.search("tenant-c", vectors[:1], limit=1)
    assert sorted(cache._tenants) == [1, 3]
    hits = await one.store.search("tenant-b", vectors[7][None], limit=1)
    assert hits[0][0].fact.fact_id == "f0007"


async def test_searches_and_writes_at_once_stay_consistent(open_store):
    one, vectors = await open_store(), random_vectors(1, 600)
    await one.store.upsert(facts(vectors[:100]))

    async def write() -> None:
        for n in range(100, 600, 10):
            await one.store.upsert(facts(vectors[n : n + 10], n))
            assert await one.search(vectors[n + 5][None], 1) == [[f"f{n + 5:04}"]]

    async def read(number: int) -> None:
        while not writing.done():
            assert await one.search(vectors[number][None], 1) == [[f"f{number:04}"]]

    writing = asyncio.create_task(write())
    await asyncio.gather(writing, *(read(number) for number in range(6)))
    await one.settled(vectors[:1])
    assert await one.search(vectors) == [brute_force(vectors, query) for query in vectors]


async def test_closing_stops_a_build(open_store):
    one, vectors = await open_store(hnsw_ef_construction=2_000), random_vectors(1, 6_000)
    await one.store.upsert(facts(vectors))
    await one.search(vectors[:1])
    assert one.tenant().building
    async with asyncio.timeout(patient(10)):
        await one.store.close()
    assert one.view().index is None


@pytest.mark.tenth
@pytest.mark.parametrize("other", ["onnxruntime", "grpc", "spacy", "tokenizers", "graspologic_native"])
def test_the_library_bears_other_native_ones_before_and_after_it(other):
    """A wheel that exports a C++ runtime of its own ends the process here (ADR 0031)."""
    for program in (f"import faiss, {other}", f"import {other}, faiss"):  # either is imported when it is needed
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
