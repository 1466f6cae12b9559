"""The HMACs that chain windows and audit events (SPEC-004 §9; CRP-SPEC-011 facts; architecture decision 4, ADR 0004).

``||`` of the specification is plain concatenation of UTF-8 text. Session id, timestamp, hashes and HMACs have fixed
widths and the window number is the only decimal number between them, so two different windows never give one input.
Everything is returned as 64 lower-case hex digits; ``sha256:`` is how headers print it.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.common.encoding import iso_micros, sha256_hex

PARENT_SEPARATOR: Final = "|"
EVENT_PREFIX: Final = "crp_evt_"
_EVENT_ID_DIGITS: Final = 32


@dataclass(frozen=True, slots=True)
class WindowMaterial:
    """What a window's HMAC covers of the window itself."""

    session_id: str
    window_number: int
    timestamp: datetime
    response_hash: str
    report_hash: str

    def text(self) -> str:
        """Return the concatenation without the parent part."""
        return (
            f"{self.session_id}{self.window_number}{iso_micros(self.timestamp)}{self.response_hash}{self.report_hash}"
        )


def parent_input(parent_hmacs: Sequence[str]) -> str:
    """Return the parent part: empty for a root, the HMAC of one parent, or all sorted and joined (SPEC-004 §9.3)."""
    return PARENT_SEPARATOR.join(sorted(parent_hmacs))


def chained_hmac(material: WindowMaterial, parent_hmacs: Sequence[str], key: bytes) -> str:
    """Return the chained HMAC of a root, linear, fan-out or fan-in window (SPEC-004 §9.1-§9.3)."""
    return _mac(material.text() + parent_input(parent_hmacs), key)


def window_hmac(material: WindowMaterial, key: bytes) -> str:
    """Return the HMAC of the window alone, over an empty parent (CRP-Provenance-Window-HMAC)."""
    return chained_hmac(material, (), key)


@dataclass(frozen=True, slots=True)
class EventMaterial:
    """What an audit event's HMAC covers.

    Attributes:
        data: canonical JSON text.
        data_sha256: 64 hex digits in its place when it was erased.
    """

    event_type: str
    timestamp: datetime
    data: str
    window_id: str
    data_sha256: str = ""


def event_hmac(material: EventMaterial, previous_hmac: str, key: bytes) -> str:
    """Return the HMAC of an audit event; ``previous_hmac`` is empty for the session's first."""
    digest = material.data_sha256 or sha256_hex(material.data)
    text = f"{material.event_type}{iso_micros(material.timestamp)}{digest}{material.window_id}"
    return _mac(text + previous_hmac, key)


def event_id(event_mac: str) -> str:
    """Return the event's id: it follows from its HMAC, so that it cannot be changed alone."""
    return EVENT_PREFIX + event_mac[:_EVENT_ID_DIGITS]


def same(left: str, right: str) -> bool:
    """Compare two digests in constant time."""
    return hmac.compare_digest(left.encode(), right.encode())


def _mac(text: str, key: bytes) -> str:
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
