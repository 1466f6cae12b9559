"""``SessionClient`` over ``crp.dag.v1.SessionService``."""

from collections.abc import Sequence
from typing import Final

import grpc
from crp.dag.v1 import dag_pb2, session_service_pb2, session_service_pb2_grpc
from crp.dpe.v1 import claim_pb2, inputs_pb2, report_pb2

from services.common.errors import ErrorReason, NotFoundError
from services.common.ports.credentials import AiSystemRecord
from services.common.rpc import enums
from services.common.taxonomy import BreakerState, Degradation, WindowStatus
from services.gateway import wire
from services.gateway.clients.audit_events import (
    agent_events,
    classification_event,
    decision_event,
    degradation_event,
    depletion_event,
    halt_event,
    injection_event,
    prohibited_events,
    remedy_events,
)
from services.gateway.domain.command import Agent, DispatchDraft
from services.gateway.domain.summaries import CarriedTransfer, Span
from services.gateway.domain.window import CommittedWindow, OpenedWindow, Parent, PriorWindow, WindowPlace
from services.gateway.ports import Decided, OpenWindow
from services.gateway.providers.sealing import ProviderKey

MAX_FINGERPRINT: Final = 200
_TRANSFER_PREFIX = "TRANSFER_TYPE_"


class GrpcSessionClient:
    """Speaks to the dag service for the running call."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = session_service_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]

    async def open_window(self, command: OpenWindow) -> OpenedWindow:
        """Open a window."""
        return opened_window(await self._stub.OpenWindow(open_request(command)), command.agent)

    async def window_status(self, session_id: str, window_id: str) -> WindowStatus:
        """Ask how far a window has come."""
        request = session_service_pb2.GetWindowRequest(session_id=session_id, window_id=window_id)
        response = await self._stub.GetWindow(request)
        return wire.WINDOW_STATUSES[response.window.status]

    async def commit_window(self, request_id: str, draft: DispatchDraft) -> CommittedWindow:
        """Commit the draft's window."""
        return committed_window(await self._stub.CommitWindow(commit_request(request_id, draft)))

    async def fail_window(self, request_id: str, place: WindowPlace, reason: str) -> None:
        """Give a window up."""
        await self._stub.FailWindow(
            session_service_pb2.FailWindowRequest(
                request_id=request_id, session_id=place.session_id, window_id=place.window_id, reason=reason[:500]
            )
        )

    async def record_halt(self, request_id: str, draft: DispatchDraft, halt_reason: str) -> None:
        """Append the event of a withheld answer."""
        await self._stub.AppendEvent(halt_event(request_id, draft, halt_reason))

    async def holding_key(self, session_id: str, window_id: str) -> bytes:
        """Return the key of a window's held answer."""
        request = session_service_pb2.GetHoldingKeyRequest(session_id=session_id, window_id=window_id)
        found: session_service_pb2.GetHoldingKeyResponse = await self._stub.GetHoldingKey(request)
        return found.holding_key

    async def provider_key(self, version: int) -> ProviderKey:
        """Return the key that credentials of the tenant's own providers are sealed with."""
        request = session_service_pb2.GetProviderKeyRequest(key_version=version)
        found: session_service_pb2.GetProviderKeyResponse = await self._stub.GetProviderKey(request)
        return ProviderKey(found.key_version, found.provider_key)

    async def record_decision(self, decided: Decided) -> None:
        """Append what was decided about a held answer."""
        await self._stub.AppendEvent(decision_event(decided))

    async def record_classification(self, request_id: str, draft: DispatchDraft) -> None:
        """Append the event of a classified system."""
        await self._stub.AppendEvent(classification_event(request_id, draft))

    async def record_prohibited(self, request_ids: tuple[str, str], place: WindowPlace, system: AiSystemRecord) -> None:
        """Append the events of a system that no call may be made for."""
        for event in prohibited_events(request_ids, place, system):
            await self._stub.AppendEvent(event)

    async def record_depletion(self, request_id: str, opened: OpenedWindow) -> None:
        """Append that a window was opened with a spent budget."""
        await self._stub.AppendEvent(depletion_event(request_id, opened))

    async def record_remedies(self, request_id: str, draft: DispatchDraft) -> None:
        """Append the events of every round of remedies."""
        for event in remedy_events(request_id, draft):
            await self._stub.AppendEvent(event)

    async def record_agent(self, request_id: str, draft: DispatchDraft) -> None:
        """Append the tools that were called, and the turn of the loop."""
        for event in agent_events(request_id, draft):
            await self._stub.AppendEvent(event)

    async def record_degradation(self, request_id: str, draft: DispatchDraft, committed: CommittedWindow) -> None:
        """Append the warning of a quality that keeps falling."""
        await self._stub.AppendEvent(degradation_event(request_id, draft, committed))

    async def record_injections(self, request_id: str, draft: DispatchDraft) -> None:
        """Append what of the draft's window speaks to a model."""
        await self._stub.AppendEvent(injection_event(request_id, draft))

    async def grounded_spans(self, session_id: str, window_id: str) -> tuple[Span, ...]:
        """Read a committed window's report."""
        asked = session_service_pb2.GetWindowRequest(session_id=session_id, window_id=window_id)
        report_id = (await self._stub.GetWindow(asked)).window.report_id
        if not report_id:
            text = "the window's report is not in this store"
            raise NotFoundError(ErrorReason.REPORT_NOT_FOUND, text, window_id=window_id)
        found = await self._stub.GetReport(session_service_pb2.GetReportRequest(report_id=report_id))
        return grounded_spans(found.report)


def open_request(command: OpenWindow) -> session_service_pb2.OpenWindowRequest:
    """Return the request to open a window."""
    continuation, agent = command.continuation, command.agent
    return session_service_pb2.OpenWindowRequest(
        request_id=command.request_id,
        session_token=continuation.session_token,
        continuation_ids=continuation.continuation_ids,
        strategy=enums.STRATEGIES.number(command.strategy),
        policy_hash=command.policy_hash,
        policy=command.policy,
        compared_policy_hashes=command.compared,
        loop_depth=agent.loop_depth,
        safety_budget_ceiling=agent.safety_budget,
        agent_session_parent=agent.session_parent,
        available_budget_tokens=command.available_budget_tokens,
        summariser_available=command.summariser_available,
        branch=continuation.branch,
        agent_sessions=continuation.agent_sessions,
        fan_in_policy=None
        if continuation.fan_in_policy is None
        else wire.DAG_FAN_IN_POLICIES.number(continuation.fan_in_policy),
    )


def opened_window(response: session_service_pb2.OpenWindowResponse, agent: Agent) -> OpenedWindow:
    """Read an opened window; the deeper of the session's and the calling agent's loop depth holds (SPEC-004 §15.3)."""
    session, window = response.session, response.window
    return OpenedWindow(
        place=WindowPlace(
            session_id=session.session_id,
            window_id=window.window_id,
            window_number=window.window_number,
            max_windows=session.limits.max_windows,
            loop_depth=max(session.loop_depth, agent.loop_depth or 0),
            parent_session_id=session.parent_session_id,
        ),
        parents=tuple(_parent(parent) for parent in response.parents),
        facts_seen=tuple(response.facts_seen),
        prior_windows=_prior_windows(response.prior_windows),
        notes=tuple(note for parent in response.parents for note in parent.skipped),
        audit_trail_id=session.audit_trail_id,
        degradation=_degradation(response.degradation),
        draft_key=response.draft_key,
        fresh=response.fresh,
        breaker=enums.BREAKER_STATES.get(response.circuit_breaker, BreakerState.CLOSED),
        safety_budget=response.safety_budget,
        halt_reason=response.halt_reason,
        agents_left_out=tuple(response.agents_left_out),
    )


def _degradation(found: dag_pb2.QualityDegradation) -> Degradation:
    return wire.DEGRADATIONS.get(found.level, Degradation.NONE)


def _parent(parent: session_service_pb2.ParentContext) -> Parent:
    return Parent(
        window_id=parent.window_id,
        response_text=parent.response_text,
        transfer_type=dag_pb2.TransferType.Name(parent.transfer_type).removeprefix(_TRANSFER_PREFIX),
        deferred_fact_ids=tuple(parent.deferred_fact_ids),
        transferred_fact_ids=tuple(parent.transferred_fact_ids),
        summary_tokens=parent.summary_tokens,
        fallback_text=parent.fallback_text,
        transferred_tokens=parent.transferred_tokens,
    )


def _prior_windows(windows: Sequence[session_service_pb2.PriorWindow]) -> tuple[PriorWindow, ...]:
    return tuple(
        PriorWindow(window.window_id, window.window_number, window.text, query=window.query) for window in windows
    )


def commit_request(request_id: str, draft: DispatchDraft) -> session_service_pb2.CommitWindowRequest:
    """Return the request to commit a draft's window; the report goes as the dpe service made it."""
    envelope, written = draft.envelope, draft.written
    return session_service_pb2.CommitWindowRequest(
        request_id=request_id,
        session_id=draft.place.session_id,
        window_id=draft.place.window_id,
        response_text=written.text,
        report=report_pb2.DpeReport.FromString(draft.report_message),
        envelope_etag=envelope.etag,
        quality_tier=enums.QUALITY_TIERS.number(draft.tier),
        token_count=envelope.token_count,
        response_tokens=written.response_tokens,
        facts_included=envelope.fact_ids,
        deferred_facts=[
            dag_pb2.DeferredFactRef(fact_id=fact.fact_id, token_count=fact.token_count) for fact in envelope.deferred
        ],
        strategy=enums.STRATEGIES.number(draft.strategy),
        model_fingerprint=written.model_fingerprint,
        ckf_state_hash=envelope.ckf_state_hash,
        analysis_inputs=inputs_pb2.AnalysisInputs.FromString(draft.inputs_message) if draft.inputs_message else None,
        transfers=[_transfer(transfer) for transfer in draft.transfers],
    )


def _transfer(transfer: CarriedTransfer) -> session_service_pb2.ParentTransfer:
    return session_service_pb2.ParentTransfer(
        source_window_id=transfer.source_window_id,
        transfer_type=f"{_TRANSFER_PREFIX}{transfer.transfer_type}",
        transferred_tokens=transfer.transferred_tokens,
        summary_text=transfer.summary_text,
        fidelity_score=transfer.fidelity_score,
        model_fingerprint=transfer.model_fingerprint[:MAX_FINGERPRINT],
        reason=transfer.reason,
    )


def committed_window(response: session_service_pb2.CommitWindowResponse) -> CommittedWindow:
    """Read a committed window."""
    return CommittedWindow(
        message=response.window.SerializeToString(deterministic=True),
        session_token=response.session_token,
        set_session=response.set_session,
        continuation_id=response.continuation_id,
        hmac=response.window.hmac,
        window_hmac=response.window.window_hmac,
        dag_root=response.dag_root,
        lineage=response.lineage,
        chain_integrity=enums.CHAIN_INTEGRITIES[response.chain_integrity],
        safety_budget=response.safety_budget,
        budget_warning=response.budget_warning,
        audit_trail_id=response.audit_trail_id,
        report_id=response.report_id,
        degradation_advice=response.degradation.advice,
        human_review_required=response.human_review_required,
        halt_reason=response.halt_reason,
        degradation=_degradation(response.degradation),
        breaker=enums.BREAKER_STATES.get(response.circuit_breaker, BreakerState.CLOSED),
    )


def grounded_spans(report: report_pb2.DpeReport) -> tuple[Span, ...]:
    """Return where a report found claims that facts ground and nothing contradicts (SPEC-005 §4, ADR 0042)."""
    return tuple(
        Span(claim.span.start, claim.span.end)
        for claim in report.claims
        if claim.attribution.type == claim_pb2.ATTRIBUTION_TYPE_CONTEXT_GROUNDED
        and claim.verdict not in {claim_pb2.CLAIM_VERDICT_CONTRADICTED, claim_pb2.CLAIM_VERDICT_SUPERSEDED}
    )
