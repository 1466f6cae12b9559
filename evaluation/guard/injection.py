"""Measure DetectInjection: ``python -m tools.evaluate_guard injection [FILE…]``.

Files are JSON Lines of ``text``, ``injection`` and perhaps ``kind``. Without one: the s-labs set of the folder that
GROUNDTRAIL_EVAL_DATA names, its split dev. Each stage alone and both: precision, recall and F1 at the published
operating point and at 1% false positives, AUROC, and the false positives on benign texts by kind.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evaluation.data import EvaluationDataError, folder, read_rows
from evaluation.metrics import auroc
from services.common.composition import Adapters
from services.common.injection.combining import combined_score
from services.common.injection.searching import find_injections
from services.common.ports.injection import InjectionClassifier
from services.common.settings import load_settings

OPERATING_POINT: Final = 0.7
FALSE_POSITIVES: Final = 0.01
_FILE: Final = "injection/train_dev.jsonl.gz"
_BATCH: Final = 64

Scores = NDArray[np.float64]
Labels = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """What a threshold does; precision is ``None`` where nothing was found."""

    threshold: float
    precision: float | None
    recall: float
    f1: float
    false_positives: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One way of scoring on one set."""

    auroc: float | None
    published: AtThreshold
    at_one_percent: AtThreshold
    false_positives_by_kind: dict[str, float]


def at_threshold(scores: Scores, labels: Labels, threshold: float) -> AtThreshold:
    """Return what is found from a threshold on."""
    found = scores >= threshold
    true, false = int((found & labels).sum()), int((found & ~labels).sum())
    recall = true / max(1, int(labels.sum()))
    precision = true / (true + false) if true + false else None
    f1 = 2 * precision * recall / (precision + recall) if precision else 0.0
    return AtThreshold(threshold, precision, recall, f1, false / max(1, int((~labels).sum())))


def threshold_at(scores: Scores, labels: Labels, false_positives: float) -> float:
    """Return the lowest threshold at which no larger share of the benign texts is found."""
    benign = np.sort(scores[~labels])[::-1]
    allowed = int(false_positives * len(benign))
    if allowed >= len(benign):
        return 0.0
    return float(np.nextafter(benign[allowed], np.inf))


def measured(scores: Scores, labels: Labels, kinds: Sequence[str]) -> Measured:
    """Return the figures of one way of scoring."""
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for score, label, kind in zip(scores, labels, kinds, strict=True):
        if not label:
            by_kind[kind].append(bool(score >= OPERATING_POINT))
    return Measured(
        auroc(scores, labels),
        at_threshold(scores, labels, OPERATING_POINT),
        at_threshold(scores, labels, threshold_at(scores, labels, FALSE_POSITIVES)),
        {kind: sum(found) / len(found) for kind, found in sorted(by_kind.items())},
    )


async def scored(texts: Sequence[str], classifier: InjectionClassifier | None) -> dict[str, Scores]:
    """Return the scores of each text: of the rules, and of the classifier and both where there is one."""
    found = [find_injections(text) for text in texts]
    rules = np.array([one.score for one in found])
    if classifier is None:
        return {"rules": rules}
    parts = [await classifier.score(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)]
    judged = np.array([probability for part in parts for probability in part])
    both = [
        combined_score(one.score, None, float(own), disguised=one.is_disguised)
        for one, own in zip(found, judged, strict=True)
    ]
    return {"rules": rules, "classifier": judged, "combined": np.array(both)}


def _rows(path: Path | None) -> list[dict[str, Any]]:
    if path is not None:
        return read_rows(path)
    return [row for row in read_rows(folder(os.environ) / _FILE) if row.get("split") == "dev"]


async def _measure(paths: Sequence[Path | None]) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    async with Adapters(load_settings()) as adapters:
        opening = getattr(adapters, "injection_classifier", None)  # absent where no such model is delivered
        classifier = await opening() if opening is not None else None
        for path in paths:
            rows = _rows(path)
            texts = [str(row["text"]) for row in rows]
            labels = np.array([bool(row["injection"]) for row in rows])
            kinds = [str(row.get("kind") or row.get("dataset") or "text") for row in rows]
            start = time.perf_counter()
            found = {
                name: measured(scores, labels, kinds) for name, scores in (await scored(texts, classifier)).items()
            }
            seconds = time.perf_counter() - start
            name = "s-labs, dev" if path is None else path.name
            attacks = int(labels.sum())
            results.append({"set": name, "attacks": attacks, "benign": len(rows) - attacks, "seconds": seconds} | found)
    return results


def _shown(result: dict[str, Any]) -> str:
    lines = [f"{result['set']}: {result['attacks']} attacks, {result['benign']} benign, {result['seconds']:.1f} s"]
    for name in ("rules", "classifier", "combined"):
        if name in result:
            one: Measured = result[name]
            lines.append(f"  {name}: AUROC " + ("-" if one.auroc is None else f"{one.auroc:.3f}"))
            lines += [f"    {_at(point)}" for point in (one.published, one.at_one_percent)]
            kinds = ", ".join(f"{kind} {share:.1%}" for kind, share in one.false_positives_by_kind.items())
            lines.append(f"    false positives at {OPERATING_POINT} by kind: {kinds}")
    return "\n".join(lines)


def _at(point: AtThreshold) -> str:
    precision = "-" if point.precision is None else f"{point.precision:.3f}"
    return (
        f"at {point.threshold:.3f}: precision {precision}, recall {point.recall:.3f}, F1 {point.f1:.3f}, "
        f"false positives {point.false_positives:.2%}"
    )


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says and return the exit status."""
    parser = argparse.ArgumentParser(prog="evaluate_guard injection", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="JSON Lines of text, injection, kind; none = s-labs, dev")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    wanted = parser.parse_args(arguments)
    try:
        results = asyncio.run(_measure(wanted.files or [None]))
    except EvaluationDataError as error:
        print(error, file=sys.stderr)
        return 2
    if wanted.json:
        print(json.dumps(results, default=asdict, indent=1))
    else:
        print("\n".join(map(_shown, results)))
    return 0
