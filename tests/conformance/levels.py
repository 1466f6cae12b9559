"""The levels of CRP-SPEC-014, row by row, and which of them a run has shown.

A test says by ``row("OCSF")`` which row it belongs to. A row is shown when it has tests and each of them passed in
this run: one that failed, was skipped or was not run leaves it open. A level is reached when its rows and those of
the levels below it are shown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import pytest

MARKER: Final = "conformance_row"
PASSED: Final = "passed"
LEVELS: Final[Mapping[str, tuple[str, ...]]] = {
    "CRP-Basic": (
        "session id",
        "session token",
        "risk and score",
        "HMAC and chain integrity",
        "protocol version",
        "451",
        "Axiom 4",
    ),
    "CRP-Standard": (
        "all 13 stages",
        "response quality assurance",
        "policy",
        "envelope and ETag",
        "compliance headers",
        "provenance headers",
        "continuation",
        "NDJSON export",
    ),
    "CRP-Full": (
        "strategy push",
        "strategy pull",
        "strategy reflexive",
        "strategy agentic",
        "strategy hierarchical",
        "strategy batch",
        "strategy streaming",
        "strategy fan-out",
        "strategy fan-in",
        "agent budgets",
        "policy inheritance",
        "circuit breaker",
        "fan-out and fan-in merge",
        "streaming safety with mid-stream stop",
        "OCSF",
        "mTLS",
        "profiles",
        "residency",
    ),
}


def row(*names: str) -> pytest.MarkDecorator:
    """Return the mark of a test that shows these rows."""
    known = {name for rows in LEVELS.values() for name in rows}
    assert known.issuperset(names), sorted(set(names) - known)
    return getattr(pytest.mark, MARKER)(*names)


@dataclass(frozen=True)
class Reached:
    """What a run has shown.

    Attributes:
        level: the highest, or empty.
        shown: rows with the number of their tests.
        open: rows of each level that were not shown, with why.
    """

    level: str
    shown: Mapping[str, int]
    open: Mapping[str, Mapping[str, str]]


def reached(outcomes: Iterable[tuple[str, str]]) -> Reached:
    """Return which level the outcomes show.

    Args:
        outcomes: row and outcome of each test that ran: passed, failed or skipped.
    """
    tests = dict[str, list[str]]()
    for name, outcome in outcomes:
        tests.setdefault(name, []).append(outcome)
    shown, missing, level = dict[str, int](), dict[str, dict[str, str]](), ""
    for one, rows in LEVELS.items():
        for name in rows:
            found = tests.get(name, [])
            bad = [outcome for outcome in found if outcome != PASSED]
            if found and not bad:
                shown[name] = len(found)
            else:
                why = f"{len(bad)} of {len(found)} tests {' and '.join(sorted(set(bad)))}" if found else "no test ran"
                missing.setdefault(one, {})[name] = why
        if not missing:
            level = one
    return Reached(level, shown, missing)


def told(found: Reached) -> list[str]:
    """Return what the end of a run says."""
    rules = sum(found.shown.values())
    lines = [f"level reached: {found.level or 'none'}, by {len(found.shown)} rows and {rules} checks of this run"]
    for level, rows in LEVELS.items():
        for name in rows:
            why = found.open.get(level, {}).get(name)
            lines.append(f"  {level}: {name}: " + (f"OPEN, {why}" if why else f"{found.shown[name]} passed"))
    return lines
