"""Measure coherence scores on answers that people called supported or not: HaluEval (QA) and BEGIN.

    GROUNDTRAIL_EVAL_DATA=DIR python -m tools.evaluate_guard coherence [--fold FOLD] [--limit N] [--json] [--rows FILE]

The question is the prompt, the context brings the facts, one for each passage, as a caller would send them. An answer
that has no score counts as 0: it is not approved. AUROC of coherence and of each divergence, balanced accuracy at the
threshold in force. What the encoders said is kept in .cache/evaluation, or in the file that GROUNDTRAIL_EVAL_MEMORY
names; a run that was ended goes on from there.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console

from evaluation.data import EvaluationDataError, folder
from evaluation.encoder_memory import DEFAULT_FILE, EncoderMemory, RememberingAdapters
from evaluation.labelled import FOLDS, LabelledClaim, first_of_each, read_claims
from evaluation.metrics import auroc, balanced_accuracy
from evaluation.results import plain
from evaluation.tables import Table
from services.common.errors import CrpError, StartupError
from services.common.settings import Settings, SettingsError, load_settings
from services.common.telemetry import configure_logs
from services.dpe.compose import open_models, provenance_servicer
from services.dpe.domain.guard.coherence_grounds import GroundText
from services.dpe.guard.coherence import CoherenceApp, CoherenceOrder
from services.dpe.guard.score_cache import ScoreCache

MEMORY: Final = "GROUNDTRAIL_EVAL_MEMORY"
FILE: Final = "grounding/dev.jsonl.gz"
SETS: Final = ("halueval_qa", "begin")
AT_ONCE: Final = 8
WIDTH: Final = 150


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """An answer with its label and its score; ``None`` = not computed."""

    id: str
    dataset: str
    supported: bool
    approved: bool
    coherence: float | None
    logical: float | None
    factual: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What scores are worth on a set."""

    dataset: str
    supported: int
    unsupported: int
    auroc: float | None
    auroc_logical: float | None
    auroc_factual: float | None
    balanced_accuracy: float | None
    approved_supported: float
    approved_unsupported: float


def set_of(dataset: str) -> str:
    """Return the set that a row counts for; empty for one that is not measured here."""
    return next((name for name in SETS if dataset.startswith(name)), "")


def chosen(claims: Sequence[LabelledClaim], fold: str, limit: int | None) -> list[LabelledClaim]:
    """Return the rows to score: the first of each set and label."""
    mine = [one for one in claims if set_of(one.dataset) and one.fold == fold]
    return first_of_each(mine, lambda one: f"{set_of(one.dataset)} {one.supported}", limit)


async def score_all(settings: Settings, memory: Path | str, rows: Sequence[LabelledClaim]) -> list[ScoredRow]:
    """Score every row, several together.

    Raises:
        StartupError: a model cannot be used.
    """
    known = EncoderMemory(memory)
    try:
        async with RememberingAdapters(settings, known) as adapters:
            models, documents = await open_models(adapters, asks=False), await adapters.documents()
            _, analyses = provenance_servicer(models, settings.dpe, adapters.clock, adapters.ids, documents)
            app = CoherenceApp(analyses, None, None, settings.guard.coherence, ScoreCache(0, 0.0, time.monotonic))
            turns = asyncio.Semaphore(AT_ONCE)

            async def one(row: LabelledClaim) -> ScoredRow:
                async with turns:
                    return await _scored(app, row)

            return list(await asyncio.gather(*map(one, rows)))
    finally:
        known.close()


async def _scored(app: CoherenceApp, row: LabelledClaim) -> ScoredRow:
    facts = tuple(GroundText(f"f{place}", text) for place, text in enumerate(row.passages, 1) if text.strip())
    review = await app.review(CoherenceOrder(row.query or row.claim, row.claim, facts, bypasses_cache=True))
    found = review.score.found
    return ScoredRow(
        row.id,
        set_of(row.dataset),
        row.supported,
        review.approved,
        review.score.coherence,
        found.logical,
        found.factual,
        found.reason,
    )


def figures(rows: Sequence[ScoredRow], threshold: float) -> list[Figures]:
    """Return the figures of each set."""
    return [
        _figures(name, mine, threshold)
        for name in SETS
        for mine in [[row for row in rows if row.dataset == name]]
        if mine
    ]


def _figures(name: str, rows: Sequence[ScoredRow], threshold: float) -> Figures:
    labels = np.array([row.supported for row in rows])

    def scores(of: Callable[[ScoredRow], float | None], missing: float) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([missing if (value := of(row)) is None else value for row in rows])

    approved = np.array([row.approved for row in rows])
    coherence = scores(lambda row: row.coherence, 0.0)
    return Figures(
        name,
        int(labels.sum()),
        int((~labels).sum()),
        auroc(coherence, labels),
        auroc(1.0 - scores(lambda row: row.logical, 1.0), labels),
        auroc(1.0 - scores(lambda row: row.factual, 1.0), labels),
        balanced_accuracy(coherence, labels, threshold),
        float(approved[labels].mean()) if labels.any() else 0.0,
        float(approved[~labels].mean()) if not labels.all() else 0.0,
    )


def table_of(found: Sequence[Figures], fold: str, threshold: float) -> Table:
    """Return the figures as a table."""
    rows = tuple(
        (
            one.dataset,
            f"{one.supported} / {one.unsupported}",
            *map(_shown, (one.auroc, one.auroc_logical, one.auroc_factual, one.balanced_accuracy)),
            *map(_shown, (one.approved_supported, one.approved_unsupported)),
        )
        for one in found
    )
    columns = (
        *("set", "supported / not", "AUROC", "H_logical alone", "H_factual alone"),
        *(f"balanced accuracy at {threshold:g}", "approved of supported", "approved of the others"),
    )
    return Table("coherence", f"Coherence, fold {fold}", columns, rows)


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    described = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser(
        "python -m tools.evaluate_guard coherence", description=__doc__, formatter_class=described
    )
    found.add_argument("--fold", choices=FOLDS, default="report", help="part of the development rows; default report")
    found.add_argument("--limit", type=int, metavar="N", help="the first N rows of each set and label")
    found.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    found.add_argument("--rows", type=Path, metavar="FILE", help="write each row with its score, as JSON Lines")
    return found


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says and return the exit status."""
    options = parser().parse_args(arguments)
    if options.limit is not None and options.limit < 1:
        parser().error("--limit must be at least 1")
    try:
        settings = load_settings()
        configure_logs(settings.telemetry.model_copy(update={"log_level": "warning"}))
        claims = chosen(read_claims(folder(os.environ) / FILE), options.fold, options.limit)
        rows = asyncio.run(score_all(settings, Path(os.environ.get(MEMORY) or DEFAULT_FILE), claims))
    except (EvaluationDataError, SettingsError, StartupError, CrpError) as error:
        print(error, file=sys.stderr)
        return 1
    threshold = settings.guard.coherence.threshold
    found = figures(rows, threshold)
    if options.rows is not None:
        options.rows.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")
    if options.json:
        print(json.dumps({"fold": options.fold, "threshold": threshold, "sets": plain(found)}, indent=1))
    else:
        table_of(found, options.fold, threshold).show(Console(width=WIDTH))
    return 0
