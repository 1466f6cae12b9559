"""Fit the embedding model's calibration map (ADR 0012) and write it into MANIFEST.json.

Definitions, over claims and sentences (not whole responses) of ``grounding/dev.jsonl.gz``, whose contexts are cut
into facts by the product's own chunker:

* bears out: the cosine of a supported claim and the nearest fact of its context;
* does not, twin: the cosine of an unsupported claim and the nearest fact of its context;
* does not, distractor: the cosines of every claim and the other facts of its context, each claim with weight 1.

0.75 is where the share of "bears out" below equals the share of "does not" at or above, twins and distractors each
with half of the weight; 0.60 is where 95% of "bears out" lie at or above. Fitted on the fold ``fit``; error rates are
written for ``calibrate`` and ``report``, which the fit has not seen.

    python tools/fit_calibration.py --data "$GROUNDTRAIL_EVAL_DATA" [--dry-run]
"""

import argparse
import asyncio
import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evaluation.contexts import GROUNDED, PARTIAL, document
from services.common.adapters.encoders.embedding import EncoderEmbeddingModel, open_embedding
from services.common.adapters.tokens.counter import open_token_counter
from services.common.adapters.tokens.table import EXTRACTIVE_MODEL
from services.common.documents.facts.chunking import chunk
from services.common.model_repository import open_repository
from services.common.settings.inference import InferenceSettings

Values = NDArray[np.float64]

KINDS: Final = ("claim", "sentence")
FOLDS: Final = ("fit", "calibrate", "report")
RECALL: Final = 0.95
BLOCK: Final = 2_048
DIGITS: Final = 4


@dataclass(frozen=True)
class Claim:
    """One labelled claim and its cosines with the facts of its context, highest first."""

    dataset: str
    fold: str
    supported: bool
    cosines: Values


@dataclass(frozen=True)
class Weighted:
    """Values with weights that sum to 1."""

    values: Values
    weights: Values

    def share_from(self, threshold: float) -> float:
        """Return the weight at or above the threshold."""
        return float(self.weights[self.values >= threshold].sum())


def read_rows(data: Path) -> list[dict[str, Any]]:
    """Return the labelled claims and sentences."""
    with gzip.open(data / "grounding" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row["kind"] in KINDS]


async def embed_all(model: EncoderEmbeddingModel, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
    """Embed distinct texts, with progress."""
    distinct = list(dict.fromkeys(texts))
    vectors: dict[str, NDArray[np.float32]] = {}
    for start in range(0, len(distinct), BLOCK):
        block = distinct[start : start + BLOCK]
        vectors |= zip(block, await model.embed(block), strict=True)
        print(f"embedded {len(vectors):,} of {len(distinct):,}", flush=True)
    return vectors


async def score(rows: Sequence[dict[str, Any]]) -> tuple[str, list[Claim]]:
    """Return the embedding model's fingerprint and all claims with their cosines."""
    settings = InferenceSettings()
    counter = await open_token_counter(settings)
    facts: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        context = tuple(row["context"])
        if context not in facts:
            drafts = chunk(document(context), lambda text: counter.count([text], EXTRACTIVE_MODEL)[0])
            facts[context] = [draft.content for draft in drafts]
    model = await open_embedding(settings, open_repository(settings))
    try:
        vectors = await embed_all(
            model, [*(row["claim"] for row in rows), *(f for some in facts.values() for f in some)]
        )
    finally:
        await model.close()
    claims = []
    for row in rows:
        near = facts[tuple(row["context"])]
        if near:
            cosines = np.stack([vectors[fact] for fact in near]) @ vectors[row["claim"]]
            ordered = np.sort(cosines.astype(np.float64))[::-1]
            claims.append(Claim(row["dataset"], row["fold"], row["supported"], ordered))
    return model.fingerprint, claims


def bears_out(claims: Sequence[Claim]) -> Weighted:
    """Return the cosines of supported claims with their nearest facts."""
    values = np.array([claim.cosines[0] for claim in claims if claim.supported])
    return Weighted(values, np.full(values.size, 1 / max(values.size, 1)))


def twins(claims: Sequence[Claim]) -> Weighted:
    """Return the cosines of unsupported claims with their nearest facts."""
    values = np.array([claim.cosines[0] for claim in claims if not claim.supported])
    return Weighted(values, np.full(values.size, 1 / max(values.size, 1)))


def distractors(claims: Sequence[Claim]) -> Weighted:
    """Return the cosines of all claims with the other facts of their contexts."""
    several = [claim.cosines[1:] for claim in claims if claim.cosines.size > 1]
    if not several:
        return Weighted(np.empty(0), np.empty(0))
    weights = np.concatenate([np.full(values.size, 1 / values.size / len(several)) for values in several])
    return Weighted(np.concatenate(several), weights)


def does_not(claims: Sequence[Claim]) -> Weighted:
    """Return twins and distractors, each kind with half of the weight."""
    first, second = twins(claims), distractors(claims)
    return Weighted(
        np.concatenate([first.values, second.values]), np.concatenate([first.weights / 2, second.weights / 2])
    )


def equal_error(positive: Weighted, negative: Weighted) -> float:
    """Return the cosine at which misses among positives equal alarms among negatives."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if 1 - positive.share_from(middle) < negative.share_from(middle):
            low = middle
        else:
            high = middle
    return round((low + high) / 2, DIGITS)


def recall_point(positive: Weighted) -> float:
    """Return the greatest cosine that keeps 95% of the positives."""
    return round(float(np.quantile(positive.values, 1 - RECALL, method="lower")) - 0.5 * 10**-DIGITS, DIGITS)


def auroc(positive: Weighted, negative: Weighted) -> float:
    """Return the probability that a positive lies above a negative, ties counted half."""
    order = np.argsort(negative.values)
    values, total = negative.values[order], np.concatenate([[0.0], np.cumsum(negative.weights[order])])
    below = total[np.searchsorted(values, positive.values, side="left")]
    upto = total[np.searchsorted(values, positive.values, side="right")]
    return float(((below + upto) / 2 * positive.weights).sum())


def error_rates(claims: Sequence[Claim], grounded: float, partial: float) -> dict[str, float | int]:
    """Return how the two thresholds do on some claims."""
    positive, twin, distractor = bears_out(claims), twins(claims), distractors(claims)
    return {
        "claims": len(claims),
        "supported": int(positive.values.size),
        "unsupported": int(twin.values.size),
        "misses_at_0_75": round(1 - positive.share_from(grounded), 3),
        "twins_at_or_above_0_75": round(twin.share_from(grounded), 3),
        "distractors_at_or_above_0_75": round(distractor.share_from(grounded), 3),
        "misses_at_0_60": round(1 - positive.share_from(partial), 3),
        "twins_at_or_above_0_60": round(twin.share_from(partial), 3),
        "distractors_at_or_above_0_60": round(distractor.share_from(partial), 3),
        "auroc_against_twins": round(auroc(positive, twin), 3),
        "auroc_against_distractors": round(auroc(positive, distractor), 3),
    }


def calibration(fingerprint: str, claims: Sequence[Claim]) -> dict[str, Any]:
    """Fit on ``fit`` and return the manifest's entry."""
    fit = [claim for claim in claims if claim.fold == "fit"]
    grounded = equal_error(bears_out(fit), does_not(fit))
    partial = recall_point(bears_out(fit))
    datasets = sorted({claim.dataset for claim in claims})
    report = [claim for claim in claims if claim.fold == "report"]
    measured: dict[str, Any] = {
        fold: error_rates([c for c in claims if c.fold == fold], grounded, partial) for fold in FOLDS
    }
    measured["report_by_dataset"] = {
        name: error_rates([claim for claim in report if claim.dataset == name], grounded, partial) for name in datasets
    }
    return {
        "raw": [0.0, partial, grounded, 1.0],
        "calibrated": [0.0, PARTIAL, GROUNDED, 1.0],
        "fitted_on": {
            "tool": "tools/fit_calibration.py",
            "model": fingerprint,
            "data": f"grounding/dev, kinds {', '.join(KINDS)}, datasets {', '.join(datasets)}",
            "fold": "fit",
            "bears_out": int(bears_out(fit).values.size),
            "twins": int(twins(fit).values.size),
            "distractors": int(distractors(fit).values.size),
        },
        "measured": measured,
    }


def main() -> None:
    """Fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with grounding/dev.jsonl.gz")
    parser.add_argument("--root", type=Path, default=Path("model_repository"))
    parser.add_argument("--dry-run", action="store_true", help="print and change nothing")
    options = parser.parse_args()
    fingerprint, claims = asyncio.run(score(read_rows(options.data)))
    entry = calibration(fingerprint, claims)
    print(json.dumps(entry, indent=2))
    if not options.dry_run:
        path: Path = options.root / "MANIFEST.json"
        manifest = json.loads(path.read_text(encoding="utf-8"))
        (model,) = (model for model in manifest["models"] if fingerprint.startswith(f"{model['name']}@"))
        model["calibration"] = entry
        path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
