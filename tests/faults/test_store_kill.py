"""``kill -9`` of a writing process: every acknowledged write is there whole, every other one whole or not at all."""

import asyncio
import os
import random
import sqlite3
from pathlib import Path

import pytest

from services.common.adapters.sqlite import SqliteFactStore, SqliteSessionStore
from services.common.ports.facts import FactFilter, FactStatus
from services.common.ports.session_lists import SessionFilter
from tests.contract.adapters import DIMENSION
from tests.faults.store_records import BATCH, LAST_VERSION, batch, step
from tests.faults.store_writer import SETTINGS
from tests.forked import running_module

ROUNDS = int(os.environ.get("GROUNDTRAIL_TEST_FAULT_ROUNDS", "2"))
ROOT = Path(__file__).parents[2]


def killed_writer(kind: str, directory: Path, round_number: int, acknowledgements: int) -> list[list[str]]:
    """Run a writer, kill it after so many acknowledgements and whatever it does until then, return what it said."""
    numbered = str(round_number * 10_000)
    with running_module("tests.faults.store_writer", kind, str(directory), numbered, folder=ROOT) as child:
        said = [child.stdout.readline() for _ in range(acknowledgements)]
        child.kill()
        said += child.stdout.readlines()
    return [line.split() for line in said if line.endswith("\n")]


def assert_sound(path: Path) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5%'").fetchall():
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    connection.close()


async def sources_found(store: SqliteFactStore) -> dict[str, list]:
    facts = await store.page("tenant-a", FactFilter(statuses=()), after="", limit=1_000_000)
    found: dict[str, list] = {}
    for one in facts:
        found.setdefault(one.source_id, []).append(one)
    return found


@pytest.mark.slow
async def test_ingestion(tmp_path):
    rng = random.Random(2)
    said: dict[str, set[str]] = {"written": set(), "erased": set(), "stale": set()}
    for round_number in range(ROUNDS):
        acknowledged = rng.randrange(20, 200)
        for verb, name in await asyncio.to_thread(killed_writer, "facts", tmp_path, round_number, acknowledged):
            said[verb].add(name)
        assert_sound(tmp_path / "knowledge.db")
        store = await SqliteFactStore.open(tmp_path / "knowledge.db", SETTINGS, dimension=DIMENSION)
        found = await sources_found(store)
        assert said["written"] <= found.keys()
        for name, facts in found.items():
            assert len(facts) == BATCH, name
            statuses = {one.status for one in facts}
            assert len(statuses) == 1, name
            assert name not in said["erased"] or statuses == {FactStatus.DELETED}
            assert name not in said["stale"] or statuses == {FactStatus.STALE}
            contents = {one.content for one in facts}
            assert contents == ({""} if statuses == {FactStatus.DELETED} else {one.content for one in batch(name)})
        alive = {name for name, facts in found.items() if facts[0].status is not FactStatus.DELETED}
        await assert_searchable(store, rng.sample(sorted(alive), 5))
        await store.close()
    assert min(len(names) for names in said.values()) > ROUNDS


async def assert_searchable(store: SqliteFactStore, names: list[str]) -> None:
    for name in names:
        expected = batch(name)[3]
        (hits,) = await store.search("tenant-a", expected.embedding[None], limit=1)
        assert hits[0].fact.content == expected.content
        where = FactFilter(source_ids=(name,))
        hits = await store.search_text("tenant-a", f"source {name} part", limit=99, where=where)
        assert len(hits) == BATCH


@pytest.mark.slow
async def test_session_commits(tmp_path):
    rng = random.Random(3)
    acknowledged: dict[str, int] = {}
    for round_number in range(ROUNDS):
        lines = await asyncio.to_thread(killed_writer, "sessions", tmp_path, round_number, rng.randrange(50, 800))
        for _, name, version in lines:
            acknowledged[name] = max(acknowledged.get(name, 0), int(version))
        assert_sound(tmp_path / "sessions.db")
        store = await SqliteSessionStore.open(tmp_path / "sessions.db", SETTINGS)
        found = await store.list_sessions("tenant-a", SessionFilter(), after="", limit=1_000_000)
        versions = {listed.session_id: listed.record.version for listed in found}
        assert acknowledged.keys() <= versions.keys()
        for name, version in versions.items():
            assert acknowledged.get(name, 0) <= version <= acknowledged.get(name, 0) + 1, name
        interrupted = [name for name, version in versions.items() if version < LAST_VERSION]
        for name in {*interrupted, *rng.sample(sorted(versions), 20)}:
            await assert_whole(store, name, versions[name])
        await store.close()
    assert len(acknowledged) > ROUNDS


async def assert_whole(store: SqliteSessionStore, name: str, version: int) -> None:
    changes = [step(name, number) for number in range(1, version + 1)]
    snapshot = await store.snapshot("tenant-a", name)
    assert snapshot.session == changes[-1].session
    assert snapshot.windows == tuple(one for change in changes for one in change.windows)
    assert len(snapshot.edges) == version - 1
    events = await store.page_events("tenant-a", name, after_sequence=-1, limit=99)
    assert events == [one for change in changes for one in change.events]
    for change in changes:
        assert await store.get_report("tenant-a", change.reports[0].report_id) == change.reports[0]
        key = (change.receipt.rpc, change.receipt.request_id)
        assert await store.get_receipt("tenant-a", *key) == change.receipt
    following = step(name, version + 1)
    assert await store.get_report("tenant-a", following.reports[0].report_id) is None
    assert await store.get_receipt("tenant-a", following.receipt.rpc, following.receipt.request_id) is None
