"""The ERCP problem set of tests/vectors/ercp/problems, checked as it is read (ADR 0076, ADR 0081).

A problem holds a question, what the caller demands, passages to hold the answer against, and a script: the drafts that
the scripted generator answers with, the errors planted in each, and which constraints make it go on to another draft.
Spans are computed here, in code points, from the excerpts: an excerpt occurs exactly once in its draft.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).resolve().parents[1] / "tests" / "vectors" / "ercp" / "problems"
HALVES: Final = ("development", "held_back")
"""What the rules may be mended on; the second was held back until it was opened (ADR 0081)."""
FINAL: Final = "final"
"""What is only counted, never looked at while rules are made: its figures are the ones to quote."""
SETS: Final = (*HALVES, FINAL)
SCHEMA: Final = "schema.json"

Span = tuple[int, int]


class ProblemError(Exception):
    """A problem is not what it must be; the message names the problem and the draft, and quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """The machine-checkable half of a constraint (ERCP 1.0 §8)."""

    name: str
    args: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GivenConstraint:
    """What the caller demands; ``name`` is the problem's own (c1, c2, …), ``type`` a word of ERCP 1.0 §4.1."""

    name: str
    type: str
    nl_text: str
    predicate: Predicate
    immutable: bool


@dataclass(frozen=True, slots=True)
class PlantedError:
    """An error that a draft holds on purpose.

    Attributes:
        type: one of the five words of ERCP 1.0 §4.2.
        span: of the excerpt in the draft, [start, end).
        against: of the statement of the same draft that it clashes with, where there is one: naming either is right.
        wrong: what is wrong, in words.
        predicate: what a good constraint would say.
        optional: neither finding it nor missing it counts.
    """

    type: str
    span: Span
    against: Span | None
    wrong: str
    predicate: Predicate
    optional: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """Matches a constraint by its predicate (name and operands) or by the words of its nl_text.

    Each of ``operands`` and ``nl_words`` holds alternatives parted by ``|``: one of them has to occur, in any case.
    """

    predicate_names: tuple[str, ...]
    operands: tuple[str, ...]
    nl_words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """Goes on to draft ``to`` when every condition is met by some constraint; ``when`` empty = always."""

    to: str
    when: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """One text of the scripted generator; ``hard_negatives`` are spans that look like an error and are none."""

    id: str
    text: str
    errors: tuple[PlantedError, ...]
    hard_negatives: tuple[Span, ...]
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class ScriptedProblem:
    """One problem.

    Attributes:
        id, kind, half: its name, what is planted, which of ``SETS`` it belongs to.
        status: converged, infeasible or partial, as it should end.
        core: names of the caller's constraints that cannot hold together.
        core_learned: predicates that a run has to learn for the core to show, such as one from a passage.
        relaxed: names of the constraints that ``relax`` has to give up for the rest to hold.
    """

    id: str
    kind: str
    half: str
    domain: str
    description: str
    constraints: tuple[GivenConstraint, ...]
    retrieval_context: tuple[tuple[str, str], ...]
    script: tuple[Draft, ...]
    status: str
    core: tuple[str, ...]
    core_learned: tuple[Predicate, ...]
    relaxed: tuple[str, ...]

    def draft(self, draft_id: str) -> Draft:
        """Return the draft of that id; raise ``KeyError`` when there is none."""
        return next(draft for draft in self.script if draft.id == draft_id)


def load(half: str, folder: Path = FOLDER) -> tuple[ScriptedProblem, ...]:
    """Return the problems of one half, or of the final set, by file and place in it.

    A file is an array (``.json``) or has one problem a line (``.jsonl``).

    Raises:
        ProblemError: a problem is not what it must be.
    """
    paths = sorted(path for path in (folder / half).glob("*.json*") if path.name != SCHEMA)
    return tuple(_problem(row, half) for path in paths for row in _rows(path))


def _rows(path: Path) -> list[Mapping[str, Any]]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return list(json.loads(text))


def _problem(row: Mapping[str, Any], half: str) -> ScriptedProblem:
    expected = row["expected"]
    return ScriptedProblem(
        id=row["id"],
        kind=row["kind"],
        half=half,
        domain=row["domain"],
        description=row["description"],
        constraints=tuple(
            GivenConstraint(one["name"], one["type"], one["nl_text"], _predicate(one["predicate"]), one["immutable"])
            for one in row["constraints"]
        ),
        retrieval_context=tuple((one["source"], one["text"]) for one in row["retrieval_context"]),
        script=tuple(_draft(one, row["id"]) for one in row["script"]),
        status=expected["status"],
        core=tuple(expected.get("core", ())),
        core_learned=tuple(_predicate(one) for one in expected.get("core_learned", ())),
        relaxed=tuple(expected.get("relaxed", ())),
    )


def _draft(row: Mapping[str, Any], problem_id: str) -> Draft:
    where = f"{problem_id}/{row['id']}"
    text = row["text"]
    return Draft(
        id=row["id"],
        text=text,
        errors=tuple(_error(one, text, where) for one in row["errors"]),
        hard_negatives=tuple(_span(text, one["excerpt"], where) for one in row["hard_negatives"]),
        moves=tuple(Move(one["to"], _conditions(one["when"])) for one in row["moves"]),
    )


def _error(row: Mapping[str, Any], text: str, where: str) -> PlantedError:
    return PlantedError(
        type=row["type"],
        span=_span(text, row["excerpt"], where),
        against=_span(text, row["against"], where) if "against" in row else None,
        wrong=row["wrong"],
        predicate=_predicate(row["predicate"]),
        optional=row.get("optional", False),
    )


def _conditions(when: Any) -> tuple[Condition, ...]:
    if when == "always":
        return ()
    return tuple(
        Condition(tuple(one["predicate_names"]), tuple(one["operands"]), tuple(one["nl_words"])) for one in when
    )


def _predicate(row: Mapping[str, Any]) -> Predicate:
    return Predicate(row["predicate_name"], dict(row["args"]))


def _span(text: str, excerpt: str, where: str) -> Span:
    if text.count(excerpt) != 1:
        raise ProblemError(f"{where}: an excerpt occurs {text.count(excerpt)} times in its draft, not once")
    start = text.index(excerpt)
    return start, start + len(excerpt)
