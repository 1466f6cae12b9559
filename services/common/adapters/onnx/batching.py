"""Dynamic batching: texts of concurrent calls go through an encoder together.

Decides which waiting items make the next batch. It knows nothing of ONNX: it is given a blocking function from a list
of items to a list of results, which it runs in one worker thread. Properties:

* Items are sorted by length and the queue is cut into batches from the longest down, so that a batch is padded little.
* Calls take turns: the batch that holds the next call's longest item runs next. A short question waits for about one
  batch per concurrent call, also while a long document is being ingested, and nothing starves.
* Equal items are computed once, however many callers wait for them.
* A caller that goes away takes along the items that nobody else waits for; a batch that nobody waits for is ended.
* A failing item fails the callers that wait for it and no others.
* The queue is bounded: beyond it a call is refused, with the time after which to try again.
"""

import asyncio
from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from services.common.adapters.onnx.abandonment import Abandonment
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError

MIN_LENGTH_RATIO: Final = 0.5
"""An item shorter than this share of its batch's longest goes into another batch: padding would cost more."""
SHORT_LENGTH: Final = 32
"""Up to this length items are batched together whatever their ratio: a further batch would cost more."""
AHEAD: Final = 2
"""Full batches that are with the worker thread at once: one computed, one next."""
MIN_RETRY_S: Final = 0.05
"""Least ``retry_after_s`` of a refusal."""
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
        max_size: longest batch.
        max_delay_s: how long the first item waits for company while there are fewer than ``min_size``, in seconds.
        queue_items: how many items may wait.
    """

    min_size: int
    max_size: int
    max_delay_s: float
    queue_items: int


@dataclass(eq=False, slots=True)
class _Call(Generic[ItemT, ResultT]):
    """One caller: what it waits for and what it has got."""

    arrived: float
    done: "asyncio.Future[None]"
    waiting: dict[ItemT, "_Slot[ItemT, ResultT]"] = field(default_factory=dict)
    results: dict[ItemT, ResultT] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Slot(Generic[ItemT, ResultT]):
    """One distinct item in the queue or being computed."""

    item: ItemT
    rank: tuple[int, int]
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
    """

    def __init__(self, name: str, compute: Callable[[Sequence[ItemT]], Sequence[ResultT]], policy: BatchPolicy) -> None:
        self._name = name
        self._compute = compute
        self._policy = policy
        self._slots: dict[ItemT, _Slot[ItemT, ResultT]] = {}
        self._queue: list[_Slot[ItemT, ResultT]] = []  # not running, ascending by rank
        self._turns: dict[_Call[ItemT, ResultT], None] = {}
        self._arrived = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"{name}-inference")
        self._serial = 0
        self._items_per_s = 0.0
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many distinct items are queued and not yet being computed."""
        return len(self._queue)

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
        for call in list(self._turns):
            self._fail(call, self._closed_error())
        if self._worker is not None:
            await asyncio.wait([self._worker])
            self._worker = None
        self._executor.shutdown(wait=False)

    def _enqueue(self, items: dict[ItemT, None]) -> _Call[ItemT, ResultT]:
        fresh = [item for item in items if item not in self._slots]
        if len(self._queue) + len(fresh) > self._policy.queue_items:
            raise self._full_error(len(fresh))
        for item in fresh:
            self._serial += 1
            slot: _Slot[ItemT, ResultT] = _Slot(item, (len(item), self._serial))
            self._slots[item] = slot
            insort(self._queue, slot, key=_rank)
        loop = asyncio.get_running_loop()
        call: _Call[ItemT, ResultT] = _Call(loop.time(), loop.create_future())
        call.waiting = {item: self._slots[item] for item in items}
        for slot in call.waiting.values():
            slot.callers[call] = None
        self._turns[call] = None
        self._arrived.set()
        if self._worker is None or self._worker.done():
            self._worker = loop.create_task(self._serve(), name=f"{self._name}-batcher")
        return call

    def _withdraw(self, call: _Call[ItemT, ResultT]) -> None:
        self._turns.pop(call, None)
        for slot in call.waiting.values():
            slot.callers.pop(call, None)
            if not slot.callers and not slot.running:
                self._dequeue(slot)
                del self._slots[slot.item]
            elif slot.batch is not None:
                self._end_unless_awaited(slot.batch)
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

    def _dequeue(self, slot: _Slot[ItemT, ResultT]) -> None:
        del self._queue[bisect_left(self._queue, slot.rank, key=_rank)]

    async def _serve(self) -> None:
        """Run batches until nothing waits; the next ``submit`` starts it again."""
        try:
            await self._run_queue()
        except Exception as error:
            for call in list(self._turns):  # a fault of ours must not leave callers waiting for ever
                self._fail(call, error)
            raise

    async def _run_queue(self) -> None:
        """While one batch is computed hand a full one over ahead, so that the model does not wait for the loop."""
        running: set[asyncio.Task[None]] = set()
        while self._queue or running:
            limit = AHEAD if len(self._queue) >= self._policy.max_size else 1
            if self._queue and len(running) < limit:
                await self._gather()
                batch = self._next_batch()
                if batch:
                    running.add(asyncio.get_running_loop().create_task(self._run(batch)))
            else:
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()

    async def _gather(self) -> None:
        """Wait until enough items are there for a batch, or the first of them has waited long enough."""
        loop = asyncio.get_running_loop()
        while self._turns and len(self._queue) < self._policy.min_size:
            left = min(call.arrived for call in self._turns) + self._policy.max_delay_s - loop.time()
            if left <= 0:
                return
            self._arrived.clear()
            try:
                async with asyncio.timeout(left):
                    await self._arrived.wait()
            except TimeoutError:
                return

    def _next_batch(self) -> list[_Slot[ItemT, ResultT]]:
        """Take the batch that holds the longest queued item of the call whose turn it is."""
        anchor = self._take_turn()
        if anchor is None:
            return []
        position = bisect_left(self._queue, anchor.rank, key=_rank)
        high = len(self._queue)
        while True:
            low = self._batch_start(high)
            if low <= position:
                break
            high = low
        batch = self._queue[low:high]
        del self._queue[low:high]
        for slot in batch:
            slot.running = True
        return batch

    def _take_turn(self) -> _Slot[ItemT, ResultT] | None:
        for call in list(self._turns):
            queued = [slot for slot in call.waiting.values() if not slot.running]
            del self._turns[call]
            self._turns[call] = None
            if queued:
                return max(queued, key=_rank)
        return None

    def _batch_start(self, high: int) -> int:
        longest = len(self._queue[high - 1].item)
        low = max(0, high - self._policy.max_size)
        if longest <= SHORT_LENGTH:
            return low
        return max(low, bisect_left(self._queue, (int(longest * MIN_LENGTH_RATIO), 0), key=_rank))

    async def _run(self, batch: list[_Slot[ItemT, ResultT]]) -> None:
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

    def _full_error(self, wanted: int) -> LimitExceededError:
        rate = self._items_per_s or float(self._policy.queue_items)
        return LimitExceededError(
            ErrorReason.QUEUE_FULL,
            f"The queue of model {self._name} is full; retry later, or with fewer texts at once.",
            retry_after_s=max(MIN_RETRY_S, round((len(self._queue) + wanted - self._policy.queue_items) / rate, 3)),
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
