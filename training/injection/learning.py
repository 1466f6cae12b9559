"""Fine-tuning the encoder that reads a text's blocks: a logit each, a text is its most suspicious one (ADR 0227)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from training.encoder import TOKENIZER, PairEncoder, from_base
from training.injection.blocks import Blocks
from training.injection.measure import Values
from training.injection.rows import part_of
from training.loop import PRECISIONS, Schedule, Trainer, batches, pad

MAX_TOKENS: Final = 256
"""Longest piece that is trained on, and that the model takes; of a longer block its beginning is learnt from."""
WEIGHTS: Final[Mapping[str, float]] = {"styled": 1.0, "paired": 0.5}
"""How much a block of a part of the data counts in a batch; what is not named counts ``OTHER``."""
OTHER: Final = 0.4
_READ_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the encoder learns.

    Attributes:
        epochs: how often each block is seen.
        rate: highest learning rate.
        tokens: of a batch, padding included.
        warm_up: share of the steps until the highest rate.
        seed: of everything random.
        precision: of the arithmetic, a name of ``training.loop.PRECISIONS``.
    """

    epochs: int = 3
    rate: float = 1e-4
    tokens: int = 2_048
    warm_up: float = 0.1
    seed: int = 7
    precision: str = "bfloat16"


@dataclass(frozen=True, slots=True)
class Learnt:
    """What is learnt from.

    Attributes:
        ids: token ids of each block, special tokens included.
        labels: 1 = of an attack.
        weights: how much each counts.
    """

    ids: list[list[int]]
    labels: list[int]
    weights: list[float]


def read_tokenizer(base: Path) -> Tokenizer:
    """Return the base's tokenizer; it cuts a text off at ``MAX_TOKENS`` and pads nothing."""
    tokenizer: Tokenizer = Tokenizer.from_file(str(base / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def encoded(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Return the token ids of each text."""
    return [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]


def learnt_of(blocks: Blocks, ids: Sequence[list[int]], among: Sequence[bool]) -> Learnt:
    """Return the blocks of some rows that are learnt from.

    Args:
        blocks: all.
        ids: token ids of each block.
        among: of each row whether it is learnt from.
    """
    kept = [place for place, home in enumerate(blocks.homes) if among[home] and blocks.learnt[place] >= 0]
    parts = [part_of(row) for row in blocks.rows]
    return Learnt(
        [ids[place] for place in kept],
        [int(blocks.learnt[place]) for place in kept],
        [WEIGHTS.get(parts[blocks.homes[place]], OTHER) for place in kept],
    )


def learn(
    base: Path, data: Learnt, recipe: Recipe, folder: Path, watch: Callable[[Mapping[str, float]], None]
) -> PairEncoder:
    """Return the base fine-tuned on the data; a state in the folder is taken up.

    Args:
        base: folder of a Hugging Face encoder.
        data: blocks.
        recipe: how.
        folder: keeps the state every few minutes.
        watch: is told of each step.
    """
    torch.manual_seed(recipe.seed)
    model = from_base(base, None, 1, per_token=False)
    lengths = [len(each) for each in data.ids]
    steps = recipe.epochs * _batches_of_epoch(lengths, recipe)
    schedule = Schedule(steps, recipe.rate, int(recipe.warm_up * steps), seed=recipe.seed)
    trainer = Trainer(model, schedule, folder, torch.device("cpu"), PRECISIONS[recipe.precision])
    trainer.run(_rows(lengths, recipe), _loss_on(data, int(model.encoder.config.pad_token_id)), watch)
    return trainer.trained()


def logits_of(model: PairEncoder, ids: Sequence[list[int]]) -> Values:
    """Return the model's logit of each text, in float32."""
    model.eval()
    pad_id = int(model.encoder.config.pad_token_id)
    found = np.zeros(len(ids))
    order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
    with torch.no_grad():
        for start in range(0, len(order), _READ_AT_ONCE):
            places = order[start : start + _READ_AT_ONCE]
            (logits,) = model(*pad([ids[place] for place in places], pad_id, torch.device("cpu")))
            found[places] = logits.squeeze(-1).double().numpy()
    return found


def _rows(lengths: Sequence[int], recipe: Recipe) -> Iterator[list[int]]:
    return batches(lengths, recipe.tokens, recipe.seed)


def _batches_of_epoch(lengths: Sequence[int], recipe: Recipe) -> int:
    """Return the batches until every row was seen once."""
    seen = 0
    for count, batch in enumerate(_rows(lengths, recipe), start=1):
        seen += len(batch)
        if seen >= len(lengths):
            return count
    raise AssertionError("batches have no end")


def _loss_on(data: Learnt, pad_id: int) -> Callable[[PairEncoder, list[int]], Tensor]:
    def loss(model: PairEncoder, batch: list[int]) -> Tensor:
        (logits,) = model(*pad([data.ids[row] for row in batch], pad_id, torch.device("cpu")))
        labels = torch.tensor([float(data.labels[row]) for row in batch])
        weights = torch.tensor([data.weights[row] for row in batch])
        each = functional.binary_cross_entropy_with_logits(logits.squeeze(-1).float(), labels, reduction="none")
        return (each * weights).sum() / weights.sum()

    return loss
