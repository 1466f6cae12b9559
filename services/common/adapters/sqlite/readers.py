"""Reads: each on its own connection and thread, each transaction one consistent view of the file."""

import queue
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from services.common.adapters.sqlite.connections import TrackedConnection, connect
from services.common.adapters.sqlite.failures import translated, unavailable
from services.common.settings.stores import StoreSettings

_T = TypeVar("_T")


class ReaderPool:
    """Connections that only read.

    Args:
        path: the database file, already at the present schema.
        settings: how many connections.
    """

    def __init__(self, path: Path, settings: StoreSettings) -> None:
        self._path = path
        self._settings = settings
        self._idle: queue.LifoQueue[TrackedConnection] = queue.LifoQueue()
        self._opened: list[TrackedConnection] = []
        self._closed = False
        self._threads = ThreadPoolExecutor(settings.reader_connections, thread_name_prefix=f"reader-{path.stem}")

    def submit(self, job: Callable[[sqlite3.Connection], _T]) -> Future[_T]:
        """Run ``job`` inside a read transaction on one of the pool's threads.

        Raises:
            UnavailableError: the store was closed.
        """
        if self._closed:
            raise unavailable(self._path, "the store was closed")
        return self._threads.submit(self._run, job)

    def close(self) -> None:
        """Wait for running reads and close every connection."""
        self._closed = True
        self._threads.shutdown()
        while self._opened:
            self._opened.pop().close()

    def _run(self, job: Callable[[sqlite3.Connection], _T]) -> _T:
        with translated(self._path), self._transaction() as connection:
            return job(connection)

    @contextmanager
    def _transaction(self) -> Iterator[TrackedConnection]:
        connection = self._take()
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.end_reads()  # first: what is still being read would survive the ROLLBACK
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._idle.put(connection)

    def _take(self) -> TrackedConnection:
        try:
            return self._idle.get_nowait()
        except queue.Empty:  # never more connections than threads
            connection = connect(self._path, self._settings, read_only=True)
            self._opened.append(connection)
            return connection
