"""Full-chain verification over what is stored (SPEC-004 §9.4; architecture decision 10).

Everything is recomputed: the audit chain event by event, the session's fixed fields and every window's node and edges
against the latest event that holds them, the response and report hashes from the stored content, the window HMACs from
the root on, and the five invariants. The first record that does not hold is named, in the order session's events,
session, windows by (window_number, window_id) with their edges and reports, invariants, leaves. The session's leaves in
the tenant's log are compared with its records, both ways (ADR 0099). VALID is never said of windows
that were not recomputed; a chain that starts from an adopted window (§10.2) or is over the limit is PARTIAL. Of an
erased session, what is left is compared with the erasure's event; it is TRUNCATED.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Any, Final

from services.common.encoding import sha256_hex
from services.common.ports.sessions import (
    AuditEventRecord,
    EdgeRecord,
    ReportRecord,
    SessionSnapshot,
    SessionStatus,
    WindowRecord,
    WindowStatus,
)
from services.common.ports.transparency_log import LogLeaf
from services.dag.domain import chain
from services.dag.domain.events import (
    SESSION_EVENTS,
    WINDOW_EVENTS,
    OwnEvent,
    report_data,
    session_data,
    window_data,
)
from services.dag.domain.invariants import violations
from services.dag.domain.leaf_checks import Records, compare_leaves
from services.dag.domain.promises import Promise, read_promise
from services.dag.domain.record_texts import report_text, window_text
from services.dag.domain.remains import report_digest, window_digest
from services.dag.domain.repeated import repeats
from services.dag.domain.stored_report import cut_report_hash, read_body
from services.dag.domain.view import DagView, is_adopted

_UNUSABLE: Final = (ValueError, TypeError, AttributeError, RecursionError)
_CANNOT_BE_HASHED: Final = "holds a value that cannot be hashed"


@unique
class Integrity(StrEnum):
    """CRP-Provenance-Chain-Integrity."""

    VALID = "VALID"
    BROKEN = "BROKEN"
    PARTIAL = "PARTIAL"
    UNVERIFIED = "UNVERIFIED"
    TRUNCATED = "TRUNCATED"


@dataclass(frozen=True, slots=True)
class Fault:
    """The first record that does not hold.

    Attributes:
        record_kind: event, session, window, edge, report or leaf; log where a page of the log is damaged.
        record_id: its id; ``source -> target`` for an edge, the sequence for an event; for a leaf its
            record's id, or its index where it has none.
        detail: what does not hold, without content.
    """

    record_kind: str
    record_id: str
    detail: str


@dataclass(frozen=True, slots=True)
class StoredChain:
    """One session as it is stored: events up to the snapshot's last, reports of its windows, its leaves by index."""

    snapshot: SessionSnapshot
    events: tuple[AuditEventRecord, ...]
    reports: tuple[ReportRecord, ...]
    leaves: tuple[LogLeaf, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found.

    Attributes:
        windows_verified, windows_total: committed windows that were recomputed and match; all committed ones.
        events_verified, events_total: the same of audit events.
        integrity: TRUNCATED when the content was erased and what is left holds.
        fault: set exactly when BROKEN.
        tips: HMACs of the committed leaves, sorted.
        partial_reason: set exactly when PARTIAL.
        quality_before: for each adopted leaf, the quality history up to and including it at the other instance.
    """

    integrity: Integrity
    windows_verified: int
    windows_total: int
    events_verified: int
    events_total: int
    fault: Fault | None = None
    tips: tuple[str, ...] = ()
    partial_reason: str = ""
    quality_before: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def not_read(fault: Fault) -> Verification:
    """Return what is found of a chain of which a record does not parse: nothing was recomputed."""
    return Verification(Integrity.BROKEN, 0, 0, 0, 0, fault=fault)


class _BadRecordError(Exception):
    """Ends the walk at the first record that does not hold."""

    def __init__(self, record_kind: str, record_id: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = Fault(record_kind, record_id, detail)


@dataclass(slots=True)
class _Walk:
    """One verification under way."""

    stored: StoredChain
    key: bytes
    max_windows: int
    dag: DagView = field(init=False)
    macs: chain.Macs = field(init=False)
    session_text: str = "{}"
    window_texts: dict[str, str] = field(default_factory=dict)
    report_texts: dict[str, str] = field(default_factory=dict)
    """Data of the latest event that holds each record, as stored: parsed only where the text alone does not do."""
    erased_at: int = field(init=False)
    erasure: dict[str, Any] = field(default_factory=dict)
    promise: Promise | None = None
    sealed_at: int = 0
    """Sequence of the event that sealed a trail which an earlier version left open; 0 = it never was."""
    digests: list[str] = field(default_factory=list)
    """SHA-256 of the data of every event that was recomputed."""
    older: int = 0
    """Records that are older than the log."""
    events_verified: int = 0
    windows_verified: int = 0

    def __post_init__(self) -> None:
        self.dag = DagView.of(self.stored.snapshot)
        self.macs = chain.Macs(self.key)
        self.erased_at = _erasure_of(self.stored.events, self.macs)
        """Sequence of the SESSION_ERASED event, before which events have no data; 0 = nothing was erased."""


def verify_chain(stored: StoredChain, key: bytes, max_windows: int) -> Verification:
    """Recompute the whole chain.

    Args:
        stored: the session as it is stored.
        key: its HMAC key.
        max_windows: windows that are recomputed at most, the latest ones; with more the result is PARTIAL at best.
    """
    walk = _Walk(stored, key, max_windows)
    fault = None
    try:
        _walk_events(walk)
        _check_session(walk)
        if walk.erased_at:
            _walk_remains(walk)
        else:
            _walk_windows(walk)
        _check_rest(walk)
        _check_leaves(walk)
    except _BadRecordError as bad:
        fault = bad.fault
    return _result(walk, fault)


def is_first_event(event: AuditEventRecord, key: bytes) -> bool:
    """Say whether the event begins a chain under this key."""
    return _is_text(event.hmac, chain.Macs(key).event, event, "")


def _result(walk: _Walk, fault: Fault | None) -> Verification:
    committed = walk.dag.committed
    own = [window for window in committed if not is_adopted(window)]
    partial = ""
    if len(own) < len(committed):
        partial = "the chain continues one of which earlier windows are not in this store"
    elif walk.windows_verified < len(own):
        partial = f"only the latest {walk.max_windows} of {len(own)} windows were recomputed"
    elif not walk.stored.snapshot.session.trail_mac:
        partial = "nothing says where the audit trail ends: the session has no trail_mac"
    elif walk.sealed_at:
        partial = f"nothing says whether the trail was whole before event {walk.sealed_at}, which seals it"
    elif walk.older:
        partial = f"{walk.older} records are older than the log, which so proves nothing of them"
    integrity = Integrity.PARTIAL if partial else Integrity.VALID if committed else Integrity.UNVERIFIED
    if walk.erased_at:
        integrity, partial = Integrity.TRUNCATED, ""
    return Verification(
        integrity=Integrity.BROKEN if fault else integrity,
        windows_verified=walk.windows_verified,
        windows_total=len(committed),
        events_verified=walk.events_verified,
        events_total=len(walk.stored.events),
        fault=fault,
        tips=tuple(sorted(leaf.hmac for leaf in walk.dag.leaves())),
        partial_reason="" if fault else partial,
        quality_before={} if fault else _quality_before(walk),
    )


def _quality_before(walk: _Walk) -> dict[str, tuple[str, ...]]:
    """Return the quality history that each adopted leaf came with; its event was compared with it before."""
    texts = {w.window_id: walk.window_texts.get(w.window_id, "{}") for w in walk.dag.committed if is_adopted(w)}
    states = {window_id: json.loads(text) for window_id, text in texts.items()}
    return {name: tuple(state["adopted"]["quality_history"]) for name, state in states.items() if "adopted" in state}


def _walk_events(walk: _Walk) -> None:
    """Recompute the audit chain and note the latest state that it records of every record."""
    previous, session_id, macs = "", walk.stored.snapshot.session.session_id, walk.macs
    for position, event in enumerate(walk.stored.events):
        if event.sequence != position or event.session_id != session_id:
            raise _BadRecordError("event", str(position), "is missing or out of order")
        if walk.erased_at or event.data_sha256:
            _check_erased(walk, event, str(position))
        try:
            digest = sha256_hex(event.data)
            mac = macs.event(event, previous, digest)
        except _UNUSABLE:
            raise _BadRecordError("event", str(position), _CANNOT_BE_HASHED) from None
        if not chain.same(mac, event.hmac):
            text = "has an hmac that does not match its content and predecessor"
            raise _BadRecordError("event", str(position), text)
        if not chain.same(event.event_id, chain.event_id(mac)):
            raise _BadRecordError("event", str(position), "has an event_id that does not follow from its hmac")
        previous = mac
        walk.digests.append(digest)
        walk.events_verified += 1
        _note(walk, event)
    last, count = walk.stored.snapshot.last_event, len(walk.stored.events)
    if not count or last is None or last.hmac != previous:
        raise _BadRecordError("event", str(count), "is missing at the end of the chain")
    _check_trail(walk, count, previous)


def _check_trail(walk: _Walk, count: int, last_hmac: str) -> None:
    """Compare the trail's end with the session's trail_mac, which is there when the session's own events say so."""
    session = walk.stored.snapshot.session
    if session.trail_mac:
        if chain.same(walk.macs.trail(session.version, count, last_hmac), session.trail_mac):
            return
        text = "is missing at the end of the chain, or the session's version or trail_mac was changed"
    elif walk.promise is not None:
        text = "is missing at the end of the chain, or the session's trail_mac was emptied: an event says there is one"
    else:
        return
    _check_said(walk)  # of a session that was closed or erased as broken, what was found first is said again
    raise _BadRecordError("event", str(count), text)


def _erasure_of(events: Sequence[AuditEventRecord], macs: chain.Macs) -> int:
    """Return the position of the SESSION_ERASED event that is chained to its predecessor; 0 when there is none."""
    for position in range(1, len(events)):
        event = events[position]
        if event.event_type == OwnEvent.SESSION_ERASED and _is_text(
            event.hmac, macs.event, event, events[position - 1].hmac
        ):
            return position
    return 0


def _check_erased(walk: _Walk, event: AuditEventRecord, name: str) -> None:
    """Data is missing exactly where a later event of the chain says that it was erased."""
    if event.sequence >= walk.erased_at:
        if event.data_sha256:
            raise _BadRecordError("event", name, "says that its data was erased, and no later event does")
    elif event.data:
        raise _BadRecordError("event", name, "holds data although the session was erased")


def _note(walk: _Walk, event: AuditEventRecord) -> None:
    kind = event.event_type
    if not event.data:
        return
    if kind in WINDOW_EVENTS:
        walk.window_texts[event.window_id] = event.data
    elif kind == OwnEvent.DPE_COMPLETED:
        walk.report_texts[event.window_id] = event.data
    elif kind in SESSION_EVENTS:
        walk.session_text = event.data
        promise: Promise | None = _computed("event", str(event.sequence), read_promise, event)
        walk.promise = walk.promise or promise
        walk.sealed_at = walk.sealed_at or (promise.since if promise else 0)
        if kind == OwnEvent.SESSION_ERASED:
            walk.erasure = _parsed("event", str(event.sequence), event.data)


def _check_session(walk: _Walk) -> None:
    session = walk.stored.snapshot.session
    state = _parsed("session", session.session_id, walk.session_text)
    if _computed("session", session.session_id, session_data, session) != state.get("session"):
        raise _BadRecordError("session", session.session_id, "differs from its latest SESSION event")
    if not repeats(session, walk.stored.events):
        text = "has a time of its last write or status, or a legal hold, that is not its trail's"
        raise _BadRecordError("session", session.session_id, text)


def _walk_windows(walk: _Walk) -> None:
    for window_id in walk.window_texts:
        if window_id not in walk.dag.by_id:
            raise _BadRecordError("window", window_id, "is missing: the audit chain holds it, the store does not")
    reports = {report.report_id: report for report in walk.stored.reports}
    own = [window for window in walk.dag.committed if not is_adopted(window)]
    recomputed = {window.window_id for window in own[-walk.max_windows :]}
    for window in walk.dag.windows:
        _check_record(walk, window)
        if window.window_id in recomputed:
            _check_content(walk, window, reports.get(window.report_id))
            _check_hmac(walk, window)
            walk.windows_verified += 1


def _walk_remains(walk: _Walk) -> None:
    """Compare what an erasure left with the digests in its event, and recompute the windows' HMACs (ADR 0055)."""
    expected: dict[str, str] = walk.erasure["windows"]
    for window_id in expected:
        if window_id not in walk.dag.by_id:
            raise _BadRecordError("window", window_id, "is missing: the erasure's event holds it, the store does not")
    for window in walk.dag.windows:
        name = window.window_id
        if window.response_text:
            raise _BadRecordError("window", name, "holds a response although the session was erased")
        found = _computed("window", name, window_digest, window, walk.dag.edges_into(name))
        if not chain.same(found, expected.get(name, "")):
            raise _BadRecordError("window", name, "or an edge into it differs from what the erasure left")
        if window.status is WindowStatus.COMMITTED and not is_adopted(window):
            _check_hmac(walk, window)
            walk.windows_verified += 1
    _check_erased_reports(walk)
    _check_said(walk)


def _check_said(walk: _Walk) -> None:
    """Say again what the session's last event says was broken when it was erased or closed (§16.4).

    The incident's event is chained to what was left, so that nothing else may be wrong by now.
    """
    fault = walk.erasure.get("fault_before")
    if fault is not None:
        detail = "did not verify when the session was erased"
        raise _BadRecordError(fault["record_kind"], fault["record_id"], detail)
    incident = _parsed("session", walk.stored.snapshot.session.session_id, walk.session_text)
    if "record_kind" in incident:
        named = (incident["record_kind"], incident.get("record_id", ""))
        raise _BadRecordError(*named, "did not verify when the session was closed")


def _check_erased_reports(walk: _Walk) -> None:
    expected: dict[str, str] = walk.erasure["reports"]
    for report in walk.stored.reports:
        name = report.report_id
        if report.body or report.inputs:
            raise _BadRecordError("report", name, "holds content although the session was erased")
        if not chain.same(_computed("report", name, report_digest, report), expected.get(name, "")):
            raise _BadRecordError("report", name, "differs from what the erasure left")
    held = {report.report_id for report in walk.stored.reports}
    for name in expected:
        if name not in held:
            raise _BadRecordError("report", name, "is missing")


def _check_record(walk: _Walk, window: WindowRecord) -> None:
    """Compare node and edges with the window's latest event: as text, and field by field when that differs."""
    name = window.window_id
    text = walk.window_texts.get(name)
    if text is None:
        raise _BadRecordError("window", name, "is not in the audit chain")
    edges = walk.dag.edges_into(name)
    if not _is_text(text, window_text, window, edges):
        state = _parsed("window", name, text)
        found = _computed("window", name, window_data, window, edges)
        if found["node"] != state["node"]:
            names = [field for field, value in found["node"].items() if value != state["node"].get(field)]
            raise _BadRecordError("window", name, f"differs from its latest event in {', '.join(names)}")
        _check_edges(edges, found["edges"], state["edges"])
    if window.response_text and not window.report_id:
        raise _BadRecordError("window", name, "holds a response that was never committed")


def _check_edges(edges: Sequence[EdgeRecord], found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    for edge, data in zip(sorted(edges, key=lambda edge: edge.source_id), found, strict=True):
        if data not in expected:
            raise _BadRecordError("edge", f"{edge.source_id} -> {edge.target_id}", "differs from its window's event")
    for data in expected:
        if data not in found:
            raise _BadRecordError("edge", f"{data['source_id']} -> {data['target_id']}", "is missing")


def _check_content(walk: _Walk, window: WindowRecord, report: ReportRecord | None) -> None:
    """Recompute the response hash and the report hash from the stored content."""
    if not chain.same(sha256_hex(window.response_text), window.response_hash):
        raise _BadRecordError("window", window.window_id, "has a response that does not match its response_hash")
    if report is None:
        raise _BadRecordError("report", window.report_id, "is missing")
    name = report.report_id
    body = _computed("report", name, report.body.encode)
    hashes = (sha256_hex(body), _computed("report", name, sha256_hex, report.inputs) if report.inputs else "")
    text = walk.report_texts.get(window.window_id, "{}")
    if not _is_text(text, report_text, report, *hashes):
        found = _computed("report", name, report_data, report)
        if found != _parsed("report", name, text).get("report"):
            raise _BadRecordError("report", name, "differs from its DPE_COMPLETED event")
    expected = {
        "session_id": window.session_id,
        "window_id": window.window_id,
        "report_hash": window.report_hash,
        "hmac": window.hmac,
        "response_content_hash": window.response_hash,
    }
    if not _is_text(window.report_hash, cut_report_hash, body, expected):
        fields, hashed = _computed("report", name, read_body, report.body)
        if not chain.same(hashed, window.report_hash):
            raise _BadRecordError("report", name, "has a body that does not match its report_hash")
        if any(fields.get(member) != value for member, value in expected.items()):
            raise _BadRecordError("report", name, "is not the report of its window")
    owner = (window.session_id, window.window_id, window.report_hash)
    if (report.session_id, report.window_id, report.report_hash) != owner:
        raise _BadRecordError("report", name, "is not the report of its window")


def _check_hmac(walk: _Walk, window: WindowRecord) -> None:
    """Recompute the chained HMAC over the stored parents' (SPEC-004 §9.1-§9.3) and the window's own."""
    parents = [walk.dag.by_id.get(parent) for parent in window.parent_ids]
    hmacs = [parent.hmac for parent in parents if parent is not None and parent.hmac]
    if len(hmacs) != len(parents):
        raise _BadRecordError("window", window.window_id, "has a parent without an hmac")
    chained, alone = walk.macs.window(window, hmacs)
    if not chain.same(chained, window.hmac):
        raise _BadRecordError("window", window.window_id, "has an hmac that does not match its content and parents")
    if not chain.same(alone, window.window_hmac):
        raise _BadRecordError("window", window.window_id, "has a window_hmac that does not match its content")


def _check_rest(walk: _Walk) -> None:
    """Refuse reports of no window, then whatever breaks an invariant."""
    owned = {window.report_id for window in walk.dag.windows if window.status is WindowStatus.COMMITTED}
    for report in walk.stored.reports:
        if report.report_id not in owned:
            raise _BadRecordError("report", report.report_id, "belongs to no committed window")
    _check_said(walk)
    if walk.stored.snapshot.session.status is SessionStatus.BROKEN:
        session_id = walk.stored.snapshot.session.session_id
        raise _BadRecordError("session", session_id, "did not verify when the session was closed")
    for violation in violations(walk.dag)[:1]:
        detail = f"{violation.invariant}: {violation.detail}"
        raise _BadRecordError(violation.record_kind, violation.record_id, detail)


def _check_leaves(walk: _Walk) -> None:
    """Compare the session's records with its leaves in the log, both ways (ADR 0099)."""
    since = None if walk.promise is None else walk.promise.since
    records = Records(walk.stored.events, walk.digests, walk.dag.by_id)
    found = compare_leaves(walk.stored.leaves, records, since)
    if found.fault is not None:
        raise _BadRecordError("leaf", found.fault.record_id, found.fault.detail)
    walk.older = found.older


def _computed(record_kind: str, record_id: str, compute: Any, *arguments: Any) -> Any:
    """Return ``compute(*arguments)``; a stored value that cannot even be computed on is a bad record."""
    try:
        return compute(*arguments)
    except _UNUSABLE:
        raise _BadRecordError(record_kind, record_id, _CANNOT_BE_HASHED) from None


def _parsed(record_kind: str, record_id: str, text: str) -> dict[str, Any]:
    """Return the data of one of our own events."""
    data: dict[str, Any] = _computed(record_kind, record_id, json.loads, text)
    return data


def _is_text(text: str, compute: Callable[..., str], *arguments: Any) -> bool:
    """Say whether ``compute(*arguments)`` gives the text; what it cannot be computed on is told by the longer way."""
    try:
        return chain.same(compute(*arguments), text)
    except _UNUSABLE:
        return False
