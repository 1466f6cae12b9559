"""Reading every tenant's audit events once, in order, by a consumer that remembers how far it came (ADR 0057).

Positions are the leaf indexes of each tenant's transparency log: gapless, assigned when an event is committed, and in
the order of each session's chain. A consumer's position lives in the store, so that it outlives any process.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

NOTHING_READ: Final = -1
"""Position before the first leaf."""


@dataclass(frozen=True, slots=True)
class Behind:
    """A tenant whose log goes on beyond a consumer's position.

    Attributes:
        through: the consumer's position: the last leaf that it has dealt with, -1 = none.
        size: leaves in the log; above ``through + 1``.
    """

    tenant_id: str
    through: int
    size: int

    @property
    def leaves(self) -> int:
        """How many leaves lie ahead, those of windows included."""
        return self.size - self.through - 1


@dataclass(frozen=True, slots=True)
class FedEvent:
    """Where one audit event lies: its session, its place in the session's chain and its leaf."""

    session_id: str
    sequence: int
    leaf_index: int


@dataclass(frozen=True, slots=True)
class FeedPage:
    """The events among some leaves that follow one another; ``through`` is the last leaf that was looked at."""

    events: Sequence[FedEvent]
    through: int


class EventFeed(Protocol):
    """Positions and leaves of all tenants. Durability and errors as in ``SessionStore``.

    One holder at a time works for a consumer: it claims the consumer until a moment and claims again before that. A
    holder that dies loses its claim when the moment has passed.
    """

    async def claim(self, consumer: str, holder: str, now: datetime, until: datetime) -> bool:
        """Take or prolong the claim; ``False`` while another holder's has not run out at ``now``."""
        ...

    async def release(self, consumer: str, holder: str) -> None:
        """Give the claim up, if it is the holder's."""
        ...

    async def behind(self, consumer: str, limit: int, among: Sequence[str] = ()) -> list[Behind]:
        """Return up to ``limit`` tenants with leaves beyond the consumer's position, by tenant id.

        Args:
            consumer: whose position.
            limit: at least 1.
            among: only these tenants; empty = all.
        """
        ...

    async def page(self, tenant_id: str, *, after: int, limit: int) -> FeedPage:
        """Return the events among the ``limit`` leaves that follow ``after``; ``through`` is ``after`` when none do."""
        ...

    async def advance(self, consumer: str, holder: str, tenant_id: str, through: int) -> bool:
        """Move the consumer's position forward, never back; ``False`` and no change without the holder's claim."""
        ...
