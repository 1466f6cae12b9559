"""Violation reports on their way to an endpoint, and those that no endpoint took. Only writer: the gateway.

A report holds ids, levels, fractions and directives, and no word of query, answer or facts.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, unique
from typing import Protocol

from services.common.ports.event_endpoint import Delivery


@unique
class ReportState(StrEnum):
    """How far a report has come."""

    QUEUED = "QUEUED"
    SENT = "SENT"
    DEAD = "DEAD"


@dataclass(frozen=True, slots=True)
class OutgoingReport:
    """One report to one endpoint.

    Attributes:
        report_id: UUID; follows from the request, so that a repeat files nothing twice.
        url: where it goes, checked before.
        host: of the url.
        body: canonical JSON.
        attempts: made so far.
        due_at: when the next attempt is due.
        problem: why the last attempt failed.
    """

    tenant_id: str
    report_id: str
    url: str
    host: str
    body: bytes = field(repr=False)
    created_at: datetime
    due_at: datetime
    state: ReportState = ReportState.QUEUED
    attempts: int = 0
    problem: str = ""


class ViolationReportStore(Protocol):
    """The queue and the dead letters. Durability and errors as in ``FactStore``."""

    async def file(self, reports: Collection[OutgoingReport], most: int) -> int:
        """Queue the reports that are not known yet, as far as at most ``most`` wait or lie dead.

        Returns how many do not fit. Those that were sent are forgotten a day after they were filed.
        """
        ...

    async def take(self, now: datetime, until: datetime, limit: int, without: Collection[str]) -> list[OutgoingReport]:
        """Take up to ``limit`` reports that are due, one a host, those that wait longest first.

        None is of a host in ``without``. They are due again at ``until``, unless they are settled before: a process
        that was killed loses none.
        """
        ...

    async def settle(self, report: OutgoingReport) -> None:
        """Keep what became of an attempt: state, attempts, time and problem."""
        ...

    async def page_dead(self, tenant_id: str, *, after: str, limit: int) -> list[OutgoingReport]:
        """Return up to ``limit`` dead reports with ``report_id > after``, ordered by id."""
        ...

    async def replay(self, tenant_id: str, report_ids: Collection[str], now: datetime) -> int:
        """Queue dead reports anew, all of the tenant's when none is named; return how many."""
        ...

    async def counts(self) -> tuple[int, int]:
        """Return how many wait, and how many are dead."""
        ...

    async def check(self) -> None:
        """Return when the store can serve; raise ``UnavailableError`` otherwise."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...


class ReportEndpoints(Protocol):
    """Whoever gets reports; each at the url that it was filed for, never at another."""

    async def send(self, report: OutgoingReport) -> Delivery:
        """Post the report once. Raises nothing but cancellation.

        REFUSED and FORBIDDEN are for good; THROTTLED and UNREACHABLE may be tried again.
        """
        ...

    async def key(self) -> str:
        """Return the public key that reports are signed with: NAME+ID+BASE64.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: it cannot be read.
        """
        ...

    async def close(self) -> None:
        """Close the connections; idempotent."""
        ...
