"""What the classifier is worth: figures on whole texts, by class of attack and kind of benign text (ADR 0227)."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from training.injection.rows import Row, part_of

Values = NDArray[np.float64]

ALLOWED: Final = (0.01, 0.05)
"""Shares of benign texts that may be taken for attacks."""
PRIOR: Final = 0.1
"""Share of attacks that probabilities are calibrated for."""
KNOTS: Final = 24
_GAP: Final = 1e-4
_BINS: Final = 15


def figures(rows: Sequence[Row], scores: Values) -> dict[str, Any]:
    """Return the figures of some rows: of all together, and by style at the bound that all together set."""
    attacks, styles = np.array([row.attack for row in rows]), np.array([row.family for row in rows])
    found: dict[str, Any] = {
        "attacks": int(attacks.sum()),
        "benign": int((~attacks).sum()),
        "auroc": _round(auroc(scores, attacks)),
    }
    for allowed in ALLOWED:
        bound = bound_at(scores[~attacks], allowed)
        found[f"recall_at_{allowed:g}"] = _round(float((scores[attacks] >= bound).mean()))
        found[f"recall_at_{allowed:g}_by_style"] = _shares(scores, bound, styles, attacks)
    return found


def on_unseen(rows: Sequence[Row], probabilities: Values, operating: float) -> dict[str, Any]:
    """Return the figures of probabilities for rows that nothing was fitted to.

    Args:
        rows: with attacks and benign texts among them.
        probabilities: of each.
        operating: a published bound.
    """
    truth = np.array([row.attack for row in rows])
    bound = bound_at(probabilities[~truth], ALLOWED[0])
    return {
        "texts": len(truth),
        "auroc": _round(auroc(probabilities, truth)),
        f"recall_at_{ALLOWED[0]:g}": _round(float((probabilities[truth] >= bound).mean())),
        f"recall_at_probability_{operating:g}": _round(float((probabilities[truth] >= operating).mean())),
        f"false_positives_at_probability_{operating:g}": _round(float((probabilities[~truth] >= operating).mean())),
    }


def at_bound(rows: Sequence[Row], scores: Values, bound: float) -> dict[str, Any]:
    """Return recall by class and false positives by kind from a given bound on."""
    attacks = np.array([row.attack for row in rows])
    kinds = np.array([row.kind for row in rows])
    return {
        "recall_by_class": _shares(scores, bound, kinds, attacks),
        "false_positives_by_kind": _shares(scores, bound, kinds, ~attacks),
    }


def calibration_of(rows: Sequence[Row], raw: Values) -> tuple[list[float], list[float]]:
    """Return knots of the map from raw scores to probabilities: isotonic, on predictions of left-out families.

    Attacks weigh ``PRIOR`` together, benign texts the rest; in each, every part of the data the same.
    """
    weights = weights_of(rows)
    order = np.argsort(raw, kind="stable")
    truth = np.array([row.attack for row in rows], dtype=np.float64)
    centres, levels = _isotonic(raw[order], truth[order], weights[order])
    places = np.unique(np.linspace(0, len(centres) - 1, min(KNOTS, len(centres))).astype(int))
    knots = [(0.0, 0.0)]
    for place in places:
        x, y = float(centres[place]), min(float(levels[place]), 1.0 - 2 * _GAP)
        if x > knots[-1][0] + _GAP and x < 1.0 - _GAP:
            knots.append((x, max(y, knots[-1][1] + _GAP / 100)))
    return [round(x, 6) for x, _ in knots] + [1.0], [round(y, 6) for _, y in knots] + [1.0]


def weights_of(rows: Sequence[Row]) -> Values:
    """Return how much each text counts in the calibration."""
    parts = np.array([part_of(row) for row in rows])
    attacks = np.array([row.attack for row in rows])
    weights = np.zeros(len(rows))
    for attack, share in ((True, PRIOR), (False, 1.0 - PRIOR)):
        names = sorted(set(parts[attacks == attack]))
        for name in names:
            own = (parts == name) & (attacks == attack)
            weights[own] = share / len(names) / own.sum()
    return weights


def calibration_error(rows: Sequence[Row], probabilities: Values) -> float:
    """Return the mean distance between promised probability and what came true, over bins of equal width."""
    weights, truth = weights_of(rows), np.array([row.attack for row in rows], dtype=np.float64)
    bins = np.minimum((probabilities * _BINS).astype(int), _BINS - 1)
    gaps = np.bincount(bins, weights * (truth - probabilities), minlength=_BINS)
    return _round(float(np.abs(gaps).sum()))


def _isotonic(values: Values, truth: Values, weights: Values) -> tuple[Values, Values]:
    """Return centres and levels of the blocks that pooling adjacent violators leaves."""
    blocks = list[list[float]]()  # weight, sum of truth, sum of values
    for value, true, weight in zip(values, truth, weights, strict=True):
        blocks.append([weight, weight * true, weight * value])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][0] >= blocks[-1][1] * blocks[-2][0]:
            last = blocks.pop()
            blocks[-1] = [one + other for one, other in zip(blocks[-1], last, strict=True)]
    found = np.array(blocks)
    return found[:, 2] / found[:, 0], found[:, 1] / found[:, 0]


def _shares(scores: Values, bound: float, names: NDArray[Any], among: NDArray[np.bool_]) -> dict[str, Any]:
    return {
        str(name): {
            "texts": int((own := among & (names == name)).sum()),
            "share": _round(float((scores[own] >= bound).mean())),
        }
        for name in sorted(set(names[among]))
    }


def _round(value: float) -> float:
    return round(value, 4)


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
