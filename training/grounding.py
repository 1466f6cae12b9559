"""Train the grounding encoder: ``python -m training.grounding --data DIR --start NLI_CHECKPOINT --work DIR``.

It goes on from the trained entailment encoder under two new heads: is the statement supported by the window, and
which of its tokens are not. The spans come from synthetic contrasts alone; rows whose spans nobody marked teach only
the first head. Real rows are the fold ``fit``; ``calibrate`` and ``report`` are never seen here.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from tokenizers import Encoding, Tokenizer
from torch import Tensor
from torch.nn import functional

from services.common.grounding.statements import pieces
from services.common.grounding.windows import WindowSettings, premises
from training.cleaning import Limits, clean
from training.encoder import PairEncoder, load, load_tokenizer, pad_id, save, with_heads
from training.grounding_rows import Sizes, grounding_rows, real_rows
from training.loop import Schedule, Trainer, batches, pad
from training.rows import GroundingRow, read_grounding, read_nli

MAX_TOKENS: Final = 256
"""Longest pair; a window and a statement are shorter but for a few whose window loses its end."""
TOKEN_WEIGHT: Final = 0.5
"""What the tokens' loss counts beside the verdict's."""
PASSAGE_WORDS: Final = 200
"""Longest premise of an inference row that is taken; those of FEVER are passages."""
UNKNOWN: Final = -1.0
"""Label of a token that is not the claim's, or of a claim whose spans nobody marked."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a claim beside its window, as the encoder reads it: ids and a label per token."""

    ids: list[int]
    tokens: list[float]


@dataclass(frozen=True, slots=True)
class Example:
    """One row: its claim in pieces, and the verdict on all of it (1 supported, 0 not)."""

    parts: tuple[Part, ...]
    supported: float

    @property
    def size(self) -> int:
        """How many tokens it takes in a batch, where its pieces are padded to the longest."""
        return len(self.parts) * max(len(part.ids) for part in self.parts)


def examples(tokenizer: Tokenizer, rows: Sequence[GroundingRow], windows: WindowSettings) -> list[Example]:
    """Cut claims into pieces and premises into windows as at run time; the claims are statements already."""

    def count(texts: Sequence[str]) -> list[int]:
        return [len(found.ids) for found in tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    texts: list[tuple[str, str]] = []
    about: list[tuple[int, int]] = []
    for number, row in enumerate(rows):
        cut = pieces(row.claim)
        query = row.query if len(cut) == 1 else " ".join(filter(None, (row.query, row.claim)))
        for start, end in cut:
            read = premises([row.premise], row.claim[start:end], query, count, windows)
            if read:
                texts.append((read[0].text, row.claim[start:end]))
                about.append((number, start))
    tokenizer.enable_truncation(MAX_TOKENS, strategy="only_first")
    encodings = tokenizer.encode_batch(texts)
    tokenizer.no_truncation()
    parts: dict[int, list[Part]] = {}
    for found, (number, start) in zip(encodings, about, strict=True):
        parts.setdefault(number, []).append(Part(found.ids, _token_labels(found, rows[number], start)))
    return [Example(tuple(there), float(rows[number].supported)) for number, there in parts.items()]


def _token_labels(found: Encoding, row: GroundingRow, start: int) -> list[float]:
    labels = [UNKNOWN] * len(found.ids)
    if row.spans is None:
        return labels
    spans = [(first - start, stop - start) for first, stop in row.spans]
    for index, (side, (first, last)) in enumerate(zip(found.sequence_ids, found.offsets, strict=True)):
        if side == 1 and last > first:
            labels[index] = float(any(first < stop and last > begin for begin, stop in spans))
    return labels


def weakest(logits: Tensor, owners: Tensor, rows: int) -> Tensor:
    """Return each row's lowest logit, ``(rows,)``: the piece that is supported least speaks for the whole claim.

    Args:
        logits: ``(parts,)``.
        owners: ``(parts,)``: whose piece each is, from 0 to ``rows`` - 1; every row has one.
        rows: how many rows there are.
    """
    return torch.full((rows,), math.inf, device=logits.device).scatter_reduce(0, owners, logits, "amin")


def grounding_loss(logits: Tensor, token_logits: Tensor, supported: Tensor, tokens: Tensor) -> Tensor:
    """Return the verdict's cross-entropy plus ``TOKEN_WEIGHT`` times the labelled tokens'.

    Args:
        logits: ``(rows,)``.
        token_logits: ``(parts, tokens)``.
        supported: ``(rows,)``, 0 or 1.
        tokens: ``(parts, tokens)``: 0, 1 (not supported) or ``UNKNOWN``.
    """
    verdict = functional.binary_cross_entropy_with_logits(logits.float(), supported)
    known = tokens >= 0
    if not bool(known.any()):
        return verdict
    marked = functional.binary_cross_entropy_with_logits(token_logits.float()[known], tokens[known])
    return verdict + TOKEN_WEIGHT * marked


def padded(rows: Iterable[list[float]], width: int) -> Tensor:
    """Return token labels filled up to ``width`` with ``UNKNOWN``, ``(parts, width)``."""
    return torch.tensor([row + [UNKNOWN] * (width - len(row)) for row in rows])


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and save a checkpoint; what it is worth is measured by ``training.combiner`` and ``make eval-models``."""
    options = _options(arguments)
    console = Console(stderr=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    tokenizer = load_tokenizer(options.start)
    data = examples(tokenizer, rows_to_learn(options, console), WindowSettings(options.premise_tokens, 1))
    model = with_heads(load(options.start), 1, per_token=True)
    lengths = [example.size for example in data]
    steps = max(1, round(options.epochs * sum(lengths) * 1.08 / options.batch_tokens))
    console.print(f"{len(data)} rows, {sum(lengths)} tokens, {steps} steps on {device}")
    trainer = Trainer(
        model, Schedule(steps, options.rate, min(steps // 10 + 1, 300), seed=options.seed), options.work, device
    )

    def loss_of(encoder: PairEncoder, batch: list[int]) -> Tensor:
        chosen = [data[row] for row in batch]
        parts = [part for example in chosen for part in example.parts]
        owners = torch.tensor([row for row, example in enumerate(chosen) for _ in example.parts], device=device)
        ids, mask = pad([part.ids for part in parts], pad_id(tokenizer), device)
        logits, token_logits = encoder(ids, mask)
        supported = torch.tensor([example.supported for example in chosen], device=device)
        tokens = padded([part.tokens for part in parts], ids.shape[1]).to(device)
        verdicts = weakest(logits.float().squeeze(1), owners, len(chosen))
        return grounding_loss(verdicts, token_logits, supported, tokens)

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("grounding", total=steps, completed=trainer.step)

        def watch(now: Mapping[str, float]) -> None:
            progress.update(task, completed=now["step"], description=f"grounding loss {now['loss']:.3f}")
            if now["step"] % 100 == 0:
                console.print(f"step {now['step']:.0f} of {steps}: loss {now['loss']:.4f}")

        finished = trainer.run(
            batches(lengths, options.batch_tokens, options.seed), loss_of, watch, until_s=options.minutes * 60
        )
    checkpoint = options.work / "checkpoint"
    save(trainer.trained(), tokenizer, checkpoint)
    record = {"finished": finished, "step": trainer.step, "steps": steps, "rows": len(data), "options": _plain(options)}
    (checkpoint / "training.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    console.print_json(data=record)


def rows_to_learn(options: argparse.Namespace, console: Console) -> list[GroundingRow]:
    """Return the mix: entailment rows of clear licence, the fold ``fit``, contrasts, questions, long premises."""
    data, seed = options.data, options.seed
    entailment, _ = clean(read_nli(data, "train"), read_nli(data, "dev"), seed, Limits(premise_words=PASSAGE_WORDS))
    fit = [row for row in read_grounding(data) if row.fold == "fit"]
    rows = grounding_rows([row for row in entailment if row.clear], fit, seed, Sizes.scaled(options.share))
    rows += real_rows(fit) * (options.fit_repeats - 1)
    console.print(dict(Counter((row.origin.split("/")[0], row.supported) for row in rows)))
    return rows


def _plain(options: argparse.Namespace) -> dict[str, object]:
    hidden = {"data", "start", "work"}  # folders of this machine say nothing
    return {name: value for name, value in vars(options).items() if name not in hidden and value != math.inf}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.grounding", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/ and grounding/dev.jsonl.gz")
    parser.add_argument("--start", type=Path, required=True, help="checkpoint of the trained entailment encoder")
    parser.add_argument("--work", type=Path, required=True, help="where state and checkpoint are kept")
    parser.add_argument("--share", type=float, default=1.0, help="of the rows that are made, beside the real ones")
    parser.add_argument("--fit-repeats", type=int, default=2, help="how often a real row stands in an epoch")
    parser.add_argument("--epochs", type=float, default=2.0)
    parser.add_argument("--rate", type=float, default=4e-5, help="peak learning rate")
    parser.add_argument("--batch-tokens", type=int, default=2048, help="tokens of a batch, padding included")
    parser.add_argument("--premise-tokens", type=int, default=160, help="longest window")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so many minutes; go on later")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; 0 = PyTorch's choice")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
