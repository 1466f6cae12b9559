"""Back from a folder of the model repository to a checkpoint.

    python -m training.restore --model nli --checkpoint DIR

Training can go on from weights that were delivered, by whoever has the repository and nothing else; their digest is
checked first. The graph must be one that ``training.export`` wrote of an MPNet trunk, in a float32 form. Codes are
multiplied out, so that the checkpoint computes what the delivered model computes; exporting one of int8 again gives the
same codes. Positions beyond the longest input were not delivered and are gone.
"""

import argparse
import functools
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from safetensors.torch import save_file
from transformers import MPNetConfig
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder, MPNetModel

from services.common.model_repository import ModelRepository
from training.encoder import HEADS, TOKENIZER, WEIGHTS
from training.packed import PACKED, RESULT, Scales, Words, unpack

Floats = NDArray[np.float32]

FIRST_POSITION: Final = 2
"""MPNet's rows before the first token's position: one that nothing uses, and padding's."""
PAD: Final = 1
_GRAPH_FILE: Final = "1/model.onnx"
_TABLE: Final = "encoder.table"
_POSITIONS: Final = "encoder.positions"
_WORDS: Final = "encoder.words.weight"
_LAYER: Final = re.compile(r"^encoder\.layers\.")


class RestoreError(Exception):
    """A graph is not one that ``training.export`` wrote of an MPNet trunk; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a graph holds.

    Attributes:
        state: parameters by their names in ``training.encoder.PairEncoder``.
        config: of the trunk.
        heads: content of ``pair_encoder.json``.
    """

    state: dict[str, torch.Tensor]
    config: MPNetConfig
    heads: dict[str, int | bool]


def restored(graph: onnx.GraphProto) -> Restored:
    """Read a graph.

    Raises:
        RestoreError: it is not one of ``training.export``'s.
    """
    found = {**_named(graph), **_multiplied(graph)}
    missing = [name for name in (_TABLE, _POSITIONS, _WORDS, "head.weight") if name not in found]
    if missing:
        raise RestoreError(f"the graph has no {missing[0]}: only what training.export wrote can be restored")
    table, positions = found.pop(_TABLE), found.pop(_POSITIONS)
    config = _config(found, table, positions, _epsilon(graph))
    state = {_name(name): value for name, value in found.items()}
    state["encoder.embeddings.position_embeddings.weight"] = np.concatenate(
        [np.zeros((FIRST_POSITION, positions.shape[1]), np.float32), positions]
    )
    state["encoder.encoder.relative_attention_bias.weight"] = _by_bucket(table, config.relative_attention_num_buckets)
    heads = {"outputs": len(found["head.weight"]), "per_token": "token_head.weight" in found}
    _require_whole(state, config)
    return Restored({name: torch.from_numpy(np.array(value)) for name, value in state.items()}, config, heads)


def write(found: Restored, tokenizer: Path, folder: Path) -> None:
    """Write a checkpoint as ``training.encoder.save`` does."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in found.state.items()}, folder / WEIGHTS)
    found.config.save_pretrained(folder)
    (folder / HEADS).write_text(json.dumps(found.heads) + "\n", encoding="utf-8")
    shutil.copyfile(tokenizer, folder / TOKENIZER)


def _named(graph: onnx.GraphProto) -> dict[str, Floats]:
    """Return the parameters that kept their names, tables of codes among them."""
    values = {tensor.name: tensor for tensor in graph.initializer}
    found = {
        name: numpy_helper.to_array(tensor)
        for name, tensor in values.items()
        if name.startswith(("encoder.", "head.", "token_head."))
        and f"{PACKED}." not in name
        and tensor.data_type == onnx.TensorProto.FLOAT
    }
    codes, scale = values.get(f"{_WORDS}.rows.int8"), values.get(f"{_WORDS}.rows.scale")
    if codes is not None and scale is not None:
        found.pop(scale.name)
        found[_WORDS] = numpy_helper.to_array(codes).astype(np.float32) * numpy_helper.to_array(scale)
    if packed := _packed(f"{_WORDS}{PACKED}", values):
        words, scales = packed
        found[_WORDS] = unpack(words, scales.reshape(-1, 1, 1)).reshape(len(scales), -1)
    return found


def _packed(name: str, values: Mapping[str, onnx.TensorProto]) -> tuple[Words, Scales] | None:
    """Return what ``training.packed`` stored under a name; ``None`` when it stored nothing."""
    words, scales = values.get(f"{name}.words"), values.get(f"{name}.scales")
    if words is None or scales is None:
        return None
    return numpy_helper.to_array(words), numpy_helper.to_array(scales)


def _multiplied(graph: onnx.GraphProto) -> dict[str, Floats]:
    """Return the matrices of products. They lost their names in the trace; the bias that is added afterwards has it."""
    values = {tensor.name: tensor for tensor in graph.initializer}
    made = {output: node for node in graph.node for output in node.output}

    def constant(name: str) -> Floats | None:
        node = made.get(name)
        if packed := _packed(name.removesuffix(RESULT), values):
            return unpack(*packed)
        if name in values:
            return np.asarray(numpy_helper.to_array(values[name]), dtype=np.float32)
        if node is None or node.op_type not in {"Cast", "Mul"}:
            return None
        parts = [part for part in map(constant, node.input) if part is not None]
        return functools.reduce(np.multiply, parts) if len(parts) == len(node.input) else None

    found = {}
    for node in graph.node:
        biases = [name for name in node.input if name.endswith(".bias") and name in values]
        products = [made[name] for name in node.input if name in made and made[name].op_type == "MatMul"]
        if node.op_type == "Add" and biases and products:
            weight = constant(products[0].input[1])
            if weight is not None:
                found[biases[0].removesuffix(".bias") + ".weight"] = weight.T
    return found


def _epsilon(graph: onnx.GraphProto) -> float:
    """Return what normalisations add to the variance."""
    for node in graph.node:
        if node.op_type == "LayerNormalization":
            return next((float(a.f) for a in node.attribute if a.name == "epsilon"), 1e-5)  # ONNX's own default
    raise RestoreError("the graph has no LayerNormalization: only what training.export wrote can be restored")


def _config(found: Mapping[str, Floats], table: Floats, positions: Floats, epsilon: float) -> MPNetConfig:
    words = found[_WORDS]
    inner = found.get("encoder.layers.0.intermediate.dense.weight")
    if inner is None:
        raise RestoreError("the graph has no layer 0: only what training.export wrote can be restored")
    layers = {name.split(".")[2] for name in found if _LAYER.match(name)}
    return MPNetConfig(
        vocab_size=len(words),
        hidden_size=words.shape[1],
        num_hidden_layers=len(layers),
        num_attention_heads=table.shape[1],
        intermediate_size=len(inner),
        max_position_embeddings=len(positions) + FIRST_POSITION,
        layer_norm_eps=epsilon,
        pad_token_id=PAD,
    )


def _require_whole(state: Mapping[str, Floats], config: MPNetConfig) -> None:
    wanted = {f"encoder.{name}": tuple(value.shape) for name, value in MPNetModel(config).state_dict().items()}
    for name, shape in wanted.items():
        if not name.startswith("encoder.pooler.") and (name not in state or state[name].shape != shape):
            raise RestoreError(f"the graph has no {name} of the shape {shape}")


def _name(delivered: str) -> str:
    """Return what the module calls a parameter of the graph."""
    if delivered.startswith(("head.", "token_head.")):
        return delivered
    return (
        _LAYER.sub("encoder.encoder.layer.", delivered)
        .replace("encoder.words.", "encoder.embeddings.word_embeddings.")
        .replace("encoder.normalise.", "encoder.embeddings.LayerNorm.")
    )


def _by_bucket(table: Floats, buckets: int) -> Floats:
    """Return the bias of each bucket of distances from the table that has one row per distance.

    A bucket that no delivered distance falls into gets the bias of the farthest distance on its side.
    """
    farthest = (len(table) - 1) // 2
    distances = torch.arange(-farthest, farthest + 1)
    of_distance = MPNetEncoder.relative_position_bucket(distances, num_buckets=buckets).numpy()
    biases = np.empty((buckets, table.shape[1]), np.float32)
    biases[: buckets // 2], biases[buckets // 2 :] = table[0], table[-1]
    if of_distance[0] >= buckets // 2:
        biases[: buckets // 2], biases[buckets // 2 :] = table[-1], table[0]
    biases[of_distance] = table
    return biases


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the checkpoint."""
    parser = argparse.ArgumentParser(
        prog="python -m training.restore", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repository", type=Path, default=Path("model_repository"))
    parser.add_argument("--model", required=True, help="the model's folder in the repository, e.g. nli")
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder to write")
    options = parser.parse_args(arguments)
    entry = ModelRepository.open(options.repository).entry(options.model)
    folder = options.repository / options.model
    if entry.served_by is not None:
        parser.error(f"{options.model} has no graph of its own; restore {entry.served_by.model}, which serves it")
    try:
        found = restored(onnx.load(folder / _GRAPH_FILE).graph)
    except RestoreError as problem:
        parser.error(f"{folder / _GRAPH_FILE}: {problem}")
    write(found, folder / TOKENIZER, options.checkpoint)
    print(json.dumps({"model": entry.fingerprint, "checkpoint": str(options.checkpoint), **found.heads}, indent=2))


if __name__ == "__main__":
    main()
