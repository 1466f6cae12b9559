"""The measures of ``make eval`` and ``make eval-models``, pure: ranking, classes, separation, spans, intervals."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.common.measures import (
    NORMAL_95,
    Interval,
    Labels,
    ReliabilityBin,
    Scores,
    auroc,
    balanced_accuracy,
    bootstrap_interval,
    equal_mass_bins,
    equal_width_bins,
    expected_calibration_error,
    wilson_interval,
)

__all__ = [
    "NORMAL_95",
    "Interval",
    "Labels",
    "ReliabilityBin",
    "Scores",
    "SpanCounts",
    "auroc",
    "balanced_accuracy",
    "best_threshold",
    "bootstrap_interval",
    "class_recalls",
    "confusion",
    "equal_mass_bins",
    "equal_width_bins",
    "expected_calibration_error",
    "macro_f1",
    "ndcg",
    "recall",
    "wilson_interval",
]


def ndcg(ranking: Sequence[str], grades: Mapping[str, float], depth: int) -> float:
    """Return the normalised discounted cumulative gain at ``depth``; the gain of a document is its grade.

    Raises:
        ValueError: no document has a grade above 0.
    """
    ideal = _discounted(sorted(grades.values(), reverse=True)[:depth])
    if ideal <= 0.0:
        raise ValueError("nothing is relevant: nDCG has no value")
    return _discounted([grades.get(item, 0.0) for item in ranking[:depth]]) / ideal


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))


def recall(ranking: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """Return the share of the relevant documents among the first ``depth``.

    Raises:
        ValueError: nothing is relevant.
    """
    if not relevant:
        raise ValueError("nothing is relevant: recall has no value")
    return len(set(ranking[:depth]) & set(relevant)) / len(relevant)


def best_threshold(scores: Scores, labels: Labels) -> float:
    """Return the score whose use as threshold gives the highest balanced accuracy; of equals the lowest.

    Raises:
        ValueError: one class is missing.
    """
    if labels.all() or not labels.any():
        raise ValueError("a threshold needs both classes")
    candidates = np.unique(scores)
    accuracies = [balanced_accuracy(scores, labels, float(candidate)) or 0.0 for candidate in candidates]
    return float(candidates[int(np.argmax(accuracies))])


def confusion(truth: NDArray[np.intp], predicted: NDArray[np.intp], classes: int) -> NDArray[np.intp]:
    """Return how often class ``i`` was taken for class ``j``: shape ``(classes, classes)``."""
    matrix = np.zeros((classes, classes), dtype=np.intp)
    np.add.at(matrix, (truth, predicted), 1)
    return matrix


def class_recalls(matrix: NDArray[np.intp]) -> tuple[float | None, ...]:
    """Return each class's share that was recognised; ``None`` for a class that does not occur."""
    return tuple(float(row[i] / row.sum()) if row.sum() else None for i, row in enumerate(matrix))


def macro_f1(matrix: NDArray[np.intp]) -> float:
    """Return the mean F1 over the classes that occur; a class that is only ever guessed lowers the others' precision.

    Raises:
        ValueError: there is nothing to measure.
    """
    occurring = [i for i in range(len(matrix)) if matrix[i].sum()]
    if not occurring:
        raise ValueError("no row: macro-F1 has no value")
    counts = [SpanCounts(int(matrix[i, i]), int(matrix[:, i].sum()), int(matrix[i].sum())) for i in occurring]
    return sum(one.f1 for one in counts) / len(counts)


@dataclass(frozen=True, slots=True)
class SpanCounts:
    """Found and true, found, true: of exact spans, of characters in spans, or of examples."""

    hits: int = 0
    guesses: int = 0
    truths: int = 0

    def plus(self, guess: Collection[object], truth: Collection[object]) -> "SpanCounts":
        """Return the counts with one more text, whose spans count when they are exactly the same."""
        hits = len(set(guess) & set(truth))
        return SpanCounts(self.hits + hits, self.guesses + len(set(guess)), self.truths + len(set(truth)))

    def plus_characters(self, guess: Iterable[tuple[int, int]], truth: Iterable[tuple[int, int]]) -> "SpanCounts":
        """Return the counts with one more text, whose characters in spans count, each once (as RAGTruth does)."""
        return self.plus(_characters(guess), _characters(truth))

    def plus_example(self, *, guess: bool, truth: bool) -> "SpanCounts":
        """Return the counts with one more example that is, or is taken for, one of the class that is looked for."""
        return SpanCounts(self.hits + (guess and truth), self.guesses + guess, self.truths + truth)

    @property
    def precision(self) -> float:
        """Share of what was found that is true; 0 when nothing was found."""
        return self.hits / self.guesses if self.guesses else 0.0

    @property
    def recall(self) -> float:
        """Share of what is true that was found; 0 when nothing is true."""
        return self.hits / self.truths if self.truths else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 when nothing was hit."""
        return 2 * self.hits / (self.guesses + self.truths) if self.hits else 0.0


def _characters(spans: Iterable[tuple[int, int]]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}
