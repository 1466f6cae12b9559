"""Streams under oversight: faithful answers that are halted, false sentences that are caught, and how late.

    python -m tools.evaluate_guard streams [--set summaries|planted|corpus|pairs] [--limit N] [--strict]
        [--minutes M] [--json] [--save]

Every answer is streamed token by token through the oversight with the server's rules; the same sentences are scored in
the whole answer beside it. A false sentence is caught when the stream halts before its last token is released; one that
follows a halt on a true sentence is counted apart. The first two sets need GROUNDTRAIL_EVAL_DATA. What encoders say is
kept in .cache/evaluation (another file: GROUNDTRAIL_EVAL_MEMORY), so that the same
command goes on where ``--minutes`` ended it.
"""

import argparse
import asyncio
import json
import math
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from evaluation.data import VARIABLE as DATA_VARIABLE
from evaluation.data import EvaluationDataError
from evaluation.encoder_memory import DEFAULT_FILE
from evaluation.guard.stream_runs import StreamRun, open_runner
from evaluation.guard.streamed_answers import (
    StreamedAnswer,
    from_corpus,
    from_pairs,
    from_planted,
    from_summaries,
)
from evaluation.measured import measured_now
from evaluation.results import plain
from evaluation.shares import Share
from evaluation.tables import Table
from services.common.errors import StartupError
from services.common.settings import Settings, SettingsError, load_settings
from services.common.streaming.rules import HaltReason, HaltRules
from services.common.telemetry import configure_logs

MEMORY: Final = "GROUNDTRAIL_EVAL_MEMORY"
SETS: Final = ("summaries", "planted", "corpus", "pairs")
WIDTH: Final = 150
RESULTS: Final = Path("docs/results")


@dataclass(frozen=True, slots=True)
class StreamFigures:
    """What became of some answers.

    Attributes:
        halted: faithful answers that were halted.
        reasons: why.
        caught: false sentences of which the last token was never released, the halt being theirs.
        before: falsified answers that were halted on a true sentence before.
        unstreamed: false sentences that the same limit finds in the whole answer.
        late_tokens: from the last token of a caught sentence to the one at which it was told, mean; ``None`` of none.
        apart: sentences of which the score as they grow is another than in the whole, by more than .01.
    """

    halted: Share
    reasons: dict[str, int]
    caught: Share
    before: Share
    unstreamed: Share
    late_tokens: float | None
    apart: Share

    def plain(self) -> dict[str, Any]:
        """Return what a results file holds."""
        shares = {name: getattr(self, name).plain() for name in ("halted", "caught", "before", "unstreamed", "apart")}
        return {**shares, "reasons": self.reasons, "late_tokens": self.late_tokens}


def figures_of(runs: Sequence[StreamRun], rules: HaltRules) -> StreamFigures:
    """Return the figures of some runs under some rules."""
    faithful = [run.halt(rules) for run in runs if run.answer.is_faithful]
    false = [(run, run.halt(rules)) for run in runs if not run.answer.is_faithful]
    caught = [
        (run, halt)
        for run, halt in false
        if halt is not None and halt.last_index < run.last_false_token <= halt.broken_at
    ]
    before = [halt for run, halt in false if halt is not None and halt.broken_at < run.last_false_token]
    found = [min((one.whole for one in run.false_sentences if one.whole is not None), default=1.0) for run, _ in false]
    both = [one for run in runs for one in run.sentences if one.streamed is not None and one.whole is not None]
    late = [halt.broken_at - run.last_false_token for run, halt in caught]
    return StreamFigures(
        Share.among(halt is not None for halt in faithful),
        {reason.value: sum(halt is not None and halt.reason is reason for halt in faithful) for reason in HaltReason},
        Share(len(caught), len(false)),
        Share(len(before), len(false)),
        Share.among(score < rules.hard_limit for score in found),
        statistics.mean(late) if late else None,
        Share.among(abs((one.streamed or 0.0) - (one.whole or 0.0)) > _APART for one in both),
    )


_APART: Final = 0.01


def table_of(name: str, figures: StreamFigures) -> Table:
    """Return the figures as a table."""
    late = "-" if figures.late_tokens is None else f"{figures.late_tokens:.1f}"
    rows = (
        ("faithful answers halted", str(figures.halted)),
        ("false sentences caught before their last token is released", str(figures.caught)),
        ("falsified answers halted on a true sentence before", str(figures.before)),
        ("false sentences below the same limit in the whole answer", str(figures.unstreamed)),
        ("tokens from the last one of a caught sentence to its halt, mean", late),
        ("sentences scored otherwise as they grow than in the whole", str(figures.apart)),
    )
    reasons = ", ".join(f"{reason} {count}" for reason, count in figures.reasons.items() if count)
    return Table(
        f"streams-{name}", f"Streams: {name}", ("", "share, 95%"), rows, f"Halts of faithful answers: {reasons}"
    )


def rules_of(settings: Settings) -> HaltRules:
    """Return the server's rules."""
    wanted = settings.guard.oversight
    names = ("hard_limit", "window_tokens", "window_threshold", "trend_window_tokens", "trend_threshold", "soft_limit")
    return HaltRules(**{name: getattr(wanted, name) for name in names})


def answers_of(name: str) -> list[StreamedAnswer]:
    """Return the answers of a set.

    Raises:
        EvaluationDataError: its data are not there.
    """
    if name in {"corpus", "pairs"}:
        return list(from_corpus() if name == "corpus" else from_pairs())
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        raise EvaluationDataError(f"{DATA_VARIABLE} does not name the folder of the data")
    return list(from_planted(Path(folder)) if name == "planted" else from_summaries(Path(folder)))


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says and return the exit status."""
    described = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m tools.evaluate_guard streams", description=__doc__)
    parser.formatter_class = described
    parser.add_argument("--set", dest="name", choices=SETS, default="summaries", help="which answers")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N answers")
    parser.add_argument("--minutes", type=float, metavar="M", help="begin no more answers after so long")
    parser.add_argument("--strict", action="store_true", help="what is merely not borne out counts by its score")
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    parser.add_argument("--save", action="store_true", help=f"keep the figures as {RESULTS}/guard-streams-SET.json")
    options = parser.parse_args(arguments)
    seconds = math.inf if options.minutes is None else 60.0 * options.minutes
    try:
        settings = load_settings()
        configure_logs(settings.telemetry.model_copy(update={"log_level": "error"}))
        answers = answers_of(options.name)[: options.limit]
        done, figures = asyncio.run(_measured(answers, settings, strict=options.strict, seconds=seconds))
    except (EvaluationDataError, SettingsError, StartupError) as error:
        print(error, file=sys.stderr)
        return 2
    document = {"set": options.name, "strict": options.strict, "answers": done, "of": len(answers), **figures.plain()}
    if options.save:
        name = f"guard-streams-{options.name}" + "-strict" * options.strict
        RESULTS.mkdir(parents=True, exist_ok=True)
        kept = {"measured": measured_now(), **plain(document)}
        (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    if options.json:
        print(json.dumps(document))
    else:
        table_of(options.name, figures).show(Console(width=WIDTH))
        print(f"{done} of {len(answers)} answers")
    return 0


async def _measured(
    answers: Sequence[StreamedAnswer], settings: Settings, *, strict: bool, seconds: float
) -> tuple[int, StreamFigures]:
    """Return how many answers were run, and what became of them."""
    memory = Path(os.environ.get(MEMORY) or DEFAULT_FILE)
    async with open_runner(settings, memory, strict=strict) as runner:
        runs = await runner.run_all(answers, seconds)
        return len(runs), figures_of(runs, rules_of(settings))
