"""What runs of the loop count: how they ended, after how many iterations, and what verification found.

One writer, the event loop. A run that is only read back from its trace is not counted again.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Final

from services.ercp.domain.records import ConstraintOutcome
from services.ercp.domain.vocabulary import ErrorType, RunStatus, Standing

ITERATION_BUCKETS: Final = (1, 2, 3, 5, 8, 13, 20, 30, 50)
"""Upper bounds of the histogram of iterations, inclusive."""


@unique
class WordsOutcome(StrEnum):
    """What became of a constraint that came as words alone (ADR 0116, 0117)."""

    RULES = "rules"
    LANGUAGE_MODEL = "language_model"
    IN_WORDS = "in_words"
    """Nothing understood it; the second detector alone holds texts against it."""
    REFUSED = "refused"


@dataclass(slots=True)
class IterationCounts:
    """Iterations of the runs that ended with one status.

    Attributes:
        buckets: runs by iterations, one count per bound of ``ITERATION_BUCKETS`` and one for those beyond.
        total: all their iterations together.
    """

    buckets: list[int] = field(default_factory=lambda: [0] * (len(ITERATION_BUCKETS) + 1))
    total: int = 0


class RunCounts:
    """The numbers of all runs since the process started.

    Attributes:
        ends: runs by status and reason.
        iterations: by status.
        errors: what verification found in candidates of runs, by type.
        standings: how texts that were verified stand to constraints, by state and why it is undecided.
        words: constraints that came as words alone, by what became of them.
    """

    def __init__(self) -> None:
        self.ends: Counter[tuple[RunStatus, str]] = Counter()
        self.iterations = {status: IterationCounts() for status in RunStatus}
        self.errors: Counter[ErrorType] = Counter()
        self.standings: Counter[tuple[Standing, str]] = Counter()
        self.words: Counter[WordsOutcome] = Counter()

    def ended(self, status: RunStatus, reason: str, iterations: int) -> None:
        """Count a run that has just ended; ``reason`` is a stable token."""
        self.ends[status, reason] += 1
        counts = self.iterations[status]
        counts.buckets[bisect_left(ITERATION_BUCKETS, iterations)] += 1
        counts.total += iterations

    def found(self, types: Iterable[ErrorType]) -> None:
        """Count the errors of one verified candidate."""
        self.errors.update(types)

    def worded(self, outcome: WordsOutcome) -> None:
        """Count a constraint that came as words alone."""
        self.words[outcome] += 1

    def stood(self, outcomes: Iterable[ConstraintOutcome]) -> None:
        """Count how one verified text stands to its constraints."""
        self.standings.update((each.standing, each.reason.value if each.reason else "") for each in outcomes)
