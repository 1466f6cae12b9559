"""A full disk and other trouble at the store's edge: a clear error, nothing half-written, reads go on."""

import asyncio
import os
import sqlite3

import pytest

from services.common.adapters.sqlite import SqliteFactStore, SqliteKnowledgeGraph, SqliteSessionStore
from services.common.adapters.sqlite.connections import connect
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.ports.facts import FactFilter
from services.common.ports.sessions import SessionChange
from services.common.settings.stores import StoreSettings
from tests.contract.adapters import DIMENSION
from tests.contract.records import LATER, fact, random_vectors, receipt, session, source, vector, window

SETTINGS = StoreSettings(disk_reserve_bytes=0, synchronous="NORMAL", busy_timeout_ms=50)


@pytest.fixture
async def facts(tmp_path):
    store = await SqliteFactStore.open(tmp_path / "knowledge.db", SETTINGS, dimension=DIMENSION)
    yield store
    await store.close()


async def limit_pages(store, spare: int | None) -> None:
    """Let the file grow by so many pages more; ``None`` = without limit."""

    def job(connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + spare if spare is not None else 2**30}")

    await store._database.write(job)


def batch(name: str, size: int = 400):
    vectors = random_vectors(1, size)
    return [
        fact(f"{name}-{n}", source_id=name, content=f"{name} words {n} " * 20, embedding=vectors[n])
        for n in range(size)
    ]


async def test_a_full_disk_refuses_the_write_whole_and_serves_reads(facts):
    await facts.upsert(batch("old", 50))
    state = [entry async for entry in facts.state_entries("tenant-a")]
    await limit_pages(facts, 10)
    with pytest.raises(LimitExceededError) as caught:
        await facts.upsert(batch("new"))
    assert caught.value.reason is ErrorReason.STORAGE_FULL
    assert "knowledge.db" in caught.value.message
    assert caught.value.retry_after_s
    assert [entry async for entry in facts.state_entries("tenant-a")] == state
    assert len(await facts.search_text("tenant-a", "old", limit=99)) == 50
    assert await facts.search_text("tenant-a", "new", limit=99) == []
    assert len((await facts.search("tenant-a", vector(1.0)[None], limit=99))[0]) == 50
    await limit_pages(facts, None)
    await facts.upsert(batch("new"))
    assert await facts.count("tenant-a") == 450


async def test_a_write_that_does_not_fit_takes_no_other_write_with_it(facts):
    await facts.upsert(batch("old", 5))
    await limit_pages(facts, 60)
    writes = [facts.upsert([fact(f"small-{n}")]) for n in range(3)]
    writes.insert(1, facts.upsert(batch("huge")))
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(outcome).__name__ for outcome in outcomes] == [
        "NoneType",
        "LimitExceededError",
        "NoneType",
        "NoneType",
    ]
    assert await facts.count("tenant-a") == 8
    assert await facts.search_text("tenant-a", "huge", limit=9) == []


async def test_erasure_works_on_a_full_disk_and_makes_room(facts):
    await facts.upsert([fact(f"old-{n}", source_id="old", content=f"long {n} " * 1_000) for n in range(50)])
    await limit_pages(facts, 0)
    with pytest.raises(LimitExceededError):
        await facts.upsert(batch("new", 100))
    assert await facts.erase_source("tenant-a", "old", at=LATER) == 50
    await facts.upsert(batch("new", 100))
    assert await facts.count("tenant-a") == 100


async def test_the_reserve_is_kept_for_erasure(tmp_path, monkeypatch):
    settings = SETTINGS.model_copy(update={"disk_reserve_bytes": 1_000_000})
    store = await SqliteFactStore.open(tmp_path / "knowledge.db", settings, dimension=DIMENSION)
    await store.upsert(batch("old", 5))
    monkeypatch.setattr(store._database._writer, "free_bytes", lambda: 999_999)
    with pytest.raises(LimitExceededError) as caught:
        await store.upsert(batch("new", 5))
    assert caught.value.reason is ErrorReason.STORAGE_FULL
    await store.touch("tenant-a", ["old-1"], at=LATER)
    await store._write_accesses()  # what a second later would happen by itself
    assert (await store.get("tenant-a", ["old-1"]))[0].access_count == 0
    await store.delete("tenant-a", ["old-0"])
    assert await store.erase_source("tenant-a", "old", at=LATER) == 4
    monkeypatch.setattr(store._database._writer, "free_bytes", lambda: 1_000_000)
    await store.upsert(batch("new", 5))
    assert await store.count("tenant-a") == 5
    await store.close()


async def test_a_session_step_is_whole_or_not_there(tmp_path):
    store = await SqliteSessionStore.open(tmp_path / "sessions.db", SETTINGS)
    await store.write(SessionChange(session("s"), windows=(window("s", 1),)))
    await limit_pages(store, 3)
    big = window("s", 2, response_text="x" * 100_000)
    change = SessionChange(session("s", 2), windows=(big,), receipt=receipt("q"))
    with pytest.raises(LimitExceededError):
        await store.write(change)
    assert (await store.snapshot("tenant-a", "s")).session.version == 1
    assert await store.get_receipt("tenant-a", "IngestSource", "q") is None
    await limit_pages(store, None)
    await store.write(change)
    assert (await store.snapshot("tenant-a", "s")).windows == (window("s", 1), big)
    await store.close()


async def test_a_lock_held_elsewhere_is_unavailable_and_passes(tmp_path):
    store = await SqliteKnowledgeGraph.open(tmp_path / "graph.db", SETTINGS)
    await store.put_source(source("s1"))
    other = connect(tmp_path / "graph.db", SETTINGS)
    other.execute("BEGIN IMMEDIATE")
    outcomes = await asyncio.gather(*(store.put_source(source(f"x{n}")) for n in range(5)), return_exceptions=True)
    assert {outcome.reason for outcome in outcomes} == {ErrorReason.STORE_UNAVAILABLE}
    assert "another process" in outcomes[0].message
    assert outcomes[0].retry_after_s == 1.0
    assert await store.get_source("tenant-a", "s1") == source("s1")
    other.execute("ROLLBACK")
    other.close()
    await store.put_source(source("s2"))
    assert len(await store.page_sources("tenant-a", after="", limit=9)) == 2
    await store.close()


async def test_a_file_that_is_no_database_says_so(tmp_path):
    (tmp_path / "graph.db").write_bytes(b"certainly not a database" * 100)
    with pytest.raises(UnavailableError, match="not a SQLite database"):
        await SqliteKnowledgeGraph.open(tmp_path / "graph.db", SETTINGS)


async def test_a_damaged_file_says_so(tmp_path):
    path = tmp_path / "knowledge.db"
    store = await SqliteFactStore.open(path, SETTINGS, dimension=DIMENSION)
    await store.upsert(batch("old"))
    await store.close()
    damaged = bytearray(path.read_bytes())
    damaged[8_192:] = os.urandom(len(damaged) - 8_192)
    path.write_bytes(damaged)
    with pytest.raises(UnavailableError, match="damaged"):
        await read_everything(path)


async def read_everything(path):
    store = await SqliteFactStore.open(path, SETTINGS, dimension=DIMENSION)
    try:
        await store.page("tenant-a", FactFilter(), after="", limit=9)
    finally:
        await store.close()


async def test_another_stores_file_is_refused(tmp_path):
    graph = await SqliteKnowledgeGraph.open(tmp_path / "graph.db", SETTINGS)
    await graph.close()
    with pytest.raises(UnavailableError, match="belongs to something else"):
        await SqliteSessionStore.open(tmp_path / "graph.db", SETTINGS)


async def test_a_file_of_a_later_version_is_refused(tmp_path):
    graph = await SqliteKnowledgeGraph.open(tmp_path / "graph.db", SETTINGS)
    await graph.close()
    connection = sqlite3.connect(tmp_path / "graph.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(UnavailableError, match="schema version 99"):
        await SqliteKnowledgeGraph.open(tmp_path / "graph.db", SETTINGS)


async def test_a_place_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "graph.db").mkdir()
    with pytest.raises(UnavailableError, match="cannot be opened"):
        await SqliteKnowledgeGraph.open(tmp_path / "graph.db", SETTINGS)


async def test_a_closed_store_is_unavailable(tmp_path):
    store = await SqliteKnowledgeGraph.open(tmp_path / "graph.db", SETTINGS)
    await store.close()
    for call in (store.check, lambda: store.get_source("t", "s"), lambda: store.put_source(source("s"))):
        with pytest.raises(UnavailableError, match="closed"):
            await call()


async def test_other_vectors_need_another_store(tmp_path):
    store = await SqliteFactStore.open(tmp_path / "knowledge.db", SETTINGS, dimension=DIMENSION)
    await store.close()
    with pytest.raises(UnavailableError, match="16 dimensions, the embedding model makes 384"):
        await SqliteFactStore.open(tmp_path / "knowledge.db", SETTINGS, dimension=384)
