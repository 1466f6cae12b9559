"""What the leaves of the transparency log say (ADR 0053): canonical content, salted hash, canonical leaf.

A leaf commits to its record by HMAC-SHA256 of the record's canonical content under 32 random bytes, the salt. Whoever
holds content and salt can recompute the leaf; without the salt the leaf tells nothing, not even to someone who guesses
the content. The leaf itself holds ids and numbers alone, so the tree outlives the content.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from services.common.encoding import canonical_json, iso_micros, sha256_hex
from services.common.merkle import leaf_hash
from services.common.ports.sessions import AuditEventRecord
from services.common.ports.transparency_log import LeafKind, LogLeaf
from services.dag.domain.events import OwnEvent

SALT_BYTES: Final = 32
LEAF_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Loggable:
    """A record that gets a leaf.

    Attributes:
        position: the window's number, or the event's sequence.
        content: canonical bytes.
    """

    session_id: str
    record_kind: LeafKind
    record_id: str
    position: int
    content: bytes


def event_loggable(event: AuditEventRecord) -> Loggable:
    """Return the event: all of its fields, ``data`` by its SHA-256."""
    fields = {
        "session_id": event.session_id,
        "sequence": event.sequence,
        "event_id": event.event_id,
        "event_type": event.event_type,
        "timestamp": iso_micros(event.timestamp),
        "window_id": event.window_id,
        "data_sha256": sha256_hex(event.data),
        "hmac": event.hmac,
    }
    return Loggable(event.session_id, LeafKind.EVENT, event.event_id, event.sequence, canonical_json(fields))


def window_loggable(session_id: str, node: Mapping[str, Any]) -> Loggable:
    """Return the committed window: the node as its DISPATCH_COMPLETED event has it, so as it was committed."""
    number = node["window_number"]
    return Loggable(session_id, LeafKind.WINDOW, str(node["window_id"]), int(number), canonical_json(node))


def committed_node(event: AuditEventRecord) -> Mapping[str, Any] | None:
    """Return the node of the window that the event commits; ``None`` for any other event, and after erasure."""
    if event.event_type != OwnEvent.DISPATCH_COMPLETED or not event.data:
        return None
    node: Mapping[str, Any] = json.loads(event.data)["node"]
    return node


def logged_records(events: Iterable[AuditEventRecord]) -> Iterable[tuple[LeafKind, str]]:
    """Yield kind and id of every record that the events stand for, as the log has them: a window before its event.

    Holds after erasure too, since type and window id of an event stay.
    """
    for event in events:
        if event.event_type == OwnEvent.DISPATCH_COMPLETED:
            yield LeafKind.WINDOW, event.window_id
        yield LeafKind.EVENT, event.event_id


def salted_hmac(content: bytes, salt: bytes) -> str:
    """Return the salted hash: 64 hex digits of HMAC-SHA256 with the salt as key."""
    return hmac.new(salt, content, hashlib.sha256).hexdigest()


def leaf_bytes(leaf: LogLeaf) -> bytes:
    """Return the leaf's canonical bytes (RFC 8785)."""
    return canonical_json(
        {
            "version": LEAF_VERSION,
            "record_kind": leaf.record_kind.value,
            "session_id": leaf.session_id,
            "record_id": leaf.record_id,
            "position": leaf.position,
            "content_hmac": leaf.content_hmac,
        }
    )


def new_leaf(record: Loggable, salt: bytes) -> LogLeaf:
    """Return the record's leaf, not yet in the log."""
    return with_hash(
        LogLeaf(
            session_id=record.session_id,
            record_kind=record.record_kind,
            record_id=record.record_id,
            position=record.position,
            content_hmac=salted_hmac(record.content, salt),
            leaf_hash=b"",
        )
    )


def with_hash(leaf: LogLeaf) -> LogLeaf:
    """Return the leaf with the hash of its bytes."""
    return replace(leaf, leaf_hash=leaf_hash(leaf_bytes(leaf)))
