"""The forms in which a graph can be delivered, and the proof that each computes what the module does.

* ``fp32-int8weights`` (default): weights in int8, activations in float32; batch-invariant, a fourth of the size.
* ``fp32-packed``: weights in 5.6 bits, activations in float32; batch-invariant, two thirds of the default's size.
* ``fp32``: everything in float32; the reference that the others are measured against.
* ``fp16``: weights and activations of the encoder in float16; for GPUs.
* ``int8-dynamic``: matrices computed in int8, with activation scales taken from each batch. NOT batch-invariant.

All but the default carry their name in the model's version, so that every report says which one judged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import onnx

from training.parity import (
    COMPANY,
    INVARIANCE_LIMIT,
    PARITY_LIMIT,
    Encoder,
    ParityError,
    TokenIds,
    alone_and_together,
    batch_variance,
    encoder_of,
    largest_difference,
    session_of,
)
from training.quantise import SizeLimits, int8_dynamic, int8_weights
from training.row_products import by_row

DEFAULT: Final = "fp32-int8weights"
PACKED: Final = "fp32-packed"
VARIANTS: Final = (DEFAULT, PACKED, "fp32", "fp16", "int8-dynamic")
INVARIANT: Final = frozenset({DEFAULT, PACKED, "fp32"})
"""Variants that must score a pair alone as they do in company."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Items that an export is checked with.

    Attributes:
        parity: of several lengths, the longest allowed one among them.
        company: ``COMPANY`` items of other lengths each.
    """

    parity: Sequence[TokenIds]
    company: Sequence[TokenIds]


class Source(Protocol):
    """A torch module that can be exported."""

    @property
    def pad_id(self) -> int:
        """The token that fills a batch."""
        ...

    def encoder(self) -> Encoder:
        """Return what the module computes in float32, as its makers wrote it."""
        ...

    def traced(self, *, half: bool = False) -> onnx.ModelProto:
        """Return its graph; ``half`` computes the encoder in float16."""
        ...

    def sample(self) -> Sample:
        """Return what to check it with."""
        ...


def version_suffix(variant: str) -> str:
    """Return what a variant adds to a model's version: nothing for the default."""
    return "" if variant == DEFAULT else variant


def build(source: Source, variant: str, limits: SizeLimits | None = None) -> tuple[onnx.ModelProto, dict[str, float]]:
    """Trace, prove that the graph computes what the module does, and bring it into the variant's form.

    Args:
        source: what is exported.
        variant: one of ``VARIANTS``.
        limits: what is stored in int8; ``None`` = the defaults.

    Returns:
        The graph, and what was measured on the sample.

    Raises:
        ParityError: the graph differs from the module, or a default variant's results depend on the batch.
    """
    sample = source.sample()
    expected = alone_and_together(source.encoder(), sample.parity)
    exact = source.traced()
    found = alone_and_together(encoder_of(session_of(exact), source.pad_id), sample.parity)
    graph_difference = largest_difference(expected, found)
    if not graph_difference <= PARITY_LIMIT:  # NaN is refused too
        raise ParityError(f"the graph's logits differ from the module's by {graph_difference:.1e}")
    result = by_row(_in_form(source, exact, variant, limits))
    encoder = encoder_of(session_of(result), source.pad_id)
    difference = largest_difference(expected, alone_and_together(encoder, sample.parity))
    variance = batch_variance(encoder, sample.company)
    if variant in INVARIANT and not variance <= INVARIANCE_LIMIT:
        raise ParityError(f"results differ by {variance:.1e} between alone and among {COMPANY - 1} others")
    return result, {
        "graph_to_torch_largest_difference": float(f"{graph_difference:.1e}"),
        "variant_to_torch_largest_difference": float(f"{difference:.1e}"),
        "batch_invariance_largest_difference": float(f"{variance:.1e}"),
    }


def _in_form(source: Source, exact: onnx.ModelProto, variant: str, limits: SizeLimits | None) -> onnx.ModelProto:
    if variant == "fp32":
        return exact
    if variant == "fp16":
        return source.traced(half=True)
    if variant == "int8-dynamic":
        return int8_dynamic(exact)
    if variant == PACKED:
        limits = replace(limits or SizeLimits(), packed=True)
    return int8_weights(exact, limits)
