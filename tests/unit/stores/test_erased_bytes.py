"""Erasure as the disk sees it: no byte of the content or its vectors is left in any file of the store."""

import asyncio

import numpy as np
import pytest

from services.common.adapters.sqlite import SqliteFactStore, SqliteKnowledgeGraph, SqliteSessionStore
from services.common.ports.facts import FactStatus
from services.common.ports.graph import SourceStatus
from services.common.ports.recognition import Entity, EntityKind
from services.common.ports.sessions import SessionChange
from services.common.settings.stores import StoreSettings
from tests.contract.adapters import DIMENSION
from tests.contract.records import LATER, fact, random_vectors, session, source, window

SETTINGS = StoreSettings(disk_reserve_bytes=0, exact_search_below=50)
SECRETS = ("zyxkontonummer", "zyxentity", "zyxmetadata", "zyxlocation")


def bytes_on_disk(directory) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file())


async def settled(directory) -> bytes:
    """Return the bytes when the log is empty and no index is unfinished.

    A thread that builds one may hold the log open for a moment, and removes what it wrote when it hears of the erasure.
    """
    for _ in range(200):
        logs = any(path.stat().st_size for path in directory.glob("*.db-wal"))
        if not logs and not list(directory.rglob("*.unfinished")):
            found = bytes_on_disk(directory)
            if not list(directory.rglob("*.unfinished")):
                return found
        await asyncio.sleep(0.05)
    return bytes_on_disk(directory)


def secret_facts(vectors):
    return [
        fact(
            f"f{n:03}",
            source_id="secret" if n % 2 else "open",
            content=f"plain words {n}" if n % 2 == 0 else f"{SECRETS[0]}{n} lies here. " * 8,
            source_location=f"# {SECRETS[3]}" if n % 2 else "",
            entities=(Entity(EntityKind.PERSON, SECRETS[1], 0, 9),) if n % 2 else (),
            metadata={"author": SECRETS[2]} if n % 2 else {},
            embedding=vectors[n],
        )
        for n in range(len(vectors))
    ]


@pytest.mark.parametrize("how", ["erase_source", "set_status", "upsert"])
async def test_nothing_of_a_fact_is_left(tmp_path, how):
    vectors = random_vectors(1, 100)
    store = await SqliteFactStore.open(tmp_path / "knowledge.db", SETTINGS, dimension=DIMENSION)
    await store.upsert(secret_facts(vectors))
    await store.search("tenant-a", vectors[:1], limit=3)
    before = bytes_on_disk(tmp_path)
    assert all(secret.encode() in before for secret in SECRETS)
    assert vectors[1].astype("<f4").tobytes() in before
    ids = [f"f{n:03}" for n in range(1, 100, 2)]
    if how == "erase_source":
        await store.erase_source("tenant-a", "secret", at=LATER)
    elif how == "set_status":
        await store.set_status("tenant-a", ids, FactStatus.DELETED, at=LATER)
    else:
        await store.upsert([fact(name, status=FactStatus.DELETED) for name in ids])
        await store.erase_source("tenant-a", "open", at=LATER)  # empties the log and merges the words
    after = await settled(tmp_path)
    assert [secret for secret in SECRETS if secret.encode() in after] == []
    assert vectors[1].astype("<f4").tobytes() not in after
    assert np.float16(vectors[1]).tobytes() not in after
    if how != "upsert":
        assert vectors[2].astype("<f4").tobytes() in after
    await store.close()


async def test_the_log_is_emptied_as_soon_as_a_reader_lets_go(tmp_path):
    store = await SqliteFactStore.open(tmp_path / "knowledge.db", SETTINGS, dimension=DIMENSION)
    await store.upsert(secret_facts(random_vectors(1, 10)))
    writer = store._database._writer
    pool = store._database._readers
    with pool._transaction() as reader:
        reader.execute("SELECT count(*) FROM facts").fetchone()
        await store.erase_source("tenant-a", "secret", at=LATER)
        assert writer._scrub_due
    await store.touch("tenant-a", ["f000"], at=LATER)
    await store.close()
    assert SECRETS[0].encode() not in bytes_on_disk(tmp_path)


async def test_nothing_of_an_erased_source_is_left(tmp_path):
    graph = await SqliteKnowledgeGraph.open(tmp_path / "graph.db", SETTINGS)
    await graph.put_source(source("s", title=SECRETS[0], uri=f"file:///{SECRETS[1]}", metadata={"a": SECRETS[2]}))
    assert SECRETS[0].encode() in bytes_on_disk(tmp_path)
    await graph.put_source(source("s", title="", uri="", status=SourceStatus.ERASED))
    assert [secret for secret in SECRETS if secret.encode() in bytes_on_disk(tmp_path)] == []
    await graph.close()


async def test_an_erased_answer_is_gone_when_the_store_is_closed(tmp_path):
    store = await SqliteSessionStore.open(tmp_path / "sessions.db", SETTINGS)
    await store.write(SessionChange(session("s"), windows=(window("s", 1, response_text=SECRETS[0]),)))
    await store.write(SessionChange(session("s", 2), windows=(window("s", 1, response_text=""),)))
    await store.close()
    assert SECRETS[0].encode() not in bytes_on_disk(tmp_path)


async def test_an_index_whose_build_begins_after_the_erasure_is_not_kept(tmp_path, monkeypatch):
    """The thread that builds may come to it late: what it knows was read before the erasure."""
    vectors = random_vectors(1, 100)
    store = await SqliteFactStore.open(tmp_path / "knowledge.db", SETTINGS, dimension=DIMENSION)
    held = []
    monkeypatch.setattr(store._vectors._builder, "submit", lambda *job: held.append(job))
    await store.upsert(secret_facts(vectors))
    await store.search("tenant-a", vectors[:1], limit=3)
    await store.erase_source("tenant-a", "secret", at=LATER)
    ((build, *arguments),) = held
    monkeypatch.undo()
    build(*arguments)
    assert list(tmp_path.rglob("*.hnsw")) == []
    assert np.float16(vectors[1]).tobytes() not in await settled(tmp_path)
    await store.close()
