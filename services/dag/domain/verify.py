"""Full-chain verification over what is stored (SPEC-004 §9.4; ADR 0010).

Everything is recomputed: the audit chain event by event, the session's fixed fields and every window's node and edges
against the latest event that holds them, the response and report hashes from the stored content, the window HMACs from
the root on, and the five invariants. The first record that does not hold is named, in the order session's events,
session, windows by (window_number, window_id) with their edges and reports, invariants, leaves. The session's leaves in
the tenant's log are compared with its records, both ways (ADR 0099). VALID is never said of windows
that were not recomputed; a chain that starts from an adopted window (§10.2) or is over the limit is PARTIAL. Of an
erased session, what is left is compared with the erasure's event; it is TRUNCATED.
"""

import json

from services.common.counting import counted
from services.common.encoding import sha256_hex
from services.common.ports.sessions import AuditEventRecord, SessionStatus
from services.common.taxonomy import ChainIntegrity, WindowStatus
from services.dag.domain import chain
from services.dag.domain.erased_checks import check_erased, check_remains, check_said
from services.dag.domain.events import SESSION_EVENTS, WINDOW_EVENTS, OwnEvent, session_data
from services.dag.domain.invariants import violations
from services.dag.domain.leaf_checks import Records, compare_leaves
from services.dag.domain.promises import Promise, read_promise
from services.dag.domain.repeated import repeats
from services.dag.domain.verification import Fault, StoredChain, Verification
from services.dag.domain.view import is_adopted
from services.dag.domain.walk import CANNOT_BE_HASHED, UNUSABLE, BadRecordError, Walk, computed, is_text, parsed
from services.dag.domain.window_checks import check_content, check_hmac, check_record


def verify_chain(stored: StoredChain, key: bytes, max_windows: int) -> Verification:
    """Recompute the whole chain.

    Args:
        stored: the session as it is stored.
        key: its HMAC key.
        max_windows: windows that are recomputed at most, the latest ones; with more the result is PARTIAL at best.
    """
    walk = Walk(stored, key, max_windows)
    fault = None
    try:
        _walk_events(walk)
        _check_session(walk)
        if walk.erased_at:
            check_remains(walk)
        else:
            _walk_windows(walk)
        _check_rest(walk)
        _check_leaves(walk)
    except BadRecordError as bad:
        fault = bad.fault
    return _result(walk, fault)


def is_first_event(event: AuditEventRecord, key: bytes) -> bool:
    """Say whether the event begins a chain under this key."""
    return is_text(event.hmac, chain.Macs(key).event, event, "")


def _result(walk: Walk, fault: Fault | None) -> Verification:
    committed = walk.dag.committed
    own = [window for window in committed if not is_adopted(window)]
    partial = ""
    if len(own) < len(committed):
        partial = "the chain continues one of which earlier windows are not in this store"
    elif walk.windows_verified < len(own):
        partial = f"only the latest {walk.max_windows} of {counted(len(own), 'window')} were recomputed"
    elif not walk.stored.snapshot.session.trail_mac:
        partial = "nothing says where the audit trail ends: the session has no trail_mac"
    elif walk.sealed_at:
        partial = f"nothing says whether the trail was whole before event {walk.sealed_at}, which seals it"
    elif walk.older:
        partial = f"of what is older than it the log proves nothing: {counted(walk.older, 'record')}"
    integrity = ChainIntegrity.PARTIAL if partial else ChainIntegrity.VALID if committed else ChainIntegrity.UNVERIFIED
    if walk.erased_at:
        integrity, partial = ChainIntegrity.TRUNCATED, ""
    return Verification(
        integrity=ChainIntegrity.BROKEN if fault else integrity,
        windows_verified=walk.windows_verified,
        windows_total=len(committed),
        events_verified=walk.events_verified,
        events_total=len(walk.stored.events),
        fault=fault,
        tips=tuple(sorted(leaf.hmac for leaf in walk.dag.leaves())),
        partial_reason="" if fault else partial,
        quality_before={} if fault else _quality_before(walk),
    )


def _quality_before(walk: Walk) -> dict[str, tuple[str, ...]]:
    """Return the quality history that each adopted leaf came with; its event was compared with it before."""
    texts = {w.window_id: walk.window_texts.get(w.window_id, "{}") for w in walk.dag.committed if is_adopted(w)}
    states = {window_id: json.loads(text) for window_id, text in texts.items()}
    return {name: tuple(state["adopted"]["quality_history"]) for name, state in states.items() if "adopted" in state}


def _walk_events(walk: Walk) -> None:
    """Recompute the audit chain and note the latest state that it records of every record."""
    previous, session_id, macs = "", walk.stored.snapshot.session.session_id, walk.macs
    for position, event in enumerate(walk.stored.events):
        if event.sequence != position or event.session_id != session_id:
            raise BadRecordError("event", str(position), "is missing or out of order")
        if walk.erased_at or event.data_sha256:
            check_erased(walk, event, str(position))
        try:
            digest = sha256_hex(event.data)
            mac = macs.event(event, previous, digest)
        except UNUSABLE:
            raise BadRecordError("event", str(position), CANNOT_BE_HASHED) from None
        if not chain.same(mac, event.hmac):
            text = "has an hmac that does not match its content and predecessor"
            raise BadRecordError("event", str(position), text)
        if not chain.same(event.event_id, chain.event_id(mac)):
            raise BadRecordError("event", str(position), "has an event_id that does not follow from its hmac")
        previous = mac
        walk.digests.append(digest)
        walk.events_verified += 1
        _note(walk, event)
    last, count = walk.stored.snapshot.last_event, len(walk.stored.events)
    if not count or last is None or last.hmac != previous:
        raise BadRecordError("event", str(count), "is missing at the end of the chain")
    _check_trail(walk, count, previous)


def _check_trail(walk: Walk, count: int, last_hmac: str) -> None:
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
    check_said(walk)  # of a session that was closed or erased as broken, what was found first is said again
    raise BadRecordError("event", str(count), text)


def _note(walk: Walk, event: AuditEventRecord) -> None:
    kind = event.event_type
    if not event.data:
        return
    if kind in WINDOW_EVENTS:
        walk.window_texts[event.window_id] = event.data
    elif kind == OwnEvent.DPE_COMPLETED:
        walk.report_texts[event.window_id] = event.data
    elif kind in SESSION_EVENTS:
        walk.session_text = event.data
        promise: Promise | None = computed("event", str(event.sequence), read_promise, event)
        walk.promise = walk.promise or promise
        walk.sealed_at = walk.sealed_at or (promise.since if promise else 0)
        if kind == OwnEvent.SESSION_ERASED:
            walk.erasure = parsed("event", str(event.sequence), event.data)


def _check_session(walk: Walk) -> None:
    session = walk.stored.snapshot.session
    state = parsed("session", session.session_id, walk.session_text)
    if computed("session", session.session_id, session_data, session) != state.get("session"):
        raise BadRecordError("session", session.session_id, "differs from its latest SESSION event")
    if not repeats(session, walk.stored.events):
        text = "has a time of its last write or status, or a legal hold, that is not its trail's"
        raise BadRecordError("session", session.session_id, text)


def _walk_windows(walk: Walk) -> None:
    for window_id in walk.window_texts:
        if window_id not in walk.dag.by_id:
            raise BadRecordError("window", window_id, "is missing: the audit chain holds it, the store does not")
    reports = {report.report_id: report for report in walk.stored.reports}
    own = [window for window in walk.dag.committed if not is_adopted(window)]
    recomputed = {window.window_id for window in own[-walk.max_windows :]}
    for window in walk.dag.windows:
        check_record(walk, window)
        if window.window_id in recomputed:
            check_content(walk, window, reports.get(window.report_id))
            check_hmac(walk, window)
            walk.windows_verified += 1


def _check_rest(walk: Walk) -> None:
    """Refuse reports of no window, then whatever breaks an invariant."""
    owned = {window.report_id for window in walk.dag.windows if window.status is WindowStatus.COMMITTED}
    for report in walk.stored.reports:
        if report.report_id not in owned:
            raise BadRecordError("report", report.report_id, "belongs to no committed window")
    check_said(walk)
    if walk.stored.snapshot.session.status is SessionStatus.BROKEN:
        session_id = walk.stored.snapshot.session.session_id
        raise BadRecordError("session", session_id, "did not verify when the session was closed")
    for violation in violations(walk.dag)[:1]:
        detail = f"{violation.invariant}: {violation.detail}"
        raise BadRecordError(violation.record_kind, violation.record_id, detail)


def _check_leaves(walk: Walk) -> None:
    """Compare the session's records with its leaves in the log, both ways (ADR 0099)."""
    since = None if walk.promise is None else walk.promise.since
    records = Records(walk.stored.events, walk.digests, walk.dag.by_id)
    found = compare_leaves(walk.stored.leaves, records, since)
    if found.fault is not None:
        raise BadRecordError("leaf", found.fault.record_id, found.fault.detail)
    walk.older = found.older
