"""What the classifier is worth: figures on whole texts, by class of attack and kind of benign text (ADR 0126)."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from training.injection.fit import Values, auroc, bound_at
from training.injection.rows import Row
from training.injection.windowed import part_of

ALLOWED: Final = (0.01, 0.05)
"""Shares of hard benign texts that may be taken for attacks."""
HARD: Final = frozenset({"written", "quoted", "carried"})
OWN: Final = frozenset({"direct", "hidden"})
PRIOR: Final = 0.1
"""Share of attacks that probabilities are calibrated for."""
KNOTS: Final = 24
_GAP: Final = 1e-4
_BINS: Final = 15


def figures(rows: Sequence[Row], scores: Values) -> dict[str, Any]:
    """Return the figures of predictions for rows that the model had not seen.

    Bounds come from the hard benign texts: those that were written to look hostile, quotations of attacks among them.
    """
    parts = np.array([part_of(row) for row in rows])
    attacks = np.array([row.attack for row in rows])
    kinds = np.array([row.kind for row in rows])
    hard, own = np.isin(parts, list(HARD)), np.isin(parts, list(OWN))
    public = np.char.startswith(parts, "s-labs")
    found: dict[str, Any] = {
        "hard_benign": int(hard.sum()),
        "own_attacks": int(own.sum()),
        "auroc_own_against_hard_benign": _round(auroc(scores[own | hard], attacks[own | hard])),
    }
    if public.any():
        found["auroc_s_labs"] = _round(auroc(scores[public], attacks[public]))
    for allowed in ALLOWED:
        bound = bound_at(scores[hard], allowed)
        found[f"at_{allowed:g}"] = {
            "recall_own": _round(float((scores[own] >= bound).mean())),
            "recall_by_part": _shares(scores, bound, parts, attacks),
            "recall_by_class": _shares(scores, bound, kinds, attacks),
            "false_positives_by_kind": _shares(scores, bound, kinds, ~attacks),
        }
    return found


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
