"""What the pools of a process count, and how a registry reads it.

Labels are the pools' names and a few reasons, both bounded. The event loop alone changes the numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

BUCKETS_S: Final = (0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the time in the queue, in seconds, inclusive."""


@dataclass(slots=True)
class PoolCounts:
    """The numbers of one pool.

    Attributes:
        running: children that are there, idle ones included.
        busy: children with a job.
        waiting: jobs that wait for a child.
        ended: children that are gone, by why: ``idle``, ``closed``, ``cancelled``, ``time``, ``memory``, ``lost``.
        waited: jobs by how long they waited; one more than ``BUCKETS_S``.
    """

    running: int = 0
    busy: int = 0
    waiting: int = 0
    ended: dict[str, int] = field(default_factory=dict)
    waited: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))
    waited_s: float = 0.0

    def count_end(self, reason: str) -> None:
        """Count a child out."""
        self.running -= 1
        self.ended[reason] = self.ended.get(reason, 0) + 1

    def count_wait(self, seconds: float) -> None:
        """Count a job that has got its child."""
        self.waited[next((at for at, bound in enumerate(BUCKETS_S) if seconds <= bound), len(BUCKETS_S))] += 1
        self.waited_s += seconds


class WorkerCounts(Collector):
    """The numbers of all pools of a process; to be registered by whoever has a registry."""

    def __init__(self) -> None:
        self._pools: dict[str, PoolCounts] = {}

    def of_pool(self, name: str) -> PoolCounts:
        """Return the numbers of a pool, made on first use."""
        return self._pools.setdefault(name, PoolCounts())

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        running = GaugeMetricFamily("groundtrail_workers", "Worker processes, idle ones included", labels=["pool"])
        busy = GaugeMetricFamily("groundtrail_workers_busy", "Worker processes with a job", labels=["pool"])
        waiting = GaugeMetricFamily("groundtrail_worker_jobs_waiting", "Jobs without a process", labels=["pool"])
        ended = CounterMetricFamily(
            "groundtrail_workers_ended", "Worker processes that have ended, by why", labels=["pool", "reason"]
        )
        waits = HistogramMetricFamily(
            "groundtrail_worker_queue_seconds", "Time that jobs waited for a process", labels=["pool"]
        )
        for name, pool in list(self._pools.items()):
            running.add_metric([name], pool.running)
            busy.add_metric([name], pool.busy)
            waiting.add_metric([name], pool.waiting)
            for reason, count in sorted(pool.ended.items()):
                ended.add_metric([name, reason], count)
            waits.add_metric([name], _cumulative(pool.waited), sum_value=pool.waited_s)
        yield from (running, busy, waiting, ended, waits)


def _cumulative(buckets: list[int]) -> list[tuple[str, float]]:
    total = 0
    out: list[tuple[str, float]] = []
    for bound, count in zip((*map(str, BUCKETS_S), "+Inf"), buckets, strict=True):
        total += count
        out.append((bound, total))
    return out
