"""``VectorEngine`` on Chroma: a server, or its persistent client in this process."""

import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import numpy as np

from services.common.adapters.vector_engines.failures import translated
from services.common.ports.facts import Vectors
from services.common.ports.vector_engine import Numbers, Proposals
from services.common.settings.vectors import VectorSettings

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

MODULE: Final = "chromadb"
DISTRIBUTION: Final = "chromadb"
_NAME: Final = "chroma"
_PAGE: Final = 10_000
_SEARCHED: Final = 256
"""Candidates that its graph keeps while it searches: the same as ours on Milvus."""


def open_engine(settings: VectorSettings, directory: Path, dimension: int) -> "ChromaEngine":  # noqa: ARG001 - of the port
    """Connect to the server of the settings, or open its files; arguments as the package's ``open_engine``."""
    import chromadb
    from chromadb.config import Settings

    quiet = Settings(anonymized_telemetry=False)
    with translated(_NAME, "be opened"):
        if not settings.url:
            return ChromaEngine(chromadb.PersistentClient(path=str(directory / "chroma"), settings=quiet))
        where = urlsplit(settings.url)
        secure = where.scheme == "https"
        key = settings.api_key.get_secret_value()
        headers = {"Authorization": f"Bearer {key}"} if key else None
        port = where.port or (443 if secure else 80)
        host = where.hostname or ""
        socket.create_connection((host, port), settings.timeout_s).close()
        client: Any = chromadb.HttpClient(host=host, port=port, ssl=secure, headers=headers, settings=quiet)
        return ChromaEngine(client, _bounded(client, settings.timeout_s))


class ChromaEngine:
    """A collection of Chroma for each of ours; ids are the numbers as text.

    Args:
        client: of the library.
        let_go: ends its connections; one in this process has none.
    """

    name: str = _NAME

    def __init__(self, client: "ClientAPI", let_go: Callable[[], None] = lambda: None) -> None:
        self._client = client
        self._let_go = let_go

    def add(self, collection: str, numbers: Numbers, vectors: Vectors) -> None:
        """Insert or replace."""
        with translated(_NAME, "add"):
            held = self._client.get_or_create_collection(
                collection,
                configuration={"hnsw": {"space": "cosine", "ef_search": _SEARCHED}},
                embedding_function=None,
            )
            most = self._client.get_max_batch_size()
            for start in range(0, len(numbers), most):
                ids = [str(number) for number in numbers[start : start + most].tolist()]
                held.upsert(ids=ids, embeddings=vectors[start : start + most])

    def remove(self, collection: str, numbers: Numbers) -> None:
        """Delete what is there."""
        with translated(_NAME, "remove"):
            held = self._known(collection)
            most = self._client.get_max_batch_size()
            for start in range(0, len(numbers) if held is not None else 0, most):
                assert held is not None
                held.delete(ids=[str(number) for number in numbers[start : start + most].tolist()])

    def nearest(self, collection: str, queries: Vectors, limit: int) -> Sequence[Proposals]:
        """Ask for all queries at once."""
        with translated(_NAME, "search"):
            held = self._known(collection)
            found: Any = None if held is None else held.query(
                query_embeddings=queries, n_results=max(1, min(limit, held.count())), include=["distances"]
            )  # fmt: skip
            if found is None:
                return [_proposals([], []) for _ in queries]
            return [_proposals(*row) for row in zip(found["ids"], found["distances"], strict=True)]

    def numbers(self, collection: str) -> Numbers:
        """Return all ids."""
        found: list[int] = []
        with translated(_NAME, "list"):
            held = self._known(collection)
            while held is not None:
                page = held.get(include=[], limit=_PAGE, offset=len(found))["ids"]
                found += [int(one) for one in page]
                if len(page) < _PAGE:
                    break
        return np.array(sorted(found), dtype=np.int64)

    def stored(self, collection: str, numbers: Numbers) -> tuple[Numbers, Vectors]:
        """Get the embeddings by id."""
        with translated(_NAME, "read"):
            held = self._known(collection)
            ids = [str(number) for number in numbers.tolist()]
            found: Any = held.get(ids=ids, include=["embeddings"]) if held is not None and ids else None
            if found is None or not found["ids"]:
                return np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.float32)
            known = np.array([int(one) for one in found["ids"]], dtype=np.int64)
            return known, np.asarray(found["embeddings"], dtype=np.float32)

    def count(self, collection: str) -> int:
        """Count them."""
        with translated(_NAME, "count"):
            held = self._known(collection)
            return 0 if held is None else held.count()

    def check(self) -> None:
        """Ask for a sign of life."""
        with translated(_NAME, "answer"):
            self._client.heartbeat()

    def close(self) -> None:
        """End connections; what is written is on disk, and the library shares its files by path."""
        with translated(_NAME, "be closed"):
            self._let_go()

    def _known(self, collection: str) -> "Collection | None":
        from chromadb.errors import NotFoundError

        try:
            return self._client.get_collection(collection, embedding_function=None)
        except NotFoundError:
            return None


def _bounded(client: Any, timeout_s: float) -> Callable[[], None]:
    """Let no request of a client wait longer; return what ends its connections. By itself it does neither."""
    sessions = [part._server._session for part in (client, client._admin_client)]  # noqa: SLF001
    for session in sessions:
        session.timeout = timeout_s

    def close() -> None:
        for session in sessions:
            session.close()

    return close


def _proposals(ids: Sequence[str], distances: Sequence[float]) -> Proposals:
    numbers = np.array([int(one) for one in ids], dtype=np.int64)
    return Proposals(numbers, 1 - np.array(distances, dtype=np.float32))
