"""Fitting the classifier: two models of windows, joined and calibrated on families that neither had seen (ADR 0126).

``grams``: logistic regression over hashed n-grams of window and block. ``vectors``: one hidden layer over the
embedder's vectors of both. ``both``: their logits added, weighted by a third regression over predictions on left-out
folds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

Values = NDArray[np.float64]
Floats = NDArray[np.float32]
Places = NDArray[np.intp]

GRAM_RIDGE: Final = 1.5e-4
LAYER_RIDGE: Final = 3e-05
HIDDEN: Final = 24
GRAM_STEPS: Final = 40
LAYER_STEPS: Final = 60
FITTED_BY: Final = (GRAM_RIDGE, LAYER_RIDGE, HIDDEN, GRAM_STEPS, LAYER_STEPS)


@dataclass(frozen=True, slots=True)
class Grams:
    """Hashed n-grams of windows and of the blocks that they stand in, each block once.

    Attributes:
        own: of the windows; shape ``(windows, numbers)``.
        around: of the blocks; shape ``(blocks, numbers)``.
        homes: of each window the number of its block.
    """

    own: csr_matrix
    around: csr_matrix
    homes: Places

    @property
    def width(self) -> int:
        """How many weights there are: those of windows, behind them those of blocks."""
        return int(self.own.shape[1] + self.around.shape[1])

    def __getitem__(self, places: Places) -> "Grams":
        """Return those of some windows."""
        blocks, homes = np.unique(self.homes[places], return_inverse=True)
        return Grams(self.own[places], self.around[blocks], homes)

    def weighed(self, weights: Values) -> Values:
        """Return of each window the sum of its weights."""
        first, second = np.split(weights.astype(np.float32), [self.own.shape[1]])
        return np.asarray(self.own @ first + (self.around @ second)[self.homes], dtype=np.float64)

    def gathered(self, slopes: Values) -> Values:
        """Return of each weight the sum over the windows that have it."""
        slopes = slopes.astype(np.float32)
        of_blocks = np.bincount(self.homes, slopes, minlength=self.around.shape[0]).astype(np.float32)
        return np.concatenate([self.own.T @ slopes, self.around.T @ of_blocks]).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows to learn from.

    Attributes:
        grams: their hashed n-grams.
        vectors: the embedder's of window and block, one behind the other.
        labels: 1 for a window of an attack.
        weights: how much each counts.
        folds: which part leaves each out.
    """

    grams: "Grams"
    vectors: Floats
    labels: Floats
    weights: Floats
    folds: Places

    def part(self, places: Places) -> "Windows":
        """Return some of them."""
        return Windows(
            self.grams[places], self.vectors[places], self.labels[places], self.weights[places], self.folds[places]
        )


@dataclass(frozen=True, slots=True)
class GramModel:
    """Logistic regression over n-grams."""

    weights: Values
    bias: float

    def logits(self, windows: Windows) -> Values:
        """Return a logit per window."""
        return windows.grams.weighed(self.weights) + self.bias


@dataclass(frozen=True, slots=True)
class LayerModel:
    """One hidden layer over vectors."""

    hidden: Values
    hidden_bias: Values
    out: Values
    bias: float

    def logits(self, windows: Windows) -> Values:
        """Return a logit per window."""
        inner = np.tanh(windows.vectors @ self.hidden.astype(np.float32) + self.hidden_bias.astype(np.float32))
        return np.asarray(inner @ self.out.astype(np.float32), dtype=np.float64) + self.bias


def fit_grams(windows: Windows, ridge: float = GRAM_RIDGE) -> GramModel:
    """Fit the regression over n-grams."""
    grams, width = windows.grams, windows.grams.width
    share = _shares(windows)

    def loss(found: Values) -> tuple[float, Values]:
        logits = grams.weighed(found[:width]) + found[width]
        value, slope = logistic_loss(logits, windows.labels, share)
        gradient = np.append(grams.gathered(slope) + ridge * found[:width], slope.sum())
        return value + 0.5 * ridge * float(found[:width] @ found[:width]), gradient

    found = _least(loss, np.zeros(width + 1), GRAM_STEPS)
    return GramModel(found[:width], float(found[width]))


def fit_layer(windows: Windows, seed: int, ridge: float = LAYER_RIDGE, hidden: int = HIDDEN) -> LayerModel:
    """Fit the hidden layer over vectors, from weights drawn with the seed."""
    rng = np.random.default_rng(seed)
    vectors, width = windows.vectors, windows.vectors.shape[1]
    share = _shares(windows)
    cuts = np.cumsum([width * hidden, hidden, hidden])

    def parts(found: Values) -> list[Values]:
        first, bias, out, last = np.split(found, cuts)
        return [first.reshape(width, hidden), bias, out, last]

    def loss(found: Values) -> tuple[float, Values]:
        first, bias, out, last = parts(found)
        inner = np.tanh(vectors @ first.astype(np.float32) + bias.astype(np.float32))
        logits = (inner @ out.astype(np.float32)).astype(np.float64) + last[0]
        value, slope = logistic_loss(logits, windows.labels, share)
        back = (slope.astype(np.float32)[:, None] * out.astype(np.float32)) * (1.0 - inner * inner)
        gradient = [vectors.T @ back, back.sum(axis=0), inner.T @ slope.astype(np.float32)]
        flat = np.concatenate([each.ravel().astype(np.float64) for each in gradient])
        bound = found[: cuts[-1]]
        flat = np.append(flat + ridge * bound, slope.sum())
        return value + 0.5 * ridge * float(bound @ bound), flat

    start = np.concatenate(
        [
            rng.normal(0.0, 1.0, width * hidden),
            np.zeros(hidden),
            rng.normal(0.0, 0.5, hidden),
            np.zeros(1),
        ]
    )
    first, bias, out, last = parts(_least(loss, start, LAYER_STEPS))
    return LayerModel(first, bias, out, float(last[0]))


def fit_joint(logits: Values, labels: Floats, weights: Floats) -> Values:
    """Return the weights of the models' logits and a bias; shape ``(models + 1,)``."""
    columns = np.column_stack([logits, np.ones(len(logits))])
    share = weights / weights.sum()

    def loss(found: Values) -> tuple[float, Values]:
        value, slope = logistic_loss(columns @ found, labels, share)
        return value, columns.T @ slope

    return _least(loss, np.zeros(columns.shape[1]), 100)


def left_out(windows: Windows, fold: int, fit: Callable[[Windows], GramModel | LayerModel]) -> Values:
    """Return the logits of a fold's windows by a model that saw none of them."""
    seen = np.flatnonzero((windows.folds != fold) & (windows.weights > 0))
    return fit(windows.part(seen)).logits(windows.part(np.flatnonzero(windows.folds == fold)))


def _shares(windows: Windows) -> Values:
    return windows.weights.astype(np.float64) / float(windows.weights.sum())


def logistic_loss(logits: Values, labels: Floats, share: Values) -> tuple[float, Values]:
    """Return the weighed loss and its slope by each logit."""
    value = float(share @ (np.logaddexp(0.0, logits) - labels * logits))
    return value, share * (1.0 / (1.0 + np.exp(-np.clip(logits, -40.0, 40.0))) - labels)


def _least(loss: Callable[[Values], tuple[float, Values]], start: Values, steps: int) -> Values:
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x)


def auroc(scores: Sequence[float] | Values, labels: Sequence[bool] | NDArray[Any]) -> float:
    """Return the probability that an attack scores above a benign text, ties half."""
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(1, len(values) + 1)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.bincount(inverse, ranks) / counts)[inverse]
    positive = int(truth.sum())
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * (len(truth) - positive)))


def bound_at(benign: Values, share: float) -> float:
    """Return the least bound that at most this share of the benign scores reach or pass."""
    allowed = int(np.floor(share * len(benign)))
    ordered = np.sort(benign)[::-1]
    return float(np.nextafter(ordered[allowed], np.inf))
