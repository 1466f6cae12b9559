"""Measure how constraints in everyday words are understood and held against drafts (ERCP 1.0 §7, ADR 0116, 0117).

    python -m tools.evaluate_constraints FILE [--list] [--rules-alone] [--by-kind]

FILE holds one JSON object a line (``.gz`` too): ``constraint``, a draft that ``keeps`` it and one that ``breaks`` it,
and ``formal``: what is meant, in one plain line. Every constraint is understood by the rules alone, and its predicate
held against both drafts; what the rules leave undecided, words that none of them understands too, is asked of the
second detector, unless ``--rules-alone``. A draft is broken by the rules or suspected by the detector, and both are
counted apart. ``misunderstood`` counts predicates whose operator, side or value is not what ``formal`` says; lines of
another form are told as not judged. Rates have Wilson intervals at 95 %. ``--list`` shows each constraint that was
misunderstood, not judged or not understood, and each draft that was called what it is not: for data that rules may be
mended on. ``--by-kind`` adds what was found for each ``kind`` of the lines.
"""

import argparse
import asyncio
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from evaluation.constraint_meaning import agrees
from evaluation.metrics import wilson_interval
from services.common.composition import Adapters
from services.common.settings import Settings
from services.ercp.domain import readings, standing
from services.ercp.domain.predicates import Predicate, PredicateName, Text, TextFacts, to_text
from services.ercp.domain.records import Constraint, ConstraintOutcome
from services.ercp.domain.vocabulary import ConstraintType, Undecided
from services.ercp.domain.wording import Understanding, understand_constraint
from services.ercp.suspicion_bounds import load_bounds
from services.ercp.verifying import SecondDetector

FIELDS: Final = ("constraint", "keeps", "breaks", "formal")
ROWS: Final = (
    ("words understood", "understood"),
    ("words misunderstood", "misunderstood"),
    ("words understood, not judged", "not judged"),
    ("breaches found broken", "breaks broken"),
    ("breaches suspected", "breaks suspected"),
    ("breaches found or suspected", "breaks told"),
    ("breaches called kept", "breaks kept"),
    ("breaches undecided", "breaks undecided"),
    ("kept found kept", "keeps kept"),
    ("kept called broken", "keeps broken"),
    ("kept suspected", "keeps suspected"),
    ("kept broken or suspected", "keeps told"),
    ("kept undecided", "keeps undecided"),
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft with its constraint and how it stands to it, by the rules alone until the detector is asked."""

    is_broken: bool
    facts: TextFacts
    constraint: Constraint
    outcome: ConstraintOutcome

    @property
    def told(self) -> str:
        """Kept, broken, suspected or undecided."""
        is_suspected = self.outcome.reason is Undecided.SUSPECTED
        return "suspected" if is_suspected else self.outcome.standing.value


class ConstraintDataError(ValueError):
    """A file that is no list of constraints."""


def load(path: Path) -> list[dict[str, Any]]:
    """Read a file of constraints.

    Raises:
        ConstraintDataError: it cannot be read, or a line lacks a field.
    """
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise ConstraintDataError(f"{path}: {error}") from None
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not all(isinstance(row.get(field), str) for field in FIELDS):
            raise ConstraintDataError(f"{path}: line {number} needs the texts {', '.join(FIELDS)}")
    if not rows:
        raise ConstraintDataError(f"{path}: holds no constraint")
    return rows


def drafts_of(row: dict[str, Any], understood: Understanding | None = None) -> tuple[Draft, Draft]:
    """Return the draft that breaks a line's constraint and the one that keeps it, judged by the rules."""
    found = understood or understand_constraint(row["constraint"])
    predicate = found.predicate or Predicate(PredicateName.IN_WORDS, Text(row["constraint"]))
    form = readings.form_of(predicate)
    constraint = Constraint("c1", ConstraintType.PREDICATE, row["constraint"], form)
    drafts = []
    for name in ("breaks", "keeps"):
        facts = readings.facts_of(row[name], readings.sentences_of(row[name]))
        (outcome,) = standing.outcomes(facts, [constraint])
        drafts.append(Draft(name == "breaks", facts, constraint, outcome))
    return drafts[0], drafts[1]


async def measure(
    rows: Iterable[dict[str, Any]], notes: list[str], second: SecondDetector | None = None
) -> dict[str, Counter[str]]:
    """Count what becomes of constraints and their drafts, for each kind and for all; what differs is noted."""
    counts: dict[str, Counter[str]] = {"": Counter()}
    for row in rows:
        own = counts.setdefault(row.get("kind", "other"), Counter())
        understood = understand_constraint(row["constraint"])
        marks = ["constraints", *_meaning(row, understood, notes)]
        for draft in drafts_of(row, understood):
            name = "breaks" if draft.is_broken else "keeps"
            judged = draft
            if second is not None:
                outcomes = await second.suspect(draft.facts, [draft.constraint], (draft.outcome,))
                judged = replace(draft, outcome=outcomes[0])
            marks.append(f"{name} {judged.told}")
            if judged.told in {"broken", "suspected"}:
                marks.append(f"{name} told")
            if judged.told not in {"undecided", *(("kept",) if name == "keeps" else ("broken", "suspected"))}:
                notes.append(f"draft that {name} it: {judged.told}: {row['constraint']} ({judged.outcome.why})")
        for each in (own, counts[""]):
            each.update(marks)
    return counts


def _meaning(row: dict[str, Any], understood: Understanding, notes: list[str]) -> list[str]:
    """Say whether the words of a line are understood, and rightly."""
    if understood.predicate is None:
        notes.append(f"not understood: {row['constraint']} ({understood.reason})")
        return []
    is_meant = agrees(understood.predicate, row["formal"])
    if is_meant is True:
        return ["understood"]
    kind = "not judged" if is_meant is None else "misunderstood"
    notes.append(f"{kind}: {row['constraint']} = {to_text(understood.predicate)}, meant is {row['formal']}")
    return ["understood", kind]


def table(counts: Counter[str]) -> list[str]:
    """Return the rates as lines."""
    lines, whole = [], counts["constraints"]
    for name, key in ROWS:
        low, high = wilson_interval(counts[key], whole)
        lines.append(f"{name:30} {counts[key]:4} of {whole:4}  {counts[key] / whole:.3f}  [{low:.3f}, {high:.3f}]")
    return lines


def kinds(counts: dict[str, Counter[str]]) -> list[str]:
    """Return what was found for each kind of constraint as lines."""
    keys = ("constraints", "understood", "breaks broken", "breaks suspected", "keeps kept", "keeps told")
    lines = [f"{'kind':24}" + "".join(f"{key:>18}" for key in keys)]
    for kind, own in sorted(counts.items()):
        lines += [f"{kind:24}" + "".join(f"{own[key]:18}" for key in keys)] if kind else []
    return lines


async def _measured(path: Path, notes: list[str], *, rules_alone: bool) -> dict[str, Counter[str]]:
    rows = load(path)
    if rules_alone:
        return await measure(rows, notes)
    async with Adapters(Settings()) as adapters:
        entailment = await adapters.entailment()
        if entailment is None:
            raise ConstraintDataError("the model repository holds no entailment model: --rules-alone")
        second = SecondDetector(entailment, await adapters.embedding(), load_bounds(), 10_000)
        return await measure(rows, notes, second)


def main(arguments: Sequence[str]) -> int:
    """Measure a file and print the rates; 1 when it cannot be read."""
    parser = argparse.ArgumentParser(
        "python -m tools.evaluate_constraints",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, help="the constraints, one JSON object a line; .gz too")
    parser.add_argument("--list", action="store_true", help="show what differs, line by line")
    parser.add_argument("--rules-alone", action="store_true", help="ask no model about what the rules leave undecided")
    parser.add_argument("--by-kind", action="store_true", help="show what was found for each kind of constraint")
    options = parser.parse_args(arguments)
    notes: list[str] = []
    try:
        counts = asyncio.run(_measured(options.file, notes, rules_alone=options.rules_alone))
    except ConstraintDataError as error:
        print(error, file=sys.stderr)
        return 1
    if options.list:
        print("\n".join(sorted(notes)), end="\n\n" if notes else "")
    print("\n".join(table(counts[""])))
    if options.by_kind:
        print("\n".join(["", *kinds(counts)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
