"""Sessions by what they are like: lists for people, what is due for retention, counts (ADR 0104).

Nothing here is verified: the moments and the hold are what a session's row repeats of its trail, and whoever acts on
one looks at the trail first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from services.common.ports.sessions import SessionRecord, SessionStatus


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions to list; all of the conditions that are set must hold.

    Attributes:
        status: ``None`` = any.
        opened_since, opened_until: bounds of ``created_at``, the first included, the second not; ``None`` = none.
        updated_since, updated_until: the same of ``updated_at``.
        parent_session_id: only agents' sessions under this one; empty = all.
    """

    status: "SessionStatus | None" = None
    opened_since: datetime | None = None
    opened_until: datetime | None = None
    updated_since: datetime | None = None
    updated_until: datetime | None = None
    parent_session_id: str = ""


@dataclass(frozen=True, slots=True)
class LatestWindow:
    """What a list says of a session's latest committed window: the highest by (window_number, window_id)."""

    report_id: str
    quality_tier: str
    risk_level: str
    safety_budget: float


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session in a list.

    Attributes:
        record: UNREADABLE when what is stored cannot be read.
        window_count: highest window number; 0 without a window.
        committed: how many windows are committed.
        least_budget: the smallest safety budget that a committed window left; ``None`` when none is, or it cannot be
            read.
        latest: ``None`` when none is, or it cannot be read.
    """

    record: "SessionRecord"
    window_count: int = 0
    committed: int = 0
    least_budget: float | None = None
    latest: LatestWindow | None = None

    @property
    def session_id(self) -> str:
        """Return the session's id, which can be read of every one in a list."""
        return self.record.session_id


@dataclass(frozen=True, slots=True, order=True)
class DuePlace:
    """Where a walk over the sessions of one status goes on: behind this session."""

    status_at: datetime
    session_id: str


@dataclass(frozen=True, slots=True)
class DueSession:
    """A session on such a walk; ``record`` is ``None`` when what is stored cannot be read."""

    place: DuePlace
    record: "SessionRecord | None"


class SessionLists(Protocol):
    """Indexed reads over a tenant's sessions. Errors as in ``SessionStore``.

    Of a record without a readable id no list knows anything.
    """

    async def list_sessions(
        self, tenant_id: str, wanted: SessionFilter, *, after: str, limit: int
    ) -> list[ListedSession]:
        """Return up to ``limit`` sessions, newest first, ties by id, that follow session ``after`` (empty = all)."""
        ...

    async def page_due(
        self, tenant_id: str, status: "SessionStatus", *, until: datetime, after: DuePlace | None, limit: int
    ) -> list[DueSession]:
        """Return up to ``limit`` sessions of the status with ``status_at <= until``, by (status_at, session_id).

        Args:
            tenant_id: whose sessions.
            status: of the sessions.
            until: the latest ``status_at``.
            after: only those behind this place; ``None`` = from the first.
            limit: at least 1.
        """
        ...

    async def count_sessions(self, tenant_id: str) -> "Mapping[SessionStatus, int]":
        """Return how many sessions of each status the tenant has; a status without any may be absent."""
        ...

    async def session_tenants(self, *, after: str, limit: int) -> list[str]:
        """Return up to ``limit`` tenants with sessions, each above ``after``, in the order of their names."""
        ...
