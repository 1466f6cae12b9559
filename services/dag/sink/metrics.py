"""What the event sink counts. One writer, the event loop; the registry reads the numbers when it is scraped."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.ports.event_endpoint import Outcome


@dataclass(eq=False)
class SinkMetrics(Collector):
    """Counts since the process began, and how far the sink is behind.

    Attributes:
        sent: events that the endpoint accepted.
        attempts: requests by outcome.
        missing: events that the log names and the store does not hold: a chain that was tampered with.
        behind: records of the log, windows among them, that are not dealt with yet.
        oldest_s: age of the oldest event that waits, in seconds.
        sending: whether this process holds the sink's claim.
    """

    sent: int = 0
    attempts: Counter[Outcome] = field(default_factory=Counter)
    missing: int = 0
    behind: int = 0
    oldest_s: float = 0.0
    sending: bool = False

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        prefix = "groundtrail_event_sink"
        yield CounterMetricFamily(f"{prefix}_sent", "Audit events that the endpoint accepted", value=self.sent)
        failed = CounterMetricFamily(f"{prefix}_failed", "Requests that have to be sent again", labels=["outcome"])
        for outcome in Outcome:
            if outcome is not Outcome.ACCEPTED:
                failed.add_metric([outcome.value], self.attempts[outcome])
        yield failed
        yield CounterMetricFamily(
            f"{prefix}_missing", "Audit events that the store no longer holds", value=self.missing
        )
        yield GaugeMetricFamily(f"{prefix}_lag_records", "Records of the log not dealt with yet", value=self.behind)
        yield GaugeMetricFamily(f"{prefix}_lag_seconds", "Age of the oldest event that waits", value=self.oldest_s)
        yield GaugeMetricFamily(f"{prefix}_active", "1 while this process sends", value=int(self.sending))
