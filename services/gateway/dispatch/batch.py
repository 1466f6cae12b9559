"""A batch: independent queries, each with a window and a result of its own (CRP-SPEC-008; ADR 0153).

Properties:

* So many items run at once in the process and for one tenant; tenants take turns by what their items cost, and within a
  tenant its batches do, however long each is.
* A failure is the item's. What is done when the time is up is answered, what is not fails with DEADLINE_EXCEEDED.
* An item is the dispatch that it would be alone: same request id, same window, same headers.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from services.common.context import current_call
from services.common.errors import CrpError
from services.common.fair_turns import FairTurns
from services.gateway.dispatch.several import CameTo, Dispatches, end, ends_at, settled
from services.gateway.domain.command import DispatchCommand, DispatchResult


@dataclass(frozen=True, slots=True)
class BatchItem:
    """A query and what it costs, by estimate; or why it is none that can be asked."""

    asked: DispatchCommand | CrpError
    units: int = 1


class BatchApp:
    """Runs batches.

    Args:
        dispatches: runs one query.
        turns: places of items; none of what an item waits for may wait for them.
    """

    def __init__(self, dispatches: Dispatches, turns: FairTurns) -> None:
        self._dispatches = dispatches
        self._turns = turns

    async def run(self, items: Sequence[BatchItem]) -> list[CameTo]:
        """Return what each item came to, in their order; when the caller leaves, what runs is given up."""
        until, tasks = ends_at(), list[asyncio.Task[CameTo]]()
        try:
            tasks.extend(asyncio.create_task(self._item(item, tasks, until)) for item in items)
            return list(await asyncio.gather(*tasks))
        finally:
            await end(tasks)

    async def _item(self, item: BatchItem, batch: object, until: float | None) -> CameTo:
        return item.asked if isinstance(item.asked, CrpError) else await settled(self._turn(item, batch), until)

    async def _turn(self, item: BatchItem, batch: object) -> DispatchResult:
        assert isinstance(item.asked, DispatchCommand)
        tenant_id = current_call().caller.tenant_id
        async with self._turns.turn(tenant_id, item.units, caller=id(batch)):
            return await self._dispatches.dispatch(item.asked)
