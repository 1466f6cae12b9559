"""The byte encodings that hashes and signatures are computed over (ADR 0004)."""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

import rfc8785

SHA256_PREFIX: Final = "sha256:"
_MAX_INTEGER: Final = 2**53 - 1
_SMALLEST_PLAIN: Final = 1e-4
_PIECE: Final = 100
"""Elements of a list that are encoded at once."""
_ENCODE: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


@lru_cache(maxsize=256)
def iso_micros(moment: datetime) -> str:
    """Return ``YYYY-MM-DDTHH:MM:SS.ffffffZ``: always six digits and ``Z``, so that the width is fixed.

    Remembered for the latest moments, since one moment stands in many records of one step.

    Raises:
        ValueError: the moment has no timezone.
    """
    if moment.tzinfo is not UTC:
        if moment.tzinfo is None:
            msg = "a timestamp needs a timezone"
            raise ValueError(msg)
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


def parse_iso_micros(text: str) -> datetime:
    """Read what ``iso_micros`` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def sha256_hex(data: str | bytes) -> str:
    """Return 64 lower-case hex digits of SHA-256; text is hashed as UTF-8."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 (JCS) bytes of a JSON value.

    Where the standard library's encoder writes the same bytes, it does: it is written in C, and events and reports are
    made canonical many times a request. Whatever it would write otherwise goes the reference's way.

    Raises:
        ValueError: a value that JSON or RFC 8785 cannot express.
        RecursionError: it is nested too deeply.
    """
    try:
        return "".join(_written(_plain(value))).encode()
    except (_NotPlainError, UnicodeEncodeError):
        return rfc8785.dumps(value)


def _written(plain: Any, depth: int = 2) -> Iterator[str]:
    """Yield the text of a plain value in pieces: the encoder holds the interpreter for as long as one piece takes."""
    if type(plain) is dict and depth and len(plain) <= _PIECE:
        mark = "{"
        for name in sorted(plain):
            yield f"{mark}{_ENCODE(name)}:"
            yield from _written(plain[name], depth - 1)
            mark = ","
        yield "}" if plain else "{}"
    elif type(plain) is list and len(plain) > _PIECE:
        for start in range(0, len(plain), _PIECE):
            yield ("," if start else "[") + _ENCODE(plain[start : start + _PIECE])[1:-1]
        yield "]"
    else:
        yield _ENCODE(plain)


class _NotPlainError(Exception):
    """The two encoders may differ, or the value cannot be written at all."""


def _plain(value: Any) -> Any:
    """Return the value as the standard library prints it canonically; whole floats become integers (RFC 8785 §3.2.2.3).

    Names sort alike as ASCII. From 1e-4 on both print a float's shortest digits without an exponent.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is dict:
        if not all(type(name) is str and name.isascii() for name in value):
            raise _NotPlainError
        return {name: each if type(each) is str else _plain(each) for name, each in value.items()}
    if kind is list or kind is tuple:
        return [each if type(each) is str else _plain(each) for each in value]
    if kind is int and -_MAX_INTEGER <= value <= _MAX_INTEGER:
        return value
    if kind is float:
        if not _SMALLEST_PLAIN <= abs(value) <= _MAX_INTEGER and value != 0:
            raise _NotPlainError
        return int(value) if value.is_integer() else value
    if isinstance(value, str):  # a member of a StrEnum is its text
        return value
    raise _NotPlainError


def base64url(data: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


_FROM_URL: Final = bytes.maketrans(b"-_+/=", b"+/!!!")
"""Base64url to base64; what base64url has not becomes what base64 has not."""


def base64url_decode(text: str) -> bytes:
    """Read base64url without padding, strictly.

    Raises:
        ValueError: a character outside the alphabet, padding, or non-canonical trailing bits.
    """
    padded = text.encode("ascii").translate(_FROM_URL) + b"=" * (-len(text) % 4)
    raw = binascii.a2b_base64(padded, strict_mode=True)
    over = len(raw) % 3  # bytes of the last group: its text alone can hold bits that stand for nothing
    if over and base64url(raw[-over:]) != text[-over - 1 :]:
        msg = "not canonical base64url"
        raise ValueError(msg)
    return raw


def base64_decode(text: str) -> bytes:
    """Read base64 with padding, strictly: two texts never give the same bytes.

    Raises:
        ValueError: a character outside the alphabet, wrong padding, or non-canonical trailing bits.
    """
    raw = base64.b64decode(text, validate=True)
    if base64.b64encode(raw).decode("ascii") != text:
        msg = "not canonical base64"
        raise ValueError(msg)
    return raw
