"""Separation of supported and unsupported claims by attribution's similarity, on the fold ``report``.

As in stage 2 of the provenance engine: the calibrated cosine of the claim and the nearest fact, or part of a fact, that
the product's chunker makes of the context. A row's text counts as one claim. Similarity says what a claim is about,
not whether it is true: the figures show how far that alone goes. The baseline has the threshold that is best on the
fold ``fit``.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from evaluation.contexts import GROUNDED, PARTIAL, document
from evaluation.data import rows
from evaluation.embedding import embed_all
from evaluation.figures import Figure
from evaluation.metrics import auroc, balanced_accuracy, best_threshold
from evaluation.words import token_recall
from services.common.adapters.tokens.counter import open_token_counter
from services.common.adapters.tokens.table import EXTRACTIVE_MODEL
from services.common.documents.facts.chunking import chunk
from services.common.ports.embedding import EmbeddingModel
from services.common.settings.inference import InferenceSettings
from services.dpe.domain.facts import EnvelopeFact, read_fact

Scores = NDArray[np.float64]
Context = tuple[str, ...]

ALL: Final = "all"
SYSTEM: Final = "calibrated similarity"
BASELINE: Final = "token recall"


async def units_of(contexts: Sequence[Context]) -> dict[Context, list[str]]:
    """Return for each context its facts and their parts."""
    counter = await open_token_counter(InferenceSettings())
    units: dict[Context, list[str]] = {}
    for context in dict.fromkeys(contexts):
        drafts = chunk(document(context), lambda text: counter.count([text], EXTRACTIVE_MODEL)[0])
        views = [read_fact(i, EnvelopeFact(str(i), draft.content), ()) for i, draft in enumerate(drafts)]
        units[context] = [text for view in views for text in (view.fact.content, *view.parts)]
    return units


async def similarities(claims: Sequence[Mapping[str, Any]], model: EmbeddingModel, progress: Progress) -> Scores:
    """Return each claim's calibrated similarity to what is nearest; 0 where the context makes no fact."""
    units = await units_of([tuple(claim["context"]) for claim in claims])
    texts = [claim["claim"] for claim in claims] + [text for some in units.values() for text in some]
    vectors = await embed_all(model, texts, progress, "claims and their contexts")
    raw = np.zeros(len(claims), dtype=np.float32)
    for row, claim in enumerate(claims):
        near = units[tuple(claim["context"])]
        if near:
            raw[row] = (np.stack([vectors[text] for text in near]) @ vectors[claim["claim"]]).max()
    return model.calibration.apply(raw).astype(np.float64)


def recalls(claims: Sequence[Mapping[str, Any]]) -> Scores:
    """Return each claim's token recall."""
    return np.array([token_recall(claim["claim"], claim["context"]) for claim in claims])


def labels(claims: Sequence[Mapping[str, Any]]) -> NDArray[np.bool_]:
    """Return which claims are supported."""
    return np.array([bool(claim["supported"]) for claim in claims], dtype=np.bool_)


async def measure(data: Path, model: EmbeddingModel, progress: Progress, limit: int | None) -> list[Figure]:
    """Measure each data set and all of them; ``limit`` bounds the claims of each set."""
    everything = rows(data, "grounding/dev.jsonl.gz")
    fit = [row for row in everything if row["fold"] == "fit"]
    threshold = best_threshold(recalls(fit), labels(fit))
    report = [row for row in everything if row["fold"] == "report"]
    names = sorted({row["dataset"] for row in report})
    claims = [row for name in names for row in [row for row in report if row["dataset"] == name][:limit]]
    ours, baseline, supported = await similarities(claims, model, progress), recalls(claims), labels(claims)
    found: list[Figure] = []
    for name in (*names, ALL):
        chosen = np.array([name in {ALL, claim["dataset"]} for claim in claims])
        found += _figures(name, (ours[chosen], baseline[chosen]), supported[chosen], threshold)
    return found


def _figures(name: str, scores: tuple[Scores, Scores], supported: NDArray[np.bool_], threshold: float) -> list[Figure]:
    ours, baseline = scores
    tuned = f"{BASELINE} ≥ {threshold:.2f}"
    other = balanced_accuracy(baseline, supported, threshold)
    pairs = [("AUROC", auroc(ours, supported), BASELINE, auroc(baseline, supported))]
    pairs += [
        (f"balanced accuracy ≥ {at:.2f}", balanced_accuracy(ours, supported, at), tuned, other)
        for at in (GROUNDED, PARTIAL)
    ]
    return [
        Figure("attribution", name, len(supported), SYSTEM, metric, value, against, its)
        for metric, value, against, its in pairs
    ]
