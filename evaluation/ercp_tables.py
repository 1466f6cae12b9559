"""The figures of the ERCP loop: as tables for a terminal and docs/ercp-evaluation.md, and the file that keeps them."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from evaluation.data import EvaluationDataError
from evaluation.ercp_problems import SETS
from evaluation.ercp_scoring import FINISHED, REFUSED
from evaluation.measured import measured_now
from evaluation.results import plain
from evaluation.tables import NONE, Table, share

SCHEMA_VERSION: Final = 1
DEFAULT_FILE: Final = Path("docs/results/ercp.json")
PAGE: Final = Path("docs/ercp-evaluation.md")
MODEL: Final = "model"
_SECTION: Final = re.compile(r"^<!-- begin ercp (\w+) -->$.*?^<!-- end ercp \1 -->$", re.MULTILINE | re.DOTALL)

Results = Mapping[str, Any]
Cell = Callable[[Results], str]


def load(path: Path) -> dict[str, Any]:
    """Return the kept results by set of problems (and ``model``); none when the file is not there yet.

    Raises:
        EvaluationDataError: it is no results file of this version.
    """
    if not path.is_file():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or found.get("schema_version") != SCHEMA_VERSION:
        raise EvaluationDataError(f"{path} is no results file of version {SCHEMA_VERSION}")
    return dict(found["measured"])


def save(path: Path, found: Results) -> None:
    """Write what was measured, each set with when and from what; what the file holds besides stays."""
    now = measured_now()
    merged = load(path) | {name: {**plain(one), "measured": now} for name, one in found.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"schema_version": SCHEMA_VERSION, "measured": dict(sorted(merged.items()))}
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def rewritten(page: str, measured: Results) -> str:
    """Return the page with the tables between its markers replaced.

    Raises:
        EvaluationDataError: a marker names no table.
    """
    known = {table.name: table.markdown() for table in tables_of(measured)}

    def section(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise EvaluationDataError(f"there is no table {match[1]}; there are: {', '.join(known)}")
        return f"<!-- begin ercp {match[1]} -->\n\n{known[match[1]]}\n\n<!-- end ercp {match[1]} -->"

    return _SECTION.sub(section, page)


def tables_of(measured: Results) -> tuple[Table, ...]:
    """Return all tables; a set that was not measured has dashes."""
    return (_runs(measured), _ended(measured), _detection(measured), _kinds(measured), _model(measured))


def _runs(measured: Results) -> Table:
    def part(value: str, whole: str) -> Cell:
        return lambda one: f"{one['runs'][value]} of {one['runs'][whole]}"

    def pair(value: str, digits: int) -> Cell:
        return lambda one: " / ".join(_number(one["runs"][value][name], digits) for name in ("median", "p95"))

    rows: tuple[tuple[str, Cell], ...] = (
        ("feasible problems that converged", part("converged", "feasible")),
        ("of these, on a draft without a planted error", part("sound", "converged")),
        ("infeasible problems found infeasible", part("infeasible_found", "infeasible")),
        ("infeasible problems refused as bad requests", part("infeasible_refused", "infeasible")),
        ("infeasible problems whose core is exact", part("core_exact", "infeasible")),
        ("problems solved by giving up the right constraint", part("relaxed_exact", "relaxable")),
        ("rounds until convergence, median / p95", pair("iterations", 0)),
        ("seconds of a run, median / p95", pair("seconds", 2)),
        (
            "sampled problems whose consecutive runs differed",
            lambda one: f"{one['repeated']['unequal']} of {one['repeated']['problems']}",
        ),
    )
    body = tuple((name, *_each(measured, cell)) for name, cell in rows)
    return Table("runs", "How runs end", ("measure", *_names(measured)), body)


def _ended(measured: Results) -> Table:
    def counts(expected: str) -> Cell:
        def cell(one: Results) -> str:
            ended = one["runs"]["ended"][expected]
            return ", ".join(f"{status} {ended[status]}" for status in FINISHED if ended[status]) or NONE

        return cell

    body = tuple((expected, *_each(measured, counts(expected))) for expected in ("converged", "infeasible", "partial"))
    return Table("ended", "Expected status, and what came", ("expected", *_names(measured)), body)


def _detection(measured: Results) -> Table:
    def of_type(name: str) -> Cell:
        def cell(one: Results) -> str:
            found = one["detection"]["types"][name]
            return f"{found['planted']}: {share(found['precision'])} / {share(found['recall'])}"

        return cell

    types = dict.fromkeys(
        name for one in _sets(measured) for name in measured.get(one, {}).get("detection", {"types": {}})["types"]
    )
    body = [(name, *_each(measured, of_type(name))) for name in types]
    for name, part, whole in (
        ("clean drafts with a finding", "clean_drafts_with_findings", "clean_drafts"),
        ("hard negatives taken for an error", "hard_negatives_hit", "hard_negatives"),
    ):
        body.append((name, *_each(measured, _part_of(part, whole))))
    body.append(("drafts refused as bad requests: nothing found", *_each(measured, _refused)))
    note = (
        "Planted errors: precision / recall. A finding of another type at the right place is false in its type's row."
    )
    return Table("detection", "What verification finds in each draft", ("errors", *_names(measured)), tuple(body), note)


def _refused(one: Results) -> str:
    return f"{one['skipped_detectors'].get(REFUSED, 0)} of {one['detection']['drafts']}"


def _part_of(part: str, whole: str) -> Cell:
    return lambda one: f"{one['detection'][part]} of {one['detection'][whole]}"


def _kinds(measured: Results) -> Table:
    def of_kind(name: str) -> Cell:
        def cell(one: Results) -> str:
            kind = one["kinds"].get(name)
            if kind is None:
                return NONE
            found = f"{kind['planted'] - kind['missed']} of {kind['planted']}"
            return f"{kind['as_expected']} of {kind['problems']}; {found}; {kind['false']}"

        return cell

    kinds = dict.fromkeys(name for one in _sets(measured) for name in measured.get(one, {}).get("kinds", {}))
    body = tuple((name, *_each(measured, of_kind(name))) for name in kinds)
    note = "Runs that ended as expected; planted errors found, by place and type; false findings."
    return Table("kinds", "By kind of problem", ("kind", *_names(measured)), body, note)


def _model(measured: Results) -> Table:
    one = measured.get(MODEL)
    columns = ("measure", "value")
    if one is None:
        return Table("model", "With a real model", columns, (), "Not measured yet.")
    ended = ", ".join(f"{status} {number}" for status, number in one["ended"].items())
    rows = (
        ("model", one["model"]),
        ("problems", str(one["problems"])),
        ("most rounds allowed", str(one["max_iterations"])),
        ("ended", ended),
        ("rounds, median / p95", " / ".join(_number(one["iterations"][name], 0) for name in ("median", "p95"))),
        ("seconds of a run, median / p95", " / ".join(_number(one["seconds"][name], 1) for name in ("median", "p95"))),
    )
    return Table("model", "With a real model", columns, rows)


def _sets(measured: Results) -> tuple[str, ...]:
    """Return the sets that have a column: those of ours, or what else was measured alone."""
    others = tuple(name for name in measured if name not in {*SETS, MODEL})
    return others or SETS


def _names(measured: Results) -> tuple[str, ...]:
    return tuple(one.replace("_", " ") for one in _sets(measured))


def _each(measured: Results, cell: Cell) -> tuple[str, ...]:
    return tuple(cell(measured[one]) if one in measured else NONE for one in _sets(measured))


def _number(value: float | None, digits: int) -> str:
    return NONE if value is None else f"{value:.{digits}f}"
