"""Builds TensorRT plans from the encoders of a model repository, on the GPU host that will run them.

    python deploy/triton/build_tensorrt.py OUT [--model NAME…] [--fp16] [--tokens 128]

Writes a second repository for Triton: per model a ``config.pbtxt`` that differs from the first one's only in what runs
it, and ``1/model.plan``. A plan is made for one kind of GPU and one version of TensorRT, so that none is delivered.
Groundtrail itself goes on reading the first repository (tokenizers, manifest, calibration), and names the variant in
every report: it stands in the configuration as the parameter ``groundtrail_variant``.

Shapes follow from the configuration and the manifest: 1 to ``max_batch_size`` texts of 1 to ``max_tokens`` tokens,
tuned for the largest preferred batch of ``--tokens`` tokens. Weights stored in int8 are unfolded to float32 first.
Needs the development tools of this checkout (``make lint`` installs them) beside TensorRT.
"""
# ruff: noqa: INP001 - a script, run by its path

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import onnx.numpy_helper

from services.common.model_repository import ModelConfig, ModelEntry, ModelRepository, ModelRepositoryError
from services.common.model_repository.config import parse_model_config

REPOSITORY: Final = Path(__file__).resolve().parents[2] / "model_repository"
PROGRAM: Final = "trtexec"
OPTIMAL_TOKENS: Final = 128
PROVENANCE_FILE: Final = "PROVENANCE.json"
_BACKEND: Final = re.compile(r'^backend\s*:\s*"onnxruntime"[^\n]*$', re.MULTILINE)


class BuildError(Exception):
    """A plan cannot be built; the message says why."""


@dataclass(frozen=True, slots=True)
class Precision:
    """What the layers of a plan compute in; inputs and outputs keep the types of the configuration."""

    variant: str
    options: tuple[str, ...]


FP32: Final = Precision("tensorrt-fp32", ())
FP16: Final = Precision("tensorrt-fp16", ("--fp16",))


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the plans; 1 = one of them could not be built, and then nothing of it is left."""
    options = _parser().parse_args(arguments)
    try:
        program = _program()
        repository = ModelRepository.open(options.model_repository)
        names = options.model or _encoders(repository)
        precision = FP16 if options.fp16 else FP32
        for name in names:
            build(program, repository, name, options.out, precision=precision, tokens=options.tokens)
            print(f"{options.out / name}: {precision.variant}")  # noqa: T201 - a command's answer
    except (BuildError, ModelRepositoryError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 - as above
        return 1
    return 0


def build(
    program: str, repository: ModelRepository, name: str, out: Path, *, precision: Precision, tokens: int
) -> None:
    """Build one model's folder in ``out``; it appears there whole or not at all.

    Args:
        program: path of trtexec.
        repository: where the ONNX file lies; it must be the pinned one.
        name: the model.
        out: the repository that is written.
        precision: of the layers.
        tokens: length of texts that the plan is tuned for.

    Raises:
        BuildError: the folder is there already, or trtexec failed.
        ModelRepositoryError: the model is not there or not the pinned one.
    """
    entry = repository.verified(name)
    config = repository.config(name)
    folder = out / name
    if folder.exists():
        raise BuildError(f"{folder} is there already; remove it to build it anew")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=out) as scratch:
        unfolded, made = Path(scratch, "model.onnx"), Path(scratch, name)
        (made / "1").mkdir(parents=True)
        unfold(repository.folder(name) / "1/model.onnx", unfolded)
        command = [
            program,
            f"--onnx={unfolded}",
            f"--saveEngine={made / '1/model.plan'}",
            *shapes(entry, config, tokens),
            *precision.options,
            "--skipInference",
        ]
        _run(command, made / "1/model.plan")
        text = (repository.folder(name) / "config.pbtxt").read_text(encoding="utf-8")
        (made / "config.pbtxt").write_text(configuration(text, precision), encoding="utf-8")
        provenance = {"model": entry.fingerprint, "variant": precision.variant, "shapes": command[3:-1]}
        (made / PROVENANCE_FILE).write_text(json.dumps(provenance, indent=2) + "\n", encoding="utf-8")
        shutil.move(made, folder)


def shapes(entry: ModelEntry, config: ModelConfig, tokens: int) -> list[str]:
    """Return trtexec's options for the least, the usual and the largest shape of every input.

    Raises:
        BuildError: the model takes no batches, or has no longest input.
    """
    if config.max_batch_size < 1 or entry.max_tokens is None:
        raise BuildError(f"{entry.name} needs max_batch_size in config.pbtxt and max_tokens in MANIFEST.json")
    usual = config.preferred_batch_sizes[-1] if config.preferred_batch_sizes else config.max_batch_size
    sizes = {
        "min": (1, 1),
        "opt": (usual, min(tokens, entry.max_tokens)),
        "max": (config.max_batch_size, entry.max_tokens),
    }
    return [
        f"--{which}Shapes=" + ",".join(f"{tensor.name}:{batch}x{width}" for tensor in config.inputs)
        for which, (batch, width) in sizes.items()
    ]


def configuration(text: str, precision: Precision) -> str:
    """Return ``config.pbtxt`` for the plan: the same tensors and batching, run by TensorRT, the variant named.

    Raises:
        BuildError: the model is not one that ONNX Runtime serves.
    """
    changed, count = _BACKEND.subn('platform: "tensorrt_plan"\nbackend: "tensorrt"', text)
    if count != 1:
        raise BuildError('config.pbtxt does not say backend: "onnxruntime"')
    changed += f'parameters {{ key: "groundtrail_variant" value: {{ string_value: "{precision.variant}" }} }}\n'
    before, after = parse_model_config(text), parse_model_config(changed)
    if (before.inputs, before.outputs, before.max_batch_size) != (after.inputs, after.outputs, after.max_batch_size):
        raise BuildError("config.pbtxt cannot be rewritten without changing its tensors")
    return changed


def unfold(source: Path, target: Path) -> None:
    """Write the graph with float32 in place of int8 constants: TensorRT takes int8 only from its own quantisation.

    The values stay what they are, the casts behind them become idle, and the scales are multiplied as before.
    """
    model = onnx.load(source)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.INT8:
            values = onnx.numpy_helper.to_array(tensor).astype(np.float32)
            tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))
    del model.graph.value_info[:]  # what it says of the types in between no longer holds
    onnx.save(model, target)


def _run(command: list[str], plan: Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the operator's trtexec
    if done.returncode != 0:
        raise BuildError(f"{PROGRAM} failed with status {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
    if not plan.is_file() or plan.stat().st_size == 0:
        raise BuildError(f"{PROGRAM} reported success and wrote no plan")


def _program() -> str:
    found = shutil.which(PROGRAM)
    if found is None:
        raise BuildError(
            f"{PROGRAM} is not on PATH. It comes with TensorRT; run this on the host with the GPU that will serve "
            "(deploy/triton/README.md)."
        )
    return found


def _encoders(repository: ModelRepository) -> list[str]:
    names = [entry.name for entry in repository.models if entry.inputs]
    return [name for name in names if repository.config(name).backend == "onnxruntime"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="build_tensorrt.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="repository to write")
    parser.add_argument("--model-repository", type=Path, default=REPOSITORY, metavar="DIR")
    parser.add_argument("--model", action="append", default=[], metavar="NAME", help="repeatable; all encoders")
    parser.add_argument("--fp16", action="store_true", help="compute in half precision where that is faster")
    parser.add_argument("--tokens", type=int, default=OPTIMAL_TOKENS, metavar="N", help="length it is tuned for")
    return parser


if __name__ == "__main__":
    sys.exit(main())
