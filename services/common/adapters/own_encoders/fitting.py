"""Small fits with NumPy alone: logistic regression, folds that keep a premise together, thresholds and bounds."""

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.grounding.combiner import logistic
from services.common.measures import balanced_accuracy

Values: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.bool_]

FOLDS: Final = 5
PENALTY: Final = 1.0
"""L2, in rows: one row's worth against each standardised weight."""
_STEPS: Final = 50
_SMALL: Final = 1e-8
MOST_UNDECIDED: Final = 0.15
"""Largest share of the pairs that may be left undecided (ADR 0093)."""
PRECISION_OF_NOT: Final = 0.85
"""How often "not supported" must be right among what is decided."""


def folds(groups: NDArray[np.int64], labels: NDArray[np.int64], count: int = FOLDS) -> NDArray[np.int64]:
    """Return a fold for each row; rows of a group share theirs, and each fold has about as many rows of each class.

    Groups are dealt out, the largest first, each to the fold that has the fewest rows of its more frequent class.
    """
    sizes = np.bincount(groups, minlength=groups.max() + 1 if groups.size else 0)
    positive = np.bincount(groups, weights=(labels > 0).astype(np.float64), minlength=sizes.size)
    held = np.zeros((count, 2))
    fold_of = np.zeros(sizes.size, dtype=np.int64)
    for group in np.argsort(-sizes, kind="stable"):
        kind = int(positive[group] * 2 >= sizes[group])
        fold = int(np.lexsort((held.sum(axis=1), held[:, kind]))[0])
        fold_of[group] = fold
        held[fold, 1] += positive[group]
        held[fold, 0] += sizes[group] - positive[group]
    return fold_of[groups]


def splits(fold: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield for each fold the rows of the others and its own."""
    for number in np.unique(fold):
        yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def fit_logistic(features: Values, labels: Labels) -> tuple[Values, Values, Values, float]:
    """Return means, scales, weights and bias of a logistic regression, both classes weighing the same.

    Args:
        features: shape ``(rows, features)``.
        labels: shape ``(rows,)``; both classes occur.
    """
    means = features.mean(axis=0)
    scales = np.maximum(features.std(axis=0), 1e-3)
    design = np.hstack([(features - means) / scales, np.ones((len(features), 1))])
    weights = np.where(labels, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
    penalty = np.diag([PENALTY] * features.shape[1] + [_SMALL])
    found = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chances = logistic(design @ found)
        slope = design.T @ (weights * (chances - labels)) + penalty @ found
        curvature = (design * (weights * chances * (1 - chances))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature + _SMALL * np.eye(len(found)), slope)
        found -= step
        if float(np.abs(step).max()) < _SMALL:
            break
    return means, scales, found[:-1], float(found[-1])


def fit_platt(logits: Values, labels: Labels) -> tuple[float, float]:
    """Return slope and offset that make probabilities of logits, by Platt's smoothed targets; the slope is positive."""
    positive, negative = int(labels.sum()), int((~labels).sum())
    targets = np.where(labels, (positive + 1) / (positive + 2), 1 / (negative + 2))
    design = np.stack([logits, np.ones_like(logits)], axis=1)
    found = np.array([1.0, 0.0])
    for _ in range(_STEPS):
        chances = logistic(design @ found)
        curvature = (design * (chances * (1 - chances))[:, None]).T @ design + 1e-6 * np.eye(2)
        step = np.linalg.solve(curvature, design.T @ (chances - targets))
        # Steps that overshoot are halved by their size: far off, the curvature is nearly flat.
        found -= step / max(1.0, float(np.abs(step).max()) / 2.0)
        if float(np.abs(step).max()) < _SMALL:
            break
    return max(float(found[0]), 1e-2), float(found[1])


def best_threshold(scores: Values, labels: Labels) -> float:
    """Return the threshold with the highest balanced accuracy, smoothed so that it sits on no chance peak."""
    grid = np.linspace(0.02, 0.98, 97)
    curve = np.array([balanced_accuracy(scores, labels, float(cut)) or 0.0 for cut in grid])
    near = np.abs(grid[:, None] - grid[None, :]) <= 0.02 + 1e-9
    smooth = (near * curve[None, :]).sum(axis=1) / near.sum(axis=1)
    return round(float(grid[int(np.argmax(smooth))]), 4)


def undecided_bounds(scores: Values, labels: Labels, threshold: float) -> tuple[float, float]:
    """Return the bounds between which a pair is undecided.

    The lower one is the highest below the threshold at which "not supported" is right often enough, the upper one
    takes what is left of the share that may be undecided, as far as it mends the errors above the threshold.
    """
    if not scores.size:
        return threshold, threshold
    order = np.sort(scores)
    most = int(MOST_UNDECIDED * scores.size)
    below = int(np.searchsorted(order, threshold, side="left"))
    low = threshold
    for place in range(below, max(0, below - most) - 1, -1):
        low = float(order[place]) if place < below else threshold
        refused = scores < low
        if not refused.any() or float((~labels[refused]).mean()) >= PRECISION_OF_NOT:
            break
    left = most - int(((scores >= low) & (scores < threshold)).sum())
    high = float(order[min(scores.size - 1, below + max(0, left // 2))])
    return round(min(low, threshold), 4), round(max(high, threshold), 4)
