"""Facts on a real Milvus: ingestion, search, keyword search and what a read right after a write waits for.

The baseline is one NumPy product over all vectors in memory, as for the embedded store (``bench.stores``). The server
is one of our own with Milvus's own ticks of 200 ms, started for the run, unless GROUNDTRAIL_TEST_MILVUS_URI names
another. Searches are measured twice: before Milvus has built its graph, and after.

    python -m bench.milvus [FACTS]
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from pymilvus import MilvusClient

from bench.report import Row, show
from bench.stores import (
    DIMENSION,
    INGESTED,
    LIMIT,
    NOW,
    NUMPY,
    ROUNDS,
    TENANT,
    _fact,
    _median_ms,
    _numpy_search,
    clustered,
)
from services.common.adapters.milvus import MilvusFactStore
from services.common.adapters.milvus.schema import facts_collection
from services.common.ports.facts import FactFilter, FactStatus
from services.common.settings.milvus import MilvusSettings
from tools.real_servers import milvus

_WRITES: Final = 10
_LOADED_S: Final = 3.0
"""How long Milvus takes at most to use a graph that it says is built."""


@contextmanager
def _served() -> Iterator[str]:
    named = os.environ.get(milvus.VARIABLE)
    if named:
        yield named
        return
    with tempfile.TemporaryDirectory(prefix="groundtrail-milvus-", ignore_cleanup_errors=True) as folder:
        home = milvus.new_home(Path(folder), impatient=False)
        process = milvus.start(home)
        try:
            yield home.uri
        finally:
            process.kill()


async def rows(uri: str, count: int) -> list[Row]:
    """Measure with so many facts of one tenant."""
    prefix = f"bench_{uuid.uuid4().hex[:8]}"
    settings = MilvusSettings(uri=uri, collection_prefix=prefix, timeout_s=120.0)
    vectors, queries = clustered(count, 1), clustered(ROUNDS, 2)
    store = await MilvusFactStore.open(settings, embedding_model="", dimension=DIMENSION)
    spent = []
    for first in range(0, count, INGESTED):
        some = [_fact(number, vectors[number]) for number in range(first, min(first + INGESTED, count))]
        started = time.perf_counter()
        await store.upsert(some)
        spent.append(len(some) / (time.perf_counter() - started))
    found = [Row(f"ingest {INGESTED:,} facts", statistics.median(spent), "facts/s", note="one write")]
    plain, truth = _numpy_search(vectors, queries)
    found.append(Row(f"{NUMPY}, {count:,}", plain, "ms"))
    found.append(await _search_row(store, queries, truth, (plain, count, "just ingested")))
    client = MilvusClient(uri, timeout=600.0)
    await asyncio.to_thread(_await_index, client, facts_collection(settings, ""))
    found += await _search_rows(store, queries, truth, plain, count)
    found += await _write_rows(store, queries)
    await store.close()
    for collection in client.list_collections():
        if collection.startswith(prefix):
            client.drop_collection(collection)
    client.close()
    return found


def _await_index(client: MilvusClient, name: str) -> None:
    """Have Milvus seal what was written and wait until its graph is built and in use."""
    client.flush(name, timeout=600.0)
    while client.describe_index(name, "vector").get("pending_index_rows", 0):
        time.sleep(0.5)
    time.sleep(_LOADED_S)


async def _search_row(
    store: MilvusFactStore, queries: np.ndarray, truth: list[set[str]], about: tuple[float, int, str]
) -> Row:
    plain, count, when = about
    hits = await store.search(TENANT, queries, limit=LIMIT)
    recall = statistics.mean(
        len({hit.fact.fact_id for hit in some} & best) / LIMIT for some, best in zip(hits, truth, strict=True)
    )
    one = await _median_ms(lambda n: store.search(TENANT, queries[n][None], limit=LIMIT))
    name = f"search {count:,} facts, {when}"
    return Row(name, one, "ms", f"{NUMPY}, {count:,}", plain / one, note=f"recall {recall:.4f}")


async def _search_rows(
    store: MilvusFactStore, queries: np.ndarray, truth: list[set[str]], plain: float, count: int
) -> list[Row]:
    baseline = f"{NUMPY}, {count:,}"
    eight = await _median_ms(lambda n: store.search(TENANT, np.roll(queries, n, axis=0)[:8], limit=LIMIT))
    found = [
        await _search_row(store, queries, truth, (plain, count, "graph built")),
        Row("… eight queries in one call", eight, "ms", baseline, 8 * plain / eight),
    ]
    wide = FactFilter(source_ids=tuple(f"source-{number}" for number in range(25)))
    for name, where in (("one source of 50", FactFilter(source_ids=("source-7",))), ("25 sources of 50", wide)):
        search = partial(store.search, TENANT, limit=LIMIT, where=where)
        spent = await _median_ms(lambda n, search=search: search(queries[n][None]))  # type: ignore[misc]
        found.append(Row(f"… within {name}", spent, "ms", baseline, plain / spent))
    rare = await _median_ms(lambda n: store.search_text(TENANT, f"{n:02} {n + 31}", limit=LIMIT))
    both = await _median_ms(lambda n: store.search_text(TENANT, f"tariff {n}", limit=LIMIT))
    common = await _median_ms(lambda _: store.search_text(TENANT, "deductible of tariff", limit=LIMIT))
    return [
        *found,
        Row("BM25, two rare words", rare, "ms"),
        Row("BM25, one word in every fact and one rare", both, "ms"),
        Row("BM25, three words in every fact", common, "ms", note=f"bounded at {10_000:,} above that"),
    ]


async def _write_rows(store: MilvusFactStore, queries: np.ndarray) -> list[Row]:
    writes, after, touched = [], [], []
    for n in range(_WRITES):
        started = time.perf_counter()
        await store.set_status(TENANT, [f"{n:08}"], FactStatus.STALE, at=NOW)
        written = time.perf_counter()
        await store.search(TENANT, queries[n][None], limit=LIMIT)
        searched = time.perf_counter()
        await store.touch(TENANT, [f"{number:08}" for number in range(50)], at=NOW)
        counted = time.perf_counter()
        await store.search(TENANT, queries[n][None], limit=LIMIT)
        writes.append((written - started) * 1e3)
        after.append((searched - written) * 1e3)
        touched.append((time.perf_counter() - counted) * 1e3)
    return [
        Row("change the status of one fact", statistics.median(writes), "ms", note="each after a read"),
        Row("search right after a write", statistics.median(after), "ms", note="waits for the write"),
        Row("search right after counting 50 accesses", statistics.median(touched), "ms"),
    ]


def run(facts: int = 20_000) -> list[Row]:
    """Measure beside a server of our own, or the one that is named."""
    with _served() as uri:
        return asyncio.run(rows(uri, facts))


if __name__ == "__main__":
    show(f"Facts on {milvus.NAME}", run(*map(int, sys.argv[1:])))
