"""What the server knew of the session when it exported it: a broken chain is broken offline too (SPEC-004 §16.4).

The incident stands in the session's last event, or in that of its erasure; since ADR 0102 the signed note also says
what the server found when it recomputed the chain. Windows that another instance holds cannot be checked here.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from services.cli.offline.lines import BadLineError, Line
from services.cli.offline.manifest import Manifest
from services.common.ports.sessions import AuditEventRecord, SessionStatus
from services.common.taxonomy import ChainIntegrity
from services.dag.domain.events import OwnEvent


def check_known(lines: Sequence[Line], events: Sequence[AuditEventRecord], manifest: Manifest) -> list[str]:
    """Return what could not be checked.

    Raises:
        BadLineError: the server knew the session to be BROKEN.
    """
    for line, event in zip(lines, events, strict=True):
        for kind, name in _incidents(event, manifest.session_id):
            raise BadLineError(line.number, kind, name, "did not verify when the session was closed")
    if manifest.fault is not None:
        raise BadLineError(0, *manifest.fault, "did not verify on the server when the session was exported")
    adopted = {event.window_id for event in events if _is_adopted(event)}
    notes = [f"windows of another instance, which alone can verify them: {len(adopted)}"] if adopted else []
    if manifest.integrity == ChainIntegrity.PARTIAL and not adopted:
        notes.append("the server recomputed a part of the chain only when the session was exported: PARTIAL")
    return notes


def _incidents(event: AuditEventRecord, session_id: str) -> Iterator[tuple[str, str]]:
    """Yield kind and id of the record that an event says is broken."""
    data = _data(event)
    if event.event_type == OwnEvent.SESSION_TERMINATED:
        session = data.get("session")
        if isinstance(session, dict) and session.get("status") == SessionStatus.BROKEN:
            yield _named(data, session_id)
    elif event.event_type == OwnEvent.SESSION_ERASED and isinstance(data.get("fault_before"), dict):
        yield _named(data["fault_before"], session_id)


def _named(said: Mapping[str, Any], session_id: str) -> tuple[str, str]:
    return str(said.get("record_kind", "session")), str(said.get("record_id", session_id))


def _is_adopted(event: AuditEventRecord) -> bool:
    return event.event_type == OwnEvent.DISPATCH_COMPLETED and "adopted" in _data(event)


def _data(event: AuditEventRecord) -> dict[str, Any]:
    types = (OwnEvent.SESSION_TERMINATED, OwnEvent.SESSION_ERASED, OwnEvent.DISPATCH_COMPLETED)
    if event.event_type not in types or not event.data:
        return {}
    value = json.loads(event.data)
    return value if isinstance(value, dict) else {}
