"""Encoders of a few kilobytes whose outputs can be worked out by hand, in a model repository of their own.

Every token has a row of a table. ``logits`` and ``support_logit`` are the largest values over an item's tokens, and
``token_logits`` the token's own, so that what an item gets depends on its tokens and on nothing else. The word ``yes``
entails and supports, ``no`` contradicts, ``broken`` is NaN. Pairs are laid out as MPNet lays them out.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from services.common.model_repository import ModelRepository

SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")
WORDS = (".", "yes", "no", "broken", *(f"w{number}" for number in range(20)))
VOCABULARY = {word: number for number, word in enumerate((*SPECIALS, *WORDS))}
NEUTRAL_ROW = (0.0, 1.0, 0.0)
ROWS = {"yes": (4.0, 1.0, 0.0), "no": (0.0, 1.0, 4.0), "broken": (np.nan, np.nan, np.nan)}


@dataclass(frozen=True)
class TinyEncoder:
    """What to write: by default a three-way entailment model that reads 32 tokens at once."""

    name: str = "nli"
    kind: str = "entailment"
    max_tokens: int = 32
    temperature: float = 1.0
    labels: tuple[str, ...] = ("entailment", "neutral", "contradiction")
    wrong_shape: bool = False
    """Give one column too few at run time, although the graph says otherwise."""
    joint: bool = False
    """A grounding model whose graph gives the logits of entailment as well."""
    changes: dict[str, Any] = field(default_factory=dict)
    """Laid over the manifest's entry."""

    @property
    def outputs(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        if self.kind == "entailment":
            return (("logits", (-1, 3)),)
        own = (("support_logit", (-1, 1)), ("token_logits", (-1, -1)))
        return (*own, ("logits", (-1, 3))) if self.joint else own


def token_id(word: str) -> int:
    return VOCABULARY[word]


def tokenizer() -> Tokenizer:
    made = Tokenizer(models.WordLevel(VOCABULARY, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return made


def write_repository(root: Path, *encoders: TinyEncoder) -> ModelRepository:
    """Write MANIFEST.json and a folder for each, and open it."""
    entries = [_write(root / encoder.name, encoder) for encoder in encoders]
    (root / "MANIFEST.json").write_text(json.dumps({"schema_version": 1, "models": entries}), encoding="utf-8")
    return ModelRepository.open(root)


def serve(root: Path, trunk: str = "grounding", encoder: TinyEncoder | None = None) -> ModelRepository:
    """Add a model without a graph that another one serves, and open the repository."""
    encoder = encoder or TinyEncoder()
    manifest = json.loads((root / "MANIFEST.json").read_text(encoding="utf-8"))
    serving = next(entry for entry in manifest["models"] if entry["name"] == trunk)
    (weights,) = (file["sha256"] for file in serving["files"] if file["role"] == "weights")
    entry = _write(root / encoder.name, encoder)
    for path in ("1/model.onnx", "config.pbtxt"):
        (root / encoder.name / path).unlink()
    entry["files"] = [file for file in entry["files"] if file["role"] == "tokenizer"]
    manifest["models"].append({"served_by": {"model": trunk, "weights_sha256": weights}} | entry)
    (root / "MANIFEST.json").write_text(json.dumps(manifest), encoding="utf-8")
    return ModelRepository.open(root)


def _write(folder: Path, encoder: TinyEncoder) -> dict[str, Any]:
    (folder / "1").mkdir(parents=True)
    onnx.save(_graph(encoder), folder / "1" / "model.onnx")
    tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "config.pbtxt").write_text(_config(encoder), encoding="utf-8")
    roles = {"1/model.onnx": "weights", "tokenizer.json": "tokenizer", "config.pbtxt": "config"}
    calibration = {"temperature": encoder.temperature, "labels": encoder.labels, "fitted_on": {}, "measured": {}}
    return {
        "name": encoder.name,
        "version": "1",
        "kind": encoder.kind,
        "title": "Tiny",
        "licence": "MIT",
        "origin": {"package": "none", "upstream": "none", "conversion": "none"},
        "training_data": "none",
        "files": [{"path": path, "role": role} | _pinned(folder / path) for path, role in roles.items()],
        "inputs": [{"name": n, "dtype": "int64", "shape": [-1, -1]} for n in ("input_ids", "attention_mask")],
        "outputs": [{"name": n, "dtype": "float32", "shape": shape} for n, shape in encoder.outputs],
        "max_tokens": encoder.max_tokens,
        "softmax": calibration if encoder.kind == "entailment" else None,
    } | encoder.changes


def _pinned(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _config(encoder: TinyEncoder) -> str:
    def tensors(field_name: str, dtype: str, named: list[tuple[str, tuple[int, ...]]]) -> str:
        return "\n".join(f'{field_name} {{ name: "{n}" data_type: {dtype} dims: {list(dims)} }}' for n, dims in named)

    inputs = tensors("input", "TYPE_INT64", [("input_ids", (-1,)), ("attention_mask", (-1,))])
    outputs = tensors("output", "TYPE_FP32", [(name, shape[1:]) for name, shape in encoder.outputs])
    batching = "dynamic_batching { preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 500 }"
    return f'name: "{encoder.name}" backend: "onnxruntime" max_batch_size: 8\n{inputs}\n{outputs}\n{batching}\n'


def _graph(encoder: TinyEncoder) -> onnx.ModelProto:
    rows = np.array([ROWS.get(word, NEUTRAL_ROW) for word in VOCABULARY], dtype=np.float32)
    constants = {
        "table": rows,
        "last": np.array([-1], dtype=np.int64),
        "tokens_axis": np.array([1], dtype=np.int64),
        "first": np.array([0], dtype=np.int64),
        "one": np.array(1.0, dtype=np.float32),
        "far": np.array(1e4, dtype=np.float32),
        "zero": np.array(0.0, dtype=np.float32),
        "columns": np.array([1 if encoder.kind == "grounding" else 3], dtype=np.int64),
        "missing": np.array([1 if encoder.wrong_shape else 0], dtype=np.int64),
        "contradiction": np.array(2, dtype=np.int64),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["mask_flat"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask_flat", "last"], ["mask"]),
        helper.make_node("Sub", ["one", "mask"], ["padding"]),
        helper.make_node("Mul", ["padding", "far"], ["penalty"]),
        helper.make_node("Sub", ["rows", "penalty"], ["masked"]),
        helper.make_node("ReduceMax", ["masked", "tokens_axis"], ["largest"], keepdims=0),
        # NaN times zero is NaN: a broken token breaks its item, whatever the maximum makes of it.
        helper.make_node("Mul", ["rows", "mask"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "tokens_axis"], ["sum"], keepdims=0),
        helper.make_node("Mul", ["sum", "zero"], ["nothing"]),
        helper.make_node("Add", ["largest", "nothing"], ["pooled"]),
        # How many columns come out is known when it runs, so that the graph may be told a lie about it.
        helper.make_node("ReduceMax", ["attention_mask"], ["any"], keepdims=0),
        helper.make_node("Mul", ["missing", "any"], ["fewer"]),
        helper.make_node("Sub", ["columns", "fewer"], ["end"]),
        helper.make_node("Slice", ["pooled", "first", "end", "tokens_axis"], [encoder.outputs[0][0]]),
    ]
    if encoder.kind == "grounding":
        nodes.append(helper.make_node("Gather", ["rows", "contradiction"], ["token_logits"], axis=2))
    if encoder.joint:
        nodes.append(helper.make_node("Identity", ["pooled"], ["logits"]))
    graph = helper.make_graph(
        nodes,
        encoder.name,
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["b", "t"]) for n in ("input_ids", "attention_mask")],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["b", *(size if size > 0 else "t" for size in rest)])
            for name, (_, *rest) in encoder.outputs
        ],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
