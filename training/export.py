"""From a trained checkpoint to a folder of the model repository.

    python -m training.export --checkpoint DIR --name nli --kind entailment --repository model_repository

The graph is traced, compared with the module at many lengths and paddings, and written in the variant asked for:

* ``fp32-int8weights`` (default): weights in int8, activations in float32; batch-invariant, a fourth of the size.
* ``fp32``: everything in float32; the reference that the others are measured against.
* ``fp16``: weights and activations of the encoder in float16, heads in float32; for GPUs.
* ``int8-dynamic``: matrices computed in int8, with activation scales taken from each batch. NOT batch-invariant.

All but the default carry their variant in the model's version, so that every report names it. What is said of the
weights is read from ``training/descriptions/NAME.json`` unless ``--description`` names another file. Measure what a
variant loses with ``python -m training.variants``.
"""

import argparse
import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
import onnx
import torch
from numpy.typing import NDArray

from training.encoder import TOKENIZER, PairEncoder, load
from training.onnx_graph import TabulatedMPNet, to_onnx
from training.parity import (
    COMPANY,
    INVARIANCE_LIMIT,
    PARITY_LIMIT,
    Arrays,
    Encoder,
    ParityError,
    TokenIds,
    alone_and_together,
    batch_variance,
    encoder_of,
    largest_difference,
    mixed_lengths,
    random_items,
    session_of,
)
from training.quantise import SizeLimits, int8_dynamic, int8_weights
from training.repository_folder import Delivery, Description, write_folder

DEFAULT: Final = "fp32-int8weights"
VARIANTS: Final = (DEFAULT, "fp32", "fp16", "int8-dynamic")
INVARIANT: Final = frozenset({DEFAULT, "fp32"})
"""Variants that must score a pair alone as they do in company."""
OUTPUTS: Final[dict[str, tuple[str, ...]]] = {
    "entailment": ("logits",),
    "grounding": ("support_logit", "token_logits"),
}
PER_TOKEN: Final = frozenset({"token_logits"})
VARIANCE_TOKENS: Final = 256
"""Longest of the items among which results must not change; longer ones would only take time."""
_HEADS: Final = {"entailment": (3, False), "grounding": (1, True)}
_PARITY_LENGTHS: Final = (3, 17, 129, 512)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is exported.

    Attributes:
        model: float32, as Hugging Face computes it.
        kind: ``entailment`` or ``grounding``.
        max_tokens: longest input of the graph, special tokens included.

    Raises:
        ValueError: the model's heads are not those of the kind.
    """

    model: PairEncoder
    kind: Literal["entailment", "grounding"]
    max_tokens: int

    def __post_init__(self) -> None:
        found = (self.model.head.out_features, self.model.token_head is not None)
        if found != _HEADS[self.kind]:
            msg = f"a model for {self.kind} has (outputs, token head) {_HEADS[self.kind]}; this checkpoint has {found}"
            raise ValueError(msg)
        self.model.eval()

    @property
    def pad_id(self) -> int:
        """The token that fills a batch."""
        return int(self.model.encoder.config.pad_token_id)

    def items(self, lengths: Sequence[int]) -> list[TokenIds]:
        """Return random items of these lengths, none longer than allowed."""
        fitting = [min(length, self.max_tokens) for length in lengths]
        return random_items(fitting, int(self.model.encoder.config.vocab_size))

    def encoder(self) -> Encoder:
        """Return what the torch module computes."""

        def compute(ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Arrays:
            with torch.no_grad():
                return [output.numpy() for output in self.model(torch.from_numpy(ids), torch.from_numpy(mask))]

        return Encoder(compute, tuple(name in PER_TOKEN for name in OUTPUTS[self.kind]), self.pad_id)

    def traced(self, *, half: bool = False) -> onnx.ModelProto:
        """Return the graph; ``half`` computes the trunk in float16."""
        exported = copy.deepcopy(self.model)
        trunk = TabulatedMPNet(exported.encoder, self.max_tokens)
        exported.encoder = trunk.half() if half else trunk
        return to_onnx(exported, OUTPUTS[self.kind], self.max_tokens)


def build(
    checkpoint: Checkpoint, variant: str, limits: SizeLimits | None = None
) -> tuple[onnx.ModelProto, dict[str, float]]:
    """Trace, prove that the graph computes what the module does, and bring it into the variant's form.

    Args:
        checkpoint: what is exported.
        variant: one of ``VARIANTS``.
        limits: what is stored in int8; ``None`` = the defaults.

    Returns:
        The graph, and what was measured on random tokens.

    Raises:
        ParityError: the graph differs from the module, or a default variant's results depend on the batch.
    """
    items = checkpoint.items(_PARITY_LENGTHS)
    expected = alone_and_together(checkpoint.encoder(), items)
    exact = checkpoint.traced()
    found = alone_and_together(encoder_of(session_of(exact), checkpoint.pad_id), items)
    graph_difference = largest_difference(expected, found)
    if not graph_difference <= PARITY_LIMIT:
        raise ParityError(f"the graph's logits differ from the module's by {graph_difference:.1e}")
    result = _in_form(checkpoint, exact, variant, limits)
    encoder = encoder_of(session_of(result), checkpoint.pad_id)
    difference = largest_difference(expected, alone_and_together(encoder, items))
    variance = batch_variance(encoder, checkpoint.items(mixed_lengths(min(checkpoint.max_tokens, VARIANCE_TOKENS))))
    if variant in INVARIANT and not variance <= INVARIANCE_LIMIT:
        raise ParityError(f"results differ by {variance:.1e} between alone and among {COMPANY - 1} others")
    return result, {
        "graph_to_torch_largest_difference": float(f"{graph_difference:.1e}"),
        "variant_to_torch_largest_difference_on_random_tokens": float(f"{difference:.1e}"),
        "batch_invariance_largest_difference": float(f"{variance:.1e}"),
    }


def _in_form(
    checkpoint: Checkpoint, exact: onnx.ModelProto, variant: str, limits: SizeLimits | None
) -> onnx.ModelProto:
    if variant == "fp32":
        return exact
    if variant == "fp16":
        return checkpoint.traced(half=True)
    if variant == "int8-dynamic":
        return int8_dynamic(exact)
    return int8_weights(exact, limits)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the folder and say what was measured."""
    options = _options(arguments)
    torch.set_num_threads(options.threads)
    checkpoint = Checkpoint(load(options.checkpoint), options.kind, options.max_tokens)
    described = options.description or Path(__file__).parent / "descriptions" / f"{options.name}.json"
    description = Description.model_validate_json(described.read_bytes())
    graph, measured = build(checkpoint, options.variant)
    delivery = Delivery(
        name=options.name,
        kind=checkpoint.kind,
        model=graph,
        tokenizer=(options.checkpoint / TOKENIZER).read_text(encoding="utf-8"),
        pad_id=checkpoint.pad_id,
        max_tokens=checkpoint.max_tokens,
        description=description,
        variant="" if options.variant == DEFAULT else options.variant,
        metrics={"export": measured},
    )
    entry = write_folder(options.repository, delivery)
    size = sum(file.bytes for file in entry.files)
    print(json.dumps({"model": entry.fingerprint, "bytes": size, **measured}, indent=2))
    if (options.repository / options.name / "combiner.json").is_file():
        print("combiner.json lies in the folder; if the weights are new, fit it again: python -m training.combiner")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.export", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder that training wrote")
    parser.add_argument("--name", required=True, help="the model's folder in the repository, e.g. nli")
    parser.add_argument("--kind", choices=sorted(OUTPUTS), required=True)
    parser.add_argument("--repository", type=Path, required=True, help="folder with (or for) MANIFEST.json")
    parser.add_argument("--variant", choices=VARIANTS, default=DEFAULT)
    parser.add_argument("--max-tokens", type=int, default=512, help="longest input, special tokens included")
    parser.add_argument("--description", type=Path, help="JSON: version, title, licence, origin, training_data")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of the comparison with torch")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
