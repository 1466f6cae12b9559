"""``EventFeed`` in dictionaries, over the memory store's logs."""

from collections.abc import Sequence
from datetime import datetime

from services.common.adapters.memory.log import MemoryLogs
from services.common.ports.event_feed import NOTHING_READ, Behind, FedEvent, FeedPage
from services.common.ports.transparency_log import LeafKind


class MemoryEventFeed:
    """Positions of consumers beside the logs that they read."""

    def __init__(self, logs: MemoryLogs) -> None:
        self._logs = logs
        self._claims: dict[str, tuple[str, datetime]] = {}
        self._positions: dict[tuple[str, str], int] = {}

    async def claim(self, consumer: str, holder: str, now: datetime, until: datetime) -> bool:
        """Take or prolong the claim."""
        held = self._claims.get(consumer)
        if held is not None and held[0] != holder and held[1] > now:
            return False
        self._claims[consumer] = (holder, until)
        return True

    async def release(self, consumer: str, holder: str) -> None:
        """Give the claim up."""
        if self._claims.get(consumer, ("", None))[0] == holder:
            del self._claims[consumer]

    async def behind(self, consumer: str, limit: int, among: Sequence[str] = ()) -> list[Behind]:
        """Return tenants with leaves beyond the position."""
        found = (
            Behind(tenant, self._positions.get((consumer, tenant), NOTHING_READ), self._logs.size(tenant))
            for tenant in self._logs.tenants()
            if not among or tenant in among
        )
        return [behind for behind in found if behind.leaves > 0][:limit]

    async def page(self, tenant_id: str, *, after: int, limit: int) -> FeedPage:
        """Return the events among the next leaves."""
        leaves = self._logs.after(tenant_id, after, limit)
        events = [
            FedEvent(leaf.session_id, leaf.position, leaf.leaf_index)
            for leaf in leaves
            if leaf.record_kind is LeafKind.EVENT
        ]
        return FeedPage(events, leaves[-1].leaf_index if leaves else after)

    async def advance(self, consumer: str, holder: str, tenant_id: str, through: int) -> bool:
        """Move the position forward."""
        if self._claims.get(consumer, ("", None))[0] != holder:
            return False
        key = (consumer, tenant_id)
        self._positions[key] = max(through, self._positions.get(key, NOTHING_READ))
        return True
