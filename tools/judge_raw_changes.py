"""Make every generated change to the raw file of sessions, and write down who finds it.

    python -m tools.judge_raw_changes [--group GROUP | --kept] [--write]

The changes are those of tests/faults/test_raw_changes.py. Outcomes are kept by group in docs/results/raw-changes.json;
--write puts the table of all groups into docs/how-to/verify-a-chain.md.
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

import structlog

from evaluation.measured import measured_now
from tests.fakes.raw.catalogue import GROUPS, Change, catalogue, nobody_found, of_group
from tests.fakes.raw.judging import Judged, judge
from tests.fakes.raw.template import Template, build

RESULTS: Final = Path("docs/results/raw-changes.json")
PAGE: Final = Path("docs/how-to/verify-a-chain.md")
BEGIN: Final = "<!-- begin raw changes -->\n"
END: Final = "<!-- end raw changes -->"
NOBODY: Final = "nobody"


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument(
        "--group", choices=[*GROUPS], action="append", help="only these changes; the others' stay as kept"
    )
    made.add_argument("--kept", action="store_true", help="make none: the table of what is kept")
    made.add_argument("--write", action="store_true", help="write the table into the page")
    return made


def outcome_of(judged: Judged) -> str:
    """Return one outcome of a change: why there is nothing to find, or who found it in every session it altered."""
    if judged.unaltered:
        return f"unaltered: {judged.unaltered}"
    finders = sorted({who.partition(":")[0] for who in judged.found_by.values()})
    if "" in finders:
        return NOBODY
    return " or ".join(finders)


async def judged_groups(groups: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Return outcomes by group and kind, and what else was wrong."""
    found: dict[str, Any] = {}
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        template = await build(Path(folder))
        changes = catalogue(template)
        for group in groups:
            found[group], more = await _judged(template, of_group(changes, group), Path(folder) / group)
            wrong += more
    return found, wrong


async def _judged(template: Template, changes: list[Change], folder: Path) -> tuple[dict[str, Any], list[str]]:
    folder.mkdir()  # noqa: ASYNC240 - nothing else runs beside
    counts: dict[str, Counter[str]] = {}
    wrong: list[str] = []
    for change in changes:
        judged = await judge(template, change, folder)
        counts.setdefault(change.kind, Counter())[outcome_of(judged)] += 1
        wrong += [*judged.wrong, *filter(None, [nobody_found(change, judged)])]
    return {kind: dict(sorted(outcomes.items())) for kind, outcomes in sorted(counts.items())}, wrong


def table(found: dict[str, Any]) -> str:
    """Return the table in Markdown, and below it why some changes alter nothing."""
    rows = [
        "| change | made | verify | export | start | nobody | nothing altered |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    totals: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for kinds in found.values():
        for kind, outcomes in kinds.items():
            cells = Counter({_column(outcome): 0 for outcome in outcomes})
            for outcome, count in outcomes.items():
                cells[_column(outcome)] += count
                if outcome.startswith("unaltered: "):
                    reasons[outcome.removeprefix("unaltered: ")] += count
            cells["made"] = sum(outcomes.values())
            totals += cells
            rows.append(_row(kind, cells))
    rows.append(_row("**all**", totals))
    why = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
    return "\n".join(rows) + f"\n\nNothing altered: {why}.\n"


def _column(outcome: str) -> str:
    if outcome.startswith("unaltered"):
        return "nothing altered"
    return "export" if "export" in outcome else outcome


def _row(name: str, cells: Counter[str]) -> str:
    columns = ("made", "verify", "export", "start", NOBODY, "nothing altered")
    return f"| {name} | {' | '.join(str(cells[column] or '') for column in columns)} |"


def main() -> int:
    """Run the command."""
    asked = parser().parse_args()
    groups = [] if asked.kept else asked.group or [*GROUPS]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    found, wrong = asyncio.run(judged_groups(groups)) if groups else ({}, [])
    told = {**kept.pop("measured", {}), **dict.fromkeys(found, measured_now())}
    kept |= found
    kept = {group: kept[group] for group in GROUPS if group in kept}
    whole = {"measured": told, **kept} if told else kept
    RESULTS.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if asked.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table(kept)}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    print(table(kept))
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
