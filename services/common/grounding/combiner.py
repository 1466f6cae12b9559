"""The combiner: from signals and what the encoder says to one calibrated probability of support.

Two logistic models stand in ``combiner.json``. ``signals`` works on the aligned signals alone. ``both`` takes its logit
as one feature beside what the encoder says; it is what a verdict is made with. They are kept apart because the encoder
has learnt from the data that the weights of the signals are fitted on: how far it is to be trusted can only be seen on
other data (ADR 0034).

A feature is a signal, an output of the encoder, or the product of two of them (``a*b``). Nothing is filled in: a model
that needs the encoder is not asked where no encoder ran.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.calibration import PiecewiseLinearCalibration
from services.common.grounding.signals import SIGNALS
from services.common.grounding.windows import WindowSettings

Values: TypeAlias = NDArray[np.float64]

SCHEMA_VERSION: Final = 1
ENCODER_FEATURES: Final = (
    "encoder_support",
    "encoder_composed",
    "unsupported_peak",
    "unsupported_mean",
)
"""What the encoder says of a claim: the logit of its weakest piece over all windows, that over composed windows alone,
the highest and the mean probability of being unsupported over the claim's words."""
SIGNALS_LOGIT: Final = "signals_logit"
"""Feature of ``both``: the logit of ``signals``."""
PRODUCT: Final = "*"
LARGEST_LOGIT: Final = 12.0
"""Logits of the encoder are cut off here, so that one overconfident output does not outweigh everything."""

_MODEL_KEYS: Final = frozenset({"names", "means", "scales", "weights", "bias", "calibration", "threshold"})
_KEYS: Final = frozenset({"schema_version", "windows", "spans", "signals", "both", "fitted_on"})
_UNDECIDED: Final = "undecided"
"""A key that may be left out."""


class CombinerError(ValueError):
    """A ``combiner.json`` cannot be used; the message names the place and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """A linear model over standardised features, calibrated.

    Attributes:
        names: features, each once.
        means: what is taken from each feature; shape ``(features,)``.
        scales: what each is then divided by, above 0.
        weights: of the standardised features.
        bias: logit of a claim whose features are all at their means.
        calibration: from the logistic function of the logit to the probability of support.
        threshold: at or above this probability a claim counts as supported, in (0, 1).
    """

    names: tuple[str, ...]
    means: Values
    scales: Values
    weights: Values
    bias: float
    calibration: PiecewiseLinearCalibration
    threshold: float

    def logits(self, columns: Mapping[str, Values]) -> Values:
        """Return the logits of some claims; shape ``(claims,)``.

        Args:
            columns: per signal and output of the encoder its values, each of shape ``(claims,)``.
        """
        standard = (features(self.names, columns) - self.means) / self.scales
        # One claim at a time in the sum: the result must not depend on how many are judged together.
        return np.asarray((standard * self.weights).sum(axis=1) + self.bias, dtype=np.float64)

    def support(self, columns: Mapping[str, Values]) -> Values:
        """Return the calibrated probabilities of support, in [0, 1]; shape ``(claims,)``."""
        return self.calibration.apply(logistic(self.logits(columns)).astype(np.float32)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Combiner:
    """What ``combiner.json`` says.

    Attributes:
        windows: how much the encoder reads; the combiner was fitted with it.
        span_threshold: from this probability on a word counts as unsupported, in (0, 1).
        signals: the model that needs no encoder.
        both: the model that makes verdicts.
        undecided: from the first up to, not including, the second probability a claim is undecided; the threshold lies
            between them. ``None`` = no such bounds were fitted.
    """

    windows: WindowSettings
    span_threshold: float
    signals: LogisticModel
    both: LogisticModel
    undecided: tuple[float, float] | None = None

    def support(self, signals: Values, encoder: Values) -> Values:
        """Return the probabilities of support of claims that the encoder has read; shape ``(claims,)``.

        Args:
            signals: shape ``(claims, len(SIGNALS))``.
            encoder: shape ``(claims, len(ENCODER_FEATURES))``.
        """
        columns = signal_columns(signals)
        columns[SIGNALS_LOGIT] = self.signals.logits(columns)
        return self.both.support(columns | encoder_columns(encoder))

    def support_by_signals(self, signals: Values) -> Values:
        """Return the probabilities of support by the signals alone; shape ``(claims,)``."""
        return self.signals.support(signal_columns(signals))


def signal_columns(signals: Values) -> dict[str, Values]:
    """Return the columns of a matrix of signals by name."""
    return {name: signals[:, number] for number, name in enumerate(SIGNALS)}


def encoder_columns(encoder: Values) -> dict[str, Values]:
    """Return the columns of a matrix of the encoder's outputs by name, logits cut off at ``LARGEST_LOGIT``."""
    limited = np.clip(encoder, -LARGEST_LOGIT, LARGEST_LOGIT)
    return {name: limited[:, number] for number, name in enumerate(ENCODER_FEATURES)}


def features(names: Sequence[str], columns: Mapping[str, Values]) -> Values:
    """Return the features of some claims; shape ``(claims, len(names))``."""
    made = []
    for name in names:
        first, _, second = name.partition(PRODUCT)
        made.append(columns[first] * columns[second] if second else columns[first])
    return np.stack(made, axis=1)


def logistic(logits: Values) -> Values:
    """Return the logistic function, without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logits)), dtype=np.float64)


def parse_combiner(text: str) -> Combiner:
    """Read a ``combiner.json``.

    Raises:
        CombinerError: broken JSON, a key that is missing or unknown, lists of different lengths, a feature that does
            not exist, a number that is not finite or out of its range.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise CombinerError(f"line {error.lineno}: {error.msg}") from error
    bounds = data.pop(_UNDECIDED, None) if isinstance(data, dict) else None
    _check_keys("the file", data, _KEYS)
    if data["schema_version"] != SCHEMA_VERSION:
        raise CombinerError(f"schema_version is {data['schema_version']!r}, not {SCHEMA_VERSION}")
    _check_keys("windows", data["windows"], frozenset({"premise_tokens", "max_windows"}))
    _check_keys("spans", data["spans"], frozenset({"threshold"}))
    sizes = {name: _count(f"windows.{name}", value) for name, value in data["windows"].items()}
    both = _model("both", data["both"], frozenset({*SIGNALS, *ENCODER_FEATURES, SIGNALS_LOGIT}))
    return Combiner(
        WindowSettings(**sizes),
        _probability("spans.threshold", data["spans"]["threshold"]),
        _model("signals", data["signals"], frozenset(SIGNALS)),
        both,
        None if bounds is None else _bounds(bounds, both.threshold),
    )


def _bounds(data: Any, threshold: float) -> tuple[float, float]:
    _check_keys(_UNDECIDED, data, frozenset({"low", "high"}))
    low, high = (float(_numbers(f"{_UNDECIDED}.{key}", [data[key]], 1)[0]) for key in ("low", "high"))
    if not 0.0 <= low <= threshold <= high <= 1.0:
        raise CombinerError(f"{_UNDECIDED} must hold the threshold {threshold} between low {low} and high {high}")
    return low, high


def _model(where: str, data: Any, known: frozenset[str]) -> LogisticModel:
    _check_keys(where, data, _MODEL_KEYS)
    names = data["names"]
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise CombinerError(f"{where}.names must be a list of names")
    odd = [name for name in names if not set(name.split(PRODUCT)) <= known or name.count(PRODUCT) > 1]
    if odd or len(set(names)) != len(names):
        raise CombinerError(f"{where}.names: {odd[0]} is no feature" if odd else f"{where}.names holds one twice")
    means, scales, weights = (
        _numbers(f"{where}.{key}", data[key], len(names)) for key in ("means", "scales", "weights")
    )
    if not bool(np.all(scales > 0.0)):
        raise CombinerError(f"{where}.scales must be above 0")
    calibration = _calibration(f"{where}.calibration", data["calibration"])
    bias = float(_numbers(f"{where}.bias", [data["bias"]], 1)[0])
    threshold = _probability(f"{where}.threshold", data["threshold"])
    return LogisticModel(tuple(names), means, scales, weights, bias, calibration, threshold)


def _calibration(where: str, data: Any) -> PiecewiseLinearCalibration:
    _check_keys(where, data, frozenset({"raw", "calibrated"}))
    knots = {
        key: _numbers(f"{where}.{key}", values, len(values) if isinstance(values, list) else 0).tolist()
        for key, values in data.items()
    }
    try:
        return PiecewiseLinearCalibration(knots["raw"], knots["calibrated"])
    except ValueError as error:
        raise CombinerError(f"{where}: {error}") from error


def _check_keys(where: str, data: Any, expected: frozenset[str]) -> None:
    if not isinstance(data, dict):
        raise CombinerError(f"{where} must be an object")
    if data.keys() != expected:
        differing = sorted(data.keys() ^ expected)
        raise CombinerError(f"{where}: {differing[0]} is {'unknown' if differing[0] in data else 'missing'}")


def _numbers(where: str, data: Any, size: int) -> Values:
    if not isinstance(data, list) or len(data) != size:
        raise CombinerError(f"{where} must be a list of {size} numbers")
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in data):
        raise CombinerError(f"{where} holds something that is no number")
    values = np.array(data, dtype=np.float64)
    if not bool(np.isfinite(values).all()):
        raise CombinerError(f"{where} holds a number that is not finite")
    return values


def _count(where: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise CombinerError(f"{where} must be an integer of at least 1, not {value!r}")
    return value


def _probability(where: str, value: Any) -> float:
    number = float(_numbers(where, [value], 1)[0])
    if not 0.0 < number < 1.0:
        raise CombinerError(f"{where} must lie between 0 and 1, not {value!r}")
    return number
