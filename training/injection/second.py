"""Fit the classifier a second time, on pairs that words alone do not tell apart, with cues beside them (ADR 0175).

    python -m training.injection --data DATA                # the base, .cache/injection/base.npz
    python -m training.injection.second --data DATA [--base HEAD]
    python tools/update_manifest.py

The base's two logits, cues of whom a window speaks to, and new weights of n-grams are weighed by one logistic
regression. Measured on left-out themes, by candidate, beside the base alone, which saw none of the pairs.
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.optimize import minimize  # type: ignore[import-untyped]

from services.common.calibration import PiecewiseLinearCalibration
from services.common.injection_classifier.cues import cues
from services.common.injection_classifier.model import InjectionHead, read_head, squashed
from services.common.injection_classifier.text import readable
from services.common.injection_classifier.windows import cut
from services.common.model_repository import ModelRepository
from training.injection.__main__ import (
    BASE,
    CACHE,
    NAME,
    SEED,
    digest_of,
    fingerprint_of,
    on_dev,
    probabilities,
    rows_of,
    write,
)
from training.injection.fit import Floats, Grams, Values, auroc, bound_at, logistic_loss
from training.injection.grammar import FOLDER
from training.injection.measure import at_bound, calibration_error, calibration_of
from training.injection.paired import learnt_before, paired_rows
from training.injection.rows import FOLDS, Row
from training.injection.serving import served
from training.injection.vectors import VectorCache, read_vectors
from training.injection.windowed import SHARES, Windowed, grams_of, part_of, to_learn, windowed

VERSION: Final = "2"
REPORT: Final = Path("docs/results/injection-classifier-second.json")
OPERATING: Final = 0.7
RIDGE: Final = 1e-3
FREE: Final = 0.01
"""Of the ridge, for the weights of the base's logits and the bias."""
CUES: Final = 2.0
GRAMS: Final = 1.5
"""By how much cues and n-grams are stretched before the ridge: 1.5 and 3 for either gave the same within the error."""
STEPS: Final = 35
NEW: Final = frozenset({"paired", "clean", "hostile_looking"})
WEIGHED: Final = {"attack": 1.0, "twin": 0.8, "clean": 0.3, "hostile_looking": 1.0}
BEFORE: Final = 0.35
"""How much the parts that the base was fitted on weigh, of what they weighed there."""
CANDIDATES: Final = {"base": (0.0, 0.0), "cues": (CUES, 0.0), "cues_and_grams": (CUES, GRAMS)}


@dataclass(frozen=True, slots=True)
class Material:
    """Windows with what the second fit weighs.

    Attributes:
        data: the rows in windows.
        base: the base's logits of n-grams and of vectors, weighed as the base does; shape ``(windows, 2)``.
        cues: shape ``(windows, cues)``.
        grams: hashed n-grams.
        shares: how much each window counts; 0 = not learnt from.
    """

    data: Windowed
    base: Values
    cues: Floats
    grams: Grams
    shares: Values

    @property
    def labels(self) -> Floats:
        """1 for a window of an attack."""
        return np.asarray(self.data.learnt == 1, dtype=np.float32)

    @property
    def folds(self) -> Values:
        """The fold of each window."""
        return np.array([row.fold for row in self.data.rows])[self.data.homes]


@dataclass(frozen=True, slots=True)
class Second:
    """What was fitted: weights of the base's two logits, of cues and of n-grams (empty without), and a bias."""

    base: Values
    cues: Values
    grams: Values
    bias: float

    def logits(self, material: Material) -> Values:
        """Return a logit per window."""
        found = material.base @ self.base + material.cues @ self.cues + self.bias
        return np.asarray(found + (material.grams.weighed(self.grams) if len(self.grams) else 0.0))


def material_of(rows: Sequence[Row], head: InjectionHead, cache: VectorCache) -> Material:
    """Return rows with what the base says of them; all their vectors are in the cache."""
    data = windowed(rows)
    vectors = np.concatenate([cache.matrix(data.windows), cache.matrix(data.blocks)], axis=1).astype(np.float32)
    grams = grams_of(data.windows, data.blocks)
    inner = np.tanh(vectors @ head.hidden + head.hidden_bias)
    base = np.column_stack(
        [grams.weighed(head.grams.astype(np.float64)) + head.gram_bias, inner @ head.out + head.bias]
    )
    found = np.concatenate([cues(cut(readable(row.text))) for row in data.rows])
    return Material(data, base * head.joint[:2], found, grams, shares_of(data))


def shares_of(data: Windowed) -> Values:
    """Return how much each window counts: a part as ``WEIGHED`` says, and in it every text the same by its root."""
    learnt = data.learnt >= 0
    counts = np.bincount(data.homes, weights=learnt, minlength=len(data.rows))
    found = learnt / np.sqrt(np.maximum(1, counts))[data.homes]
    parts = np.array(
        [("attack" if row.attack else "twin") if part_of(row) == "paired" else part_of(row) for row in data.rows]
    )
    named = parts[data.homes]
    for part in set(parts):
        own = named == part
        found[own] *= (WEIGHED[part] if part in WEIGHED else BEFORE * SHARES[part]) / found[own].sum()
    return np.asarray(found / found.sum())


def fit(material: Material, among: Any, stretched: tuple[float, float], bias: float) -> Second:
    """Fit the regression on some windows.

    Args:
        material: all windows.
        among: which of them are learnt from; shape ``(windows,)``.
        stretched: by how much cues and n-grams are stretched; 0 = left out.
        bias: that of the base, where the fit begins.
    """
    places = np.flatnonzero(among & (material.shares > 0))
    of_cues, of_grams = stretched
    dense = np.column_stack([material.base[places], of_cues * material.cues[places], np.ones(len(places))])
    grams, labels, shares = material.grams[places], material.labels[places], material.shares[places]
    shares = shares / shares.sum()
    width, wide = dense.shape[1], grams.width if of_grams else 0
    ridge = np.full(width + wide, RIDGE)
    ridge[[0, 1, width - 1]] *= FREE

    def loss(found: Values) -> tuple[float, Values]:
        logits = dense @ found[:width]
        if wide:
            logits = logits + of_grams * grams.weighed(found[width:])
        value, slope = logistic_loss(logits, labels, shares)
        gradient = dense.T @ slope
        if wide:
            gradient = np.concatenate([gradient, of_grams * grams.gathered(slope)])
        return value + 0.5 * float(ridge @ (found * found)), gradient + ridge * found

    start = np.zeros(width + wide)
    start[:2], start[width - 1] = 1.0, bias
    found = np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x)
    return Second(found[:2], of_cues * found[2 : width - 1], of_grams * found[width:], float(found[width - 1]))


def cross_validated(material: Material, bias: float) -> dict[str, Values]:
    """Return each window's logit by candidate, fitted without the themes and documents of its fold."""
    found = {"base": material.base.sum(axis=1) + bias}
    for name, stretched in CANDIDATES.items():
        if name not in found:
            found[name] = np.zeros(len(material.shares))
            for fold in range(FOLDS):
                own = material.folds == fold
                found[name][own] = fit(material, ~own, stretched, bias).logits(material)[own]
    return found


def figures(rows: Sequence[Row], scores: Values) -> dict[str, Any]:
    """Return the figures of the new texts: attacks against all benign ones, and against each kind of these."""
    parts = np.array([part_of(row) for row in rows])
    attacks = np.array([row.attack for row in rows])
    own = attacks & (parts == "paired")
    benign = {
        "all": ~attacks & np.isin(parts, list(NEW)),
        "twins": ~attacks & (parts == "paired"),
        "hostile_looking": parts == "hostile_looking",
    }
    found: dict[str, Any] = {"attacks": int(own.sum())}
    for name, among in benign.items():
        told = {"texts": int(among.sum()), "auroc": auroc(scores[own | among], attacks[own | among])}
        for allowed in (0.01, 0.05):
            told[f"recall_at_{allowed:g}"] = float((scores[own] >= bound_at(scores[among], allowed)).mean())
        found[name] = {key: round(value, 4) for key, value in told.items()}
    return found


def head_of(base: InjectionHead, second: Second, knots: tuple[list[float], list[float]]) -> InjectionHead:
    """Return both fits as one head: the n-grams' weights are added up, the base's logit of vectors is kept."""
    first = float(base.joint[0] * second.base[0])
    grams = first * base.grams.astype(np.float64) + (second.grams if len(second.grams) else 0.0)
    return replace(
        base,
        version=VERSION,
        grams=grams.astype(np.float16).astype(np.float32),
        gram_bias=first * base.gram_bias,
        joint=np.array([1.0, base.joint[1] * second.base[1], second.bias]),
        calibration=PiecewiseLinearCalibration(*knots),
        cues=second.cues.astype(np.float32),
    )


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    shape = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m training.injection.second", description=__doc__, formatter_class=shape)
    found.add_argument("--data", type=Path, required=True, help="folder of the evaluation data")
    found.add_argument("--base", type=Path, default=BASE, help=f"the head of the first fit; {BASE}")
    found.add_argument("--repository", type=Path, default=Path("model_repository"), help="where the models lie")
    found.add_argument("--cache", type=Path, default=CACHE, help=f"keeps what the embedder made of the texts; {CACHE}")
    found.add_argument("--report", type=Path, default=REPORT, help=f"the figures; {REPORT}")
    return found


def main() -> int:
    """Fit, measure, write; prints the figures that matter."""
    options = parser().parse_args()
    repository, base = ModelRepository.open(options.repository), read_head(options.base.read_bytes())
    before, dev = rows_of(options.data)
    rows, asked = [*paired_rows(SEED), *learnt_before(before)], windowed(dev)
    cache = asyncio.run(read_vectors(windowed(rows).texts() | asked.texts(), repository, options.cache, np.inf))
    material, bias = material_of(rows, base, cache), float(base.joint[2])
    logits = cross_validated(material, bias)
    worst = {name: material.data.worst(each) for name, each in logits.items()}
    knots = calibration_of(material.data.rows, squashed(worst["cues_and_grams"]))
    whole = fit(material, np.ones(len(material.shares), dtype=np.bool_), CANDIDATES["cues_and_grams"], bias)
    head = head_of(base, whole, knots)
    written = write(head, options.repository / NAME / "1" / "head.npz")
    of_dev = to_learn(asked, cache.matrix, options.cache)
    told = report(material, worst, head) | {
        "s_labs_dev": {name: on_dev(one, asked, of_dev) for name, one in (("base", base), ("second", head))},
        "base_sha256": hashlib.sha256(options.base.read_bytes()).hexdigest(),
        "file": {"bytes": len(written), "sha256": hashlib.sha256(written).hexdigest()},
    }
    golden, told["speed"] = asyncio.run(
        served(read_head(written), repository, fingerprint_of(written, VERSION), before)
    )
    (options.repository / NAME / "golden.json").write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")
    options.report.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    for name, each in told["left_out_themes"].items():
        print(name, json.dumps(each))
    print("s-labs dev", json.dumps(told["s_labs_dev"]))
    print("now: python tools/update_manifest.py")
    return 0


def report(material: Material, worst: dict[str, Values], head: InjectionHead) -> dict[str, Any]:
    """Return the figures on left-out themes, and what they were measured on."""
    rows = material.data.rows
    calibrated = probabilities(head.calibration, worst["cues_and_grams"])
    new = [place for place, row in enumerate(rows) if part_of(row) in NEW]
    some, scores = [rows[place] for place in new], worst["cues_and_grams"][new]
    benign = np.array([not row.attack for row in some])
    return {
        "seed": SEED,
        "folds": FOLDS,
        "material_sha256": digest_of(FOLDER),
        "new_texts": len(new),
        "texts_of_before": len(rows) - len(new),
        "left_out_themes": {name: figures(rows, each) for name, each in worst.items()},
        "at_0.01_by_theme": at_bound(some, scores, bound_at(scores[benign], 0.01)),
        "calibration_error": calibration_error(rows, calibrated),
        f"at_probability_{OPERATING:g}": at_bound(some, calibrated[new], OPERATING),
    }


if __name__ == "__main__":
    sys.exit(main())
