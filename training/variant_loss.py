"""What a variant of a model loses against its reference, and what it costs, on rows of the evaluation data.

    python -m training.variant_loss --data DIR --rows 400 REFERENCE OTHER ...

Each argument is a model's folder (``1/model.onnx``, ``tokenizer.json``); the first is the reference, usually the
variant ``fp32``. Rows come from ``nli/dev`` for a model with three logits and from the fold ``report`` of
``grounding/dev`` for one with a support logit; of a pair that is too long the longer text loses its end, the same way
for all. Prints a table; with ``--record`` the figures of each folder but the reference go into the manifest beside it.
Speed is pairs per second of CPU time on one thread, in batches of eight sorted by length: compare it within a run only.
"""

import argparse
import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tools.update_manifest import dump
from training.parity import COMPANY, Encoder, TokenIds, batch_variance, encoder_of, run, session_of
from training.rows import read_grounding, read_nli

BATCH: Final = 8
PAIR_TOKENS: Final = 256
SEED: Final = 5


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and its true class: 0, 1, 2 for inference; 0 or 1 for support."""

    premise: str
    hypothesis: str
    label: int


@dataclass(frozen=True, slots=True)
class Figures:
    """One folder against the reference.

    Attributes:
        rows: pairs compared.
        logit_difference_largest: of the pooled logits.
        logit_difference_mean: of the same.
        same_label: share of pairs with the reference's label.
        accuracy: share of pairs with the true label.
        batch_difference_largest: any output, a pair alone and among 31 others.
        bytes: of the weight file.
        pairs_per_cpu_second: on one thread.
    """

    rows: int
    logit_difference_largest: float
    logit_difference_mean: float
    same_label: float
    accuracy: float
    batch_difference_largest: float
    bytes: int
    pairs_per_cpu_second: float


def judged_rows(data: Path, classes: int, count: int) -> list[Judged]:
    """Return ``count`` rows for a model with so many pooled logits, from a fixed seed."""
    if classes == 1:
        texts = [text for text in read_grounding(data) if text.fold == "report"]
        found = [Judged(" ".join(text.context), text.claim, int(text.supported)) for text in texts]
    else:
        found = [Judged(row.premise, row.hypothesis, row.label) for row in read_nli(data, "dev") if row.label >= 0]
    return random.Random(SEED).sample(found, min(count, len(found)))  # noqa: S311 - a fixed sample, no secret


def labels_of(logits: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the class of each row: the largest of three logits, or whether a support logit is positive."""
    if logits.shape[1] == 1:
        return (logits[:, 0] > 0).astype(np.intp)
    return np.asarray(logits.argmax(axis=1), dtype=np.intp)


def pooled_logits(encoder: Encoder, items: Sequence[TokenIds]) -> tuple[NDArray[np.float32], float]:
    """Return the first output of each item, ``(items, classes)``, and the CPU seconds that computing took."""
    order = sorted(range(len(items)), key=lambda row: len(items[row]))
    rows: dict[int, NDArray[np.float32]] = {}
    run(encoder, [items[order[0]]])  # the first run allocates
    started = time.process_time()
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        for row, outputs in zip(batch, run(encoder, [items[row] for row in batch]), strict=True):
            rows[row] = outputs[0]
    return np.stack([rows[row] for row in range(len(items))]), time.process_time() - started


def compare(folders: Sequence[Path], rows: Sequence[Judged]) -> dict[str, Figures]:
    """Measure every folder against the first, which agrees with itself.

    Args:
        folders: of models with the same tokenizer and outputs.
        rows: what to judge.
    """
    tokenizer = Tokenizer.from_file(str(folders[0] / "tokenizer.json"))
    tokenizer.enable_truncation(PAIR_TOKENS, strategy="longest_first")
    items = [tuple(tokenizer.encode(row.premise, row.hypothesis).ids) for row in rows]
    truth = np.array([row.label for row in rows])
    reference: NDArray[np.float32] | None = None
    found = {}
    for folder in folders:
        path = folder / "1" / "model.onnx"
        encoder = encoder_of(session_of(str(path)), pad_id=1)
        logits, seconds = pooled_logits(encoder, items)
        reference = logits if reference is None else reference
        apart = np.abs(logits - reference)
        found[str(folder)] = Figures(
            rows=len(rows),
            logit_difference_largest=round(float(apart.max()), 5),
            logit_difference_mean=round(float(apart.mean()), 5),
            same_label=round(float((labels_of(logits) == labels_of(reference)).mean()), 4),
            accuracy=round(float((labels_of(logits) == truth).mean()), 4),
            batch_difference_largest=float(f"{batch_variance(encoder, items[:COMPANY]):.1e}"),
            bytes=path.stat().st_size,
            pairs_per_cpu_second=round(len(rows) / seconds, 1),
        )
    return found


def table(found: dict[str, Figures]) -> str:
    """Return the figures as Markdown."""
    head = "| model | max Δ logit | mean Δ logit | same label | accuracy | alone/batch | MB | pairs/CPU s |"
    lines = [head, "|---|---|---|---|---|---|---|---|"]
    for name, one in found.items():
        lines.append(
            f"| {name} | {one.logit_difference_largest:.4f} | {one.logit_difference_mean:.4f} | {one.same_label:.4f} | "
            f"{one.accuracy:.4f} | {one.batch_difference_largest:.0e} | {one.bytes / 1e6:.1f} | "
            f"{one.pairs_per_cpu_second:.1f} |"
        )
    return "\n".join(lines)


def record(folder: Path, figures: Figures) -> None:
    """Write the figures into the manifest entry of the folder's model, as ``metrics.variant_loss``."""
    path = folder.parent / "MANIFEST.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for model in manifest["models"]:
        if model["name"] == folder.name:
            model["metrics"]["variant_loss"] = asdict(figures)
    path.write_text(dump(manifest), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, record."""
    parser = argparse.ArgumentParser(
        prog="python -m training.variant_loss",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder of GROUNDTRAIL_EVAL_DATA")
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--record", action="store_true", help="write into each manifest but the reference's")
    parser.add_argument("folders", type=Path, nargs="+", help="the reference's folder, then the others'")
    options = parser.parse_args(arguments)
    classes = session_of(str(options.folders[0] / "1" / "model.onnx")).get_outputs()[0].shape[1]
    found = compare(options.folders, judged_rows(options.data, classes, options.rows))
    print(table(found))
    if options.record:
        for folder in options.folders[1:]:
            record(folder, found[str(folder)])


if __name__ == "__main__":
    main()
