"""Fitting the heads: ridge logistic regression, cross-validated by domain, with bounds (ADR 0118).

NumPy alone. A row is a domain's: no head is ever judged by sentences of a domain that it was fitted on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.sentence_heads.features import Values
from services.common.sentence_heads.model import logistic

Truth = NDArray[np.bool_]

FOLDS: Final = 7
RIDGE: Final = 0.1
STEPS: Final = 200
CLOSE: Final = 1e-4
"""A fit has arrived when no row moves by more than this share of the farthest."""
BIAS: Final = 25.0
"""What the constant feature adds to the likeness of any two rows: the bias is hardly bound."""
LEAST_ROWS: Final = 3
"""A mark counts from so many training rows on."""
LEAST_SCALE: Final = 1e-6
SURE: Final = 0.90
"""A head says yes from where it is right so often."""
MISSED: Final = 0.05
"""A head says no below where it misses no more than this share of what there is."""
LEAST_YES: Final = 0.25
"""A head that finds less than this share of what there is when it is sure never says yes."""
DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class Rows:
    """What is fitted on.

    Attributes:
        numbers: per row; shape ``(rows, numbers)``.
        groups: sizes of the groups of numbers, in their order; each group weighs the same.
        marks: per row.
        domains: per row; rows of one domain stay in one fold.
    """

    numbers: Values
    groups: tuple[int, ...]
    marks: Sequence[frozenset[str]]
    domains: Sequence[str]


@dataclass(frozen=True, slots=True)
class Scale:
    """How rows become features: what is taken from numbers, what they are divided by, which marks count."""

    means: Values
    scales: Values
    factors: Values
    places: Mapping[str, int]

    @classmethod
    def of(cls, rows: Rows) -> "Scale":
        """Return the scale that rows give; no label has a part in it."""
        means, scales = rows.numbers.mean(axis=0), rows.numbers.std(axis=0) + LEAST_SCALE
        factors = np.concatenate([np.full(size, 1.0 / np.sqrt(size)) for size in rows.groups]) if rows.groups else means
        counts: dict[str, int] = {}
        for each in rows.marks:
            for mark in each:
                counts[mark] = counts.get(mark, 0) + 1
        known = sorted(mark for mark, count in counts.items() if count >= LEAST_ROWS)
        return cls(means, scales, factors, {mark: place for place, mark in enumerate(known)})

    def dense(self, rows: Rows) -> Values:
        """Return the rows' numbers as the fit sees them."""
        return np.asarray((rows.numbers - self.means) / self.scales * self.factors)

    def marked(self, rows: Rows) -> list[tuple[list[int], float]]:
        """Return per row its known marks, and how much each of them counts in it: as ``features.bag``."""
        known = [sorted(self.places[mark] for mark in each if mark in self.places) for each in rows.marks]
        return [(each, 1.0 / float(np.sqrt(max(1, len(each))))) for each in known]

    def likeness(self, rows: Rows) -> Values:
        """Return how like any two rows are: the products of their features, and a constant for the bias."""
        dense = self.dense(rows)
        found = dense @ dense.T + BIAS
        holders: dict[int, list[int]] = {}
        weights = np.array([weight for _, weight in self.marked(rows)])
        for row, (marks, _) in enumerate(self.marked(rows)):
            for mark in marks:
                holders.setdefault(mark, []).append(row)
        for held in holders.values():
            found[np.ix_(held, held)] += np.outer(weights[held], weights[held])
        return np.asarray(found)


def duals(likeness: Values, truth: Truth, ridge: float = RIDGE) -> Values:
    """Return the weights of rows that fit every column of the truth by ridge logistic regression.

    Newton's method with the curve's upper bound, a quarter, in place of the curve itself (Böhning 1992): one inverse
    serves all columns and all steps, and no step overshoots.
    """
    inverse = np.linalg.inv(likeness + 4.0 * ridge * np.eye(len(likeness)))
    found = np.zeros(truth.shape)
    for _ in range(STEPS):
        logits = likeness @ found
        moved = inverse @ (logits + 4.0 * (truth - logistic(logits)))
        done = np.abs(moved - found).max() < CLOSE * np.abs(moved).max()
        found = moved
        if done:
            break
    return found


def weights_of(scale: Scale, rows: Rows, dual: Values) -> tuple[Values, Values, Values]:
    """Return the weights of numbers and of marks, and the bias, per column; shapes ``(features, columns)``."""
    marks = np.zeros((len(scale.places), dual.shape[1]))
    for (known, weight), row in zip(scale.marked(rows), dual, strict=True):
        marks[known] += weight * row
    return scale.dense(rows).T @ dual, marks, BIAS * dual.sum(axis=0)


def folds_of(domains: Sequence[str], count: int = FOLDS) -> NDArray[np.intp]:
    """Return each row's fold; a domain is in one."""
    order = {domain: place for place, domain in enumerate(sorted(set(domains)))}
    return np.array([order[domain] % count for domain in domains])


def out_of_fold(rows: Rows, truth: Truth, ridge: float = RIDGE) -> Values:
    """Return predictions for each row and column by models that saw no label of the row's fold; shape as ``truth``."""
    found = np.zeros(truth.shape)
    folds = folds_of(rows.domains)
    likeness = Scale.of(rows).likeness(rows)
    for fold in np.unique(folds):
        learnt, asked = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        dual = duals(likeness[np.ix_(learnt, learnt)], truth[learnt], ridge)
        found[asked] = logistic(likeness[np.ix_(asked, learnt)] @ dual)
    return found


@dataclass(frozen=True, slots=True)
class Bounds:
    """From where a head says yes and below where no; ``None`` = never."""

    yes_from: float | None
    no_below: float | None

    @property
    def is_worth(self) -> bool:
        """Whether the head decides anything that rules do not."""
        return self.yes_from is not None


def bounds_of(truth: Truth, probabilities: Values) -> Bounds:
    """Return the bounds of a head from predictions that it made on domains it had not seen."""
    order = np.argsort(-probabilities, kind="stable")
    right = np.cumsum(truth[order])
    precision, recall = right / np.arange(1, len(order) + 1), right / max(1, int(truth.sum()))
    sure = np.flatnonzero((precision >= SURE) & (recall >= LEAST_YES))
    yes = float(np.ceil(probabilities[order[sure[-1]]] * 10**DIGITS) / 10**DIGITS) if len(sure) else None
    held = np.sort(probabilities[truth])
    no = float(np.floor(held[int(MISSED * len(held))] * 10**DIGITS) / 10**DIGITS) if len(held) else None
    return Bounds(yes, no if no is None or yes is None else min(no, yes))


def measured(truth: Truth, probabilities: Values, bounds: Bounds) -> dict[str, Any]:
    """Return how a head fared on domains that it had not seen."""
    order = np.argsort(-probabilities, kind="stable")
    right = np.cumsum(truth[order])
    precision, recall = right / np.arange(1, len(order) + 1), right / max(1, int(truth.sum()))
    both = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    said = probabilities >= (2.0 if bounds.yes_from is None else bounds.yes_from)
    denied = probabilities < (0.0 if bounds.no_below is None else bounds.no_below)
    return {
        "rows": len(truth),
        "positive": int(truth.sum()),
        "average_precision": _round(float((precision * truth[order]).sum() / max(1, int(truth.sum())))),
        "best_f1": _round(float(both.max())),
        "best_f1_from": round(float(probabilities[order[int(both.argmax())]]), DIGITS),
        "yes_precision": _round(float(truth[said].mean())) if said.any() else None,
        "yes_recall": _round(float(said[truth].mean())),
        "no_share": _round(float(denied.mean())),
        "no_wrong": _round(float(truth[denied].mean())) if denied.any() else None,
    }


def fitted(names: Sequence[str], rows: Rows, truth: Truth, predictions: Values, ridge: float = RIDGE) -> dict[str, Any]:
    """Return a group of heads as their file holds it; heads that are never sure are left out."""
    scale = Scale.of(rows)
    numbers, marks, biases = weights_of(scale, rows, duals(scale.likeness(rows), truth, ridge))
    heads: dict[str, Any] = {}
    for place, name in enumerate(names):
        bounds = bounds_of(truth[:, place], predictions[:, place])
        if not bounds.is_worth:
            continue
        heads[name] = {
            "weights": _rounded(numbers[:, place] * scale.factors, DIGITS + 2),
            "mark_weights": _rounded(marks[:, place], DIGITS - 1),
            "bias": round(float(biases[place]), DIGITS),
            "yes_from": bounds.yes_from,
            "no_below": bounds.no_below,
            "measured": measured(truth[:, place], predictions[:, place], bounds),
        }
    return {
        "means": _rounded(scale.means, DIGITS),
        "scales": _rounded(scale.scales, DIGITS + 2),
        "marks": list(scale.places),
        "heads": heads,
    }


def _rounded(values: Values, digits: int) -> list[float]:
    return [float(each) for each in np.round(values, digits)]


def _round(value: float) -> float:
    return round(value, 3)
