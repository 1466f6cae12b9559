"""Which inputs and outputs a user's graph really has, and how its outputs are read.

The graph itself is left as it came, so that its digest is the one that a hub shows; what is special about it stands in
the manifest, and both backends obey that.
"""

from pathlib import Path
from typing import Final, Literal, TypeAlias

from services.common.adapters.encoders.feeds import INTEGERS, NEEDED, TOKEN_TYPE_IDS
from services.common.adapters.onnx.session import graph_tensors
from services.common.adapters.own_encoders.labels import Role
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.model_repository import ModelRepositoryError, Tensor, TensorSpec

ReadoutKind: TypeAlias = Literal["pair", "first-token", "tokens", "native"]

NATIVE_OUTPUTS: Final = ("support_logit", "token_logits")
_PAIR_DIMENSIONS: Final = 2
_TOKEN_DIMENSIONS: Final = 3
_FLOATS: Final = frozenset({"float32", "float16"})


def inspect_graph(path: Path) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    """Load a graph and return its inputs and outputs.

    Raises:
        OwnModelError: GRAPH_UNUSABLE, INPUTS_UNSUPPORTED.
    """
    try:
        inputs, outputs = graph_tensors(path)
    except ModelRepositoryError as error:
        raise OwnModelError(
            Refusal.GRAPH_UNUSABLE, f"ONNX Runtime: {str(error).replace(str(path), path.name)}"
        ) from error
    found = {spec.name: spec for spec in inputs}
    if not NEEDED <= found.keys() <= NEEDED | {TOKEN_TYPE_IDS}:
        raise OwnModelError(
            Refusal.INPUTS_UNSUPPORTED,
            f"the graph reads {', '.join(found)}; needed are {', '.join(sorted(NEEDED))}, besides {TOKEN_TYPE_IDS}",
        )
    odd = next((spec for spec in inputs if spec.dtype not in INTEGERS or spec.shape != (-1, -1)), None)
    if odd is not None:
        raise OwnModelError(
            Refusal.INPUTS_UNSUPPORTED,
            f"the graph reads {odd.name} as {odd.dtype} {list(odd.shape)}; needed are integers, with batch and length "
            "left open: export it with dynamic axes",
        )
    return inputs, outputs


def readout_kind(outputs: tuple[TensorSpec, ...], role: Role, wanted: str | None) -> ReadoutKind:
    """Return how the outputs are to be read.

    Args:
        outputs: of the graph.
        role: what the model is added as.
        wanted: said by a person; ``None`` = as outputs and role suggest.

    Raises:
        OwnModelError: OUTPUTS_UNSUPPORTED.
    """
    names = tuple(spec.name for spec in outputs)
    if names == NATIVE_OUTPUTS and role != "entailment":
        return "native"
    if len(outputs) != 1 or outputs[0].dtype not in _FLOATS:
        raise OwnModelError(
            Refusal.OUTPUTS_UNSUPPORTED,
            f"the graph gives {', '.join(f'{spec.name} ({spec.dtype})' for spec in outputs)}; needed are logits alone",
        )
    dimensions = len(outputs[0].shape)
    by_pair: tuple[ReadoutKind, ...] = () if role == "spans" else ("pair",)
    by_token: dict[Role, tuple[ReadoutKind, ...]] = {"spans": ("tokens",), "grounding": ("first-token",)}
    fitting = {_PAIR_DIMENSIONS: by_pair, _TOKEN_DIMENSIONS: by_token.get(role, ())}
    found = [kind for kind in fitting.get(dimensions, ()) if wanted in {None, kind}]
    if not found or (found == ["first-token"] and wanted is None):
        raise OwnModelError(Refusal.OUTPUTS_UNSUPPORTED, _advice(outputs[0], role, wanted))
    return found[0]


def output_tensors(outputs: tuple[TensorSpec, ...], kind: ReadoutKind, labels: int) -> tuple[Tensor, ...]:
    """Return the manifest's outputs: sizes that the graph leaves open and the labels fix are fixed.

    Raises:
        OwnModelError: OUTPUTS_UNSUPPORTED: the graph has another number of logits than there are labels.
    """
    if kind == "native":
        return tuple(Tensor(name=spec.name, dtype=spec.dtype, shape=spec.shape) for spec in outputs)  # type: ignore[arg-type]
    (spec,) = outputs
    if spec.shape[-1] not in {-1, labels}:
        raise OwnModelError(
            Refusal.OUTPUTS_UNSUPPORTED, f"the graph gives {spec.shape[-1]} logits, and there are {labels} labels"
        )
    shape = (-1, labels) if kind == "pair" else (-1, -1, labels)
    return (Tensor(name=spec.name, dtype=spec.dtype, shape=shape),)  # type: ignore[arg-type]


def _advice(spec: TensorSpec, role: Role, wanted: str | None) -> str:
    shown = f"{spec.name} has the shape {list(spec.shape)}"
    if len(spec.shape) == _TOKEN_DIMENSIONS and role == "grounding" and wanted is None:
        return (
            f"{shown}, logits for each token: add it with --as spans, or with --readout first-token where the model's "
            "card says that the first token's logits judge the pair"
        )
    if len(spec.shape) == _PAIR_DIMENSIONS and role == "spans":
        return f"{shown}, logits for each pair: add it with --as grounding"
    return f"{shown}, which does not fit --as {role}" + (f" --readout {wanted}" if wanted else "")
