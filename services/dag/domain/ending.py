"""Giving windows up and ending sessions (SPEC-004 §4.3, §16.3, §16.4)."""

from dataclasses import replace
from typing import Final

from services.common.errors import ChainBrokenError, ErrorReason, NotFoundError, PreconditionError
from services.common.ports.sessions import SessionRecord, SessionSnapshot, SessionStatus, WindowRecord
from services.common.taxonomy import WindowStatus
from services.dag.domain.events import OwnEvent, PendingEvent, session_data, window_data
from services.dag.domain.step import Step
from services.dag.domain.verification import Fault
from services.dag.domain.view import DagView

SESSION_ENDED: Final = "SESSION_TERMINATED"
BROKEN_CAUSE: Final = "CHAIN_BROKEN"


def check_open(session: SessionRecord) -> None:
    """Refuse to go on with a session that ended.

    Raises:
        ChainBrokenError: CHAIN_BROKEN: it was found broken before (SPEC-004 §16.4: for good).
        PreconditionError: SESSION_CLOSED, SESSION_EXPIRED.
    """
    if session.status is SessionStatus.BROKEN:
        text = "the session's stored chain does not verify; start a new session"
        raise ChainBrokenError(ErrorReason.CHAIN_BROKEN, text, session_id=session.session_id)
    if session.status is not SessionStatus.OPEN:
        text = f"the session is {session.status.value}; start a new session"
        expired = session.status is SessionStatus.EXPIRED
        reason = ErrorReason.SESSION_EXPIRED if expired else ErrorReason.SESSION_CLOSED
        raise PreconditionError(reason, text, session_id=session.session_id, status=session.status.value)


def branch_ended(session_id: str) -> PreconditionError:
    """Return the SESSION_CLOSED error of a token whose window issued no pointer (SPEC-004 §4.3, §11.4)."""
    text = "the token's branch ended with its window, which issued no continuation id; start a new session"
    return PreconditionError(ErrorReason.SESSION_CLOSED, text, session_id=session_id, status="BRANCH_ENDED")


def not_here(continuation_id: str) -> NotFoundError:
    """Return the CONTINUATION_NOT_FOUND error of a leaf that another instance's store holds (SPEC-004 §10.2)."""
    text = "this instance took the session over from another window; continue at the one that issued the token"
    return NotFoundError(ErrorReason.CONTINUATION_NOT_FOUND, text, continuation_id=continuation_id)


def find_window(dag: DagView, window_id: str) -> WindowRecord:
    """Return the window.

    Raises:
        NotFoundError: WINDOW_NOT_FOUND.
    """
    window = dag.by_id.get(window_id)
    if window is None:
        text = f"the session has no window {window_id}"
        raise NotFoundError(ErrorReason.WINDOW_NOT_FOUND, text, window_id=window_id)
    return window


def check_pending(window: WindowRecord) -> None:
    """Refuse a window that was already committed or failed.

    Raises:
        PreconditionError: WINDOW_NOT_PENDING.
    """
    if window.status is not WindowStatus.PENDING:
        text = f"the window is {window.status.value}"
        raise PreconditionError(
            ErrorReason.WINDOW_NOT_PENDING, text, window_id=window.window_id, status=window.status.value
        )


def fail(dag: DagView, window: WindowRecord, reason: str) -> tuple[WindowRecord, PendingEvent]:
    """Return the window as FAILED and the event that says so."""
    failed = replace(window, status=WindowStatus.FAILED, failure_reason=reason)
    return failed, PendingEvent(
        OwnEvent.DISPATCH_FAILED, window.window_id, window_data(failed, dag.edges_into(window.window_id))
    )


def fail_window(before: SessionSnapshot, window_id: str, reason: str) -> tuple[Step, WindowRecord]:
    """Give a pending window up (SPEC-004 §16.3); its parent can be continued again.

    Raises:
        NotFoundError: WINDOW_NOT_FOUND.
        PreconditionError: WINDOW_NOT_PENDING.
    """
    dag = DagView.of(before)
    window = find_window(dag, window_id)
    check_pending(window)
    failed, draft = fail(dag, window, reason)
    return Step(before.session, windows=(failed,), drafts=(draft,)), failed


def end_session(before: SessionSnapshot, status: SessionStatus, cause: str, fault: Fault | None = None) -> Step:
    """End the session; pending windows fail.

    Args:
        before: the session.
        status: COMPLETED, TERMINATED or BROKEN.
        cause: a stable token or the caller's sentence; stands in the event.
        fault: of a broken chain; makes the event a CRITICAL incident (SPEC-004 §16.4).
    """
    dag = DagView.of(before)
    pending = [window for window in dag.windows if window.status is WindowStatus.PENDING]
    # A broken chain is left as it was found: only the session's status and the incident are written.
    failed = [] if fault else [fail(dag, window, SESSION_ENDED) for window in pending]
    session = replace(before.session, status=status)
    ended = session_ended(session, cause, fault)
    drafts = (*(draft for _, draft in failed), ended)
    return Step(session, windows=tuple(window for window, _ in failed), drafts=drafts)


def session_ended(session: SessionRecord, cause: str, fault: Fault | None = None) -> PendingEvent:
    """Return the SESSION_TERMINATED event of a session whose status is set."""
    data: dict[str, object] = {"session": session_data(session), "cause": cause}
    if fault is not None:
        data |= {"severity": "CRITICAL", "record_kind": fault.record_kind, "record_id": fault.record_id}
    return PendingEvent(OwnEvent.SESSION_TERMINATED, "", data)
