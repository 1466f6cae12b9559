"""One Milvus behind its official client: requests with a deadline, repeated while Milvus is not ready, off the loop.

The client is used from threads: reading a large answer into Python objects takes longer than an event loop should
stand still. Milvus does not compare keys when it inserts, so that an insertion that is repeated leaves a row twice; it
is therefore made once. (Upserts may be repeated, but Milvus 2.3 puts them into wrong partitions where there is a
partition key.) Reads, upserts and deletions by key are repeated while Milvus says that it is not ready.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from typing import Any, Final, Self, TypeAlias, TypeVar

from pymilvus import MilvusClient

from services.common.adapters.milvus.failures import passes, translated
from services.common.errors import StartupError, UnavailableError
from services.common.settings.milvus import MilvusSettings

Row: TypeAlias = dict[str, Any]
_T = TypeVar("_T")
_LOG: Final = logging.getLogger(__name__)
_START_POLL_S: Final = 0.5
_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 1.0
_ATTEMPT_S: Final = 5.0
"""Longest that one attempt of ``open`` may take, so that a server that is just starting is asked again."""
MOST_ROWS: Final = 16_384
"""Most rows of one answer (Milvus's limit)."""
_KEYS_PER_DELETION: Final = 2_000
_BYTES_PER_WRITE: Final = 8 * 1024 * 1024


class Level(Enum):
    """What a read waits for."""

    STRONG = "Strong"
    """All that anybody wrote before."""
    SESSION = "Session"
    """All that this process wrote before."""
    BOUNDED = "Bounded"
    """All that was written more than some seconds before (``common.gracefulTime`` of Milvus: five)."""


class _Once(float):
    """A timeout that the client's own loop of attempts takes for passed, so that it makes one; this module repeats."""

    def __le__(self, _other: object) -> bool:
        return True


class MilvusDatabase:
    """The collections of one Milvus.

    Args:
        client: connected, or a test's own.
        settings: times, threads.
        lite: whether it is a milvus-lite.
    """

    def __init__(self, client: MilvusClient, settings: MilvusSettings, *, lite: bool = False) -> None:
        self._client = client
        self._settings = settings
        self._lite = lite
        self._threads = ThreadPoolExecutor(settings.connections, thread_name_prefix="milvus")

    @classmethod
    async def open(cls, settings: MilvusSettings) -> Self:
        """Wait until the server answers.

        Raises:
            UnavailableError: STORE_UNAVAILABLE: it did not answer in ``start_timeout_s``, or refuses the credential.
            StartupError: the file of root certificates cannot be read.
        """
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs expressions and hosts; we report failures
        options = await asyncio.to_thread(_options, settings)
        ends = time.monotonic() + settings.start_timeout_s
        while True:
            try:
                with translated():
                    client = await asyncio.to_thread(lambda: MilvusClient(settings.uri, **options))
                    version = await asyncio.to_thread(client.get_server_version)
            except UnavailableError as error:
                if error.retry_after_s != 1.0 or time.monotonic() + _START_POLL_S > ends:
                    raise
                _LOG.info("waiting for Milvus: %s", error.metadata["cause"])
                await asyncio.sleep(_START_POLL_S)
            else:
                return cls(client, settings, lite=version.startswith("milvus_lite"))

    async def call(
        self, request: Callable[[MilvusClient, float], _T], *, timeout_s: float = 0.0, repeat: bool = True
    ) -> _T:
        """Run a request in a thread.

        Args:
            request: gets the client and the seconds that are left.
            timeout_s: for all attempts together; 0 = ``timeout_s`` of the settings.
            repeat: whether it may be made again.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
            LimitExceededError: STORAGE_FULL.
        """
        ends = time.monotonic() + (timeout_s or self._settings.timeout_s)
        pause = _FIRST_PAUSE_S
        loop = asyncio.get_running_loop()
        with translated():
            while True:
                left = _Once(max(ends - time.monotonic(), 0.001))
                try:
                    async with asyncio.timeout(left):
                        return await loop.run_in_executor(self._threads, request, self._client, left)
                except Exception as error:
                    if not repeat or not passes(error) or time.monotonic() + pause >= ends:
                        raise
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    async def rows(
        self, collection: str, where: str, fields: Sequence[str], level: Level, limit: int = MOST_ROWS
    ) -> list[Row]:
        """Return up to ``limit`` (at most ``MOST_ROWS``) rows, the smallest keys first."""
        # A server takes the smallest keys of each segment; milvus-lite, which is always consistent, only when it is
        # asked in the name of an iterator.
        manner = {"iterator": "True"} if self._lite else {"consistency_level": level.value}

        def request(client: MilvusClient, timeout: float) -> list[Row]:
            found = client.query(
                collection,
                filter=where,
                output_fields=list(fields),
                limit=limit,
                timeout=timeout,
                **manner,
            )
            return [dict(row) for row in found]

        found = await self.call(request)
        return sorted(found, key=lambda row: str(row["key"])) if "key" in fields else found

    async def all_rows(
        self, collection: str, where: str, fields: Sequence[str], level: Level, step: int = MOST_ROWS
    ) -> list[Row]:
        """Return every row, ``step`` at a time; ``fields`` must hold ``key``."""
        found: list[Row] = []
        more = where
        while True:
            some = await self.rows(collection, more, fields, level, step)
            found += some
            if len(some) < step:
                return found
            more = f'{where} and key > "{some[-1]["key"]}"'

    async def count(self, collection: str, where: str, level: Level) -> int:
        """Return how many rows match."""

        def request(client: MilvusClient, timeout: float) -> int:
            found = client.query(
                collection, filter=where, output_fields=["count(*)"], consistency_level=level.value, timeout=timeout
            )
            return int(found[0]["count(*)"])

        return await self.call(request)

    async def search(self, collection: str, search: Mapping[str, Any], level: Level) -> list[list[Row]]:
        """Return for each vector the nearest rows' fields, best first; ``search`` holds the client's arguments."""

        def request(client: MilvusClient, timeout: float) -> list[list[Row]]:
            found = client.search(collection, consistency_level=level.value, timeout=timeout, **search)
            return [[dict(hit["entity"]) for hit in hits] for hits in found]

        return await self.call(request)

    async def insert(self, collection: str, rows: Sequence[Row]) -> None:
        """Write rows with keys that are not there, in pieces of bounded size; durable when it returns. Not one step."""
        for piece in _pieces(rows):

            def request(client: MilvusClient, timeout: float, piece: list[Row] = piece) -> None:
                client.insert(collection, piece, timeout=timeout)

            await self.call(request, repeat=False)

    async def upsert(self, collection: str, rows: Sequence[Row]) -> None:
        """Write rows of a collection without partition key, as ``insert``, in the place of those with their keys."""
        for piece in _pieces(rows):

            def request(client: MilvusClient, timeout: float, piece: list[Row] = piece) -> None:
                client.upsert(collection, piece, timeout=timeout)

            await self.call(request)

    async def delete(self, collection: str, keys: Sequence[str]) -> None:
        """Delete rows by key; keys that are not there are passed over. Not one step."""
        for start in range(0, len(keys), _KEYS_PER_DELETION):
            some = list(keys[start : start + _KEYS_PER_DELETION])

            def request(client: MilvusClient, timeout: float, some: list[str] = some) -> None:
                client.delete(collection, ids=some, timeout=timeout)

            await self.call(request)

    async def check(self) -> None:
        """Return when the server answers.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
        """
        await self.call(lambda client, timeout: client.list_collections(timeout=timeout))

    async def close(self) -> None:
        """Close the connection; idempotent."""
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._client.close)


def _options(settings: MilvusSettings) -> dict[str, Any]:
    options: dict[str, Any] = {
        "token": settings.token.get_secret_value(),
        "db_name": settings.database,
        "timeout": min(_ATTEMPT_S, settings.start_timeout_s),
        "dedicated": True,
    }
    if settings.uri.startswith("https://"):
        options["secure"] = True
    path = settings.tls_root_certificates
    if path is not None:
        try:
            path.read_bytes()
        except OSError as error:
            raise StartupError(
                f"GROUNDTRAIL_MILVUS__TLS_ROOT_CERTIFICATES: {path} cannot be read: {error.strerror}"
            ) from error
        options["server_pem_path"] = str(path)
    return options


def _pieces(rows: Sequence[Row]) -> list[list[Row]]:
    pieces: list[list[Row]] = [[]]
    size = 0
    for row in rows:
        weight = sum(_weight(value) for value in row.values())
        if pieces[-1] and size + weight > _BYTES_PER_WRITE:
            pieces.append([])
            size = 0
        pieces[-1].append(row)
        size += weight
    return [piece for piece in pieces if piece]


def _weight(value: object) -> int:
    """Return about how many bytes a value takes on the wire."""
    if isinstance(value, str):
        return 4 * len(value)
    if isinstance(value, list):
        return sum(_weight(one) for one in value)
    return getattr(value, "nbytes", 10)
