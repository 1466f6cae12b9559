"""Reading and writing one tenant at a time so that each write is seen whole or not at all (``journal``)."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar
from uuid import uuid4

from services.common.adapters.milvus.database import Level, MilvusDatabase, Row
from services.common.adapters.milvus.fact_rows import (
    GONE,
    NOTHING,
    Weight,
    digest,
    fact_number,
    key_of,
    listed,
    marker,
    stem_of,
)
from services.common.adapters.milvus.failures import unavailable
from services.common.adapters.milvus.gate import Gate
from services.common.adapters.milvus.journal import (
    DONE,
    FIELDS,
    LEASE_S,
    OPEN,
    REMOVED,
    VOID,
    Entry,
    Standing,
    entry,
    entry_key,
    read,
)
from services.common.adapters.milvus.schema import Collections
from services.common.settings.milvus import MilvusSettings

_T = TypeVar("_T")
SETTLED_S: Final = 60.0
"""Seconds after a write from which on Milvus has it also for reads that wait for nothing."""
_VOID_KEPT_S: Final = 3_600.0
_TURN_S: Final = (0.05, 0.4)
"""Shortest and longest pause of a process that gave way to another."""
_FACTS_PER_READ: Final = 1_000


@dataclass(slots=True)
class _Tenant:
    """What this process knows of one tenant.

    Attributes:
        standing: its journal, as it was last read or written; ``None`` = to be read, and settled.
        written_at: when this process last wrote or read it anew (``time.monotonic``).
    """

    digest: str
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    gate: Gate = field(default_factory=Gate)
    standing: Standing | None = None
    written_at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class View:
    """What one read may see.

    Attributes:
        tenant: the tenant's digest.
        standing: its last complete write.
        level: what the read waits for.
    """

    tenant: str
    standing: Standing
    level: Level

    @property
    def visible(self) -> str:
        """The expression that holds for rows that may be seen."""
        return self.standing.condition(self.tenant)


@dataclass(frozen=True, slots=True)
class Change:
    """A write, before it has a number.

    Attributes:
        rows: by collection; keys are stems, ``batch`` is missing; ``born`` too where a fact is new.
        replaced: by collection, the visible rows that they take the place of.
    """

    rows: Mapping[str, list[Row]]
    replaced: Mapping[str, list[Row]]

    @classmethod
    def replacing(cls, found: Mapping[str, list[Row]], changed: Callable[[Row], Row | None]) -> "Change":
        """Return the write that puts what ``changed`` makes of rows in their place, ``None`` = left alone."""
        rows: dict[str, list[Row]] = {}
        replaced: dict[str, list[Row]] = {}
        for collection, some in found.items():
            for row in some:
                new = changed(row)
                if new is not None:
                    rows.setdefault(collection, []).append(new | {"key": stem_of(row["key"])})
                    replaced.setdefault(collection, []).append(row)
        return cls(rows, replaced)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not any(self.rows.values())

    @property
    def removes(self) -> bool:
        """Whether facts are removed without a trace."""
        return any(row["status"] == GONE for rows in self.rows.values() for row in rows)

    def numbered(self, batch: int) -> "Change":
        """Return it with the number of its write."""
        rows = {
            collection: [{"born": batch} | row | {"key": key_of(row["key"], batch), "batch": batch} for row in some]
            for collection, some in self.rows.items()
        }
        return replace(self, rows=rows)

    def weight(self, before: Weight) -> Weight:
        """Return the tenant's totals after it."""
        added = Weight.of(row for rows in self.rows.values() for row in rows)
        taken = Weight.of(row for rows in self.replaced.values() for row in rows)
        return Weight(before.facts + added.facts - taken.facts, before.words + added.words - taken.words)


class Tenants:
    """The tenants of one installation, as one process sees them.

    Args:
        database: open.
        collections: loaded.
        settings: whether other processes write.
    """

    def __init__(self, database: MilvusDatabase, collections: Collections, settings: MilvusSettings) -> None:
        self._database = database
        self._collections = collections
        self._shared = settings.consistency == "strong"
        self._patience_s = settings.timeout_s
        self._writer = uuid4().hex
        self._tenants: dict[str, _Tenant] = {}

    async def read(self, tenant_id: str, job: Callable[[View], Awaitable[_T]]) -> _T:
        """Run a job over what is complete now, and return its result; it may be run again.

        Raises:
            UnavailableError: STORE_UNAVAILABLE: Milvus is away, or written faster than it can be read.
        """
        tenant = self._known(digest(tenant_id))
        ends = time.monotonic() + self._patience_s
        while True:
            if tenant.standing is None:
                async with tenant.writing:
                    await self._settle(tenant)
            async with tenant.gate.reading():
                seen = tenant.standing
                if seen is not None:
                    result = await job(View(tenant.digest, seen, self._level(tenant)))
                    if not self._shared or await self._still(tenant, seen):
                        return result
            if time.monotonic() > ends:
                raise unavailable("other processes write this tenant without a pause", "busy")

    async def write(self, tenant_id: str, prepare: Callable[[View], Awaitable[Change]]) -> None:
        """Write what ``prepare`` makes of what is there, all or nothing; it runs to its end also when cancelled.

        Raises:
            UnavailableError: STORE_UNAVAILABLE; nothing is written, unless Milvus went away in the last moment.
            LimitExceededError: STORAGE_FULL.
        """
        await self.write_of(digest(tenant_id), prepare)

    async def write_of(self, tenant: str, prepare: Callable[[View], Awaitable[Change]]) -> None:
        """Do what ``write`` does, for a tenant that is given by its digest."""
        task = asyncio.ensure_future(self._write(self._known(tenant), prepare))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise

    async def _write(self, tenant: _Tenant, prepare: Callable[[View], Awaitable[Change]]) -> None:
        async with tenant.writing:
            await self._settle(tenant)
            began = time.monotonic()
            if self._shared:
                await self._take_turn(tenant)
            before = tenant.standing or Standing()
            batch = before.next_batch
            try:
                change = (await prepare(View(tenant.digest, before, self._level(tenant)))).numbered(batch)
                if not change.empty:
                    if not self._shared:
                        await self._add(tenant, batch, OPEN)
                    for collection, rows in change.rows.items():
                        await self._database.insert(collection, rows)
                    if change.removes:
                        await self._add(tenant, batch, REMOVED)
                    self._check_lease(began)
                    await self._complete(tenant, before, batch, change)
                elif self._shared:
                    await self._remove(self._open_key(tenant, batch))
            except BaseException:
                tenant.standing = None  # whoever comes next settles what is left
                raise

    async def _complete(self, tenant: _Tenant, before: Standing, batch: int, change: Change) -> None:
        weight = change.weight(before.weight)
        async with tenant.gate.changing():
            try:
                await self._add(tenant, batch, DONE, weight)
                for collection, rows in change.replaced.items():
                    await self._database.delete(collection, [row["key"] for row in rows])
                await self.mark(*change.replaced)
            except BaseException:
                tenant.standing = None
                raise
            removed = batch if change.removes else before.removed
            tenant.standing = Standing(batch, weight, before.voided, removed=removed)
            tenant.written_at = time.monotonic()
        for collection, rows in change.rows.items():
            await self._database.delete(collection, [row["key"] for row in rows if row["status"] == GONE])
        former = [entry_key(tenant.digest, before.batch, DONE, "")] if before.batch else []
        if change.removes and before.removed:
            former.append(entry_key(tenant.digest, before.removed, REMOVED, ""))
        await self._remove(self._open_key(tenant, batch), *former)

    async def mark(self, *collections: str) -> None:
        """Make reads of this process wait for what was deleted until now.

        They wait for this process's last insertion (``Level.SESSION``): Milvus 2.3 does not tell when a deletion was.
        """
        for collection in collections:
            row = marker(uuid4().hex, self._collections.facts[collection])
            await self._database.insert(collection, [row])
            await self._database.delete(collection, [row["key"]])

    async def _settle(self, tenant: _Tenant) -> None:
        """Finish or undo what is left of earlier writes; the caller holds ``writing``."""
        ends = time.monotonic() + self._patience_s
        while tenant.standing is None:
            standing = await self._entries(tenant)
            left = [one for one in standing.unfinished if not self._abandoned(one, standing)]
            for one in standing.unfinished:
                if one not in left:
                    await self._finish(tenant, one)
            voided = [one for one in standing.pending if self._abandoned(one, standing)]
            for one in voided:
                await self._void(tenant, one)
            if standing.unfinished or voided:
                await self.mark(*self._collections.facts)
                if left and time.monotonic() > ends:
                    raise unavailable("another process is in the middle of a write", "busy")
                await asyncio.sleep(_TURN_S[0] if left else 0)
                continue
            await self._tidy(tenant, standing)
            tenant.standing = standing
            tenant.written_at = time.monotonic()

    async def _take_turn(self, tenant: _Tenant) -> None:
        """Add the entry of the next batch, alone among processes; ``standing`` is then as of now."""
        ends = time.monotonic() + self._patience_s
        while True:
            batch = (tenant.standing or Standing()).next_batch
            await self._add(tenant, batch, OPEN)
            now = await self._entries(tenant)
            others = [one for one in (*now.pending, *now.unfinished) if one.writer != self._writer]
            if not others and now.next_batch == batch:
                tenant.standing = now
                return
            await self._remove(self._open_key(tenant, batch))
            if time.monotonic() > ends:
                raise unavailable("other processes write this tenant without a pause", "busy")
            await asyncio.sleep(random.uniform(*_TURN_S))  # noqa: S311 - only so that two do not keep step
            tenant.standing = None
            await self._settle(tenant)

    async def _still(self, tenant: _Tenant, seen: Standing) -> bool:
        """Say whether nothing became complete since ``seen``; otherwise take note of it."""
        now = await self._entries(tenant)
        if (now.batch, now.void) == (seen.batch, seen.void):
            return True
        if tenant.standing is seen:
            tenant.standing = None if now.unfinished else now
        return False

    async def _finish(self, tenant: _Tenant, one: Entry) -> None:
        """Delete what a complete batch replaces, and those of its rows that only say so."""
        written = f'tenant == "{tenant.digest}" and batch == {one.batch}'
        for collection in self._collections.facts:
            rows = await self._database.all_rows(collection, written, ("key", "status"), Level.STRONG)
            stems = {stem_of(row["key"]) for row in rows}
            removed = [row["key"] for row in rows if row["status"] == GONE]
            await self._delete_older(tenant, sorted(stems), one.batch)
            await self._database.delete(collection, removed)
        await self._remove(one.key)

    async def _delete_older(self, tenant: _Tenant, stems: list[str], batch: int) -> None:
        for start in range(0, len(stems), _FACTS_PER_READ):
            some = set(stems[start : start + _FACTS_PER_READ])
            numbers = listed("fact", sorted(map(fact_number, some)))
            older = f'tenant == "{tenant.digest}" and batch < {batch} and {numbers}'
            for collection in self._collections.facts:
                rows = await self._database.all_rows(collection, older, ("key",), Level.STRONG)
                await self._database.delete(collection, [row["key"] for row in rows if stem_of(row["key"]) in some])

    async def _void(self, tenant: _Tenant, one: Entry) -> None:
        """Put a batch that was never completed out of use, and delete its rows."""
        await self._add(tenant, one.batch, VOID)
        await self._delete_batch(tenant, one.batch)
        await self._remove(one.key)

    async def _delete_batch(self, tenant: _Tenant, batch: int) -> None:
        written = f'tenant == "{tenant.digest}" and batch == {batch}'
        for collection in self._collections.facts:
            rows = await self._database.all_rows(collection, written, ("key",), Level.STRONG)
            await self._database.delete(collection, [row["key"] for row in rows])

    async def _tidy(self, tenant: _Tenant, standing: Standing) -> None:
        """Remove entries that are of no more use: old totals, and numbers whose last requests are long over."""
        for one in standing.voided:
            if one.batch < standing.batch and _age_s(one) > _VOID_KEPT_S:
                await self._delete_batch(tenant, one.batch)
                await self._remove(one.key)
        await self._remove(*standing.superseded)

    def _abandoned(self, one: Entry, standing: Standing) -> bool:
        """Say whether nobody works on an open batch: its process is gone, or it is ours and we are not writing."""
        if not self._shared or one.writer == self._writer:
            return True
        rivals = [other for other in standing.pending if other.batch == one.batch and other is not one]
        return _age_s(one) > LEASE_S and not any(_age_s(other) <= LEASE_S for other in rivals)

    def _check_lease(self, began: float) -> None:
        """Refuse to complete a write that others may soon take for abandoned."""
        if self._shared and time.monotonic() - began > LEASE_S / 2:
            raise unavailable("a write took longer than other processes wait for it", "lease")

    def _level(self, tenant: _Tenant) -> Level:
        if self._shared:
            return Level.STRONG
        return Level.SESSION if time.monotonic() - tenant.written_at < SETTLED_S else Level.BOUNDED

    def _known(self, name: str) -> _Tenant:
        return self._tenants.setdefault(name, _Tenant(name))

    async def _entries(self, tenant: _Tenant) -> Standing:
        where = f'tenant == "{tenant.digest}"'
        return read(await self._database.all_rows(self._collections.journal, where, FIELDS, Level.STRONG))

    async def _add(self, tenant: _Tenant, batch: int, state: str, weight: Weight = NOTHING) -> None:
        row = entry(tenant.digest, batch, state, self._writer, weight, time.time_ns() // 1_000)
        await self._database.upsert(self._collections.journal, [row])

    async def _remove(self, *keys: str) -> None:
        await self._database.delete(self._collections.journal, keys)

    def _open_key(self, tenant: _Tenant, batch: int) -> str:
        return entry_key(tenant.digest, batch, OPEN, self._writer)


def _age_s(one: Entry) -> float:
    return time.time() - one.at_us / 1e6
