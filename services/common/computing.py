"""Pure work beside the event loop, ended as soon as nobody waits for it any more (ADR 0087).

``compute`` runs a function in one of a few threads of its own and returns its result. When the awaiting task is
cancelled, because the caller went away or its deadline passed, work that waits is never begun, and work that runs is
ended: an exception is delivered into its thread, between two instructions of the interpreter. That is safe for what is
computed here alone: functions that write nothing which outlives them, hold no lock and wait for nothing.

The interpreter lets one thread compute at a time, and each further one that wants to makes the event loop wait longer.
So one thread computes; a second joins in when the first has been at the same work for a while, so that short work does
not wait for long. Tenants take turns, by the time that each has had.
"""

import asyncio
import contextlib
import ctypes
import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import copy_context
from types import FrameType
from typing import Any, Final, Generic, TypeVar, TypeVarTuple

from services.common.fair_turns import FairShares, current_tenant

ResultT = TypeVar("ResultT")
Args = TypeVarTuple("Args")

THREADS: Final = 2
"""Threads that compute, at most."""
SMALL: Final = 16_384
"""Characters or bytes that are worked through on the event loop."""
TURN_S: Final = 0.1
"""How long work computes alone before a further thread joins in, in seconds."""
SWITCH_INTERVAL_S: Final = 0.0001
"""How long the event loop waits for a thread that computes, in seconds; Python's default is fifty times that. A read of
the store takes the lock some twenty times, since SQLite gives it back around every step."""
_FIRST_RETRY_S: Final = 0.02
_LAST_RETRY_S: Final = 1.0
_UNSAFE_FILES: Final = frozenset(
    {threading.__file__, logging.__file__, "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>"}
)
"""Code that takes locks otherwise than by ``with``: work that stands in it is ended a moment later."""


class WorkEndedError(SystemExit):
    """Nobody waits for this work any more. No ``Exception``: what the work itself catches must not catch this."""


def settle_switching() -> None:
    """Have threads that compute give way to the event loop sooner; for a process that serves."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)


async def compute(work: Callable[[*Args], ResultT], *args: *Args) -> ResultT:
    """Return ``work(*args)``, computed beside the event loop; ended when the awaiting task is cancelled.

    Args:
        work: a pure function: it may be ended anywhere, so it must leave nothing half done that anybody sees.
        *args: what it takes.
    """
    return await _POOL.run(work, *args)


async def compute_unless_small(size: int, work: Callable[[*Args], ResultT], *args: *Args) -> ResultT:
    """As ``compute``, but here and now what is so small that a thread would cost more than it saves.

    Args:
        size: of what is worked through, in characters or bytes.
        work: a pure function that takes some milliseconds for ``SMALL`` of them.
        *args: what it takes.
    """
    return work(*args) if size <= SMALL else await compute(work, *args)


def configure(threads: int) -> None:
    """Set how many threads compute, at most; for a process that serves."""
    _POOL.threads = threads


def is_computing() -> bool:
    """Say whether anything is computed just now, or waits for it."""
    return any(_POOL.load())


class Job(Generic[ResultT]):
    """One piece of work; made on the event loop, done in a thread."""

    __slots__ = (
        "_lock",
        "_loop",
        "_open",
        "_thread_id",
        "charged",
        "error",
        "future",
        "owner",
        "sent",
        "started",
        "value",
        "work",
    )

    def __init__(self, work: Callable[[], ResultT], owner: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._open = False
        self._thread_id = 0
        self.work = work
        self.owner = owner
        self.started = 0.0
        self.charged = 0.0
        self.sent = False
        self.future: asyncio.Future[ResultT] = self._loop.create_future()
        self.value: ResultT | None = None
        self.error: BaseException | None = None

    @property
    def running(self) -> bool:
        """Whether the work is being done now."""
        return self._open

    def perform(self) -> None:
        """Do the work; ``close`` has to follow, whatever this raises."""
        with self._lock:
            self._thread_id = threading.get_ident()
            self._open = True
        try:
            self.value = self.work()
        except BaseException as error:  # noqa: BLE001 - raised again where the work is awaited
            self.error = error

    def close(self) -> None:
        """Take no end from now on, and use up one that came too late. May be repeated.

        An end that was sent is sent once more and caught here, where it takes the place of one that was not raised yet.
        It must not be taken back instead: the interpreter would go on looking for it at every call and every turn of a
        loop, and never get past the first instruction of a function whose calls are traced.
        """
        with self._lock:
            self._open = False
        try:
            while self.sent:
                _deliver(threading.get_ident())
        except WorkEndedError:
            self.sent = False

    def hand_over(self) -> None:
        """Give the result to whoever awaits it. May be repeated."""
        with contextlib.suppress(RuntimeError):  # the event loop is closed: nobody awaits it
            self._loop.call_soon_threadsafe(self._settle)

    def end(self, retry_s: float = _FIRST_RETRY_S) -> None:
        """End the work, and see to it that it does end: an exception can get lost where Python cannot raise one."""
        with self._lock:
            if not self._open:
                return
            if not _is_unsafe(sys._current_frames().get(self._thread_id)):  # noqa: SLF001 - documented, for debuggers
                self.sent = True
                _deliver(self._thread_id)
        self._loop.call_later(retry_s, self.end, min(2 * retry_s, _LAST_RETRY_S))

    def _settle(self) -> None:
        if self.future.done():
            return
        if isinstance(self.error, SystemExit):  # the work's own: it would end the process
            self.future.set_exception(RuntimeError(f"work gave up with {type(self.error).__name__}"))
        elif self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.value)  # type: ignore[arg-type]  # set unless there is an error


class ComputePool:
    """A few threads that compute; they start with the first work and never end.

    Args:
        threads: at most that many.
        turn_s: how long work computes alone before a further thread joins in.
    """

    def __init__(self, threads: int = THREADS, turn_s: float = TURN_S) -> None:
        self.threads = threads
        self._turn_s = turn_s
        self._queues: dict[str, deque[Job[Any]]] = {}
        self._shares = FairShares()
        self._running: set[Job[Any]] = set()
        self._changed = threading.Condition()
        self._idle = 0
        self._started = 0

    async def run(self, work: Callable[[*Args], ResultT], *args: *Args) -> ResultT:
        """As ``compute``."""
        context = copy_context()
        job = Job[ResultT](lambda: context.run(work, *args), current_tenant())
        self._put(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._withdraw(job)
            raise
        finally:
            job.error = None  # its traceback holds frames that hold this job

    def load(self) -> tuple[int, int]:
        """Return how much work is being done and how much waits."""
        with self._changed:
            return len(self._running), sum(map(len, self._queues.values()))

    def _put(self, job: Job[Any]) -> None:
        with self._changed:
            self._queues.setdefault(job.owner, deque()).append(job)
            self._shares.join(job.owner)
            self._changed.notify()
            if self._started >= self.threads or self._idle >= sum(map(len, self._queues.values())):
                return
            self._started += 1
        threading.Thread(target=self._serve, name=f"computing-{self._started}", daemon=True).start()

    def _withdraw(self, job: Job[Any]) -> None:
        with self._changed, contextlib.suppress(KeyError, ValueError):
            queue = self._queues[job.owner]
            queue.remove(job)
            self._drop_if_empty(job.owner)
            return
        job.end()

    def _serve(self) -> None:
        """Do one piece of work after the other.

        An end that is delivered when its work is just done unwinds a round, and the next one closes that work. Another
        one can follow only after ``_FIRST_RETRY_S``, if the thread stood still for so long right here: hence twice.
        """
        at_hand: list[Job[Any]] = []
        while True:
            try:
                while True:
                    try:  # noqa: SIM105 - ``suppress`` would be code that may be broken off itself
                        self._round(at_hand)
                    except WorkEndedError:
                        pass
            except WorkEndedError:
                pass

    def _round(self, at_hand: list[Job[Any]]) -> None:
        if not at_hand:
            at_hand.append(self._taken())
            at_hand[0].perform()
        job = at_hand[0]
        job.close()
        with self._changed:
            if job in self._running:
                self._charge(job, time.monotonic())
            self._running.discard(job)
            self._changed.notify()
        job.hand_over()
        at_hand.clear()

    def _taken(self) -> Job[Any]:
        """Return the next work, that of the tenant that had least, once it may begin."""
        with self._changed:
            while True:
                wait_s = self._wait_s() if self._queues else None
                if wait_s == 0:
                    break
                self._idle += 1
                self._changed.wait(wait_s)
                self._idle -= 1
            now = time.monotonic()
            for other in self._running:
                self._charge(other, now)
            owner = self._shares.least()
            self._shares.serve(owner, 0.0)
            job = self._queues[owner].popleft()
            self._drop_if_empty(owner)
            if self._queues:
                self._changed.notify()
            job.started = job.charged = now
            self._running.add(job)
            return job

    def _charge(self, job: Job[Any], now: float) -> None:
        self._shares.charge(job.owner, now - job.charged)
        job.charged = now

    def _drop_if_empty(self, owner: str) -> None:
        if not self._queues[owner]:
            del self._queues[owner]
            self._shares.leave(owner)

    def _wait_s(self) -> float | None:
        """Return in how many seconds one more may compute; ``None`` when only after another is done."""
        if len(self._running) >= self.threads:
            return None
        newest = max((job.started for job in self._running), default=float("-inf"))
        return max(0.0, newest + self._turn_s - time.monotonic())


def _deliver(thread_id: int) -> None:
    """Have the thread raise ``WorkEndedError`` at its next instruction that allows it."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread_id), ctypes.py_object(WorkEndedError))


def _is_unsafe(frame: FrameType | None) -> bool:
    return any(each.f_code.co_filename in _UNSAFE_FILES for each in _stack(frame))


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of a job's work, the innermost first."""
    while frame is not None and frame.f_code is not Job.perform.__code__:
        yield frame
        frame = frame.f_back


_POOL: Final = ComputePool()
"""Of the process: so is the interpreter's lock."""
