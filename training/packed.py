"""Matrices as three codes of forty levels in two bytes: 5.6 bits a weight, scales included.

Each group of ``GROUP`` values down a column of a matrix has a float16 scale of its own; the codes 0 to 39 stand for
-19.5 to 19.5 times it. ONNX has no type of that size, so the graph takes the codes apart itself, with whole-number
division alone, and ONNX Runtime folds all of it to float32 once, when a session starts.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

GROUP: Final = 64
LEVELS: Final = 40
"""The cube of it fits in 16 bits."""
PER_WORD: Final = 3
PACKED: Final = ".packed"
"""Behind the name of a weight: what the names of its parts begin with."""
RESULT: Final = ".float"
"""Behind those: the matrix as it is multiplied."""
MIDDLE: Final = (LEVELS - 1) / 2
_TRIED: Final = np.linspace(0.8, 1.0, 9, dtype=np.float32)
"""Shares of the largest value that a group's scale is fitted to; what lies beyond is cut to the last level."""
_LEAST_SCALE: Final = np.float32(1e-7)
"""Stands in for the scale of a group of zeros; the smallest that float16 holds is 6e-8."""

Floats = NDArray[np.float32]
Words = NDArray[np.uint16]
Scales = NDArray[np.float16]


def can_pack(shape: tuple[int, ...]) -> bool:
    """Say whether a matrix is made of whole groups and whole words."""
    return shape[0] % GROUP == 0 and int(np.prod(shape)) % PER_WORD == 0


def can_pack_rows(shape: tuple[int, ...]) -> bool:
    """Say whether the rows of a table are made of whole groups, and the table of whole words."""
    return shape[1] % GROUP == 0 and int(np.prod(shape)) % PER_WORD == 0


def pack(value: Floats) -> tuple[Words, Scales]:
    """Store a matrix; of several scales each group has the one with the least squared error.

    Args:
        value: ``(inputs, outputs)``, of which ``can_pack`` holds.

    Returns:
        ``inputs * outputs / 3`` words: of the codes in the matrix's order the first third stands in the lowest place,
        the last in the highest; and the scales, ``(inputs / GROUP, 1, outputs)``.
    """
    groups = value.reshape(-1, GROUP, value.shape[1]).astype(np.float32)
    peaks = np.abs(groups).max(axis=1, keepdims=True)
    best, least = np.zeros(peaks.shape, dtype=np.float16), np.full(peaks.shape, np.inf, dtype=np.float32)
    for share in _TRIED:
        scale = np.maximum(peaks * share / MIDDLE, _LEAST_SCALE).astype(np.float16)
        restored = _values(_codes(groups, scale), scale)
        error = np.square(restored - groups).sum(axis=1, keepdims=True)
        best, least = np.where(error < least, scale, best), np.minimum(error, least)
    low, middle, high = _codes(groups, best).reshape(PER_WORD, -1)
    return (low + LEVELS * (middle + LEVELS * high)).astype(np.uint16), best


def unpack(words: Words, scales: Scales) -> Floats:
    """Return the matrix that the graph computes from what ``pack`` stored, ``(inputs, outputs)``."""
    left = words.astype(np.int32)
    codes = np.concatenate([left % LEVELS, left // LEVELS % LEVELS, left // LEVELS**2])
    return _values(codes.reshape(len(scales), GROUP, -1), scales).reshape(len(scales) * GROUP, -1)


def unpacking(name: str, value: Floats) -> tuple[list[onnx.TensorProto], list[onnx.NodeProto], str]:
    """Return the constants and nodes that give a matrix back, and the name of their result.

    Args:
        name: what every name begins with.
        value: ``(inputs, outputs)``, of which ``can_pack`` holds.
    """
    words, scales = pack(value)
    tensors = {
        **_of_words(words, (len(scales), GROUP, value.shape[1])),
        "scales": scales,
        "shape": np.array(value.shape, dtype=np.int64),
    }
    nodes = [
        *_taken_apart(name),
        _node(name, "Cast", ["codes"], "counted", to=TensorProto.FLOAT),
        _node(name, "Sub", ["counted", "middle"], "centred"),
        _node(name, "Cast", ["scales"], "factors", to=TensorProto.FLOAT),
        _node(name, "Mul", ["centred", "factors"], "scaled"),
        _node(name, "Reshape", ["scaled", "shape"], RESULT.removeprefix(".")),
    ]
    return _constants(name, tensors), nodes, f"{name}{RESULT}"


def looking_up(
    name: str, value: Floats, indices: str, output: str
) -> tuple[list[onnx.TensorProto], list[onnx.NodeProto]]:
    """Return the constants and nodes that look up rows of a table; in memory a code of it is a byte.

    Args:
        name: what every name begins with.
        value: ``(rows, width)``, of which ``can_pack_rows`` holds; a group is a part of a row.
        indices: name of the row numbers, ``(batch, tokens)``.
        output: name of the rows, ``(batch, tokens, width)``.
    """
    words, scales = pack(value.reshape(-1, 1))
    rows, width = value.shape
    tensors = {
        **_of_words(words, (rows, width // GROUP, GROUP)),
        "scales": scales.reshape(rows, width // GROUP, 1),
        "shape": np.array([0, 0, width], dtype=np.int64),
    }
    nodes = [
        *_taken_apart(name),
        _node(name, "Cast", ["codes"], "bytes", to=TensorProto.INT8),
        helper.make_node("Gather", [f"{name}.bytes", indices], [f"{name}.found"], name=f"{name}.found", axis=0),
        _node(name, "Cast", ["found"], "counted", to=TensorProto.FLOAT),
        _node(name, "Sub", ["counted", "middle"], "centred"),
        helper.make_node("Gather", [f"{name}.scales", indices], [f"{name}.theirs"], name=f"{name}.theirs", axis=0),
        _node(name, "Cast", ["theirs"], "factors", to=TensorProto.FLOAT),
        _node(name, "Mul", ["centred", "factors"], "scaled"),
        helper.make_node("Reshape", [f"{name}.scaled", f"{name}.shape"], [output], name=output),
    ]
    return _constants(name, tensors), nodes


def _of_words(words: Words, grouped: tuple[int, ...]) -> dict[str, NDArray[np.generic]]:
    """Return what ``_taken_apart`` reads: the codes come in the shape ``grouped``."""
    return {
        "words": words,
        "levels": np.array(LEVELS, dtype=np.int32),
        "middle": np.array(MIDDLE, dtype=np.float32),
        "grouped": np.array(grouped, dtype=np.int64),
    }


def _taken_apart(name: str) -> list[onnx.NodeProto]:
    return [
        _node(name, "Cast", ["words"], "all", to=TensorProto.INT32),
        _node(name, "Mod", ["all", "levels"], "low"),
        _node(name, "Div", ["all", "levels"], "upper"),
        _node(name, "Mod", ["upper", "levels"], "mid"),
        _node(name, "Div", ["upper", "levels"], "high"),
        _node(name, "Concat", ["low", "mid", "high"], "row", axis=0),
        _node(name, "Reshape", ["row", "grouped"], "codes"),
    ]


def _constants(name: str, tensors: Mapping[str, NDArray[np.generic]]) -> list[onnx.TensorProto]:
    return [numpy_helper.from_array(tensor, f"{name}.{part}") for part, tensor in tensors.items()]


def _codes(groups: Floats, scale: Scales) -> NDArray[np.int32]:
    counted = np.rint(groups / scale.astype(np.float32) + np.float32(MIDDLE))
    return np.clip(counted, 0, LEVELS - 1).astype(np.int32)


def _values(codes: NDArray[np.int32], scale: Scales) -> Floats:
    restored: Floats = (codes.astype(np.float32) - np.float32(MIDDLE)) * scale.astype(np.float32)
    return restored


def _node(name: str, kind: str, inputs: list[str], output: str, **attributes: Any) -> onnx.NodeProto:
    made = f"{name}.{output}"
    return helper.make_node(kind, [f"{name}.{one}" for one in inputs], [made], name=made, **attributes)
