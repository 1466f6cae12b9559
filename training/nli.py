"""Train the three-way entailment encoder: ``python -m training.nli --data DIR --base DIR --work DIR``.

Student (default): the six lowest layers of all-mpnet-base-v2. Teacher: ``--layers 0-11`` on a GPU. ``--teacher DIR``
adds a teacher's soft labels. Stop it whenever you like: the same command goes on where it stopped.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from training.cleaning import clean
from training.encoder import PairEncoder, from_base, load, load_tokenizer, pad_id, save
from training.evaluation import accuracy_by_origin
from training.loop import Schedule, Trainer, batches, pad
from training.rows import NliRow, read_nli

MAX_TOKENS: Final = 160
"""Longest pair that is trained on; the few longer ones lose the end of their premise."""
MASKED: Final = -1
"""Label of a row that is only known not to be a contradiction."""
REPEATS: Final[Mapping[str, int]] = {"snli": 2, "mnli": 3}
"""How often a row of an origin stands in an epoch; what is not named stands there once."""
SHARES: Final[Mapping[str, float]] = {
    "clcd": 0.06,
    "breaking_nli": 0.4,
    "help": 0.2,
    "conjnli": 0.2,
    "cad": 0.2,
    "fever": 0.3,
}
"""Of origins that would outweigh the varied ones, the share of rows that is used, by the beginning of their name."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Rows as token ids with their labels."""

    ids: list[list[int]]
    labels: list[int]


def encode(tokenizer: Tokenizer, rows: Sequence[NliRow], max_tokens: int = MAX_TOKENS) -> Encoded:
    """Tokenise pairs; of a pair that is too long the premise loses its end."""
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    found = tokenizer.encode_batch([(row.premise, row.hypothesis) for row in rows])
    tokenizer.no_truncation()
    return Encoded([encoding.ids for encoding in found], [row.label for row in rows])


def mixed(rows: Sequence[NliRow], seed: int) -> list[NliRow]:
    """Return one epoch: each row as often as its origin is to be seen."""
    generator = torch.Generator().manual_seed(seed)
    chosen: list[NliRow] = []
    draws = torch.rand(len(rows), generator=generator).tolist()
    for row, draw in zip(rows, draws, strict=True):
        share = next((share for name, share in SHARES.items() if row.origin.startswith(name)), 1.0)
        if draw < share:
            chosen += [row] * REPEATS.get(row.origin, 1)
    return chosen


def inference_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross-entropy; a masked row asks only that contradiction be unlikely.

    Args:
        logits: ``(batch, 3)``.
        labels: ``(batch,)``: 0, 1, 2 or ``MASKED``.
    """
    known = labels != MASKED
    log_p = functional.log_softmax(logits.float(), dim=-1)
    safe = labels.clamp(min=0)
    exact = -log_p.gather(1, safe.unsqueeze(1)).squeeze(1)
    not_contradiction = -torch.logsumexp(log_p[:, :2], dim=-1)
    return torch.where(known, exact, not_contradiction).mean()


def distilled(logits: Tensor, teacher: Tensor, temperature: float = 2.0) -> Tensor:
    """Return the divergence from the teacher's softened distribution, scaled as is usual by the temperature squared."""
    ours = functional.log_softmax(logits.float() / temperature, dim=-1)
    theirs = functional.softmax(teacher.float() / temperature, dim=-1)
    return functional.kl_div(ours, theirs, reduction="batchmean") * temperature**2


def layers_of(text: str) -> list[int] | None:
    """Read ``all``, ``0-5`` or ``0,2,4``."""
    if text == "all":
        return None
    if "-" in text:
        first, last = text.split("-")
        return list(range(int(first), int(last) + 1))
    return [int(part) for part in text.split(",")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, evaluate on the development rows and save a checkpoint."""
    options = _options(arguments)
    console = Console(stderr=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    rows, dropped = clean(read_nli(options.data, "train"), read_nli(options.data, "dev"), options.seed)
    if not options.unclear:
        rows = [row for row in rows if row.clear]
    epoch = mixed(rows, options.seed)
    tokenizer = load_tokenizer(options.start or options.base)
    data = encode(tokenizer, epoch)
    model = (
        load(options.start) if options.start else from_base(options.base, layers_of(options.layers), 3, per_token=False)
    )
    tokens = sum(map(len, data.ids))
    steps = max(1, round(options.epochs * tokens * 1.08 / options.batch_tokens))
    console.print(f"{len(epoch)} rows an epoch, {tokens} tokens, {steps} steps on {device}; dropped: {dict(dropped)}")
    console.print(dict(Counter(row.origin for row in epoch)))
    schedule = Schedule(steps, options.rate, min(steps // 10 + 1, 500), seed=options.seed)
    trainer = Trainer(model, schedule, options.work, device)
    soft = _soft_labels(options.teacher, data, tokenizer, device) if options.teacher else None

    def loss_of(encoder: PairEncoder, batch: list[int]) -> Tensor:
        ids, mask = pad([data.ids[row] for row in batch], pad_id(tokenizer), device)
        (logits,) = encoder(ids, mask)
        loss = inference_loss(logits, torch.tensor([data.labels[row] for row in batch], device=device))
        if soft is not None:
            loss = 0.3 * loss + 0.7 * distilled(logits, soft[batch].to(device))
        return loss

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("nli", total=steps, completed=trainer.step)

        def watch(now: Mapping[str, float]) -> None:
            progress.update(task, completed=now["step"], description=f"nli loss {now['loss']:.3f}")
            if now["step"] % 100 == 0:
                console.print(f"step {now['step']:.0f} of {steps}: loss {now['loss']:.4f}")

        lengths = [len(ids) for ids in data.ids]
        finished = trainer.run(
            batches(lengths, options.batch_tokens, options.seed), loss_of, watch, until_s=options.minutes * 60
        )
    trained = trainer.trained()
    checkpoint = options.work / "checkpoint"
    save(trained, tokenizer, checkpoint)
    dev = read_nli(options.data, "dev")
    figures = accuracy_by_origin(trained, tokenizer, dev, device, limit=options.dev_limit)
    record = {
        "finished": finished,
        "step": trainer.step,
        "steps": steps,
        "options": _plain(options),
        "accuracy": figures,
    }
    (checkpoint / "training.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    console.print_json(data=record)


def _soft_labels(folder: Path, data: Encoded, tokenizer: Tokenizer, device: torch.device) -> Tensor:
    """Return the teacher's logits for every row, ``(rows, 3)``."""
    teacher = load(folder).to(device).eval()
    found = torch.zeros(len(data.ids), 3)
    order = sorted(range(len(data.ids)), key=lambda row: len(data.ids[row]))
    with torch.no_grad():
        for start in range(0, len(order), 64):
            rows = order[start : start + 64]
            ids, mask = pad([data.ids[row] for row in rows], pad_id(tokenizer), device)
            found[rows] = teacher(ids, mask)[0].float().cpu()
    return found


def _plain(options: argparse.Namespace) -> dict[str, object]:
    hidden = {"data", "base", "work", "start", "teacher"}  # folders of this machine say nothing
    return {name: value for name, value in vars(options).items() if name not in hidden and value != math.inf}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.nli", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/train.jsonl.gz and nli/dev.jsonl.gz")
    parser.add_argument("--base", type=Path, help="folder of all-mpnet-base-v2")
    parser.add_argument("--start", type=Path, help="checkpoint to go on from, with new steps, in place of --base")
    parser.add_argument("--work", type=Path, required=True, help="where state and checkpoint are kept")
    parser.add_argument("--layers", default="0-5", help="layers of the base to keep: all, 0-5 or 0,2,4 (default 0-5)")
    parser.add_argument("--teacher", type=Path, help="checkpoint of a teacher whose soft labels are learnt too")
    parser.add_argument("--unclear", action="store_true", help="also rows whose origin states no licence")
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=6e-5, help="peak learning rate")
    parser.add_argument("--batch-tokens", type=int, default=1536, help="tokens of a batch, padding included")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so many minutes; go on later")
    parser.add_argument("--dev-limit", type=int, default=None, help="development rows per origin to evaluate on")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; 0 = PyTorch's choice")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if (options.base is None) == (options.start is None):
        parser.error("name either --base (all-mpnet-base-v2) or --start (a checkpoint)")
    return options


if __name__ == "__main__":
    main()
