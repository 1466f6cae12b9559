"""The hand-labelled sets of ``tests/vectors/dpe/labelled``, checked as they are read; their README has the definitions.

Odd numbers are for tuning, even numbers are held back.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evaluation.data import EvaluationDataError
from services.common.reading.text_types import ClaimType
from services.dpe.domain.findings import DistortionType

FOLDER: Final = Path(__file__).resolve().parents[1] / "tests" / "vectors" / "dpe" / "labelled"
TUNING: Final = "tuning"
HELD_BACK: Final = "held back"
HALVES: Final = (TUNING, HELD_BACK)

_HEAD: Final = re.compile(r"^%% (?P<number>\d+) (?P<domain>[a-z]+)$", re.MULTILINE)
_CLAIM: Final = re.compile(r"\{(?P<more>\+?)(?P<type>[FOPM]) (?P<text>[^{}]+)\}")
_TYPES: Final = {kind[0]: kind for kind in ClaimType}
_COLUMNS: Final = ["number", "group", "labels", "fact", "answer"]
_NO_LABEL: Final = "-"


def half_of(number: int) -> str:
    """Return which half an item belongs to."""
    return TUNING if number % 2 else HELD_BACK


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    """A claim as people cut it; offsets in the answer, ``opens`` when it is the first of its sentence."""

    start: int
    end: int
    type: ClaimType
    opens: bool


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """An answer and its claims, in order."""

    number: int
    domain: str
    text: str
    claims: tuple[LabelledSpan, ...]

    @property
    def half(self) -> str:
        """Tuning or held back."""
        return half_of(self.number)


@dataclass(frozen=True, slots=True)
class LabelledDistortion:
    """A fact, an answer, and the distortion types that should be reported; ``group`` is what it was written for."""

    number: int
    group: DistortionType
    labels: frozenset[DistortionType]
    fact: str
    answer: str

    @property
    def half(self) -> str:
        """Tuning or held back."""
        return half_of(self.number)


def read_answers(path: Path = FOLDER / "claims.txt") -> list[LabelledAnswer]:
    """Return the labelled answers.

    Raises:
        EvaluationDataError: a brace is left over, or the numbers do not count from 1.
    """
    source = path.read_text(encoding="utf-8")
    heads = list(_HEAD.finditer(source))
    ends = [*(head.start() for head in heads[1:]), len(source)]
    answers = [
        _answer(path, int(head["number"]), head["domain"], source[head.end() + 1 : end].rstrip("\n"))
        for head, end in zip(heads, ends, strict=True)
    ]
    if [answer.number for answer in answers] != list(range(1, len(answers) + 1)) or not answers:
        raise EvaluationDataError(f"{path}: the answers must be numbered from 1")
    return answers


def read_distortions(path: Path = FOLDER / "distortion.tsv") -> list[LabelledDistortion]:
    """Return the labelled pairs.

    Raises:
        EvaluationDataError: the columns are others, a type is none, or the numbers do not count from 1.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        table = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        if table.fieldnames != _COLUMNS:
            raise EvaluationDataError(f"{path}: the columns must be {', '.join(_COLUMNS)}")
        pairs = [_pair(path, row) for row in table]
    if [pair.number for pair in pairs] != list(range(1, len(pairs) + 1)) or not pairs:
        raise EvaluationDataError(f"{path}: the rows must be numbered from 1")
    return pairs


def _answer(path: Path, number: int, domain: str, marked: str) -> LabelledAnswer:
    pieces: list[str] = []
    claims: list[LabelledSpan] = []
    length, read = 0, 0
    for match in _CLAIM.finditer(marked):
        between = marked[read : match.start()]
        pieces += [between, match["text"]]
        start = length + len(between)
        length = start + len(match["text"])
        claims.append(LabelledSpan(start, length, _TYPES[match["type"]], not match["more"]))
        read = match.end()
    text = "".join([*pieces, marked[read:]])
    if not claims or "{" in text or "}" in text:
        raise EvaluationDataError(f"{path}, answer {number}: every claim must stand in braces with its type")
    return LabelledAnswer(number, domain, text, tuple(claims))


def _pair(path: Path, row: dict[str, str]) -> LabelledDistortion:
    try:
        return LabelledDistortion(
            int(row["number"]),
            DistortionType(row["group"]),
            frozenset(_labels(row["labels"])),
            row["fact"],
            row["answer"],
        )
    except (ValueError, TypeError) as error:
        raise EvaluationDataError(f"{path}, row {row['number']}: {error}") from error


def _labels(text: str) -> Iterator[DistortionType]:
    return iter(()) if text == _NO_LABEL else (DistortionType(label) for label in text.split(","))
