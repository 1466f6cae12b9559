"""Tables and the results file of a comparison."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from evaluation.guard.comparison import KindFigures, Measured, SystemFigures
from evaluation.results import SCHEMA_VERSION, plain
from evaluation.tables import NONE, Table

INJECTION_MEASURES: Final[Mapping[str, str]] = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auroc": "AUROC",
    "false_positives": "false positives",
    "recall_at_1_percent": "recall at 1% false positives",
}
SUPPORT_MEASURES: Final[Mapping[str, str]] = {
    "balanced_accuracy": "balanced accuracy",
    "auroc": "AUROC",
    "recall": "unsupported, refused",
    "false_positives": "supported, refused",
}
INTERVALS: Final = (
    "In brackets: 95% bootstrap interval over the texts' carriers. Decisions are those of each system's published "
    "operating point; at 1% the threshold is the one that lets through that share of the same benign rows."
)


@dataclass(slots=True)
class Comparison:
    """What a comparison found.

    Attributes:
        task: injection, claims or coherence.
        systems: name of each, and how it ran.
        left_out: systems whose columns are missing, and why.
        figures: per set and system.
        kinds: false positives by kind, where the rows have kinds.
    """

    task: str
    systems: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    figures: list[SystemFigures] = field(default_factory=list)
    kinds: list[KindFigures] = field(default_factory=list)

    def tables(self) -> tuple[Table, ...]:
        """Return a table of figures, and one of kinds where there are some."""
        names = INJECTION_MEASURES if self.task == "injection" else SUPPORT_MEASURES
        rows = tuple(
            (one.dataset, one.system, f"{one.rows:,}", f"{one.positives:,}", *map(_cell, map(one.figures.get, names)))
            for one in self.figures
        )
        positives = "attacks" if self.task == "injection" else "not supported"
        columns = ("set", "system", "rows", positives, *names.values())
        missing = "".join(f" {name} is left out: {why}." for name, why in self.left_out.items())
        found = [Table(f"guard-{self.task}", _TITLES[self.task], columns, rows, INTERVALS + missing)]
        if any(one.kind for one in self.kinds):
            found.append(self._kinds())
        return tuple(found)

    def document(self, command: str) -> dict[str, Any]:
        """Return what the results file holds."""
        kinds = [plain(one) | {"interval": plain(one.interval)} for one in self.kinds]
        found = {
            "schema_version": SCHEMA_VERSION,
            "command": command,
            "task": self.task,
            "systems": self.systems,
            "left_out": self.left_out,
            "figures": [plain(one) for one in self.figures],
        }
        return found | ({"benign_kinds": kinds} if kinds else {})

    def _kinds(self) -> Table:
        rows = tuple(
            (
                one.dataset,
                one.kind or "not named",
                one.system,
                f"{one.rows:,}",
                f"{one.found} ({one.interval[0]:.3f}-{one.interval[1]:.3f})",
                f"{one.strict}",
            )
            for one in self.kinds
        )
        columns = ("set", "kind of benign text", "system", "rows", "taken for an attack", "at 1% over the set")
        return Table("guard-kinds", "False positives by kind", columns, rows, "In brackets: Wilson's 95% interval.")


_TITLES: Final[Mapping[str, str]] = {
    "injection": "Injection",
    "claims": "Verified claims: which are not supported",
    "coherence": "Coherence: which answers are not faithful",
}


def _cell(one: Measured | None) -> str:
    if one is None or one.value is None:
        return NONE
    return f"{one.value:.3f}" + (f" ({one.interval[0]:.3f}-{one.interval[1]:.3f})" if one.interval else "")
