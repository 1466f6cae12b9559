"""What the provenance service counts besides its calls: remembered answers (ADR 0041), second opinions (ADR 0119).

The label is the model's role, a closed set. Nothing is counted by tenant: how much a tenant asks twice is its own.
"""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.dpe.answer_cache import AnswerCache
from services.dpe.domain.models import ModelRole
from services.dpe.opinions import OpinionCounts


class ProvenanceMetrics(Collector):
    """Reads the counts of a cache, and of second opinions where they are asked for, when it is scraped."""

    def __init__(self, cache: AnswerCache, opinions: OpinionCounts | None = None) -> None:
        self._cache = cache
        self._opinions = opinions

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        asked = CounterMetricFamily(
            "groundtrail_dpe_model_answers",
            "Distinct things asked of a model: found in the cache, or computed",
            labels=["model", "source"],
        )
        for role, counted in self._cache.counts.items():
            if role is ModelRole.SECOND_OPINION and self._opinions is None:
                continue
            asked.add_metric([str(role), "cache"], counted.hits)
            asked.add_metric([str(role), "model"], counted.misses)
        yield asked
        size = GaugeMetricFamily("groundtrail_dpe_cache_bytes", "What the cache of model answers takes, estimated")
        size.add_metric([], self._cache.size_bytes)
        yield size
        if self._opinions is not None:
            yield from _of_opinions(self._opinions)


def _of_opinions(counts: OpinionCounts) -> Iterator[Metric]:
    claims = CounterMetricFamily(
        "groundtrail_dpe_second_opinion_claims",
        "Claims with a vote (asked, cached), of these moved, and those left without one",
        labels=["outcome"],
    )
    for outcome in ("asked", "cached", "moved", "left"):
        claims.add_metric([outcome], counts.claims[outcome])
    yield claims
    calls = CounterMetricFamily(
        "groundtrail_dpe_second_opinion_calls",
        "Calls to the endpoint: answered, or why they gave nothing",
        labels=["outcome"],
    )
    for outcome in sorted({"answered", *counts.calls}):
        calls.add_metric([outcome], counts.calls[outcome])
    yield calls
    tokens = CounterMetricFamily(
        "groundtrail_dpe_second_opinion_tokens", "Tokens that the endpoint took", labels=["kind"]
    )
    for kind in ("prompt", "completion"):
        tokens.add_metric([kind], counts.tokens[kind])
    yield tokens
