"""DispatchRequest to command, result to DispatchResponse."""

from collections.abc import Iterable, Sequence
from typing import Final

from crp.common.v1 import text_pb2
from crp.dag.v1 import dag_pb2
from crp.dpe.v1 import report_pb2
from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as pb

from services.common.rpc import enums
from services.common.rpc.by_name import read_by_name
from services.common.rpc.idempotency import body_hash
from services.common.rpc.report_views import in_view, withheld
from services.common.taxonomy import DispatchStrategy, GroundingMode
from services.gateway import wire
from services.gateway.domain.command import (
    PART_BREAK,
    Agent,
    Answered,
    ContextWishes,
    Continuation,
    DispatchCommand,
    DispatchResult,
    Generation,
    Halted,
    HeldForReview,
    NotModified,
)
from services.gateway.domain.completion import ModelCall
from services.gateway.domain.headers import Header, audit_trail_uri
from services.gateway.domain.outcome import RETRY_OVERSIGHT, PolicyRequest, Violation
from services.gateway.domain.quality import QualityUpgrade
from services.gateway.domain.remedies import RemedyRound
from services.gateway.domain.tools import ToolCall
from services.gateway.domain.window import CommittedWindow, EnvelopeSummary

TIER_NOT_ACCEPTED: Final = "QUALITY_TIER_NOT_ACCEPTED"
"""Why an envelope was built again with another strategy (SPEC-003 §8.4)."""

MAX_METADATA_BYTES: Final = 7 * 1024
"""Clients of gRPC refuse metadata from 8 KiB on, unless told otherwise; the rest is for gRPC's own entries."""
_METADATA_ENTRY_BYTES: Final = 32
"""What an entry counts besides name and value (RFC 9113 §10.5.1)."""


def dispatch_command(request: pb.DispatchRequest) -> DispatchCommand:
    """Return the command of a valid request."""
    return DispatchCommand(
        request_id=request.request_id,
        body_hash=body_hash(request),
        query=request.query,
        earlier_questions=tuple(request.earlier_questions),
        continuation=Continuation(
            session_token=request.session_token,
            session_id=request.session_id,
            continuation_ids=tuple(request.continuation_ids),
            fan_in_policy=wire.FAN_IN_POLICIES.get(request.fan_in_policy),
            branch=request.branch,
            agent_sessions=tuple(request.agent_sessions),
        ),
        strategies=_strategies(request),
        grounding_mode=enums.GROUNDING_MODES.get(request.grounding_mode, GroundingMode.CONTEXT_PREFERRED),
        generation=_generation(request),
        context=read_by_name(request, ContextWishes),
        policy=_policy(request),
        agent=_agent(request),
        ai_system_id=request.ai_system_id,
        tools=tuple(request.tools),
        safety_report_uri=request.safety_report_uri,
        remedies=wire.REMEDY_MODES.get(request.remediation),
    )


def _strategies(request: pb.DispatchRequest) -> tuple[DispatchStrategy, ...]:
    wanted = list(request.strategies) or [request.agent_dispatch_strategy]
    return tuple(enums.STRATEGIES[value] for value in wanted if value)


def _generation(request: pb.DispatchRequest) -> Generation:
    return Generation(
        model=request.model,
        max_tokens=request.max_tokens if request.HasField("max_tokens") else None,
        temperature=request.temperature if request.HasField("temperature") else None,
        seed=request.seed if request.HasField("seed") else None,
        system_prompt=request.system_prompt,
    )


def _policy(request: pb.DispatchRequest) -> PolicyRequest:
    return PolicyRequest(
        safety_policy=request.safety_policy,
        report_only=request.safety_policy_report_only,
        mode=wire.SAFETY_MODES.get(request.safety_mode),
        oversight=wire.OVERSIGHT_MODES.get(request.oversight_mode),
        accept_risk=enums.RISK_LEVELS.get(request.accept_risk),
    )


def _agent(request: pb.DispatchRequest) -> Agent:
    return Agent(
        session_parent=request.agent_session_parent,
        loop_depth=request.loop_depth if request.HasField("loop_depth") else None,
        safety_budget=request.safety_budget if request.HasField("safety_budget") else None,
    )


def dispatch_response(result: DispatchResult, view: int = report_pb2.REPORT_VIEW_FULL) -> pb.DispatchResponse:
    """Return the response of a result, its reports in the view that was asked for."""
    response = pb.DispatchResponse(
        headers=headers(result.headers),
        violations=[_violation(violation) for violation in result.verdict.violations],
        warnings=[dispatch_pb2.Warning(code=notice.code, message=notice.message) for notice in result.notices],
        remediations=[
            *(_upgrade(window_id, upgrade) for window_id, upgrade in result.upgrades),
            *(each for tried in result.rounds for each in _remediations(tried)),
        ],
        model_calls=[_model_call(call) for call in result.calls],
        tool_calls=[_tool_call(call) for call in result.tool_calls],
        circuit_breaker=None if result.breaker is None else enums.BREAKER_STATES.number(result.breaker),
    )
    match result.outcome:
        case Answered() as answered:
            response.answer.CopyFrom(_answer(answered, view))
        case Halted() as halted:
            response.halted.CopyFrom(_halted(halted, view))
        case HeldForReview(place, review_id, reason):
            held = dispatch_pb2.HeldForReview(
                review_id=review_id, session_id=place.session_id, window_id=place.window_id, reason=reason
            )
            response.held_for_review.CopyFrom(held)
        case NotModified(etag, cache_status):
            response.not_modified.CopyFrom(dispatch_pb2.NotModified(etag=etag, cache_status=cache_status))
    return response


def _upgrade(window_id: str, upgrade: QualityUpgrade) -> dispatch_pb2.Remediation:
    return dispatch_pb2.Remediation(
        kind=dispatch_pb2.REMEDIATION_KIND_STRATEGY_UPGRADE,
        reason=TIER_NOT_ACCEPTED,
        attempt=1,
        window_id=window_id,
        kept=upgrade.kept,
    )


def _remediations(tried: RemedyRound) -> list[dispatch_pb2.Remediation]:
    return [
        dispatch_pb2.Remediation(
            kind=wire.REMEDY_KINDS[step.remedy],
            reason=step.reason,
            attempt=tried.attempt,
            window_id=tried.window_id,
            kept=tried.kept,
            stage_number=step.stage_number,
        )
        for step in tried.steps
        if step.remedy in wire.REMEDY_KINDS
    ]


def _tool_call(call: ToolCall) -> dispatch_pb2.ToolCall:
    return dispatch_pb2.ToolCall(
        tool=call.tool,
        outcome=wire.TOOL_OUTCOMES.number(call.outcome),
        window_id=call.window_id,
        arguments_sha256=call.arguments_sha256,
        result_sha256=call.result_sha256,
        result_bytes=call.result_bytes,
        fact_ids=call.fact_ids,
        reason=call.reason,
    )


def _model_call(call: ModelCall) -> dispatch_pb2.ModelCall:
    return dispatch_pb2.ModelCall(
        purpose=wire.CALL_PURPOSES.number(call.purpose),
        model_fingerprint=call.model_fingerprint,
        prompt_tokens=call.prompt_tokens,
        completion_tokens=call.completion_tokens,
        billed=call.purpose.billed,
        window_id=call.window_id,
    )


def headers(made: Iterable[Header]) -> list[dispatch_pb2.CrpHeader]:
    """Return headers as messages."""
    return [dispatch_pb2.CrpHeader(name=header.name, value=header.value) for header in made]


def stages(result: DispatchResult) -> list[report_pb2.StageOutcome]:
    """Return the states of the analysis, in stage order; none where nothing was analysed."""
    match result.outcome:
        case Answered() as answered:
            message = answered.last.draft.report_message
        case Halted(report_message=message):
            pass
        case _:
            return []
    return list(report_pb2.DpeReport.FromString(message).stages)


def header_metadata(found: Sequence[dispatch_pb2.CrpHeader]) -> tuple[tuple[str, str], ...]:
    """Return headers as gRPC metadata.

    The longest are left out where all of them would exceed what gRPC clients take: an answer that was committed must
    reach its caller, and the message carries every header.
    """
    sizes = [len(header.name) + len(header.value) + _METADATA_ENTRY_BYTES for header in found]
    excess, left_out = sum(sizes) - MAX_METADATA_BYTES, set[int]()
    for place in sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True):
        if excess <= 0:
            break
        left_out.add(place)
        excess -= sizes[place]
    return tuple((header.name.lower(), header.value) for place, header in enumerate(found) if place not in left_out)


def _violation(violation: Violation) -> dispatch_pb2.PolicyViolation:
    finding = violation.finding
    return dispatch_pb2.PolicyViolation(
        directive=finding.directive,
        violation_type=finding.violation_type,
        description=finding.description,
        enforcement=wire.ENFORCEMENTS.number(violation.enforcement),
        signal_missing=finding.signal_missing,
    )


def _answer(answered: Answered, view: int) -> dispatch_pb2.Answer:
    draft, committed = answered.last.draft, answered.last.committed
    window = dag_pb2.WindowNode.FromString(committed.message)
    return dispatch_pb2.Answer(
        text=answered.text,
        report=in_view(_report(draft.report_message, committed), view),
        window=window,
        session_token=committed.session_token,
        continuation_id=committed.continuation_id,
        model_fingerprint=draft.written.model_fingerprint,
        envelope=_envelope(draft.envelope),
        finish_reason=draft.written.finish_reason,
        session_id=draft.place.session_id,
        prompt_tokens=draft.written.prompt_tokens,
        completion_tokens=draft.written.completion_tokens,
        strategy=enums.STRATEGIES.number(draft.strategy),
        chain_integrity=enums.CHAIN_INTEGRITIES.number(committed.chain_integrity),
        safety_budget=committed.safety_budget,
        parts=_parts(answered, view) if len(answered.parts) > 1 else (),
    )


def _parts(answered: Answered, view: int) -> list[dispatch_pb2.AnswerPart]:
    parts, start = [], 0
    for part in answered.parts:
        end = start + len(part.draft.written.text)
        parts.append(
            dispatch_pb2.AnswerPart(
                window_id=part.draft.place.window_id,
                span=text_pb2.TextSpan(start=start, end=end),
                report=in_view(_report(part.draft.report_message, part.committed), view),
            )
        )
        start = end + len(PART_BREAK)
    return parts


def _report(message: bytes, committed: CommittedWindow) -> report_pb2.DpeReport:
    """Return the report with what the commit gave it (not covered by its hash)."""
    report = report_pb2.DpeReport.FromString(message)
    report.hmac = committed.hmac
    report.chain_integrity = enums.CHAIN_INTEGRITIES.number(committed.chain_integrity)
    return report


def _envelope(envelope: EnvelopeSummary) -> dispatch_pb2.EnvelopeSummary:
    return dispatch_pb2.EnvelopeSummary(
        facts_available=envelope.facts_available,
        facts_included=envelope.facts_included,
        token_count=envelope.token_count,
        token_budget=envelope.token_budget,
        saturation=envelope.saturation,
        quality_tier=enums.QUALITY_TIERS.number(envelope.quality_tier),
        etag=envelope.etag,
        communities=envelope.communities,
        memory_tier_hit=envelope.memory_tier_hit,
        cache_status=envelope.cache_status,
        fact_ids=envelope.fact_ids,
        facts_deferred=len(envelope.deferred),
        retrieval_mode=None
        if envelope.retrieval_mode is None
        else enums.RETRIEVAL_MODES.number(envelope.retrieval_mode),
        facts_out_of_time=envelope.facts_out_of_time,
        source_conflicts=envelope.source_conflicts,
    )


def _halted(halted: Halted, view: int) -> dispatch_pb2.Halted:
    place, report = halted.place, halted.report
    told = None if report is None else withheld(report_pb2.DpeReport.FromString(halted.report_message))
    return dispatch_pb2.Halted(
        halt_reason=halted.halt_reason,
        session_id=place.session_id,
        window_id=place.window_id,
        audit_trail_uri=audit_trail_uri(place.session_id),
        oversight_required=halted.retry_condition == RETRY_OVERSIGHT,
        retry_condition=halted.retry_condition,
        risk_level=None if report is None else enums.RISK_LEVELS.number(report.risk_level),
        hallucination_score=None if report is None else report.composite_score,
        report_hash="" if report is None else report.report_hash,
        report_id="" if told is None else told.report_id,
        report=None if told is None else in_view(told, view),
    )
