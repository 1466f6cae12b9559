"""What a process counts of its vector engine, and how a registry reads it (ADR 0129)."""

import threading
from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector


class EngineCounts(Collector):
    """Searches and failures; to be registered by whoever has a registry. Labels are bounded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._searches: Counter[tuple[str, str]] = Counter()
        self._failures: Counter[tuple[str, str]] = Counter()

    def searched(self, engine: str, outcome: str) -> None:
        """Count a search: ``answered``, ``failed``, ``short`` (fewer proposals than there are), ``resting``."""
        with self._lock:
            self._searches[engine, outcome] += 1

    def failed(self, engine: str, doing: str) -> None:
        """Count what an engine did not do: ``search``, ``list``, ``add``, ``remove``, ``erase``."""
        with self._lock:
            self._failures[engine, doing] += 1

    def of_searches(self, outcome: str) -> int:
        """Return how many searches ended so, with whatever engine."""
        with self._lock:
            return sum(count for (_, found), count in self._searches.items() if found == outcome)

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        searches = CounterMetricFamily(
            "groundtrail_vector_engine_searches",
            "Searches that an engine was to propose for, by what came of it",
            labels=["engine", "outcome"],
        )
        failures = CounterMetricFamily(
            "groundtrail_vector_engine_failures", "What an engine did not do when asked", labels=["engine", "doing"]
        )
        with self._lock:
            counted = [(searches, dict(self._searches)), (failures, dict(self._failures))]
        for family, numbers in counted:
            for labels, count in sorted(numbers.items()):
                family.add_metric(list(labels), count)
        yield from (searches, failures)
