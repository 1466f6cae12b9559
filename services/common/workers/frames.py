"""What parent and child say to one another: frames of JSON with bytes behind it.

JSON because reading it runs nothing: a child is where hostile documents are parsed. Lone surrogates survive (they are
escaped), floats too (to the last bit).
"""

import json
import struct
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any
"""None, bool, int, float, str, list, dict with keys of str; tuples arrive as lists."""
HEADER: Final = struct.Struct("<II")
"""Bytes of JSON, bytes behind it."""
MAX_FRAME_BYTES: Final = 1 << 30


def frame(message: Json, blob: bytes = b"") -> bytes:
    """Return a frame's header and JSON; ``blob`` is to be sent behind it."""
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return HEADER.pack(len(body), len(blob)) + body


def lengths(header: bytes) -> tuple[int, int]:
    """Return how many bytes of JSON and how many behind it follow a header.

    Raises:
        ValueError: more than any frame has: whoever sent it is out of its mind.
    """
    body, blob = HEADER.unpack(header)
    if body + blob > MAX_FRAME_BYTES:
        raise ValueError("a frame is larger than any may be")
    return body, blob
