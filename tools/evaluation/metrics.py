"""The measures of ``make eval``, pure: ranking, separation of two classes, exact spans."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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


def auroc(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> float | None:
    """Return the probability that a positive scores above a negative, ties half; ``None`` with one class alone."""
    positive, negative = scores[labels], np.sort(scores[~labels])
    if not positive.size or not negative.size:
        return None
    below = np.searchsorted(negative, positive, side="left")
    upto = np.searchsorted(negative, positive, side="right")
    return float((below + upto).mean() / 2 / negative.size)


def balanced_accuracy(scores: NDArray[np.float64], labels: NDArray[np.bool_], threshold: float) -> float | None:
    """Return the mean of both classes' accuracies when scores from ``threshold`` count as positive."""
    if labels.all() or not labels.any():
        return None
    predicted = scores >= threshold
    return float((predicted[labels].mean() + (~predicted[~labels]).mean()) / 2)


def best_threshold(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """Return the score whose use as threshold gives the highest balanced accuracy; of equals the lowest.

    Raises:
        ValueError: one class is missing.
    """
    if labels.all() or not labels.any():
        raise ValueError("a threshold needs both classes")
    candidates = np.unique(scores)
    accuracies = [balanced_accuracy(scores, labels, float(candidate)) or 0.0 for candidate in candidates]
    return float(candidates[int(np.argmax(accuracies))])


@dataclass(frozen=True, slots=True)
class SpanCounts:
    """Exact spans: found and true, found, true."""

    hits: int = 0
    guesses: int = 0
    truths: int = 0

    def plus(self, guess: Collection[object], truth: Collection[object]) -> "SpanCounts":
        """Return the counts with one more text."""
        hits = len(set(guess) & set(truth))
        return SpanCounts(self.hits + hits, self.guesses + len(set(guess)), self.truths + len(set(truth)))

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 when nothing was hit."""
        return 2 * self.hits / (self.guesses + self.truths) if self.hits else 0.0
