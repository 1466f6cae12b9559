"""What a backend may give back: finite numbers, one array per output of the manifest, of the manifest's shape.

NaN, infinity or another shape is an error that names the model and the output, never a score. Every backend passes what
it got through ``checked`` before anyone reads it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.encoders.backend import Outputs
from services.common.errors import ErrorReason, UnavailableError
from services.common.model_repository import ModelEntry, Tensor


def checked(
    entry: ModelEntry, outputs: Sequence[NDArray[Any]], lengths: Sequence[int], *, width: int | None = None
) -> list[Outputs]:
    """Split a batch's outputs into those of its items, after proving that they can be read.

    Args:
        entry: whose outputs they are; a dimension of -1 after the batch's counts tokens.
        outputs: one array per output of the manifest, in its order, batch dimension first.
        lengths: tokens of each item, special tokens included, in the batch's order.
        width: tokens that each item was padded to; ``None`` = the longest item's.

    Returns:
        Per item one float32 array per output; where a dimension counts tokens, what stands at padding is cut off.

    Raises:
        UnavailableError: MODEL_UNAVAILABLE: an output is missing, has another shape or element type, or holds NaN or
            infinity at a position that belongs to an item.
    """
    if len(outputs) != len(entry.outputs):
        raise _error(entry, "outputs", f"{len(outputs)} outputs instead of {len(entry.outputs)}")
    padded = max(lengths, default=0) if width is None else width
    arrays = [
        _shaped(entry, tensor, np.asarray(output), len(lengths), padded)
        for tensor, output in zip(entry.outputs, outputs, strict=True)
    ]
    items = [
        tuple(_trimmed(tensor, array[row], length) for tensor, array in zip(entry.outputs, arrays, strict=True))
        for row, length in enumerate(lengths)
    ]
    for column, array in enumerate(arrays):
        # The whole array first: item by item only when something is wrong, which may be at padding alone.
        if not np.isfinite(array).all() and not all(np.isfinite(item[column]).all() for item in items):
            raise _error(entry, entry.outputs[column].name, "a value that is not a finite number")
    return items


def _shaped(entry: ModelEntry, tensor: Tensor, array: NDArray[Any], items: int, width: int) -> NDArray[np.float32]:
    expected = (items, *(width if size < 0 else size for size in tensor.shape[1:]))
    if array.shape != expected:
        raise _error(entry, tensor.name, f"the shape {list(array.shape)} instead of {list(expected)}")
    if not np.issubdtype(array.dtype, np.floating):
        raise _error(entry, tensor.name, f"elements of type {array.dtype}")
    return array.astype(np.float32, copy=False)


def _trimmed(tensor: Tensor, row: NDArray[np.float32], length: int) -> NDArray[np.float32]:
    return row[tuple(slice(length) if size < 0 else slice(None) for size in tensor.shape[1:])]


def _error(entry: ModelEntry, output: str, found: str) -> UnavailableError:
    return UnavailableError(
        ErrorReason.MODEL_UNAVAILABLE,
        f"Model {entry.name} returned {found} in {output}.",
        model=entry.name,
        output=output,
    )
