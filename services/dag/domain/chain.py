"""The HMACs that chain windows and audit events (SPEC-004 §9; CRP-SPEC-011 facts; ADR 0004).

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
from services.common.ports.sessions import AuditEventRecord, WindowRecord

PARENT_SEPARATOR: Final = "|"
TRAIL_PREFIX: Final = "crp-trail-v1"
HEAD_PREFIX: Final = "crp-log-head-v1"
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
        return window_text(self)


def parent_input(parent_hmacs: Sequence[str]) -> str:
    """Return the parent part: empty for a root, the HMAC of one parent, or all sorted and joined (SPEC-004 §9.3)."""
    return PARENT_SEPARATOR.join(sorted(parent_hmacs))


def window_text(material: WindowMaterial | WindowRecord) -> str:
    """Return what an HMAC covers of the window itself, without the parent part."""
    stamp = iso_micros(material.timestamp)
    return f"{material.session_id}{material.window_number}{stamp}{material.response_hash}{material.report_hash}"


def chained_hmac(material: WindowMaterial, parent_hmacs: Sequence[str], key: bytes) -> str:
    """Return the chained HMAC of a root, linear, fan-out or fan-in window (SPEC-004 §9.1-§9.3)."""
    return Macs(key).window(material, parent_hmacs)[0]


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
    return Macs(key).event(material, previous_hmac)


def event_id(event_mac: str) -> str:
    """Return the event's id: it follows from its HMAC, so that it cannot be changed alone."""
    return EVENT_PREFIX + event_mac[:_EVENT_ID_DIGITS]


def head_mac(size: int, root: bytes, key: bytes) -> str:
    """Return the HMAC that a tenant's kept head is stored with (ADR 0099).

    Args:
        size: of the head that was signed.
        root: of it, 32 bytes.
        key: ``keys.log_head_key`` of the tenant.
    """
    return Macs(key).of(f"{HEAD_PREFIX}|{size}|{root.hex()}")


def same(left: str, right: str) -> bool:
    """Compare two digests in constant time."""
    return hmac.compare_digest(left.encode(), right.encode())


class Macs:
    """The HMACs of one session: the key is hashed into the state once and not again for every text.

    Args:
        key: the session's HMAC key, 32 bytes.
    """

    __slots__ = ("_keyed",)

    def __init__(self, key: bytes) -> None:
        self._keyed = hmac.new(key, digestmod=hashlib.sha256)

    def of(self, text: str) -> str:
        """Return the HMAC of a text, 64 hex digits."""
        mac = self._keyed.copy()
        mac.update(text.encode())
        return mac.hexdigest()

    def window(self, material: WindowMaterial | WindowRecord, parent_hmacs: Sequence[str]) -> tuple[str, str]:
        """Return the chained HMAC and the one over an empty parent."""
        mac = self._keyed.copy()
        mac.update(window_text(material).encode())
        alone = mac.hexdigest()
        if not parent_hmacs:
            return alone, alone
        mac.update(parent_input(parent_hmacs).encode())  # the parent part only follows the window's own
        return mac.hexdigest(), alone

    def event(self, material: EventMaterial | AuditEventRecord, previous_hmac: str, digest: str = "") -> str:
        """Return the HMAC of an audit event; ``digest`` is that of its data, where it was computed before."""
        digest = material.data_sha256 or digest or sha256_hex(material.data)
        stamp = iso_micros(material.timestamp)
        return self.of(f"{material.event_type}{stamp}{digest}{material.window_id}{previous_hmac}")

    def trail(self, version: int, events: int, last_hmac: str) -> str:
        """Return the HMAC that fixes where the session's audit trail ends (ADR 0058).

        Args:
            version: of the session record.
            events: how many the trail has.
            last_hmac: of its last event; empty when there is none.
        """
        return self.of(f"{TRAIL_PREFIX}|{version}|{events}|{last_hmac}")
