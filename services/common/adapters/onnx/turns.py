"""Whose batch is computed next, over all models in the process: they share its processors.

A batch uses every processor that it may, so that batches of several models at once only slow each other down, and a
tenant whose calls are at many models would have most of the machine. So few batches compute at once, and the next one
is for the tenant that had least of the processors' time, at the model that has waited longest for a turn (ADR 0088).
While only one tenant asks, one batch more is handed over ahead, so that nothing waits for the event loop; while several
do, batches are small, so that a short call waits for little at each of the models that it needs.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Protocol
from weakref import WeakKeyDictionary

from services.common.adapters.onnx.session import available_threads
from services.common.fair_turns import FairShares

ALONE_AFTER_S: Final = 1.0
"""A tenant is alone once no other has asked for so long."""
PROCESSORS_PER_BATCH: Final = 4
_SMOOTHING: Final = 0.2
_NOBODY: Final = ""
"""What is asked outside of any call, such as whether a model answers: a text or two, for which no tenant waits long."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A batch that may be computed.

    Attributes:
        tenant: whom it is for.
        alone: no other tenant has asked for the processors lately. While one does batches should be small: whoever
            comes next waits for what is being computed. The process's own questions are no tenant's.
        charged_s: seconds that it was taken to need; put right when it is done.
    """

    tenant: str
    alone: bool
    charged_s: float


class Queued(Protocol):
    """A model with a queue."""

    def tenants(self) -> Collection[str]:
        """Return who has items in the queue."""
        ...

    def ready(self) -> bool:
        """Say whether a batch can begin now, for any of ``tenants``."""
        ...

    def begin(self, turn: Turn) -> None:
        """Begin a batch of the turn's tenant; ``ComputeTurns.done`` is told when it has ended."""
        ...


class ComputeTurns:
    """Turns at the processors; belongs to one event loop.

    Args:
        batches: how many may compute at once.
        now: seconds of a clock that never goes back.
    """

    def __init__(self, batches: int, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self._batches = batches
        self._running: Counter[str] = Counter()
        self._models: dict[Queued, None] = {}  # the one whose turn is longest ago first
        self._shares = FairShares()
        self._present: set[str] = set()
        self._seen: dict[str, float] = {}
        self._batch_s = 0.0

    def add(self, model: Queued) -> None:
        """Let a model have turns."""
        self._models[model] = None

    def remove(self, model: Queued) -> None:
        """Let it have no more; idempotent."""
        self._models.pop(model, None)

    def wake(self) -> None:
        """Hand out what is free; to be told when a model has become ready."""
        while self._models:
            self._look()
            if self._running.total() >= self._batches + (len(self._seen) <= 1):
                return
            ready = {tenant: model for model in reversed(self._models) if model.ready() for tenant in model.tenants()}
            if not ready:
                return
            tenant = self._shares.least_of(one for one in self._shares.waiting if one in ready)
            self._begin(ready[tenant], tenant)

    def done(self, turn: Turn, costs: Mapping[str, float], seconds: float) -> None:
        """Take a turn back.

        Args:
            turn: what the batch was begun with.
            costs: what of the batch was each tenant's, in any one unit.
            seconds: how long the batch computed.
        """
        self._running[turn.tenant] -= 1
        self._shares.charge(turn.tenant, -turn.charged_s)
        total = sum(costs.values())
        for tenant, cost in costs.items():
            self._shares.charge(tenant, seconds * cost / total)
        self._batch_s += (seconds - self._batch_s) * (_SMOOTHING if self._batch_s else 1.0)
        self.wake()

    def _begin(self, model: Queued, tenant: str) -> None:
        self._running[tenant] += 1
        self._shares.serve(tenant, self._batch_s)
        del self._models[model]
        self._models[model] = None
        model.begin(Turn(tenant, len(self._seen) <= 1, self._batch_s))

    def _look(self) -> None:
        """See who wants the processors: who has items in a queue, or in a batch that computes."""
        self._running += Counter()  # drops those at zero
        present = {tenant for model in self._models for tenant in model.tenants()} | self._running.keys()
        for tenant in self._present - present:
            self._shares.leave(tenant)
        for tenant in present:
            self._shares.join(tenant)
        self._present = present
        now = self.now()
        self._seen.update(dict.fromkeys(present - {_NOBODY}, now))
        self._seen = {tenant: at for tenant, at in self._seen.items() if now - at <= ALONE_AFTER_S}


_OF_LOOP: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, ComputeTurns]] = WeakKeyDictionary()


def processors_turns() -> ComputeTurns:
    """Return the turns that all models of the running event loop share."""
    loop = asyncio.get_running_loop()
    if loop not in _OF_LOOP:
        _OF_LOOP[loop] = ComputeTurns(max(1, available_threads() // PROCESSORS_PER_BATCH))
    return _OF_LOOP[loop]
