"""The rows that the encoders learn from, and the readers of the data files.

The files are gzip-compressed JSON Lines under the folder that GROUNDTRAIL_EVAL_DATA names; docs/how-to/evaluate.md says
where each set comes from. A reader takes a file whole or not at all: a line that does not have the stated fields is an
error that names the file and the line. What is left out of training, and why, is decided in ``training.cleaning``.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

ENTAILMENT: Final = 0
NEUTRAL: Final = 1
CONTRADICTION: Final = 2
NOT_CONTRADICTION: Final = -1
"""Entailment or neutral, which of them the set does not say."""
LABELS: Final = {
    "entailment": ENTAILMENT,
    "neutral": NEUTRAL,
    "contradiction": CONTRADICTION,
    "not_contradiction": NOT_CONTRADICTION,
}
UNCLEAR_ORIGINS: Final = frozenset({"lingnli", "covidfact", "healthver", "climate_fever"})
"""Sets whose repositories state no licence; no shipped weights learn from them (ADR 0035)."""
FOLDS: Final = frozenset({"fit", "calibrate", "report"})
LICENCES: Final = frozenset({"clear", "unclear"})
WRITERS: Final = frozenset({"human", "synthetic"})


class RowError(Exception):
    """A data file is missing or holds what it must not; the message names the file and the line."""


@dataclass(frozen=True, slots=True)
class NliRow:
    """A premise, a hypothesis, and what the first says about the second.

    Attributes:
        premise: what is taken as true.
        hypothesis: what is judged.
        label: 0 entailment, 1 neutral, 2 contradiction, -1 entailment or neutral (mask the difference).
        origin: the set that the row comes from.
        clear: whether the set states a licence under which weights may ship.
    """

    premise: str
    hypothesis: str
    label: int
    origin: str
    clear: bool


@dataclass(frozen=True, slots=True)
class GroundingRow:
    """A passage, a claim, and whether the passage supports the claim.

    Attributes:
        premise: the evidence.
        claim: the text that is judged, as a statement.
        supported: whether the premise supports all of the claim.
        spans: [start, end) of what is not supported, in code points of the claim; () for a supported claim, None where
            nobody said which part it is.
        origin: where the row comes from: a data set, or the generator and what it worked on.
        query: the question that the claim answers, where there is one.
    """

    premise: str
    claim: str
    supported: bool
    spans: tuple[tuple[int, int], ...] | None
    origin: str
    query: str | None


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A row of the grounding file: a text, the passages it should rest on, and the verdict of its set.

    Attributes:
        id: unique in the file.
        dataset: the set that the row comes from.
        kind: ``claim``, ``response`` or ``sentence``.
        context: the passages, in the order of the set.
        claim: the text that is judged.
        supported: whether the passages support all of it.
        fold: ``fit`` (train), ``calibrate`` or ``report`` (measure).
        query: the question, where the set has one.
        detail: the set's own remark, such as the kind of error.
        spans: [start, end) of what is not supported, in code points of the claim; ``None`` where nobody marked any.
        clear: whether the set states a licence under which weights may ship.
        synthetic: whether a program or a language model wrote the claim, and not a person.
    """

    id: str
    dataset: str
    kind: str
    context: tuple[str, ...]
    claim: str
    supported: bool
    fold: str
    query: str | None = None
    detail: str | None = None
    spans: tuple[tuple[int, int], ...] | None = None
    clear: bool = True
    synthetic: bool = False


def read_nli(folder: Path, split: Literal["train", "dev"]) -> list[NliRow]:
    """Read ``nli/<split>.jsonl.gz``; a row that states no licence is clear unless its origin is known not to be.

    Raises:
        RowError: the file is missing, or a line of it is not such a row.
    """
    return [_nli_row(line) for line in _lines(folder / "nli" / f"{split}.jsonl.gz")]


def read_grounding(folder: Path) -> list[CheckedText]:
    """Read ``grounding/dev.jsonl.gz``, all folds.

    Raises:
        RowError: the file is missing, or a line of it is not such a row.
    """
    return [_checked_text(line) for line in _lines(folder / "grounding" / "dev.jsonl.gz")]


def read_more(folder: Path) -> list[CheckedText]:
    """Read ``grounding/more.jsonl.gz``, all folds, with the spans that it has.

    Raises:
        RowError: the file is missing, or a line of it is not such a row.
    """
    return [_marked_text(line) for line in _lines(folder / "grounding" / "more.jsonl.gz")]


@dataclass(frozen=True, slots=True)
class _Line:
    """One JSON object and where it stands."""

    where: str
    fields: dict[str, object]

    def text(self, name: str) -> str:
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise RowError(f"{self.where}: {name} must be a string, found {value!r}.")
        return value

    def optional_text(self, name: str) -> str | None:
        return None if self.fields.get(name) is None else self.text(name)

    def flag(self, name: str) -> bool:
        value = self.fields.get(name)
        if not isinstance(value, bool):
            raise RowError(f"{self.where}: {name} must be true or false, found {value!r}.")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.fields.get(name)
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise RowError(f"{self.where}: {name} must be a list of strings.")
        return tuple(value)

    def spans(self, name: str, length: int) -> tuple[tuple[int, int], ...] | None:
        value = self.fields.get(name)
        if value is None:
            return None
        try:
            found = tuple(sorted((int(span["start"]), int(span["end"])) for span in value))  # type: ignore[attr-defined]
        except (TypeError, KeyError, ValueError) as error:
            raise RowError(f"{self.where}: {name} must be a list of objects with start and end.") from error
        if any(not 0 <= start < end <= length for start, end in found):
            raise RowError(f"{self.where}: {name} must lie within the claim, [0, {length}).")
        return found

    def one_of(self, name: str, known: frozenset[str]) -> str:
        value = self.text(name)
        if value not in known:
            raise RowError(f"{self.where}: {name} must be one of {', '.join(sorted(known))}, found {value!r}.")
        return value


def _lines(path: Path) -> Iterator[_Line]:
    if not path.is_file():
        raise RowError(f"{path} is not there.")
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                fields = json.loads(line)
                if not isinstance(fields, dict):
                    raise RowError(f"{path}, line {number}: not a JSON object.")
                yield _Line(f"{path}, line {number}", fields)
    except json.JSONDecodeError as error:
        raise RowError(f"{path}, line {number}: not JSON ({error.msg}).") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise RowError(f"{path}, after line {number}: not gzip-compressed UTF-8.") from error


def _nli_row(line: _Line) -> NliRow:
    origin = line.text("origin")
    clear = origin not in UNCLEAR_ORIGINS
    if line.fields.get("licence") is not None:
        clear = clear and line.one_of("licence", LICENCES) == "clear"
    label = LABELS[line.one_of("label", frozenset(LABELS))]
    return NliRow(line.text("premise"), line.text("hypothesis"), label, origin, clear)


def _checked_text(line: _Line) -> CheckedText:
    return CheckedText(
        id=line.text("id"),
        dataset=line.text("dataset"),
        kind=line.text("kind"),
        context=line.texts("context"),
        claim=line.text("claim"),
        supported=line.flag("supported"),
        fold=line.one_of("fold", FOLDS),
        query=line.optional_text("query"),
        detail=line.optional_text("detail"),
    )


def _marked_text(line: _Line) -> CheckedText:
    plain = _checked_text(line)
    return replace(
        plain,
        spans=line.spans("spans", len(plain.claim)),
        clear=line.one_of("licence", LICENCES) == "clear",
        synthetic=line.one_of("label", WRITERS) == "synthetic",
    )
