"""An approximate index over vectors, never changed after it is published (ADR 0031).

Vectors are held in half precision: the index only proposes candidates, whose scores are then computed from the exact
vectors in SQLite. ``SCORE_ERROR`` bounds what the lower precision can move a score by.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from usearch.index import Index

from services.common.ports.facts import Vectors
from services.common.settings.stores import StoreSettings

Numbers = NDArray[np.int64]

SCORE_ERROR: Final = 2e-3
"""Twice what rounding a unit vector to 11 significant bits can change its dot product with another by, and some."""
_BLOCK: Final = 512
"""Vectors added at a time: what a service that is stopping waits for."""


@dataclass(frozen=True, slots=True)
class Proposals:
    """Candidates of one query: fact numbers and their approximate scores."""

    numbers: Numbers
    scores: Vectors


class HnswIndex:
    """A graph over the vectors of some facts, by fact number.

    Args:
        index: the library's index; owned.
    """

    def __init__(self, index: Any) -> None:
        self._index = index

    def __len__(self) -> int:
        return len(self._index)

    @property
    def memory_bytes(self) -> int:
        """Memory that the index takes."""
        return int(self._index.memory_usage)

    @classmethod
    def empty(cls, dimension: int, settings: StoreSettings) -> Self:
        """Return an index without vectors."""
        return cls(
            Index(
                ndim=dimension,
                metric="ip",
                dtype="f16",
                connectivity=settings.hnsw_connectivity,
                expansion_add=settings.hnsw_ef_construction,
                expansion_search=settings.hnsw_ef_search,
            )
        )

    def extended(
        self, numbers: Numbers, vectors: Vectors, settings: StoreSettings, stopping: Callable[[], bool]
    ) -> Self | None:
        """Return a copy that also holds these vectors, or ``None`` when ``stopping``; the original stays as it is."""
        index = _tuned(self._index.copy(), settings)
        for start in range(0, len(numbers), _BLOCK):
            if stopping():
                return None
            part = slice(start, start + _BLOCK)
            index.add(numbers[part].astype(np.uint64), vectors[part], threads=settings.index_build_threads)
        return type(self)(index)

    def search(self, queries: Vectors, limit: int) -> list[Proposals]:
        """Return up to ``limit`` candidates per query."""
        matches = self._index.search(queries, limit, threads=1)
        counts = np.atleast_1d(getattr(matches, "counts", len(matches)))
        keys, distances = np.atleast_2d(matches.keys), np.atleast_2d(matches.distances)
        return [
            Proposals(keys[row, :count].astype(np.int64), (1.0 - distances[row, :count]).astype(np.float32))
            for row, count in enumerate(counts)
        ]

    def vectors(self, numbers: Numbers) -> Vectors:
        """Return the vectors of facts that are in the index, in half precision's accuracy."""
        return np.array(self._index.get(numbers.astype(np.uint64)), dtype=np.float32)

    def contains(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Say of each fact whether it is in the index."""
        held: NDArray[np.bool_] = np.atleast_1d(self._index.contains(numbers.astype(np.uint64)))
        return held

    def save(self, path: Path) -> None:
        """Write the index to a file."""
        self._index.save(path)

    @classmethod
    def load(cls, path: Path, dimension: int, settings: StoreSettings) -> Self | None:
        """Return the index of a file that ``save`` wrote; ``None`` when it does not fit these settings."""
        index = Index.restore(path)
        if index is None or index.ndim != dimension or index.connectivity != settings.hnsw_connectivity:
            return None
        return cls(_tuned(index, settings))


def _tuned(index: Any, settings: StoreSettings) -> Any:
    """The library does not carry these over into copies and files."""
    index.expansion_search = settings.hnsw_ef_search
    index.expansion_add = settings.hnsw_ef_construction
    return index
