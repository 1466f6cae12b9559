"""Fit the classifier a third time, on whole texts of many styles, each style left out in turn (ADR 0201).

    python -m training.injection.second --data DATA         # the head of version 2
    python -m training.injection.third --data DATA [--base HEAD]
    python tools/update_manifest.py

What version 2 says of a window is kept and corrected: by further weights of its n-grams and of the embedder's vectors,
fitted with a ridge on their inner products, so that leaving out a style takes a second. What version 2 was fitted on is
learnt from again, so that it is not unlearnt.
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
from scipy.linalg import solve_triangular  # type: ignore[import-untyped]
from scipy.optimize import minimize  # type: ignore[import-untyped]
from scipy.sparse import csr_matrix, hstack  # type: ignore[import-untyped]

from services.common.calibration import PiecewiseLinearCalibration
from services.common.injection_classifier.cues import cues
from services.common.injection_classifier.model import InjectionHead, read_head, squashed
from services.common.injection_classifier.text import readable
from services.common.injection_classifier.windows import cut
from services.common.model_repository import ModelRepository
from training.injection.__main__ import (
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
from training.injection.rows import Row
from training.injection.second import WEIGHED
from training.injection.serving import served
from training.injection.styled import SHARE, styled_rows
from training.injection.vectors import VectorCache, read_vectors
from training.injection.windowed import SHARES, Windowed, grams_of, part_of, to_learn, windowed

VERSION: Final = "5"
BASED_ON: Final = "2"
HEAD: Final = Path("model_repository") / NAME / "1" / "head.npz"
REPORT: Final = Path("docs/results/injection-classifier-fifth.json")
OPERATING: Final = 0.7
RIDGE: Final = 1e-3
FREE: Final = 0.01
"""Of the ridge, for the weights of the two logits of before, and the bias."""
BEFORE: Final = 1.5
"""What all parts that version 2 learnt from weigh together; attacks and benign texts of the styles weigh 1 each."""
OF_S_LABS: Final = 2.0
"""By how much s-labs weighs more among these than in the first fit: its attacks are of a kind that no style has."""
CANDIDATES: Final = {"grams": (1.5, 0.0), "grams_and_vectors": (1.5, 2.0)}
"""By how much n-grams and vectors are stretched before the ridge; 0 = left out."""
CHOSEN: Final = "grams_and_vectors"
STEPS: Final = 60
ONE_IN: Final = 3
"""Of what the second fit learnt from again, so many: leaving out a style is to take seconds."""
JITTER: Final = 1e-5
SMALL: Final = 1e-3
"""Of a unit's weights: so small that the hyperbolic tangent is straight, and the unit a sum."""


@dataclass(frozen=True, slots=True)
class Material:
    """Windows with what the third fit weighs.

    Attributes:
        data: the rows in windows.
        before: both logits of version 2 with its bias as a third column; shape ``(windows, 3)``.
        grams: hashed n-grams, those of the block behind those of the window; shape ``(windows, both widths)``.
        vectors: of window and block; shape ``(windows, 2 * width)``.
        shares: how much each window counts; 0 = not learnt from.
    """

    data: Windowed
    before: Values
    grams: csr_matrix
    vectors: Floats
    shares: Values

    @property
    def labels(self) -> Floats:
        """1 for a window of an attack."""
        return np.asarray(self.data.learnt == 1, dtype=np.float32)

    @property
    def folds(self) -> Values:
        """The fold of each window."""
        return np.array([row.fold for row in self.data.rows])[self.data.homes]


def learnt_rows(before: list[Row]) -> list[Row]:
    """Return the styles, the pairs, and a fixed part of what the first fit learnt from, all of s-labs that was kept."""
    kept = learnt_before(before)
    again = [row for place, row in enumerate(kept) if place % ONE_IN == 0 or row.share.startswith("s-labs")]
    return [*styled_rows(), *paired_rows(SEED), *again]


def material_of(rows: Sequence[Row], head: InjectionHead, cache: VectorCache) -> Material:
    """Return rows with what version 2 says of them; all their vectors are in the cache."""
    data = windowed(rows)
    vectors = np.concatenate([cache.matrix(data.windows), cache.matrix(data.blocks)], axis=1).astype(np.float32)
    grams = grams_of(data.windows, data.blocks)
    found = np.concatenate([cues(cut(readable(row.text))) for row in data.rows])
    first = grams.weighed(head.grams.astype(np.float64)) + head.gram_bias + found @ head.cues
    second = np.tanh(vectors @ head.hidden + head.hidden_bias) @ head.out + head.bias
    before = np.column_stack([head.joint[0] * first, head.joint[1] * second, np.full(len(first), head.joint[2])])
    return Material(data, before, side_by_side(grams), vectors, shares_of(data))


def side_by_side(grams: Grams) -> csr_matrix:
    """Return each window's n-grams with those of its block behind them."""
    return hstack([grams.own, grams.around[grams.homes]]).tocsr()


def shares_of(data: Windowed) -> Values:
    """Return how much each window counts: in a part every text the same by the root of its windows."""
    learnt = data.learnt >= 0
    counts = np.bincount(data.homes, weights=learnt, minlength=len(data.rows))
    found = learnt / np.sqrt(np.maximum(1, counts))[data.homes]
    parts = np.array([f"{part_of(row)} {row.attack}" for row in data.rows])
    named = parts[data.homes]
    weights = {part: _weight(part) for part in set(parts)}
    old = sum(weight for part, weight in weights.items() if not part.startswith(SHARE))
    for part, weight in weights.items():
        own = named == part
        scale = 1.0 if part.startswith(SHARE) else BEFORE / old
        found[own] *= scale * weight / found[own].sum()
    return np.asarray(found / found.sum())


def _weight(part: str) -> float:
    """Return what a part weighs among its like."""
    name, _, attack = part.rpartition(" ")
    if name == SHARE:
        return 1.0
    if name == "paired":
        return WEIGHED["attack" if attack == "True" else "twin"]
    return WEIGHED.get(name) or SHARES[name] * (OF_S_LABS if name.startswith("s-labs") else 1.0)


class Ridge:
    """Fits corrections with a ridge on the inner products of windows.

    Args:
        material: all windows.
        stretched: by how much n-grams and vectors are stretched.
    """

    def __init__(self, material: Material, stretched: tuple[float, float]) -> None:
        self._material = material
        self._stretched = stretched
        of_grams, of_vectors = stretched
        self._places = np.flatnonzero(material.shares > 0)
        grams, vectors = material.grams[self._places], material.vectors[self._places].astype(np.float64)
        products = of_grams**2 * (grams @ grams.T).toarray().astype(np.float64) + of_vectors**2 * (vectors @ vectors.T)
        products[np.diag_indices_from(products)] += JITTER
        self._root = np.linalg.cholesky(products)

    def fit(self, among: Any) -> Values:
        """Return weights of the root's columns and behind them of the logits of before, fitted on some windows."""
        rows = np.flatnonzero(np.asarray(among)[self._places])
        places = self._places[rows]
        dense = np.column_stack([self._root[rows], self._material.before[places]]).astype(np.float32)
        labels, shares = self._material.labels[places], self._material.shares[places]
        shares = shares / shares.sum()
        start = np.zeros(dense.shape[1])
        start[-3:] = 1.0
        ridge = np.full(len(start), RIDGE)
        ridge[-3:] *= FREE

        def loss(found: Values) -> tuple[float, Values]:
            logits = np.asarray(dense @ found.astype(np.float32), dtype=np.float64)
            value, slope = logistic_loss(logits, labels, shares)
            away = found - start
            return value + 0.5 * float(ridge @ (away * away)), dense.T @ slope.astype(np.float32) + ridge * away

        return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x)

    def logits(self, found: Values) -> Values:
        """Return a logit for every window, also of those that are not learnt from."""
        grams, vectors = self.corrections(found)
        added = self._material.grams @ grams + self._material.vectors @ vectors
        return np.asarray(added + self._material.before @ found[-3:])

    def left_out(self) -> Values:
        """Return each window's logit by a fit that saw nothing of its fold."""
        logits = np.zeros(len(self._material.shares))
        for fold in sorted(set(self._material.folds.tolist())):
            own = self._material.folds == fold
            logits[own] = self.logits(self.fit(~own))[own]
        return logits

    def corrections(self, found: Values) -> tuple[Values, Values]:
        """Return what is added to the weights of the n-grams, and the weights of the vectors."""
        of_grams, of_vectors = self._stretched
        windows = solve_triangular(self._root, found[:-3], lower=True, trans="T")
        grams, vectors = self._material.grams[self._places], self._material.vectors[self._places]
        return np.asarray(of_grams**2 * (grams.T @ windows)), np.asarray(of_vectors**2 * (vectors.T @ windows))


def head_of(
    base: InjectionHead, found: Values, corrections: tuple[Values, Values], knots: tuple[list[float], list[float]]
) -> InjectionHead:
    """Return version 2 with its corrections as one head: those of the vectors are one more unit of its layer."""
    grams, vectors = corrections
    first, second = float(found[-3] * base.joint[0]), float(found[-2] * base.joint[1])
    if vectors.any():
        base = replace(
            base,
            hidden=np.column_stack([base.hidden, SMALL * vectors]).astype(np.float32),
            hidden_bias=np.append(base.hidden_bias, 0.0).astype(np.float32),
            out=np.append(base.out, 1.0 / (SMALL * second)).astype(np.float32),
        )
    return replace(
        base,
        version=VERSION,
        grams=(first * base.grams.astype(np.float64) + grams).astype(np.float16).astype(np.float32),
        gram_bias=first * base.gram_bias,
        cues=(first * base.cues).astype(np.float32),
        joint=np.array([1.0, second, found[-1] * base.joint[2]]),
        calibration=PiecewiseLinearCalibration(*knots),
    )


def figures(rows: Sequence[Row], scores: Values) -> dict[str, Any]:
    """Return the figures of the styles: of all together, and by style at the bound that all together set."""
    own = np.array([row.share == SHARE for row in rows])
    attacks, styles = np.array([row.attack for row in rows]), np.array([row.family for row in rows])
    found: dict[str, Any] = {
        "attacks": int((own & attacks).sum()),
        "benign": int((own & ~attacks).sum()),
        "auroc": round(auroc(scores[own], attacks[own]), 4),
    }
    for allowed in (0.01, 0.05):
        bound = bound_at(scores[own & ~attacks], allowed)
        found[f"recall_at_{allowed:g}"] = round(float((scores[own & attacks] >= bound).mean()), 4)
        found[f"recall_at_{allowed:g}_by_style"] = {
            style: round(float((scores[own & attacks & (styles == style)] >= bound).mean()), 3)
            for style in sorted(set(styles[own]))
        }
    return found


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    shape = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m training.injection.third", description=__doc__, formatter_class=shape)
    found.add_argument("--data", type=Path, required=True, help="folder of the evaluation data")
    found.add_argument("--base", type=Path, default=HEAD, help=f"the head of version 2; {HEAD}")
    found.add_argument("--repository", type=Path, default=Path("model_repository"), help="where the models lie")
    found.add_argument("--cache", type=Path, default=CACHE, help=f"keeps what the embedder made of the texts; {CACHE}")
    found.add_argument("--report", type=Path, default=REPORT, help=f"the figures; {REPORT}")
    found.add_argument("--measure", action="store_true", help="measure left-out styles alone; write nothing")
    return found


def main() -> int:
    """Fit, measure, write; prints the figures that matter."""
    options = parser().parse_args()
    repository, base = ModelRepository.open(options.repository), read_head(options.base.read_bytes())
    if base.version != BASED_ON:
        print(f"{options.base} is version {base.version}, not {BASED_ON}", file=sys.stderr)
        return 2
    before, dev = rows_of(options.data)
    rows, asked = learnt_rows(before), windowed(dev)
    cache = asyncio.run(read_vectors(windowed(rows).texts() | asked.texts(), repository, options.cache, np.inf))
    material = material_of(rows, base, cache)
    fits = {name: Ridge(material, stretched) for name, stretched in CANDIDATES.items()}
    logits = {"version_2": material.before.sum(axis=1)} | {name: each.left_out() for name, each in fits.items()}
    worst = {name: material.data.worst(each) for name, each in logits.items()}
    told: dict[str, Any] = {
        "left_out_styles": {name: figures(material.data.rows, each) for name, each in worst.items()}
    }
    for name, each in told["left_out_styles"].items():
        print(name, json.dumps(each), flush=True)
    if options.measure:
        return 0
    found = fits[CHOSEN].fit(np.ones(len(material.shares), dtype=np.bool_))
    knots = calibration_of(material.data.rows, squashed(worst[CHOSEN]))
    head = head_of(base, found, fits[CHOSEN].corrections(found), knots)
    written = write(head, options.repository / NAME / "1" / "head.npz")
    told |= report(material.data.rows, probabilities(head.calibration, worst[CHOSEN]))
    told["s_labs_dev"] = {
        name: on_dev(one, asked, to_learn(asked, cache.matrix, options.cache))
        for name, one in (("version_2", base), ("version_5", read_head(written)))
    }
    told |= {
        "base_sha256": hashlib.sha256(options.base.read_bytes()).hexdigest(),
        "file": {"bytes": len(written), "sha256": hashlib.sha256(written).hexdigest()},
    }
    golden, told["speed"] = asyncio.run(
        served(read_head(written), repository, fingerprint_of(written, VERSION), before)
    )
    (options.repository / NAME / "golden.json").write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")
    options.report.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print("s-labs dev", json.dumps(told["s_labs_dev"]))
    print("now: python tools/update_manifest.py")
    return 0


def report(rows: Sequence[Row], scores: Values) -> dict[str, Any]:
    """Return what was learnt from, and the figures of calibrated probabilities of left-out folds."""
    own = [place for place, row in enumerate(rows) if row.share == SHARE]
    return {
        "seed": SEED,
        "material_sha256": digest_of(FOLDER),
        "texts_of_styles": len(own),
        "texts_of_before": len(rows) - len(own),
        "calibration_error": calibration_error(rows, scores),
        f"at_probability_{OPERATING:g}": at_bound([rows[place] for place in own], scores[own], OPERATING),
    }


if __name__ == "__main__":
    sys.exit(main())
