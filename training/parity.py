"""Whether an exported graph computes what the module computed, and the same alone as in company.

Texts do not matter for this: items are random tokens of many lengths, from a seed. An item is a tuple of token ids; of
an output with one value per token only the values of the item's own tokens are compared.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

TokenIds: TypeAlias = tuple[int, ...]
Arrays: TypeAlias = list[NDArray[np.float32]]
Compute: TypeAlias = Callable[[NDArray[np.int64], NDArray[np.int64]], Arrays]
"""From ids and mask, ``(batch, tokens)``, to one array per output, batch first."""

COMPANY: Final = 32
"""Items of the batch in which an item's results are compared with those it gets alone."""
INVARIANCE_LIMIT: Final = 1e-5
"""Largest difference that a default model may show between alone and in company."""
PARITY_LIMIT: Final = 1e-4
"""Largest difference of a logit between the float32 graph and the module it was traced from."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """Something that computes, and how to read its outputs.

    Attributes:
        compute: runs one padded batch.
        per_token: for each output whether it has one value per token.
        pad_id: the token that fills a batch on the right.
    """

    compute: Compute
    per_token: tuple[bool, ...]
    pad_id: int


class ParityError(Exception):
    """An exported graph does not compute what it should; the message says by how much."""


def session_of(model: onnx.ModelProto | str, *, threads: int = 1) -> onnxruntime.InferenceSession:
    """Open a model, or the file of that name, as the product does: on the CPU, all graph optimisations on."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False
    source = model if isinstance(model, str) else model.SerializeToString()
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def encoder_of(session: onnxruntime.InferenceSession, pad_id: int) -> Encoder:
    """Return what the session computes, all outputs in the graph's order."""

    def compute(ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Arrays:
        return list(session.run(None, {"input_ids": ids, "attention_mask": mask}))

    # A dimension that varies has a name; so the second one of what is said of each token.
    return Encoder(compute, tuple(isinstance(output.shape[1], str) for output in session.get_outputs()), pad_id)


def run(encoder: Encoder, items: Sequence[TokenIds]) -> list[Arrays]:
    """Compute the items as one batch, padded on the right; return each item's outputs without padding."""
    width = max(map(len, items))
    ids = np.full((len(items), width), encoder.pad_id, dtype=np.int64)
    mask = np.zeros((len(items), width), dtype=np.int64)
    for row, item in enumerate(items):
        ids[row, : len(item)] = item
        mask[row, : len(item)] = 1
    outputs = list(zip(encoder.compute(ids, mask), encoder.per_token, strict=True))
    return [
        [output[row, : len(item)] if per_token else output[row] for output, per_token in outputs]
        for row, item in enumerate(items)
    ]


def random_items(lengths: Sequence[int], vocabulary: int, seed: int = 7) -> list[TokenIds]:
    """Return one item of ordinary tokens per length; the lowest ids are left to special tokens."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sample, no secret
    least = min(1_000, vocabulary // 4)
    return [tuple(chance.randrange(least, vocabulary - 1) for _ in range(length)) for length in lengths]


def mixed_lengths(longest: int, count: int = COMPANY, seed: int = 3) -> list[int]:
    """Return lengths from 3 to ``longest`` in random order, both ends among them, short ones more often."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sample, no secret
    lengths = [3, longest, *(3 + int((longest - 3) * chance.random() ** 3) for _ in range(count - 2))]
    chance.shuffle(lengths)
    return lengths


def largest_difference(left: Sequence[Arrays], right: Sequence[Arrays]) -> float:
    """Return the largest absolute difference of any value of any output."""
    return max(
        float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max())
        for ours, theirs in zip(left, right, strict=True)
        for a, b in zip(ours, theirs, strict=True)
    )


def batch_variance(encoder: Encoder, items: Sequence[TokenIds]) -> float:
    """Return the largest difference between an item computed alone and among the others."""
    return largest_difference([run(encoder, [item])[0] for item in items], run(encoder, items))


def alone_and_together(encoder: Encoder, items: Sequence[TokenIds]) -> list[Arrays]:
    """Return what the encoder computes of each item alone, then of all of them as one padded batch."""
    return [*(run(encoder, [item])[0] for item in items), *run(encoder, items)]
