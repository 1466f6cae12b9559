"""Rows that systems are compared on, checked as they are read; docs/guard-evaluation.md has their fields."""

import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from evaluation.data import EvaluationDataError, read_rows
from evaluation.labelled import LabelledClaim, read_claims
from evaluation.pairs import Part, read_part

CLOSED_FOLDER: Final = Path(__file__).resolve().parents[2] / "tests" / "vectors" / "guard" / "injection"
CLOSED: Final = "closed"
CLAIM_SETS: Final = ("wice", "attributionbench")
COHERENCE_SETS: Final = ("halueval", "begin")
PAIRS: Final = "pairs"
REPORT: Final = "report"
NO_QUESTION: Final = "What do the sources say?"
"""Prompt of a row without a question, for every system alike."""
_TRAINING: Final = "train"

RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class InjectionRow:
    """A text, whether it is an injection, and what it stands in.

    Attributes:
        dataset: the set that it comes from.
        text: what is searched.
        injection: whether it is one.
        kind: of text, as its set names it; empty where it does not.
        carrier: the document in which it and others stand, which are not independent; empty = it stands alone.
    """

    dataset: str
    text: str
    injection: bool
    kind: str
    carrier: str


@dataclass(frozen=True, slots=True)
class SupportRow:
    """A text to check, its passages, the question, and whether the passages bear it out.

    Attributes:
        dataset: the set that it comes from.
        claim: the text to check.
        passages: the sources.
        question: what it answers; empty: not known.
        supported: whether they bear it out.
        carrier: rows of one carrier share their passages and are not independent.
        are_facts: the passages are facts, which the engine takes as they are; else it cuts them.
    """

    dataset: str
    claim: str
    passages: tuple[str, ...]
    question: str
    supported: bool
    carrier: str
    are_facts: bool = False


def injection_rows(data: Path) -> list[InjectionRow]:
    """Return every row of the folder's sets that is not for training.

    Raises:
        EvaluationDataError: there is no such file, or a row is no labelled text.
    """
    files = sorted((*data.glob("injection/*.jsonl"), *data.glob("injection/*.jsonl.gz")))
    if not files:
        raise EvaluationDataError(f"{data / 'injection'} holds no JSON Lines")
    return [row for path in files for row in injection_file(path)]


def injection_file(path: Path) -> list[InjectionRow]:
    """Return the rows of a file that are not for training.

    Raises:
        EvaluationDataError: it is missing, or a row is no labelled text; file and line are named, never the text.
    """
    return _parsed(path.name, [row for row in read_rows(path) if row.get("split") != _TRAINING], path.stem)


def closed_rows(folder: Path = CLOSED_FOLDER) -> list[InjectionRow]:
    """Return the rows of the set that is opened once.

    Raises:
        EvaluationDataError: it is not there, or is not the file whose SHA-256 the README beside it tells.
    """
    path, page = folder / "test.jsonl.gz", folder / "README.md"
    try:
        packed, known = path.read_bytes(), page.read_text(encoding="utf-8")
        lines = gzip.decompress(packed)
    except (OSError, EOFError) as error:
        raise EvaluationDataError(f"{path} cannot be read: {error}") from error
    if not any(hashlib.sha256(part).hexdigest() in known for part in (packed, lines)):
        raise EvaluationDataError(f"{path} is not the file whose SHA-256 {page} tells")
    rows = [json.loads(line) for line in lines.decode().splitlines() if line.strip()]
    return _parsed(path.name, [row | {"dataset": CLOSED} for row in rows], CLOSED)


def claim_rows(path: Path, fold: str | None) -> list[SupportRow]:
    """Return the rows of the sets of claims, and the answers of the pairs for development.

    Args:
        path: labelled claims (docs/how-to/evaluate.md).
        fold: of them this one alone, and those without a fold; ``None`` = all.

    Raises:
        EvaluationDataError: a file is missing, or a row is none.
    """
    return [*support_rows(path, CLAIM_SETS, fold), *pair_rows()]


def support_rows(path: Path, sets: Sequence[str], fold: str | None) -> list[SupportRow]:
    """Return the rows of the sets whose names begin so; BEGIN's parts are one set.

    Raises:
        EvaluationDataError: the file is missing, or a row is none.
    """
    found = []
    for claim in read_claims(path):
        name = next((one for one in sets if claim.dataset.startswith(one)), None)
        if name is not None and (fold is None or claim.fold in {fold, None}):
            found.append(_support(claim, name))
    return found


def pair_rows() -> list[SupportRow]:
    """Return both answers of every pair for development; the other half is none of this command's business."""
    return [
        SupportRow(PAIRS, answer, record.facts, record.question, true, record.id, are_facts=True)
        for record in read_part(Part.DEVELOPMENT)
        for answer, true in ((record.true_answer, True), (record.false_answer, False))
        if answer is not None
    ]


def first_of(rows: Sequence[RowT], name: Callable[[RowT], str], limit: int | None) -> list[RowT]:
    """Return at most ``limit`` rows of each set and label, evenly over each, in their order."""
    if limit is None:
        return list(rows)
    groups: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        groups.setdefault(name(row), []).append(place)
    kept = {
        group[index * len(group) // min(limit, len(group))]
        for group in groups.values()
        for index in range(min(limit, len(group)))
    }
    return [row for place, row in enumerate(rows) if place in kept]


def _support(claim: LabelledClaim, name: str) -> SupportRow:
    digest = hashlib.sha256("\0".join(claim.passages).encode()).hexdigest()
    return SupportRow(name, claim.claim, claim.passages, claim.query or "", claim.supported, digest)


def _parsed(file: str, rows: Sequence[Mapping[str, Any]], default: str) -> list[InjectionRow]:
    found = []
    for number, row in enumerate(rows, start=1):
        text, injection = row.get("text"), row.get("injection")
        if not isinstance(text, str) or not isinstance(injection, bool):
            raise EvaluationDataError(f"{file}, row {number}: text must be a string and injection true or false")
        if text.strip():
            names = (str(row.get(name) or "") for name in ("kind", "carrier"))
            found.append(InjectionRow(str(row.get("dataset") or default), text, injection, *names))
    return found
