"""What the search for injections counts besides its calls. Labels are closed sets; nothing is counted by tenant."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.injection.classes import PatternClass
from services.dpe.domain.guard.intent_divergence import ClaimVerdict
from services.dpe.guard.injection import InjectionCounts


class InjectionMetrics(Collector):
    """Reads the counts of searches when it is scraped."""

    def __init__(self, counts: InjectionCounts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        inputs = CounterMetricFamily(
            "groundtrail_guard_injection_inputs", "Inputs that were searched for injections", labels=["outcome"]
        )
        for outcome in ("passed", "detected", "blocked"):
            inputs.add_metric([outcome], self._counts.inputs[outcome])
        yield inputs
        matches = CounterMetricFamily(
            "groundtrail_guard_injection_matches", "Places where a rule matched", labels=["pattern_class"]
        )
        for pattern_class in PatternClass:
            matches.add_metric([str(pattern_class)], self._counts.matches[str(pattern_class)])
        yield matches
        claims = CounterMetricFamily(
            "groundtrail_guard_injection_claims", "Claims held against an intent", labels=["verdict"]
        )
        for verdict in ClaimVerdict:
            claims.add_metric([str(verdict)], self._counts.claims[str(verdict)])
        yield claims
