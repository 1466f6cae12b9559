"""Dynamic batching: texts of concurrent calls go through an encoder together.

Decides which waiting items make the next batch. It knows nothing of ONNX: it is given a blocking function from a list
of items to a list of results, which it runs in one worker thread. Properties:

* Items are sorted by length and the queue is cut into batches from the longest down, so that a batch is padded little.
* Tenants take turns by what they had, in items' lengths: the one that had least is next. While several wait, its batch
  is filled up from all of them by the same rule, so that batches are full and shares are equal (ADR 0088).
* Within a tenant calls take turns: the batch that holds the next call's longest item runs next. A short question waits
  for about one batch per concurrent call, also while a long document is being ingested, and nothing starves.
* Equal items are computed once, however many callers wait for them.
* A caller that goes away takes along the items that nobody else waits for; a batch that nobody waits for is ended.
* A failing item fails the callers that wait for it and no others.
* A tenant's queue is bounded: beyond it its call is refused, with the time after which to try again, and nobody else's.
"""

import asyncio
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar, cast

from services.common.adapters.onnx.abandonment import Abandonment
from services.common.adapters.onnx.turns import ComputeTurns, Turn
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.fair_turns import FairShares, current_tenant
from services.common.queue_counts import QueueCounts, current_class

MIN_LENGTH_RATIO: Final = 0.5
"""An item shorter than this share of its batch's longest goes into another batch: padding would cost more."""
SHORT_LENGTH: Final = 32
"""Up to this length items are batched together whatever their ratio: a further batch would cost more."""
AHEAD: Final = 2
"""Full batches that are with the worker thread at once: one computed, one next."""
SMALL: Final = 2
"""While several tenants want the processors a batch has at most ``min_size`` by so much: each waits for the others'."""
MIN_RETRY_S: Final = 0.05
"""Least ``retry_after_s`` of a refusal."""
MEETING_S: Final = 1.0
"""Calls that were there at the same time so lately may be so again: then waiting for company is worth while."""
_RATE_SMOOTHING: Final = 0.2


class BatchItem(Hashable, Sized, Protocol):
    """What is batched: equal items have equal results, ``len`` is what computing one costs."""


ItemT = TypeVar("ItemT", bound=BatchItem)
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class BatchPolicy:
    """How batches are formed.

    Attributes:
        min_size: as soon as so many items wait, a batch goes.
        max_size: longest batch; while several tenants want the processors it is half of ``min_size``.
        max_delay_s: how long the first item waits for company while there are fewer than ``min_size``, in seconds; it
            waits only where calls have met lately, so that whoever asks one thing after the other never does.
        queue_items: how many items of one tenant may wait.
    """

    min_size: int
    max_size: int
    max_delay_s: float
    queue_items: int


@dataclass(eq=False, slots=True)
class _Call(Generic[ItemT, ResultT]):
    """One caller: what it waits for and what it has got."""

    tenant: str
    tenant_class: str
    arrived: float
    done: "asyncio.Future[None]"
    begun: bool = False
    waiting: dict[ItemT, "_Slot[ItemT, ResultT]"] = field(default_factory=dict)
    results: dict[ItemT, ResultT] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Slot(Generic[ItemT, ResultT]):
    """One distinct item in the queue or being computed."""

    item: ItemT
    rank: tuple[int, int]
    tenant: str
    running: bool = False
    callers: dict[_Call[ItemT, ResultT], None] = field(default_factory=dict)
    batch: "_Batch[ItemT, ResultT] | None" = None


@dataclass(eq=False, slots=True)
class _Batch(Generic[ItemT, ResultT]):
    """What is computed together, and how to end it."""

    slots: list[_Slot[ItemT, ResultT]]
    abandonment: Abandonment = field(default_factory=Abandonment)


def _rank(slot: _Slot[ItemT, ResultT]) -> tuple[int, int]:
    return slot.rank


class DynamicBatcher(Generic[ItemT, ResultT]):
    """Batches items of concurrent ``submit`` calls of one event loop.

    Args:
        name: the model's name, for errors.
        compute: blocking; returns one result per item, in order. Runs in the batcher's one thread.
        policy: sizes, delay and bound.
        turns: at the processors, shared with other models; ``None`` = its own, one batch and one ahead.
    """

    def __init__(
        self,
        name: str,
        compute: Callable[[Sequence[ItemT]], Sequence[ResultT]],
        policy: BatchPolicy,
        turns: ComputeTurns | None = None,
    ) -> None:
        self._name = name
        self._compute = compute
        self._policy = policy
        self._processors = turns or ComputeTurns(1)
        self._slots: dict[ItemT, _Slot[ItemT, ResultT]] = {}
        self._queue: list[_Slot[ItemT, ResultT]] = []  # not running, ascending by rank
        self._turns: dict[str, dict[_Call[ItemT, ResultT], None]] = {}
        self._queued: Counter[str] = Counter()  # by the tenant that queued them
        self._shares = FairShares()
        self._counts = QueueCounts(name)
        self._running: set[asyncio.Task[None]] = set()
        self._waking: asyncio.TimerHandle | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"{name}-inference")
        self._processors.add(self)
        self._serial = 0
        self._met = float("-inf")
        self._items_per_s = 0.0
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many distinct items are queued and not yet being computed."""
        return len(self._queue)

    @property
    def counts(self) -> QueueCounts:
        """What it counts by tenant class."""
        return self._counts

    async def submit(self, items: Sequence[ItemT]) -> list[ResultT]:
        """Return the items' results, in order.

        Raises:
            LimitExceededError: QUEUE_FULL; nothing was queued.
            UnavailableError: MODEL_UNAVAILABLE after ``close``.
            Exception: what ``compute`` raised for one of these items.
        """
        if self._closed:
            raise self._closed_error()
        if not items:
            return []
        call = self._enqueue(dict.fromkeys(items))
        try:
            await call.done
        finally:
            self._withdraw(call)
        return [call.results[item] for item in items]

    async def close(self) -> None:
        """Fail those who wait, let the running batch end, release the thread; idempotent."""
        self._closed = True
        for call in self._calls():
            self._fail(call, self._closed_error())
        self._processors.remove(self)
        if self._waking is not None:
            self._waking.cancel()
        while self._running:
            await asyncio.wait(self._running)
        self._executor.shutdown(wait=False)

    def _enqueue(self, items: dict[ItemT, None]) -> _Call[ItemT, ResultT]:
        tenant = current_tenant()
        fresh = [item for item in items if item not in self._slots]
        if self._queued[tenant] + len(fresh) > self._policy.queue_items:
            self._counts.full(current_class())
            raise self._full_error(self._queued[tenant] + len(fresh) - self._policy.queue_items)
        for item in fresh:
            self._serial += 1
            slot: _Slot[ItemT, ResultT] = _Slot(item, (len(item), self._serial), tenant)
            self._slots[item] = slot
            insort(self._queue, slot, key=_rank)
        self._queued[tenant] += len(fresh)
        loop = asyncio.get_running_loop()
        call: _Call[ItemT, ResultT] = _Call(tenant, current_class(), loop.time(), loop.create_future())
        if self._turns:
            self._met = call.arrived
        call.waiting = {item: self._slots[item] for item in items}
        for slot in call.waiting.values():
            slot.callers[call] = None
        self._turns.setdefault(tenant, {})[call] = None
        self._shares.join(tenant)
        loop.call_soon(self._processors.wake)  # with whatever else comes in this step of the loop
        return call

    def _withdraw(self, call: _Call[ItemT, ResultT]) -> None:
        turns = self._turns.get(call.tenant, {})
        turns.pop(call, None)
        if not turns:
            self._turns.pop(call.tenant, None)
            self._shares.leave(call.tenant)
        for slot in call.waiting.values():
            slot.callers.pop(call, None)
            if slot.running:
                if slot.batch is not None:
                    self._end_unless_awaited(slot.batch)
            elif slot.callers:
                self._belongs(slot, next(iter(slot.callers)).tenant)
            else:
                self._dequeue(slot)
                del self._slots[slot.item]
        call.waiting = {}

    def _end_unless_awaited(self, batch: _Batch[ItemT, ResultT]) -> None:
        if batch.abandonment.asked or any(slot.callers for slot in batch.slots):
            return
        for slot in batch.slots:
            self._forget(slot)  # whoever asks for the like from now on has it computed anew
        batch.abandonment.ask()

    def _forget(self, slot: _Slot[ItemT, ResultT]) -> None:
        if self._slots.get(slot.item) is slot:
            del self._slots[slot.item]

    def _computed(self, items: Sequence[ItemT], abandonment: Abandonment) -> Sequence[ResultT]:
        with abandonment.heeded():
            return self._compute(items)

    def _calls(self) -> list[_Call[ItemT, ResultT]]:
        return [call for turns in self._turns.values() for call in turns]

    def _belongs(self, slot: _Slot[ItemT, ResultT], tenant: str) -> None:
        """Count a queued item for a tenant that still waits for it."""
        self._counted_out(slot)
        slot.tenant = tenant
        self._queued[tenant] += 1

    def _dequeue(self, slot: _Slot[ItemT, ResultT]) -> None:
        del self._queue[bisect_left(self._queue, slot.rank, key=_rank)]
        self._counted_out(slot)

    def _counted_out(self, slot: _Slot[ItemT, ResultT]) -> None:
        self._queued[slot.tenant] -= 1
        if not self._queued[slot.tenant]:
            del self._queued[slot.tenant]

    def tenants(self) -> Collection[str]:
        """Return who has items in the queue."""
        return self._queued.keys()

    def ready(self) -> bool:
        """Say whether a batch can begin: while one computes a full one can go ahead, so that no thread waits.

        It goes when enough items are there, or the first of them has waited long enough for company.
        """
        limit = AHEAD if len(self._queue) >= self._policy.max_size else 1
        if not self._queue or len(self._running) >= limit:
            return False
        company_s = self._company_s()
        if company_s > 0 and self._waking is None:
            self._waking = asyncio.get_running_loop().call_later(company_s, self._wake)
        return company_s <= 0

    def begin(self, turn: Turn) -> None:
        """Compute the next batch of the turn's tenant."""
        try:
            batch = self._next_batch(turn)
        except Exception as error:
            for call in self._calls():  # a fault of ours must not leave callers waiting for ever
                self._fail(call, error)
            self._processors.done(turn, {}, 0.0)
            raise
        task = asyncio.get_running_loop().create_task(self._run(batch, turn), name=f"{self._name}-batch")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _wake(self) -> None:
        self._waking = None
        self._processors.wake()

    def _company_s(self) -> float:
        """Return how long the first of the waiting calls still waits for company."""
        if len(self._queue) >= self._policy.min_size or not self._turns:
            return 0.0
        now = asyncio.get_running_loop().time()
        if now - self._met > MEETING_S:
            return 0.0
        return min(call.arrived for call in self._calls()) + self._policy.max_delay_s - now

    def _next_batch(self, turn: Turn) -> list[_Slot[ItemT, ResultT]]:
        """Take the batch that holds the longest queued item of the next call of the turn's tenant."""
        anchor = self._take_turn(turn.tenant)
        most = self._policy.max_size if turn.alone else max(1, self._policy.min_size // SMALL)
        batch = self._shared_batch(anchor, most) if len(self._queued) > 1 else self._cut(anchor, most)
        now = asyncio.get_running_loop().time()
        for slot in batch:
            slot.running = True
            self._dequeue(slot)
            for call in slot.callers:
                if not call.begun:
                    call.begun = True
                    self._counts.waited(call.tenant_class, now - call.arrived)
            self._counts.served(next(iter(slot.callers)).tenant_class, len(slot.item))
        return batch

    def _take_turn(self, tenant: str) -> _Slot[ItemT, ResultT]:
        for one in (tenant, *self._turns):  # the tenant's own item may be one that it shares with another
            anchor = self._take_turn_of(self._turns.get(one, {}))
            if anchor is not None:
                self._shares.serve(one, len(anchor.item))
                return anchor
        raise AssertionError("a turn without an item")

    def _take_turn_of(self, turns: dict[_Call[ItemT, ResultT], None]) -> _Slot[ItemT, ResultT] | None:
        for call in list(turns):
            queued = [slot for slot in call.waiting.values() if not slot.running]
            del turns[call]
            turns[call] = None
            if queued:
                return max(queued, key=_rank)
        return None

    def _cut(self, anchor: _Slot[ItemT, ResultT], most: int) -> list[_Slot[ItemT, ResultT]]:
        """Cut the queue of one tenant into batches from the longest down, and return the one with ``anchor``."""
        position = bisect_left(self._queue, anchor.rank, key=_rank)
        high = len(self._queue)
        while True:
            low = self._batch_start(high, most)
            if low <= position:
                break
            high = low
        batch = self._queue[low:high]
        self._shares.charge(anchor.tenant, sum(len(slot.item) for slot in batch) - len(anchor.item))
        return batch

    def _shared_batch(self, anchor: _Slot[ItemT, ResultT], most: int) -> list[_Slot[ItemT, ResultT]]:
        """Fill up the batch of ``anchor`` with items no longer than it, each of the tenant that had least so far."""
        position = bisect_left(self._queue, anchor.rank, key=_rank)
        fitting: dict[str, list[_Slot[ItemT, ResultT]]] = {}
        for slot in self._queue[self._fitting_start(len(anchor.item)) : position]:
            fitting.setdefault(slot.tenant, []).append(slot)
        batch = [anchor]
        while fitting and len(batch) < most:
            tenant = self._shares.least_of(fitting)
            slot = fitting[tenant].pop()
            if not fitting[tenant]:
                del fitting[tenant]
            self._shares.charge(tenant, len(slot.item))
            batch.append(slot)
        return sorted(batch, key=_rank)

    def _batch_start(self, high: int, most: int) -> int:
        low = max(0, high - most)
        return max(low, self._fitting_start(len(self._queue[high - 1].item)))

    def _fitting_start(self, longest: int) -> int:
        """Return where the queued items begin that may be in a batch whose longest item is so long."""
        if longest <= SHORT_LENGTH:
            return 0
        return bisect_left(self._queue, (int(longest * MIN_LENGTH_RATIO), 0), key=_rank)

    async def _run(self, batch: list[_Slot[ItemT, ResultT]], turn: Turn) -> None:
        costs: Counter[str] = Counter()
        for slot in batch:
            costs[slot.tenant] += len(slot.item)
        started = self._processors.now()
        try:
            await self._compute_batch(batch)
        finally:
            self._running.discard(cast("asyncio.Task[None]", asyncio.current_task()))
            self._processors.done(turn, costs, self._processors.now() - started)

    async def _compute_batch(self, batch: list[_Slot[ItemT, ResultT]]) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            ending = self._together(batch)
            results = await loop.run_in_executor(self._executor, self._computed, [slot.item for slot in batch], ending)
            if len(results) != len(batch):
                raise self._mismatch_error()  # noqa: TRY301 - treated as any failure of the model
        except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to the callers
            await self._blame(batch, error)
            return
        rate = len(batch) / max(loop.time() - started, 1e-6)
        self._items_per_s += (rate - self._items_per_s) * (_RATE_SMOOTHING if self._items_per_s else 1.0)
        for slot, result in zip(batch, results, strict=True):
            self._deliver(slot, result)

    async def _blame(self, batch: list[_Slot[ItemT, ResultT]], error: Exception) -> None:
        """Compute the items of a failed batch one by one, so that only the guilty ones' callers see an error."""
        loop = asyncio.get_running_loop()
        for slot in batch:
            if not slot.callers:
                self._forget(slot)
            elif len(batch) > 1:
                try:
                    ending = self._together([slot])
                    (result,) = await loop.run_in_executor(self._executor, self._computed, [slot.item], ending)
                except Exception as own:  # noqa: BLE001 - as above
                    self._reject(slot, own)
                else:
                    self._deliver(slot, result)
            else:
                self._reject(slot, error)

    def _together(self, slots: list[_Slot[ItemT, ResultT]]) -> Abandonment:
        """Return how to end what is computed together from now on."""
        batch = _Batch(slots)
        for slot in slots:
            slot.batch = batch
        self._end_unless_awaited(batch)
        return batch.abandonment

    def _deliver(self, slot: _Slot[ItemT, ResultT], result: ResultT) -> None:
        self._forget(slot)
        for call in slot.callers:
            call.results[slot.item] = result
            del call.waiting[slot.item]
            if not call.waiting and not call.done.done():
                call.done.set_result(None)

    def _reject(self, slot: _Slot[ItemT, ResultT], error: Exception) -> None:
        self._forget(slot)
        for call in list(slot.callers):
            del call.waiting[slot.item]
            self._fail(call, error)

    def _fail(self, call: _Call[ItemT, ResultT], error: Exception) -> None:
        if not call.done.done():
            call.done.set_exception(error)
            call.done.exception()  # counts as retrieved, also when the caller is cancelled before it wakes up
        self._withdraw(call)

    def _full_error(self, over: int) -> LimitExceededError:
        rate = self._items_per_s or float(self._policy.queue_items)
        return LimitExceededError(
            ErrorReason.QUEUE_FULL,
            f"The queue of model {self._name} is full; retry later, or with fewer texts at once.",
            retry_after_s=max(MIN_RETRY_S, round(over / rate, 3)),
            model=self._name,
            queue_items=str(self._policy.queue_items),
        )

    def _mismatch_error(self) -> UnavailableError:
        return UnavailableError(
            ErrorReason.MODEL_UNAVAILABLE, f"Model {self._name} returned too few or too many results.", model=self._name
        )

    def _closed_error(self) -> UnavailableError:
        return UnavailableError(
            ErrorReason.MODEL_UNAVAILABLE, f"Model {self._name} is shutting down.", model=self._name
        )
