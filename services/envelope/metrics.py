"""What the envelope service counts besides its calls: searches by mode (ADR 0066), and what holds when (ADR 0109).

The labels are the mode and a stable reason, closed sets. Nothing is counted by tenant.
"""

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.envelope.retrieval_counts import BUCKETS_S, RetrievalCounts, TimeCounts


class RetrievalMetrics(Collector):
    """Reads the counts of retrieval when it is scraped."""

    def __init__(self, counts: RetrievalCounts, times: TimeCounts) -> None:
        self._counts = counts
        self._times = times

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        durations = HistogramMetricFamily(
            "groundtrail_retrieval_duration_seconds", "Time of a search, by the mode asked for", labels=["mode"]
        )
        fallbacks = CounterMetricFamily(
            "groundtrail_retrieval_keyword_fallbacks",
            "Searches for which the vectors returned nothing, so that words were searched",
            labels=["mode"],
        )
        degraded = CounterMetricFamily(
            "groundtrail_retrieval_degraded",
            "Searches answered in another mode than was asked for, by the reason",
            labels=["mode", "reason"],
        )
        for mode, counts in self._counts.modes.items():
            bounds = (*map(str, BUCKETS_S), "+Inf")
            buckets = [*zip(bounds, map(float, accumulate(counts.buckets)), strict=True)]
            durations.add_metric([mode.name], buckets, sum_value=counts.seconds)
            fallbacks.add_metric([mode.name], counts.keyword_fallbacks)
            for reason, count in sorted(counts.degraded.items()):
                degraded.add_metric([mode.name, reason], count)
        yield durations
        yield fallbacks
        yield degraded
        times = (
            ("groundtrail_envelope_builds_beyond_now", "Builds that looked for what does not hold now",
             self._times.beyond_now),
            ("groundtrail_envelope_facts_out_of_time", "Facts packed that do not hold now",
             self._times.facts_out_of_time),
            ("groundtrail_envelope_source_conflicts", "Things on which packed facts disagreed",
             self._times.conflicts),
        )  # fmt: skip
        for name, meaning, count in times:
            counter = CounterMetricFamily(name, meaning)
            counter.add_metric([], count)
            yield counter
