"""What a session's row repeats of its trail: last write, since when it has its status, legal hold (ADR 0104).

Lists and retention look sessions up by it. It follows from the types and times of the events alone, which stay when
their data is erased, so that verification finds a row that says something else.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from services.common.ports.sessions import AuditEventRecord, SessionRecord, SessionStatus
from services.dag.domain.events import OwnEvent

ENDINGS: Final = frozenset({OwnEvent.SESSION_TERMINATED, OwnEvent.SESSION_ERASED, OwnEvent.SESSION_TOMBSTONED})
"""Types after which a session is no longer what it was."""
_HOLDS: Final[dict[str, bool]] = {OwnEvent.LEGAL_HOLD_SET: True, OwnEvent.LEGAL_HOLD_RELEASED: False}


@dataclass(frozen=True, slots=True)
class _Told:
    """What events tell, one after the other."""

    updated: datetime | None = None
    ended: datetime | None = None
    held: bool = False

    def after(self, events: Iterable[AuditEventRecord]) -> "_Told":
        updated, ended, held = self.updated, self.ended, self.held
        for event in events:
            updated = event.timestamp
            if event.event_type in ENDINGS:
                ended = event.timestamp
            held = _HOLDS.get(event.event_type, held)
        return _Told(updated, ended, held)

    def on(self, session: SessionRecord) -> SessionRecord:
        return replace(session, updated_at=self.updated, status_at=self.ended or self.updated, legal_hold=self.held)


def carry(before: SessionRecord, session: SessionRecord, events: Iterable[AuditEventRecord]) -> SessionRecord:
    """Return the session with what its row repeats, after these events.

    Args:
        before: the session as it is stored.
        session: as it shall be.
        events: that the step appends.
    """
    ended = None if before.status is SessionStatus.OPEN else before.status_at
    return _Told(before.updated_at, ended, before.legal_hold).after(events).on(session)


def repeats(session: SessionRecord, events: Iterable[AuditEventRecord]) -> bool:
    """Say whether the row repeats what these events, all that are stored, tell."""
    return told(session, events) == session


def told(session: SessionRecord, events: Iterable[AuditEventRecord]) -> SessionRecord:
    """Return the session with what its row should repeat of these events, all that are stored."""
    return _Told().after(events).on(session)


def is_held(events: Iterable[AuditEventRecord]) -> bool:
    """Say whether these events, all that are stored, end with a legal hold."""
    return _Told().after(events).held
