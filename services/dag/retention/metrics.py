"""What retention counts. One writer, the event loop; the registry reads the numbers when it is scraped."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.ports.sessions import SessionStatus
from services.dag.domain.retention import Stage
from services.dag.retention.acting import Acted, Outcome


@dataclass(eq=False)
class SweepMetrics(Collector):
    """Counts since the process began, and sessions by status as of the last walk over all tenants.

    Attributes:
        sessions: of all tenants; empty until this process has walked over them once.
        done: sessions by what was done to them, by the sweep or on request.
        failed: the same of what could not be done.
        unknown_rules: tenants that were passed over because their register does not verify or cannot be read.
        held: sessions that were due and that a legal hold kept, in the last walk.
        walked_at: when the last walk ended, in seconds since 1970; 0 = none has.
        sweeping: whether this process holds the sweep's claim.
    """

    sessions: Counter[SessionStatus] = field(default_factory=Counter)
    done: Counter[Stage] = field(default_factory=Counter)
    failed: Counter[Stage] = field(default_factory=Counter)
    unknown_rules: int = 0
    held: int = 0
    walked_at: float = 0.0
    sweeping: bool = False

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        sessions = GaugeMetricFamily("groundtrail_sessions", "Sessions by status, all tenants", labels=["status"])
        for status in SessionStatus if self.walked_at else ():
            sessions.add_metric([status.value], self.sessions[status])
        yield sessions
        prefix = "groundtrail_retention"
        done = CounterMetricFamily(f"{prefix}_done", "Sessions expired, erased, buried", labels=["stage"])
        failed = CounterMetricFamily(f"{prefix}_failed", "Sessions that are due and failed", labels=["stage"])
        for stage in Stage:
            done.add_metric([stage.value], self.done[stage])
            failed.add_metric([stage.value], self.failed[stage])
        yield done
        yield failed
        yield CounterMetricFamily(
            f"{prefix}_unknown_rules", "Tenants passed over, their rules unknown", value=self.unknown_rules
        )
        yield GaugeMetricFamily(f"{prefix}_held", "Sessions due that a legal hold keeps", value=self.held)
        yield GaugeMetricFamily(f"{prefix}_walked_seconds", "When the last walk ended", value=self.walked_at)
        yield GaugeMetricFamily(f"{prefix}_active", "1 while this process sweeps", value=int(self.sweeping))


def count(metrics: SweepMetrics, acted: Acted) -> None:
    """Count what was done or failed."""
    if acted.outcome is Outcome.DONE:
        metrics.done[acted.stage] += 1
    elif acted.outcome is Outcome.FAILED:
        metrics.failed[acted.stage] += 1
