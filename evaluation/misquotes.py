"""Sentences of documents with one thing changed, and the same sentences as they are or converted.

    {"id", "document", "quote", "truth", "misquote", "changed", "was", "kind", "question"}, one a line

Each is the answer to its question, beside the facts that the envelope retrieves for the question from the ingested
documents: what ``ask`` would have checked it against. In the files of true sentences (``quoted.jsonl``,
``converted.jsonl``) the answer is ``answer``, else ``truth``, else ``quote``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from groundtrail import Fact

from evaluation.data import EvaluationDataError
from evaluation.held_back import is_there, rows_of
from evaluation.metrics import auroc
from evaluation.shares import Share
from evaluation.tables import Table
from evaluation.verdict_engine import Outcome, VerdictEngine
from services.allinone.check import CheckOrder
from services.common.taxonomy import RiskLevel

FOLDER: Final = Path(__file__).resolve().parents[1] / "tests" / "vectors" / "dpe" / "misquotes"
MISQUOTED: Final = "misquoted"
QUOTED: Final = "quoted"
CONVERTED: Final = "converted"
FILES: Final = {MISQUOTED: "misquotes", QUOTED: "quoted", CONVERTED: "converted"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence to check as the answer to a question; ``group`` is one of ``FILES``."""

    id: str
    group: str
    kind: str
    document: str
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence and what was said of it beside its facts."""

    sentence: Sentence
    outcome: Outcome
    facts: tuple[Fact, ...]


def read_sentences(folder: Path = FOLDER, *, open_test: bool = False) -> list[Sentence]:
    """Return the sentences of the files that there are; without quoted ones the truths of the misquotes are those.

    Raises:
        EvaluationDataError: there is no misquote, a file is held back, or a row lacks a field.
    """
    rows = rows_of(folder, FILES[MISQUOTED], open_test=open_test)
    if not rows:
        raise EvaluationDataError(f"{folder}: there is no misquote")
    found = [_sentence(MISQUOTED, row, ("misquote",)) for row in rows]
    for group in (QUOTED, CONVERTED):
        if is_there(folder, FILES[group], open_test=open_test):
            some = rows_of(folder, FILES[group], open_test=open_test)
            found += [_sentence(group, row, ("answer", "truth", "quote")) for row in some]
        elif group is QUOTED:
            found += [_sentence(QUOTED, row, ("truth", "quote")) for row in rows]
    return found


def _sentence(group: str, row: Mapping[str, Any], fields: Sequence[str]) -> Sentence:
    answer = next((row[name] for name in fields if row.get(name)), None)
    if answer is None:
        raise EvaluationDataError(f"{group} {row.get('id', '?')}: none of the fields {', '.join(fields)} is there")
    try:
        return Sentence(
            str(row["id"]), group, row.get("kind") or "-", row["document"], row.get("question") or "", answer
        )
    except KeyError as error:
        raise EvaluationDataError(f"{group} {row.get('id', '?')}: the field {error} is not there") from None


async def measure_sentences(
    sentences: Sequence[Sentence], facts: Sequence[tuple[Fact, ...]], engine: VerdictEngine
) -> list[CheckedSentence]:
    """Check every sentence beside its facts."""
    orders = [CheckOrder(one.answer, some, one.question) for one, some in zip(sentences, facts, strict=True)]
    outcomes = await engine.check(orders)
    return [CheckedSentence(*one) for one in zip(sentences, outcomes, facts, strict=True)]


def query_of(sentence: Sentence) -> str:
    """Return what is searched for: the question, or the sentence itself where none is given."""
    return sentence.question or sentence.answer


@dataclass(frozen=True, slots=True)
class SentenceFigures:
    """Figures of a group, or of one kind of it."""

    group: str
    kind: str
    high: Share
    low: Share
    supported: Share


def figures_of_sentences(checked: Sequence[CheckedSentence]) -> list[SentenceFigures]:
    """Return the figures of each kind and of each group whole."""
    found = []
    for group in FILES:
        members = [one for one in checked if one.sentence.group == group]
        kinds = sorted({one.sentence.kind for one in members})
        for kind in (*kinds, "all") if members else ():
            some = [one.outcome for one in members if kind in (one.sentence.kind, "all")]
            found.append(
                SentenceFigures(
                    group,
                    kind,
                    Share.among(one.is_high for one in some),
                    Share.among(one.level is RiskLevel.LOW for one in some),
                    Share.among(one.supported for one in some),
                )
            )
    return found


def order_auroc(checked: Sequence[CheckedSentence]) -> float | None:
    """Return how often a misquote ranks worse than a true quotation, by level, then composite."""
    some = [one for one in checked if one.sentence.group in (MISQUOTED, QUOTED)]
    places = {rank: place for place, rank in enumerate(sorted({one.outcome.rank for one in some}))}
    scores = np.array([float(places[one.outcome.rank]) for one in some])
    return auroc(scores, np.array([one.sentence.group == MISQUOTED for one in some]))


def table_of_sentences(checked: Sequence[CheckedSentence]) -> Table:
    """Return a row for each kind and group."""
    rows = tuple(
        (one.group, one.kind, str(one.high), str(one.low), str(one.supported)) for one in figures_of_sentences(checked)
    )
    value = order_auroc(checked)
    note = "" if value is None else f"Misquoted above quoted by level, then composite: AUROC {value:.3f}."
    return Table("misquotes", "Misquotes", ("sentences", "kind", "HIGH or worse", "LOW", "SUPPORTED"), rows, note)


def document_of_sentences(checked: Sequence[CheckedSentence]) -> dict[str, Any]:
    """Return what the results file holds."""
    return {
        "figures": [
            {
                "group": one.group,
                "kind": one.kind,
                "high": one.high.plain(),
                "low": one.low.plain(),
                "supported": one.supported.plain(),
            }
            for one in figures_of_sentences(checked)
        ],
        "auroc": order_auroc(checked),
    }


def mistakes_of_sentences(checked: Sequence[CheckedSentence]) -> list[dict[str, Any]]:
    """Return misquotes below HIGH, and true sentences of HIGH or not SUPPORTED."""
    return [
        {
            "id": one.sentence.id,
            "group": one.sentence.group,
            "kind": one.sentence.kind,
            "question": one.sentence.question,
            "answer": one.sentence.answer,
            "level": str(one.outcome.level),
            "composite": one.outcome.composite,
            "verdicts": [
                f"{verdict}, {basis}" for verdict, basis in zip(one.outcome.verdicts, one.outcome.bases, strict=True)
            ],
            "facts": [fact.text for fact in one.facts],
        }
        for one in checked
        if (one.sentence.group == MISQUOTED and not one.outcome.is_high)
        or (one.sentence.group != MISQUOTED and (one.outcome.is_high or not one.outcome.supported))
    ]
