"""One SQLite file behind an asynchronous face: writes through the group-commit thread, reads through the pool."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Final, Self, TypeVar

from services.common.adapters.sqlite.connections import Schema, prepare
from services.common.adapters.sqlite.failures import translated
from services.common.adapters.sqlite.readers import ReaderPool
from services.common.adapters.sqlite.writer import GroupCommitWriter, WriteTraits
from services.common.progress import writing
from services.common.settings.stores import StoreSettings

_T = TypeVar("_T")

PLAIN_WRITE: Final = WriteTraits()
"""A write that must be durable and only adds or changes."""


class Database:
    """A database file that this process has open; other processes may have it open too.

    Args:
        path: the file.
        settings: connections, durability, reserve.
        writer: owns the writing connection.
    """

    def __init__(self, path: Path, settings: StoreSettings, writer: GroupCommitWriter) -> None:
        self.path = path
        self._writer = writer
        self._readers = ReaderPool(path, settings)

    @classmethod
    async def open(cls, path: Path, schema: Schema, settings: StoreSettings) -> Self:
        """Create or migrate the file and open it.

        Raises:
            UnavailableError: STORE_UNAVAILABLE: the file cannot be opened, is damaged, or is of a later version.
            LimitExceededError: STORAGE_FULL.
        """
        return await asyncio.to_thread(cls._open, path, schema, settings)

    @classmethod
    def _open(cls, path: Path, schema: Schema, settings: StoreSettings) -> Self:
        with translated(path):
            return cls(path, settings, GroupCommitWriter(prepare(path, schema, settings), path, settings))

    async def write(self, job: Callable[[sqlite3.Connection], _T], traits: WriteTraits = PLAIN_WRITE) -> _T:
        """Run ``job`` in a transaction and return its result once that is durable; see ``GroupCommitWriter.submit``.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
            LimitExceededError: STORAGE_FULL.
        """
        with nullcontext() if traits.best_effort else writing():
            outcome: _T = await asyncio.wrap_future(self._writer.submit(job, traits))
        return outcome

    async def read(self, job: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run ``job`` on one consistent view of the file, off the event loop.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
        """
        return await asyncio.wrap_future(self._readers.submit(job))

    def write_now(self, job: Callable[[sqlite3.Connection], _T]) -> _T:
        """Write from a thread of one's own, that waits for it; errors as ``write``."""
        outcome: _T = self._writer.submit(job, PLAIN_WRITE).result()
        return outcome

    def read_now(self, job: Callable[[sqlite3.Connection], _T]) -> _T:
        """Read from a thread of one's own, that waits for it; never from inside another job. Errors as ``read``."""
        return self._readers.submit(job).result()

    async def check(self) -> None:
        """Return when the file can be read.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
        """
        await self.read(lambda connection: connection.execute("SELECT 1 FROM sqlite_schema").fetchone())

    async def close(self) -> None:
        """Finish what is queued and close every connection; idempotent."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._readers.close()
        self._writer.close()
