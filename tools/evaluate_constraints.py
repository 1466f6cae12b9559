"""Measure how constraints in everyday words are understood and held against drafts (ERCP 1.0 §7, ADR 0116).

    python -m tools.evaluate_constraints FILE [--list]

FILE holds one JSON object a line (``.gz`` too): ``constraint``, a draft that ``keeps`` it and one that ``breaks`` it,
and ``formal``: what is meant, in one plain line. Every constraint is understood by the rules alone, and its predicate
held against both drafts. One that is not understood decides nothing. ``misunderstood`` counts predicates whose
operator, side or value is not what ``formal`` says; lines of another form are told as not judged. Rates have Wilson
intervals at 95 %. ``--list`` shows each constraint that was misunderstood, not judged or not understood, and each draft
that was called what it is not: for data that rules may be mended on.
"""

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from services.ercp.domain import readings
from services.ercp.domain.predicates import Holds, Predicate, evaluate, to_text
from services.ercp.domain.wording import understand_constraint
from tools.evaluation.constraint_meaning import agrees
from tools.evaluation.metrics import wilson_interval

FIELDS: Final = ("constraint", "keeps", "breaks", "formal")
ROWS: Final = (
    ("words understood", "understood", "constraints"),
    ("words misunderstood", "misunderstood", "constraints"),
    ("words understood, not judged", "not judged", "constraints"),
    ("breaches found", "breaks false", "constraints"),
    ("breaches called kept", "breaks true", "constraints"),
    ("breaches undecided", "breaks unknown", "constraints"),
    ("kept found kept", "keeps true", "constraints"),
    ("kept called broken", "keeps false", "constraints"),
    ("kept undecided", "keeps unknown", "constraints"),
)


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


def measure(rows: Iterable[dict[str, Any]], notes: list[str]) -> Counter[str]:
    """Count what becomes of constraints and their drafts; what differs is noted."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts["constraints"] += 1
        understood = understand_constraint(row["constraint"])
        if understood.predicate is None:
            counts.update(["breaks unknown", "keeps unknown"])
            notes.append(f"not understood: {row['constraint']} ({understood.reason})")
            continue
        counts["understood"] += 1
        _judge(row, understood.predicate, counts, notes)
    return counts


def _judge(row: dict[str, Any], predicate: Predicate, counts: Counter[str], notes: list[str]) -> None:
    is_meant = agrees(predicate, row["formal"])
    if is_meant is not True:
        kind = "not judged" if is_meant is None else "misunderstood"
        counts[kind] += 1
        notes.append(f"{kind}: {row['constraint']} = {to_text(predicate)}, meant is {row['formal']}")
    for draft, wrong in (("breaks", Holds.TRUE), ("keeps", Holds.FALSE)):
        answer = evaluate(predicate, readings.facts_of(row[draft], readings.sentences_of(row[draft])))
        counts[f"{draft} {answer.holds.value}"] += 1
        if answer.holds is wrong:
            notes.append(f"draft that {draft} it is called {wrong.value}: {row['constraint']} ({answer.why})")


def table(counts: Counter[str]) -> list[str]:
    """Return the rates as lines."""
    lines = []
    for name, key, whole in ROWS:
        low, high = wilson_interval(counts[key], counts[whole])
        lines.append(
            f"{name:30} {counts[key]:4} of {counts[whole]:4}  {counts[key] / counts[whole]:.3f}  [{low:.3f}, {high:.3f}]"  # noqa: E501
        )
    return lines


def main(arguments: Sequence[str]) -> int:
    """Measure a file and print the rates; 1 when it cannot be read."""
    parser = argparse.ArgumentParser(
        "python -m tools.evaluate_constraints",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, help="the constraints, one JSON object a line; .gz too")
    parser.add_argument("--list", action="store_true", help="show what differs, line by line")
    options = parser.parse_args(arguments)
    notes: list[str] = []
    try:
        counts = measure(load(options.file), notes)
    except ConstraintDataError as error:
        print(error, file=sys.stderr)
        return 1
    if options.list:
        print("\n".join(sorted(notes)), end="\n\n" if notes else "")
    print("\n".join(table(counts)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
