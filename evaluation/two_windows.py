"""Two sentences as the answers of two windows of one conversation: is the second flagged as contradicting the first?

neighbours.jsonl: {"id", "domain", "first", "second", "differs", "facts"}: both true; nothing is to be flagged
planted.jsonl: {"id", "first", "second", "kind"}, "facts" where there are any: they contradict one another
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluation.data import EvaluationDataError
from evaluation.held_back import rows_of
from evaluation.shares import Share
from evaluation.tables import Table
from evaluation.verdict_engine import Outcome, VerdictEngine
from services.allinone.check import CheckOrder

FOLDER: Final = Path(__file__).resolve().parents[1] / "tests" / "vectors" / "dpe" / "neighbours"
NEIGHBOURS: Final = "neighbours"
PLANTED: Final = "planted"


@dataclass(frozen=True, slots=True)
class TwoWindows:
    """Two answers of one conversation and the facts that there are; ``kind`` is what they differ in."""

    id: str
    kind: str
    first: str
    second: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flagged:
    """Two answers and what was said of the second."""

    windows: TwoWindows
    outcome: Outcome

    @property
    def flagged(self) -> bool:
        """A contradiction with the earlier answer was found."""
        return self.outcome.contradictions_with_earlier > 0


def read_windows(name: str, folder: Path = FOLDER, *, open_test: bool = False) -> list[TwoWindows]:
    """Return the rows of a set.

    Raises:
        EvaluationDataError: the file is not there or held back, or a row lacks a field.
    """
    rows = rows_of(folder, name, open_test=open_test)
    return [_windows(name, number, row) for number, row in enumerate(rows, start=1)]


def _windows(name: str, number: int, row: Mapping[str, Any]) -> TwoWindows:
    facts = row.get("facts") or ()
    try:
        return TwoWindows(
            str(row.get("id") or number),
            str(row.get("differs") or row.get("kind") or "-"),
            row["first"],
            row["second"],
            (facts,) if isinstance(facts, str) else tuple(facts),
        )
    except KeyError as error:
        raise EvaluationDataError(f"{name}, row {number}: the field {error} is not there") from None


async def measure_windows(some: Sequence[TwoWindows], engine: VerdictEngine) -> list[Flagged]:
    """Check every second answer after its first."""
    orders = [CheckOrder(one.second, one.facts, earlier_answers=(one.first,)) for one in some]
    return [Flagged(*one) for one in zip(some, await engine.check(orders), strict=True)]


def shares_of(found: Sequence[Flagged]) -> dict[str, Share]:
    """Return the share that was flagged, of each kind and of all."""
    kinds = sorted({one.windows.kind for one in found})
    shares = {kind: Share.among(one.flagged for one in found if one.windows.kind == kind) for kind in kinds}
    return shares | {"all": Share.among(one.flagged for one in found)}


def table_of_windows(name: str, found: Sequence[Flagged]) -> Table:
    """Return a row for each kind."""
    rows = tuple((kind, str(share)) for kind, share in shares_of(found).items())
    title = "True neighbours" if name == NEIGHBOURS else "Planted contradictions"
    return Table(name, f"{title} in two windows", ("differs in", "flagged as a contradiction"), rows)


def mistakes_of_windows(name: str, found: Sequence[Flagged]) -> list[dict[str, Any]]:
    """Return neighbours that were flagged, or planted ones that were not."""
    wrong = name == NEIGHBOURS
    return [
        {
            "id": one.windows.id,
            "kind": one.windows.kind,
            "first": one.windows.first,
            "second": one.windows.second,
            "facts": list(one.windows.facts),
            "level": str(one.outcome.level),
        }
        for one in found
        if one.flagged == wrong
    ]
