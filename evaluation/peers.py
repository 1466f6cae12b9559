"""What other systems reach on public benchmarks (peers.json), and our figure beside it where there is one.

A figure that others published is theirs, on their rows; the file says for each benchmark why ours is not the same.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("peers.json")


@dataclass(frozen=True, slots=True)
class PeerFigure:
    """One system's figure.

    Attributes:
        system: its name.
        parameters: its size, where it is known.
        value: the figure, in [0, 1].
        note: "published" or "measured here".
        source: who published it, or how it was measured.
    """

    system: str
    parameters: str | None
    value: float
    note: str
    source: str


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A public benchmark.

    Attributes:
        name: of the benchmark.
        metric: what all the figures are.
        ours: which of our figures stand beside them; empty = none do.
        comparable: what is not the same.
        figures: the peers'.
    """

    name: str
    metric: str
    ours: tuple[Mapping[str, str], ...]
    comparable: str
    figures: tuple[PeerFigure, ...]

    @property
    def slug(self) -> str:
        """The name as a page's marker spells it."""
        return self.name.lower().replace(",", "").replace(" ", "-")


@dataclass(frozen=True, slots=True)
class OurFigure:
    """Our figure: the model, the value, and the rows it was measured on."""

    model: str
    value: float
    data: str


def read_peers(path: Path = FILE) -> tuple[Benchmark, ...]:
    """Return the benchmarks of the file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return tuple(
        Benchmark(
            one["name"],
            one["metric"],
            tuple(one["ours"]),
            one["comparable"],
            tuple(PeerFigure(**figure) for figure in one["figures"]),
        )
        for one in document["benchmarks"]
    )


def our_figures(benchmark: Benchmark, models: Mapping[str, Mapping[str, Any]]) -> list[OurFigure]:
    """Return our figures from the results: the model's, and the whole engine's where both were measured."""
    return [found for asked in benchmark.ours if (found := _our_figure(dict(asked), models)) is not None]


def _our_figure(asked: dict[str, str], models: Mapping[str, Mapping[str, Any]]) -> OurFigure | None:
    figure, model = asked.pop("figure"), asked.pop("model")
    if model not in models:
        return None
    entry = models[model]
    rows, value = {
        "accuracy": (entry["result"]["origins"] if model == "nli" else [], "accuracy"),
        "balanced_accuracy": (entry["result"].get("results", []), "balanced_accuracy"),
        "spans": (entry.get("spans", []), "f1"),
        "warnings": (entry["result"].get("results", []) if model != "nli" else [], "f1"),
    }[figure]
    found = [row for row in rows if all(row[name] == wanted for name, wanted in asked.items())]
    if not found or found[0][value] is None:
        return None
    return OurFigure(model, found[0][value], f"{found[0]['rows']:,} rows of {entry['data']}")
