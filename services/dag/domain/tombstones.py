"""Tombstones: one event in the place of an erased session's records, and what it proves (ADR 0104).

The event is chained to the last one that it replaces, signed with the session's key and logged like any other. It holds
what proofs need once the records are gone: how many events and windows there were, the chain's tips, the erasure, and a
digest over the session's leaves, which stay in the log. So a tombstone that nobody made, one that stands for other
leaves, and a record that came back are all found.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from services.common.encoding import iso_micros, sha256_hex
from services.common.errors import ChainBrokenError, ErrorReason
from services.common.ports.sessions import AuditEventRecord, SessionStatus
from services.common.ports.transparency_log import LeafKind, LogLeaf
from services.common.taxonomy import ChainIntegrity
from services.dag.domain import chain
from services.dag.domain.events import OwnEvent, PendingEvent, session_data
from services.dag.domain.leaf_checks import fits_its_hash, name_of
from services.dag.domain.leaves import SALT_BYTES, event_loggable, salted_hmac
from services.dag.domain.repeated import repeats
from services.dag.domain.step import Step
from services.dag.domain.verification import Fault, StoredChain, Verification

_UNUSABLE: Final = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class _Found:
    """A fault of one record."""

    record_kind: str
    record_id: str
    detail: str

    def fault(self) -> Fault:
        return Fault(self.record_kind, self.record_id, self.detail)


def bury_session(stored: StoredChain, verification: Verification, reason: str) -> Step:
    """Return the tombstone of an erased session; the store drops the records with it.

    Args:
        stored: the session, ERASED.
        verification: of it.
        reason: why; stands in the event for good.

    Raises:
        ChainBrokenError: CHAIN_BROKEN: it does not verify: a tombstone hides no tampering.
    """
    before, erasure = stored.snapshot.session, _erasure(stored.events)
    if verification.integrity is not ChainIntegrity.TRUNCATED or erasure is None:
        fault = verification.fault
        where = f" at {fault.record_kind} {fault.record_id}" if fault else ""
        text = f"the session does not verify{where}, so no tombstone may stand for it"
        raise ChainBrokenError(ErrorReason.CHAIN_BROKEN, text, session_id=before.session_id)
    session = replace(before, status=SessionStatus.TOMBSTONED)
    data: dict[str, Any] = {
        "session": session_data(session),
        "reason": reason,
        "events": len(stored.events),
        "previous_hmac": stored.events[-1].hmac,
        "windows": verification.windows_total,
        "tips": list(verification.tips),
        "leaves": len(stored.leaves),
        "leaves_sha256": leaves_digest(stored.leaves),
        "erasure": {
            "event_id": erasure.event_id,
            "sequence": erasure.sequence,
            "timestamp": iso_micros(erasure.timestamp),
            "hmac": erasure.hmac,
            "data_sha256": sha256_hex(erasure.data),
        },
    }
    # The event says how many there were before it: it seals a trail that an earlier version left open (ADR 0099).
    return Step(session, drafts=(PendingEvent(OwnEvent.SESSION_TOMBSTONED, "", data),), reseals=True)


def leaves_digest(leaves: Sequence[LogLeaf]) -> str:
    """Return SHA-256 hex over a line for each leaf in order: ``<index> <leaf hash, 64 hex digits>`` and a line feed."""
    digest = hashlib.sha256()
    for leaf in leaves:
        digest.update(f"{leaf.leaf_index} {leaf.leaf_hash.hex()}\n".encode())
    return digest.hexdigest()


def is_tombstoned(stored: StoredChain) -> bool:
    """Say whether the session's row or its last event says that a tombstone stands for it."""
    last = stored.events[-1].event_type if stored.events else ""
    return stored.snapshot.session.status is SessionStatus.TOMBSTONED or last == OwnEvent.SESSION_TOMBSTONED


def is_tombstone(event: AuditEventRecord, key: bytes) -> bool:
    """Say whether the event is a tombstone that was made under this key."""
    try:
        mac = chain.Macs(key).event(event, str(json.loads(event.data)["previous_hmac"]))
    except _UNUSABLE:
        return False
    return event.event_type == OwnEvent.SESSION_TOMBSTONED and chain.same(mac, event.hmac)


def verify_tombstone(stored: StoredChain, key: bytes) -> Verification:
    """Recompute the tombstone and compare it with the session's row and with the log.

    Args:
        stored: the session as it is stored.
        key: its HMAC key.
    """
    try:
        data: dict[str, Any] = json.loads(stored.events[-1].data) if stored.events else {}
        found = (
            _event_fault(stored, data, chain.Macs(key))
            or _row_fault(stored, data)
            or _rest_fault(stored)
            or _log_fault(stored.events[-1], data, stored.leaves)
        )
    except _UNUSABLE:
        data, found = {}, _Found("event", _place(stored), "is no tombstone that can be read")
    whole = data if found is None else {}
    reason = f"a tombstone stands for the session since {iso_micros(stored.events[-1].timestamp)}" if whole else ""
    return Verification(
        integrity=ChainIntegrity.BROKEN if found else ChainIntegrity.TRUNCATED,
        windows_verified=0,
        windows_total=int(whole.get("windows", 0)),
        events_verified=1 if whole else 0,
        events_total=int(whole.get("events", len(stored.events) - 1)) + 1,
        fault=found.fault() if found else None,
        tips=tuple(whole.get("tips", ())),
        partial_reason=f"{reason}: {whole['reason']}" if whole else "",
    )


def _event_fault(stored: StoredChain, data: dict[str, Any], macs: chain.Macs) -> _Found | None:
    """Look for what is wrong with the event and the end of the trail."""
    if not stored.events:
        return _Found("event", "0", "is missing: a session without an event is no tombstone")
    event, last = stored.events[-1], stored.snapshot.last_event
    name = str(event.sequence)
    if event.event_type != OwnEvent.SESSION_TOMBSTONED:
        return _Found("event", name, "is no tombstone, although the session's status says so")
    mac = macs.event(event, str(data["previous_hmac"]))
    if not chain.same(mac, event.hmac) or not chain.same(event.event_id, chain.event_id(mac)):
        return _Found("event", name, "has an hmac or id that does not match its content and predecessor")
    session = stored.snapshot.session
    if (event.sequence, event.session_id) != (data["events"], session.session_id) or last is None:
        return _Found("event", name, "is not at its place in the chain")
    if not chain.same(macs.trail(session.version, event.sequence + 1, event.hmac), session.trail_mac):
        return _Found("event", str(event.sequence + 1), "is missing at the end of the chain, or trail_mac was changed")
    return None


def _row_fault(stored: StoredChain, data: dict[str, Any]) -> _Found | None:
    session = stored.snapshot.session
    if session_data(session) != data["session"] or not repeats(session, stored.events):
        return _Found("session", session.session_id, "differs from its tombstone")
    return None


def _rest_fault(stored: StoredChain) -> _Found | None:
    """Name a record that came back."""
    text = "is there although a tombstone stands for it"
    for event in stored.events[:-1]:
        return _Found("event", str(event.sequence), text)
    for window in stored.snapshot.windows:
        return _Found("window", window.window_id, text)
    for edge in stored.snapshot.edges:
        return _Found("edge", f"{edge.source_id} -> {edge.target_id}", text)
    for report in stored.reports:
        return _Found("report", report.report_id, text)
    return None


def _log_fault(event: AuditEventRecord, data: dict[str, Any], leaves: Sequence[LogLeaf]) -> _Found | None:
    """Compare the leaves with the tombstone's digest, and the tombstone with its own leaf, the last one."""
    own = leaves[-1] if leaves else None
    if own is None or (own.record_kind, own.record_id, own.position) != (
        LeafKind.EVENT,
        event.event_id,
        event.sequence,
    ):
        return _Found("leaf", event.event_id, "is not the last leaf of the session in the log")
    if len(event.salt) != SALT_BYTES:
        return _Found("leaf", event.event_id, "cannot be checked: the tombstone has no salt")
    if not chain.same(salted_hmac(event_loggable(event).content, event.salt), own.content_hmac):
        return _Found("leaf", event.event_id, "does not fit the tombstone")
    for leaf in leaves:
        if not fits_its_hash(leaf):
            return _Found("leaf", name_of(leaf), "does not fit its hash: it was changed")
    before = leaves[:-1]
    if len(before) != data["leaves"] or not chain.same(leaves_digest(before), str(data["leaves_sha256"])):
        return _Found("leaf", event.session_id, "of the session is missing, changed or more than the tombstone says")
    return None


def _erasure(events: Sequence[AuditEventRecord]) -> AuditEventRecord | None:
    return next((event for event in events if event.event_type == OwnEvent.SESSION_ERASED), None)


def _place(stored: StoredChain) -> str:
    return str(stored.events[-1].sequence) if stored.events else "0"
