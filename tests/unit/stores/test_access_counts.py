"""Accesses are shown at once and written a little later, together."""

import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from services.common.adapters.sqlite import SqliteFactStore
from services.common.adapters.sqlite import facts as facts_module
from services.common.ports.facts import FactRecord, FactStatus
from services.common.settings.stores import StoreSettings

NOW = datetime(2026, 5, 24, 9, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def record(fact_id, **changes):
    values = {
        "tenant_id": "t",
        "fact_id": fact_id,
        "content": "A deadline of 30 days.",
        "content_hash": "0" * 64,
        "source_id": "s",
        "source_location": "",
        "importance_weight": 0.5,
        "ingested_at": NOW,
        "modified_at": NOW,
        "status": FactStatus.ACTIVE,
        "embedding": np.eye(1, 4, dtype=np.float32)[0],
    }
    return FactRecord(**(values | changes))


def in_file(path, fact_id):
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT access_count FROM facts WHERE fact_id = ?", (fact_id,)).fetchone()[0]


@pytest.fixture
async def store(tmp_path):
    opened = await SqliteFactStore.open(tmp_path / "knowledge.db", StoreSettings(), dimension=4)
    await opened.upsert([record("a"), record("b")])
    yield opened
    await opened.close()


async def test_a_count_is_shown_by_every_read_before_it_is_written(store, tmp_path):
    for _ in range(3):
        await store.touch("t", ["a", "a"], at=LATER)
    assert in_file(tmp_path / "knowledge.db", "a") == 0
    [[hit, other]] = await store.search("t", np.eye(1, 4, dtype=np.float32), limit=2)
    [by_id] = await store.get("t", ["a"])
    assert [fact.access_count for fact in (hit.fact, other.fact, by_id)] == [3, 0, 3]
    assert by_id.last_accessed_at == LATER


async def test_counts_of_many_envelopes_are_one_write(store, tmp_path, monkeypatch):
    monkeypatch.setattr(facts_module, "_ACCESSES_EVERY_S", 0.0)
    writes = []
    write = store._database.write
    monkeypatch.setattr(store._database, "write", lambda job, traits: writes.append(traits) or write(job, traits))
    for _ in range(50):
        await store.touch("t", ["a"], at=NOW)
    await store._counting
    assert (len(writes), in_file(tmp_path / "knowledge.db", "a")) == (1, 50)
    assert (await store.get("t", ["a"]))[0].access_count == 50


async def test_closing_writes_what_was_counted(store, tmp_path):
    await store.touch("t", ["a"], at=NOW)
    await store.close()
    assert in_file(tmp_path / "knowledge.db", "a") == 1


async def test_a_fact_that_is_replaced_begins_anew(store, tmp_path):
    await store.touch("t", ["a", "b"], at=NOW)
    await store.upsert([record("a", access_count=7)])
    assert [fact.access_count for fact in await store.get("t", ["a", "b"])] == [7, 1]
    await store.close()
    assert [in_file(tmp_path / "knowledge.db", name) for name in "ab"] == [7, 1]


async def test_tenants_count_apart(store):
    await store.upsert([record("a", tenant_id="u")])
    await asyncio.gather(store.touch("t", ["a"], at=NOW), store.touch("u", [], at=NOW))
    assert [(await store.get(tenant, ["a"]))[0].access_count for tenant in "tu"] == [1, 0]
