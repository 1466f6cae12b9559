"""``SessionLists`` over dictionaries, and what the memory store holds of one session."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from services.common.ports.session_lists import DuePlace, DueSession, LatestWindow, ListedSession, SessionFilter
from services.common.ports.sessions import (
    AuditEventRecord,
    EdgeRecord,
    ReportRecord,
    SessionRecord,
    SessionStatus,
    WindowRecord,
)
from services.common.taxonomy import WindowStatus


@dataclass(slots=True)
class HeldSession:
    """Everything of one session."""

    record: SessionRecord
    windows: dict[str, WindowRecord] = field(default_factory=dict)
    edges: dict[tuple[str, str], EdgeRecord] = field(default_factory=dict)
    events: list[AuditEventRecord] = field(default_factory=list)
    reports: dict[str, ReportRecord] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)

    def clear(self) -> None:
        """Drop every record but the session itself."""
        for part in (self.windows, self.edges, self.events, self.reports):
            part.clear()


class MemorySessionLists:
    """Lists of one process's sessions."""

    _sessions: dict[tuple[str, str], HeldSession]

    async def list_sessions(
        self, tenant_id: str, wanted: SessionFilter, *, after: str, limit: int
    ) -> list[ListedSession]:
        """Return sessions, newest first, ties by id."""
        found = sorted(self._of(tenant_id), key=lambda held: held.record.session_id)
        found.sort(key=lambda held: held.record.created_at, reverse=True)
        ids = [held.record.session_id for held in found]
        if after and after not in ids:
            return []
        behind = found[ids.index(after) + 1 :] if after else found
        return [_listed(held) for held in behind if _fits(held.record, wanted)][:limit]

    async def page_due(
        self, tenant_id: str, status: SessionStatus, *, until: datetime, after: DuePlace | None, limit: int
    ) -> list[DueSession]:
        """Return sessions by the time of their status."""
        records = (held.record for held in self._of(tenant_id) if held.record.status is status)
        due = [
            DueSession(DuePlace(record.status_at, record.session_id), record)
            for record in records
            if record.status_at is not None and record.status_at <= until
        ]
        due.sort(key=lambda one: one.place)
        return [one for one in due if after is None or one.place > after][:limit]

    async def count_sessions(self, tenant_id: str) -> Mapping[SessionStatus, int]:
        """Return the number of sessions by status."""
        return Counter(held.record.status for held in self._of(tenant_id))

    async def session_tenants(self, *, after: str, limit: int) -> list[str]:
        """Return tenants by name."""
        return sorted({tenant for tenant, _ in self._sessions if tenant > after})[:limit]

    def _of(self, tenant_id: str) -> list[HeldSession]:
        return [held for (tenant, _), held in self._sessions.items() if tenant == tenant_id]


def _fits(record: SessionRecord, wanted: SessionFilter) -> bool:
    return (
        wanted.status in (None, record.status)
        and _within(record.created_at, wanted.opened_since, wanted.opened_until)
        and _within(record.updated_at, wanted.updated_since, wanted.updated_until)
        and wanted.parent_session_id in ("", record.parent_session_id)
    )


def _within(moment: datetime | None, since: datetime | None, until: datetime | None) -> bool:
    if moment is None:
        return since is None and until is None
    return (since is None or moment >= since) and (until is None or moment < until)


def _listed(held: HeldSession) -> ListedSession:
    windows = sorted(held.windows.values(), key=lambda window: (window.window_number, window.window_id))
    committed = [window for window in windows if window.status is WindowStatus.COMMITTED]
    last = committed[-1] if committed else None
    return ListedSession(
        record=held.record,
        window_count=windows[-1].window_number if windows else 0,
        committed=len(committed),
        least_budget=min((window.safety_budget for window in committed), default=None),
        latest=LatestWindow(last.report_id, last.quality_tier, last.risk_level, last.safety_budget) if last else None,
    )
