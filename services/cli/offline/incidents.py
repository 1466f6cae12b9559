"""What the server itself found broken: an export of it is whole, and says so (SPEC-004 §16.4; ADR 0105).

Every byte of such an export is as it was signed. What it tells is that the stored chain did not verify when the session
was continued, or when it was erased.
"""

import json
from collections.abc import Sequence
from typing import Any

from services.cli.offline.lines import BadLineError, Line
from services.common.ports.sessions import AuditEventRecord, SessionStatus
from services.dag.domain.events import SESSION_EVENTS, OwnEvent


def check_incident(lines: Sequence[Line], events: Sequence[AuditEventRecord]) -> list[str]:
    """Return what cannot be checked: windows of another instance (SPEC-004 §10.2).

    Args:
        lines: of the events.
        events: read from them; each fits its leaf.

    Raises:
        BadLineError: the session was closed as BROKEN, or did not verify when it was erased; names the record.
    """
    for line, event in zip(lines, events, strict=True):
        named = _found_broken(event) if event.event_type in SESSION_EVENTS and event.data else None
        if named is not None:
            kind, name = str(named.get("record_kind", "session")), str(named.get("record_id", ""))
            raise BadLineError(line.number, kind, name, "did not verify when the session was closed")
    adopted = sum(event.event_type == OwnEvent.DISPATCH_COMPLETED and _is_adopted(event) for event in events)
    return [f"windows of another instance, which alone can verify them: {adopted}"] if adopted else []


def _is_adopted(event: AuditEventRecord) -> bool:
    return bool(event.data) and "adopted" in json.loads(event.data)


def _found_broken(event: AuditEventRecord) -> dict[str, Any] | None:
    """Return what names the broken record, if the event tells of one."""
    data: dict[str, Any] = json.loads(event.data)
    session, before = data.get("session"), data.get("fault_before")
    if isinstance(session, dict) and session.get("status") == SessionStatus.BROKEN:
        return data
    erased = event.event_type == OwnEvent.SESSION_ERASED
    return before if erased and isinstance(before, dict) else None
