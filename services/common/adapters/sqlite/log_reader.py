"""The transparency logs of a sessions.db that is looked at from outside: read only, one picture, none is migrated."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from services.common.adapters.sqlite import log_rows
from services.common.adapters.sqlite.key_checks import kept_key_checks
from services.common.adapters.sqlite.looking import looking_uri
from services.common.ports.transparency_log import LogRow, LogState

_WAIT_S: Final = 2.0


class LogReader:
    """What is stored of the logs, by tenant."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def key_checks(self) -> dict[int, bytes]:
        """Return what tells the master keys from all others; nothing in a file of before it was kept."""
        try:
            return kept_key_checks(self._connection)
        except sqlite3.OperationalError:
            return {}

    def tenants(self) -> list[str]:
        """Return every tenant that has a log, or what is left of one."""
        return log_rows.logged_tenants(self._connection)

    def state(self, tenant_id: str) -> LogState:
        """Return size, peaks and kept head.

        Raises:
            LogInconsistentError: LOG_INCONSISTENT: one of them is of another type.
        """
        return log_rows.log_state(self._connection, tenant_id)

    def page(self, tenant_id: str, after: int, limit: int) -> list[LogRow]:
        """Return leaves as they are stored, by index."""
        return log_rows.page_log(self._connection, tenant_id, after, limit)


@contextmanager
def reading_logs(path: Path) -> Iterator[LogReader]:
    """Open the file for reading; whatever is written meanwhile is not seen.

    Raises:
        sqlite3.Error: the file cannot be read, or is of a version before the kept heads.
    """
    with closing(sqlite3.connect(looking_uri(path), uri=True, timeout=_WAIT_S)) as connection:
        connection.isolation_level = None
        connection.execute("BEGIN")
        yield LogReader(connection)
