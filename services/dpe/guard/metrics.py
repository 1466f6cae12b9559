"""What the guard counts besides its calls; one collector for each part, joined by the composition.

Labels are closed sets, and nothing is counted by tenant.
"""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.dpe.domain.guard.coherence import JudgeOpinion
from services.dpe.guard.coherence import CoherenceApp
from services.dpe.guard.judge import Judge

_OUTCOMES = ("approved", "rejected", "unscored")


class GuardMetrics(Collector):
    """The collectors of the parts, as one."""

    def __init__(self, *parts: Collector) -> None:
        self._parts = parts

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        for part in self._parts:
            yield from part.collect()


class CoherenceMetrics(Collector):
    """Reads the counts of coherence scores when it is scraped."""

    def __init__(self, app: CoherenceApp, judge: Judge | None) -> None:
        self._app = app
        self._judge = judge

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        reviews = CounterMetricFamily(
            "groundtrail_guard_coherence_reviews",
            "Answers scored: approved, rejected, or unscored for want of anything to compare with",
            labels=["outcome"],
        )
        for outcome in _OUTCOMES:
            reviews.add_metric([outcome], self._app.outcomes[outcome])
        yield reviews
        looked_up = CounterMetricFamily(
            "groundtrail_guard_score_cache",
            "Scores looked up: remembered (hit), computed (miss), or not looked up (bypassed)",
            labels=["result"],
        )
        for result, count in self._app.cache.counts.items():
            looked_up.add_metric([str(result)], count)
        yield looked_up
        size = GaugeMetricFamily("groundtrail_guard_score_cache_entries", "Scores that are remembered now")
        size.add_metric([], self._app.cache.size)
        yield size
        if self._judge is not None:
            yield self._opinions(self._judge)

    def _opinions(self, judge: Judge) -> Metric:
        said = CounterMetricFamily(
            "groundtrail_guard_judge_opinions", "What the LLM judge said of answers", labels=["opinion"]
        )
        for opinion in (JudgeOpinion.AGREES, JudgeOpinion.DISAGREES, JudgeOpinion.UNCLEAR):
            said.add_metric([str(opinion).lower()], judge.counts[opinion])
        return said
