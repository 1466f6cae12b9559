"""Metrics of the door by tenant class: refusals by reason, time in line, admitted work, the measured pace."""

from collections import Counter
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.queue_counts import Waits
from services.common.telemetry.queues import cumulative


class AdmissionCounts(Collector):
    """The door's numbers; plain ones, which the event loop alone changes. Registers itself.

    Attributes:
        pace: returns the measured pace in units per second; set by the door.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.pace: Callable[[], float | None] = lambda: None
        self._refused: Counter[tuple[str, str]] = Counter()
        self._waits: dict[str, Waits] = {}
        self._waiting: Counter[str] = Counter()
        self._admitted: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        registry.register(self)

    def refuse(self, tenant_class: str, reason: str) -> None:
        """Count a call that was refused for what is under way."""
        self._refused[tenant_class, reason] += 1

    def wait(self, tenant_class: str) -> None:
        """Count a call into the line."""
        self._waiting[tenant_class] += 1

    def waited(self, tenant_class: str, seconds: float) -> None:
        """Count a call out of the line, whatever ended its wait."""
        self._waiting[tenant_class] -= 1
        self._waits.setdefault(tenant_class, Waits()).add(seconds)

    def admit(self, tenant_class: str, units: int) -> None:
        """Count admitted work."""
        self._admitted[tenant_class] += units
        self._running[tenant_class] += units

    def release(self, tenant_class: str, units: int) -> None:
        """Count admitted work out that has ended."""
        self._running[tenant_class] -= units

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        refused = CounterMetricFamily(
            "groundtrail_admission_refused", "Calls refused at the door", labels=["tenant_class", "reason"]
        )
        for (tenant_class, reason), count in sorted(self._refused.items()):
            refused.add_metric([tenant_class, reason], count)
        yield refused
        waits = HistogramMetricFamily(
            "groundtrail_admission_wait_seconds", "Time in line for a place to compute", labels=["tenant_class"]
        )
        for tenant_class, waited in sorted(self._waits.items()):
            waits.add_metric([tenant_class], cumulative(waited), sum_value=waited.seconds)
        yield waits
        waiting = GaugeMetricFamily("groundtrail_admission_waiting", "Calls in line", labels=["tenant_class"])
        work = CounterMetricFamily("groundtrail_admitted_work", "Units of work admitted", labels=["tenant_class"])
        running = GaugeMetricFamily(
            "groundtrail_admitted_work_in_flight", "Units of work admitted and not ended", labels=["tenant_class"]
        )
        for family, numbers in ((waiting, self._waiting), (work, self._admitted), (running, self._running)):
            for tenant_class, number in sorted(numbers.items()):
                family.add_metric([tenant_class], number)
            yield family
        pace = GaugeMetricFamily("groundtrail_work_per_second", "Units of work that calls were seen to do in a second")
        pace.add_metric([], self.pace() or 0.0)
        yield pace
