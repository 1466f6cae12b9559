"""Nearest facts by our own graphs, Qdrant and Chroma beside one NumPy product over all vectors, in the same run.

Bare: the engine through its port, numbers and scores alone. Store: ``SqliteFactStore`` over it, which also reads whole
facts and orders them by exact cosine. Queries go round: every engine gets the first, then every one the second. The
engines run in this process, as their packages bring them; Pinecone has none and is left out.

    python -m bench.vector_engines [FACTS]
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from bench.report import Row, show
from bench.stores import DIMENSION, TENANT, clustered, indexed
from bench.stores import _fact as fact_of
from services.common.adapters.sqlite import SqliteFactStore
from services.common.adapters.vector_engines import open_engine
from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import VectorEngine
from services.common.settings.stores import StoreSettings
from services.common.settings.vectors import VectorSettings

ENGINES: Final = ("qdrant", "chroma")
LIMITS: Final = (3, 50)
"""What the Director-AI page asks for by default, and what an envelope takes."""
ROUNDS: Final = 40
WARM: Final = 3
Search: TypeAlias = Callable[[Vectors, int], Awaitable[list[int]]]


async def _numpy(vectors: Vectors, query: Vectors, limit: int) -> list[int]:
    scores = vectors @ query
    nearest = np.argpartition(-scores, limit)[:limit]
    return [int(number) for number in nearest[np.argsort(-scores[nearest])]]


async def _bare(engine: VectorEngine, collection: str, query: Vectors, limit: int) -> list[int]:
    (found,) = engine.nearest(collection, query[None], limit)
    return [int(number) - 1 for number in found.numbers]  # facts are numbered as they were written, from 1


async def _stored(store: SqliteFactStore, query: Vectors, limit: int) -> list[int]:
    (hits,) = await store.search(TENANT, query[None], limit=limit)
    return [int(hit.fact.fact_id) for hit in hits]


async def _store(directory: Path, vectors: Vectors, engine: VectorEngine | None) -> tuple[SqliteFactStore, float]:
    settings = StoreSettings(exact_search_below=1_000)
    store = await SqliteFactStore.open(directory / "knowledge.db", settings, dimension=DIMENSION, engine=engine)
    await store.upsert([fact_of(number, row) for number, row in enumerate(vectors)])
    return store, await indexed(store, vectors[:1])


async def _measured(searches: dict[str, Search], queries: Vectors, limit: int) -> dict[str, tuple[float, float]]:
    """Return the median in milliseconds and the recall of each, one query after the other and all in turn."""
    spent: dict[str, list[float]] = {name: [] for name in searches}
    recall: dict[str, list[float]] = {name: [] for name in searches}
    for number, query in enumerate(queries):
        truth: set[int] = set()
        for name, search in searches.items():
            started = time.perf_counter()
            found = await search(query, limit)
            took = (time.perf_counter() - started) * 1e3
            truth = truth or set(found)  # NumPy's, the first
            if number >= WARM:
                spent[name].append(took)
                recall[name].append(len(set(found) & truth) / limit)
    return {name: (statistics.median(spent[name]), statistics.mean(recall[name])) for name in searches}


async def measure(directory: Path, count: int) -> list[Row]:
    """Fill every engine with the same vectors and ask all the same."""
    vectors, queries = clustered(count, 1), clustered(ROUNDS + WARM, 2)
    rows: list[Row] = []
    searches: dict[str, Search] = {"NumPy, all vectors, ids only": partial(_numpy, vectors)}
    async with AsyncExitStack() as stack:
        for name in ("", *ENGINES):
            folder = directory / f"store-{name}"
            await asyncio.to_thread(folder.mkdir)
            engine = open_engine(VectorSettings(engine=name), folder, DIMENSION) if name else None
            store, built_s = await _store(folder, vectors, engine)
            stack.push_async_callback(store.close)
            rows.append(Row(f"{name or 'our graph'}: index of {count:,}", built_s, "s"))
            searches[f"facts by {name or 'our graph'}"] = partial(_stored, store)
            if engine is not None:
                collection = store._vectors._indexes.collection(1)  # type: ignore[attr-defined]  # noqa: SLF001
                searches[f"{name} alone, ids only"] = partial(_bare, engine, collection)
        for limit in LIMITS:
            found = await _measured(searches, queries, limit)
            baseline, (plain, _) = next(iter(found.items()))
            for name, (spent, recall) in found.items():
                note = f"recall {recall:.3f}"
                against = "" if name == baseline else f"{baseline}, top {limit}"
                rows.append(
                    Row(f"{name}, top {limit}", spent, "ms", against, plain / spent if against else None, note=note)
                )
    return rows


def run(facts: int = 10_000) -> list[Row]:
    """Measure in a directory of its own beside the working directory, so that the disk is the one that data is on."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-stores-") as directory:
        return asyncio.run(measure(Path(directory), facts))


if __name__ == "__main__":
    show("Nearest facts by engine", run(*map(int, sys.argv[1:])))
