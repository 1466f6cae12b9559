"""Making a value inside an ONNX graph one of its outputs, without touching the file.

In protobuf's wire format two serialised messages one behind the other are one message: what repeats is appended, and
sub-messages are merged. So a graph gets one more output by the bytes of a ``ModelProto`` that holds nothing else behind
those of the file, which stays the one that the manifest pins.
"""

from typing import Final

from services.common.model_repository import ModelRepositoryError, Tensor

_FLOAT: Final = 1
"""``TensorProto.FLOAT``."""


def output_declaration(tensor: Tensor) -> bytes:
    """Return what to append to a serialised ONNX model so that ``tensor`` is one of its outputs.

    Args:
        tensor: a value of the graph; its dimensions of -1 are left open.

    Raises:
        ModelRepositoryError: its elements are not float32.
    """
    if tensor.dtype != "float32":
        raise ModelRepositoryError(f"MANIFEST.json: {tensor.name} is {tensor.dtype}; an inner value must be float32")
    dimensions = b"".join(_message(1, b"" if size < 0 else _number(1, size)) for size in tensor.shape)
    tensor_type = _number(1, _FLOAT) + _message(2, dimensions)
    value_info = _message(1, tensor.name.encode()) + _message(2, _message(1, tensor_type))
    return _message(7, _message(12, value_info))  # ModelProto.graph, GraphProto.output


def _message(number: int, body: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    low = value & 0x7F
    return bytes([low]) if value < 0x80 else bytes([low | 0x80]) + _varint(value >> 7)  # noqa: PLR2004 - seven bits
