"""Where audit events are streamed to (ADR 0057): one batch at a time, each tenant's apart."""

from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events of one tenant, in order.

    Attributes:
        body: one event a line, UTF-8.
        media_type: of the body.
        count: events in it; at least 1.
    """

    tenant_id: str
    body: bytes = field(repr=False)
    media_type: str
    count: int


@unique
class Outcome(StrEnum):
    """What became of an attempt; everything but ACCEPTED leaves the batch to be sent again."""

    ACCEPTED = "accepted"
    """A 2xx answer: the endpoint has the batch."""
    TOO_LARGE = "too_large"
    """413: a smaller batch may do."""
    REFUSED = "refused"
    """Any other answer, a redirect included."""
    THROTTLED = "throttled"
    """429 or 503."""
    UNREACHABLE = "unreachable"
    """No answer: no address, no connection, no time."""
    FORBIDDEN = "forbidden"
    """The address must not be talked to; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """An attempt's result.

    Attributes:
        problem: what went wrong, for operators; without content or secrets. Empty when accepted.
        retry_after_s: seconds that the endpoint asked to be left alone; ``None`` when it did not.
    """

    outcome: Outcome
    problem: str = ""
    retry_after_s: float | None = None


class EventEndpoint(Protocol):
    """One configured endpoint."""

    async def send(self, batch: EventBatch) -> Delivery:
        """Try to hand the batch over once, within the endpoint's own time limit. Raises nothing but cancellation."""
        ...

    async def problem(self) -> str:
        """Return why nothing could be sent now, as far as that can be told without sending; empty when nothing is."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
