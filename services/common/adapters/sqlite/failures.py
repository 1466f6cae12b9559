"""Where SQLite's errors end: nothing above the adapters ever sees one.

SQLITE_FULL (the disk, or a page limit) becomes STORAGE_FULL. What another process, the disk or a damaged file causes
becomes STORE_UNAVAILABLE. Anything else is a mistake of ours and passes through unchanged, to be reported as INTERNAL.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from services.common.errors import CrpError, ErrorReason, LimitExceededError, UnavailableError

_RETRY_BUSY_S: Final = 1.0
_RETRY_BROKEN_S: Final = 30.0
_RETRY_FULL_S: Final = 60.0
_PRIMARY_CODE: Final = 0xFF
"""SQLite's extended codes keep the primary one in the lowest byte."""

_BUSY: Final = {
    sqlite3.SQLITE_BUSY: "another process is writing to it",
    sqlite3.SQLITE_LOCKED: "another connection holds a lock on it",
    sqlite3.SQLITE_PROTOCOL: "its locks are contended",
    sqlite3.SQLITE_INTERRUPT: "the operation was interrupted",
}
_BROKEN: Final = {
    sqlite3.SQLITE_IOERR: "the disk reported an error; look at the system log and at the file's permissions",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; stop the service and restore it from a backup",
    sqlite3.SQLITE_NOTADB: "the file is not a SQLite database; point GROUNDTRAIL_STORE__DATA_DIR elsewhere",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; check that its directory exists and is writable",
    sqlite3.SQLITE_READONLY: "the file is read-only; make it and its directory writable",
    sqlite3.SQLITE_PERM: "access was denied; make the file and its directory writable",
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
}


def storage_full(path: Path) -> LimitExceededError:
    """Build the error for a disk that has no room left."""
    return LimitExceededError(
        ErrorReason.STORAGE_FULL,
        f"no space is left for {path.name}; nothing of this write was kept. Free space or erase sources, then retry",
        retry_after_s=_RETRY_FULL_S,
        store=path.name,
    )


def unavailable(path: Path, why: str, retry_after_s: float = _RETRY_BROKEN_S) -> UnavailableError:
    """Build the error for a store that cannot serve now."""
    return UnavailableError(
        ErrorReason.STORE_UNAVAILABLE, f"{path.name}: {why}", retry_after_s=retry_after_s, store=path.name
    )


def translate(error: sqlite3.Error, path: Path) -> CrpError | sqlite3.Error:
    """Return what ``error`` means to a caller, or ``error`` itself when it is a mistake of ours."""
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
    if code == sqlite3.SQLITE_FULL:
        return storage_full(path)
    if code in _BUSY:
        return unavailable(path, _BUSY[code], _RETRY_BUSY_S)
    if code in _BROKEN:
        return unavailable(path, _BROKEN[code])
    return error


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translate the SQLite errors of a block."""
    try:
        yield
    except sqlite3.Error as error:
        meaning = translate(error, path)
        if meaning is error:
            raise
        raise meaning from error
