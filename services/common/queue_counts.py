"""What a queue in front of a model counts by tenant class: how long calls waited, what was computed, who was refused.

Plain numbers that the event loop alone changes; ``telemetry.queues`` shows them to a scraper. Classes come from the
settings, so that there are few of them however many tenants there are.
"""

from bisect import bisect_left
from typing import Final

from services.common.context import STANDARD_CLASS, current_call

WAIT_BUCKETS_S: Final = (0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the histograms of waiting, in seconds, inclusive."""


def current_class() -> str:
    """Return the class of the tenant whose call runs; the standard one outside of a call."""
    try:
        return current_call().tenant_class
    except LookupError:
        return STANDARD_CLASS


class Waits:
    """A histogram of seconds."""

    __slots__ = ("buckets", "seconds")

    def __init__(self) -> None:
        self.buckets = [0] * (len(WAIT_BUCKETS_S) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count one wait."""
        self.buckets[bisect_left(WAIT_BUCKETS_S, seconds)] += 1
        self.seconds += seconds


class QueueCounts:
    """The numbers of one queue.

    Attributes:
        name: of the model.
        waits: how long calls waited for their first turn, by class.
        work: what was handed to the model, by class; tokens for encoders, characters for what reads text.
        refused: calls that met a full queue, by class.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.waits: dict[str, Waits] = {}
        self.work: dict[str, float] = {}
        self.refused: dict[str, int] = {}

    def waited(self, tenant_class: str, seconds: float) -> None:
        """Count a call that has its first turn."""
        self.waits.setdefault(tenant_class, Waits()).add(seconds)

    def served(self, tenant_class: str, cost: float) -> None:
        """Count work that was handed to the model."""
        self.work[tenant_class] = self.work.get(tenant_class, 0.0) + cost

    def full(self, tenant_class: str) -> None:
        """Count a call that was refused because its tenant has filled its share."""
        self.refused[tenant_class] = self.refused.get(tenant_class, 0) + 1
