"""A bounded number of child processes that take jobs, and are ended when a job or its caller is (ADR 0085).

Children are started when a job needs one and ended when none did for a while. A job has a limit of processor time and
its child one of memory. A caller that is cancelled takes its job along: what does not end by itself within a short
grace is killed, and the next job has a new child. A child that somebody else ends in the middle of a job is replaced
and the job tried once more; nobody else notices. One that crashes is the job's own doing: it is not tried again.

Jobs that wait are taken in turns by tenant, by what they cost (ADR 0088): who has a hundred waiting keeps nobody else.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final

from services.common.fair_turns import FairTurns, Turn, current_tenant
from services.common.queue_counts import QueueCounts, current_class
from services.common.workers.counts import PoolCounts
from services.common.workers.errors import JobLimitError, QueueFullError, WorkerLostError, WorkersClosedError
from services.common.workers.frames import Json
from services.common.workers.process import ChildLostError, ChildProcess

_LOG: Final = logging.getLogger(__name__)
_STUCK_FACTOR: Final = 20
"""A child that waits instead of computing is given up after so many times its limit of processor time."""
_LEAST_LOOK_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """What a pool and its jobs may take.

    Attributes:
        processes: children at once.
        memory_mib: address space of a child.
        job_s: processor time of a job.
        idle_s: seconds after which an unused child is ended.
        grace_s: seconds that a job goes on after its caller went away, so that a child is not lost for nothing.
        niceness: added to the priority number of a child; 0 = as the parent.
        queue_cost: what the jobs of one tenant that wait may cost together; one may wait whatever it costs. ``None`` =
            whoever gives jobs bounds them.
    """

    processes: int
    memory_mib: int
    job_s: float
    idle_s: float
    grace_s: float = 0.3
    niceness: int = 0
    queue_cost: int | None = None


class WorkerPool:
    """Runs jobs in children of one kind; belongs to one event loop.

    Args:
        name: of the pool, in logs and metrics.
        module: what a child runs as ``python -m``; it calls ``child.serve``.
        configuration: given to each child when it starts; nothing secret.
        limits: what it may take.
        counts: its numbers.
    """

    def __init__(
        self, name: str, module: str, configuration: Json, limits: WorkerLimits, counts: PoolCounts | None = None
    ) -> None:
        self._name = name
        self._module = module
        self._setting = {
            "configuration": configuration,
            "memory_mib": limits.memory_mib,
            "niceness": limits.niceness,
        }
        self._limits = limits
        self._counts = counts or PoolCounts()
        self._queue_counts = QueueCounts(name)
        self._turns = FairTurns(limits.processes)
        self._waiting: Counter[str] = Counter()  # the cost of what waits, by tenant
        self._held: dict[ChildProcess, Turn] = {}  # by the children that are not idle
        self._idle: list[tuple[ChildProcess, asyncio.TimerHandle]] = []
        self._children: set[ChildProcess] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._closed = False
        self.failing = False
        """Whether the latest attempt to start a child failed."""

    @property
    def limits(self) -> WorkerLimits:
        """What it and its jobs may take."""
        return self._limits

    @property
    def counts(self) -> PoolCounts:
        """What it counts."""
        return self._counts

    @property
    def queue_counts(self) -> QueueCounts:
        """What it counts by tenant class."""
        return self._queue_counts

    @property
    def pids(self) -> list[int]:
        """The process ids of its children."""
        return sorted(child.pid for child in self._children)

    def processor_s(self) -> float:
        """Return the processor time that its children have used, in seconds."""
        return sum(child.processor_s() or 0.0 for child in self._children)

    async def run(self, job: str, arguments: Json, blob: bytes = b"", *, cost: int = 1) -> list[Json]:
        """Return the parts of a job's answer.

        Args:
            job: its name in the child.
            arguments: what it takes.
            blob: bytes that it takes.
            cost: the work that it is, in a unit of the pool's users; the tenants' shares are counted in it.

        Raises:
            CrpError: what the job raised for the caller.
            JobLimitError: it took too long or too much memory.
            JobFailedError: it raised something else.
            QueueFullError: as much of the tenant waits as may.
            WorkerLostError: its child crashed, or two in a row were ended by somebody else.
            WorkerStartError: no child can be started.
            WorkersClosedError: the pool is closed.
        """
        lost: ChildLostError | None = None
        for again in (False, True):
            child = await self._take(cost, again=again)
            try:
                return await self._ask(child, job, arguments, blob)
            except ChildLostError as error:
                lost = error
                if error.by_itself:
                    break
        assert lost is not None
        raise WorkerLostError(lost.status) from lost

    async def close(self) -> None:
        """End all children, also those with a job; idempotent."""
        self._closed = True
        for _, timer in self._idle:
            timer.cancel()
        self._idle.clear()
        while self._children or self._background:
            for child in list(self._children):
                self._end(child, "closed")
            await asyncio.wait(set(self._background))

    async def _take(self, cost: int, *, again: bool) -> ChildProcess:
        """Return a child that has no job; its turn is the caller's until the child is laid down or gone."""
        arrived = time.monotonic()
        turn = await self._turn(cost, again=again)
        if self._closed:
            self._turns.give(turn)
            raise WorkersClosedError
        if self._idle:
            child, timer = self._idle.pop()
            timer.cancel()
            self._held[child] = turn
        else:
            child = await self._started(turn)
        waited = time.monotonic() - arrived
        self._counts.count_wait(waited)
        self._counts.busy += 1
        if not again:
            self._queue_counts.waited(current_class(), waited)
        self._queue_counts.served(current_class(), cost)
        return child

    async def _turn(self, cost: int, *, again: bool) -> Turn:
        tenant, most = current_tenant(), self._limits.queue_cost
        if most is not None and not again and tenant in self._waiting and self._waiting[tenant] + cost > most:
            self._queue_counts.full(current_class())
            raise QueueFullError
        self._waiting[tenant] += cost
        self._counts.waiting += 1
        try:
            return await self._turns.take(tenant, cost, urgent=again)
        finally:
            self._counts.waiting -= 1
            self._waiting[tenant] -= cost
            if not self._waiting[tenant]:
                del self._waiting[tenant]

    async def _started(self, turn: Turn) -> ChildProcess:
        """Start a child. It is nobody's work: a caller that goes away leaves it to the next one."""
        starting = asyncio.ensure_future(ChildProcess.start(self._module, self._setting))
        try:
            child = await asyncio.shield(starting)
        except asyncio.CancelledError:
            self._later(self._keep(starting, turn))
            raise
        except BaseException as error:
            self._fail(error, turn)
            raise
        self._admit(child, turn)
        if self._closed:
            self._rest(child)
            raise WorkersClosedError
        return child

    async def _keep(self, starting: "asyncio.Future[ChildProcess]", turn: Turn) -> None:
        try:
            child = await starting
        except Exception as error:  # noqa: BLE001 - nobody waits for it any more
            self._fail(error, turn)
            return
        self._admit(child, turn)
        self._rest(child)

    def _fail(self, error: BaseException, turn: Turn) -> None:
        _LOG.warning("a worker of pool %s cannot be started: %s", self._name, error)
        self.failing = True
        self._turns.give(turn)

    def _admit(self, child: ChildProcess, turn: Turn) -> None:
        self.failing = False
        self._held[child] = turn
        self._children.add(child)
        self._counts.running += 1

    async def _ask(self, child: ChildProcess, job: str, arguments: Json, blob: bytes) -> list[Json]:
        answer = asyncio.ensure_future(child.ask(job, arguments, blob))
        try:
            over = await self._is_over(child, answer)
        except asyncio.CancelledError:
            self._later(self._abandon(child, answer))
            raise
        if over:
            self._lose(child, answer, "time")
            raise JobLimitError("time")
        try:
            parts = answer.result()
        except ChildLostError as error:
            self._lose(child, answer, "memory" if error.out_of_memory else "lost")
            if self._closed:
                raise WorkersClosedError from error
            if error.out_of_memory:
                raise JobLimitError("memory") from None
            raise
        except BaseException:  # the job failed, the child is well
            self._give_back(child)
            raise
        self._give_back(child)
        return parts

    async def _is_over(self, child: ChildProcess, answer: "asyncio.Future[Any]") -> bool:
        """Wait for the answer and say whether the job has used up its time without one."""
        limit, began = self._limits.job_s, time.monotonic()
        before = child.processor_s() or 0.0
        left = limit
        while True:
            await asyncio.wait({answer}, timeout=max(left, _LEAST_LOOK_S))
            if answer.done():
                return False
            spent, now = time.monotonic() - began, child.processor_s()
            used = spent if now is None else now - before
            if used >= limit or spent >= limit * _STUCK_FACTOR:
                return True
            left = limit - used

    async def _abandon(self, child: ChildProcess, answer: "asyncio.Future[Any]") -> None:
        """Let the job of a caller that went away end by itself, for a moment; then end it."""
        await asyncio.wait({answer}, timeout=self._limits.grace_s)
        if not answer.done() or isinstance(answer.exception(), ChildLostError):
            self._lose(child, answer, "cancelled")
        else:
            self._give_back(child)

    def _lose(self, child: ChildProcess, answer: "asyncio.Future[Any]", reason: str) -> None:
        """End a child that has a job; its place opens for the next when it is gone."""
        self._count_out(child, reason)
        self._later(self._replace(child, answer))

    async def _replace(self, child: ChildProcess, answer: "asyncio.Future[Any]") -> None:
        await child.kill()
        await asyncio.wait({answer})
        if not answer.cancelled():
            answer.exception()  # it has been told by other means
        self._counts.busy -= 1
        self._turns.give(self._held.pop(child))

    def _give_back(self, child: ChildProcess) -> None:
        self._counts.busy -= 1
        self._rest(child)

    def _rest(self, child: ChildProcess) -> None:
        """Lay a child down for the next job and open its place."""
        if self._closed:
            self._end(child, "closed")
        else:
            timer = asyncio.get_running_loop().call_later(self._limits.idle_s, self._retire, child)
            self._idle.append((child, timer))
        self._turns.give(self._held.pop(child))

    def _retire(self, child: ChildProcess) -> None:
        self._idle = [entry for entry in self._idle if entry[0] is not child]
        self._end(child, "idle")

    def _end(self, child: ChildProcess, reason: str) -> None:
        """End a child without a job."""
        self._count_out(child, reason)
        self._later(child.kill())

    def _count_out(self, child: ChildProcess, reason: str) -> None:
        if child in self._children:  # else the pool was closed meanwhile
            self._children.remove(child)
            self._counts.count_end(reason)
            if reason not in {"idle", "closed"}:
                _LOG.warning("worker %d of pool %s was ended: %s", child.pid, self._name, reason)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
