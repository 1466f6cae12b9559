"""Metrics of the queues in front of the models, by tenant class; read from ``QueueCounts`` when they are scraped."""

from collections.abc import Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.queue_counts import WAIT_BUCKETS_S, QueueCounts, Waits


class QueueMetrics(Collector):
    """All queues of a process.

    Args:
        queues: their counts; a list that grows as models are opened.
    """

    def __init__(self, queues: Sequence[QueueCounts]) -> None:
        self._queues = queues

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        labels = ["model", "tenant_class"]
        waits = HistogramMetricFamily(
            "groundtrail_model_wait_seconds", "Time that a call waited for its first turn at a model", labels=labels
        )
        work = CounterMetricFamily("groundtrail_model_work", "Tokens or characters handed to a model", labels=labels)
        refused = CounterMetricFamily(
            "groundtrail_model_refused", "Calls refused because their tenant filled its queue", labels=labels
        )
        for queue in list(self._queues):
            for tenant_class, waited in sorted(queue.waits.items()):
                waits.add_metric([queue.name, tenant_class], cumulative(waited), sum_value=waited.seconds)
            for tenant_class, cost in sorted(queue.work.items()):
                work.add_metric([queue.name, tenant_class], cost)
            for tenant_class, count in sorted(queue.refused.items()):
                refused.add_metric([queue.name, tenant_class], count)
        yield waits
        yield work
        yield refused


def cumulative(waits: Waits) -> list[tuple[str, float]]:
    """Return the histogram as Prometheus wants it: for each bound how many were at most that long."""
    total = 0
    out: list[tuple[str, float]] = []
    for bound, count in zip((*map(str, WAIT_BUCKETS_S), "+Inf"), waits.buckets, strict=True):
        total += count
        out.append((bound, total))
    return out
