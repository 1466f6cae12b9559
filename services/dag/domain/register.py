"""A tenant's register: the session whose trail holds the tenant's rules of retention (ADR 0104).

It is a session like any other to the store, the log and verification. It begins ended and held, so that it can be
neither continued nor erased, and takes no event but RETENTION_SET; the latest of these is in force.
"""

import json
from dataclasses import replace
from typing import Final

from services.common.errors import ErrorReason, PreconditionError
from services.common.ids import derived_session_id
from services.common.ports.sessions import AuditEventRecord, SessionRecord, SessionStatus
from services.dag.domain.ending import session_ended
from services.dag.domain.events import OwnEvent, PendingEvent, session_data
from services.dag.domain.retention import OwnRules
from services.dag.domain.step import Step

REGISTER_SCOPE: Final = "retention-register"
"""Of no credential: no token is bound to it."""
REGISTER_CAUSE: Final = "REGISTER"


def register_id(tenant_id: str) -> str:
    """Return the id of a tenant's register."""
    return derived_session_id("groundtrail-register", tenant_id)


def is_register(session: SessionRecord) -> bool:
    """Say whether the session is its tenant's register."""
    return session.session_id == register_id(session.tenant_id)


def begin_register(session: SessionRecord, reason: str, set_by: str) -> Step:
    """Return the register's first step: created, held and ended at once.

    Args:
        session: OPEN, version 0.
        reason: of the hold.
        set_by: who asked.
    """
    ended = replace(session, status=SessionStatus.COMPLETED)
    drafts = (
        PendingEvent(OwnEvent.SESSION_CREATED, "", {"session": session_data(session)}),
        PendingEvent(OwnEvent.LEGAL_HOLD_SET, "", {"reason": reason, "set_by": set_by}),
        session_ended(ended, REGISTER_CAUSE),
    )
    return Step(ended, drafts=drafts)


def rules_set(rules: OwnRules, reason: str, set_by: str) -> PendingEvent:
    """Return the RETENTION_SET event."""
    return PendingEvent(OwnEvent.RETENTION_SET, "", {"rules": rules.data(), "reason": reason, "set_by": set_by})


def rules_of(event: AuditEventRecord | None) -> OwnRules:
    """Return the rules that the register's last event holds.

    Raises:
        ValueError: it holds none.
    """
    if event is None or event.event_type != OwnEvent.RETENTION_SET:
        raise ValueError("the register does not end with rules")
    return OwnRules.of(json.loads(event.data)["rules"])


def check_no_register(session: SessionRecord) -> None:
    """Refuse to write to the register in any other way.

    Raises:
        PreconditionError: SESSION_CLOSED.
    """
    if is_register(session):
        text = "the session is the tenant's register, which holds its rules of retention alone"
        raise PreconditionError(
            ErrorReason.SESSION_CLOSED, text, session_id=session.session_id, status=session.status.value
        )
