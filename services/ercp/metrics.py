"""What the ERCP service counts besides its calls: how runs ended and what verification found (ERCP 1.0 §3.1, §4.2).

The labels are statuses, stable reasons and error types, closed sets. Nothing is counted by tenant.
"""

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.ercp.domain.vocabulary import ErrorType, Standing, Undecided
from services.ercp.run_counts import ITERATION_BUCKETS, RunCounts, WordsOutcome


class RunMetrics(Collector):
    """Reads the counts of runs when it is scraped."""

    def __init__(self, counts: RunCounts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        ends = CounterMetricFamily(
            "groundtrail_ercp_runs", "Runs of the constraint loop that ended", labels=["status", "reason"]
        )
        for (status, reason), count in sorted(self._counts.ends.items()):
            ends.add_metric([status.value, reason], count)
        yield ends
        iterations = HistogramMetricFamily(
            "groundtrail_ercp_run_iterations", "Candidates that a run took, by how it ended", labels=["status"]
        )
        bounds = (*map(str, map(float, ITERATION_BUCKETS)), "+Inf")
        for status, counted in self._counts.iterations.items():
            buckets = [*zip(bounds, map(float, accumulate(counted.buckets)), strict=True)]
            iterations.add_metric([status.value], buckets, sum_value=counted.total)
        yield iterations
        errors = CounterMetricFamily(
            "groundtrail_ercp_errors", "Errors that verification found in candidates of runs, by type", labels=["type"]
        )
        for error_type in ErrorType:
            errors.add_metric([error_type.value], self._counts.errors[error_type])
        yield errors
        stands = CounterMetricFamily(
            "groundtrail_ercp_constraints",
            "Constraints that verified texts keep, break or leave undecided, and why the last",
            labels=["state", "reason"],
        )
        for standing in Standing:
            for why in Undecided if standing is Standing.UNDECIDED else ("",):
                stands.add_metric([standing.value, str(why)], self._counts.standings[standing, str(why)])
        yield stands
        worded = CounterMetricFamily(
            "groundtrail_ercp_constraint_words",
            "Constraints that came as words alone, by who understood them",
            labels=["outcome"],
        )
        for outcome in WordsOutcome:
            worded.add_metric([outcome.value], self._counts.words[outcome])
        yield worded
