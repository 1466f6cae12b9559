"""Fitting the weights of the five signals: logistic regression over claims, every set with the same weight.

The encoders' probability is calibrated already: its weight is drawn to 1, the bias and the other weights to 0. A
supported text makes all of its claims supported; of a text that is not, the weakest claim counts as the wrong one,
found anew in a few rounds. Weights are held at 0 or above: no signal may count against what it measures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.dpe.domain.guard.verification_signals import SignalKind, Weighed
from services.dpe.domain.guard.verification_votes import Weights, leanings

Rows = NDArray[np.float64]
NAMES: Final = tuple(kind.lower() for kind in SignalKind)
_ROUNDS: Final = 4
_STEPS: Final = 3_000
_RATE: Final = 0.05
_RIDGE: Final = 0.05
"""The best of .005 to .1 on pairs out of fold."""
_PRIOR: Final = np.array([0.0, 1.0, *[0.0] * (len(NAMES) - 1)])
DIGITS: Final = 2


@dataclass(frozen=True, slots=True)
class FittedText:
    """The claims of a text that are weighed, and the text's label."""

    dataset: str
    claims: tuple[Weighed, ...]
    supported: bool


def fit(texts: Sequence[FittedText]) -> Weights:
    """Return the weights that fit the texts best."""
    usable = [one for one in texts if one.claims]
    found = Weights(0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    for _ in range(_ROUNDS):
        rows, labels, shares = _table(usable, found)
        found = _descended(rows, labels, shares)
    return found


def _table(texts: Sequence[FittedText], now: Weights) -> tuple[Rows, Rows, Rows]:
    rows: list[tuple[float, ...]] = []
    labels: list[float] = []
    sets: list[tuple[str, bool]] = []
    for one in texts:
        features = [leanings(claim.signals) for claim in one.claims]
        if not one.supported:
            features = [min(features, key=lambda row: _score(row, now))]
        rows += features
        labels += [float(one.supported)] * len(features)
        sets += [(one.dataset, one.supported)] * len(features)
    counts = {key: sets.count(key) for key in set(sets)}
    shares = np.array([1.0 / counts[key] for key in sets])
    return np.array(rows), np.array(labels), shares / shares.sum()


def _score(row: Sequence[float], now: Weights) -> float:
    return now.bias + sum(float(getattr(now, name)) * value for name, value in zip(NAMES, row, strict=True))


def _descended(rows: Rows, labels: Rows, shares: Rows) -> Weights:
    """Minimise the weighted log loss by Adam, projected onto weights of 0 and above."""
    parameters = _PRIOR.copy()
    design = np.hstack([np.ones((len(rows), 1)), rows])
    mean, square = np.zeros_like(parameters), np.zeros_like(parameters)
    for step in range(1, _STEPS + 1):
        chance = 1.0 / (1.0 + np.exp(-design @ parameters))
        slope = design.T @ (shares * (chance - labels)) + _RIDGE * (parameters - _PRIOR)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        parameters -= _RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        parameters[1:] = np.maximum(parameters[1:], 0.0)
    return Weights(*(round(float(value), DIGITS) for value in parameters))
