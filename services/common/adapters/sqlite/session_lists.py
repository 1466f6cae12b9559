"""``SessionLists`` on SQLite: every list is a range of an index; a row that cannot be read is named, not raised."""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from services.common.adapters.sqlite.fetching import Row, damaged_pages, fetch, fetch_one
from services.common.adapters.sqlite.session_rows import SESSION_COLUMNS, listed_session_of, session_of
from services.common.adapters.sqlite.single_file import SingleFileStore
from services.common.adapters.sqlite.values import micros, moment
from services.common.errors import UnreadableRecordError
from services.common.ports.session_lists import DuePlace, DueSession, LatestWindow, ListedSession, SessionFilter
from services.common.ports.sessions import SessionRecord, SessionStatus, unreadable_session

_ID: Final = SESSION_COLUMNS.split(", ").index("session_id")
_SINCE: Final = SESSION_COLUMNS.split(", ").index("status_us")
_OPENED_AT: Final = "(SELECT created_us FROM sessions WHERE tenant_id = :tenant AND session_id = :after)"
_AFTER: Final = f"(created_us < {_OPENED_AT} OR created_us = {_OPENED_AT} AND session_id > :after)"
_COUNT: Final = (
    "SELECT coalesce(max(window_number), 0), coalesce(sum(status = 'COMMITTED'), 0), "
    "min(CASE WHEN status = 'COMMITTED' THEN safety_budget END) FROM windows WHERE tenant_id = ? AND session_id = ?"
)
_LATEST: Final = (
    "SELECT report_id, quality_tier, risk_level, safety_budget FROM windows WHERE tenant_id = ? AND session_id = ? "
    "AND status = 'COMMITTED' ORDER BY window_number DESC, window_id DESC LIMIT 1"
)
_NAMED: Final = "typeof(session_id) = 'text'"
"""No list can name a row without a readable id, nor go on from it."""
_DUE: Final = (
    f"SELECT {SESSION_COLUMNS} FROM sessions WHERE tenant_id = ?1 AND status = ?2 AND status_us <= ?3 "  # noqa: S608
    f"AND {_NAMED} AND (status_us, session_id) > (?4, ?5) ORDER BY status_us, session_id LIMIT ?6"
)
_COUNTS: Final = "SELECT status, count(*) FROM sessions WHERE tenant_id = ? GROUP BY status"
_TENANTS: Final = """
    WITH RECURSIVE named (tenant_id) AS (
        SELECT min(tenant_id) FROM sessions WHERE tenant_id > ?1
        UNION ALL
        SELECT (SELECT min(tenant_id) FROM sessions WHERE tenant_id > named.tenant_id) FROM named
        WHERE named.tenant_id IS NOT NULL
    )
    SELECT tenant_id FROM named WHERE tenant_id IS NOT NULL LIMIT ?2
"""
_BEFORE_ALL: Final = 0
"""1970: no session is older, and no moment before it can be read."""


class SqliteSessionLists(SingleFileStore):
    """Lists of one file's sessions."""

    async def list_sessions(
        self, tenant_id: str, wanted: SessionFilter, *, after: str, limit: int
    ) -> list[ListedSession]:
        """Return sessions, newest first, ties by id."""
        values = _values(wanted) | {"tenant": tenant_id}
        conditions = ["tenant_id = :tenant", _NAMED, *(_CONDITIONS[name] for name in values if name in _CONDITIONS)]
        if after:
            conditions.append(_AFTER)
        statement = (
            f"SELECT {SESSION_COLUMNS} FROM sessions WHERE {' AND '.join(conditions)} "  # noqa: S608 - of constants
            "ORDER BY created_us DESC, session_id LIMIT :limit"
        )

        def job(connection: sqlite3.Connection) -> list[ListedSession]:
            rows = fetch(connection, statement, values | {"after": after, "limit": limit})
            return [_listed(connection, tenant_id, row) for row in rows]

        return await self._database.read(job)

    async def page_due(
        self, tenant_id: str, status: SessionStatus, *, until: datetime, after: DuePlace | None, limit: int
    ) -> list[DueSession]:
        """Return sessions by the time of their status."""
        place = (micros(after.status_at), after.session_id) if after else (_BEFORE_ALL, "")
        values = (tenant_id, status, micros(until), *place, limit)
        rows = await self._database.read(lambda connection: fetch(connection, _DUE, values))
        return [DueSession(DuePlace(moment(row[_SINCE]), row[_ID]), _readable(row)) for row in rows]

    async def count_sessions(self, tenant_id: str) -> Mapping[SessionStatus, int]:
        """Return the number of sessions by status; one of no known status is in none."""
        rows = await self._database.read(lambda connection: fetch(connection, _COUNTS, (tenant_id,)))
        known = {status.value for status in SessionStatus}
        return {SessionStatus(status): count for status, count in rows if status in known}

    async def session_tenants(self, *, after: str, limit: int) -> list[str]:
        """Return tenants by name."""
        rows = await self._database.read(lambda connection: fetch(connection, _TENANTS, (after, limit)))
        return [row[0] for row in rows if isinstance(row[0], str)]


_CONDITIONS: Final = {
    "status": "status = :status",
    "opened_since": "created_us >= :opened_since",
    "opened_until": "created_us < :opened_until",
    "updated_since": "updated_us >= :updated_since",
    "updated_until": "updated_us < :updated_until",
    "parent": "parent_session_id = :parent AND parent_session_id <> ''",
}


def _values(wanted: SessionFilter) -> dict[str, Any]:
    moments = {
        "opened_since": wanted.opened_since,
        "opened_until": wanted.opened_until,
        "updated_since": wanted.updated_since,
        "updated_until": wanted.updated_until,
    }
    values: dict[str, Any] = {name: micros(given) for name, given in moments.items() if given is not None}
    if wanted.status is not None:
        values["status"] = wanted.status
    if wanted.parent_session_id:
        values["parent"] = wanted.parent_session_id
    return values


def _readable(row: Row) -> SessionRecord | None:
    try:
        return session_of(row)
    except UnreadableRecordError:
        return None


def _listed(connection: sqlite3.Connection, tenant_id: str, row: Row) -> ListedSession:
    key = (tenant_id, row[_ID])
    try:
        with damaged_pages("session", row[_ID], row[_ID]):
            count, committed, least = fetch_one(connection, _COUNT, key) or (0, 0, None)
            latest = fetch_one(connection, _LATEST, key)
    except UnreadableRecordError:
        return ListedSession(unreadable_session(*key))
    return ListedSession(
        record=listed_session_of(row),
        window_count=count if isinstance(count, int) else 0,
        committed=committed,
        least_budget=least if isinstance(least, float) else None,
        latest=LatestWindow(*latest) if latest and _plain(latest) else None,
    )


def _plain(latest: Sequence[Any]) -> bool:
    *texts, budget = latest
    return all(isinstance(text, str) for text in texts) and isinstance(budget, float)
