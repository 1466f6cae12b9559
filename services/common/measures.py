"""Measures of a judge's quality, pure: classes, intervals, calibration; for evaluation and ``groundtrail models``."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.bool_]
Interval: TypeAlias = tuple[float, float]
"""Lower and upper end of a 95% confidence interval."""

NORMAL_95: Final = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution."""


def auroc(scores: Scores, labels: Labels) -> float | None:
    """Return the probability that a positive scores above a negative, ties half; ``None`` with one class alone."""
    positive, negative = scores[labels], np.sort(scores[~labels])
    if not positive.size or not negative.size:
        return None
    below = np.searchsorted(negative, positive, side="left")
    upto = np.searchsorted(negative, positive, side="right")
    return float((below + upto).mean() / 2 / negative.size)


def balanced_accuracy(scores: Scores, labels: Labels, threshold: float) -> float | None:
    """Return the mean of both classes' accuracies when scores from ``threshold`` count as positive."""
    if labels.all() or not labels.any():
        return None
    predicted = scores >= threshold
    return float((predicted[labels].mean() + (~predicted[~labels]).mean()) / 2)


def wilson_interval(hits: int, trials: int, z: float = NORMAL_95) -> Interval:
    """Return Wilson's score interval for a share; it stays within [0, 1] also for few trials.

    Raises:
        ValueError: no trial, or more hits than trials.
    """
    if trials < 1 or not 0 <= hits <= trials:
        raise ValueError(f"{hits} of {trials} is no share")
    share = hits / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    return max(0.0, centre - half), min(1.0, centre + half)


def bootstrap_interval(
    measure: Callable[[NDArray[np.intp]], float | None],
    strata: NDArray[np.intp],
    resamples: int = 1_000,
    seed: int = 20,
) -> Interval | None:
    """Return the percentile interval of a measure over rows drawn again with replacement, each stratum for itself.

    Args:
        measure: takes indexes of rows (some more than once) and returns the measure on them.
        strata: the rows' strata, e.g. their classes; the size of each stays as it is in every draw.
        resamples: number of draws.
        seed: of the draws, so that the same rows give the same interval.

    Returns:
        The middle 95%, or ``None`` where the measure has no value on these rows.
    """
    groups = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    if not groups or measure(np.arange(strata.size)) is None:
        return None
    random = np.random.default_rng(seed)
    draws = np.concatenate([random.choice(rows, (resamples, rows.size)) for rows in groups], axis=1)
    values = [measure(rows) for rows in draws]
    low, high = np.percentile([value for value in values if value is not None], [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Rows of similar confidence.

    Attributes:
        rows: how many.
        confidence: mean of what was promised, in [0, 1].
        observed: share of the rows for which it came true.
    """

    rows: int
    confidence: float
    observed: float


def equal_width_bins(confidence: Scores, came_true: Labels, bins: int) -> tuple[ReliabilityBin, ...]:
    """Return the bins [0, 1/n), [1/n, 2/n) … [1 - 1/n, 1] that are not empty, ascending."""
    index = np.minimum((confidence * bins).astype(np.intp), bins - 1)
    return tuple(_bin(confidence[index == i], came_true[index == i]) for i in range(bins) if (index == i).any())


def equal_mass_bins(confidence: Scores, came_true: Labels, bins: int) -> tuple[ReliabilityBin, ...]:
    """Return at most ``bins`` bins of about as many rows each, ascending; rows of equal confidence stay together."""
    order = np.argsort(confidence, kind="stable")
    ordered, outcome = confidence[order], came_true[order]
    cuts = {round(i * ordered.size / bins) for i in range(1, bins + 1)} - {0}
    # A cut inside a run of equal confidences would make the order of the rows matter: it moves to the run's end.
    ends = sorted({int(np.searchsorted(ordered, ordered[cut - 1], side="right")) for cut in cuts})
    return tuple(_bin(ordered[a:b], outcome[a:b]) for a, b in zip([0, *ends], ends, strict=False))


def _bin(confidence: Scores, came_true: Labels) -> ReliabilityBin:
    return ReliabilityBin(int(confidence.size), float(confidence.mean()), float(came_true.mean()))


def expected_calibration_error(bins: Iterable[ReliabilityBin]) -> float:
    """Return the mean distance of confidence and what was observed, weighted by rows; 0 is perfect.

    Raises:
        ValueError: there is no row.
    """
    some = tuple(bins)
    rows = sum(one.rows for one in some)
    if not rows:
        raise ValueError("no row: calibration has no error")
    return sum(one.rows * abs(one.confidence - one.observed) for one in some) / rows
