"""The nearest facts of a vector: Milvus's graph proposes candidates, scores and order are computed here.

A score is summed in double precision, one fact at a time, so that it is the same as in the other stores, equal vectors
tie exactly, and ties are ordered by fact id.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.milvus.database import MOST_ROWS, MilvusDatabase, Row
from services.common.adapters.milvus.fact_rows import FULL_FIELDS, filter_condition
from services.common.adapters.milvus.tenants import View
from services.common.ports.facts import FactFilter, Vectors

SCORE_ERROR: Final = 1e-4
"""More than Milvus's single precision can move a score by."""
_OVERFETCH: Final = 1.3
_OVERFETCH_MIN: Final = 16
_OVERFETCH_GROWTH: Final = 4
_SCANNED_ROWS: Final = 4_096
_ROWS_AT_ONCE: Final = 600
"""Rows that one answer may hold with their text, 64 MB of the largest facts; what would be more is read afterwards."""
_FIELDS: Final = ("key", "vector")
Doubles = NDArray[np.float64]
Ranked = list[tuple[float, str]]
"""Scores and keys, best first."""


class NearestFacts:
    """Searches the collection of one embedding model.

    Args:
        database: open.
        collection: of the model's facts.
        ef: candidates that the graph keeps.
    """

    def __init__(self, database: MilvusDatabase, collection: str, ef: int) -> None:
        self._database = database
        self._collection = collection
        self._ef = ef

    async def search(
        self, view: View, queries: Vectors, limit: int, where: FactFilter
    ) -> tuple[list[Ranked], dict[str, Row]]:
        """Return for each query its best ``limit`` facts, and by key the whole rows that were read on the way.

        Args:
            view: what may be seen.
            queries: one a row, of any length but not of another dimension.
            limit: 1 or more.
            where: with retrievable statuses alone.
        """
        condition = view.visible + filter_condition(where)
        units = _units(queries)
        results: list[Ranked | None] = [None] * len(units)
        whole: dict[str, Row] = {}
        fetch = min(int(limit * _OVERFETCH) + _OVERFETCH_MIN, MOST_ROWS)
        while fetch:
            # A vector of zeros is as far from everything: Milvus's order among equals is not ours.
            asked = [n for n, unit in enumerate(units) if results[n] is None and unit.any()]
            if not asked:
                break
            with_text = fetch * len(asked) <= _ROWS_AT_ONCE
            proposed = await self._proposed(view, condition, units[asked], fetch, with_text=with_text)
            for n, rows in zip(asked, proposed, strict=True):
                if with_text:
                    whole.update((row["key"], row) for row in rows)
                ranked = _ranked(rows, units[n])
                if await self._suffices(view, condition, ranked, limit, fetch):
                    results[n] = ranked[:limit]
            fetch = min(fetch * _OVERFETCH_GROWTH, MOST_ROWS) if fetch < MOST_ROWS else 0
        left = [n for n, result in enumerate(results) if result is None]
        for n, ranked in zip(left, await self._compared(view, condition, units[left], limit), strict=True):
            results[n] = ranked
        return [result or [] for result in results], whole

    async def _proposed(
        self, view: View, condition: str, units: Doubles, fetch: int, *, with_text: bool
    ) -> list[list[Row]]:
        search: dict[str, Any] = {
            "data": list(units.astype(np.float32)),
            "anns_field": "vector",
            "filter": condition,
            "limit": fetch,
            "output_fields": list(FULL_FIELDS if with_text else _FIELDS),
            "search_params": {"params": {"ef": max(self._ef, fetch)}},
        }
        return await self._database.search(self._collection, search, view.level)

    async def _suffices(self, view: View, condition: str, ranked: Ranked, limit: int, fetch: int) -> bool:
        """Say whether nothing that was not proposed can be as good as the best ``limit``."""
        if len(ranked) < fetch:  # all that match, or the graph did not find its way to the others
            return len(ranked) == await self._database.count(self._collection, condition, view.level)
        return ranked[-1][0] < ranked[limit - 1][0] - SCORE_ERROR

    async def _compared(self, view: View, condition: str, units: Doubles, limit: int) -> list[Ranked]:
        """Compare every fact."""
        if not len(units):
            return []
        rows = await self._database.all_rows(self._collection, condition, _FIELDS, view.level, _SCANNED_ROWS)
        return [_ranked(rows, unit)[:limit] for unit in units]


def _ranked(rows: Sequence[Row], unit: Doubles) -> Ranked:
    if not rows:
        return []
    matrix = np.array([row["vector"] for row in rows], dtype=np.float32).astype(np.float64)
    scores = np.sum(matrix * unit, axis=1).tolist()
    keys = [str(row["key"]) for row in rows]
    return sorted(zip(scores, keys, strict=True), key=lambda pair: (-pair[0], pair[1]))


def _units(queries: Vectors) -> Doubles:
    exact = np.asarray(queries, dtype=np.float64)
    lengths = np.sqrt(np.sum(exact * exact, axis=1, keepdims=True))
    units: Doubles = exact / np.where(lengths == 0.0, 1.0, lengths)
    return units
