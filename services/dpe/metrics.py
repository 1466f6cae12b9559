"""What the provenance service counts besides its calls: hits and misses of the answers that it remembers (ADR 0041).

The label is the model's role, a closed set. Nothing is counted by tenant: how much a tenant asks twice is its own.
"""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.dpe.answer_cache import AnswerCache


class CacheMetrics(Collector):
    """Reads the counts of a cache when it is scraped."""

    def __init__(self, cache: AnswerCache) -> None:
        self._cache = cache

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        asked = CounterMetricFamily(
            "groundtrail_dpe_model_answers",
            "Distinct things asked of a model: found in the cache, or computed",
            labels=["model", "source"],
        )
        for role, counted in self._cache.counts.items():
            asked.add_metric([str(role), "cache"], counted.hits)
            asked.add_metric([str(role), "model"], counted.misses)
        yield asked
        size = GaugeMetricFamily("groundtrail_dpe_cache_bytes", "What the cache of model answers takes, estimated")
        size.add_metric([], self._cache.size_bytes)
        yield size
