"""A served dag service over a SQLite file, and the file as somebody with write access and without a key has it."""

import contextlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from services.common.adapters.sqlite import SqliteSessionStore
from tests.contract.adapters import PLAIN
from tests.fakes.sealed_world import SealedWorld

TENANT = "tenant-a"


@dataclass
class RawSessions:
    """The file."""

    folder: Path

    @property
    def path(self):
        return self.folder / "sessions.db"

    @contextlib.asynccontextmanager
    async def serving(self):
        """Serve from the file as a process that starts and ends does."""
        store = await SqliteSessionStore.open(self.path, PLAIN)
        try:
            async with SealedWorld(store=store).serving() as client:
                yield client
        finally:
            await store.close()

    def run(self, statement, *values):
        """Change the file behind the server's back and return how many rows were changed."""
        with contextlib.closing(sqlite3.connect(self.path)) as connection, connection:
            return connection.execute(statement, values).rowcount

    def rows(self, statement, *values):
        with contextlib.closing(sqlite3.connect(self.path)) as connection:
            return connection.execute(statement, values).fetchall()

    def copy_of(self, session_id, tables=("sessions", "windows", "edges", "events", "reports")):
        """Return the session's rows of each table."""
        own = "tenant_id = ? AND session_id = ?"
        return {table: self.rows(f"SELECT * FROM {table} WHERE {own}", TENANT, session_id) for table in tables}

    def put_back(self, session_id, copied):
        """Put a session's rows of an earlier time in the place of those that are there."""
        with contextlib.closing(sqlite3.connect(self.path)) as connection, connection:
            for table, rows in copied.items():
                connection.execute(f"DELETE FROM {table} WHERE tenant_id = ? AND session_id = ?", (TENANT, session_id))
                for row in rows:
                    marks = ", ".join("?" * len(row))
                    connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
