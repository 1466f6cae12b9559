"""Labelled pairs and claims of the evaluation files, checked as they are read.

The formats are those of docs/how-to/evaluate.md. Test files hold the same fields; they may leave out ``fold``, and
their claims may carry ``spans``: the parts of a claim that nothing supports.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from evaluation.data import EvaluationDataError, read_rows
from services.common.ports.entailment import CONTRADICTION, ENTAILMENT, NEUTRAL

RowT = TypeVar("RowT")
Span = tuple[int, int]

NOT_CONTRADICTION: Final = -1
LABELS: Final = {
    "entailment": ENTAILMENT,
    "neutral": NEUTRAL,
    "contradiction": CONTRADICTION,
    "not_contradiction": NOT_CONTRADICTION,
}
FOLDS: Final = ("fit", "calibrate", "report")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A premise, a hypothesis, and what people say of them.

    Attributes:
        premise: what is taken as true.
        hypothesis: what is judged.
        label: entailment, neutral or contradiction; -1 = one of the first two, the set does not say which.
        origin: the set that it comes from.
    """

    premise: str
    hypothesis: str
    label: int
    origin: str


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A text, the passages that should bear it out, and what people say of it.

    Attributes:
        id: unique in its file.
        dataset: the set that it comes from.
        passages: the context.
        claim: the text to check.
        query: the question that it answers, where the set has one.
        supported: whether the passages support all of it.
        fold: fit, calibrate or report; ``None`` where the file has no folds.
        spans: [start, end) of what is not supported, in code points; ``None`` where nobody marked it.
    """

    id: str
    dataset: str
    passages: tuple[str, ...]
    claim: str
    query: str | None
    supported: bool
    fold: str | None
    spans: tuple[Span, ...] | None


def read_pairs(path: Path) -> list[LabelledPair]:
    """Return the pairs of a file.

    Raises:
        EvaluationDataError: it is missing, or a row is no labelled pair; file and line are named.
    """
    return _each(path, _pair)


def read_claims(path: Path) -> list[LabelledClaim]:
    """Return the claims of a file.

    Raises:
        EvaluationDataError: it is missing, or a row is no labelled claim; file and line are named.
    """
    return _each(path, _claim)


def first_of_each(rows: Sequence[RowT], group: Callable[[RowT], str], limit: int | None) -> list[RowT]:
    """Return the first ``limit`` rows of each group, all of them without a limit, in their order."""
    taken: dict[str, int] = {}
    chosen = []
    for row in rows:
        name = group(row)
        taken[name] = taken.get(name, 0) + 1
        if limit is None or taken[name] <= limit:
            chosen.append(row)
    return chosen


def _each(path: Path, parse: Callable[[Mapping[str, Any]], RowT]) -> list[RowT]:
    parsed = []
    for number, row in enumerate(read_rows(path), start=1):
        try:
            parsed.append(parse(row))
        except (KeyError, TypeError, ValueError) as error:
            fault = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
            raise EvaluationDataError(f"{path}, line {number}: {fault}") from error
    if not parsed:
        raise EvaluationDataError(f"{path} holds no row.")
    return parsed


def _pair(row: Mapping[str, Any]) -> LabelledPair:
    label = _text(row, "label")
    if label not in LABELS:
        raise ValueError(f"label must be one of {', '.join(LABELS)}, found {label!r}")
    return LabelledPair(_text(row, "premise"), _text(row, "hypothesis"), LABELS[label], _text(row, "origin"))


def _claim(row: Mapping[str, Any]) -> LabelledClaim:
    context, claim, fold, query = row["context"], _text(row, "claim"), row.get("fold"), row.get("query")
    if not isinstance(context, list) or not all(isinstance(text, str) for text in context):
        raise ValueError("context must be a list of strings")
    if not isinstance(row["supported"], bool):
        raise ValueError(f"supported must be true or false, found {row['supported']!r}")  # noqa: TRY004 - one error kind
    if fold is not None and fold not in FOLDS:
        raise ValueError(f"fold must be one of {', '.join(FOLDS)}, found {fold!r}")
    return LabelledClaim(
        id=_text(row, "id"),
        dataset=_text(row, "dataset"),
        passages=tuple(context),
        claim=claim,
        query=None if query is None else _text(row, "query"),
        supported=row["supported"],
        fold=fold,
        spans=_spans(row["spans"], len(claim)) if row.get("spans") is not None else None,
    )


def _spans(found: Any, length: int) -> tuple[Span, ...]:
    spans = sorted((int(one["start"]), int(one["end"])) for one in found)
    wrong = [span for span in spans if not 0 <= span[0] <= span[1] <= length]
    if wrong:
        raise ValueError(f"the span {wrong[0][0]} to {wrong[0][1]} does not lie in a claim of {length} characters")
    return tuple(span for span in spans if span[0] < span[1])


def _text(row: Mapping[str, Any], name: str) -> str:
    if not isinstance(row[name], str):
        raise ValueError(f"{name} must be a string, found {row[name]!r}")  # noqa: TRY004 - one error kind
    return str(row[name])
