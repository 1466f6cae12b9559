"""Reading sessions from a file, within one transaction: what is read together is of one moment."""

import sqlite3
from contextlib import nullcontext
from dataclasses import replace
from typing import Final

from services.common.adapters.sqlite import log_rows
from services.common.adapters.sqlite.fetching import Row, damaged_pages, fetch, fetch_one
from services.common.adapters.sqlite.session_rows import (
    EDGE_COLUMNS,
    EVENT_COLUMNS,
    REPORT_COLUMNS,
    SESSION_COLUMNS,
    WINDOW_COLUMNS,
    edge_of,
    event_of,
    listed_report_of,
    session_of,
    window_of,
)
from services.common.errors import UnreadableRecordError
from services.common.ports.sessions import (
    AuditEventRecord,
    LoadedSession,
    LoggedSession,
    ReportRecord,
    SessionSnapshot,
)
from services.common.ports.transparency_log import LogLeaf

_OF_SESSION: Final = "WHERE tenant_id = ? AND session_id = ?"
_SESSION: Final = f"SELECT {SESSION_COLUMNS} FROM sessions {_OF_SESSION}"  # noqa: S608
_WINDOWS: Final = f"SELECT {WINDOW_COLUMNS} FROM windows {_OF_SESSION} ORDER BY window_number, window_id"  # noqa: S608
_EDGES: Final = f"SELECT {EDGE_COLUMNS} FROM edges {_OF_SESSION} ORDER BY target_id, source_id"  # noqa: S608
_LAST: Final = f"SELECT {EVENT_COLUMNS} FROM events {_OF_SESSION} ORDER BY sequence DESC LIMIT 1"  # noqa: S608
_EVENTS: Final = f"SELECT {EVENT_COLUMNS} FROM events {_OF_SESSION} AND sequence > ? ORDER BY sequence LIMIT ?"  # noqa: S608
_AFTER: Final = "SELECT {columns} FROM reports WHERE tenant_id = ?1 AND report_id > ?2 "
_REPORTS: Final = f"{_AFTER}ORDER BY report_id LIMIT ?3"
_REPORTS_OF: Final = f"{_AFTER}AND session_id = ?4 ORDER BY report_id LIMIT ?3"
_WITHOUT_INPUTS: Final = ", ".join("''" if name == "inputs" else name for name in REPORT_COLUMNS.split(", "))
_REPORT_ID: Final = REPORT_COLUMNS.split(", ").index("report_id")


def snapshot(connection: sqlite3.Connection, tenant_id: str, session_id: str) -> SessionSnapshot | None:
    """Return a consistent view."""
    with damaged_pages("session", session_id, session_id):
        found = _records(connection, tenant_id, session_id)
        return None if found is None else replace(found, last_event=_last(connection, tenant_id, session_id))


def logged(connection: sqlite3.Connection, tenant_id: str, session_id: str) -> LoggedSession:
    """Return the session with its leaves."""
    return LoggedSession(snapshot(connection, tenant_id, session_id), _leaves(connection, tenant_id, session_id))


def load(connection: sqlite3.Connection, tenant_id: str, session_id: str, limit: int) -> LoadedSession:
    """Return the session with its leaves and the first of its events and reports."""
    with damaged_pages("session", session_id, session_id):
        found = _records(connection, tenant_id, session_id)
    leaves = _leaves(connection, tenant_id, session_id)
    if found is None:
        return LoadedSession(LoggedSession(None, leaves))
    events = page_events(connection, tenant_id, session_id, -1, limit)
    if 0 < len(events) < limit:
        last: AuditEventRecord | None = events[-1]
    else:
        with damaged_pages("session", session_id, session_id):
            last = _last(connection, tenant_id, session_id)
    reports = page_reports(connection, tenant_id, session_id, "", limit)
    return LoadedSession(LoggedSession(replace(found, last_event=last), leaves), tuple(events), tuple(reports))


def page_events(
    connection: sqlite3.Connection, tenant_id: str, session_id: str, after: int, limit: int
) -> list[AuditEventRecord]:
    """Return the next events of the session."""
    with damaged_pages("session", session_id, session_id):
        return [event_of(row) for row in fetch(connection, _EVENTS, (tenant_id, session_id, after, limit))]


def page_reports(
    connection: sqlite3.Connection,
    tenant_id: str,
    session_id: str,
    after: str,
    limit: int,
    *,
    with_inputs: bool = True,
) -> list[ReportRecord | UnreadableRecordError]:
    """Return up to ``limit`` reports, of all sessions where none is named; their inputs are empty unless asked for.

    A row without an id that a list can name and go on from is left out.
    """
    asked, columns = limit, REPORT_COLUMNS if with_inputs else _WITHOUT_INPUTS
    statement = (_REPORTS_OF if session_id else _REPORTS).format(columns=columns)
    while True:
        values = (tenant_id, after, asked, session_id) if session_id else (tenant_id, after, asked)
        with damaged_pages("session", session_id, session_id) if session_id else nullcontext():
            rows: list[Row] = fetch(connection, statement, values)
        named = [row for row in rows if isinstance(row[_REPORT_ID], str)]
        if len(named) >= limit or len(rows) < asked:
            return [listed_report_of(row) for row in named[:limit]]
        asked += limit - len(named)


def _records(connection: sqlite3.Connection, tenant_id: str, session_id: str) -> SessionSnapshot | None:
    """Return the session without its last event."""
    key = (tenant_id, session_id)
    row = fetch_one(connection, _SESSION, key)
    if row is None:
        return None
    session = session_of(row)
    windows = tuple([window_of(row) for row in fetch(connection, _WINDOWS, key)])
    return SessionSnapshot(session, windows, tuple([edge_of(row) for row in fetch(connection, _EDGES, key)]), None)


def _last(connection: sqlite3.Connection, tenant_id: str, session_id: str) -> AuditEventRecord | None:
    row = fetch_one(connection, _LAST, (tenant_id, session_id))
    return event_of(row) if row else None


def _leaves(connection: sqlite3.Connection, tenant_id: str, session_id: str) -> tuple[LogLeaf, ...]:
    with damaged_pages("log", tenant_id, session_id):
        return log_rows.session_leaves(connection, tenant_id, session_id)
