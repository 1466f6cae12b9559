"""``SessionStore`` on SQLite: each step of a session is one transaction behind a version guard (ADR 0030)."""

import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from services.common.adapters.log_tips import LogTips
from services.common.adapters.sqlite import log_rows, published_log, session_reads
from services.common.adapters.sqlite.database import PLAIN_WRITE, Database
from services.common.adapters.sqlite.event_feed import SqliteEventFeed
from services.common.adapters.sqlite.fetching import Row, damaged_pages, fetch, fetch_one
from services.common.adapters.sqlite.key_checks import KEEP_KEY_CHECK, kept_key_checks
from services.common.adapters.sqlite.receipts import get_receipt, put_receipt
from services.common.adapters.sqlite.session_lists import SqliteSessionLists
from services.common.adapters.sqlite.session_rows import (
    EDGE_COLUMNS,
    EVENT_COLUMNS,
    REPORT_COLUMNS,
    SESSION_COLUMNS,
    SESSIONS_SCHEMA,
    WINDOW_COLUMNS,
    edge_values,
    event_values,
    report_of,
    report_values,
    session_values,
    window_of,
    window_values,
)
from services.common.adapters.sqlite.values import marks
from services.common.adapters.sqlite.writer import WriteTraits
from services.common.adapters.stored_values import shown
from services.common.errors import ConflictError, ErrorReason, UnreadableRecordError
from services.common.merkle import Place
from services.common.ports.receipts import Receipt
from services.common.ports.sessions import (
    AuditEventRecord,
    LoadedSession,
    LoggedSession,
    ReportRecord,
    SessionChange,
    SessionSnapshot,
    WindowRecord,
    check_whole,
)
from services.common.ports.transparency_log import KeptHead, LeafKind, LogLeaf, LogRow, LogState


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
_VERSION: Final = f"SELECT version FROM sessions {_OF_SESSION}"  # noqa: S608
_LAST_SEQUENCE: Final = f"SELECT sequence FROM events {_OF_SESSION} ORDER BY sequence DESC LIMIT 1"  # noqa: S608
_DROP_RECEIPTS: Final = f"DELETE FROM receipts {_OF_SESSION}"  # noqa: S608
_DROP_RECORDS: Final = tuple(
    f"DELETE FROM {table} {_OF_SESSION}"  # noqa: S608
    for table in ("windows", "edges", "reports", "events")
)
_HEAD: Final = WriteTraits(reclaims=True)
"""A row of some hundred bytes, which a full disk must not keep from being there."""
_ERASURE: Final = WriteTraits(reclaims=True, scrubs=True)


class SqliteSessionStore(SqliteSessionLists):
    """Sessions of all tenants in one file.

    Args:
        database: the open file.
    """

    schema = SESSIONS_SCHEMA

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._tips = LogTips()

    async def store_id(self) -> str:
        """Return this file's id; empty when somebody took it out."""
        row = await self._database.read(lambda one: fetch_one(one, "SELECT store_id FROM store_identity"))
        return shown(row[0]) if row else ""

    async def key_checks(self) -> dict[int, bytes]:
        """Return the kept values by version, without those that are none."""
        return await self._database.read(kept_key_checks)

    async def keep_key_check(self, version: int, value: bytes) -> None:
        """Keep the value, unless one is kept for the version."""
        await self._database.write(lambda c: c.execute(KEEP_KEY_CHECK, (version, value)), _HEAD)

    async def write(self, *changes: SessionChange) -> None:
        """Apply the changes if nobody came first to any of their sessions; all or nothing.

        Raises:
            ConflictError: COMMIT_RACE.
            LogInconsistentError: LOG_INCONSISTENT.
            ValueError: the changes are of one session or of several tenants, or hold records of others.
        """
        check_whole(changes)

        def job(connection: sqlite3.Connection) -> int:
            try:
                return max([_apply(connection, change, self._tips) for change in changes], default=0)
            except sqlite3.IntegrityError as error:
                raise _race("an id, a place in the chain or the log, or the root is taken") from error

        erases = any(change.tombstone or change.erased_events for change in changes)
        size = await self._database.write(job, _ERASURE if erases else PLAIN_WRITE)
        for tenant_id in {change.session.tenant_id for change in changes}:  # one, unless there is nothing to write
            self._tips.settle(tenant_id, size)

    async def snapshot(self, tenant_id: str, session_id: str) -> SessionSnapshot | None:
        """Return a consistent view."""
        return await self._database.read(lambda c: session_reads.snapshot(c, tenant_id, session_id))

    async def logged(self, tenant_id: str, session_id: str) -> LoggedSession:
        """Return the session with its leaves."""
        return await self._database.read(lambda c: session_reads.logged(c, tenant_id, session_id))

    async def load(self, tenant_id: str, session_id: str, *, limit: int) -> LoadedSession:
        """Return the session with its leaves and the first of its events and reports."""
        return await self._database.read(lambda c: session_reads.load(c, tenant_id, session_id, limit))

    async def find_continuation(self, tenant_id: str, continuation_id: str) -> WindowRecord | None:
        """Return the window that issued the continuation id."""
        condition = "WHERE tenant_id = ? AND continuation_id = ? AND continuation_id <> ''"
        values = (tenant_id, continuation_id)
        rows = await self._select("windows", WINDOW_COLUMNS, condition, *values, of=("continuation", continuation_id))
        return window_of(rows[0]) if rows else None

    async def page_events(
        self, tenant_id: str, session_id: str, *, after_sequence: int, limit: int
    ) -> list[AuditEventRecord]:
        """Return the next events of the session."""
        return await self._database.read(
            lambda c: session_reads.page_events(c, tenant_id, session_id, after_sequence, limit)
        )

    async def get_report(self, tenant_id: str, report_id: str) -> ReportRecord | None:
        """Return a report or ``None``."""
        condition = "WHERE tenant_id = ? AND report_id = ?"
        rows = await self._select("reports", REPORT_COLUMNS, condition, tenant_id, report_id, of=("report", report_id))
        return report_of(rows[0]) if rows else None

    async def page_reports(
        self, tenant_id: str, session_id: str, *, after: str, limit: int, with_inputs: bool = True
    ) -> list[ReportRecord | UnreadableRecordError]:
        """Return the next reports by id."""
        read = partial(session_reads.page_reports, with_inputs=with_inputs)
        return await self._database.read(lambda c: read(c, tenant_id, session_id, after, limit))

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

    async def log_state(self, tenant_id: str) -> LogState:
        """Return size, peaks and kept head."""
        return await self._database.read(lambda c: log_rows.log_state(c, tenant_id))

    async def page_log(self, tenant_id: str, *, after: int, limit: int) -> list[LogRow]:
        """Return the next leaves by index."""
        return await self._database.read(lambda c: log_rows.page_log(c, tenant_id, after, limit))

    async def keep_head(self, tenant_id: str, head: KeptHead) -> None:
        """Keep the head unless a larger one is kept."""
        await self._database.write(lambda c: log_rows.keep_head(c, tenant_id, head), _HEAD)

    def event_feed(self) -> SqliteEventFeed:
        """Return the feed of the events in this store; it ends when the store is closed."""
        return SqliteEventFeed(self._database)

    async def read_leaves(self, tenant_id: str, *, first: int, limit: int) -> list[LogLeaf]:
        """Return leaves by index."""
        return await self._database.read(lambda c: published_log.read_leaves(c, tenant_id, first, limit))

    async def keep_cosigned(self, tenant_id: str, size: int, note: str) -> None:
        """Keep a checkpoint that witnesses cosigned."""
        await self._database.write(
            lambda c: published_log.keep_cosigned(c, tenant_id, size, note), published_log.TRAITS
        )

    async def cosigned(self, tenant_id: str) -> str:
        """Return the kept checkpoint."""
        return await self._database.read(lambda c: published_log.cosigned(c, tenant_id))

    async def _select(
        self, table: str, columns: str, condition: str, *values: Any, of: tuple[str, str] = ("record", "")
    ) -> list[Row]:
        """Return rows of the record ``of``, by kind and id."""
        statement = f"SELECT {columns} FROM {table} {condition}"  # noqa: S608

        def job(connection: sqlite3.Connection) -> list[Row]:
            with damaged_pages(*of):
                return fetch(connection, statement, values)

        return await self._database.read(job)


def _apply(connection: sqlite3.Connection, change: SessionChange, tips: LogTips) -> int:
    """Write the change and return the size of the tenant's log."""
    session = change.session
    key = (session.tenant_id, session.session_id)
    if session.version != _stored_number(connection, _VERSION, key, ("session", "version"), before=0) + 1:
        raise _race("the session's version moved on")
    if change.erased_events or change.tombstone:
        connection.execute(_DROP_RECEIPTS, key)
    put_receipt(connection, change.receipt, session.session_id)
    connection.execute(_PUT_SESSION, session_values(session))
    expected = _stored_number(connection, _LAST_SEQUENCE, key, ("event", "sequence"), before=-1) + 1
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
    return log_rows.append_leaves(connection, session.tenant_id, change.leaves, tips)


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


def _stored_number(
    connection: sqlite3.Connection, statement: str, key: tuple[str, str], whose: tuple[str, str], *, before: int
) -> int:
    """Return the one number that a write is guarded by; ``before`` when nothing is stored yet."""
    row = fetch_one(connection, statement, key)
    if row is None:
        return before
    if type(row[0]) is not int:
        kind, column = whose
        name = key[1] if kind == "session" else shown(row[0])
        raise UnreadableRecordError.of_field(kind, name, column, session_id=key[1])
    return row[0]


def _race(what: str) -> ConflictError:
    return ConflictError(ErrorReason.COMMIT_RACE, f"{what}: another writer came first; read the session again")
