"""From results (docs/results/models.json, or fresh ones) to tables that a terminal and a page show alike.

Results are read as JSON, so that a page can be written again from the committed file without measuring anything.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table as Grid

from evaluation.grounding_scores import BOTH, ENCODER, SURFACE
from evaluation.peers import Benchmark, our_figures
from evaluation.pipeline import ALONE, ENCODER_ALONE, ENGINE

Result = Mapping[str, Any]

SYSTEMS: Final = (SURFACE, ENCODER, BOTH)
NONE: Final = "-"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    Attributes:
        name: what a page's marker calls it.
        title: one line.
        columns: headings; the first column names the row.
        rows: as many texts each as there are columns.
        note: how to read it; may be empty.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def markdown(self) -> str:
        """Return the table, and its note below it."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        text = "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
        return f"{text}\n\n{self.note}" if self.note else text

    def show(self, console: Console) -> None:
        """Print the table."""
        grid = Grid(title=self.title, title_justify="left", caption=self.note or None, caption_justify="left")
        for number, column in enumerate(self.columns):
            grid.add_column(column, justify="left" if number == 0 else "right")
        for row in self.rows:
            grid.add_row(*row)
        console.print(grid)


def tables_of(model: Result) -> tuple[Table, ...]:
    """Return the tables of one model's results."""
    return _BY_KIND[model["kind"]](model)


def peer_tables(benchmarks: Sequence[Benchmark], models: Mapping[str, Result]) -> tuple[Table, ...]:
    """Return a table for each benchmark with the peers' figures, and ours where there is one, best first."""
    tables = []
    for one in benchmarks:
        rows = [(peer.system, peer.parameters or NONE, peer.value, peer.note, peer.source) for peer in one.figures]
        rows += [
            (f"Groundtrail {ours.model}", NONE, ours.value, "measured here", ours.data)
            for ours in our_figures(one, models)
        ]
        rows.sort(key=lambda row: -row[2])
        texts = tuple((name, size, f"{value:.3f}", note, source) for name, size, value, note, source in rows)
        columns = ("system", "parameters", one.metric, "how", "source")
        tables.append(Table(one.slug, f"{one.name}: {one.metric}", columns, texts, f"Not the same: {one.comparable}."))
    return tuple(tables)


def _entailment(model: Result) -> tuple[Table, ...]:
    result = model["result"]
    return (_accuracy(result["origins"]), _calibration(result["calibration"], result["temperature"]))


def _accuracy(origins: Sequence[Result]) -> Table:
    rows = []
    for one in origins:
        recalls = dict(zip(one["classes"], one["recalls"], strict=True))
        each = [share(recalls.get(name)) for name in ("entailment", "neutral", "contradiction", "not_contradiction")]
        rows.append(
            (
                one["origin"],
                f"{one['rows']:,}",
                share(one["accuracy"]),
                span(one["interval"]),
                share(one["macro_f1"]),
                *each,
            )
        )
    recalls_of = ("entailment", "neutral", "contradiction", "not contradiction")
    columns = ("origin", "pairs", "accuracy", "95%", "macro-F1", *(f"recall, {name}" for name in recalls_of))
    note = (
        "95%: Wilson's interval of the accuracy. A class that an origin does not have is a mistake when it is guessed."
    )
    return Table("accuracy", "Accuracy per origin", columns, tuple(rows), note)


def _calibration(curves: Sequence[Result], temperature: float | None = None) -> Table:
    rows = tuple(
        (one["name"], f"{one['rows']:,}", share(one["equal_mass"]), share(one["equal_width"])) for one in curves
    )
    columns = ("probabilities", "rows", "error, bins of equal mass", "error, bins of equal width")
    note = "Expected calibration error over 15 bins; 0 is perfect." + (
        f" The temperature is {temperature:.3f}." if temperature is not None else ""
    )
    return Table("calibration", "Calibration", columns, rows, note)


def _grounding(model: Result) -> tuple[Table, ...]:
    result = model["result"]
    note = "Both minus surface features on the same claims; 95%: paired bootstrap. An interval above 0 is a gain."
    tables = [
        _sets(result, SYSTEMS, "both"),
        _warnings(result["results"], BOTH, "claims"),
        _gains(result["gains"], "What the encoder adds to the surface features", note),
        _calibration(result["calibration"]),
    ]
    return (*tables, _spans(model["spans"]))


def _pipeline(model: Result) -> tuple[Table, ...]:
    result = model["result"]
    note = "Whole engine minus grounding alone on the same texts; 95%: paired bootstrap. An interval above 0 is a gain."
    return (
        _sets(result, (ENCODER_ALONE, ALONE, ENGINE), "the whole engine"),
        _warnings(result["results"], ENGINE, "texts"),
        _gains(result["gains"], "What the stages add to the grounding model", note),
        _calibration(result["calibration"]),
        _flagged(model["flagged"]),
        _decided(model["decided"], model["without_verdict"]),
    )


def _flagged(kinds: Sequence[Result]) -> Table:
    rows = tuple(
        (one["what"], f"{one['texts']:,}", f"{one['unsupported']:,}", share(one["precision"]), share(one["recall"]))
        for one in kinds
    )
    columns = ("finding", "texts with it", "labelled not supported", "precision", "recall")
    note = "Against the label of the whole text, whatever is wrong with it: no stage alone can find everything."
    return Table("stages", "What each stage finds in texts that are not supported", columns, rows, note)


def _decided(bases: Sequence[Result], without: int) -> Table:
    rows = tuple((one["basis"], f"{one['supported']:,}", f"{one['unsupported']:,}") for one in bases)
    columns = ("verdict, basis", "claims in supported texts", "claims in unsupported texts")
    note = f"{without:,} texts hold no claim that gets a verdict; they count as not supported."
    return Table("decided", "What decided the claims", columns, rows, note)


def _sets(result: Result, systems: Sequence[str], last: str) -> Table:
    found = {(one["dataset"], one["system"]): one for one in result["results"]}
    rows = []
    for name in dict.fromkeys(one["dataset"] for one in result["results"]):
        each = [found[name, system] for system in systems]
        both = each[-1]
        rows.append(
            (
                name,
                f"{both['rows']:,}",
                *(share(one["auroc"]) for one in each),
                *(share(one["balanced_accuracy"]) for one in each),
                span(both["interval"]),
            )
        )
    measures = (*(f"AUROC, {name}" for name in systems), *(f"balanced accuracy, {name}" for name in systems))
    limits = ", ".join(f"{name} {share(value)}" for name, value in result["thresholds"].items())
    note = (
        f"Thresholds, from the fold `calibrate`: {limits}. 95%: bootstrap interval of the balanced accuracy of {last}."
    )
    return Table("sets", "Supported or not, per data set", ("data set", "claims", *measures, "95%"), tuple(rows), note)


def _warnings(results: Sequence[Result], system: str, counted: str) -> Table:
    rows = tuple(
        (one["dataset"], f"{one['unsupported']:,}", share(one["precision"]), share(one["recall"]), share(one["f1"]))
        for one in results
        if one["system"] == system
    )
    columns = ("data set", "not supported", "precision", "recall", "F1")
    note = f'The class "not supported", {system}, at the threshold: {counted} that a reader has to be warned of.'
    return Table("warnings", "How good the warnings are", columns, rows, note)


def _gains(gains: Sequence[Result], title: str, note: str) -> Table:
    rows = tuple(
        (
            one["dataset"],
            signed(one["auroc"]),
            span(one["auroc_interval"], signed),
            signed(one["balanced_accuracy"]),
            span(one["interval"], signed),
        )
        for one in gains
    )
    columns = ("data set", "AUROC", "95%", "balanced accuracy", "95%")
    return Table("gains", title, columns, rows, note)


def _spans(spans: Sequence[Result]) -> Table:
    rows = tuple(
        (
            one["dataset"],
            one["counted"],
            f"{one['rows']:,}",
            *(share(one[name]) for name in ("precision", "recall", "f1")),
        )
        for one in spans
    )
    columns = ("data set", "counted", "claims", "precision", "recall", "F1")
    note = (
        "Sets whose name begins with synthetic hold mistakes that a program made and marked; the others people marked."
    )
    return Table("spans", "Unsupported spans", columns, rows, note)


def _recognition(model: Result) -> tuple[Table, ...]:
    names = dict.fromkeys(one["dataset"] for one in model["result"])
    columns = ("kind", "entities", "precision", "recall", "F1")
    tables = []
    for name in names:
        rows = tuple(
            (one["kind"], f"{one['entities']:,}", *(share(one[key]) for key in ("precision", "recall", "f1")))
            for one in model["result"]
            if one["dataset"] == name
        )
        tables.append(Table(name.split()[-1], f"Exact spans: {name}", columns, rows))
    return tuple(tables)


_BY_KIND: Final[Mapping[str, Callable[[Result], tuple[Table, ...]]]] = {
    "entailment": _entailment,
    "grounding": _grounding,
    "pipeline": _pipeline,
    "entity_recognition": _recognition,
}


def share(value: float | None) -> str:
    """Return a share with three digits."""
    return NONE if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """Return a difference with its sign and three digits."""
    return NONE if value is None else f"{value:+.3f}"


def span(ends: Sequence[float] | None, text: Callable[[float], str] = share) -> str:
    """Return an interval."""
    return NONE if ends is None else f"{text(ends[0])} to {text(ends[1])}"
