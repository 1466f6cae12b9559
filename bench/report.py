"""How a measurement is told: one row, a baseline, a ratio."""

import platform
import resource
import sys
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Row:
    """One measured thing.

    Attributes:
        name: what was measured.
        value: median over the rounds, in ``unit``.
        baseline: what it is compared with; empty for the baseline itself or a plain figure.
        ratio: value over the baseline's value (higher is better), when there is a baseline.
        target: the ratio that was aimed at, when there is one.
        note: rounds, sizes, anything needed to read the figure.
    """

    name: str
    value: float
    unit: str
    baseline: str = ""
    ratio: float | None = None
    target: float | None = None
    note: str = ""


def show(title: str, rows: list[Row]) -> None:
    """Print a table of rows."""
    table = Table(title=title, title_justify="left")
    for column in ("measured", "median", "against", "ratio", "target", "note"):
        table.add_column(column, justify="right" if column in {"median", "ratio", "target"} else "left")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}x"
        target = "" if row.target is None else f">= {row.target:.2f}x"
        table.add_row(row.name, f"{row.value:,.1f} {row.unit}", row.baseline, ratio, target, row.note)
    Console(width=140).print(table)


def peak_memory_mib() -> float:
    """Return this process's peak resident memory in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform != "darwin" else peak / 1024 / 1024


def machine() -> str:
    """Say in words what machine this is."""
    import os

    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
