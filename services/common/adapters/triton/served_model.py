"""Is the model that Triton serves the one in the repository? Asked once, before a process serves.

Triton's metadata and configuration are compared with ``config.pbtxt``: tensor names, element types, dimensions and
``max_batch_size``. A difference stops the process, since every score would rest on another model than the one that the
reports name. What Triton cannot be asked for, the digest of the weights it loaded, is up to the deployment: both read
one and the same folder (docs/how-to/triton.md).
"""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from tritonclient.grpc import model_config_pb2
from tritonclient.grpc.aio import InferenceServerClient
from tritonclient.utils import InferenceServerException

from services.common.errors import StartupError
from services.common.model_repository import ModelConfig, ModelRepositoryError, TensorSpec
from services.common.model_repository.config import DTYPES

POLL_S: Final = 0.25
"""Pause between two questions whether Triton is ready."""
ANSWER_S: Final = 5.0
"""Longest wait for one answer to such a question."""
VARIANT: Final = "groundtrail_variant"
"""Parameter of ``config.pbtxt`` by which a repository that was built from ours says what it holds."""
ONNX_PLATFORMS: Final = frozenset({"", "onnxruntime_onnx", "onnxruntime", "python"})
"""What runs the repository's own ONNX file, as Triton names it."""
KSERVE_DTYPES: Final = {
    "INT64": "int64", "INT32": "int32", "FP32": "float32", "FP16": "float16", "BOOL": "bool", "BYTES": "string",
}  # fmt: skip
"""Element types as KServe v2 spells them, to NumPy's names."""


async def wait_until_ready(client: InferenceServerClient, model: str, *, target: str, timeout_s: float) -> None:
    """Return when Triton and the model are ready.

    Raises:
        StartupError: they are not after ``timeout_s`` seconds; the message says what was seen last.
    """
    seen = "it has not answered"
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                try:
                    if await client.is_model_ready(model, client_timeout=ANSWER_S):
                        return
                    seen = f"it does not have the model {model} ready"
                except InferenceServerException as error:
                    seen = f"{error.status()}: {error.message()}"
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise StartupError(
            f"Triton at {target} was not ready after {timeout_s:g} s: {seen}. "
            "See GROUNDTRAIL_INFERENCE__TRITON__TARGET and …__START_TIMEOUT_S."
        ) from None


async def check_served(client: InferenceServerClient, expected: ModelConfig, *, target: str) -> str | None:
    """Compare the model that Triton serves with the repository's ``config.pbtxt``.

    Returns:
        What it is when it is not the repository's ONNX file that runs: the parameter ``groundtrail_variant`` of the
        served configuration, or else Triton's name of the platform. Its scores differ, so that reports name it.

    Raises:
        ModelRepositoryError: they differ; the message names every difference.
        StartupError: Triton did not answer.
    """
    try:
        metadata = await client.get_model_metadata(expected.name, client_timeout=ANSWER_S)
        config = (await client.get_model_config(expected.name, client_timeout=ANSWER_S)).config
    except InferenceServerException as error:
        raise StartupError(f"Triton at {target} does not describe {expected.name}: {error}") from error
    found = [
        *_differences("input", map(_of_metadata, metadata.inputs), expected.inputs),
        *_differences("output", map(_of_metadata, metadata.outputs), expected.outputs),
    ]
    if config.max_batch_size != expected.max_batch_size:
        found.append(f"max_batch_size is {config.max_batch_size}, not {expected.max_batch_size}")
    batched = config.max_batch_size > 0
    configured = [
        *_differences("configured input", (_of_config(t, batched=batched) for t in config.input), expected.inputs),
        *_differences("configured output", (_of_config(t, batched=batched) for t in config.output), expected.outputs),
    ]
    if found or configured:
        raise ModelRepositoryError(
            f"Triton at {target} serves another {expected.name} than the model repository's config.pbtxt describes: "
            f"{'; '.join(found or configured)}. Let both read the same folder."
        )
    if VARIANT in config.parameters:
        return str(config.parameters[VARIANT].string_value)
    return None if metadata.platform in ONNX_PLATFORMS else str(metadata.platform)


def _differences(kind: str, served: Iterable[TensorSpec], expected: Iterable[TensorSpec]) -> list[str]:
    found = {spec.name: spec for spec in served}
    wanted = {spec.name: spec for spec in expected}
    lines = [f"{kind} {name} is missing" for name in sorted(wanted.keys() - found.keys())]
    lines += [f"{kind} {name} is not expected" for name in sorted(found.keys() - wanted.keys())]
    lines += [
        f"{kind} {name} is {_told(found[name])}, not {_told(wanted[name])}"
        for name in sorted(found.keys() & wanted.keys())
        if found[name] != wanted[name]
    ]
    return lines


def _told(spec: TensorSpec) -> str:
    return f"{spec.dtype} {list(spec.shape)}"


def _of_metadata(tensor: Any) -> TensorSpec:
    return TensorSpec(tensor.name, KSERVE_DTYPES.get(tensor.datatype, tensor.datatype), tuple(tensor.shape))


def _of_config(tensor: Any, *, batched: bool) -> TensorSpec:
    dtype = model_config_pb2.DataType.Name(tensor.data_type)
    dims = tuple(tensor.dims)
    return TensorSpec(tensor.name, DTYPES.get(dtype, dtype), (-1, *dims) if batched else dims)
