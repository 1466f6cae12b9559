"""What retrieval counts: searches, durations and what it had to do without, by mode. One writer, the event loop."""

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final

from services.common.taxonomy import RetrievalMode

BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the duration histogram, in seconds, inclusive."""


@dataclass(slots=True)
class ModeCounts:
    """The numbers of one mode as it was asked for.

    Attributes:
        buckets: searches by duration, one count per bound of ``BUCKETS_S`` and one for those beyond.
        seconds: all durations together.
        keyword_fallbacks: searches for which the vectors returned nothing.
        degraded: searches that another mode answered, by the reason (a stable error reason).
    """

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))
    seconds: float = 0.0
    keyword_fallbacks: int = 0
    degraded: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class TimeCounts:
    """What builds had to do with time since the process started (ADR 0109).

    Attributes:
        beyond_now: builds that looked for what does not hold now, because the query or the caller asked for it.
        facts_out_of_time: facts packed that do not hold now.
        conflicts: things on which packed facts disagreed.
    """

    beyond_now: int = 0
    facts_out_of_time: int = 0
    conflicts: int = 0


class RetrievalCounts:
    """The numbers of every mode since the process started."""

    def __init__(self) -> None:
        self.modes: dict[RetrievalMode, ModeCounts] = {mode: ModeCounts() for mode in RetrievalMode}

    def ended(self, mode: RetrievalMode, seconds: float) -> None:
        """Count a search that was answered."""
        counts = self.modes[mode]
        counts.buckets[bisect_left(BUCKETS_S, seconds)] += 1
        counts.seconds += seconds

    def fell_back(self, mode: RetrievalMode) -> None:
        """Count a search for which the vectors returned nothing."""
        self.modes[mode].keyword_fallbacks += 1

    def degraded(self, mode: RetrievalMode, reason: str) -> None:
        """Count a search that another mode had to answer."""
        degraded = self.modes[mode].degraded
        degraded[reason] = degraded.get(reason, 0) + 1
