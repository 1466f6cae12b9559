"""What the combiner is worth on ``report``: every system side by side, per data set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table as Grid

from evaluation.metrics import auroc, balanced_accuracy
from training.combiner_data import Table

Values = NDArray[np.float64]

DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class System:
    """A column of the report: scores of all rows of ``calibrate`` and ``report``, and a threshold."""

    name: str
    calibrate: Values
    report: Values
    threshold: float


def measured(systems: Sequence[System], calibrate: Table, report: Table) -> dict[str, Any]:
    """Return per system and data set AUROC, balanced accuracy and the four counts on ``report``."""
    found: dict[str, Any] = {}
    for system in systems:
        sets = {
            name: _figures(system, calibrate.datasets == name, report.datasets == name, calibrate, report)
            for name in sorted(set(report.datasets.tolist()))
        }
        found[system.name] = {"threshold": system.threshold, "sets": sets, "mean": _means(sets)}
    return found


def show(console: Console, found: Mapping[str, Any]) -> None:
    """Print one table: a line per data set, AUROC, balanced accuracy and, for the last system, the counts."""
    grid = Grid(title="report: AUROC / balanced accuracy / balanced accuracy at the set's own threshold of calibrate")
    grid.add_column("set")
    for name in found:
        grid.add_column(name)
    grid.add_column(f"{list(found)[-1]}: tp fn fp tn")
    last = found[list(found)[-1]]["sets"]
    for name in last:
        cells = [_cell(one["sets"][name]) for one in found.values()]
        grid.add_row(name, *cells, " ".join(str(count) for count in last[name]["confusion"].values()))
    grid.add_row("mean", *(_cell(one["mean"]) for one in found.values()), "")
    console.print(grid)


def _figures(
    system: System, known: NDArray[np.bool_], new: NDArray[np.bool_], calibrate: Table, report: Table
) -> dict[str, Any]:
    labels, scores = report.supported[new], system.report[new]
    own = _own_threshold(system.calibrate[known], calibrate.supported[known])
    said = scores >= system.threshold
    return {
        "rows": int(new.sum()),
        "auroc": _rounded(auroc(scores, labels)),
        "balanced_accuracy": _rounded(balanced_accuracy(scores, labels, system.threshold)),
        "at_own_threshold": None if own is None else _rounded(balanced_accuracy(scores, labels, own)),
        "confusion": {
            "supported_seen": int((said & labels).sum()),
            "supported_missed": int((~said & labels).sum()),
            "unsupported_missed": int((said & ~labels).sum()),
            "unsupported_seen": int((~said & ~labels).sum()),
        },
    }


def _own_threshold(scores: Values, labels: NDArray[np.bool_]) -> float | None:
    if labels.all() or not labels.any():
        return None
    cuts = np.unique(scores)
    return float(cuts[int(np.argmax([balanced_accuracy(scores, labels, float(cut)) or 0.0 for cut in cuts]))])


def _means(sets: Mapping[str, Mapping[str, Any]]) -> dict[str, float | None]:
    means = {}
    for name in ("auroc", "balanced_accuracy", "at_own_threshold"):
        values = [one[name] for one in sets.values() if one[name] is not None]
        means[name] = round(float(np.mean(values)), DIGITS) if values else None
    return means


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def _cell(figures: Mapping[str, float | None]) -> str:
    names = ("auroc", "balanced_accuracy", "at_own_threshold")
    return " / ".join("-" if figures[name] is None else f"{figures[name]:.3f}" for name in names)
