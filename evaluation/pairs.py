"""Minimal pairs: a true and a false answer beside the same facts in nearly the same words (tests/vectors/dpe/pairs).

A false answer *passes* when it is SUPPORTED or of level LOW; a true one *fails* when it is not SUPPORTED. An answer is
SUPPORTED when every claim of it that gets a verdict is. Overlap, the share of an answer's words that stand in the
facts, is shown beside: on these pairs it should tell nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from pathlib import Path
from typing import Any, Final

import numpy as np
from groundtrail import Document
from groundtrail.sources import Source

from evaluation.data import read_rows
from evaluation.held_back import require_digest, rows_of
from evaluation.metrics import auroc
from evaluation.shares import Share
from evaluation.tables import Table
from evaluation.verdict_engine import Outcome, VerdictEngine
from evaluation.words import token_recall
from services.allinone.check import CheckOrder

FOLDER: Final = Path(__file__).resolve().parents[1] / "tests" / "vectors" / "dpe" / "pairs"
EXACT: Final = ("value", "unit", "bound", "date", "sum", "share", "negation", "name")
"""Kinds that a rule can decide exactly."""
TRUE_ALONE: Final = ("paraphrase", "conversion")
"""Kinds without a false answer."""


@unique
class Part(StrEnum):
    """Halves of the set."""

    DEVELOPMENT = "development"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class PairRecord:
    """Facts, the question, the true answer, and the false one (``None`` where there is none).

    With a title the one fact is a document in Markdown, read as users' documents are.
    """

    id: str
    kind: str
    facts: tuple[str, ...]
    question: str
    true_answer: str
    false_answer: str | None
    title: str = ""

    @property
    def sources(self) -> tuple[Source, ...]:
        """What the answers are checked against."""
        if not self.title:
            return self.facts
        return tuple(Document(f"{self.id}.md", f"# {self.title}\n\n{text}".encode()) for text in self.facts)


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer of a record, whether it is true, and what was said of it."""

    record: PairRecord
    answer: str
    true: bool
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class PairFigures:
    """Figures of a kind or of a group of kinds.

    Attributes:
        name: of the kind or the group.
        false_passed: false answers that are SUPPORTED or LOW.
        true_failed: true answers that are not SUPPORTED.
        true_warned: true answers of level HIGH or worse.
    """

    name: str
    false_passed: Share
    true_failed: Share
    true_warned: Share

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean of the shares of true answers SUPPORTED and of false answers that do not pass."""
        passed, failed = self.false_passed.value, self.true_failed.value
        return None if passed is None or failed is None else 1 - (passed + failed) / 2


@dataclass(frozen=True, slots=True)
class PairMeasurement:
    """Figures by kind and group, and how three orders rank true answers above false ones."""

    kinds: tuple[PairFigures, ...]
    groups: tuple[PairFigures, ...]
    aurocs: Mapping[str, Mapping[str, float | None]]
    mistakes: tuple[dict[str, Any], ...]


def read_part(part: Part, folder: Path = FOLDER, *, open_test: bool = False) -> list[PairRecord]:
    """Return the records of a part.

    Raises:
        EvaluationDataError: the test part without ``open_test``, another SHA-256 than the README's, or no such file.
    """
    if part is Part.TEST:
        return [_record(row) for row in rows_of(folder, part, open_test=open_test)]
    path = folder / f"{part}.jsonl"
    rows = read_rows(path)
    require_digest(path, path.read_bytes())
    return [_record(row) for row in rows]


def _record(row: Mapping[str, Any]) -> PairRecord:
    return PairRecord(
        row["id"], row["kind"], tuple(row["facts"]), row["question"], row["true_answer"], row["false_answer"] or None
    )


async def measure_pairs(records: Sequence[PairRecord], engine: VerdictEngine) -> PairMeasurement:
    """Have the engine check both answers of every record."""
    both = [
        (record, answer, true)
        for record in records
        for answer, true in ((record.true_answer, True), (record.false_answer, False))
        if answer is not None
    ]
    outcomes = await engine.check([CheckOrder(answer, record.sources, record.question) for record, answer, _ in both])
    judged = [Judged(*one, outcome) for one, outcome in zip(both, outcomes, strict=True)]
    return measurement_of(judged)


def measurement_of(judged: Sequence[Judged]) -> PairMeasurement:
    """Return the figures."""
    kinds = sorted({one.record.kind for one in judged}, key=lambda kind: (_place(kind), kind))
    members: dict[str, list[Judged]] = {kind: [one for one in judged if one.record.kind == kind] for kind in kinds}
    groups = {
        "exact kinds": [one for one in judged if one.record.kind in EXACT],
        "other kinds": [one for one in judged if one.record.kind not in (*EXACT, *TRUE_ALONE)],
        "true alone": [one for one in judged if one.record.kind in TRUE_ALONE],
    }
    return PairMeasurement(
        tuple(figures_of(kind, members[kind]) for kind in kinds),
        tuple(figures_of(name, some) for name, some in groups.items() if some),
        {name: _aurocs(some) for name, some in groups.items() if some and name != "true alone"},
        tuple(
            _mistake(one)
            for one in judged
            if (one.outcome.passes and not one.true) or (one.true and not one.outcome.supported)
        ),
    )


def figures_of(name: str, judged: Sequence[Judged]) -> PairFigures:
    """Return the figures of some answers."""
    return PairFigures(
        name,
        Share.among(one.outcome.passes for one in judged if not one.true),
        Share.among(not one.outcome.supported for one in judged if one.true),
        Share.among(one.outcome.is_high for one in judged if one.true),
    )


def tables_of_pairs(found: PairMeasurement) -> tuple[Table, ...]:
    """Return a table of kinds, and one of orders."""
    rows = tuple(
        (
            one.name,
            str(one.false_passed),
            str(one.true_failed),
            str(one.true_warned),
            "-" if one.balanced_accuracy is None else f"{one.balanced_accuracy:.3f}",
        )
        for one in (*found.kinds, *found.groups)
    )
    columns = ("kind", "false: SUPPORTED or LOW", "true: not SUPPORTED", "true: HIGH or worse", "balanced accuracy")
    orders = tuple(
        (name, *("-" if value is None else f"{value:.3f}" for value in each.values()))
        for name, each in found.aurocs.items()
    )
    names = next(iter(found.aurocs.values()), {})
    return (
        Table("pairs", "Minimal pairs", columns, rows, "In brackets: Wilson's 95% interval."),
        Table("pair-orders", "True above false: AUROC", ("kinds", *names), orders),
    )


def document_of_pairs(found: PairMeasurement) -> dict[str, Any]:
    """Return what the results file holds."""
    return {
        "figures": [
            {
                "name": one.name,
                "false_passed": one.false_passed.plain(),
                "true_failed": one.true_failed.plain(),
                "true_warned": one.true_warned.plain(),
                "balanced_accuracy": one.balanced_accuracy,
            }
            for one in (*found.kinds, *found.groups)
        ],
        "auroc": found.aurocs,
    }


def _place(kind: str) -> int:
    return 0 if kind in EXACT else 2 if kind in TRUE_ALONE else 1


def _aurocs(judged: Sequence[Judged]) -> dict[str, float | None]:
    labels = np.array([one.true for one in judged])
    ordered = sorted({one.outcome.rank for one in judged}, reverse=True)
    places = {rank: place for place, rank in enumerate(ordered)}
    orders = {
        "level, composite": [float(places[one.outcome.rank]) for one in judged],
        "support": [one.outcome.support for one in judged],
        "word overlap": [token_recall(one.answer, one.record.facts) for one in judged],
    }
    return {name: auroc(np.array(scores), labels) for name, scores in orders.items()}


def _mistake(one: Judged) -> dict[str, Any]:
    return {
        "id": one.record.id,
        "kind": one.record.kind,
        "true": one.true,
        "level": str(one.outcome.level),
        "composite": one.outcome.composite,
        "verdicts": [
            f"{verdict}, {basis}" for verdict, basis in zip(one.outcome.verdicts, one.outcome.bases, strict=True)
        ],
        "question": one.record.question,
        "answer": one.answer,
        "facts": list(one.record.facts),
    }
