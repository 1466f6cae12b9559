"""Verdicts of the whole engine against people's labels, beside what the grounding model alone says (ADR 0041).

Each row's context becomes facts by the product's chunker; the text to check is the answer. A text counts as supported
when every claim in it that gets a verdict is SUPPORTED. Alone, the grounding model is given the whole context as it
stands. Balanced accuracy per data set, and how often which basis decided, right and wrong.

    GROUNDTRAIL_EVAL_DATA=FOLDER python -m tools.evaluation.verdicts [--fold report] [--limit N]
"""

import argparse
import asyncio
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from services.common.adapters.tokens.counter import open_token_counter
from services.common.adapters.tokens.table import EXTRACTIVE_MODEL
from services.common.clock import SystemClock
from services.common.composition import Adapters
from services.common.ids import RandomIds
from services.common.ports.grounding import GroundingRequest
from services.common.settings import Settings
from services.dpe.app import Limits, ProvenanceApp, Workplace
from services.dpe.compose import open_models, policy_of
from services.dpe.domain.analysis import AnalysisInput
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.findings import Judgement, Verdict
from services.dpe.gazetteer import load_gazetteer
from services.dpe.ports import AnalysisModels
from services.envelope.domain.chunking import chunk
from tools.evaluation.data import folder, rows
from tools.evaluation.metrics import balanced_accuracy
from tools.fit_calibration import document

FILE: Final = "grounding/dev.jsonl.gz"
MAX_FACTS: Final = 2_000
NO_QUESTION: Final = "What holds?"


@dataclass(frozen=True, slots=True)
class Judged:
    """A row with what both say of it."""

    dataset: str
    label: bool
    engine: bool
    alone: bool
    bases: tuple[str, ...]


def chosen(everything: Sequence[Mapping[str, Any]], fold: str, limit: int | None) -> list[Mapping[str, Any]]:
    """Return the rows of a fold, at most ``limit`` of each data set, in the order of the file."""
    seen: Counter[str] = Counter()
    found = []
    for row in everything:
        seen[row["dataset"]] += row["fold"] == fold
        if row["fold"] == fold and (limit is None or seen[row["dataset"]] <= limit):
            found.append(row)
    return found


async def judged(row: Mapping[str, Any], app: ProvenanceApp, models: AnalysisModels, facts: Sequence[str]) -> Judged:
    """Have both judge one row."""
    if models.grounding is None:
        raise SystemExit("the model repository lacks the grounding model")
    given = AnalysisInput(
        "s", "w", 1, row.get("query") or NO_QUESTION, row["claim"],
        tuple(EnvelopeFact(f"f{number}", text) for number, text in enumerate(facts[:MAX_FACTS])),
    )  # fmt: skip
    finished = await app.analyze(given)
    found: list[Judgement] = list(finished.analysis.outputs.judgements.values())
    (alone,) = await models.grounding.judge([GroundingRequest(row["claim"], tuple(row["context"]), row.get("query"))])
    supported = bool(found) and all(item.verdict is Verdict.SUPPORTED for item in found)
    bases = tuple(f"{item.verdict}, {item.basis}" for item in found)
    return Judged(row["dataset"], bool(row["supported"]), supported, alone.supported, bases)


def show(found: Sequence[Judged], title: str) -> None:
    """Print both tables."""
    table = Table(title=title, title_justify="left")
    for column in ("data set", "rows", "engine", "grounding alone"):
        table.add_column(column, justify="left" if column == "data set" else "right")
    both = []
    for name in sorted({item.dataset for item in found}):
        own = [item for item in found if item.dataset == name]
        labels = np.array([item.label for item in own], dtype=np.bool_)
        if labels.all() or not labels.any():
            continue
        scores = [
            balanced_accuracy(np.array([getattr(item, column) for item in own], dtype=np.float64), labels, 0.5) or 0.0
            for column in ("engine", "alone")
        ]
        both.append(scores)
        table.add_row(name, str(len(own)), *(f"{score:.3f}" for score in scores))
    if both:
        table.add_row("mean", str(len(found)), *(f"{value:.3f}" for value in np.mean(both, axis=0)))
    Console(width=100).print(table)
    counts = Table(title="What decided the claims", title_justify="left")
    for column in ("verdict, basis", "rows labelled supported", "rows labelled unsupported"):
        counts.add_column(column, justify="left" if column.startswith("verdict") else "right")
    tally = Counter((basis, item.label) for item in found for basis in item.bases)
    for basis in sorted({basis for basis, _ in tally}):
        counts.add_row(basis, str(tally[basis, True]), str(tally[basis, False]))
    Console(width=100).print(counts)


async def run(fold: str, limit: int | None) -> None:
    """Judge the rows of a fold one after the other and print what came of it."""
    settings = Settings()
    everything = rows(folder(os.environ), FILE)
    counter = await open_token_counter(settings.inference)
    found: list[Judged] = []
    async with Adapters(settings) as adapters:
        models = await open_models(adapters)
        workplace = Workplace(policy_of(settings.dpe), load_gazetteer(), Limits(), SystemClock(), RandomIds())
        app = ProvenanceApp(models, workplace)
        for row in chosen(everything, fold, limit):
            drafts = chunk(document(row["context"]), lambda text: counter.count([text], EXTRACTIVE_MODEL)[0])
            found.append(await judged(row, app, models, [draft.content for draft in drafts]))
        prints = ", ".join(fingerprint for role, fingerprint in models.fingerprints() if role != "embedding")
    show(found, f"Balanced accuracy, fold {fold}, limit {limit or 'none'}\n{prints}")


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(prog="python -m tools.evaluation.verdicts", description=__doc__.partition("\n")[0])
    parser.add_argument("--fold", choices=("calibrate", "report"), default="report")
    parser.add_argument("--limit", type=int, help="rows of each data set; all when not given")
    options = parser.parse_args()
    asyncio.run(run(options.fold, options.limit))
    return 0


if __name__ == "__main__":
    sys.exit(main())
