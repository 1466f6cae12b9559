"""The texts of a model's folder: ``config.pbtxt``, its card, golden vectors, a combiner that nobody has fitted."""

import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from services.common.adapters.encoders.backend import Outputs
from services.common.adapters.encoders.golden import GoldenCase, GoldenVectors
from services.common.grounding.combiner import Combiner, LogisticModel
from services.common.model_repository import ModelEntry, Tensor

MAX_BATCH_SIZE: Final = 64
PREFERRED_SIZES: Final = (4, 8)
QUEUE_DELAY_US: Final = 2_000
UNKNOWN_LICENCE: Final = "unknown, do not ship"
NOT_FITTED: Final = {"note": "not calibrated"}
GOLDEN_DIGITS: Final = 6
_TRITON_TYPES: Final = {"int64": "TYPE_INT64", "int32": "TYPE_INT32", "float32": "TYPE_FP32", "float16": "TYPE_FP16"}


def config_text(name: str, title: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> str:
    """Return ``config.pbtxt``, as Triton and the process read it."""
    lines = [
        f"# {' '.join(title.split())}. Read by Triton and by Groundtrail's own ONNX adapter.",
        f'name: "{name}"',
        'backend: "onnxruntime"',
        f"max_batch_size: {MAX_BATCH_SIZE}",
    ]
    for field, tensors in (("input", inputs), ("output", outputs)):
        blocks = [
            f'  {{\n    name: "{tensor.name}"\n    data_type: {_TRITON_TYPES[tensor.dtype]}\n'
            f"    dims: [ {', '.join(map(str, tensor.shape[1:]))} ]\n  }}"
            for tensor in tensors
        ]
        lines.append(f"{field} [\n" + ",\n".join(blocks) + "\n]")
    lines += [
        "dynamic_batching {",
        f"  preferred_batch_size: [ {', '.join(map(str, PREFERRED_SIZES))} ]",
        f"  max_queue_delay_microseconds: {QUEUE_DELAY_US}",
        "}",
        "instance_group [ { count: 1, kind: KIND_AUTO } ]",
    ]
    return "\n".join(lines) + "\n"


def golden_vectors(
    entry: ModelEntry, pairs: Sequence[tuple[str, str]], ids: Sequence[tuple[int, ...]], outputs: Sequence[Outputs],
    tolerance: float,
) -> GoldenVectors:  # fmt: skip
    """Return what the model said to each pair."""
    names = [tensor.name for tensor in entry.outputs]
    cases = [
        GoldenCase(
            pair=pair,
            token_ids=own,
            outputs={
                name: tuple(round(float(value), GOLDEN_DIGITS) for value in np.ravel(values))
                for name, values in zip(names, said, strict=True)
            },
        )
        for pair, own, said in zip(pairs, ids, outputs, strict=True)
    ]
    return GoldenVectors(schema_version=1, tolerance=tolerance, cases=tuple(cases))


def combiner_text(
    windows: dict[str, int], span_threshold: float, signals: LogisticModel, both: dict[str, Any], how: dict[str, Any]
) -> str:
    """Return a combiner's file; ``how`` may hold the bounds of ``undecided``."""
    bounds = {"undecided": how["undecided"]} if "undecided" in how else {}
    content = {
        "schema_version": 1,
        "windows": windows,
        "spans": {"threshold": span_threshold},
        "signals": plain_model(signals),
        "both": both,
        **bounds,
        "fitted_on": {key: value for key, value in how.items() if key != "undecided"},
    }
    return json.dumps(content, indent=2) + "\n"


def unfitted_combiner(delivered: Combiner, premise_tokens: int, max_windows: int) -> str:
    """Return a combiner by which the encoder alone decides, at even odds.

    Its model of the signals is the delivered one: what is measured of the texts does not depend on the encoder.
    """
    both = {
        "names": ["encoder_support"],
        "means": [0.0],
        "scales": [1.0],
        "weights": [1.0],
        "bias": 0.0,
        "calibration": {"raw": [0.0, 1.0], "calibrated": [0.0, 1.0]},
        "threshold": 0.5,
    }
    windows = {"premise_tokens": premise_tokens, "max_windows": max_windows}
    return combiner_text(windows, 0.5, delivered.signals, both, dict(NOT_FITTED))


def plain_model(model: LogisticModel) -> dict[str, Any]:
    """Return a model as a combiner's file holds it."""
    raw, images = model.calibration.knots
    return {
        "names": list(model.names),
        "means": model.means.tolist(),
        "scales": model.scales.tolist(),
        "weights": model.weights.tolist(),
        "bias": model.bias,
        "calibration": {"raw": list(raw), "calibrated": list(images)},
        "threshold": model.threshold,
    }


def card_text(entry: ModelEntry) -> str:
    """Return the model's card: what it is, where it comes from, what may be done with it."""
    own = entry.own
    labels = (
        ", ".join(f"{place} = {label}" for place, label in enumerate(own.labels))
        if own and own.labels
        else "as trained here"
    )
    files = "\n".join(f"| `{file.path}` | {file.role} | {file.bytes:,} | `{file.sha256}` |" for file in entry.files)
    return f"""# {entry.name}

{entry.title}

| | |
|---|---|
| role | {entry.kind} |
| architecture | {_cell(own.architecture) if own else ""} |
| labels | {labels} |
| read by | {own.readout if own else ""} |
| pair | {_cell(own.layout.template) if own and own.layout.template else "the tokenizer's own template"} |
| longest input | {entry.max_tokens} tokens |
| origin | {_cell(entry.origin.upstream)} |
| conversion | {_cell(entry.origin.conversion)} |
| licence | {_cell(entry.licence)} |
| calibrated | {"yes" if entry.calibrated else "no: its probabilities are its own"} |

| file | role | bytes | SHA-256 |
|---|---|---|---|
{files}

Made by `groundtrail models add`. Measure it on your own pairs: `groundtrail models evaluate FILE --model {entry.name}`.
"""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
