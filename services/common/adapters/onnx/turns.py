"""Whose batch is computed next, over all models in the process: they share its processors.

A batch uses every processor that it may, so that batches of several models at once only slow each other down, and a
tenant whose calls are at many models would have most of the machine. So few batches compute at once, and the next one
is for the tenant that had least of the processors' time, at the model that has waited longest for a turn (ADR 0088).
While only one tenant asks, one batch more is handed over ahead, so that nothing waits for the event loop; while several
do, batches are small, so that a short call waits for little at each of the models that it needs.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from services.common.adapters.onnx.session import available_threads
from services.common.fair_turns import FairShares

ALONE_AFTER_S: Final = 1.0
"""A tenant is alone once no other has waited for so long."""
PROCESSORS_PER_BATCH: Final = 4
_SMOOTHING: Final = 0.2


@dataclass(frozen=True, slots=True)
class Turn:
    """A batch that may be computed.

    Attributes:
        tenant: whom it is for; empty when nobody waits any more.
        alone: no other tenant has asked for the processors lately. While one does batches should be small: whoever
            comes next waits for what is being computed.
        charged_s: seconds that it was taken to need; put right when it is done.
    """

    tenant: str
    alone: bool
    charged_s: float


@dataclass(eq=False, slots=True)
class _Waiter:
    tenants: Callable[[], Collection[str]]
    given: "asyncio.Future[Turn]"


class ComputeTurns:
    """Turns at the processors; belongs to one event loop.

    Args:
        batches: how many may compute at once.
        now: seconds of a clock that never goes back.
    """

    def __init__(self, batches: int, now: Callable[[], float] = time.monotonic) -> None:
        self._batches = batches
        self._now = now
        self._running = 0
        self._waiting: dict[_Waiter, None] = {}
        self._shares = FairShares()
        self._present: set[str] = set()
        self._seen: dict[str, float] = {}
        self._batch_s = 0.0

    async def turn(self, tenants: Callable[[], Collection[str]]) -> Turn:
        """Wait for a turn; whoever was given one has to tell ``done``.

        Args:
            tenants: returns who waits at the model now.
        """
        waiter = _Waiter(tenants, asyncio.get_running_loop().create_future())
        self._waiting[waiter] = None
        self._hand_out()
        try:
            return await waiter.given
        except asyncio.CancelledError:
            if waiter.given.done() and not waiter.given.cancelled():
                self.done(waiter.given.result(), {}, 0.0)
            else:
                self._waiting.pop(waiter, None)
            raise

    def done(self, turn: Turn, costs: Mapping[str, float], seconds: float) -> None:
        """Give the turn back.

        Args:
            turn: what ``turn`` gave.
            costs: what of the batch was each tenant's, in any one unit; empty when nothing was computed.
            seconds: how long the batch computed.
        """
        self._running -= 1
        self._shares.charge(turn.tenant, -turn.charged_s)
        total = sum(costs.values())
        for tenant, cost in costs.items():
            self._shares.charge(tenant, seconds * cost / total)
        if costs:
            self._batch_s += (seconds - self._batch_s) * (_SMOOTHING if self._batch_s else 1.0)
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and self._running < self._batches + self._ahead():
            waiting = {tenant: waiter for waiter in reversed(self._waiting) for tenant in waiter.tenants()}
            for gone in self._present - waiting.keys():
                self._shares.leave(gone)
            for tenant in waiting:
                self._shares.join(tenant)
            self._present = set(waiting)
            tenant = self._shares.least() if waiting else ""
            waiter = waiting[tenant] if waiting else next(iter(self._waiting))
            del self._waiting[waiter]
            self._running += 1
            self._shares.serve(tenant, self._batch_s)
            waiter.given.set_result(Turn(tenant, len(self._seen) <= 1, self._batch_s))

    def _ahead(self) -> int:
        now = self._now()
        for waiter in self._waiting:
            self._seen.update(dict.fromkeys(waiter.tenants(), now))
        self._seen = {tenant: at for tenant, at in self._seen.items() if now - at <= ALONE_AFTER_S}
        return 1 if len(self._seen) <= 1 else 0


_OF_LOOP: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, ComputeTurns]] = WeakKeyDictionary()


def processors_turns() -> ComputeTurns:
    """Return the turns that all models of the running event loop share."""
    loop = asyncio.get_running_loop()
    if loop not in _OF_LOOP:
        _OF_LOOP[loop] = ComputeTurns(max(1, available_threads() // PROCESSORS_PER_BATCH))
    return _OF_LOOP[loop]
