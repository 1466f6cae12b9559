"""Writes a model's folder into a model repository: graph, tokenizer, ``config.pbtxt``, manifest entry, golden outputs.

What is said of the weights (title, licence, provenance, training data) comes from a description file, which a person
writes: an export cannot know it. What was measured or fitted on other weights does not survive a change of the weights.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import onnx
from pydantic import BaseModel, ConfigDict, Field
from tokenizers import Tokenizer

from services.common.model_repository import ModelEntry, ModelRepository
from services.common.model_repository.manifest import Origin
from tools.update_manifest import describe, dump
from training.parity import encoder_of, run, session_of

MANIFEST: Final = "MANIFEST.json"
WEIGHTS: Final = "1/model.onnx"
TOLERANCE: Final = 1e-4
"""How far a build's outputs may lie from the golden ones."""
LABELS: Final = ("entailment", "neutral", "contradiction")
UNCALIBRATED: Final[dict[str, Any]] = {
    "labels": list(LABELS),
    "temperature": 1.0,
    "fitted_on": {"note": "not calibrated"},
    "measured": {"note": "not calibrated"},
}
"""Temperature of weights that nobody has fitted one to."""
MAX_BATCH_SIZE: Final = 64
PREFERRED_SIZES: Final = (4, 8)
QUEUE_DELAY_US: Final = 2_000
_TRITON_TYPES: Final = {"int64": "TYPE_INT64", "float32": "TYPE_FP32"}
_DTYPES: Final[dict[int, str]] = {onnx.TensorProto.INT64: "int64", onnx.TensorProto.FLOAT: "float32"}

Pair = tuple[str, str] | tuple[str]

GOLDEN_PAIRS: Final[tuple[Pair, ...]] = (
    ("Water damage must be reported to the insurer within three days.", "Water damage must be reported within 3 days."),
    ("The fee is 40 EUR for members and 55 EUR for guests.", "Guests pay 40 EUR."),
    ("", "Article 22 GDPR"),
)


class Description(BaseModel):
    """What a person says of a model's weights; a JSON file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str = Field(min_length=1)
    """Grows with every change of what the model computes."""
    title: str = Field(min_length=1)
    """Name and purpose, one line."""
    licence: str = Field(min_length=1)
    """SPDX identifier of the weights' licence."""
    origin: Origin
    """Provenance of the weights."""
    training_data: str = Field(min_length=1)
    """What the weights were trained on."""


@dataclass(frozen=True, slots=True)
class Golden:
    """What golden vectors are computed with; ``Delivery`` is one, too.

    Attributes:
        model: the graph.
        tokenizer: text of its ``tokenizer.json``.
        pad_id: token that inputs are padded with.
    """

    model: onnx.ModelProto
    tokenizer: str
    pad_id: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """A model that is to be written.

    Attributes:
        name: of the folder.
        kind: the port that it stands behind.
        model: inputs ``input_ids`` and ``attention_mask``.
        tokenizer: text of a ``tokenizer.json``; its padding and truncation are removed.
        pad_id: token that golden inputs are padded with.
        max_tokens: longest input, special tokens included.
        description: what is said of the weights.
        variant: what follows the version's number, such as ``fp16``; empty for the default form of the weights.
        metrics: what the export measured.
        calibration: from raw scores to calibrated ones, as the manifest holds it; ``None`` = the kind has none there.
        golden: whether golden outputs of pairs are written; a model of one text has its own.
    """

    name: str
    kind: Literal["entailment", "grounding", "injection"]
    model: onnx.ModelProto
    tokenizer: str
    pad_id: int
    max_tokens: int
    description: Description
    variant: str = ""
    metrics: dict[str, Any] = field(default_factory=dict)
    calibration: dict[str, Any] | None = None
    golden: bool = True


def write_folder(repository: Path, delivery: Delivery) -> ModelEntry:
    """Write the model's files and its manifest entry; other models' entries are kept.

    Returns:
        The new entry. The folder was opened as the product opens it: files, configuration and manifest fit together.

    Raises:
        ModelRepositoryError: the repository does not fit together.
    """
    folder = repository / delivery.name
    (folder / "1").mkdir(parents=True, exist_ok=True)
    weights = delivery.model.SerializeToString(deterministic=True)
    (folder / WEIGHTS).write_bytes(weights)
    (folder / "tokenizer.json").write_text(bare_tokenizer(delivery.tokenizer), encoding="utf-8")
    inputs, outputs = tensors(delivery.model.graph.input), tensors(delivery.model.graph.output)
    (folder / "config.pbtxt").write_text(config_text(delivery, inputs, outputs), encoding="utf-8")
    path = repository / MANIFEST
    manifest = _manifest(path)
    before: dict[str, Any] = next((model for model in manifest["models"] if model["name"] == delivery.name), {})
    entry = _entry(delivery, before, hashlib.sha256(weights).hexdigest())
    entry |= {"files": describe(folder), "inputs": inputs, "outputs": outputs}
    others = [model for model in manifest["models"] if model["name"] != delivery.name]
    manifest["models"] = sorted([*others, entry], key=lambda model: str(model["name"]))
    path.write_text(dump(manifest), encoding="utf-8")
    opened = ModelRepository.open(repository)
    opened.config(delivery.name)
    verified = opened.verified(delivery.name)
    if delivery.golden:
        golden = {"model": verified.fingerprint, "tolerance": TOLERANCE, "cases": golden_cases(delivery, GOLDEN_PAIRS)}
        (folder / "golden.json").write_text(json.dumps(golden, ensure_ascii=False) + "\n", encoding="utf-8")
    return verified


def bare_tokenizer(text: str) -> str:
    """Return a ``tokenizer.json`` without padding and truncation of its own: the caller sets both."""
    tokenizer = json.loads(text)
    tokenizer["truncation"] = tokenizer["padding"] = None
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n"


def tensors(values: Sequence[onnx.ValueInfoProto]) -> list[dict[str, Any]]:
    """Describe inputs or outputs as the manifest does: -1 where a dimension varies."""
    return [
        {
            "name": value.name,
            "dtype": _DTYPES[value.type.tensor_type.elem_type],
            "shape": [dim.dim_value if dim.HasField("dim_value") else -1 for dim in value.type.tensor_type.shape.dim],
        }
        for value in values
    ]


def config_text(delivery: Delivery, inputs: list[dict[str, Any]], outputs: list[dict[str, Any]]) -> str:
    """Return the model's ``config.pbtxt``."""
    lines = [
        f"# {delivery.description.title}. Read by Triton and by Groundtrail's own ONNX adapter.",
        f'name: "{delivery.name}"',
        'backend: "onnxruntime"',
        f"max_batch_size: {MAX_BATCH_SIZE}",
    ]
    for field_name, described in (("input", inputs), ("output", outputs)):
        blocks = [
            f'  {{\n    name: "{tensor["name"]}"\n    data_type: {_TRITON_TYPES[tensor["dtype"]]}\n'
            f"    dims: [ {', '.join(map(str, tensor['shape'][1:]))} ]\n  }}"
            for tensor in described
        ]
        lines.append(f"{field_name} [\n" + ",\n".join(blocks) + "\n]")
    sizes = ", ".join(map(str, PREFERRED_SIZES))
    wait = f"when {PREFERRED_SIZES[0]} items wait or the first has waited for {QUEUE_DELAY_US / 1000:g} ms"
    lines += [
        f"# In the process: a batch goes {wait}, and holds at most {PREFERRED_SIZES[-1]}.",
        "# On a GPU raise the sizes.",
        "dynamic_batching {",
        f"  preferred_batch_size: [ {sizes} ]",
        f"  max_queue_delay_microseconds: {QUEUE_DELAY_US}",
        "}",
        "instance_group [ { count: 1, kind: KIND_AUTO } ]",
    ]
    return "\n".join(lines) + "\n"


def golden_cases(
    delivery: Delivery | Golden, pairs: Sequence[Pair], names: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Return the pairs with their token ids and what ONNX Runtime computes of each alone.

    Args:
        delivery: graph and tokenizer.
        pairs: texts; one text alone for a model that reads one.
        names: outputs to keep; ``None`` = all.
    """
    tokenizer = Tokenizer.from_str(bare_tokenizer(delivery.tokenizer))
    encoder = encoder_of(session_of(delivery.model), delivery.pad_id)
    given = [output.name for output in delivery.model.graph.output]
    cases = []
    for pair in pairs:
        ids = tuple(tokenizer.encode(*pair).ids)
        (values,) = run(encoder, [ids])
        outputs = {
            name: [round(float(x), 6) for x in np.ravel(value)]
            for name, value in zip(given, values, strict=True)
            if names is None or name in names
        }
        cases.append({"pair": list(pair), "token_ids": list(ids), **outputs})
    return cases


def _manifest(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {"schema_version": 1, "models": []}
    manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return manifest


def _entry(delivery: Delivery, before: dict[str, Any], digest: str) -> dict[str, Any]:
    """Return the manifest entry without files and tensors; ``before`` is the one it replaces."""
    said = delivery.description
    unchanged = any(file["path"] == WEIGHTS and file["sha256"] == digest for file in before.get("files", []))
    entry: dict[str, Any] = {
        "name": delivery.name,
        "version": f"{said.version}-{delivery.variant}" if delivery.variant else said.version,
        "kind": delivery.kind,
        "title": said.title,
        "licence": said.licence,
        "origin": said.origin.model_dump(),
        "training_data": said.training_data,
        "files": [],
        "inputs": [],
        "outputs": [],
        "max_tokens": delivery.max_tokens,
        "metrics": (before.get("metrics", {}) if unchanged else {}) | delivery.metrics,
        "calibration": delivery.calibration,
    }
    if delivery.kind == "entailment":
        entry["softmax"] = before["softmax"] if unchanged and before.get("softmax") else UNCALIBRATED
    return entry
