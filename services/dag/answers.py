"""The answers of mutating calls as messages; ``RequestKey.encode`` serialises them before the write."""

from typing import Final

from crp.dag.v1 import session_service_pb2 as pb

from services.common.ports.sessions import AuditEventRecord, SessionRecord, WindowRecord
from services.dag import convert
from services.dag.domain.budget import HALT_REASON, warning
from services.dag.domain.quality import tiers_of
from services.dag.domain.view import DagView
from services.dag.erasing import Erased
from services.dag.results import Committed, Created, Opened

DAG_ROOT_PREFIX: Final = "dag:"


def created(result: Created) -> bytes:
    """Return the CreateSessionResponse."""
    return pb.CreateSessionResponse(
        session=convert.session(result.session, result.dag),
        session_token=result.issued.session_token,
        set_session=result.issued.set_session,
    ).SerializeToString(deterministic=True)


def opened(result: Opened) -> bytes:
    """Return the OpenWindowResponse."""
    return pb.OpenWindowResponse(
        session=convert.session(result.session, result.dag),
        window=convert.window(result.window, result.dag),
        parents=[convert.parent(record, transfer) for record, transfer in result.transfers],
        facts_seen=result.facts_seen,
        safety_budget=result.window.safety_budget,
        chain_integrity=convert.integrity(result.integrity.value),
        prior_windows=[
            pb.PriorWindow(
                window_id=prior.window_id,
                window_number=prior.window_number,
                text=prior.response_text,
                query=result.questions.get(prior.window_id, ""),
            )
            for prior in result.prior_windows
        ],
        quality_history=[convert.tier_value(tier) for tier in tiers_of(result.quality_history)],
        degradation=convert.degradation(result.degradation),
        window_position=_position(result.window, result.session),
        draft_key=result.draft_key,
        circuit_breaker=convert.breaker_state(result.window.safety_budget),
        halt_reason=HALT_REASON if result.depleted else "",
        agents_left_out=result.agents_left_out,
    ).SerializeToString(deterministic=True)


def committed(result: Committed) -> bytes:
    """Return the CommitWindowResponse."""
    window = result.window
    return pb.CommitWindowResponse(
        window=convert.window(window, result.dag),
        session=convert.session(result.session, result.dag),
        session_token=result.issued.session_token,
        set_session=result.issued.set_session,
        continuation_id=window.continuation_id,
        chain_integrity=convert.integrity(result.integrity.value),
        lineage=result.lineage,
        quality_history=[convert.tier_value(tier) for tier in tiers_of(result.quality_history)],
        safety_budget=window.safety_budget,
        budget_warning=warning(window.safety_budget).value,
        dag_root=DAG_ROOT_PREFIX + result.root_window_id if result.root_window_id else "",
        audit_trail_id=result.session.audit_trail_id,
        report_id=window.report_id,
        degradation=convert.degradation(result.degradation),
        human_review_required=result.needs_review,
        halt_reason=HALT_REASON if result.end_cause == HALT_REASON else "",
        window_position=_position(window, result.session),
        circuit_breaker=convert.breaker_state(window.safety_budget),
    ).SerializeToString(deterministic=True)


def failed(result: tuple[WindowRecord, DagView]) -> bytes:
    """Return the FailWindowResponse."""
    return pb.FailWindowResponse(window=convert.window(*result)).SerializeToString(deterministic=True)


def terminated(result: tuple[SessionRecord, DagView]) -> bytes:
    """Return the TerminateSessionResponse."""
    return pb.TerminateSessionResponse(session=convert.session(*result)).SerializeToString(deterministic=True)


def erased(result: Erased) -> bytes:
    """Return the EraseSessionResponse."""
    return pb.EraseSessionResponse(
        session=convert.session(result.session, result.dag),
        event=convert.event(result.event),
        windows_erased=result.windows,
        reports_erased=result.reports,
        events_erased=result.events,
    ).SerializeToString(deterministic=True)


def appended(result: AuditEventRecord) -> bytes:
    """Return the AppendEventResponse."""
    return pb.AppendEventResponse(event=convert.event(result)).SerializeToString(deterministic=True)


def _position(window: WindowRecord, session: SessionRecord) -> str:
    """Return CRP-Context-Window (SPEC-004 §11.1)."""
    return f"{window.window_number}/{session.max_windows}"
