"""``FactStore`` on Milvus (ADR 0060)."""

import asyncio
import logging
from bisect import bisect_right
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, Self

import numpy as np

from services.common.adapters.milvus.accesses import Accesses, counter_key
from services.common.adapters.milvus.changes import Labels, Turns, outlines, state_changes
from services.common.adapters.milvus.database import MilvusDatabase, Row
from services.common.adapters.milvus.fact_rows import (
    FULL_FIELDS,
    OUTLINE_FIELDS,
    STATE_FIELDS,
    STATUS_CODES,
    WHOLE_FIELDS,
    digest,
    encode,
    fact_id_of,
    gone,
    micros,
    moment,
    record,
    reinstated,
    relabelled,
    retrievable,
    state_entry,
    stem_of,
    stems,
    superseded,
    tombstone_of,
)
from services.common.adapters.milvus.keywords import KeywordSearch
from services.common.adapters.milvus.nearest import NearestFacts
from services.common.adapters.milvus.reads import FactReads, sorted_rows
from services.common.adapters.milvus.reindexing import Reindexing
from services.common.adapters.milvus.schema import Collections, facts_collection, open_collections
from services.common.adapters.milvus.tenants import Change, Tenants, View
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
from services.common.settings.milvus import MilvusSettings

_LOG: Final = logging.getLogger(__name__)
_COUNTED_FIELDS: Final = ("key", "status", "born", "length")
_BLOCK_ROWS: Final = 2_048
_LABELS_PER_WRITE: Final = 4_000
_YIELD_EVERY: Final = 1_000
"""Entries between two chances for other tasks to run."""
_DELETED: Final = STATUS_CODES[FactStatus.DELETED]


class MilvusFactStore:
    """Facts and vectors of all tenants in one Milvus.

    Args:
        database: open.
        collections: loaded.
        settings: bounds, and whether other processes write.
        dimension: length of every vector.
        stemming: of the words of keyword search.
    """

    def __init__(
        self,
        database: MilvusDatabase,
        collections: Collections,
        settings: MilvusSettings,
        *,
        dimension: int,
        stemming: Stemming,
    ) -> None:
        self._database = database
        self._collections = collections
        self._settings = settings
        self._dimension = dimension
        self._stemming = stemming
        self._tenants = Tenants(database, collections, settings)
        self._labels = Labels()
        self._turns = Turns()
        self._accesses = Accesses(database, collections.accesses, shared=settings.consistency == "strong")
        self._nearest = NearestFacts(database, next(iter(collections.facts)), settings.search_ef)
        self._keywords = KeywordSearch(database, collections, settings.text_candidates, stemming)

    @classmethod
    async def open(
        cls,
        settings: MilvusSettings,
        *,
        embedding_model: str,
        dimension: int,
        stemming: Stemming = Stemming.ENGLISH,
    ) -> Self:
        """Wait for Milvus, make the collections that are missing and load them.

        Args:
            settings: where, under which names.
            embedding_model: fingerprint of the model in use; its facts have a collection of their own.
            dimension: length of its vectors.
            stemming: of the words of keyword search; rows that were written with another are written anew.

        Raises:
            UnavailableError: STORE_UNAVAILABLE: Milvus does not answer, or its collections do not fit this program.
            StartupError: a file that the settings name cannot be read.
        """
        database = await MilvusDatabase.open(settings)
        try:
            collections = await open_collections(
                database, settings, embedding_model=embedding_model, dimension=dimension
            )
            store = cls(database, collections, settings, dimension=dimension, stemming=stemming)
            await store.catch_up()
            await Reindexing(database, collections, store._tenants).ready(stemming)
        except BaseException:
            await database.close()
            raise
        return store

    async def catch_up(self) -> None:
        """Make the reads of this process wait for all that anybody wrote before now."""
        await self._tenants.mark(*self._collections.facts)
        await self._accesses.mark()

    async def upsert(self, facts: Sequence[FactRecord]) -> None:
        """Insert or replace by ``fact_id``, all or nothing for each tenant.

        Raises:
            ValueError: a vector has another dimension or no finite numbers, or a text is too long for Milvus.
        """
        by_tenant = await asyncio.to_thread(_encoded, facts, self._dimension, self._stemming)
        models = {fact.embedding_model for fact in facts}
        names = {model: facts_collection(self._settings, model) for model in models}
        for model in sorted(models):
            if names[model] not in self._collections.facts:
                await self._add_collection(model)
        for tenant_id, latest in by_tenant.items():
            await self._put(tenant_id, latest, names)

    async def get(self, tenant_id: str, fact_ids: Sequence[str]) -> list[FactRecord]:
        """Return the known facts in the given order."""
        if not fact_ids:
            return []

        async def job(view: View) -> list[Row]:
            found = await self._reads(view).by_stems(stems(view.tenant, fact_ids), FULL_FIELDS)
            alive = [row for rows in found.values() for row in rows if row["status"] != _DELETED]
            self._accesses.saw(alive)
            return alive

        facts = await self._records(tenant_id, await self._tenants.read(tenant_id, job))
        known = {fact.fact_id: fact for fact in facts}
        return [known[fact_id] for fact_id in fact_ids if fact_id in known]

    async def page(self, tenant_id: str, where: FactFilter, *, after: str, limit: int) -> list[FactRecord]:
        """Return the next facts by id."""
        rows = await self._tenants.read(
            tenant_id, lambda view: self._reads(view).page(where, after, limit, FULL_FIELDS)
        )
        return await self._records(tenant_id, rows)

    async def search(
        self, tenant_id: str, queries: Vectors, *, limit: int, where: FactFilter | None = None
    ) -> list[list[FactHit]]:
        """Return the nearest facts of each query among those of the embedding model in use.

        Raises:
            ValueError: a query has another dimension, or a component that is no finite number.
        """
        check_queries(queries, self._dimension)
        allowed = retrievable(where or FactFilter())
        if not len(queries) or limit <= 0 or allowed is None:
            return [[] for _ in queries]

        async def job(view: View) -> tuple[list[list[tuple[float, str]]], list[Row]]:
            ranked, read = await self._nearest.search(view, queries, limit, allowed)
            wanted = {key for hits in ranked for _, key in hits}
            rows = [read[key] for key in wanted if key in read]
            rows += await self._rows_of(view, wanted.difference(read))
            self._accesses.saw(rows)
            return ranked, rows

        ranked, rows = await self._tenants.read(tenant_id, job)
        facts = await self._by_key(tenant_id, rows)
        return [[FactHit(facts[key], score) for score, key in hits] for hits in ranked]

    async def search_text(
        self, tenant_id: str, query: str, *, limit: int, where: FactFilter | None = None
    ) -> list[FactHit]:
        """Return the best facts by BM25; exact as ``keywords`` says."""
        allowed = retrievable(where or FactFilter())
        if limit <= 0 or allowed is None:
            return []

        async def job(view: View) -> tuple[list[tuple[float, str]], list[Row]]:
            hits = await self._keywords.search(view, query, limit, allowed)
            return hits.ranked, await self._rows_of(view, {key for _, key in hits.ranked})

        ranked, rows = await self._tenants.read(tenant_id, job)
        facts = await self._by_key(tenant_id, rows)
        return [FactHit(facts[key], score) for score, key in ranked]

    async def set_status(self, tenant_id: str, fact_ids: Sequence[str], status: FactStatus, *, at: datetime) -> int:
        """Set the status of facts that have another one; DELETED is final and destroys the content."""

        def changed(row: Row) -> Row | None:
            if row["status"] in (_DELETED, STATUS_CODES[status]):
                return None
            if status is FactStatus.DELETED:
                return tombstone_of(row, micros(at))
            return row | {"status": STATUS_CODES[status], "modified_us": micros(at)}

        return await self._rewrite(tenant_id, fact_ids, changed)

    async def supersede(self, tenant_id: str, fact_ids: Sequence[str], *, ended_at: datetime, at: datetime) -> int:
        """Mark facts as replaced."""
        return await self._rewrite(tenant_id, fact_ids, lambda row: superseded(row, micros(ended_at), micros(at)))

    async def reinstate(self, tenant_id: str, fact_ids: Sequence[str], *, at: datetime) -> int:
        """Take the mark off."""
        return await self._rewrite(tenant_id, fact_ids, lambda row: reinstated(row, micros(at)))

    async def next_turn(self, tenant_id: str, after: datetime) -> datetime | None:
        """Return the next moment at which a validity begins or ends; read once for every write of the tenant."""

        async def job(view: View) -> Sequence[int]:
            return await self._turns.of(self._reads(view))

        turns = await self._tenants.read(tenant_id, job)
        place = bisect_right(turns, micros(after))
        return moment(turns[place]) if place < len(turns) else None

    async def set_communities(self, tenant_id: str, labels: Mapping[str, str]) -> None:
        """Set community labels, some thousand facts at a time: after a failure some may be set.

        Nobody waits for all of them then, nor holds them in memory, and no write outlives its lease (ADR 0084).
        """

        def changed(row: Row) -> Row | None:
            label = labels[fact_id_of(row["key"])]
            return None if row["community"] == digest(label) else relabelled(row, label)

        fact_ids = tuple(labels)
        self._labels.learn(labels.values())
        for start in range(0, len(fact_ids), _LABELS_PER_WRITE):
            await self._rewrite(tenant_id, fact_ids[start : start + _LABELS_PER_WRITE], changed)

    async def touch(self, tenant_id: str, fact_ids: Sequence[str], *, at: datetime) -> None:
        """Count an access; a store that cannot write now loses the count, not the answer it was for."""
        tenant = digest(tenant_id)
        names = stems(tenant, fact_ids)
        seen = self._accesses.keys_seen(names)
        missing = [one for one in names if one not in seen]

        async def job(view: View) -> list[Row]:
            found = await self._reads(view).by_stems(missing, _COUNTED_FIELDS)
            return [row for rows in found.values() for row in rows if row["status"] != _DELETED]

        try:
            rows = await self._tenants.read(tenant_id, job) if missing else []
            keys = [*seen.values(), *map(counter_key, rows)]
            if keys:
                await self._accesses.add(tenant, keys, micros(at))
        except CrpError as error:
            _LOG.warning("accesses were not counted", extra={"reason": error.reason.value, "facts": len(fact_ids)})

    async def fact_ids_of_source(self, tenant_id: str, source_id: str) -> list[str]:
        """Return the source's facts that are not DELETED."""
        found = await self._tenants.read(tenant_id, lambda view: self._reads(view).of_source(source_id, ("key",)))
        return [fact_id_of(row["key"]) for row in sorted_rows(row for rows in found.values() for row in rows)]

    async def erase_source(self, tenant_id: str, source_id: str, *, at: datetime) -> int:
        """Turn the source's facts into tombstones (SPEC-003 §17.2)."""
        erased, gone_from_sight = 0, list[str]()

        async def prepare(view: View) -> Change:
            nonlocal erased
            found = await self._reads(view).of_source(source_id, WHOLE_FIELDS)
            erased = sum(map(len, found.values()))
            gone_from_sight.extend(stem_of(row["key"]) for rows in found.values() for row in rows)
            return Change.replacing(found, lambda row: tombstone_of(row, micros(at)))

        await self._write(tenant_id, prepare, gone_from_sight)
        return erased

    async def delete(self, tenant_id: str, fact_ids: Sequence[str]) -> None:
        """Remove facts without a trace."""
        removed: list[Row] = []

        def changed(row: Row) -> Row:
            removed.append(row)
            return gone(row)

        await self._rewrite(tenant_id, fact_ids, changed)
        await self._forget_accesses(removed)

    async def count(self, tenant_id: str, where: FactFilter | None = None) -> int:
        """Count matching facts."""
        return await self._tenants.read(tenant_id, lambda view: self._reads(view).count(where or FactFilter()))

    async def state_entries(self, tenant_id: str, communities: Sequence[str] = ()) -> AsyncIterator[StateEntry]:
        """Yield what the state hash is made of, as it was at one moment."""
        where = FactFilter(communities=tuple(communities), statuses=())
        rows = await self._tenants.read(tenant_id, lambda view: self._reads(view).all(where, STATE_FIELDS))
        for position, row in enumerate(rows, 1):
            yield state_entry(row)
            if position % _YIELD_EVERY == 0:
                await asyncio.sleep(0)

    async def state_change(self, tenant_id: str) -> int:
        """Return the number of the tenant's last complete write (``FactChanges``)."""

        async def job(view: View) -> int:
            return view.standing.batch

        return await self._tenants.read(tenant_id, job)

    async def state_changes(
        self, tenant_id: str, known: StateKnown, communities: frozenset[str] | None
    ) -> StateChanges:
        """Return what turns ``known`` into the present entries (``FactChanges``, ADR 0084)."""
        return await self._tenants.read(
            tenant_id, lambda view: state_changes(self._reads(view), self._labels, known, communities)
        )

    async def outlines(self, tenant_id: str) -> AsyncIterator[list[FactOutline]]:
        """Yield in blocks the retrievable facts without text and vector, ordered by ``fact_id`` (``FactChanges``)."""
        after = ""
        while True:
            rows = await self._tenants.read(tenant_id, self._outline_reader(after))
            if not rows:
                return
            block = await asyncio.to_thread(outlines, rows)
            yield block
            after = block[-1].fact_id

    async def embeddings(self, tenant_id: str) -> AsyncIterator[tuple[list[str], Vectors]]:
        """Yield in blocks the vectors of the retrievable facts of the embedding model in use."""
        after = ""
        while True:
            rows = await self._tenants.read(tenant_id, self._block_reader(after))
            if not rows:
                return
            ids = [fact_id_of(row["key"]) for row in rows]
            yield ids, np.array([row["vector"] for row in rows], dtype=np.float32)
            after = ids[-1]

    async def check(self) -> None:
        """Return when Milvus answers."""
        await self._database.check()

    async def close(self) -> None:
        """Close the connection; idempotent."""
        await self._database.close()

    async def _put(self, tenant_id: str, latest: Mapping[str, tuple[str, Row]], names: Mapping[str, str]) -> None:
        former: list[Row] = []

        async def prepare(view: View) -> Change:
            replaced = await self._reads(view).by_stems(list(latest), _COUNTED_FIELDS)
            former[:] = [row for rows in replaced.values() for row in rows]
            rows: dict[str, list[Row]] = {}
            for model, row in latest.values():
                rows.setdefault(names[model], []).append(row)
            return Change(rows, replaced)

        await self._write(tenant_id, prepare, latest)
        await self._forget_accesses(former)

    async def _write(
        self, tenant_id: str, prepare: Callable[[View], Awaitable[Change]], written: Collection[str]
    ) -> None:
        """Write; ``written`` are the stems of the facts, known when it is over."""
        try:
            await self._tenants.write(tenant_id, prepare)
        finally:
            self._accesses.lose_sight(written)

    async def _rewrite(self, tenant_id: str, fact_ids: Sequence[str], changed: Callable[[Row], Row | None]) -> int:
        """Replace the rows of facts by what ``changed`` makes of them, ``None`` = left alone; return how many."""
        if not fact_ids:
            return 0
        count = 0

        async def prepare(view: View) -> Change:
            nonlocal count
            found = await self._reads(view).by_stems(stems(view.tenant, fact_ids), WHOLE_FIELDS)
            change = Change.replacing(found, changed)
            count = sum(map(len, change.rows.values()))
            return change

        await self._write(tenant_id, prepare, stems(digest(tenant_id), fact_ids))
        return count

    async def _rows_of(self, view: View, keys: set[str]) -> list[Row]:
        found = await self._reads(view).by_stems(sorted(map(stem_of, keys)), FULL_FIELDS)
        return [row for rows in found.values() for row in rows]

    async def _by_key(self, tenant_id: str, rows: Sequence[Row]) -> dict[str, FactRecord]:
        return dict(zip([row["key"] for row in rows], await self._records(tenant_id, rows), strict=True))

    async def _records(self, tenant_id: str, rows: Sequence[Row]) -> list[FactRecord]:
        return await self._accesses.counted(rows, [record(tenant_id, row) for row in rows])

    async def _forget_accesses(self, rows: Sequence[Row]) -> None:
        try:
            await self._accesses.forget(rows)
        except CrpError as error:  # they belong to nothing any more
            _LOG.info("counters are left over", extra={"reason": error.reason.value, "facts": len(rows)})

    async def _add_collection(self, model: str) -> None:
        await open_collections(self._database, self._settings, embedding_model=model, dimension=self._dimension)
        self._collections.facts[facts_collection(self._settings, model)] = self._dimension

    def _reads(self, view: View) -> FactReads:
        return FactReads(self._database, self._collections, view)

    def _block_reader(self, after: str) -> Callable[[View], Awaitable[list[Row]]]:
        model = [next(iter(self._collections.facts))]
        return lambda view: self._reads(view).page(FactFilter(), after, _BLOCK_ROWS, ("key", "vector"), model)

    def _outline_reader(self, after: str) -> Callable[[View], Awaitable[list[Row]]]:
        return lambda view: self._reads(view).page(FactFilter(), after, _BLOCK_ROWS, OUTLINE_FIELDS)


def _encoded(facts: Sequence[FactRecord], dimension: int, stemming: Stemming) -> dict[str, dict[str, tuple[str, Row]]]:
    """Return by tenant and stem the last fact of each id: its model and its row."""
    by_tenant: dict[str, dict[str, tuple[str, Row]]] = {}
    for fact in facts:
        row = encode(fact, digest(fact.tenant_id), dimension, stemming)
        by_tenant.setdefault(fact.tenant_id, {})[row["key"]] = (fact.embedding_model, row)
    return by_tenant
