"""Fitting a small logistic model, its calibration and its threshold.

Every data set counts the same, and so do its two classes: a set with many rows, or many supported ones, must not decide
for the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from evaluation.metrics import auroc, balanced_accuracy
from services.common.calibration import PiecewiseLinearCalibration
from services.common.grounding.combiner import LogisticModel, features, logistic

Values = NDArray[np.float64]
Labels = NDArray[np.bool_]

FOLDS: Final = 5
REPEATS: Final = 4
KNOTS: Final = (
    1e-4,
    0.001,
    0.005,
    0.02,
    0.05,
    0.1,
    0.2,
    0.3,
    0.4,
    0.5,
    0.6,
    0.7,
    0.8,
    0.9,
    0.95,
    0.98,
    0.995,
    0.999,
    0.9999,
)
"""Where the calibration is stated; close to the ends, since an overconfident model says little in between."""
SMOOTHING: Final = 0.02
"""A threshold is judged with those so far beside it, so that it does not sit on a chance peak."""
DIGITS: Final = 6
MIN_SCALE: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows to fit on.

    Attributes:
        columns: per signal or output its values.
        supported: labels.
        groups: what each row is weighted in.
        contexts: rows of one context stay in one fold.
    """

    columns: Mapping[str, Values]
    supported: Labels
    groups: NDArray[np.str_]
    contexts: NDArray[np.intp]

    @property
    def weights(self) -> Values:
        """Per row, so that each group and each class within it has the same sum; mean 1."""
        weights = np.zeros(len(self.supported))
        for group in np.unique(self.groups):
            for label in (True, False):
                rows = (self.groups == group) & (self.supported == label)
                weights[rows] = 1.0 / max(1, int(rows.sum()))
        return np.asarray(weights * len(weights) / weights.sum())


@dataclass(frozen=True, slots=True)
class Linear:
    """A logistic model that is not calibrated yet."""

    names: tuple[str, ...]
    means: Values
    scales: Values
    weights: Values
    bias: float

    def logits(self, columns: Mapping[str, Values]) -> Values:
        """Return the logits; shape ``(rows,)``."""
        return np.asarray(((features(self.names, columns) - self.means) / self.scales) @ self.weights + self.bias)


def fit_linear(names: Sequence[str], sample: Sample, strength: float, rows: NDArray[np.intp] | None = None) -> Linear:
    """Fit by weighted logistic regression with an L2 penalty.

    Args:
        names: features.
        sample: the data.
        strength: inverse of the penalty (larger = freer).
        rows: fit on these alone; ``None`` = all.
    """
    chosen = np.arange(len(sample.supported)) if rows is None else rows
    matrix = features(names, sample.columns)[chosen]
    means, scales = matrix.mean(axis=0), np.maximum(matrix.std(axis=0), MIN_SCALE)
    model = LogisticRegression(C=strength, max_iter=5000)
    model.fit((matrix - means) / scales, sample.supported[chosen], sample_weight=sample.weights[chosen])
    return Linear(
        tuple(names),
        means.round(DIGITS),
        scales.round(DIGITS),
        model.coef_[0].round(DIGITS),
        round(float(model.intercept_[0]), DIGITS),
    )


def out_of_fold(names: Sequence[str], sample: Sample, strength: float) -> list[Values]:
    """Return logits of rows that the fit has not seen, one array per repetition of the cross-validation."""
    repeats = []
    for seed in range(REPEATS):
        logits = np.empty(len(sample.supported))
        folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
        for fit, held in folds.split(np.zeros(len(logits)), sample.supported, sample.contexts):
            logits[held] = fit_linear(names, sample, strength, fit).logits(sample.columns)[held]
        repeats.append(logits)
    return repeats


def calibrated(linear: Linear, logits: Sequence[Values], sample: Sample) -> LogisticModel:
    """Add calibration and threshold, from logits of rows that the linear model has not seen.

    The calibration is logistic in the logit, by maximum likelihood over the rows as they are; the threshold is where
    the mean over the groups of balanced accuracy is highest.

    Args:
        linear: the model.
        logits: of ``sample``'s rows; several arrays where several models were cross-validated.
        sample: its labels.
    """
    every = np.concatenate(logits)
    labels = np.tile(sample.supported, len(logits))
    scale = LogisticRegression(C=1e6).fit(every[:, None], labels)
    slope, offset = max(float(scale.coef_[0][0]), 1e-2), float(scale.intercept_[0])
    raw = np.array(KNOTS)
    images = logistic(slope * np.log(raw / (1 - raw)) + offset).round(DIGITS)
    kept = [n for n in range(len(raw)) if 0.0 < images[n] < 1.0 and (n == 0 or images[n] > images[n - 1])]
    calibration = PiecewiseLinearCalibration([0.0, *raw[kept], 1.0], [0.0, *images[kept], 1.0])
    scores = [calibration.apply(logistic(one).astype(np.float32)).astype(np.float64) for one in logits]
    threshold = macro_threshold(scores, sample)
    return LogisticModel(linear.names, linear.means, linear.scales, linear.weights, linear.bias, calibration, threshold)


def macro_threshold(scores: Sequence[Values], sample: Sample) -> float:
    """Return the threshold with the highest mean balanced accuracy over groups, smoothed; in (0, 1)."""
    grid = np.linspace(0.01, 0.99, 197)
    curve = np.mean([[macro_accuracy(one, sample, cut) for cut in grid] for one in scores], axis=0)
    near = np.abs(grid[:, None] - grid[None, :]) <= SMOOTHING + 1e-9
    smooth = (near * curve[None, :]).sum(axis=1) / near.sum(axis=1)
    return round(float(grid[int(np.argmax(smooth))]), 4)


def macro_accuracy(scores: Values, sample: Sample, threshold: float) -> float:
    """Return the mean over the groups of balanced accuracy."""
    found = [
        balanced_accuracy(scores[rows], sample.supported[rows], threshold)
        for rows in (sample.groups == group for group in np.unique(sample.groups))
    ]
    return float(np.mean([value for value in found if value is not None]))


def macro_auroc(scores: Values, sample: Sample) -> float:
    """Return the mean over the groups of AUROC."""
    found = [
        auroc(scores[rows], sample.supported[rows])
        for rows in (sample.groups == group for group in np.unique(sample.groups))
    ]
    return float(np.mean([value for value in found if value is not None]))


def plain(model: LogisticModel) -> dict[str, Any]:
    """Return a model as ``combiner.json`` holds it."""
    raw, images = model.calibration.knots
    return {
        "names": list(model.names),
        "means": model.means.tolist(),
        "scales": model.scales.tolist(),
        "weights": model.weights.tolist(),
        "bias": model.bias,
        "calibration": {"raw": list(raw), "calibrated": list(images)},
        "threshold": model.threshold,
    }
