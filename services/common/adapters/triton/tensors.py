"""A request's tensors in and out: what is sent for a group of texts, and what may come back."""

from collections.abc import Sequence
from typing import Any, Final

from numpy.typing import NDArray
from tritonclient.grpc import InferInput, InferRequestedOutput, InferResult

from services.common.adapters.encoders.backend import TokenIds
from services.common.adapters.encoders.feeds import feeds
from services.common.errors import ErrorReason, UnavailableError
from services.common.model_repository import ModelEntry

KSERVE: Final = {"int64": "INT64", "int32": "INT32", "float32": "FP32", "float16": "FP16", "bool": "BOOL"}
"""NumPy's names to those of KServe v2."""


def inputs_of(entry: ModelEntry, group: Sequence[TokenIds], width: int) -> list[tuple[InferInput, NDArray[Any]]]:
    """Return each input of the request with its values, shape ``(len(group), width)``; not yet joined."""
    values = feeds(entry, group, width)
    return [
        (InferInput(tensor.name, [len(group), width], KSERVE[tensor.dtype]), values[tensor.name])
        for tensor in entry.inputs
    ]


def requested(entry: ModelEntry) -> list[InferRequestedOutput]:
    """Name the outputs of the manifest, in its order."""
    return [InferRequestedOutput(tensor.name) for tensor in entry.outputs]


def outputs_of(entry: ModelEntry, result: InferResult) -> list[NDArray[Any]]:
    """Return the outputs of the manifest, in its order; shapes and values are not checked here.

    Raises:
        UnavailableError: MODEL_UNAVAILABLE: an output is missing, is of another element type, or has more or fewer
            bytes than its shape says.
    """
    arrays = []
    for tensor in entry.outputs:
        answer = result.get_output(tensor.name)
        if answer is None:
            raise _malformed(entry, tensor.name, "no such output")
        if answer.datatype != KSERVE[tensor.dtype]:
            raise _malformed(entry, tensor.name, f"{answer.datatype} instead of {KSERVE[tensor.dtype]}")
        try:
            arrays.append(result.as_numpy(tensor.name))
        except ValueError as error:  # the bytes do not fill the shape, or are no whole number of elements
            raise _malformed(entry, tensor.name, "bytes that do not fill its shape") from error
    return arrays


def _malformed(entry: ModelEntry, output: str, found: str) -> UnavailableError:
    return UnavailableError(
        ErrorReason.MODEL_UNAVAILABLE,
        f"Model {entry.name} returned {found} in {output}.",
        model=entry.name,
        output=output,
    )
