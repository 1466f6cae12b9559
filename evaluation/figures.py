"""How a figure of quality is told: what was measured, on what, and what a simple baseline gets in the same run."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure.

    Attributes:
        task: retrieval, attribution, entities or personal-data.
        data: data set, or the part of it.
        items: queries, claims or true entities that were measured.
        system: what of the product was measured.
        metric: name of the measure; higher is better.
        value: the product's; ``None`` where the data hold one class alone.
        baseline: what it is compared with.
        baseline_value: the baseline's on the same items.
    """

    task: str
    data: str
    items: int
    system: str
    metric: str
    value: float | None
    baseline: str
    baseline_value: float | None


def show(figures: Sequence[Figure]) -> None:
    """Print a table."""
    table = Table(title="Quality", title_justify="left")
    for column in ("task", "data", "items", "measured", "metric", "value", "baseline", "its value"):
        table.add_column(column, justify="right" if column in {"items", "value", "its value"} else "left", no_wrap=True)
    for one in figures:
        values = (_text(one.value), one.baseline, _text(one.baseline_value))
        table.add_row(one.task, one.data, f"{one.items:,}", one.system, one.metric, *values)
    Console(width=150).print(table)


def as_json(figures: Sequence[Figure], facts: dict[str, str]) -> str:
    """Return one JSON document with the figures and what they were measured with."""
    return json.dumps(facts | {"figures": [dataclasses.asdict(one) for one in figures]}, indent=2)


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
