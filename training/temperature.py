"""Fit the temperature of the entailment model and write it into MANIFEST.json: ``python -m training.temperature``.

Each of the origins with three classes gives the same number of development rows; of these every second one is fitted on
and the others are measured on. The temperature changes no label, only how sure the probabilities are.
"""

import argparse
import asyncio
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evaluation.calibration import calibration_of, without_temperature
from services.common.adapters.encoders.entailment import LABELS, open_entailment
from services.common.model_repository import ModelRepository
from services.common.settings.inference import InferenceSettings
from tools.update_manifest import dump
from training.rows import NliRow, read_nli

Probabilities = NDArray[np.float64]

CANDIDATES: Final = np.round(np.arange(0.5, 3.001, 0.01), 2)
SLICE: Final = 512


def chosen_rows(rows: Sequence[NliRow], per_origin: int) -> list[NliRow]:
    """Return up to so many rows of each origin that has all three classes, in an order that only the texts decide."""
    by_origin: dict[str, list[NliRow]] = {}
    for row in rows:
        by_origin.setdefault(row.origin, []).append(row)
    found: list[NliRow] = []
    for _, own in sorted(by_origin.items()):
        if {row.label for row in own} == set(range(len(LABELS))) and len(own) >= per_origin:
            found += sorted(own, key=_digest)[:per_origin]
    return found


def at_temperature(even: Probabilities, temperature: float) -> Probabilities:
    """Return the probabilities at a temperature, from those at 1; ``(rows, 3)``."""
    return without_temperature(even, 1.0 / temperature)


def best_temperature(even: Probabilities, labels: NDArray[np.int64]) -> float:
    """Return the temperature of ``CANDIDATES`` with the least cross-entropy.

    Args:
        even: probabilities at temperature 1, ``(rows, 3)``.
        labels: ``(rows,)``.
    """
    at = np.arange(labels.size)
    losses = [-np.log(np.maximum(at_temperature(even, t)[at, labels], 1e-12)).mean() for t in CANDIDATES]
    return float(CANDIDATES[int(np.argmin(losses))])


def softmax_entry(even: Probabilities, rows: Sequence[NliRow]) -> dict[str, Any]:
    """Fit on every second row, measure on the others, and return the manifest's entry."""
    labels = np.array([row.label for row in rows], dtype=np.int64)
    fit, held = np.arange(0, labels.size, 2), np.arange(1, labels.size, 2)
    temperature = best_temperature(even[fit], labels[fit])
    measured: dict[str, Any] = {"rows": int(held.size)}
    for name, value in (("before", 1.0), ("after", temperature)):
        scaled = at_temperature(even[held], value)
        curve = calibration_of(name, scaled.max(axis=1), scaled.argmax(axis=1) == labels[held])
        measured[f"expected_calibration_error_{name}"] = round(curve.equal_mass, 4)
    origins = sorted({row.origin for row in rows})
    return {
        "labels": list(LABELS),
        "temperature": temperature,
        "fitted_on": {"data": "nli/dev", "origins": origins, "rows": int(fit.size), "split": "every second row"},
        "measured": measured,
    }


async def classified(root: Path, name: str, rows: Sequence[NliRow]) -> Probabilities:
    """Return the model's probabilities with its present temperature taken out, ``(rows, 3)``."""
    repository = ModelRepository.open(root)
    model = await open_entailment(InferenceSettings(entailment_model=name), repository)
    try:
        parts = [
            await model.classify([(row.premise, row.hypothesis) for row in rows[start : start + SLICE]])
            for start in range(0, len(rows), SLICE)
        ]
    finally:
        await model.close()
    softmax = repository.entry(name).softmax
    return without_temperature(np.concatenate(parts).astype(np.float64), softmax.temperature if softmax else 1.0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, print and, unless told otherwise, write."""
    parser = argparse.ArgumentParser(prog="python -m training.temperature", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/dev.jsonl.gz")
    parser.add_argument("--name", default="nli", help="the model's folder in the repository")
    parser.add_argument("--repository", type=Path, default=Path("model_repository"))
    parser.add_argument("--rows", type=int, default=1000, help="rows of each origin, half of them to fit on")
    parser.add_argument("--dry-run", action="store_true", help="print what would be written")
    options = parser.parse_args(arguments)
    rows = chosen_rows(read_nli(options.data, "dev"), options.rows)
    entry = softmax_entry(asyncio.run(classified(options.repository, options.name, rows)), rows)
    print(json.dumps(entry, indent=2))
    if not options.dry_run:
        path: Path = options.repository / "MANIFEST.json"
        manifest = json.loads(path.read_text(encoding="utf-8"))
        next(model for model in manifest["models"] if model["name"] == options.name)["softmax"] = entry
        path.write_text(dump(manifest), encoding="utf-8")


def _digest(row: NliRow) -> str:
    return hashlib.sha256(f"{row.premise}\0{row.hypothesis}".encode()).hexdigest()


if __name__ == "__main__":
    main()
