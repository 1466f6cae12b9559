"""Which files an ONNX graph takes its weights from, read from its bytes without any library that would open them.

A graph may keep tensors in other files (``TensorProto.external_data``), named by a path. Whoever loads it opens that
path, so that the paths are looked at before anything loads it. Only the fields that lead to tensors are walked: graphs,
nodes, attributes and functions; a tensor's own bytes are skipped.
"""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal

MOST_DEPTH: Final = 32
MOST_MESSAGES: Final = 2_000_000
"""More nodes and tensors than the largest graphs have."""
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MOST_VARINT_BYTES: Final = 10

_MODEL, _GRAPH, _NODE, _ATTRIBUTE, _TENSOR, _SPARSE, _FUNCTION = range(7)
_INNER: Final = {
    _MODEL: {7: _GRAPH, 25: _FUNCTION},
    _GRAPH: {1: _NODE, 5: _TENSOR, 15: _SPARSE},
    _NODE: {5: _ATTRIBUTE},
    _ATTRIBUTE: {5: _TENSOR, 6: _GRAPH, 10: _TENSOR, 11: _GRAPH, 22: _SPARSE, 23: _SPARSE},
    _SPARSE: {1: _TENSOR, 2: _TENSOR},
    _FUNCTION: {7: _NODE, 11: _ATTRIBUTE},
    _TENSOR: {},
}
"""Per kind of message: the numbers of the fields that hold messages in which tensors may be (onnx.proto3)."""
_EXTERNAL_DATA: Final = 13
_KEY, _VALUE = 1, 2


@dataclass(frozen=True, slots=True)
class _Message:
    kind: int
    start: int
    end: int
    depth: int


def external_files(path: Path) -> tuple[str, ...]:
    """Return the paths of other files that a graph names, each once, as they stand in it.

    Raises:
        OwnModelError: GRAPH_UNUSABLE: the file is no ONNX graph.
    """
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return tuple(dict.fromkeys(_locations(data)))
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise OwnModelError(Refusal.GRAPH_UNUSABLE, f"{path.name} is no ONNX graph: {error}") from error


def _locations(data: mmap.mmap) -> Iterator[str]:
    waiting = [_Message(_MODEL, 0, len(data), 0)]
    seen = 0
    while waiting:
        message = waiting.pop()
        seen += 1
        if seen > MOST_MESSAGES or message.depth > MOST_DEPTH:
            msg = "it is nested too deeply, or has too many parts"
            raise ValueError(msg)
        inner = _INNER[message.kind]
        for number, start, end in _fields(data, message):
            if number in inner:
                waiting.append(_Message(inner[number], start, end, message.depth + 1))
            elif message.kind == _TENSOR and number == _EXTERNAL_DATA:
                entry = _Message(_TENSOR, start, end, message.depth + 1)
                found = {field: bytes(data[a:b]).decode() for field, a, b in _fields(data, entry)}
                if found.get(_KEY) == "location":
                    yield found.get(_VALUE, "")


def _fields(data: mmap.mmap, message: _Message) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each field that has a length."""
    at = message.start
    while at < message.end:
        tag, at = _varint(data, at, message.end)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            _, at = _varint(data, at, message.end)
        elif kind in {_FIXED64, _FIXED32}:
            at += 8 if kind == _FIXED64 else 4
        elif kind == _BYTES:
            length, at = _varint(data, at, message.end)
            if at + length > message.end:
                msg = "a field is longer than what it stands in"
                raise ValueError(msg)
            yield number, at, at + length
            at += length
        else:
            msg = f"wire type {kind}"
            raise ValueError(msg)
    if at != message.end:
        msg = "it ends in the middle of a field"
        raise ValueError(msg)


def _varint(data: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    value = 0
    for place in range(_MOST_VARINT_BYTES):
        if at + place >= end:
            break
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:  # noqa: PLR2004 - seven bits
            return value, at + place + 1
    msg = "a number does not end"
    raise ValueError(msg)
