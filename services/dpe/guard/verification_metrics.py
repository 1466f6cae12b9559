"""What verified claims count besides their calls."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.dpe.guard.verification_counts import VerificationCounts


class VerificationMetrics(Collector):
    """Reads the counts of verified claims when it is scraped."""

    def __init__(self, counts: VerificationCounts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        claims = CounterMetricFamily("groundtrail_guard_verified_claims", "Claims verified", labels=["verdict"])
        for verdict, count in sorted(self._counts.claims.items()):
            claims.add_metric([verdict], count)
        yield claims
        texts = CounterMetricFamily("groundtrail_guard_verified_texts", "Texts verified", labels=["status"])
        for status, count in sorted(self._counts.texts.items()):
            texts.add_metric([status], count)
        yield texts
