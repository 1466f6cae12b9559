"""Opening connections and bringing a database file to the present schema.

Invariants: WAL, foreign keys on, ``secure_delete`` on (freed content is overwritten with zeros), manual transactions,
files that hold customers' documents are their owner's alone. A file of a later version than this code knows is refused,
never guessed at.
"""

import sqlite3
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from services.common.adapters.sqlite.failures import unavailable
from services.common.adapters.sqlite.private_files import DIRECTORY_MODE, keep_private, made_private
from services.common.settings.stores import StoreSettings

_CACHE_KIB: Final = 16 * 1024
_CHECKPOINT_PAGES: Final = 4_000
_MAX_TRACKED: Final = 256


@dataclass(frozen=True, slots=True)
class Schema:
    """What a database file must look like.

    Attributes:
        application_id: written into the file's header, so that one store's file is never taken for another's.
        migrations: statements per version; entry ``n`` takes a file from version ``n`` to ``n + 1``.
    """

    application_id: int
    migrations: tuple[tuple[str, ...], ...]


class TrackedConnection(sqlite3.Connection):
    """A connection that knows its open cursors, so that none outlives the transaction that it reads in.

    An unfinished SELECT survives ROLLBACK and keeps its picture of the file; a cursor that an exception's traceback
    still holds would show it to every later reader of the connection, until the collector happens to run.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cursors: list[weakref.ref[sqlite3.Cursor]] = []

    def cursor(self, *args: Any, **kwargs: Any) -> Any:
        """Return a cursor."""
        made = super().cursor(*args, **kwargs)
        self._track(made)
        return made

    def execute(self, statement: str, values: Any = (), /) -> sqlite3.Cursor:
        """Run a statement; sqlite3's own asks not for ``cursor``, and leaves none open where it fails."""
        made = super().execute(statement, values)
        if made.description is not None:  # whoever shows no rows reads nothing
            self._track(made)
        return made

    def end_reads(self) -> None:
        """Close the cursors that are still open, and with them what they read."""
        for found in self._cursors:
            cursor = found()
            if cursor is not None:
                cursor.close()
        self._cursors.clear()

    def _track(self, cursor: sqlite3.Cursor) -> None:
        if len(self._cursors) >= _MAX_TRACKED:  # of a long transaction most are gone
            self._cursors = [found for found in self._cursors if found() is not None]
        self._cursors.append(weakref.ref(cursor))


def connect(path: Path, settings: StoreSettings, *, read_only: bool = False) -> TrackedConnection:
    """Open a connection that any one thread at a time may use."""
    connection = sqlite3.connect(
        path,
        timeout=settings.busy_timeout_ms / 1000,
        isolation_level=None,
        check_same_thread=False,
        factory=TrackedConnection,
    )
    try:
        connection.execute(f"PRAGMA synchronous = {settings.synchronous}")
        connection.execute("PRAGMA fullfsync = ON")  # only macOS has it; elsewhere fsync is already whole
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        if read_only:
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(path: Path, schema: Schema, settings: StoreSettings) -> TrackedConnection:
    """Create or migrate the file and return the connection that writes to it."""
    path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    made_private(path)  # before anything is in it; SQLite gives the other two its mode
    keep_private(path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
    connection = connect(path, settings)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        _migrate(connection, path, schema)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
    connection.execute("BEGIN")  # one picture: another that opens the file may be migrating it just now
    try:
        version = _known_version(connection, path, schema)
    finally:
        connection.execute("ROLLBACK")
    if version == len(schema.migrations):
        return  # nothing to write: a full disk does not keep a store from being read
    connection.execute("BEGIN IMMEDIATE")  # several processes may open a new file at once: one of them migrates
    try:
        version = _known_version(connection, path, schema)
        for statements in schema.migrations[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {schema.application_id}")
        connection.execute(f"PRAGMA user_version = {len(schema.migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _known_version(connection: sqlite3.Connection, path: Path, schema: Schema) -> int:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if tables and application_id != schema.application_id:
        raise unavailable(path, "the file belongs to something else; point GROUNDTRAIL_STORE__DATA_DIR elsewhere")
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    known = len(schema.migrations)
    if version > known:
        raise unavailable(
            path, f"the file has schema version {version}, this program knows {known}; upgrade the program"
        )
    return version
