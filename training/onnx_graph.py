"""From a torch module to an ONNX graph that ONNX Runtime, Triton and TensorRT compute alike.

``torch.onnx`` traces the module with batch and length left open. An MPNet trunk is replaced for the trace by one that
computes the same from three differences in form (ADR 0036):

* The bias of relative positions is looked up by distance. Hugging Face computes the bucket of a distance with a float
  logarithm and truncates it; at bucket borders a last bit of ``log`` decides, and that differs between devices.
* Positions count from the left. Inputs are padded on the right, so that real tokens get the positions that Hugging Face
  derives from the padding.
* Bias and mask are added once and not in every layer.

Notes of the exporter (source lines, folders of this machine) are removed.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

OPSET: Final = 21
"""What ONNX Runtime 1.19 of Triton 24.10 knows and every later one."""
MASKED_SCORE: Final = -10_000.0
"""Added to the scores of padding: within float16, and its exponential is exactly 0 beside any real score."""
LEAST_TOKENS: Final = 2
INPUTS: Final = ("input_ids", "attention_mask")


@dataclass(frozen=True, slots=True)
class States:
    """What a trunk returns."""

    last_hidden_state: Tensor
    """``(batch, tokens, width)``."""


class TabulatedMPNet(nn.Module):
    """An MPNet trunk in the form that is exported; shares the weights of the one that it is made from.

    Args:
        trunk: a Hugging Face ``MPNetModel`` with eager attention.
        max_tokens: longest input, special tokens included.

    Raises:
        ValueError: the trunk has no positions for so many tokens.
    """

    table: Tensor
    positions: Tensor

    def __init__(self, trunk: nn.Module, max_tokens: int) -> None:
        super().__init__()
        first = trunk.embeddings.padding_idx + 1
        positions = trunk.embeddings.position_embeddings.weight.detach()
        if not LEAST_TOKENS <= max_tokens <= len(positions) - first:
            msg = f"max_tokens must lie between {LEAST_TOKENS} and {len(positions) - first}, not be {max_tokens}"
            raise ValueError(msg)
        self.words = trunk.embeddings.word_embeddings
        self.normalise = trunk.embeddings.LayerNorm
        self.layers = trunk.encoder.layer
        self.max_tokens = max_tokens
        distances = torch.arange(1 - max_tokens, max_tokens)
        buckets = trunk.encoder.relative_position_bucket(
            distances, num_buckets=trunk.config.relative_attention_num_buckets
        )
        self.register_buffer("table", trunk.encoder.relative_attention_bias(buckets).detach())
        self.register_buffer("positions", positions[first : first + max_tokens].clone())

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> States:
        """Return the last layer's states; the mask is 1 for tokens and 0 for padding, which stands on the right."""
        length = input_ids.shape[1]
        states = self.normalise(self.words(input_ids) + self.positions[:length])
        place = torch.arange(length, device=input_ids.device)
        distance = place.unsqueeze(0) - place.unsqueeze(1) + (self.max_tokens - 1)
        bias = functional.embedding(distance, self.table).permute(2, 0, 1).unsqueeze(0)
        masked = (1 - attention_mask[:, None, None, :].to(bias.dtype)) * MASKED_SCORE
        scores = bias + masked
        for layer in self.layers:
            states = layer(states, position_bias=scores)[0]
        return States(states.float())


def to_onnx(module: nn.Module, outputs: Sequence[str], max_tokens: int) -> onnx.ModelProto:
    """Trace a module that takes ``input_ids`` and ``attention_mask`` (int64) and returns a tuple of tensors.

    Args:
        module: in evaluation mode.
        outputs: names of the tensors that it returns, in order.
        max_tokens: longest input; the graph takes any batch and any length up to it.
    """
    example = torch.full((2, 7), 5, dtype=torch.int64)
    axes = {0: torch.export.Dim("batch", min=1, max=65_536), 1: torch.export.Dim("tokens", min=1, max=max_tokens)}
    with warnings.catch_warnings(), torch.no_grad():
        # The two inputs share their axes, as they are meant to; the exporter warns of the second name.
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            module,
            (example, torch.ones_like(example)),
            dynamo=True,
            dynamic_shapes=dict.fromkeys(INPUTS, axes),
            input_names=list(INPUTS),
            output_names=list(outputs),
            opset_version=OPSET,
            external_data=False,
            verbose=False,
        )
    if program is None:
        raise RuntimeError("torch.onnx returned no program")
    return _without_notes(program.model_proto)


def _without_notes(traced: onnx.ModelProto) -> onnx.ModelProto:
    """Remove what the exporter wrote about the machine and the source, and what it inferred of inner shapes."""
    model = onnx.ModelProto()
    model.CopyFrom(traced)
    model.producer_name, model.producer_version, model.doc_string = "groundtrail-export", "", ""
    graph = model.graph
    graph.name, graph.doc_string = "groundtrail_encoder", ""
    owners: tuple[Any, ...] = (model, graph, *graph.node, *graph.input, *graph.output, *graph.initializer)
    for owner in owners:
        del owner.metadata_props[:]
    for node in graph.node:
        node.doc_string = ""
    del graph.value_info[:]
    onnx.checker.check_model(model)
    return model
