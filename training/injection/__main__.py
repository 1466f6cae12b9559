"""Train the base of the classifier of prompt injection and measure it; ``second`` makes of it the head (ADR 0126).

    python -m training.injection --data DATA [--seconds N]
    python -m training.injection.second --data DATA
    python tools/update_manifest.py

DATA is the folder of evaluation data (docs/how-to/evaluate.md). What the embedder makes of the texts is kept in a
cache; with ``--seconds`` a call stops after so long, exit 75, and the next one goes on. The same data, seed and machine
give the same file. NumPy and SciPy, no GPU.
"""

import argparse
import asyncio
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from services.common.adapters.encoders.injection import HEAD_FILE
from services.common.calibration import PiecewiseLinearCalibration
from services.common.encoding import canonical_json, sha256_hex
from services.common.injection_classifier.cues import cues
from services.common.injection_classifier.model import InjectionHead, read_head, squashed, write_head
from services.common.injection_classifier.text import readable
from services.common.injection_classifier.windows import cut
from services.common.model_repository import ModelRepository
from training.injection.fit import (
    FITTED_BY,
    GramModel,
    LayerModel,
    Values,
    Windows,
    auroc,
    bound_at,
    fit_grams,
    fit_joint,
    fit_layer,
    left_out,
)
from training.injection.grammar import FOLDER
from training.injection.measure import at_bound, calibration_error, calibration_of, figures
from training.injection.public import attack_sets, benign_sets, repository_rows
from training.injection.rows import FOLDS, ROUNDS, Row
from training.injection.serving import served
from training.injection.vectors import OutOfTimeError, read_vectors
from training.injection.windowed import Windowed, part_of, to_learn, windowed
from training.injection.written import written_rows

SEED: Final = 7
VERSION: Final = "1"
NAME: Final = "injection"
REPORT: Final = Path("docs/results/injection-classifier.json")
CACHE: Final = Path(".cache/injection")
BASE: Final = CACHE / "base.npz"
LEAST_CARRIER: Final = 300
OPERATING: Final = 0.7
"""The page's threshold of a combined score."""
COME_AGAIN: Final = 75


def rows_of(data: Path) -> tuple[list[Row], list[Row]]:
    """Return the rows to learn from, and those of s-labs' development part, which are only reported on."""
    benign, own = benign_sets(data, SEED), repository_rows()
    documents = [row for row in [*benign, *own] if len(row.text) >= LEAST_CARRIER]
    learnt = [row for row in benign if row.kind != "public.document" or len(row.text) % 2]  # half: reading takes time
    return [*written_rows(SEED, documents), *learnt, *own, *attack_sets(data, "train")], attack_sets(data, "dev")


def cross_validated(windows: Windows, folder: Path, key: str, until: float) -> dict[str, Values]:
    """Return each window's logit by models that saw no window of its fold, by candidate; each fold is kept when done.

    Raises:
        OutOfTimeError: it is not done at ``until``.
    """
    found: dict[str, Values] = {}
    candidates: dict[str, Callable[[Windows], GramModel | LayerModel]]
    candidates = {"grams": fit_grams, "vectors": partial(fit_layer, seed=SEED)}
    for name, fit in candidates.items():
        found[name] = np.zeros(len(windows.labels))
        for fold in range(ROUNDS):
            path = folder / f"{key}-{name}-{fold}.npy"
            if not path.is_file():
                if time.monotonic() > until:
                    raise OutOfTimeError(f"fold {fold} of {name} is left to fit; run it again")
                np.save(path, left_out(windows, fold, fit))
            found[name][windows.folds == fold] = np.load(path)
    if time.monotonic() > until:
        raise OutOfTimeError("the fit on all rows is left; run it again")
    return found


def key_of(data: Windowed, windows: Windows) -> str:
    """Return what predictions of left-out folds hang on."""
    told = [data.windows, data.blocks, windows.folds.tolist(), windows.weights.tolist(), SEED, FITTED_BY]
    return hashlib.sha256(json.dumps(told).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def joined(windows: Windows, logits: dict[str, Values]) -> Values:
    """Return the weights of both logits, fitted on predictions for left-out folds."""
    return fit_joint(np.column_stack([logits["grams"], logits["vectors"]]), windows.labels, windows.weights)


def head_of(windows: Windows, joint: Values, knots: tuple[list[float], list[float]], embedder: str) -> InjectionHead:
    """Return the classifier, fitted on all windows."""
    learnt = windows.part(np.flatnonzero(windows.weights > 0))
    grams, layer = fit_grams(learnt), fit_layer(learnt, seed=SEED)
    return InjectionHead(
        embedder=embedder,
        version=VERSION,
        grams=grams.weights.astype(np.float16).astype(np.float32),
        gram_bias=grams.bias,
        hidden=layer.hidden.astype(np.float32),
        hidden_bias=layer.hidden_bias.astype(np.float32),
        out=layer.out.astype(np.float32),
        bias=layer.bias,
        joint=joint,
        calibration=PiecewiseLinearCalibration(*knots),
    )


def scored(head: InjectionHead, data: Windowed, windows: Windows) -> Values:
    """Return the probability of each row by the head as it is written."""
    grams = windows.grams.weighed(head.grams.astype(np.float64)) + head.gram_bias
    grams = grams + np.concatenate([cues(cut(readable(row.text))) for row in data.rows]) @ head.cues
    inner = np.tanh(windows.vectors @ head.hidden + head.hidden_bias)
    logits = head.joint[0] * grams + head.joint[1] * (inner @ head.out + head.bias) + head.joint[2]
    return probabilities(head.calibration, data.worst(np.asarray(logits, dtype=np.float64)))


def probabilities(calibration: PiecewiseLinearCalibration, logits: Values) -> Values:
    """Return calibrated probabilities of texts."""
    return calibration.apply(squashed(logits).astype(np.float32)).astype(np.float64)


def fingerprint_of(written: bytes, version: str = VERSION) -> str:
    """Return the fingerprint that the manifest gives to a head of these bytes."""
    digest = hashlib.sha256(written).hexdigest()
    return f"{NAME}@{version}+sha256:{sha256_hex(canonical_json({HEAD_FILE: digest}))[:16]}"


def digest_of(folder: Path) -> str:
    """Return the SHA-256 over the files that rows are made of."""
    files = sorted(path for path in folder.iterdir() if path.suffix in {".txt", ".json", ".jsonl"})
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    described = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m training.injection", description=__doc__, formatter_class=described)
    found.add_argument("--data", type=Path, required=True, help="folder of the evaluation data")
    found.add_argument("--repository", type=Path, default=Path("model_repository"), help="where the models lie")
    found.add_argument("--head", type=Path, default=BASE, help=f"where the base is written; {BASE}")
    found.add_argument("--cache", type=Path, default=CACHE, help=f"keeps what the embedder made of the texts; {CACHE}")
    found.add_argument("--report", type=Path, default=REPORT, help=f"the figures; {REPORT}")
    found.add_argument("--rows", type=Path, help="write the measured texts with their scores here, one JSON a line")
    found.add_argument("--seconds", type=float, default=1e9, help="stop reading after so long; without end")
    return found


def main() -> int:
    """Train, measure, write; prints the figures that matter."""
    options = parser().parse_args()
    started = time.monotonic()
    repository = ModelRepository.open(options.repository)
    rows, dev = rows_of(options.data)
    learnt, asked = windowed(rows), windowed(dev)
    texts = learnt.texts() | asked.texts()
    try:
        cache = asyncio.run(read_vectors(texts, repository, options.cache, options.seconds))
    except OutOfTimeError as late:
        print(late)
        return COME_AGAIN
    windows = to_learn(learnt, cache.matrix, options.cache)
    try:
        logits = cross_validated(windows, options.cache, key_of(learnt, windows), started + options.seconds)
    except OutOfTimeError as late:
        print(late)
        return COME_AGAIN
    joint = joined(windows, logits)
    logits["both"] = np.column_stack([logits["grams"], logits["vectors"], np.ones(len(windows.labels))]) @ joint
    worst = {name: learnt.worst(each) for name, each in logits.items()}
    knots = calibration_of(learnt.rows, squashed(worst["both"]))
    head = head_of(windows, joint, knots, cache.fingerprint)
    written = write(head, options.head)
    told = report(rows=learnt.rows, worst=worst, head=head)
    told |= {
        "s_labs_dev": on_dev(head, asked, to_learn(asked, cache.matrix, options.cache)),
        "file": {"bytes": len(written), "sha256": hashlib.sha256(written).hexdigest()},
        "seconds": round(time.monotonic() - started),
    }
    _, told["speed"] = asyncio.run(served(read_head(written), repository, fingerprint_of(written), learnt.rows))
    options.report.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if options.rows is not None:
        write_rows(options.rows, learnt.rows, probabilities(head.calibration, worst["both"]))
    for name, each in told["cross_validation"].items():
        print(
            name, each["auroc_own_against_hard_benign"], {k: each[k]["recall_own"] for k in each if k.startswith("at_")}
        )
    print("s-labs dev", told["s_labs_dev"])
    print("now: python -m training.injection.second --data DATA")
    return 0


def report(rows: Sequence[Row], worst: dict[str, Values], head: InjectionHead) -> dict[str, Any]:
    """Return the figures on left-out families, and what they were measured on."""
    calibrated = probabilities(head.calibration, worst["both"])
    return {
        "seed": SEED,
        "folds": FOLDS,
        "folds_left_out_at_once": FOLDS // ROUNDS,
        "material_sha256": digest_of(FOLDER),
        "texts": dict(sorted(Counter(part_of(row) for row in rows).items())),
        "families": len({row.family for row in rows}),
        "cross_validation": {name: figures(rows, each) for name, each in worst.items()},
        "calibration_error": calibration_error(rows, calibrated),
        f"at_probability_{OPERATING:g}": at_bound(rows, calibrated, OPERATING),
    }


def on_dev(head: InjectionHead, asked: Windowed, windows: Windows) -> dict[str, Any]:
    """Return the figures of the delivered head on s-labs' development part."""
    truth = np.array([row.attack for row in asked.rows])
    scores = scored(head, asked, windows)
    bound = bound_at(scores[~truth], 0.01)
    return {
        "texts": len(truth),
        "auroc": round(auroc(scores, truth), 4),
        "recall_at_0.01": round(float((scores[truth] >= bound).mean()), 4),
        "recall_at_probability_0.7": round(float((scores[truth] >= OPERATING).mean()), 4),
        "false_positives_at_probability_0.7": round(float((scores[~truth] >= OPERATING).mean()), 4),
    }


def write(head: InjectionHead, path: Path) -> bytes:
    """Write the head and return its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = write_head(head)
    path.write_bytes(content)
    return content


def write_rows(path: Path, rows: Sequence[Row], scores: Values) -> None:
    """Write texts with what was said of them by a model that had not seen their family."""
    with path.open("w", encoding="utf-8") as lines:
        for row, score in zip(rows, scores, strict=True):
            told = {
                "text": row.text,
                "injection": row.attack,
                "kind": row.kind,
                "part": part_of(row),
                "score": round(float(score), 5),
            }
            lines.write(json.dumps(told, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
