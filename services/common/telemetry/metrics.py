"""Metrics of the RPCs a process serves, in a registry that is handed in.

Labels are service, method and status code: a bounded set, since only registered methods are counted. The counts are
plain numbers that the event loop alone changes; the registry reads them when it is scraped. That costs a call a
fraction of what a lock per sample would.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the duration histogram, in seconds, inclusive."""


class MethodMetrics:
    """The numbers of one RPC; one writer, the event loop."""

    __slots__ = ("buckets", "codes", "in_flight", "method", "seconds", "service")

    def __init__(self, service: str, method: str) -> None:
        self.service = service
        self.method = method
        self.codes: dict[str, int] = {}
        self.buckets = [0] * (len(BUCKETS_S) + 1)
        self.seconds = 0.0
        self.in_flight = 0

    def begin(self) -> None:
        """Count a call in."""
        self.in_flight += 1

    def end(self, code: str, seconds: float) -> None:
        """Count the call out, with its status code's name and its duration."""
        self.in_flight -= 1
        self.codes[code] = self.codes.get(code, 0) + 1
        self.buckets[bisect_left(BUCKETS_S, seconds)] += 1
        self.seconds += seconds


class RpcMetrics(Collector):
    """All RPCs of a process; registers itself."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._methods: dict[str, MethodMetrics] = {}
        registry.register(self)

    def of_method(self, service: str, method: str) -> MethodMetrics:
        """Return the numbers of ``service/method``, made on first use."""
        return self._methods.setdefault(f"{service}/{method}", MethodMetrics(service, method))

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        methods = list(self._methods.values())
        calls = CounterMetricFamily(
            "groundtrail_rpc", "RPCs served, by status code", labels=["service", "method", "code"]
        )
        running = GaugeMetricFamily("groundtrail_rpc_in_flight", "RPCs being served", labels=["service", "method"])
        durations = HistogramMetricFamily(
            "groundtrail_rpc_duration_seconds", "Time from arrival to the last byte", labels=["service", "method"]
        )
        for item in methods:
            where = [item.service, item.method]
            running.add_metric(where, item.in_flight)
            durations.add_metric(where, _cumulative(item.buckets), sum_value=item.seconds)
            for code, count in sorted(item.codes.items()):
                calls.add_metric([*where, code], count)
        yield calls
        yield running
        yield durations


def _cumulative(buckets: list[int]) -> list[tuple[str, float]]:
    total = 0
    out: list[tuple[str, float]] = []
    for bound, count in zip((*map(str, BUCKETS_S), "+Inf"), list(buckets), strict=True):
        total += count
        out.append((bound, total))
    return out
