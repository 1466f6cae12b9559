"""The byte encodings that hashes and signatures are computed over (architecture decision 4, ADR 0004)."""

import base64
import hashlib
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

import rfc8785

SHA256_PREFIX: Final = "sha256:"


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
    """Return the RFC 8785 (JCS) bytes of a JSON value."""
    return rfc8785.dumps(value)


def base64url(data: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def base64url_decode(text: str) -> bytes:
    """Read base64url without padding, strictly.

    Raises:
        ValueError: a character outside the alphabet, padding, or non-canonical trailing bits.
    """
    raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if base64url(raw) != text:
        msg = "not canonical base64url"
        raise ValueError(msg)
    return raw
