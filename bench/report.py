"""How a measurement is told: one row, a baseline, a ratio."""

import os
import platform
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

_PROCESSES: Final = Path("/proc")


@dataclass(frozen=True, slots=True)
class Row:
    """One measured thing.

    Attributes:
        name: what was measured.
        value: median over the rounds, in ``unit``.
        baseline: what it is compared with; empty for the baseline itself or a plain figure.
        ratio: value over the baseline's value (higher is better), when there is a baseline.
        target: the ratio that was aimed at, when there is one; shown with whether it is kept.
        note: rounds, sizes, anything needed to read the figure.
    """

    name: str
    value: float
    unit: str
    baseline: str = ""
    ratio: float | None = None
    target: float | None = None
    note: str = ""

    @property
    def aim(self) -> str:
        """The aim and whether it is kept; empty without one."""
        if self.target is None:
            return ""
        kept = self.ratio is not None and self.ratio >= self.target
        return f">= {self.target:.2f}x, {'kept' if kept else 'broken'}"


def show(title: str, rows: list[Row]) -> None:
    """Print a table of rows."""
    table = Table(title=title, title_justify="left")
    for column in ("measured", "median", "against", "ratio", "target", "note"):
        table.add_column(column, justify="right" if column in {"median", "ratio", "target"} else "left")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}x"
        table.add_row(row.name, f"{row.value:,.1f} {row.unit}", row.baseline, ratio, row.aim, row.note)
    Console(width=140).print(table)


def peak_memory_mib() -> float:
    """Return this process's peak resident memory in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform != "darwin" else peak / 1024 / 1024


def processor_seconds() -> float:
    """Return the processor time that this process and those that it has started have used, in seconds.

    Of children that still run it is known on Linux alone; elsewhere they count once they have ended.
    """
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + sum(map(_running_child_s, _PROCESSES.glob("[0-9]*")))


def _running_child_s(process: Path) -> float:
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0
    parent, user, system = int(fields[1]), int(fields[11]), int(fields[12])
    return (user + system) / os.sysconf("SC_CLK_TCK") if parent == os.getpid() else 0.0


def machine() -> str:
    """Say in words what machine this is."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
