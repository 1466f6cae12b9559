"""The few bytes of HTTP/2 that a client needs who does not keep to the rules: no library lets one reset so fast."""

import struct
from typing import Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_HEADERS, _RST_STREAM, _SETTINGS = 1, 3, 4
_END_STREAM, _END_HEADERS, _ACK = 0x1, 0x4, 0x1
_CANCEL: Final = 8


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return a frame (RFC 9113 §4.1)."""
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def settings() -> bytes:
    """Return the client's own, empty settings."""
    return frame(_SETTINGS, 0, 0)


def acknowledged() -> bytes:
    """Return the acknowledgement of the server's settings, from which on its bounds hold."""
    return frame(_SETTINGS, _ACK, 0)


def call(path: str, **metadata: str) -> bytes:
    """Return the header block of a gRPC call: literals without indexing (RFC 7541 §6.2.2), names and values short."""
    fields = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "x", "te": "trailers"}
    fields |= {"content-type": "application/grpc", **metadata}
    return b"".join(b"\0" + _text(name) + _text(value) for name, value in fields.items())


def headers(stream: int, block: bytes, *, ends: bool = False) -> bytes:
    """Return the frame that opens a stream."""
    return frame(_HEADERS, _END_HEADERS | (_END_STREAM if ends else 0), stream, block)


def reset(stream: int) -> bytes:
    """Return the frame that gives a stream up."""
    return frame(_RST_STREAM, 0, stream, struct.pack(">I", _CANCEL))


def _text(text: str) -> bytes:
    data = text.encode("ascii")
    if len(data) > 126:
        raise ValueError("too long for a length of one byte")
    return bytes((len(data),)) + data
