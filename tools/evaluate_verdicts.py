"""Measure what verdicts, levels and answers are worth on sets where one thing makes the difference.

    python -m tools.evaluate_verdicts pairs [--part development | --part test --open-test] [--kind KIND]
    python -m tools.evaluate_verdicts corpus | rewordings [--kind KIND]
    python -m tools.evaluate_verdicts second-opinion [--kind KIND]
    python -m tools.evaluate_verdicts superseded
    python -m tools.evaluate_verdicts answers [--part development | --part test --open-test]
    python -m tools.evaluate_verdicts replies [--part development | --part test --open-test]
    python -m tools.evaluate_verdicts short-answers [--part development | --part test --open-test]
    python -m tools.evaluate_verdicts daily-answers [--part development | --part test --open-test]
    python -m tools.evaluate_verdicts questions [--part development | --part test --open-test]
    python -m tools.evaluate_verdicts misquotes | neighbours | planted --open-test [--data DIR] [--documents DIR]

Everything is checked by the function that users call, services.allinone.check; superseded walks every order of changes
to documents in the suite of services.allinone.embedded. Prints tables; --save keeps the figures
as JSON in docs/results, --mistakes the wrong ones. What the encoders say is kept in .cache/evaluation (another file:
GROUNDTRAIL_EVAL_MEMORY), so that a run after a changed rule takes seconds.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from evaluation import (
    asked_questions,
    corpus,
    misquotes,
    pairs,
    scripted_judge,
    superseded,
    two_windows,
    whole_documents,
)
from evaluation.data import EvaluationDataError
from evaluation.embedded_suite import open_suite
from evaluation.encoder_memory import DEFAULT_FILE
from evaluation.held_back import is_there
from evaluation.measured import measured_now
from evaluation.results import plain
from evaluation.tables import Table
from evaluation.verdict_engine import open_verdict_engine
from services.allinone.parts import Part as SuitePart
from services.common.errors import CrpError, StartupError
from services.common.settings import Settings, SettingsError, load_settings
from services.common.telemetry import configure_logs
from training.own_corpus import ANSWERS, is_held_back

MEMORY: Final = "GROUNDTRAIL_EVAL_MEMORY"
RESULTS: Final = Path("docs/results")
WIDTH: Final = 170
SETS: Final = {
    "misquotes": (misquotes.FOLDER, "misquotes"),
    two_windows.NEIGHBOURS: (two_windows.FOLDER, "neighbours"),
    two_windows.PLANTED: (two_windows.FOLDER, "planted"),
    "questions": (asked_questions.FOLDER, "{part}-questions"),
    "answers": (whole_documents.FOLDER, "{part}"),
    "replies": (whole_documents.REPLIES, "{part}"),
    "short-answers": (whole_documents.SHORT_ANSWERS, "{part}"),
    "daily-answers": (whole_documents.DAILY, "{part}"),
}
"""Folder of each set, and the file without which it is not there."""
WHOLE_DOCUMENTS: Final = frozenset({"answers", "replies", "short-answers", "daily-answers"})
ORDERS: Final = "superseded"
EVERY: Final = ("pairs", "corpus", "rewordings", "second-opinion", ORDERS, *SETS)


@dataclass(frozen=True, slots=True)
class Report:
    """What a task gives: tables for people, results to keep, and the mistakes."""

    tables: tuple[Table, ...]
    document: dict[str, Any]
    mistakes: Sequence[dict[str, Any]]


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    described = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m tools.evaluate_verdicts", description=__doc__, formatter_class=described)
    found.add_argument("task", choices=(*EVERY, "all"), help="what to measure; all: every set that is open")
    found.add_argument(
        "--part",
        type=pairs.Part,
        choices=tuple(pairs.Part),
        default=pairs.Part.DEVELOPMENT,
        help="half of pairs, questions, and of answers, replies, short and daily answers",
    )
    found.add_argument("--open-test", action="store_true", help="open what is held back, which is done once")
    found.add_argument("--kind", action="append", metavar="KIND", help="of the pairs these kinds alone; repeatable")
    found.add_argument("--data", type=Path, metavar="DIR", help="folder of the set; tests/vectors/dpe/… unless told")
    found.add_argument(
        "--documents", type=Path, action="append", metavar="DIR", help="what is ingested; the handbook unless told"
    )
    found.add_argument("--limit", type=int, metavar="N", help="the first N rows of each file")
    found.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    found.add_argument("--save", action="store_true", help=f"keep the figures as {RESULTS}/TASK.json")
    found.add_argument("--mistakes", type=Path, metavar="FILE", help="write the wrong ones, as JSON Lines")
    found.add_argument("--fresh", action="store_true", help="ask the encoders anew; remember nothing")
    return found


class Runs:
    """The tasks, on one set of options and settings."""

    def __init__(self, options: argparse.Namespace, settings: Settings) -> None:
        self._options = options
        self._settings = settings
        self._memory: Path | str = ":memory:" if options.fresh else Path(os.environ.get(MEMORY) or DEFAULT_FILE)

    async def run(self, task: str) -> Report:
        """Run one task.

        Raises:
            EvaluationDataError: its data are not there.
        """
        if task in {"pairs", "corpus", "rewordings"}:
            return await self._pairs(task)
        if task == "second-opinion":
            return await self._second_opinion()
        if task == ORDERS:
            return await self._superseded()
        if task == "misquotes":
            return await self._misquotes()
        if task in WHOLE_DOCUMENTS:
            return await self._answers(task)
        return await (self._questions() if task == "questions" else self._windows(task))

    async def _pairs(self, task: str) -> Report:
        options = self._options
        if task == "corpus":
            part, records = "train", corpus.read_corpus()
        elif task == "rewordings":
            part, records = "held back from training", corpus.read_corpus(ANSWERS, is_held_back)
        else:
            part, records = str(options.part), pairs.read_part(options.part, open_test=options.open_test)
        if options.kind:
            records = [one for one in records if one.kind in options.kind]
        records = records[: options.limit]
        async with open_verdict_engine(self._settings, self._memory) as engine:
            found = await pairs.measure_pairs(records, engine)
        facts = {"part": part, "records": len(records)}
        return Report(pairs.tables_of_pairs(found), facts | pairs.document_of_pairs(found), found.mistakes)

    async def _second_opinion(self) -> Report:
        """Measure a scripted judge on the pairs for development; the other half is none of its business."""
        records = pairs.read_part(pairs.Part.DEVELOPMENT)
        if self._options.kind:
            records = [one for one in records if one.kind in self._options.kind]
        records = records[: self._options.limit]
        rows = await scripted_judge.measure_judges(records, self._settings, self._memory)
        facts = {"part": str(pairs.Part.DEVELOPMENT), "records": len(records)}
        return Report((scripted_judge.table_of_judges(rows),), facts | scripted_judge.document_of_judges(rows), ())

    async def _superseded(self) -> Report:
        """Walk every order of changes to two documents; with ``--limit`` the first orders of each kind."""
        found = await superseded.measure_orders(self._settings, self._memory, self._options.limit)
        document = superseded.document_of_orders(found)
        return Report((superseded.table_of_orders(found),), document, superseded.mistakes_of_orders(found))

    async def _misquotes(self) -> Report:
        folder = self._folder("misquotes")
        sentences = misquotes.read_sentences(folder, open_test=self._options.open_test)
        if self._options.limit:
            groups = [[one for one in sentences if one.group == group] for group in misquotes.FILES]
            sentences = [one for group in groups for one in group[: self._options.limit]]
        queries = [misquotes.query_of(one) for one in sentences]
        async with open_suite(self._settings, self._memory, self._documents(folder), [SuitePart.KNOWLEDGE]) as known:
            facts = await known.facts_for(queries)
        async with open_verdict_engine(self._settings, self._memory) as engine:
            found = await misquotes.measure_sentences(sentences, facts, engine)
        document = {"sentences": len(sentences)} | misquotes.document_of_sentences(found)
        return Report((misquotes.table_of_sentences(found),), document, misquotes.mistakes_of_sentences(found))

    async def _answers(self, task: str) -> Report:
        part, open_test = self._options.part, self._options.open_test
        answers = whole_documents.read_answers(part, self._folder(task), open_test=open_test)
        answers = answers[: self._options.limit]
        async with open_verdict_engine(self._settings, self._memory) as engine:
            found = await whole_documents.measure_answers(answers, engine)
        document = {"part": str(part), "answers": len(answers)} | whole_documents.document_of_answers(found)
        return Report(whole_documents.tables_of_answers(found), document, whole_documents.mistakes_of_answers(found))

    async def _windows(self, task: str) -> Report:
        rows = two_windows.read_windows(task, self._folder(task), open_test=self._options.open_test)
        rows = rows[: self._options.limit]
        async with open_verdict_engine(self._settings, self._memory) as engine:
            found = await two_windows.measure_windows(rows, engine)
        shares = {kind: share.plain() for kind, share in two_windows.shares_of(found).items()}
        table = two_windows.table_of_windows(task, found)
        return Report((table,), {"rows": len(rows), "flagged": shares}, two_windows.mistakes_of_windows(task, found))

    async def _questions(self) -> Report:
        folder = self._folder("questions")
        part, open_test = self._options.part, self._options.open_test
        questions = asked_questions.read_questions(part, folder, open_test=open_test)[: self._options.limit]
        async with open_suite(self._settings, self._memory, self._documents(folder)) as known:
            found = await asked_questions.ask_all(questions, known)
        shares = {name: share.plain() for name, share in asked_questions.shares_of_answers(found).items()}
        table, mistakes = asked_questions.table_of_answers(found), asked_questions.mistakes_of_answers(found)
        return Report((table,), {"part": str(part), "questions": len(questions), "shares": shares}, mistakes)

    def _folder(self, task: str) -> Path:
        named: Path | None = self._options.data
        return named or SETS[task][0]

    def _documents(self, folder: Path) -> list[Path]:
        own = folder / "documents"
        return self._options.documents or [asked_questions.HANDBOOK, *([own] if own.is_dir() else [])]


def give(task: str, options: argparse.Namespace, report: Report) -> None:
    """Print and keep what was measured."""
    text = json.dumps(plain(report.document), indent=1, ensure_ascii=False)
    if options.save:
        name = f"{task}-{options.part}" if task in {"pairs", "questions", *WHOLE_DOCUMENTS} else task
        kept = json.dumps({"measured": measured_now(), **plain(report.document)}, indent=1, ensure_ascii=False)
        (RESULTS / f"{name}.json").write_text(kept + "\n", encoding="utf-8")
    if options.mistakes is not None:
        lines = [json.dumps({"task": task} | plain(one), ensure_ascii=False) + "\n" for one in report.mistakes]
        with options.mistakes.open("a", encoding="utf-8") as stream:
            stream.writelines(lines)
    if options.json:
        print(text)
        return
    for table in report.tables:
        table.show(Console(width=WIDTH))


def _is_open(task: str, options: argparse.Namespace) -> bool:
    folder, file = SETS[task]
    return is_there(options.data or folder, file.format(part=options.part), open_test=options.open_test)


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says and return the exit status."""
    options = parser().parse_args(arguments)
    if options.limit is not None and options.limit < 1:
        parser().error("--limit must be at least 1")
    if options.mistakes is not None:
        options.mistakes.unlink(missing_ok=True)
    started = time.monotonic()
    try:
        settings = load_settings()
        configure_logs(settings.telemetry.model_copy(update={"log_level": "warning"}))
        runs = Runs(options, settings)
        tasks = [options.task]
        if options.task == "all":
            tasks = ["pairs", "corpus", ORDERS, *(name for name in SETS if _is_open(name, options))]
        for task in tasks:
            give(task, options, asyncio.run(runs.run(task)))
    except (EvaluationDataError, SettingsError, StartupError, CrpError) as error:
        print(error, file=sys.stderr)
        return 1
    if not options.json:
        print(f"{time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
