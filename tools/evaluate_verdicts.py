"""Measure what verdicts and levels are worth on answers that differ in one thing.

    python -m tools.evaluate_verdicts pairs [--part development | --part test --open-test] [--mistakes FILE]

Prints tables, and with --save keeps them as JSON in docs/results. What the encoders say is kept in .cache/evaluation
(another file: GROUNDTRAIL_EVAL_MEMORY), so that a run after a changed rule takes seconds.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from services.common.errors import CrpError, StartupError
from services.common.settings import Settings, SettingsError, load_settings
from tools.evaluation.data import EvaluationDataError
from tools.evaluation.encoder_memory import DEFAULT_FILE
from tools.evaluation.pairs import Part, document_of_pairs, measure_pairs, read_part, tables_of_pairs
from tools.evaluation.results import plain
from tools.evaluation.tables import Table
from tools.evaluation.verdict_engine import open_verdict_engine

MEMORY: Final = "GROUNDTRAIL_EVAL_MEMORY"
RESULTS: Final = Path("docs/results")
WIDTH: Final = 170


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    described = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m tools.evaluate_verdicts", description=__doc__, formatter_class=described)
    tasks = found.add_subparsers(dest="task", required=True, metavar="TASK")
    pairs = tasks.add_parser("pairs", help="a true and a false answer beside the same facts, in nearly the same words")
    pairs.add_argument("--part", type=Part, choices=tuple(Part), default=Part.DEVELOPMENT, help="which half")
    pairs.add_argument("--open-test", action="store_true", help="open the test half, which is done once")
    pairs.add_argument("--kind", action="append", metavar="KIND", help="these kinds alone")
    for one in (pairs,):
        one.add_argument("--json", action="store_true", help="print one JSON document on stdout")
        one.add_argument("--save", action="store_true", help=f"keep the figures as {RESULTS}/TASK.json")
        one.add_argument("--mistakes", type=Path, metavar="FILE", help="write the wrong ones, as JSON Lines")
        one.add_argument("--fresh", action="store_true", help="ask the encoders anew; remember nothing")
    return found


async def run_pairs(
    options: argparse.Namespace, settings: Settings, memory: Path | str
) -> tuple[tuple[Table, ...], dict[str, Any], Sequence[dict[str, Any]]]:
    """Measure the minimal pairs: tables, results, mistakes."""
    records = read_part(options.part, open_test=options.open_test)
    if options.kind:
        records = [one for one in records if one.kind in options.kind]
    async with open_verdict_engine(settings, memory) as engine:
        found = await measure_pairs(records, engine)
        facts = {"part": str(options.part), "records": len(records), "models": engine.fingerprint}
    return tables_of_pairs(found), facts | document_of_pairs(found), found.mistakes


RUNS: Final = {"pairs": run_pairs}


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says and return the exit status."""
    options = parser().parse_args(arguments)
    started = time.monotonic()
    try:
        memory: Path | str = ":memory:" if options.fresh else Path(os.environ.get(MEMORY) or DEFAULT_FILE)
        tables, document, mistakes = asyncio.run(RUNS[options.task](options, load_settings(), memory))
    except (EvaluationDataError, SettingsError, StartupError, CrpError) as error:
        print(error, file=sys.stderr)
        return 1
    text = json.dumps(plain(document), indent=1, ensure_ascii=False)
    if options.save:
        name = f"{options.task}-{options.part}.json" if options.task == "pairs" else f"{options.task}.json"
        (RESULTS / name).write_text(text + "\n", encoding="utf-8")
    if options.mistakes is not None:
        lines = [json.dumps(plain(one), ensure_ascii=False) + "\n" for one in mistakes]
        options.mistakes.write_text("".join(lines), encoding="utf-8")
    if options.json:
        print(text)
        return 0
    for table in tables:
        table.show(Console(width=WIDTH))
    print(f"{time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
