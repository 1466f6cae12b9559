"""``VectorEngine`` on Qdrant: a server, or its local mode in this process.

The local mode bears one call at a time: its collections and their file know no threads.
"""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from services.common.adapters.vector_engines.failures import translated
from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers, Proposals
from services.common.settings.vectors import VectorSettings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

MODULE: Final = "qdrant_client"
DISTRIBUTION: Final = "qdrant-client"
_NAME: Final = "qdrant"
_PAGE: Final = 10_000


def open_engine(settings: VectorSettings, directory: Path, dimension: int) -> "QdrantEngine":
    """Connect to the server of the settings, or open the local mode; arguments as the package's ``open_engine``."""
    from qdrant_client import QdrantClient

    with translated(_NAME, "be opened"):
        if not settings.url:
            return QdrantEngine(QdrantClient(path=str(directory / "qdrant")), dimension, threading.Lock())
        key = settings.api_key.get_secret_value() or None
        timeout_s = max(1, round(settings.timeout_s))
        client = QdrantClient(url=settings.url, api_key=key, timeout=timeout_s, check_compatibility=False)
        return QdrantEngine(client, dimension)


class QdrantEngine:
    """A collection of Qdrant for each of ours.

    Args:
        client: owned.
        dimension: length of every vector.
        alone: held during every call; ``None`` = calls may run beside each other.
    """

    name: str = _NAME

    def __init__(
        self, client: "QdrantClient", dimension: int, alone: AbstractContextManager[object] | None = None
    ) -> None:
        from qdrant_client import models

        self._client = client
        self._models = models
        self._dimension = dimension
        self._alone = alone or nullcontext()

    def add(self, collection: str, numbers: Numbers, vectors: Vectors) -> None:
        """Insert or replace, and wait until searches see it."""
        if not len(numbers):
            return
        with translated(_NAME, "add"), self._alone:
            if not self._client.collection_exists(collection):
                shape = self._models.VectorParams(size=self._dimension, distance=self._models.Distance.COSINE)
                self._client.create_collection(collection, vectors_config=shape)
            points = self._models.Batch(ids=numbers.tolist(), vectors=vectors.tolist())
            self._client.upsert(collection, points=points, wait=True)

    def remove(self, collection: str, numbers: Numbers) -> None:
        """Delete points."""
        with translated(_NAME, "remove"), self._alone:
            if len(numbers) and self._client.collection_exists(collection):
                chosen = self._models.PointIdsList(points=numbers.tolist())
                self._client.delete(collection, points_selector=chosen, wait=True)

    def nearest(self, collection: str, queries: Vectors, limit: int) -> Sequence[Proposals]:
        """Ask for all queries at once."""
        with translated(_NAME, "search"), self._alone:
            if not self._client.collection_exists(collection):
                return [_proposals([], []) for _ in queries]
            asked = [self._models.QueryRequest(query=query.tolist(), limit=limit) for query in queries]
            answers = self._client.query_batch_points(collection, requests=asked)
            return [_proposals([p.id for p in one.points], [p.score for p in one.points]) for one in answers]

    def numbers(self, collection: str) -> Numbers:
        """Return the ids of all points."""
        found: list[int] = []
        with translated(_NAME, "list"), self._alone:
            if not self._client.collection_exists(collection):
                return np.array(found, dtype=np.int64)
            after, more = None, True
            while more:
                points, after = self._client.scroll(
                    collection, limit=_PAGE, offset=after, with_payload=False, with_vectors=False
                )
                found += [int(point.id) for point in points]
                more = after is not None
        return np.array(sorted(found), dtype=np.int64)

    def stored(self, collection: str, numbers: Numbers) -> tuple[Numbers, Vectors]:
        """Retrieve points; they are kept at unit length."""
        with translated(_NAME, "read"), self._alone:
            if not len(numbers) or not self._client.collection_exists(collection):
                return np.empty(0, dtype=np.int64), np.empty((0, self._dimension), dtype=np.float32)
            points = self._client.retrieve(collection, numbers.tolist(), with_payload=False, with_vectors=True)
            known = np.array([point.id for point in points], dtype=np.int64)
            return known, np.array([point.vector for point in points], dtype=np.float32).reshape(-1, self._dimension)

    def count(self, collection: str) -> int:
        """Count the points."""
        with translated(_NAME, "count"), self._alone:
            known = self._client.collection_exists(collection)
            return int(self._client.count(collection, exact=True).count) if known else 0

    def check(self) -> None:
        """Ask for the names of the collections."""
        with translated(_NAME, "answer"), self._alone:
            self._client.get_collections()

    def close(self) -> None:
        """Close the client."""
        with translated(_NAME, "be closed"), self._alone:
            self._client.close()


def _proposals(numbers: Sequence[object], scores: Sequence[float]) -> Proposals:
    return Proposals(np.array(numbers, dtype=np.int64), np.array(scores, dtype=np.float32))
