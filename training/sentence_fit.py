"""Fitting the heads: ridge logistic regression, cross-validated by domain, with bounds (ADR 0118).

NumPy alone. A row is a domain's: no head is ever judged by sentences of a domain that it was fitted on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.sentence_heads.features import Values, bag
from services.common.sentence_heads.model import logistic

Truth = NDArray[np.bool_]

FOLDS: Final = 7
RIDGE: Final = 0.1
STEPS: Final = 12
CLOSE: Final = 1e-3
"""Newton's method has arrived when no row moves by more than this share of the farthest."""
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

    def taken(self, places: NDArray[np.intp]) -> "Rows":
        """Return some of the rows."""
        return Rows(
            self.numbers[places],
            self.groups,
            [self.marks[place] for place in places],
            [self.domains[place] for place in places],
        )


@dataclass(frozen=True, slots=True)
class Scale:
    """How rows become features: what is taken from numbers, what they are divided by, which marks count."""

    means: Values
    scales: Values
    factors: Values
    places: Mapping[str, int]

    @classmethod
    def of(cls, rows: Rows) -> "Scale":
        """Return the scale that training rows give."""
        means, scales = rows.numbers.mean(axis=0), rows.numbers.std(axis=0) + LEAST_SCALE
        factors = np.concatenate([np.full(size, 1.0 / np.sqrt(size)) for size in rows.groups]) if rows.groups else means
        counts: dict[str, int] = {}
        for each in rows.marks:
            for mark in each:
                counts[mark] = counts.get(mark, 0) + 1
        known = sorted(mark for mark, count in counts.items() if count >= LEAST_ROWS)
        return cls(means, scales, factors, {mark: place for place, mark in enumerate(known)})

    def features(self, rows: Rows) -> Values:
        """Return rows as the fit sees them."""
        dense = (rows.numbers - self.means) / self.scales * self.factors
        return np.hstack([dense, bag(rows.marks, self.places)])


def fit(features: Values, truth: Truth, ridge: float = RIDGE) -> tuple[Values, float]:
    """Return weights and bias of a ridge logistic regression, by Newton's method in the rows' own space."""
    likeness = features @ features.T + BIAS
    dual = np.zeros(len(truth))
    for _ in range(STEPS):
        logits = likeness @ dual
        sure = logistic(logits)
        curve = np.maximum(sure * (1 - sure), 1e-5)
        target = logits - (sure - truth) / curve
        moved = np.linalg.solve(likeness + ridge * np.diag(1 / curve), target)
        done = np.abs(moved - dual).max() < CLOSE * np.abs(moved).max()
        dual = moved
        if done:
            break
    return features.T @ dual, float(BIAS * dual.sum())


def folds_of(domains: Sequence[str], count: int = FOLDS) -> NDArray[np.intp]:
    """Return each row's fold; a domain is in one."""
    order = {domain: place for place, domain in enumerate(sorted(set(domains)))}
    return np.array([order[domain] % count for domain in domains])


def out_of_fold(rows: Rows, truth: Truth, ridge: float = RIDGE) -> Values:
    """Return predictions for each row and head by models that saw nothing of the row's fold; shape as ``truth``."""
    found = np.zeros(truth.shape)
    folds = folds_of(rows.domains)
    for fold in np.unique(folds):
        learnt, asked = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        train, test = rows.taken(learnt), rows.taken(asked)
        scale = Scale.of(train)
        known, new = scale.features(train), scale.features(test)
        for head in range(truth.shape[1]):
            weights, bias = fit(known, truth[learnt, head], ridge)
            found[asked, head] = logistic(new @ weights + bias)
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
    features = scale.features(rows)
    heads: dict[str, Any] = {}
    for place, name in enumerate(names):
        bounds = bounds_of(truth[:, place], predictions[:, place])
        if not bounds.is_worth:
            continue
        weights, bias = fit(features, truth[:, place], ridge)
        dense = weights[: len(scale.means)] * scale.factors
        heads[name] = {
            "weights": _rounded(dense, DIGITS + 2),
            "mark_weights": _rounded(weights[len(scale.means) :], DIGITS - 1),
            "bias": round(bias, DIGITS),
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
