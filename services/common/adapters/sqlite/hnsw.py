"""An approximate index over vectors, never changed after it is published (ADR 0031).

Vectors are held in half precision: the index only proposes candidates, whose scores are then computed from the exact
vectors in SQLite. ``SCORE_ERROR`` bounds what the lower precision can move a score by.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers, Proposals
from services.common.settings.stores import StoreSettings

SCORE_ERROR: Final = 2e-3
"""Twice what rounding a unit vector to 11 significant bits can change its dot product with another by, and some."""
_BLOCK: Final = 512
"""Vectors added at a time: what a service that is stopping waits for."""


class HnswIndex:
    """A graph over the vectors of some facts.

    Args:
        graph: the library's index; owned. It knows a vector by its place.
        numbers: fact number at each place, ascending.
    """

    def __init__(self, graph: Any, numbers: Numbers) -> None:
        self._graph = graph
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def memory_bytes(self) -> int:
        """Memory that vectors, edges and numbers take."""
        edges = self._graph.hnsw.neighbors.size() * np.dtype(np.int32).itemsize
        return int(self._graph.storage.sa_code_size() * len(self) + edges + self._numbers.nbytes)

    @property
    def lost(self) -> bool:
        """Return False: it holds its vectors itself."""
        return False

    @classmethod
    def empty(cls, dimension: int, settings: StoreSettings) -> Self:
        """Return an index without vectors."""
        half: Any = _faiss().ScalarQuantizer.QT_fp16  # the library's stubs take it for an int
        graph = _faiss().IndexHNSWSQ(dimension, half, settings.hnsw_connectivity, _faiss().METRIC_INNER_PRODUCT)
        graph.train(np.zeros((1, dimension), dtype=np.float32))  # a formality: half precision has nothing to learn
        return cls(_tuned(graph, settings), np.empty(0, dtype=np.int64))

    def extended(
        self, numbers: Numbers, vectors: Vectors, settings: StoreSettings, stopping: Callable[[], bool]
    ) -> Self | None:
        """Return a copy that also holds these vectors, or ``None`` when ``stopping``; the original stays as it is.

        Args:
            numbers: fact numbers, ascending, all above those in the index.
            vectors: one row a fact.
            settings: threads.
            stopping: asked between blocks.
        """
        graph = _faiss().clone_index(self._graph)
        _faiss().omp_set_num_threads(settings.index_build_threads)  # of the calling thread
        for start in range(0, len(numbers), _BLOCK):
            if stopping():
                return None
            graph.add(vectors[start : start + _BLOCK])
        return type(self)(graph, np.concatenate([self._numbers, numbers]))

    def search(self, queries: Vectors, limit: int) -> list[Proposals]:
        """Return up to ``limit`` candidates per query."""
        _faiss().omp_set_num_threads(1)  # of the calling thread: searches run beside each other, not inside
        scores, places = self._graph.search(queries, min(limit, len(self)))
        return [
            Proposals(self._numbers[found[found >= 0]], row[found >= 0])
            for found, row in zip(places, scores, strict=True)
        ]

    def vectors(self, numbers: Numbers) -> Vectors:
        """Return the vectors of facts that are in the index, in half precision's accuracy."""
        vectors: Vectors = self._graph.reconstruct_batch(np.searchsorted(self._numbers, numbers))
        return vectors

    def leading(self, numbers: Numbers) -> Self | None:
        """Return the index itself when the first of these facts are exactly the ones in it, else ``None``."""
        return self if len(self) and np.array_equal(self._numbers, numbers[: len(self)]) else None

    def save(self, path: Path) -> None:
        """Write the index to a file."""
        with path.open("wb") as file:
            np.savez(file, graph=_faiss().serialize_index(self._graph), numbers=self._numbers)

    @classmethod
    def load(cls, path: Path, dimension: int, settings: StoreSettings) -> Self | None:
        """Return the index of a file that ``save`` wrote; ``None`` when it does not fit these settings."""
        with np.load(path, allow_pickle=False) as parts:
            graph: Any = _faiss().deserialize_index(parts["graph"])
            numbers = parts["numbers"]
        connectivity = graph.hnsw.nb_neighbors(1)
        if graph.d != dimension or connectivity != settings.hnsw_connectivity or graph.ntotal != len(numbers):
            return None
        return cls(_tuned(graph, settings), numbers)


def _tuned(graph: Any, settings: StoreSettings) -> Any:
    graph.hnsw.efSearch = settings.hnsw_ef_search
    graph.hnsw.efConstruction = settings.hnsw_ef_construction
    return graph


def _faiss() -> Any:
    """Return the library: 36 MB and a third of a second, for stores that have grown enough to be indexed."""
    import faiss

    return faiss
