"""How many claims and pairs the encoders read, and how many a second one read again, for a registry (ADR 0206)."""

import threading
from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector


class ReadingCounts(Collector):
    """Counts of readings by kind of model; to be registered by whoever has a registry."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: Counter[tuple[str, str]] = Counter()

    def read(self, kind: str, once: int, again: int) -> None:
        """Count a call.

        Args:
            kind: ``grounding`` or ``entailment``.
            once: what the first encoder read.
            again: how much of it the second one read, too.
        """
        with self._lock:
            self._numbers[kind, "first"] += once
            self._numbers[kind, "second"] += again

    def of(self, kind: str, reader: str) -> int:
        """Return how much a reader (``first``, ``second``) of a kind has read."""
        with self._lock:
            return self._numbers[kind, reader]

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        family = CounterMetricFamily(
            "groundtrail_encoder_readings",
            "Claims (grounding) and pairs (entailment) that an encoder read where a second one reads again",
            labels=["kind", "reader"],
        )
        with self._lock:
            numbers = dict(self._numbers)
        for labels, count in sorted(numbers.items()):
            family.add_metric(list(labels), count)
        yield family
