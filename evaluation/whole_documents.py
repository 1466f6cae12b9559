"""One-sentence answers beside a whole document: what level does a right one get, and what a wrong one?

development.jsonl, test.jsonl: {"id", "document", "question", "answer", "right", "kind"}; documents/: their documents
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluation.data import EvaluationDataError
from evaluation.held_back import rows_of
from evaluation.pairs import Part
from evaluation.shares import Share
from evaluation.tables import Table
from evaluation.verdict_engine import Outcome, VerdictEngine
from services.allinone.check import CheckOrder
from services.common.taxonomy import RiskLevel

FOLDER: Final = Path(__file__).resolve().parents[1] / "tests" / "vectors" / "dpe" / "answers"
REPLIES: Final = FOLDER.with_name("replies")
"""Answers of several sentences, as chat models write them."""
SHORT_ANSWERS: Final = FOLDER.with_name("short_answers")
"""Answers of a word or a few, which mean nothing without their question."""
DAILY: Final = FOLDER.with_name("daily_answers")
"""Answers of one to three sentences to a case that somebody puts, about documents of daily life."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its document; ``kind`` is what was done to make it right or wrong."""

    id: str
    document: Path
    question: str
    answer: str
    right: bool
    kind: str


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer and what was said of it."""

    answer: Answer
    outcome: Outcome

    @property
    def is_mistake(self) -> bool:
        """A wrong answer is LOW, or a right one HIGH or worse."""
        return self.outcome.is_high if self.answer.right else self.outcome.level is RiskLevel.LOW


def read_answers(part: Part, folder: Path = FOLDER, *, open_test: bool = False) -> list[Answer]:
    """Return the answers of a part.

    Raises:
        EvaluationDataError: the file is not there or held back, a row lacks a field, or its document is not there.
    """
    return [
        _answer(number, row, folder) for number, row in enumerate(rows_of(folder, str(part), open_test=open_test), 1)
    ]


def _answer(number: int, row: Mapping[str, Any], folder: Path) -> Answer:
    try:
        document = folder / "documents" / Path(row["document"]).name
        found = Answer(str(row["id"]), document, row["question"], row["answer"], bool(row["right"]), row["kind"])
    except KeyError as error:
        raise EvaluationDataError(f"answers, row {number}: the field {error} is not there") from None
    if not document.is_file():
        raise EvaluationDataError(f"answers, row {number}: {document} is not there")
    return found


async def measure_answers(some: Sequence[Answer], engine: VerdictEngine) -> list[Checked]:
    """Check every answer against its whole document."""
    orders = [CheckOrder(one.answer, (one.document,), one.question) for one in some]
    return [Checked(*one) for one in zip(some, await engine.check(orders), strict=True)]


def levels_of(found: Sequence[Checked]) -> dict[str, dict[str, Share]]:
    """Return, of right and of wrong answers, the share that has each level."""
    return {
        name: {
            str(level): Share.among(one.outcome.level is level for one in found if one.answer.right is right)
            for level in RiskLevel
        }
        for name, right in (("right", True), ("wrong", False))
    }


def tables_of_answers(found: Sequence[Checked]) -> tuple[Table, ...]:
    """Return the levels of right and wrong answers, and the mistakes by what was done."""
    levels = levels_of(found)
    rows = tuple((name, *(str(share) for share in shares.values())) for name, shares in levels.items())
    kinds = sorted({(one.answer.right, one.answer.kind) for one in found}, key=lambda one: (not one[0], one[1]))
    by_kind = tuple(
        ("right, HIGH or worse" if right else "wrong, LOW", kind, str(Share.among(one.is_mistake for one in alike)))
        for right, kind in kinds
        for alike in [[one for one in found if (one.answer.right, one.answer.kind) == (right, kind)]]
        if any(one.is_mistake for one in alike)
    )
    heads = ("answers", *(str(level) for level in RiskLevel))
    return (
        Table("answers", "Answers beside whole documents", heads, rows),
        Table("answer-kinds", "Kinds with mistakes", ("mistake", "kind", "share"), by_kind),
    )


def document_of_answers(found: Sequence[Checked]) -> dict[str, Any]:
    """Return the figures to keep."""
    return {
        "levels": {
            name: {level: share.plain() for level, share in shares.items()} for name, shares in levels_of(found).items()
        }
    }


def mistakes_of_answers(found: Sequence[Checked]) -> list[dict[str, Any]]:
    """Return wrong answers that are LOW and right ones that are HIGH or worse."""
    return [
        {
            "id": one.answer.id, "kind": one.answer.kind, "right": one.answer.right, "level": str(one.outcome.level),
            "document": one.answer.document.name, "question": one.answer.question, "answer": one.answer.answer,
            "verdicts": list(one.outcome.verdicts), "bases": list(one.outcome.bases),
        }
        for one in found
        if one.is_mistake
    ]  # fmt: skip
