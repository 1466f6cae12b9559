"""``SessionStore`` on SQLite: each step of a session is one transaction behind a version guard (ADR 0030)."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

from services.common.adapters.sqlite import log_rows
from services.common.adapters.sqlite.database import PLAIN_WRITE, Database
from services.common.adapters.sqlite.event_feed import SqliteEventFeed
from services.common.adapters.sqlite.receipts import get_receipt, put_receipt
from services.common.adapters.sqlite.session_lists import SqliteSessionLists
from services.common.adapters.sqlite.session_rows import (
    EDGE_COLUMNS,
    EVENT_COLUMNS,
    REPORT_COLUMNS,
    SESSION_COLUMNS,
    SESSIONS_SCHEMA,
    WINDOW_COLUMNS,
    edge_of,
    edge_values,
    event_of,
    event_values,
    report_of,
    report_values,
    session_of,
    session_values,
    window_of,
    window_values,
)
from services.common.adapters.sqlite.values import marks
from services.common.adapters.sqlite.writer import WriteTraits
from services.common.errors import ConflictError, ErrorReason
from services.common.merkle import Place
from services.common.ports.receipts import Receipt
from services.common.ports.sessions import (
    AuditEventRecord,
    LeafKind,
    LogLeaf,
    ReportRecord,
    SessionChange,
    SessionSnapshot,
    WindowRecord,
)
from services.common.settings.stores import StoreSettings


def _insert(table: str, columns: str) -> str:
    return f"INSERT INTO {table} ({columns}) VALUES ({marks(columns.split(','))})"  # noqa: S608


_PUT_SESSION: Final = (
    f"{_insert('sessions', SESSION_COLUMNS)} ON CONFLICT (tenant_id, session_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in SESSION_COLUMNS.split(", ")[2:])
)
_ADD_WINDOW: Final = _insert("windows", f"tenant_id, {WINDOW_COLUMNS}")
_ADD_EDGE: Final = _insert("edges", f"tenant_id, {EDGE_COLUMNS}")
_ADD_REPORT: Final = _insert("reports", f"tenant_id, {REPORT_COLUMNS}")
_ADD_EVENT: Final = _insert("events", f"tenant_id, {EVENT_COLUMNS}")
_OF_SESSION: Final = "WHERE tenant_id = ? AND session_id = ?"
_DROP_WINDOW: Final = f"DELETE FROM windows {_OF_SESSION} AND window_id = ?"  # noqa: S608
_DROP_EDGE: Final = f"DELETE FROM edges {_OF_SESSION} AND target_id = ? AND source_id = ?"  # noqa: S608
_DROP_REPORT: Final = f"DELETE FROM reports {_OF_SESSION} AND report_id = ?"  # noqa: S608
_DROP_EVENT: Final = f"DELETE FROM events {_OF_SESSION} AND sequence = ?"  # noqa: S608
_DROP_RECEIPTS: Final = f"DELETE FROM receipts {_OF_SESSION}"  # noqa: S608
_DROP_RECORDS: Final = tuple(
    f"DELETE FROM {table} {_OF_SESSION}"  # noqa: S608
    for table in ("windows", "edges", "reports", "events")
)
_ERASURE: Final = WriteTraits(reclaims=True, scrubs=True)


class SqliteSessionStore(SqliteSessionLists):
    """Sessions of all tenants in one file.

    Args:
        database: the open file.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def open(cls, path: Path, settings: StoreSettings) -> Self:
        """Open or create the file.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
            LimitExceededError: STORAGE_FULL.
        """
        return cls(await Database.open(path, SESSIONS_SCHEMA, settings))

    async def write(self, change: SessionChange) -> None:
        """Apply the change if nobody came first; all or nothing.

        Raises:
            ConflictError: COMMIT_RACE.
            ValueError: the change holds records of another session or tenant.
        """
        _check_whole(change)

        def job(connection: sqlite3.Connection) -> None:
            try:
                _apply(connection, change)
            except sqlite3.IntegrityError as error:
                raise _race("an id, a place in the chain or the log, or the root is taken") from error

        erases = change.tombstone or bool(change.erased_events)
        await self._database.write(job, _ERASURE if erases else PLAIN_WRITE)

    async def snapshot(self, tenant_id: str, session_id: str) -> SessionSnapshot | None:
        """Return a consistent view."""
        return await self._database.read(lambda connection: _snapshot(connection, tenant_id, session_id))

    async def find_continuation(self, tenant_id: str, continuation_id: str) -> WindowRecord | None:
        """Return the window that issued the continuation id."""
        condition = "WHERE tenant_id = ? AND continuation_id = ? AND continuation_id <> ''"
        rows = await self._select("windows", WINDOW_COLUMNS, condition, tenant_id, continuation_id)
        return window_of(rows[0]) if rows else None

    async def page_events(
        self, tenant_id: str, session_id: str, *, after_sequence: int, limit: int
    ) -> list[AuditEventRecord]:
        """Return the next events of the session."""
        condition = "WHERE tenant_id = ? AND session_id = ? AND sequence > ? ORDER BY sequence LIMIT ?"
        rows = await self._select("events", EVENT_COLUMNS, condition, tenant_id, session_id, after_sequence, limit)
        return [event_of(row) for row in rows]

    async def get_report(self, tenant_id: str, report_id: str) -> ReportRecord | None:
        """Return a report or ``None``."""
        condition = "WHERE tenant_id = ? AND report_id = ?"
        rows = await self._select("reports", REPORT_COLUMNS, condition, tenant_id, report_id)
        return report_of(rows[0]) if rows else None

    async def page_reports(self, tenant_id: str, session_id: str, *, after: str, limit: int) -> list[ReportRecord]:
        """Return the next reports by id."""
        of_session, values = (" AND session_id = ?", (session_id,)) if session_id else ("", ())
        condition = f"WHERE tenant_id = ? AND report_id > ?{of_session} ORDER BY report_id LIMIT ?"
        rows = await self._select("reports", REPORT_COLUMNS, condition, tenant_id, after, *values, limit)
        return [report_of(row) for row in rows]

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return a remembered answer."""
        return await self._database.read(lambda c: get_receipt(c, tenant_id, rpc, request_id))

    async def tree_size(self, tenant_id: str) -> int:
        """Return the number of leaves."""
        return await self._database.read(lambda c: log_rows.tree_size(c, tenant_id))

    async def tree_hashes(self, tenant_id: str, places: Sequence[Place]) -> list[bytes]:
        """Return the hashes of full subtrees."""
        return await self._database.read(lambda c: log_rows.tree_hashes(c, tenant_id, places))

    async def find_leaves(
        self, tenant_id: str, session_id: str, records: Sequence[tuple[LeafKind, str]]
    ) -> list[LogLeaf | None]:
        """Return the leaves of records."""
        return await self._database.read(lambda c: log_rows.find_leaves(c, tenant_id, session_id, records))

    async def session_leaves(self, tenant_id: str, session_id: str) -> list[LogLeaf]:
        """Return the session's leaves."""
        return await self._database.read(lambda c: log_rows.session_leaves(c, tenant_id, session_id))

    def event_feed(self) -> SqliteEventFeed:
        """Return the feed of the events in this store; it ends when the store is closed."""
        return SqliteEventFeed(self._database)

    async def check(self) -> None:
        """Return when the file can be read."""
        await self._database.check()

    async def close(self) -> None:
        """Close the file; idempotent."""
        await self._database.close()

    async def _select(self, table: str, columns: str, condition: str, *values: Any) -> list[Sequence[Any]]:
        statement = f"SELECT {columns} FROM {table} {condition}"  # noqa: S608
        return await self._database.read(lambda connection: connection.execute(statement, values).fetchall())


def _apply(connection: sqlite3.Connection, change: SessionChange) -> None:
    session = change.session
    key = (session.tenant_id, session.session_id)
    row = connection.execute("SELECT version FROM sessions WHERE tenant_id = ? AND session_id = ?", key).fetchone()
    if session.version != (row[0] if row else 0) + 1:
        raise _race("the session's version moved on")
    if change.erased_events or change.tombstone:
        connection.execute(_DROP_RECEIPTS, key)
    put_receipt(connection, change.receipt, session.session_id)
    connection.execute(_PUT_SESSION, session_values(session))
    last = _last_event(connection, *key)
    expected = last.sequence + 1 if last else 0
    if [event.sequence for event in change.events] != list(range(expected, expected + len(change.events))):
        raise _race("the audit events do not continue the stored chain")
    if change.erased_events and [event.sequence for event in change.erased_events] != list(range(expected)):
        raise _race("the erased events are not those that are stored")
    for statement in _DROP_RECORDS if change.tombstone else ():
        connection.execute(statement, key)
    _put_parts(connection, change)
    connection.executemany(_DROP_EVENT, ((*key, event.sequence) for event in change.erased_events))
    events = ((session.tenant_id, *event_values(event)) for event in (*change.erased_events, *change.events))
    connection.executemany(_ADD_EVENT, events)
    log_rows.append_leaves(connection, session.tenant_id, change.leaves)


def _put_parts(connection: sqlite3.Connection, change: SessionChange) -> None:
    """Put windows, edges and reports in the place of their former selves.

    All of those leave before the first new one comes, so that the constraints judge the state after the change and not
    some state on the way. A row of another session is never removed, and stands in the way.
    """
    tenant_id, session_id = change.session.tenant_id, change.session.session_id
    windows = {(window.window_id,): window_values(window) for window in change.windows}
    edges = {(edge.target_id, edge.source_id): edge_values(edge) for edge in change.edges}
    reports = {(report.report_id,): report_values(report) for report in change.reports}
    parts = ((_DROP_WINDOW, _ADD_WINDOW, windows), (_DROP_EDGE, _ADD_EDGE, edges), (_DROP_REPORT, _ADD_REPORT, reports))
    for drop, add, rows in parts:
        connection.executemany(drop, ((tenant_id, session_id, *key) for key in rows))
        connection.executemany(add, ((tenant_id, *values) for values in rows.values()))


def _snapshot(connection: sqlite3.Connection, tenant_id: str, session_id: str) -> SessionSnapshot | None:
    key = (tenant_id, session_id)
    condition = "WHERE tenant_id = ? AND session_id = ?"
    row = connection.execute(f"SELECT {SESSION_COLUMNS} FROM sessions {condition}", key).fetchone()  # noqa: S608
    if row is None:
        return None
    windows = f"SELECT {WINDOW_COLUMNS} FROM windows {condition} ORDER BY window_number, window_id"  # noqa: S608
    edges = f"SELECT {EDGE_COLUMNS} FROM edges {condition} ORDER BY target_id, source_id"  # noqa: S608
    return SessionSnapshot(
        session=session_of(row),
        windows=tuple(window_of(row) for row in connection.execute(windows, key)),
        edges=tuple(edge_of(row) for row in connection.execute(edges, key)),
        last_event=_last_event(connection, *key),
    )


def _last_event(connection: sqlite3.Connection, tenant_id: str, session_id: str) -> AuditEventRecord | None:
    row = connection.execute(
        f"SELECT {EVENT_COLUMNS} FROM events WHERE tenant_id = ? AND session_id = ? ORDER BY sequence DESC LIMIT 1",  # noqa: S608
        (tenant_id, session_id),
    ).fetchone()
    return event_of(row) if row else None


def _check_whole(change: SessionChange) -> None:
    owners = {window.session_id for window in change.windows} | {edge.session_id for edge in change.edges}
    owners |= {event.session_id for event in change.events} | {report.session_id for report in change.reports}
    owners |= {event.session_id for event in change.erased_events} | {leaf.session_id for leaf in change.leaves}
    if owners - {change.session.session_id}:
        raise ValueError("a change holds records of another session")
    if change.tombstone and (change.windows or change.edges or change.reports or change.erased_events):
        raise ValueError("a tombstone leaves no record but events")
    if change.receipt is not None and change.receipt.tenant_id != change.session.tenant_id:
        raise ValueError("a change holds a receipt of another tenant")


def _race(what: str) -> ConflictError:
    return ConflictError(ErrorReason.COMMIT_RACE, f"{what}: another writer came first; read the session again")
