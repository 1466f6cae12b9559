"""``VectorEngine`` on an index of Pinecone: a namespace for each collection.

Its reads are eventually consistent: ``add`` returns when a search has caught up with what it wrote, told by the log
positions of the answers, or where there are none by the vector that was written last.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from services.common.adapters.vector_engines.failures import translated
from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers, Proposals, VectorEngineError
from services.common.settings.vectors import VectorSettings

if TYPE_CHECKING:
    from pinecone import Index

MODULE: Final = "pinecone"
DISTRIBUTION: Final = "pinecone"
_NAME: Final = "pinecone"
_WRITTEN: Final = 100
_REMOVED: Final = 1_000
_FETCHED: Final = 100
_MOST: Final = 10_000
"""Most vectors of one upsert, ids of one deletion and of one fetch, and hits of one query."""
_ITSELF: Final = 1 - 1e-3
"""Least score of a vector with itself; a former one under the same number has less."""
_ATTEMPTS: Final = 4
"""What its client makes of a request to an index, a second or two apart; they share the time."""
_LOOK_EVERY_S: Final = 0.2
_CAUGHT_UP_S: Final = 60.0


def open_engine(settings: VectorSettings, directory: Path, dimension: int) -> "PineconeEngine":  # noqa: ARG001 - of the port
    """Connect to the index whose host the settings give; arguments as the package's ``open_engine``."""
    from pinecone import Pinecone

    if not settings.url:
        raise VectorEngineError("GROUNDTRAIL_VECTORS__URL must be the host of an index; there is no local mode")
    with translated(_NAME, "be opened"):
        key = settings.api_key.get_secret_value() or "-"
        client = Pinecone(api_key=key, timeout=settings.timeout_s / _ATTEMPTS)
        return PineconeEngine(client.index(host=settings.url), dimension)


class PineconeEngine:
    """Namespaces of one index; ids are the numbers as text.

    Args:
        index: of the library; owned.
        dimension: length of every vector, and of the index.
    """

    name: str = _NAME

    def __init__(self, index: "Index | Any", dimension: int) -> None:
        self._index = index
        self._dimension = dimension

    def add(self, collection: str, numbers: Numbers, vectors: Vectors) -> None:
        """Insert or replace, and wait until a search has caught up."""
        with translated(_NAME, "add"):
            pairs = [(str(n), v) for n, v in zip(numbers.tolist(), vectors.tolist(), strict=True)]
            committed = None
            for start in range(0, len(pairs), _WRITTEN):
                written = self._index.upsert(vectors=pairs[start : start + _WRITTEN], namespace=collection)
                committed = _position(written, "lsn_committed") or committed
            if pairs:
                self._catch_up(collection, pairs[-1], committed)

    def remove(self, collection: str, numbers: Numbers) -> None:
        """Delete by id; a namespace that is not there has nothing to delete."""
        from pinecone.errors import NotFoundError

        with translated(_NAME, "remove"):
            ids = [str(number) for number in numbers.tolist()]
            try:
                for start in range(0, len(ids), _REMOVED):
                    self._index.delete(ids=ids[start : start + _REMOVED], namespace=collection)
            except NotFoundError:
                return

    def nearest(self, collection: str, queries: Vectors, limit: int) -> Sequence[Proposals]:
        """Ask for one query after the other: the service takes one at a time."""
        with translated(_NAME, "search"):
            found = [self._asked(collection, query, limit) for query in queries.tolist()]
            return [_proposals(answer.matches) for answer in found]

    def numbers(self, collection: str) -> Numbers:
        """Return the ids of a namespace, page by page."""
        with translated(_NAME, "list"):
            found = [int(str(vector.id)) for page in self._index.list(namespace=collection) for vector in page.vectors]
        return np.array(sorted(found), dtype=np.int64)

    def stored(self, collection: str, numbers: Numbers) -> tuple[Numbers, Vectors]:
        """Fetch by id, as many at a time as an address bears."""
        ids = [str(number) for number in numbers.tolist()]
        found: dict[str, Sequence[float]] = {}
        with translated(_NAME, "read"):
            for start in range(0, len(ids), _FETCHED):
                answer = self._index.fetch(ids=ids[start : start + _FETCHED], namespace=collection)
                found.update({str(key): one.values for key, one in answer.vectors.items()})
        known = np.array([int(key) for key in found], dtype=np.int64)
        return known, np.array(list(found.values()), dtype=np.float32).reshape(-1, self._dimension)

    def count(self, collection: str) -> int:
        """Return what the index tells of the namespace."""
        with translated(_NAME, "count"):
            told = self._index.describe_index_stats().namespaces.get(collection)
            return 0 if told is None else int(told.vector_count)

    def check(self) -> None:
        """Ask for the index's figures, and whether its vectors are as long as ours."""
        with translated(_NAME, "answer"):
            dimension = self._index.describe_index_stats().dimension
            if dimension not in {None, self._dimension}:
                raise VectorEngineError(f"the index has {dimension} dimensions, the embedding model {self._dimension}")

    def close(self) -> None:
        """Close the connections."""
        with translated(_NAME, "be closed"):
            self._index.close()

    def _asked(self, collection: str, query: Sequence[float], limit: int) -> Any:
        return self._index.query(vector=query, top_k=min(limit, _MOST), namespace=collection)

    def _catch_up(self, collection: str, last: tuple[str, Sequence[float]], committed: int | None) -> None:
        deadline = time.monotonic() + _CAUGHT_UP_S
        while True:
            answer = self._asked(collection, last[1], 1 if committed is not None else _WRITTEN)
            reconciled = _position(answer, "lsn_reconciled")
            if committed is not None and reconciled is not None:
                seen = reconciled >= committed
            else:
                seen = any(match.id == last[0] and match.score >= _ITSELF for match in answer.matches)
            if seen:
                return
            if time.monotonic() > deadline:
                raise VectorEngineError(f"{_NAME} did not show what it took within {_CAUGHT_UP_S:.0f} s")
            time.sleep(_LOOK_EVERY_S)  # of the thread that builds


def _position(answer: Any, name: str) -> int | None:
    told = getattr(answer, "response_info", None)
    return None if told is None else getattr(told, name, None)


def _proposals(matches: Sequence[Any]) -> Proposals:
    numbers = np.array([int(match.id) for match in matches], dtype=np.int64)
    return Proposals(numbers, np.array([match.score for match in matches], dtype=np.float32))
