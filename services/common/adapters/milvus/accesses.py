"""How often facts were accessed: rows of their own, so that counting neither rewrites a fact nor makes a search wait.

A counter belongs to one insertion of a fact (``born``): what is inserted again counts anew. Counts are best effort, as
the port has it. While this process alone writes, what it has read or written of a counter is remembered.
"""

import asyncio
import time
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from services.common.adapters.milvus.database import Level, MilvusDatabase, Row
from services.common.adapters.milvus.fact_rows import key_of, listed, moment, stem_of
from services.common.adapters.milvus.schema import bare
from services.common.adapters.milvus.tenants import SETTLED_S
from services.common.ports.facts import FactRecord

REMEMBERED: Final = 65_536
_KEYS_PER_READ: Final = 500
_NEVER: Final = (0, 0)


class Accesses:
    """Counters of all tenants.

    Args:
        database: open.
        collection: of the counters.
        shared: whether other processes count too.
    """

    def __init__(self, database: MilvusDatabase, collection: str, *, shared: bool) -> None:
        self._database = database
        self._collection = collection
        self._shared = shared
        self._known: OrderedDict[str, tuple[tuple[int, int], float]] = OrderedDict()
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._opened = time.monotonic()
        self._seen: OrderedDict[str, str] = OrderedDict()

    def keys_seen(self, stems: Iterable[str]) -> dict[str, str]:
        """Return the counters of those facts (given by their stems) that were read since they were last written."""
        return {} if self._shared else {one: self._seen[one] for one in stems if one in self._seen}

    def lose_sight(self, stems: Iterable[str]) -> None:
        """Forget what was read of facts that are being written."""
        for one in stems:
            self._seen.pop(one, None)

    async def add(self, tenant: str, keys: Sequence[str], at_us: int) -> None:
        """Count an access in each of these counters."""
        async with self._locks[tenant]:
            counters = await self._read(keys)
            counted = {key: (counters.get(key, _NEVER)[0] + 1, at_us) for key in keys}
            written = [bare({"key": key, "count": count, "last_us": last}) for key, (count, last) in counted.items()]
            await self._database.upsert(self._collection, written)
            self._remember(counted)

    async def counted(self, rows: Sequence[Row], facts: Sequence[FactRecord]) -> list[FactRecord]:
        """Return the facts of rows with what was counted since they were inserted."""
        keys = [counter_key(row) for row in rows]
        counters = await self._read(keys)
        return [_with(fact, counters.get(key, _NEVER)) for key, fact in zip(keys, facts, strict=True)]

    def saw(self, rows: Iterable[Row]) -> None:
        """Remember the counters of facts that were just read and may be counted next."""
        if self._shared:
            return
        for row in rows:
            one = stem_of(row["key"])
            self._seen[one] = counter_key(row)
            self._seen.move_to_end(one)
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)

    async def forget(self, rows: Iterable[Row]) -> None:
        """Delete the counters of facts that were removed or inserted anew."""
        keys = [counter_key(row) for row in rows]
        for key in keys:
            self._known.pop(key, None)
        await self._database.delete(self._collection, keys)

    async def mark(self) -> None:
        """Make reads of this process wait for what was counted until now."""
        await self._database.upsert(self._collection, [bare({"key": "-", "count": 0, "last_us": 0})])

    async def _read(self, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
        found = {} if self._shared else {key: self._known[key][0] for key in keys if key in self._known}
        missing = [key for key in keys if key not in found]
        for start in range(0, len(missing), _KEYS_PER_READ):
            some = missing[start : start + _KEYS_PER_READ]
            rows = await self._database.rows(
                self._collection, listed("key", some), ("key", "count", "last_us"), self._level()
            )
            read = dict.fromkeys(some, _NEVER) | {row["key"]: (row["count"], row["last_us"]) for row in rows}
            self._remember({key: value for key, value in read.items() if key not in self._known})
            found |= read
        return found

    def _level(self) -> Level:
        if self._shared:
            return Level.STRONG
        return Level.SESSION if time.monotonic() - self._opened < SETTLED_S else Level.BOUNDED

    def _remember(self, counters: dict[str, tuple[int, int]]) -> None:
        if self._shared:
            return
        now = time.monotonic()
        for key, counter in counters.items():
            self._known[key] = (counter, now)
            self._known.move_to_end(key)
        while len(self._known) > REMEMBERED and now - next(iter(self._known.values()))[1] > SETTLED_S:
            self._known.popitem(last=False)


def counter_key(row: Row) -> str:
    """Return the key of the counter of the fact whose row (``key``, ``born``) this is."""
    return key_of(stem_of(row["key"]), row["born"])


def _with(fact: FactRecord, counter: tuple[int, int]) -> FactRecord:
    count, last = counter
    if not count:
        return fact
    return replace(fact, access_count=fact.access_count + count, last_accessed_at=moment(last))
