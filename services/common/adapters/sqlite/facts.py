"""``FactStore`` on SQLite: the file is the truth, the vector index a cache of it (ADR 0030, ADR 0031)."""

import asyncio
import logging
import sqlite3
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import numpy as np

from services.common.adapters.sqlite.access_counts import AccessCounts
from services.common.adapters.sqlite.database import PLAIN_WRITE, Database
from services.common.adapters.sqlite.engine_filling import EngineFilling
from services.common.adapters.sqlite.engine_index import AskedEngine
from services.common.adapters.sqlite.engine_indexes import EngineIndexes
from services.common.adapters.sqlite.fact_changes import known_change, outline_block, state_changes
from services.common.adapters.sqlite.fact_reads import FactReads, ranked
from services.common.adapters.sqlite.fact_rows import FactChanges, encode, tenant_ids, tenant_number
from services.common.adapters.sqlite.fact_schema import FACTS_SCHEMA
from services.common.adapters.sqlite.fact_text import build_anew, built_as
from services.common.adapters.sqlite.failures import unavailable
from services.common.adapters.sqlite.index_files import IndexFiles
from services.common.adapters.sqlite.tenant_indexes import Graphs, TenantIndexes
from services.common.adapters.sqlite.values import micros
from services.common.adapters.sqlite.vector_cache import VectorCache
from services.common.adapters.sqlite.writer import WriteTraits
from services.common.engine_counts import EngineCounts
from services.common.errors import CrpError
from services.common.keywords import Stemming
from services.common.ports.fact_changes import FactOutline, StateChanges, StateKnown
from services.common.ports.facts import (
    FactFilter,
    FactHit,
    FactRecord,
    FactStatus,
    StateEntry,
    Vectors,
    check_queries,
)
from services.common.ports.vector_engine import VectorEngine, VectorEngineError
from services.common.ports.vector_holding import HeldVectors
from services.common.settings.stores import StoreSettings

ResultT = TypeVar("ResultT")
_LOG: Final = logging.getLogger(__name__)
_ERASURE: Final = WriteTraits(reclaims=True, scrubs=True)
_UNDOING: Final = WriteTraits(reclaims=True)
_BEST_EFFORT: Final = WriteTraits(best_effort=True)
_ACCESSES_EVERY_S: Final = 1.0
_YIELD_EVERY: Final = 1_000
"""Entries between two chances for other tasks to run."""


class SqliteFactStore:
    """Facts and vectors of all tenants in one file.

    Args:
        database: the open file.
        dimension: length of every vector.
        vectors: the cache of vectors.
        filling: fills the engine that proposes; ``None`` = graphs of our own do.
    """

    def __init__(
        self, database: Database, dimension: int, vectors: VectorCache, filling: EngineFilling | None = None
    ) -> None:
        self._filling = filling
        self._database = database
        self._dimension = dimension
        self._vectors = vectors
        self._accesses = AccessCounts()
        self._counting: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        path: Path,
        settings: StoreSettings,
        *,
        dimension: int,
        engine: VectorEngine | None = None,
        counts: EngineCounts | None = None,
    ) -> Self:
        """Open or create the file.

        Args:
            path: the database file.
            settings: durability, thresholds, memory.
            dimension: length of every vector; a file keeps the one that it was created with.
            engine: proposes in the place of graphs of our own; closed with the store (ADR 0129).
            counts: of the engine.

        Raises:
            UnavailableError: STORE_UNAVAILABLE: the file cannot be used, or holds vectors of another length.
            LimitExceededError: STORAGE_FULL.
        """
        database = await Database.open(path, FACTS_SCHEMA, settings)
        try:
            store_id = await _identity(database, dimension)
            await _ready_words(database, Stemming(settings.text_stemming))
        except BaseException:
            await database.close()
            raise
        directory = path.with_suffix(".indexes")
        indexes: TenantIndexes = Graphs(IndexFiles(directory, store_id, settings), settings)
        filling = None
        if engine is not None:
            indexes = EngineIndexes(AskedEngine(engine, counts or EngineCounts()), store_id, directory, database)
            filling = EngineFilling(indexes, dimension)
        return cls(database, dimension, VectorCache(dimension, settings, indexes), filling)

    async def upsert(self, facts: Sequence[FactRecord]) -> None:
        """Insert or replace by ``fact_id``, all or nothing.

        Raises:
            ValueError: a vector has another dimension.
        """
        by_tenant = await asyncio.to_thread(_encoded, facts, self._dimension)
        counted = {tenant_id: self._accesses.take(tenant_id) for tenant_id in by_tenant}  # of what is replaced now

        def job(connection: sqlite3.Connection) -> None:
            for tenant_id, rows in by_tenant.items():
                self._of(connection, tenant_id).touch(counted[tenant_id])
                FactChanges(connection, tenant_id).replace(rows)

        if by_tenant:
            await self._database.write(job)

    async def get(self, tenant_id: str, fact_ids: Sequence[str]) -> list[FactRecord]:
        """Return the known facts in the given order."""
        return await self._database.read(lambda c: self._of(c, tenant_id).by_ids(fact_ids))

    async def page(self, tenant_id: str, where: FactFilter, *, after: str, limit: int) -> list[FactRecord]:
        """Return the next facts by id."""
        return await self._database.read(lambda c: self._of(c, tenant_id).page(where, after, limit))

    async def search(
        self, tenant_id: str, queries: Vectors, *, limit: int, where: FactFilter | None = None
    ) -> list[list[FactHit]]:
        """Return the nearest facts of each query.

        Raises:
            ValueError: a query has another dimension, or a component that is no finite number.
        """
        check_queries(queries, self._dimension)
        if not len(queries):
            return []

        def job(connection: sqlite3.Connection) -> list[list[FactHit]] | None:
            return self._search(self._of(connection, tenant_id), queries, limit, where or FactFilter())

        while (hits := await self._database.read(job)) is None:
            pass  # another search has seen a later change: look again at the file as it is now
        return hits

    async def search_text(
        self, tenant_id: str, query: str, *, limit: int, where: FactFilter | None = None
    ) -> list[FactHit]:
        """Return the best facts by BM25."""
        return await self._database.read(lambda c: self._of(c, tenant_id).by_text(query, where or FactFilter(), limit))

    async def set_status(self, tenant_id: str, fact_ids: Sequence[str], status: FactStatus, *, at: datetime) -> int:
        """Set the status of facts that have another one; DELETED is final and destroys the content."""
        if status is FactStatus.DELETED:
            return await self._tombstone(tenant_id, lambda _: fact_ids, at)
        return await self._change(tenant_id, lambda changes: changes.set_status(fact_ids, status, micros(at)))

    async def supersede(self, tenant_id: str, fact_ids: Sequence[str], *, ended_at: datetime, at: datetime) -> int:
        """Mark facts as replaced."""
        return await self._change(tenant_id, lambda changes: changes.supersede(fact_ids, micros(ended_at), micros(at)))

    async def reinstate(self, tenant_id: str, fact_ids: Sequence[str], *, at: datetime) -> int:
        """Take the mark off."""
        return await self._change(tenant_id, lambda changes: changes.reinstate(fact_ids, micros(at)))

    async def next_turn(self, tenant_id: str, after: datetime) -> datetime | None:
        """Return the next moment at which a validity begins or ends."""
        return await self._database.read(lambda c: self._of(c, tenant_id).next_turn(after))

    async def set_communities(self, tenant_id: str, labels: Mapping[str, str]) -> None:
        """Set community labels."""
        await self._change(tenant_id, lambda changes: changes.set_communities(labels.items()))

    async def touch(self, tenant_id: str, fact_ids: Sequence[str], *, at: datetime) -> None:
        """Count an access; it is shown at once and written within a second, with the others of that second."""
        if not fact_ids:
            return
        self._accesses.add(tenant_id, fact_ids, micros(at))
        if self._counting is None or self._counting.done():
            self._counting = asyncio.create_task(self._write_accesses_soon())

    async def _write_accesses_soon(self) -> None:
        while self._accesses:
            await asyncio.sleep(_ACCESSES_EVERY_S)
            await self._write_accesses()

    async def _write_accesses(self) -> None:
        """Write what was counted; a store that cannot write now loses the counts, not the answers they were for."""
        taken = self._accesses.take_all()

        def job(connection: sqlite3.Connection) -> None:
            for tenant_id, accesses in taken.items():
                self._of(connection, tenant_id).touch(accesses)

        try:
            await self._database.write(job, _BEST_EFFORT)
        except CrpError as error:
            lost = sum(map(len, taken.values()))
            _LOG.warning("accesses were not counted", extra={"reason": error.reason.value, "facts": lost})

    async def fact_ids_of_source(self, tenant_id: str, source_id: str) -> list[str]:
        """Return the source's facts that are not DELETED."""
        return await self._database.read(lambda c: self._of(c, tenant_id).ids_of_source(source_id))

    async def erase_source(self, tenant_id: str, source_id: str, *, at: datetime) -> int:
        """Turn the source's facts into tombstones (SPEC-003 §17.2)."""
        return await self._tombstone(tenant_id, lambda c: self._of(c, tenant_id).ids_of_source(source_id), at)

    async def delete(self, tenant_id: str, fact_ids: Sequence[str]) -> None:
        """Remove facts without a trace."""
        await self._change(tenant_id, lambda changes: changes.remove(fact_ids), _UNDOING)

    async def count(self, tenant_id: str, where: FactFilter | None = None) -> int:
        """Count matching facts."""
        return await self._database.read(lambda c: self._of(c, tenant_id).count(where or FactFilter()))

    async def state_entries(self, tenant_id: str, communities: Sequence[str] = ()) -> AsyncIterator[StateEntry]:
        """Yield what the state hash is made of, as it was at one moment."""
        entries = await self._database.read(lambda c: self._of(c, tenant_id).state(communities))
        for position, entry in enumerate(entries, 1):
            yield entry
            if position % _YIELD_EVERY == 0:
                await asyncio.sleep(0)

    async def state_change(self, tenant_id: str) -> int:
        """Return the tenant's change number."""
        return await self._database.read(lambda c: known_change(self._of(c, tenant_id)))

    async def state_changes(
        self, tenant_id: str, known: StateKnown, communities: frozenset[str] | None
    ) -> StateChanges:
        """Return what turns ``known`` into the present entries."""
        return await self._database.read(lambda c: state_changes(self._of(c, tenant_id), known, communities))

    async def outlines(self, tenant_id: str) -> AsyncIterator[list[FactOutline]]:
        """Yield retrievable facts without text and vector."""
        after = ""
        while block := await self._database.read(lambda c, after=after: outline_block(self._of(c, tenant_id), after)):  # type: ignore[misc]
            yield block
            after = block[-1].fact_id

    async def embeddings(self, tenant_id: str) -> AsyncIterator[tuple[list[str], Vectors]]:
        """Yield retrievable facts' vectors in blocks."""
        after = ""
        while True:
            ids, vectors = await self._database.read(self._block_reader(tenant_id, after))
            if not ids:
                return
            yield ids, vectors
            after = ids[-1]

    async def tenants(self) -> list[str]:
        """Return the ids of all tenants, ordered."""
        return await self._database.read(tenant_ids)

    async def fill_engine(self, tenant_id: str) -> int:
        """Send the engine that proposes what it lacks of a tenant, destroy what it has too much (ADR 0186)."""
        return 0 if self._filling is None else await self._by_engine(self._filling.fill, tenant_id)

    async def held_vectors(self, tenant_id: str) -> HeldVectors | None:
        """Read back every vector that the engine has of a tenant, and compare."""
        return None if self._filling is None else await self._by_engine(self._filling.held, tenant_id)

    async def _by_engine(self, job: Callable[[str], ResultT], tenant_id: str) -> ResultT:
        try:
            return await asyncio.to_thread(job, tenant_id)
        except VectorEngineError as error:
            raise unavailable(self._database.path, f"the engine failed, the same call goes on: {error}") from None

    async def check(self) -> None:
        """Return when the file can be read."""
        await self._database.check()

    async def close(self) -> None:
        """Write what was counted, stop building indexes and close the file; idempotent."""
        if self._counting is not None:
            self._counting.cancel()
        if self._accesses:
            await self._write_accesses()
        await asyncio.to_thread(self._vectors.close)
        await self._database.close()

    def _of(self, connection: sqlite3.Connection, tenant_id: str) -> FactReads:
        return FactReads(connection, tenant_id, self._dimension, self._accesses.of(tenant_id))

    def _block_reader(self, tenant_id: str, after: str) -> Callable[[sqlite3.Connection], tuple[list[str], Vectors]]:
        return lambda connection: self._of(connection, tenant_id).embeddings(after)

    def _search(self, facts: FactReads, queries: Vectors, limit: int, where: FactFilter) -> list[list[FactHit]] | None:
        if facts.tenant_no is None or limit <= 0:
            return [[] for _ in queries]
        change = facts.change()
        view = self._vectors.view(facts.connection, facts.tenant_no, change)
        if view.change != change:
            return None
        units = _units(queries)
        numbers = view.candidates(units.astype(np.float32), limit, where, facts.vectors_of)
        return ranked(facts, units, numbers, limit)

    async def _change(
        self, tenant_id: str, change: Callable[[FactChanges], int], traits: WriteTraits = PLAIN_WRITE
    ) -> int:
        """Change what the tenant has; a tenant that has written nothing has nothing to change."""

        def job(connection: sqlite3.Connection) -> int:
            known = tenant_number(connection, tenant_id) is not None
            return change(FactChanges(connection, tenant_id)) if known else 0

        return await self._database.write(job, traits)

    async def _tombstone(
        self, tenant_id: str, chosen: Callable[[sqlite3.Connection], Sequence[str]], at: datetime
    ) -> int:
        erasures: list[tuple[int, int]] = []

        def change(changes: FactChanges) -> int:
            count = changes.tombstone(chosen(changes.connection), micros(at))
            if count:
                erasures.append((changes.tenant_no, changes.number))
                self._vectors.erased(*erasures[-1])  # before: whatever breaks off, no file outlives the facts
            return count

        erased = await self._change(tenant_id, change, _ERASURE)
        for erasure in erasures:
            self._vectors.erased(*erasure)  # after: a graph that was being built meanwhile is not kept either
        try:
            await self._vectors.forget(tenant_id)
        except VectorEngineError as error:
            text = "the facts are erased, but their vectors stand in the engine until it answers; erase them again"
            raise unavailable(self._database.path, f"{text}: {error}") from None
        return erased


def _encoded(facts: Sequence[FactRecord], dimension: int) -> dict[str, list[Any]]:
    by_tenant: dict[str, list[Any]] = {}
    for fact in facts:
        by_tenant.setdefault(fact.tenant_id, []).append(encode(fact, dimension))
    return by_tenant


def _units(queries: Vectors) -> np.ndarray[Any, np.dtype[np.float64]]:
    exact = np.asarray(queries, dtype=np.float64)
    lengths = np.sqrt(np.sum(exact * exact, axis=1, keepdims=True))
    units: np.ndarray[Any, np.dtype[np.float64]] = exact / np.where(lengths == 0.0, 1.0, lengths)
    return units


async def _identity(database: Database, dimension: int) -> str:
    """Return the store's id, after making sure that its vectors have the right length."""
    stored = await database.read(_named_values)
    if "store_id" not in stored:
        stored = await database.write(lambda connection: _named(connection, dimension))
    if int(stored["dimension"]) != dimension:
        raise unavailable(
            database.path,
            f"the facts have vectors of {stored['dimension']} dimensions, the embedding model makes {dimension}: "
            "configure the model of their ingestion, or ingest them again into another GROUNDTRAIL_STORE__DATA_DIR",
        )
    return stored["store_id"]


async def _ready_words(database: Database, stemming: Stemming) -> None:
    """Build the index of words anew where it was built in another way (ADR 0082)."""
    if await database.read(lambda connection: built_as(connection, stemming)):
        return
    facts = await database.write(lambda connection: build_anew(connection, stemming), _UNDOING)
    if facts:
        _LOG.info("the words of all facts were indexed anew", extra={"facts": facts, "stemming": stemming.value})


def _named(connection: sqlite3.Connection, dimension: int) -> dict[str, str]:
    fresh = (("store_id", uuid.uuid4().hex), ("dimension", str(dimension)))
    connection.executemany("INSERT OR IGNORE INTO store VALUES (?, ?)", fresh)  # another process may have come first
    return _named_values(connection)


def _named_values(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, value FROM store").fetchall())
