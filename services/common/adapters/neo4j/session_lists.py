"""``SessionLists`` on Neo4j: ranges of the indexes over tenant, status and time."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from services.common.adapters.neo4j import session_list_statements, session_statements
from services.common.adapters.neo4j.database import Neo4jDatabase
from services.common.adapters.neo4j.session_records import listed_session_of, session_of
from services.common.adapters.neo4j.values import Properties, key, micros, moment, sort_key
from services.common.errors import UnreadableRecordError
from services.common.ports.session_lists import DuePlace, DueSession, LatestWindow, ListedSession, SessionFilter
from services.common.ports.sessions import SessionRecord, SessionStatus
from services.common.taxonomy import WindowStatus

_EARLIEST: Final = -(2**63)
_LATEST: Final = 2**63 - 1


class Neo4jSessionLists:
    """Lists of one database's sessions."""

    _database: Neo4jDatabase

    async def list_sessions(
        self, tenant_id: str, wanted: SessionFilter, *, after: str, limit: int
    ) -> list[ListedSession]:
        """Return sessions, newest first, ties by id."""
        created_us = _LATEST
        if after:
            found = await self._database.rows(session_statements.AGE_OF_SESSION, key=key(tenant_id, after))
            if not found:
                return []
            created_us = found[0]["created_us"]
        rows = await self._database.rows(
            session_list_statements.LIST_SESSIONS,
            tenant_key=key(tenant_id),
            created_us=created_us,
            after=after,
            limit=limit,
            status=wanted.status.value if wanted.status else None,
            opened_since=_EARLIEST if wanted.opened_since is None else micros(wanted.opened_since),
            opened_until=_LATEST if wanted.opened_until is None else micros(wanted.opened_until),
            updated_since=None if wanted.updated_since is None else micros(wanted.updated_since),
            updated_until=None if wanted.updated_until is None else micros(wanted.updated_until),
            parent=wanted.parent_session_id,
        )
        rows.sort(key=lambda row: (-int(row["session"]["created_us"]), row["session"]["session_id"]))  # as was found
        return [_listed(tenant_id, row) for row in rows]

    async def page_due(
        self, tenant_id: str, status: SessionStatus, *, until: datetime, after: DuePlace | None, limit: int
    ) -> list[DueSession]:
        """Return sessions by the time of their status."""
        rows = await self._database.rows(
            session_list_statements.PAGE_DUE,
            tenant_key=key(tenant_id),
            status=status.value,
            status_us=micros(after.status_at) if after else 0,
            after=after.session_id if after else "",
            until=micros(until),
            limit=limit,
        )
        found = [row["session"] for row in rows]
        places = (DuePlace(moment(session["status_us"]), session["session_id"]) for session in found)
        due = [DueSession(place, _readable(session)) for place, session in zip(places, found, strict=True)]
        return sorted(due, key=lambda one: one.place)

    async def count_sessions(self, tenant_id: str) -> Mapping[SessionStatus, int]:
        """Return the number of sessions by status; one of no known status is in none."""
        statuses = [status.value for status in SessionStatus]
        rows = await self._database.rows(
            session_list_statements.COUNT_SESSIONS, tenant_key=key(tenant_id), statuses=statuses
        )
        return {SessionStatus(row["status"]): row["sessions"] for row in rows}

    async def session_tenants(self, *, after: str, limit: int) -> list[str]:
        """Return tenants by name."""
        rows = await self._database.rows(
            session_list_statements.SESSION_TENANTS, sort_key=sort_key(after), after=after, limit=limit
        )
        return [row["tenant_id"] for row in rows]


def _readable(row: Properties) -> SessionRecord | None:
    try:
        return session_of(row)
    except UnreadableRecordError:
        return None


def _listed(tenant_id: str, row: Properties) -> ListedSession:
    windows = sorted(
        row["windows"], key=lambda window: (str(window["window_number"]).zfill(12), str(window["window_id"]))
    )
    committed = [window for window in windows if window["status"] == WindowStatus.COMMITTED]
    numbers = [window["window_number"] for window in windows if isinstance(window["window_number"], int)]
    budgets = [window["safety_budget"] for window in committed if isinstance(window["safety_budget"], float)]
    return ListedSession(
        record=listed_session_of(tenant_id, row["session"]),
        window_count=max(numbers, default=0),
        committed=len(committed),
        least_budget=min(budgets, default=None),
        latest=_latest(committed[-1]) if committed else None,
    )


def _latest(window: dict[str, Any]) -> LatestWindow | None:
    texts = (window["report_id"], window["quality_tier"], window["risk_level"])
    budget = window["safety_budget"]
    plain = all(isinstance(text, str) for text in texts) and isinstance(budget, float)
    return LatestWindow(*texts, budget) if plain else None
