"""Commits and vector search of the embedded stores, each against the barest way to do the same, in the same run.

Commits: a bare ``sqlite3`` connection that commits every write on its own, against the store's writers, alone and many
at once. Search: one NumPy product over all vectors in memory, against the store, which also reads whole facts back from
SQLite. The vectors lie in clusters, as those of documents do.

    python -m bench.stores [FACTS]
"""

import asyncio
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

import numpy as np

from bench.report import Row, show
from services.common.adapters.sqlite import SqliteFactStore, SqliteSessionStore
from services.common.merkle import leaf_hash
from services.common.ports.facts import FactFilter, FactRecord, FactStatus, Vectors
from services.common.ports.sessions import (
    AuditEventRecord,
    ReportRecord,
    SessionChange,
    SessionRecord,
    SessionStatus,
    WindowPattern,
    WindowRecord,
)
from services.common.ports.transparency_log import LeafKind, LogLeaf
from services.common.settings.stores import StoreSettings
from services.common.taxonomy import WindowStatus

Mode: TypeAlias = Literal["FULL", "NORMAL"]
DIMENSION: Final = 384
INGESTED: Final = 5_000
LIMIT: Final = 50
ROUNDS: Final = 30
TENANT: Final = "tenant"
NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
BARE_COMMITS: Final = "bare sqlite3, FULL, a commit a write"
WINDOWS: Final = "session store, FULL, 64 at once, whole windows"
NUMPY: Final = "NumPy, all vectors, ids only"


def clustered(count: int, seed: int) -> Vectors:
    """Return unit vectors around as many centres as a real corpus has topics."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((500, DIMENSION))
    vectors = centres[rng.integers(0, len(centres), count)] + 0.7 * rng.standard_normal((count, DIMENSION))
    units: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return units


def _fact(number: int, embedding: Vectors) -> FactRecord:
    return FactRecord(
        tenant_id=TENANT,
        fact_id=f"{number:08}",
        content=f"Fact {number}: the deductible of tariff {number % 997} is {number % 89} euros in zone {number % 31}.",
        content_hash=f"{number:064x}",
        source_id=f"source-{number % 50}",
        source_location="p. 1",
        importance_weight=0.5,
        ingested_at=NOW,
        modified_at=NOW,
        status=FactStatus.ACTIVE,
        embedding=embedding,
    )


def _session(name: str) -> SessionChange:
    session = SessionRecord(TENANT, name, "scope", SessionStatus.OPEN, NOW, 1, "trail", 1, "0" * 64, 5, 10, 50, 5)
    return SessionChange(session)


def _committed(name: str, *, logged: bool) -> SessionChange:
    """Return what committing a window writes: the window, its report, two events, and on request their leaves."""
    node = WindowRecord(
        name, f"{name}/w", 1, (), WindowPattern.LINEAR, WindowStatus.COMMITTED, "push", NOW, response_text="x" * 1_000
    )
    events = tuple(AuditEventRecord(name, n, f"{name}/e{n}", "EVENT", NOW, node.window_id, "{}", "0") for n in range(2))
    kinds = [(LeafKind.WINDOW, node.window_id), *((LeafKind.EVENT, event.event_id) for event in events)]
    leaves = tuple(LogLeaf(name, kind, one, 0, "0" * 64, leaf_hash(one.encode())) for kind, one in kinds)
    report = ReportRecord(name, node.window_id, f"{name}/r", "0" * 64, NOW, "x" * 3_000)
    return replace(_session(name), windows=(node,), events=events, reports=(report,), leaves=leaves if logged else ())


def _bare_commits(directory: Path, count: int) -> float:
    connection = sqlite3.connect(directory / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE rows (id TEXT PRIMARY KEY, body BLOB)")
    started = time.perf_counter()
    for number in range(count):
        connection.execute("INSERT INTO rows VALUES (?, ?)", (str(number), b"x" * 300))
    rate = count / (time.perf_counter() - started)
    connection.close()
    return rate


async def _commits(
    directory: Path, writers: int, each: int, mode: Mode, change: Callable[[str], SessionChange] = _session
) -> float:
    path = directory / f"sessions-{writers}-{mode}-{id(change)}.db"
    store = await SqliteSessionStore.open(path, StoreSettings(synchronous=mode))

    async def write(writer: int) -> None:
        for number in range(each):
            await store.write(change(f"{writer}-{number}"))

    started = time.perf_counter()
    await asyncio.gather(*(write(writer) for writer in range(writers)))
    rate = writers * each / (time.perf_counter() - started)
    await store.close()
    return rate


async def commit_rows(directory: Path) -> list[Row]:
    """Measure commits."""
    bare = _bare_commits(directory, 1_000)
    rows = [Row(BARE_COMMITS, bare, "writes/s")]
    runs: tuple[tuple[int, int, Mode], ...] = (
        (1, 500, "FULL"),
        (16, 100, "FULL"),
        (64, 50, "FULL"),
        (1, 500, "NORMAL"),
        (64, 50, "NORMAL"),
    )
    for writers, each, mode in runs:
        rate = await _commits(directory, writers, each, mode)
        name = f"session store, {mode}, {writers} at once"
        rows.append(Row(name, rate, "writes/s", BARE_COMMITS, rate / bare, note="three statements a write"))
    return rows + await _log_rows(directory)


async def _log_rows(directory: Path) -> list[Row]:
    """Measure what the transparency log costs: the same windows with and without leaves, in turns, medians of five."""
    plain, logged = partial(_committed, logged=False), partial(_committed, logged=True)
    rates: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(5):
        for with_leaves, change in ((False, plain), (True, logged)):
            folder = directory / f"log-{turn}-{with_leaves}"
            folder.mkdir()
            rates[with_leaves].append(await _commits(folder, 64, 40, "FULL", change))
    bare, with_log = (statistics.median(rates[with_leaves]) for with_leaves in (False, True))
    return [
        Row(WINDOWS, bare, "windows/s"),
        Row("… and three leaves of the log", with_log, "windows/s", WINDOWS, with_log / bare, 0.75),
    ]


async def _median_ms(call: Callable[[int], Awaitable[object]]) -> float:
    spent = []
    for number in range(ROUNDS):
        started = time.perf_counter()
        await call(number)
        spent.append((time.perf_counter() - started) * 1e3)
    return statistics.median(spent)


def _numpy_search(vectors: Vectors, queries: Vectors) -> tuple[float, list[set[str]]]:
    spent, best = [], []
    for query in queries:
        started = time.perf_counter()
        scores = vectors @ query
        nearest = np.argpartition(-scores, LIMIT)[:LIMIT]
        spent.append((time.perf_counter() - started) * 1e3)
        best.append({f"{number:08}" for number in nearest})
    return statistics.median(spent), best


async def indexed(store: SqliteFactStore, query: Vectors) -> float:
    """Search until the index is built; return how long that took."""
    started = time.perf_counter()
    await store.search(TENANT, query, limit=1)
    while any(tenant.building for tenant in store._vectors._tenants.values()):  # noqa: ASYNC110, SLF001 - a thread builds
        await asyncio.sleep(0.1)
    return time.perf_counter() - started


async def fact_rows(directory: Path, count: int) -> list[Row]:
    """Measure ingestion and search."""
    vectors, queries = clustered(count, 1), clustered(ROUNDS, 2)
    store = await SqliteFactStore.open(directory / "knowledge.db", StoreSettings(), dimension=DIMENSION)
    started = time.perf_counter()
    await store.upsert([_fact(number, vectors[number]) for number in range(INGESTED)])
    rows = [Row(f"ingest {INGESTED:,} facts", INGESTED / (time.perf_counter() - started), "facts/s", note="one write")]
    few, _ = _numpy_search(vectors[:INGESTED], queries)
    exact = await _median_ms(lambda n: store.search(TENANT, queries[n][None], limit=LIMIT))
    rows += [
        Row(f"{NUMPY}, {INGESTED:,}", few, "ms"),
        Row(f"search {INGESTED:,} facts, exact", exact, "ms", f"{NUMPY}, {INGESTED:,}", few / exact),
    ]
    for first in range(INGESTED, count, INGESTED):
        await store.upsert([_fact(number, vectors[number]) for number in range(first, min(first + INGESTED, count))])
    built_s = await indexed(store, queries[:1])
    plain, truth = _numpy_search(vectors, queries)
    rows.append(Row(f"{NUMPY}, {count:,}", plain, "ms"))
    rows += await _search_rows(store, queries, truth, plain, count, f"index built in {built_s:.0f} s")
    await store.close()
    return rows


async def _search_rows(
    store: SqliteFactStore, queries: Vectors, truth: list[set[str]], plain: float, count: int, note: str
) -> list[Row]:
    found = await store.search(TENANT, queries, limit=LIMIT)
    recall = statistics.mean(
        len({hit.fact.fact_id for hit in hits} & best) / LIMIT for hits, best in zip(found, truth, strict=True)
    )
    one = await _median_ms(lambda n: store.search(TENANT, queries[n][None], limit=LIMIT))
    eight = await _median_ms(lambda n: store.search(TENANT, np.roll(queries, n, axis=0)[:8], limit=LIMIT))
    narrow = FactFilter(source_ids=("source-7",))
    wide = FactFilter(source_ids=tuple(f"source-{number}" for number in range(25)))
    baseline = f"{NUMPY}, {count:,}"
    rows = [
        Row(f"search {count:,} facts", one, "ms", baseline, plain / one, note=f"recall {recall:.4f}; {note}"),
        Row("… eight queries in one call", eight, "ms", baseline, 8 * plain / eight),
    ]
    for name, where in (("one source of 50", narrow), ("25 sources of 50", wide)):
        search = partial(store.search, TENANT, limit=LIMIT, where=where)
        spent = await _median_ms(lambda n, search=search: search(queries[n][None]))  # type: ignore[misc]
        rows.append(Row(f"… within {name}", spent, "ms", baseline, plain / spent))
    rare = await _median_ms(lambda n: store.search_text(TENANT, f"tariff {n}", limit=LIMIT))
    rows.append(Row("BM25, one word in every fact and one rare", rare, "ms"))
    return rows


def run(facts: int = 20_000) -> list[Row]:
    """Measure in a directory of its own beside the working directory, so that the disk is the one that data is on."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-stores-") as directory:
        commits = asyncio.run(commit_rows(Path(directory)))
        return commits + asyncio.run(fact_rows(Path(directory), facts))


if __name__ == "__main__":
    show("Vector search and commits of the embedded stores", run(*map(int, sys.argv[1:])))
