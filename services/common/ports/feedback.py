"""What people say about verdicts: ids and words of the contract, no content. Only writer: the gateway."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FeedbackRecord:
    """What one subject says about the verdict on one claim.

    Attributes:
        feedback_id: UUID; follows from report, claim and subject, so that the last word stands.
        verdict: the report's, as its name without prefix.
        right: whether it was right.
        expected: what it should have been; empty where nobody said.
        given_by: subject of the credential.
    """

    tenant_id: str
    feedback_id: str
    report_id: str
    session_id: str
    claim_id: str
    verdict: str
    right: bool
    expected: str
    given_by: str
    given_at: datetime


class FeedbackStore(Protocol):
    """Feedback. Durability and errors as in ``FactStore``."""

    async def put(self, feedback: FeedbackRecord) -> None:
        """Keep it, in the place of what stands under its id."""
        ...

    async def page(self, tenant_id: str, report_id: str, *, after: str, limit: int) -> list[FeedbackRecord]:
        """Return up to ``limit`` with ``feedback_id > after``, ordered by id; of one report, or of any if empty."""
        ...

    async def check(self) -> None:
        """Return when the store can serve; raise ``UnavailableError`` otherwise."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
