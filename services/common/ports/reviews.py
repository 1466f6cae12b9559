"""Held answers and what was decided about them. Only writer: the gateway.

A record holds ids, levels and directives in the open; the answer itself is sealed under a key that the dag service
gives as long as the session is not erased (ADR 0148).
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, unique
from typing import Protocol


@unique
class ReviewStatus(StrEnum):
    """Where a review stands."""

    PENDING = "PENDING"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    EXPIRED = "EXPIRED"


@dataclass(frozen=True, slots=True)
class HeldViolation:
    """A directive that the answer broke, in words that hold nothing of the answer."""

    directive: str
    violation_type: str
    description: str
    enforcement: str
    signal_missing: bool = False


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """One held answer.

    Attributes:
        review_id: UUID; follows from the dispatch, so that a repeat meets the same review.
        reason: what asked for the review.
        author: subject of the credential that asked for the answer.
        steps: request ids of what the decision does: commit of the window, giving it up, audit event.
        version: 1 and up; grows by one with every change.
        settled: what the decision does was done.
        decided_by: subject of the credential; empty while undecided, and for one that expired.
        decision_id: request id of the decision; unique within the tenant; empty while there is none.
        decision_hash: digest of that request.
        held: the sealed answer; empty once it was erased.
    """

    tenant_id: str
    review_id: str
    session_id: str
    window_id: str
    report_id: str
    reason: str
    risk_level: str
    violations: tuple[HeldViolation, ...]
    author: str
    steps: tuple[str, str, str]
    created_at: datetime
    expires_at: datetime
    status: ReviewStatus = ReviewStatus.PENDING
    version: int = 1
    settled: bool = True
    decided_at: datetime | None = None
    decided_by: str = ""
    decision_id: str = ""
    decision_hash: str = ""
    held: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Which reviews to list; ``None`` and empty = any.

    Attributes:
        now: one that is undecided past its time counts as EXPIRED.
    """

    now: datetime
    status: ReviewStatus | None = None
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class ReviewPlace:
    """The last review of a page: the next begins behind it."""

    created_at: datetime
    review_id: str


class ReviewStore(Protocol):
    """Reviews. Durability and errors as in ``FactStore``: what returned is on the disk."""

    async def add(self, review: ReviewRecord) -> ReviewRecord:
        """Keep the review, or return the one that stands under its id."""
        ...

    async def get(self, tenant_id: str, review_id: str) -> ReviewRecord | None:
        """Return the review or ``None``."""
        ...

    async def find_decision(self, tenant_id: str, decision_id: str) -> ReviewRecord | None:
        """Return the review that this request decided about, or ``None``."""
        ...

    async def change(self, review: ReviewRecord) -> None:
        """Replace the review, whose stored version must be ``review.version - 1``; what was sealed before is destroyed.

        Raises:
            ConflictError: ETAG_STALE: another version stands.
            PreconditionError: REQUEST_ID_REUSED: another review was decided under this ``decision_id``.
        """
        ...

    async def page(
        self, tenant_id: str, wanted: ReviewFilter, *, after: ReviewPlace | None, limit: int
    ) -> list[ReviewRecord]:
        """Return up to ``limit`` reviews, oldest first, without what they hold."""
        ...

    async def check(self) -> None:
        """Return when the store can serve; raise ``UnavailableError`` otherwise."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
