"""The fine-tuned encoder as a model of the repository (ADR 0227)."""

from typing import Final

import numpy as np
import onnx
from onnx import TensorProto, helper

from tools.convert_embedder import WIDTH, GraphBuilder, Source, trunk
from training.encoder import PairEncoder
from training.quantise import Floats

OUTPUT: Final = "logit"
_NORMS: Final = {
    "attention.output.LayerNorm": "attention_output_norm_layernorm",
    "output.LayerNorm": "mlp_output_norm_layernorm",
}
_LINEAR: Final = {
    "attention.self.query": "attn.q_proj",
    "attention.self.key": "attn.k_proj",
    "attention.self.value": "attn.v_proj",
    "attention.output.dense": "attn.o_proj",
    "intermediate.dense": "mlp.fc1",
    "output.dense": "mlp.fc2",
}


def graph_of(model: PairEncoder) -> onnx.ModelProto:
    """Return the ONNX graph of a MiniLM with one logit: int8 weights, float32 activations.

    Inputs ``input_ids`` and ``attention_mask``, int64 ``[batch, tokens]``; output ``logit``, float32 ``[batch, 1]``.
    """
    state = {name: tensor.detach().float().numpy() for name, tensor in model.state_dict().items()}
    graph = GraphBuilder()
    hidden, mask = trunk(graph, _source(state))
    mean = graph.mean(hidden, mask)
    weight = graph.tensor("head.weight", state["head.weight"].T)
    product = graph.add("MatMul", [mean, weight], "head.matmul")
    graph.add("Add", [product, graph.tensor("head.bias", state["head.bias"])], OUTPUT)
    shape = ["batch", "tokens"]
    proto = helper.make_graph(
        graph.nodes,
        "groundtrail_injection",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["batch", 1])],
        graph.initializers,
    )
    built = helper.make_model(
        proto, opset_imports=[helper.make_opsetid("", 21)], ir_version=10, producer_name="groundtrail-training"
    )
    onnx.checker.check_model(built, full_check=True)
    return built


def _source(state: dict[str, Floats]) -> Source:
    """Return the trunk's weights under the names of the export that the embedder was made of."""
    found: dict[str, Floats] = {}
    for name in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
        found[f".model.embeddings.{name}.weight"] = state[f"encoder.embeddings.{name}.weight"]
    for kind in ("weight", "bias"):
        found[f"model.layers.-1.embeddings_norm_layernorm.{kind}"] = state[f"encoder.embeddings.LayerNorm.{kind}"]
    layers = {int(name.split(".")[3]) for name in state if name.startswith("encoder.encoder.layer.")}
    for index in sorted(layers):
        theirs, ours = f"encoder.encoder.layer.{index}", f"model.layers.{index}"
        for old, new in _LINEAR.items():
            found[f"{ours}.{new}.MatMul.weight"] = np.ascontiguousarray(state[f"{theirs}.{old}.weight"].T)
            found[f"{ours}.{new}.Add.bias"] = state[f"{theirs}.{old}.bias"]
        for old, new in _NORMS.items():
            for kind in ("weight", "bias"):
                found[f"{ours}.{new}.{kind}"] = state[f"{theirs}.{old}.{kind}"]
    if found[".model.embeddings.word_embeddings.weight"].shape[1] != WIDTH:
        raise ValueError(f"the encoder is not {WIDTH} wide: it is no MiniLM-L6")
    return Source(found)
