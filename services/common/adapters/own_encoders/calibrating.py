"""Fitting a user's own model on their pairs: weights beside the signals, Platt's scaling, bounds, temperature.

What is reported was measured on rows that nothing of it was fitted on: the whole fit, choices included, is made anew
without each fold and applied to it. What is stored is then fitted on all rows. Rows of one premise share a fold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.encoders.grounding_reading import GroundingReader
from services.common.adapters.own_encoders.fitting import (
    FOLDS,
    Labels,
    Values,
    best_threshold,
    fit_logistic,
    fit_platt,
    folds,
    splits,
    undecided_bounds,
)
from services.common.adapters.own_encoders.measuring import BINS, BLOCK, DIGITS, Quality, Step, json_value, quality
from services.common.adapters.own_encoders.pairs_file import Pairs
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.calibration import PiecewiseLinearCalibration
from services.common.grounding.combiner import (
    SIGNALS_LOGIT,
    LogisticModel,
    encoder_columns,
    features,
    logistic,
    signal_columns,
)
from services.common.measures import auroc, equal_mass_bins, expected_calibration_error
from services.common.ports.grounding import GroundingRequest

LEAST_ROWS: Final = 60
LEAST_OF_A_CLASS: Final = 20
LEAST_PREMISES: Final = 2 * FOLDS
ENCODER_ALONE: Final = ("encoder_support",)
WITH_SIGNALS: Final = (SIGNALS_LOGIT, "encoder_support", "encoder_composed")
WITH_TOKENS: Final = (*WITH_SIGNALS, "unsupported_peak", "unsupported_mean")
TEMPERATURES: Final = np.round(np.geomspace(0.2, 8.0, 120), 3)
_KNOTS: Final = np.array(
    [1e-4, 0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995, 0.999, 0.9999]
)
"""Where the calibration is stated."""
_FILE_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Measured:
    """On held-out folds alone.

    Attributes:
        rows: how many.
        before: the encoder alone at even odds, on the same rows.
        after: the calibrated model.
        undecided: share between the bounds.
        right_when_not_supported: how often "not supported" is right among what is decided; ``None`` = it is never said.
    """

    rows: int
    before: Quality
    after: Quality
    undecided: float
    right_when_not_supported: float | None

    def plain(self) -> dict[str, Any]:
        """Return it as JSON gives it back."""
        return json_value(asdict(self))


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibrated model of ``both``, and the bounds between which a pair is undecided."""

    model: LogisticModel
    bounds: tuple[float, float]


async def read_columns(
    reader: GroundingReader, signals: LogisticModel, pairs: Pairs, step: Step
) -> tuple[dict[str, Values], NDArray[np.bool_]]:
    """Return the features' columns, and which rows the encoder had something to read of."""
    measured: list[NDArray[np.float64]] = []
    said: list[NDArray[np.float64] | None] = []
    for start in range(0, len(pairs), BLOCK):
        block = range(start, min(start + BLOCK, len(pairs)))
        requests = [GroundingRequest(pairs.hypotheses[place], (pairs.premises[place],)) for place in block]
        readings = await reader.read(requests)
        measured += [reading.signals for reading in readings]
        said += [reading.encoder for reading in readings]
        step(len(block))
    read = np.array([one is not None for one in said], dtype=np.bool_)
    columns = signal_columns(np.array([one for one, kept in zip(measured, read, strict=True) if kept]))
    columns[SIGNALS_LOGIT] = signals.logits(columns)
    return columns | encoder_columns(np.array([one for one in said if one is not None])), read


def check_rows(labels: NDArray[np.int64], groups: NDArray[np.int64]) -> None:
    """Refuse what is too little to fit on and to hold back from.

    Raises:
        OwnModelError: ROWS_TOO_FEW.
    """
    counts = np.bincount(labels, minlength=2)
    premises = len(np.unique(groups))
    if labels.size < LEAST_ROWS or counts.min() < LEAST_OF_A_CLASS or premises < LEAST_PREMISES:
        raise OwnModelError(
            Refusal.ROWS_TOO_FEW,
            f"{labels.size} pairs ({', '.join(map(str, counts.tolist()))} by label) of {premises} premises; needed are "
            f"{LEAST_ROWS} pairs, {LEAST_OF_A_CLASS} of each label, {LEAST_PREMISES} premises",
        )


def fit_support(
    columns: Mapping[str, Values], labels: Labels, groups: NDArray[np.int64], options: Sequence[tuple[str, ...]]
) -> Fitted:
    """Choose the features by cross-validation, fit on all rows, calibrate on logits of rows that were not fitted on."""
    fold = folds(groups, labels.astype(np.int64))
    tried = [(_unseen_logits(names, columns, labels, fold), names) for names in options]
    logits, names = max(tried, key=lambda one: auroc(one[0], labels) or 0.0)
    means, scales, weights, bias = fit_logistic(features(names, columns), labels)
    slope, offset = fit_platt(logits, labels)
    scores = logistic(slope * logits + offset)
    threshold = best_threshold(scores, labels)
    model = LogisticModel(
        names,
        means.round(_FILE_DIGITS),
        np.maximum(scales.round(_FILE_DIGITS), 1e-6),
        weights.round(_FILE_DIGITS),
        round(bias, _FILE_DIGITS),
        _platt_knots(slope, offset),
        threshold,
    )
    return Fitted(model, undecided_bounds(scores, labels, threshold))


def measure_support(
    columns: Mapping[str, Values], labels: Labels, groups: NDArray[np.int64], options: Sequence[tuple[str, ...]]
) -> Measured:
    """Make the fit anew without each fold and measure it there."""
    scores, decided = np.zeros(labels.size), np.zeros(labels.size, dtype=np.bool_)
    undecided = np.zeros(labels.size, dtype=np.bool_)
    thresholds = []
    for rest, held in splits(folds(groups, labels.astype(np.int64))):
        fitted = fit_support(_rows(columns, rest), labels[rest], groups[rest], options)
        scores[held] = fitted.model.support(_rows(columns, held))
        decided[held] = scores[held] >= fitted.model.threshold
        low, high = fitted.bounds
        undecided[held] = (scores[held] >= low) & (scores[held] < high)
        thresholds.append(fitted.model.threshold)
    refused = ~decided & ~undecided
    before = quality(logistic(columns["encoder_support"]), labels, 0.5)
    return Measured(
        int(labels.size),
        before,
        quality(scores, labels, round(float(np.mean(thresholds)), DIGITS), decided),
        round(float(undecided.mean()), DIGITS),
        round(float((~labels[refused]).mean()), DIGITS) if refused.any() else None,
    )


def fit_temperature(probabilities: Values, labels: NDArray[np.int64]) -> float:
    """Return the temperature with the least cross-entropy.

    Args:
        probabilities: at temperature 1, ``(rows, classes)``.
        labels: ``(rows,)``.
    """
    places = np.arange(labels.size)
    losses = [-np.log(np.maximum(at_temperature(probabilities, t)[places, labels], 1e-12)).mean() for t in TEMPERATURES]
    return float(TEMPERATURES[int(np.argmin(losses))])


def measure_temperature(probabilities: Values, labels: NDArray[np.int64], groups: NDArray[np.int64]) -> dict[str, Any]:
    """Return the calibration error before and after, on folds that the temperature was not fitted on."""
    after = np.zeros_like(probabilities)
    for rest, held in splits(folds(groups, labels)):
        after[held] = at_temperature(probabilities[held], fit_temperature(probabilities[rest], labels[rest]))
    return {
        "rows": int(labels.size),
        "expected_calibration_error_before": _class_error(probabilities, labels),
        "expected_calibration_error_after": _class_error(after, labels),
        "accuracy": round(float((probabilities.argmax(axis=1) == labels).mean()), DIGITS),
    }


def at_temperature(probabilities: Values, temperature: float) -> Values:
    """Return the probabilities at a temperature, from those at 1; exact for pairs that were read at once."""
    logits = np.log(np.maximum(probabilities, np.finfo(np.float32).tiny)) / temperature
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float64)


def _class_error(probabilities: Values, labels: NDArray[np.int64]) -> float:
    right = probabilities.argmax(axis=1) == labels
    return round(expected_calibration_error(equal_mass_bins(probabilities.max(axis=1), right, BINS)), DIGITS)


def _unseen_logits(
    names: tuple[str, ...], columns: Mapping[str, Values], labels: Labels, fold: NDArray[np.int64]
) -> Values:
    made = features(names, columns)
    logits = np.zeros(labels.size)
    for rest, held in splits(fold):
        means, scales, weights, bias = fit_logistic(made[rest], labels[rest])
        logits[held] = (made[held] - means) / scales @ weights + bias
    return logits


def _platt_knots(slope: float, offset: float) -> PiecewiseLinearCalibration:
    images = logistic(slope * np.log(_KNOTS / (1 - _KNOTS)) + offset).round(_FILE_DIGITS)
    kept = [n for n in range(_KNOTS.size) if 0.0 < images[n] < 1.0 and (n == 0 or images[n] > images[n - 1])]
    return PiecewiseLinearCalibration([0.0, *_KNOTS[kept], 1.0], [0.0, *images[kept], 1.0])


def _rows(columns: Mapping[str, Values], rows: NDArray[np.intp]) -> dict[str, Values]:
    return {name: values[rows] for name, values in columns.items()}
