"""Train one trunk for both tasks: ``python -m training.joint --data DIR --start NLI_CHECKPOINT --work DIR``.

It goes on from a trained entailment encoder, or begins with ``--base DIR --layers all`` from the base. Grounding steps
teach support and unsupported tokens, on rows of the public sets, on the fold ``fit`` of the development set and on
contrasts; every ``--inference-every``-th step is one of entailment, so that the three-way head keeps what it knows.
With ``--twins`` so many steps of each such round are of the corpus of our own, a right row and a wrong one side by side
that differ in what decides and in nothing else: what must be learnt there is the difference (ADR 0209).
With ``--teacher`` a label of support counts half, and half what another joint encoder says of the row.
Stop it whenever you like: the same command goes on where it stopped.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from random import Random
from typing import Final

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from services.common.grounding.windows import WindowSettings
from training.cleaning import Limits, clean
from training.encoder import (
    JOINT_OUTPUTS,
    SUPPORT,
    PairEncoder,
    from_base,
    load,
    load_tokenizer,
    pad_id,
    save,
    with_joint_heads,
)
from training.grounding import PASSAGE_WORDS, Example, Part, examples, grounding_loss, padded, weakest
from training.grounding_rows import Sizes, grounding_rows
from training.loop import PRECISIONS, Schedule, Trainer, batches, pad
from training.nli import Encoded, encode, inference_loss, layers_of, mixed
from training.own_corpus import ANSWERS, CORPUS, Twin, own_rows, own_twins
from training.public_rows import as_grounding, chosen
from training.rows import GroundingRow, NliRow, read_grounding, read_more, read_nli

PREPARED: Final = "prepared.pt"
"""Rows as token ids: cutting windows takes minutes, and a run is taken up many times."""
CHUNK: Final = 2_000
TEACHER_SHARE: Final = 0.5
ENTAILED_WEIGHT: Final = 0.5
"""What it counts in a step of twins whether the three-way head calls the right claim entailed, the wrong one not."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is learnt from, as token ids."""

    grounding: list[Example]
    inference: Encoded
    twins: tuple[tuple[Example, Example], ...] = ()


class Task(Enum):
    """What a step teaches."""

    GROUNDING = "grounding"
    INFERENCE = "inference"
    TWINS = "twins"


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one task, by their numbers; a row of ``TWINS`` is two claims."""

    task: Task
    rows: tuple[int, ...]

    def __len__(self) -> int:
        """How many rows."""
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Teacher:
    """Another joint encoder, whose word counts beside the labels.

    Attributes:
        model: not trained here.
        share: what its probability of support counts of the whole; the label counts the rest. 0-1.
    """

    model: PairEncoder
    share: float

    @classmethod
    def load(cls, folder: Path, share: float, device: torch.device) -> "Teacher":
        """Return the encoder of a checkpoint.

        Raises:
            ValueError: it has not the heads of a joint encoder.
        """
        model = load(folder).to(device).eval()
        if (found := model.head.out_features) != JOINT_OUTPUTS:
            raise ValueError(f"{folder} has {found} outputs; a teacher is a joint encoder and has {JOINT_OUTPUTS}")
        return cls(model, share)

    def blended(self, supported: Tensor, inputs: tuple[Tensor, Tensor], owners: Tensor) -> Tensor:
        """Return the label of each row, ``(rows,)``, mixed with what the teacher says of its parts."""
        with torch.no_grad():
            logits, _ = self.model(*inputs)
        said = torch.sigmoid(weakest(logits[:, SUPPORT].float(), owners, len(supported)))
        return (1.0 - self.share) * supported + self.share * said


def rows_to_learn(options: argparse.Namespace, console: Console) -> tuple[list[GroundingRow], list[NliRow]]:
    """Return grounding rows (public sets, fold ``fit``, contrasts) and the rows of inference, clear licences alone."""
    data, seed = options.data, options.seed
    dev = read_nli(data, "dev")
    train = read_nli(data, "train")
    passages, _ = clean(train, dev, seed, Limits(premise_words=PASSAGE_WORDS))
    fit = [row for row in read_grounding(data) if row.fold == "fit"]
    made = grounding_rows([row for row in passages if row.clear], fit, seed, Sizes.scaled(options.share))
    public = [as_grounding(row) for row in chosen(read_more(data), Random(f"{seed}:public"))]  # noqa: S311
    Random(f"{seed}:cut").shuffle(public)  # noqa: S311 - not for secrets
    own = own_rows() * options.own_times
    grounding = [*made, *public[: options.public], *own]
    Random(f"{seed}:joint").shuffle(grounding)  # noqa: S311 - not for secrets
    pairs, _ = clean(train, dev, seed)
    console.print(dict(Counter(row.origin.split("/")[0] for row in grounding)))
    return grounding, mixed([row for row in pairs if row.clear], seed)


def prepared(options: argparse.Namespace, tokenizer: Tokenizer, console: Console) -> Prepared:
    """Return the rows as token ids, from the work folder where they were prepared before."""
    path = options.work / PREPARED
    if path.is_file():
        kept = torch.load(path, weights_only=True)
        made = [Example(tuple(Part(*part) for part in parts), supported) for parts, supported in kept["grounding"]]
        return Prepared(made, Encoded(*kept["inference"]))
    rows, pairs = rows_to_learn(options, console)
    windows = WindowSettings(options.premise_tokens, 1)
    found: list[Example] = []
    for start in range(0, len(rows), CHUNK):
        found += examples(tokenizer, rows[start : start + CHUNK], windows)
        console.print(f"prepared {min(start + CHUNK, len(rows))} of {len(rows)} rows")
    inference = encode(tokenizer, pairs)
    plain = [([(part.ids, part.tokens) for part in example.parts], example.supported) for example in found]
    options.work.mkdir(parents=True, exist_ok=True)
    torch.save({"grounding": plain, "inference": (inference.ids, inference.labels)}, path)
    return Prepared(found, inference)


def twin_examples(
    tokenizer: Tokenizer, twins: Sequence[Twin], windows: WindowSettings
) -> tuple[tuple[Example, Example], ...]:
    """Return twins as token ids, the supported one first; without those that are read alike, since nothing tells them.

    An answer and itself are read alike where the window holds nothing of what the passages differ in.

    Raises:
        ValueError: a row has no passage to read.
    """
    found = examples(tokenizer, [row for twin in twins for row in twin], windows)
    if len(found) != 2 * len(twins):
        raise ValueError(f"of {2 * len(twins)} rows of twins {len(found)} have a passage to read; all must have one")
    pairs = zip(found[::2], found[1::2], strict=True)
    return tuple((one, other) for one, other in pairs if _ids(one) != _ids(other))


def _ids(example: Example) -> list[list[int]]:
    return [part.ids for part in example.parts]


def interleaved(streams: Mapping[Task, Iterator[list[int]]], every: int, twins: int = 0) -> Iterator[Batch]:
    """Yield rounds of ``every`` batches: first ``twins`` of twins, the last of inference, of grounding between."""
    rhythm = [*[Task.TWINS] * twins, *[Task.GROUNDING] * (every - 1 - twins), Task.INFERENCE]
    while True:
        for task in rhythm:
            yield Batch(task, tuple(next(streams[task])))


def joint_loss(
    model: PairEncoder,
    data: Prepared,
    batch: Batch,
    pad_with: int,
    device: torch.device,
    teacher: Teacher | None = None,
) -> Tensor:
    """Return the loss of a batch of one task; a teacher has a say in the support of grounding rows alone."""
    if batch.task is Task.INFERENCE:
        ids, mask = pad([data.inference.ids[row] for row in batch.rows], pad_with, device)
        logits, _ = model(ids, mask)
        labels = torch.tensor([data.inference.labels[row] for row in batch.rows])
        return inference_loss(logits[:, :SUPPORT], labels.to(device))
    if batch.task is Task.TWINS:
        there = [example for row in batch.rows for example in data.twins[row]]
    else:
        there = [data.grounding[row] for row in batch.rows]
    parts = [part for example in there for part in example.parts]
    owners = torch.tensor([row for row, example in enumerate(there) for _ in example.parts], device=device)
    ids, mask = pad([part.ids for part in parts], pad_with, device)
    logits, token_logits = model(ids, mask)
    supported = torch.tensor([example.supported for example in there], device=device)
    if teacher is not None and batch.task is Task.GROUNDING:
        supported = teacher.blended(supported, (ids, mask), owners)
    tokens = padded([part.tokens for part in parts], ids.shape[1]).to(device)
    verdicts = weakest(logits[:, SUPPORT].float(), owners, len(there))
    loss = grounding_loss(verdicts, token_logits, supported, tokens)
    if batch.task is Task.GROUNDING:
        return loss
    borne_out = weakest(entailed(logits[:, :SUPPORT].float()), owners, len(there))
    return loss + twin_loss(verdicts) + ENTAILED_WEIGHT * binary_cross_entropy_with_logits(borne_out, supported)


def twin_loss(verdicts: Tensor) -> Tensor:
    """Return how far the supported claims fail to lie above their twins: the mean logistic loss of the differences.

    Args:
        verdicts: logits ``(2 n,)``, of each twin the supported claim first.
    """
    return softplus(verdicts[1::2] - verdicts[::2]).mean()


def entailed(logits: Tensor) -> Tensor:
    """Return the logit of entailment against neutral and contradiction together, ``(parts,)``."""
    return logits[:, 0] - logits[:, 1:].logsumexp(dim=1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and save a checkpoint with a joint head."""
    options = _options(arguments)
    console = Console(stderr=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    tokenizer = load_tokenizer(options.start or options.base)
    data = prepared(options, tokenizer, console)
    lengths = [example.size for example in data.grounding]
    own = max(1, round(options.epochs * sum(lengths) * 1.08 / options.batch_tokens))
    if options.twins:
        cut = WindowSettings(options.twin_tokens, 1)
        data = replace(data, twins=twin_examples(tokenizer, own_twins(CORPUS) + own_twins(ANSWERS), cut))
        console.print(f"{len(data.twins)} twins")
    steps = round(own * options.inference_every / (options.inference_every - 1 - options.twins))
    console.print(f"{len(lengths)} rows, {sum(lengths)} tokens, {steps} steps on {device}")
    schedule = Schedule(steps, options.rate, min(steps // 10 + 1, 300), seed=options.seed)
    begun = (
        load(options.start) if options.start else from_base(options.base, layers_of(options.layers), 3, per_token=False)
    )
    trainer = Trainer(with_joint_heads(begun), schedule, options.work, device, PRECISIONS[options.precision])
    teacher = Teacher.load(options.teacher, TEACHER_SHARE, device) if options.teacher else None
    sizes = {
        Task.GROUNDING: lengths,
        Task.INFERENCE: [len(ids) for ids in data.inference.ids],
        Task.TWINS: [2 * max(one.size, other.size) for one, other in data.twins],
    }
    streams = {
        task: batches(there, options.batch_tokens, options.seed + more)
        for more, (task, there) in enumerate(sizes.items())
    }
    order = interleaved(streams, options.inference_every, options.twins)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("joint", total=steps, completed=trainer.step)

        def watch(now: Mapping[str, float]) -> None:
            progress.update(task, completed=now["step"], description=f"joint loss {now['loss']:.3f}")
            if now["step"] % 100 == 0:
                console.print(f"step {now['step']:.0f} of {steps}: loss {now['loss']:.4f}")

        def loss_of(encoder: PairEncoder, batch: Batch) -> Tensor:
            return joint_loss(encoder, data, batch, pad_id(tokenizer), device, teacher)

        finished = trainer.run(order, loss_of, watch, until_s=options.minutes * 60)
    checkpoint = options.work / "checkpoint"
    save(trainer.trained(), tokenizer, checkpoint)
    record = {
        "finished": finished,
        "step": trainer.step,
        "steps": steps,
        "rows": len(lengths),
        "options": {name: value for name, value in vars(options).items() if name not in _FOLDERS and value != math.inf},
    }
    (checkpoint / "training.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    console.print_json(data=record)


_FOLDERS: Final = frozenset({"data", "start", "base", "work", "teacher"})  # folders of this machine say nothing


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.joint", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/ and grounding/")
    begins = parser.add_mutually_exclusive_group(required=True)
    begins.add_argument("--start", type=Path, help="checkpoint of a trained encoder of entailment")
    begins.add_argument("--base", type=Path, help="folder of all-mpnet-base-v2: begin without what was learnt before")
    parser.add_argument("--layers", default="all", help="of the base: all, 0-5 or 0,2,4")
    parser.add_argument("--teacher", type=Path, help="checkpoint of a joint encoder that has a say in support")
    parser.add_argument("--work", type=Path, required=True, help="where rows, state and checkpoint are kept")
    parser.add_argument("--share", type=float, default=0.45, help="of the usual number of rows that are made")
    parser.add_argument("--public", type=int, default=40_000, help="most rows of the public sets")
    parser.add_argument("--own-times", type=int, default=2, help="how often the corpus of our own is gone through")
    parser.add_argument("--epochs", type=float, default=1.0, help="over the grounding rows")
    parser.add_argument("--inference-every", type=int, default=5, help="each so-manieth step is one of entailment")
    parser.add_argument("--twins", type=int, default=0, help="steps of each such round that are of twins")
    parser.add_argument("--rate", type=float, default=3e-5, help="peak learning rate")
    parser.add_argument("--batch-tokens", type=int, default=2048, help="tokens of a batch, padding included")
    parser.add_argument("--premise-tokens", type=int, default=144, help="longest window")
    parser.add_argument("--twin-tokens", type=int, default=112, help="longest window of twins")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so many minutes; go on later")
    parser.add_argument(
        "--precision", choices=sorted(PRECISIONS), default="bfloat16", help="float32 is faster on CPUs without AMX"
    )
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; 0 = PyTorch's choice")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if not 0 <= options.twins <= options.inference_every - 2:
        parser.error("a round has a step of grounding and one of entailment: --inference-every is at least 2 + --twins")
    return options


if __name__ == "__main__":
    main()
