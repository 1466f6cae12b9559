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
from services.dag.domain.chain import Macs
from services.dag.domain.events import Draft, chain_events
from services.dag.domain.invariants import violations
from services.dag.domain.repeated import carry
from services.dag.domain.view import DagView


@dataclass(frozen=True, slots=True)
class Step:
    """What a rule decided: the records as they shall be and the events that say so, not yet chained."""

    session: SessionRecord
    windows: tuple[WindowRecord, ...] = ()
    edges: tuple[EdgeRecord, ...] = ()
    reports: tuple[ReportRecord, ...] = ()
    drafts: tuple[Draft, ...] = ()


def empty_snapshot(session: SessionRecord) -> SessionSnapshot:
    """Return what is stored of a session that is not stored yet."""
    return SessionSnapshot(session=replace(session, version=0), windows=(), edges=(), last_event=None)


def to_change(step: Step, before: SessionSnapshot, now: datetime, key: bytes, *, check: bool = True) -> SessionChange:
    """Return the step as one transaction on top of ``before``.

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
    events = chain_events(step.drafts, step.session.session_id, before.last_event, now, key)
    version = before.session.version + 1
    session = replace(step.session, version=version, trail_mac=_trail_mac(version, events, before, key))
    return SessionChange(
        session=carry(before.session, session, events),
        windows=step.windows,
        edges=step.edges,
        events=events,
        reports=step.reports,
    )


def _trail_mac(version: int, events: tuple[AuditEventRecord, ...], before: SessionSnapshot, key: bytes) -> str:
    last = events[-1] if events else before.last_event
    return Macs(key).trail(version, last.sequence + 1 if last else 0, last.hmac if last else "")
