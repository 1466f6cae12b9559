"""Erasing a session: what goes, what stays, and the event that says so (GDPR Art. 17; CRP-SPEC-011 facts; ADR 0055).

Answers, failure reasons, report bodies, analysis inputs and the data of every earlier event go, each with key and salt.
Ids, numbers, hashes and HMACs stay, so the chain can still be recomputed; it is TRUNCATED. A chain that was found
broken stays so: an erasure hides no tampering.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from services.common.encoding import sha256_hex
from services.common.errors import ErrorReason, PreconditionError
from services.common.ports.sessions import AuditEventRecord, SessionRecord, SessionStatus, WindowRecord
from services.common.taxonomy import ChainIntegrity, WindowStatus
from services.dag.domain.events import OwnEvent, PendingEvent, session_data
from services.dag.domain.promises import Promise, promise_of
from services.dag.domain.register import check_no_register
from services.dag.domain.remains import report_digest, window_digest
from services.dag.domain.step import Step
from services.dag.domain.verification import StoredChain, Verification
from services.dag.domain.view import DagView

PENDING_CAUSE: Final = "SESSION_ERASED"


@dataclass(frozen=True, slots=True)
class ErasureCommand:
    """Who wants a session erased, and why."""

    session_id: str
    reason: str
    erased_by: str


@dataclass(frozen=True, slots=True)
class Erasure:
    """A decided erasure.

    Attributes:
        step: the records without content, and the event.
        events: every stored event without its data.
    """

    step: Step
    events: tuple[AuditEventRecord, ...]


def erase_session(stored: StoredChain, verification: Verification, ask: ErasureCommand) -> Erasure:
    """Take the content out of every record of the session.

    Raises:
        PreconditionError: SESSION_CLOSED: it was erased before, or is the tenant's register.
    """
    before = stored.snapshot.session
    check_not_erased(before)
    session = replace(before, status=SessionStatus.ERASED)
    windows = tuple(_without_answer(window) for window in stored.snapshot.windows)
    reports = tuple(replace(report, body="", inputs="") for report in stored.reports)
    dag = DagView.of(stored.snapshot, windows)
    data: dict[str, Any] = {
        "session": session_data(session),
        "reason": ask.reason,
        "erased_by": ask.erased_by,
        "status_before": before.status.value,
        "integrity_before": verification.integrity.value,
        "events": len(stored.events),
        "windows": {window.window_id: window_digest(window, dag.edges_into(window.window_id)) for window in windows},
        "reports": {report.report_id: report_digest(report) for report in reports},
    }
    promise = promise_of(stored.events)
    data |= (promise or Promise(len(stored.events))).data()
    if verification.integrity is ChainIntegrity.BROKEN and verification.fault is not None:
        fault = verification.fault
        data["fault_before"] = {"record_kind": fault.record_kind, "record_id": fault.record_id}
    draft = PendingEvent(OwnEvent.SESSION_ERASED, "", data)
    reseals = promise is None and not before.trail_mac
    step = Step(session, windows=windows, reports=reports, drafts=(draft,), reseals=reseals)
    return Erasure(step, tuple(without_data(event) for event in stored.events))


def check_not_erased(session: SessionRecord) -> None:
    """Refuse to write to a session of which the content was erased, and to the tenant's register.

    Raises:
        PreconditionError: SESSION_CLOSED.
    """
    check_no_register(session)
    if session.status in (SessionStatus.ERASED, SessionStatus.TOMBSTONED):
        text = "the session was erased; start a new session"
        raise PreconditionError(
            ErrorReason.SESSION_CLOSED, text, session_id=session.session_id, status=session.status.value
        )


def without_data(event: AuditEventRecord) -> AuditEventRecord:
    """Return the event with the SHA-256 of its data in the data's place."""
    return replace(event, data="", data_sha256=sha256_hex(event.data), salt=b"")


def _without_answer(window: WindowRecord) -> WindowRecord:
    bare = replace(window, response_text="", failure_reason="", salt=b"")
    if window.status is WindowStatus.PENDING:
        return replace(bare, status=WindowStatus.FAILED, failure_reason=PENDING_CAUSE)
    return bare
