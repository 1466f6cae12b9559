"""The one thread that writes to a database file, and the commits that concurrent writes share (ADR 0030).

While a commit waits for the disk, further writes queue up; the next commit takes them all. Each write runs under its
own savepoint, so that one that fails takes nothing of its neighbours with it. A write is acknowledged after the commit.
"""

import contextlib
import queue
import shutil
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from services.common.adapters.sqlite.connections import TrackedConnection
from services.common.adapters.sqlite.failures import storage_full, translate, unavailable
from services.common.settings.stores import StoreSettings

Job = Callable[[sqlite3.Connection], Any]

_SCRUB_RETRY_S: Final = 0.5
_SCRUB_BUSY_MS: Final = 50


@dataclass(frozen=True, slots=True)
class WriteTraits:
    """What a write is like.

    Attributes:
        best_effort: may be lost with the power; never makes a commit wait for the disk on its own account.
        reclaims: removes content, so it may use the disk reserve.
        scrubs: destroys content: the log is emptied afterwards, so that no earlier page image is left in it.
    """

    best_effort: bool = False
    reclaims: bool = False
    scrubs: bool = False


@dataclass(slots=True)
class _Write:
    job: Job
    traits: WriteTraits
    future: Future[Any] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class _Failure:
    error: Exception


class GroupCommitWriter:
    """Runs writes in commit groups on its own thread.

    Args:
        connection: the only connection of this process that writes to the file; closed with the writer.
        path: the database file.
        settings: synchronous mode, group size, disk reserve.
    """

    def __init__(self, connection: TrackedConnection, path: Path, settings: StoreSettings) -> None:
        self._connection = connection
        self._path = path
        self._settings = settings
        self._synchronous: str = settings.synchronous
        self._queue: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._scrub_due = False
        self._thread = threading.Thread(target=self._run, name=f"writer-{path.stem}", daemon=True)
        self._thread.start()

    def submit(self, job: Job, traits: WriteTraits) -> Future[Any]:
        """Queue a write; the future is done when it is committed or has failed.

        Args:
            job: does the write on the connection it is given. It may be run twice (the second time alone, when the
                group's commit failed), so it must decide by what it reads, and keep nothing of an earlier run.
            traits: what the write is like.

        Raises:
            UnavailableError: the store was closed.
        """
        write = _Write(job, traits)
        with self._lock:
            if self._closed:
                raise unavailable(self._path, "the store was closed")
            self._queue.put(write)
        return write.future

    def close(self) -> None:
        """Finish what is queued, then close the connection."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def free_bytes(self) -> int:
        """Return the space left on the file's disk."""
        return shutil.disk_usage(self._path.parent).free

    def _run(self) -> None:
        open_ = True
        while open_:
            writes, open_ = self._next_group()
            self._commit([write for write in writes if write.future.set_running_or_notify_cancel()])
            if self._scrub_due:
                self._scrub()
        with contextlib.suppress(sqlite3.Error):  # statistics for the planner; the next close makes them otherwise
            self._connection.execute("PRAGMA analysis_limit = 400")
            self._connection.execute("PRAGMA optimize")
        self._connection.close()

    def _next_group(self) -> tuple[list[_Write], bool]:
        try:
            following = self._queue.get(timeout=_SCRUB_RETRY_S if self._scrub_due else None)
        except queue.Empty:
            return [], True
        group: list[_Write] = []
        while following is not None:
            group.append(following)
            if len(group) == self._settings.group_commit_max or self._queue.empty():
                return group, True
            following = self._queue.get()
        return group, False

    def _commit(self, writes: Sequence[_Write]) -> None:
        try:
            admitted = self._with_room(writes)
            if not admitted:
                return
            self._begin(admitted)
        except (sqlite3.Error, OSError) as error:  # nobody could have written: no use in trying one by one
            self._fail([write for write in writes if not write.future.done()], error)
            return
        try:
            outcomes = self._run_group(admitted)
        except Exception as error:  # noqa: BLE001 - the thread must outlive whatever a write does
            if len(admitted) == 1:
                self._fail(admitted, error)
            else:
                for write in admitted:  # whoever broke the group's commit fails alone
                    self._commit([write])
            return
        if any(write.traits.scrubs for write in admitted):
            self._scrub()
        for write, outcome in zip(admitted, outcomes, strict=True):
            if isinstance(outcome, _Failure):
                self._fail([write], outcome.error)
            else:
                write.future.set_result(outcome)

    def _fail(self, writes: Sequence[_Write], error: Exception) -> None:
        meaning: Exception = error
        if isinstance(error, sqlite3.Error):
            meaning = translate(error, self._path)
        elif isinstance(error, OSError):
            meaning = unavailable(self._path, f"its disk cannot be reached ({error.strerror})")
        for write in writes:
            write.future.set_exception(meaning)

    def _with_room(self, writes: Sequence[_Write]) -> list[_Write]:
        reserve = self._settings.disk_reserve_bytes
        if not writes or not reserve or self.free_bytes() >= reserve:
            return list(writes)
        for write in writes:
            if not write.traits.reclaims:
                write.future.set_exception(storage_full(self._path))
        return [write for write in writes if write.traits.reclaims]

    def _begin(self, writes: Sequence[_Write]) -> None:
        lazy = all(write.traits.best_effort for write in writes)
        wanted = "NORMAL" if lazy else self._settings.synchronous
        if wanted != self._synchronous:
            self._connection.execute(f"PRAGMA synchronous = {wanted}")
            self._synchronous = wanted
        self._connection.execute("BEGIN IMMEDIATE")

    def _run_group(self, writes: Sequence[_Write]) -> list[Any]:
        try:
            outcomes = [self._run_one(write) for write in writes]
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        return outcomes

    def _run_one(self, write: _Write) -> Any:
        self._connection.execute("SAVEPOINT one_write")
        try:
            outcome = self._whole(write.job)
        except Exception as error:
            if not self._connection.in_transaction:
                raise  # SQLite gave up the whole group, as it may when the disk is full
            self._connection.execute("ROLLBACK TO one_write")
            outcome = _Failure(error)
        self._connection.execute("RELEASE one_write")
        return outcome

    def _whole(self, job: Job) -> Any:
        try:
            return job(self._connection)
        finally:
            self._connection.end_reads()

    def _scrub(self) -> None:
        """Empty the write-ahead log; a reader that still needs it puts this off, and it is tried again."""
        try:
            self._connection.execute(f"PRAGMA busy_timeout = {_SCRUB_BUSY_MS}")
            busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._scrub_due = bool(busy)
            self._connection.execute(f"PRAGMA busy_timeout = {self._settings.busy_timeout_ms}")
        except sqlite3.Error:
            self._scrub_due = True
