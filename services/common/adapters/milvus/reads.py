"""What one tenant's facts are asked for, within one view of them."""

import asyncio
from collections.abc import Iterable, Sequence

from services.common.adapters.milvus.database import MOST_ROWS, MilvusDatabase, Row
from services.common.adapters.milvus.fact_rows import (
    NO_END,
    NO_START,
    STATUS_CODES,
    digest,
    fact_number,
    filter_condition,
    listed,
    stem,
    stem_of,
)
from services.common.adapters.milvus.schema import Collections
from services.common.adapters.milvus.tenants import View
from services.common.ports.facts import FactFilter, FactStatus

ROWS_WITH_TEXT = 200
"""Rows with their text that are fetched at a time: 64 MB at the very most, Milvus's limit of an answer."""
_FACTS_PER_READ = 1_000
_READS_AT_ONCE = 4
ALIVE = f" and status != {STATUS_CODES[FactStatus.DELETED]}"


class FactReads:
    """Reads of one tenant.

    Args:
        database: open.
        collections: all that hold facts.
        view: what may be seen.
    """

    def __init__(self, database: MilvusDatabase, collections: Collections, view: View) -> None:
        self._database = database
        self._collections = collections
        self.view = view

    async def by_stems(self, stems: Sequence[str], fields: Sequence[str]) -> dict[str, list[Row]]:
        """Return by collection the rows of facts, tombstones too; ``fields`` must hold ``key``."""
        step = ROWS_WITH_TEXT if "body" in fields else _FACTS_PER_READ
        room = asyncio.Semaphore(_READS_AT_ONCE)

        async def read(some: set[str]) -> dict[str, list[Row]]:
            where = f"{self.view.visible} and {listed('fact', sorted(map(fact_number, some)))}"
            async with room:
                return await self._everywhere(where, fields, step)

        parts = [set(stems[start : start + step]) for start in range(0, len(stems), step)]
        found: dict[str, list[Row]] = {}
        for some, answer in zip(parts, await asyncio.gather(*map(read, parts)), strict=True):
            for collection, rows in answer.items():
                found.setdefault(collection, []).extend(row for row in rows if stem_of(row["key"]) in some)
        return found

    async def of_source(self, source_id: str, fields: Sequence[str]) -> dict[str, list[Row]]:
        """Return by collection the rows of the source's facts that are not DELETED."""
        where = f'{self.view.visible}{ALIVE} and source == "{digest(source_id)}"'
        return await self._everywhere(where, fields, ROWS_WITH_TEXT if "body" in fields else MOST_ROWS)

    async def page(
        self, where: FactFilter, after: str, limit: int, fields: Sequence[str], collections: Sequence[str] = ()
    ) -> list[Row]:
        """Return the next rows by fact id, of some collections or all."""
        found: list[Row] = []
        last = stem(self.view.tenant, after)
        while len(found) < limit:
            step = min(limit - len(found), ROWS_WITH_TEXT if "body" in fields else MOST_ROWS)
            condition = f'{self.view.visible}{filter_condition(where)} and key > "{last}/"'
            rows = await asyncio.gather(
                *(
                    self._database.rows(collection, condition, fields, self.view.level, step)
                    for collection in collections or self._collections.facts
                )
            )
            some = sorted_rows(row for part in rows for row in part)[:step]
            found += some
            if len(some) < step:
                break
            last = stem_of(some[-1]["key"])
        return found

    async def all(self, where: FactFilter, fields: Sequence[str]) -> list[Row]:
        """Return every row that matches, by fact id."""
        found = await self._everywhere(f"{self.view.visible}{filter_condition(where)}", fields, MOST_ROWS)
        return sorted_rows(row for rows in found.values() for row in rows)

    async def since(self, batch: int, fields: Sequence[str], most: int) -> list[Row]:
        """Return up to ``most`` rows of each collection that later writes than ``batch`` made, in no order."""
        where = f"{self.view.visible} and batch > {batch}"
        found = await asyncio.gather(
            *(self._database.rows(name, where, fields, self.view.level, most) for name in self._collections.facts)
        )
        return [row for rows in found for row in rows]

    async def bodies(self, keys: Sequence[str]) -> list[str]:
        """Return the bodies of visible rows, given by their keys."""
        found: list[str] = []
        for start in range(0, len(keys), ROWS_WITH_TEXT):
            where = f"{self.view.visible} and {listed('key', keys[start : start + ROWS_WITH_TEXT])}"
            for rows in (await self._everywhere(where, ("key", "body"), ROWS_WITH_TEXT)).values():
                found.extend("".join(row["body"]) for row in rows)
        return found

    async def limited(self) -> list[Row]:
        """Return when the retrievable facts begin and cease to hold, those that their source replaced left out."""
        condition = f"{self.view.visible}{filter_condition(FactFilter(statuses=(FactStatus.ACTIVE,)))}"
        where = f"{condition} and (starts_us > {NO_START} or ends_us < {NO_END})"
        found = await self._everywhere(where, ("key", "starts_us", "ends_us"), MOST_ROWS)
        return [row for rows in found.values() for row in rows]

    async def count(self, where: FactFilter) -> int:
        """Count matching facts."""
        condition = f"{self.view.visible}{filter_condition(where)}"
        return sum([await self._database.count(name, condition, self.view.level) for name in self._collections.facts])

    async def _everywhere(self, where: str, fields: Sequence[str], step: int) -> dict[str, list[Row]]:
        names = list(self._collections.facts)
        found = await asyncio.gather(
            *(self._database.all_rows(name, where, fields, self.view.level, step) for name in names)
        )
        return dict(zip(names, found, strict=True))


def sorted_rows(rows: Iterable[Row]) -> list[Row]:
    """Return rows ordered by fact id."""
    return sorted(rows, key=lambda row: str(row["key"]))
