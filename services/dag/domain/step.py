"""One step of a session, from the decision to what is written: version guard, chained events, invariants."""

from dataclasses import dataclass, replace
from datetime import datetime

from services.common.errors import CrpError, ErrorReason
from services.common.ports.sessions import (
    AuditEventRecord,
    EdgeRecord,
    ReportRecord,
    SessionChange,
    SessionRecord,
    SessionSnapshot,
    WindowRecord,
)
from services.dag.domain.chain import Macs, same
from services.dag.domain.events import PendingEvent, chain_events
from services.dag.domain.invariants import violations
from services.dag.domain.promises import promising, resealing
from services.dag.domain.repeated import carry
from services.dag.domain.view import DagView


@dataclass(frozen=True, slots=True)
class Step:
    """What a rule decided: the records as they shall be and the events that say so, not yet chained.

    Attributes:
        reseals: one of the drafts says that the trail of an earlier version is sealed from here on (ADR 0099).
    """

    session: SessionRecord
    windows: tuple[WindowRecord, ...] = ()
    edges: tuple[EdgeRecord, ...] = ()
    reports: tuple[ReportRecord, ...] = ()
    drafts: tuple[PendingEvent, ...] = ()
    reseals: bool = False


def empty_snapshot(session: SessionRecord) -> SessionSnapshot:
    """Return what is stored of a session that is not stored yet."""
    return SessionSnapshot(session=replace(session, version=0), windows=(), edges=(), last_event=None)


def trail_holds(before: SessionSnapshot, key: bytes) -> bool:
    """Say whether the stored trail_mac is that of the stored end of the trail; a new session has no end yet."""
    session, last = before.session, before.last_event
    if session.version == 0:
        return True
    return same(_trail_mac(session.version, last, key), session.trail_mac)


def resealed(step: Step, before: SessionSnapshot) -> Step:
    """Return the step of a session whose trail an earlier version left open: its first event seals it from here on."""
    since = before.last_event.sequence + 1 if before.last_event else 0
    return replace(step, drafts=(resealing(before.session, since), *step.drafts), reseals=True)


def to_change(step: Step, before: SessionSnapshot, now: datetime, key: bytes, *, check: bool = True) -> SessionChange:
    """Return the step as one transaction on top of ``before``.

    A trail_mac is made for a new session, over one that holds, and by a step that reseals. One that is empty or does
    not hold stays as it is: whatever was taken from the trail stays visible (ADR 0099).

    Args:
        step: what was decided.
        before: what is stored.
        now: timestamp of the events.
        key: the session's HMAC key.
        check: whether the invariants must hold; only the incident of a broken chain does without.

    Raises:
        CrpError: INTERNAL when the step would break an invariant (SPEC-004 §3.3): our fault, nothing is written.
    """
    broken = violations(DagView.of(before, step.windows, step.edges)) if check else []
    if broken:
        text = f"the step would break {broken[0].invariant} at {broken[0].record_id}"
        raise CrpError(ErrorReason.INTERNAL, text, invariant=broken[0].invariant.value)
    drafts = step.drafts if before.session.version else promising(step.drafts)
    events = chain_events(drafts, step.session.session_id, before.last_event, now, key)
    version = before.session.version + 1
    trail_mac = before.session.trail_mac
    if step.reseals or trail_holds(before, key):
        trail_mac = _trail_mac(version, events[-1] if events else before.last_event, key)
    return SessionChange(
        session=carry(before.session, replace(step.session, version=version, trail_mac=trail_mac), events),
        windows=step.windows,
        edges=step.edges,
        events=events,
        reports=step.reports,
    )


def _trail_mac(version: int, last: AuditEventRecord | None, key: bytes) -> str:
    return Macs(key).trail(version, last.sequence + 1 if last else 0, last.hmac if last else "")
