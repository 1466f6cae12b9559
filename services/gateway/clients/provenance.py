"""``ProvenanceClient`` over ``crp.dpe.v1.ProvenanceService``."""

from typing import Any

import grpc
from crp.common.v1 import text_pb2
from crp.dpe.v1 import (
    claim_pb2,
    finding_pb2,
    provenance_service_pb2,
    provenance_service_pb2_grpc,
    quality_pb2,
    regulatory_pb2,
    report_pb2,
)
from crp.envelope.v1 import envelope_pb2

from services.common.computing import compute_unless_small
from services.common.ports.credentials import AiSystemRecord
from services.common.rpc import enums
from services.common.taxonomy import StageStatus
from services.gateway import wire
from services.gateway.clients.inputs import kept_inputs
from services.gateway.clients.remedies import remedy_plan
from services.gateway.domain.summaries import CheckedClaim, Span, SummaryCheck
from services.gateway.domain.window import Analysis, ReportSummary, StageState
from services.gateway.ports import Analyze

_AREAS = wire.inverse(wire.ANNEX_III_AREAS)
_PRACTICES = wire.inverse(wire.PROHIBITED_PRACTICES)
_ROLES = wire.inverse(wire.AI_ACT_ROLES)
_SECTORS = wire.inverse(wire.REGULATED_SECTORS)
_VERDICTS = 3
"""The stage that gives claims their verdicts."""
_NO_STORE = "no-store"
_NO_CACHE = "no-cache"


class GrpcProvenanceClient:
    """Speaks to the dpe service for the running call."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = provenance_service_pb2_grpc.ProvenanceServiceStub(channel)  # type: ignore[no-untyped-call]

    async def analyze(self, command: Analyze) -> Analysis:
        """Analyse an answer."""
        request = analyze_request(command)
        response = await self._stub.Analyze(request)
        # What a request with no-store holds is not kept, and its report cannot be replayed (SPEC-003 §17.1, SPEC-005
        # §13.3, ADR 0043).
        kept = b"" if request.cache_no_store else await compute_unless_small(request.ByteSize(), _kept, request)
        report = response.report
        message, plan = report.SerializeToString(deterministic=True), remedy_plan(response.remediation)
        faults = (one.span.start for one in report.claims if one.verdict == claim_pb2.CLAIM_VERDICT_CONTRADICTED)
        return Analysis(report_summary(report), message, kept, plan, tuple(sorted(faults)))

    async def verify_summary(self, summary: str, original: str, grounded: tuple[Span, ...]) -> SummaryCheck:
        """Check a summary."""
        spans = [text_pb2.TextSpan(start=span.start, end=span.end) for span in grounded]
        request = provenance_service_pb2.VerifySummaryRequest(summary=summary, original=original, grounded_spans=spans)
        return summary_check(await self._stub.VerifySummary(request))


def _kept(request: provenance_service_pb2.AnalyzeRequest) -> bytes:
    return kept_inputs(request).SerializeToString(deterministic=True)


def summary_check(response: provenance_service_pb2.VerifySummaryResponse) -> SummaryCheck:
    """Read what became of a summary; a claim that is faithful alone is not verified (ADR 0042)."""
    verified = provenance_service_pb2.SUMMARY_CLAIM_STATE_VERIFIED
    return SummaryCheck(
        faithful=response.faithful,
        fidelity_score=response.fidelity_score if response.HasField("fidelity_score") else None,
        claims=tuple(
            CheckedClaim(Span(claim.span.start, claim.span.end), claim.state == verified)
            for claim in response.checked_claims
        ),
        reason=response.reason,
    )


def analyze_request(command: Analyze) -> provenance_service_pb2.AnalyzeRequest:
    """Return the request to analyse an answer; the envelope goes as the envelope service made it, but for sentences.

    Raises:
        TypeError: ``envelope`` is no ContextEnvelope.
    """
    place, envelope = command.place, command.envelope
    if not isinstance(envelope, envelope_pb2.ContextEnvelope):
        msg = f"the envelope is a {type(envelope).__name__}"
        raise TypeError(msg)
    request = provenance_service_pb2.AnalyzeRequest(
        session_id=place.session_id,
        window_id=place.window_id,
        window_number=place.window_number,
        query=command.query,
        prompt=command.prompt,
        response_text=command.response_text,
        envelope=envelope,
        prior_windows=[
            provenance_service_pb2.PriorWindow(
                window_id=prior.window_id,
                window_number=prior.window_number,
                text=prior.text,
                is_summary=prior.is_summary,
            )
            for prior in command.prior_windows
            if prior.text
        ],
        grounding_mode=enums.GROUNDING_MODES.number(command.grounding_mode),
        ai_system_id=command.ai_system_id,
        ai_system=None if command.ai_system is None else _ai_system(command.ai_system),
        loop_depth=place.loop_depth,
        cache_no_store=_NO_STORE in command.cache_directives,
        cache_no_cache=_NO_CACHE in command.cache_directives,
        sub_queries=command.sub_queries,
        windows_remaining=place.windows_remaining,
        audit_trail_id=command.audit_trail_id,
        incomplete_risk_level=None
        if command.incomplete_level is None
        else enums.RISK_LEVELS.number(command.incomplete_level),
        leans_on=command.leans_on,
        stands_alone=command.stands_alone or None,  # absent: a request without it keeps its digest
    )
    for conflict in request.envelope.conflicts:  # a copy: what the envelope service made is not changed
        conflict.subject = ""  # for people: the analysis reads values, and what is kept of it shall hold no words
    return request


def _ai_system(system: AiSystemRecord) -> regulatory_pb2.AiSystemProfile:
    return regulatory_pb2.AiSystemProfile(
        domain=system.domain,
        sector=system.sector,
        iso_42001_evidence=dict(system.iso_42001_evidence),
        makes_decisions=system.makes_decisions,
        version=system.version,
        intended_purpose=system.intended_purpose,
        annex_iii_areas=[_AREAS[area] for area in system.annex_iii_areas],
        prohibited_practices=[_PRACTICES[practice] for practice in system.prohibited_practices],
        interacts_with_people=system.interacts_with_people,
        generates_content=system.generates_content,
        safety_component=system.safety_component,
        role=_ROLES.get(system.role),
        regulated_sector=_SECTORS.get(system.regulated_sector),
    )


def report_summary(report: report_pb2.DpeReport) -> ReportSummary:
    """Read the values that headers and policies need; what is not set is ``None`` or empty, never a default."""
    return ReportSummary(
        report_id=report.report_id,
        risk_level=enums.RISK_LEVELS[report.risk_level],
        composite_score=_given(report, "composite_score"),
        claims_total=report.claims_total if _ran(report, 1) else None,
        attribution_dominant=_name(claim_pb2.AttributionType, report.attribution_dominant, "ATTRIBUTION_TYPE_"),
        attribution_breakdown=tuple(sorted(report.attribution_breakdown.items())),
        grounding_pct=_given(report, "grounding_pct"),
        fabrication_count=_given(report, "fabrication_count"),
        distortion_count=_given(report, "distortion_count"),
        distortion_types=tuple(
            _name(finding_pb2.DistortionType, kind, "DISTORTION_TYPE_") for kind in report.distortion_types
        ),
        contradiction_count=_given(report, "contradiction_count"),
        contradiction_scope=wire.CONTRADICTION_SCOPES.get(report.contradiction_scope, ""),
        fidelity_score=_given(report, "fidelity_score"),
        entailment_score=_given(report, "entailment_score"),
        repetition_level=wire.REPETITIONS.get(report.repetition_level),
        repetition_overlap=_given(report, "repetition_overlap"),
        completeness_score=_given(report, "completeness_score"),
        completeness_level=_name(report_pb2.CompletenessLevel, report.completeness_level, "COMPLETENESS_LEVEL_"),
        sub_queries_total=report.sub_queries_total,
        uncovered_sub_queries=tuple(report.uncovered_sub_queries),
        flow_score=_given(report, "flow_score"),
        flow_remediation=report.flow_remediation,
        quality_score=_given(report, "quality_score"),
        maximum_quality_tier=enums.QUALITY_TIERS.get(report.maximum_quality_tier),
        omissions=tuple(sorted(report.omission_summary.items())),
        gdpr_pii_detected=_given(report, "gdpr_pii_detected"),
        eu_ai_act_class=_name(report_pb2.EuAiActClass, report.eu_ai_act_class, "EU_AI_ACT_CLASS_"),
        nist_tier=wire.NIST_TIERS.get(report.nist_tier, ""),
        iso_42001_controls=tuple(report.iso_42001_controls),
        controls_met=_given(report, "controls_met"),
        controls_total=_given(report, "controls_total"),
        pii_cache_warning=report.pii_cache_warning,
        stages=tuple(_stage(stage) for stage in report.stages),
        ai_system_id=report.ai_system_id if report.HasField("ai_system") else "",
        ai_system_version=report.ai_system.version,
        regulatory_rows=tuple(row.row for row in report.regulatory.rows),
        report_hash=report.report_hash,
        contradicted_claims=_with_verdict(report, claim_pb2.CLAIM_VERDICT_CONTRADICTED),
        undecided_claims=_with_verdict(report, claim_pb2.CLAIM_VERDICT_UNDECIDED),
        composite_level=enums.RISK_LEVELS.get(report.composite_level),
        floors=tuple(
            (enums.RISK_LEVELS[floor.level], _name(report_pb2.RiskFloorReason, floor.reason, "RISK_FLOOR_REASON_"))
            for floor in report.risk_floors
        ),
        relevance_status=_name(quality_pb2.RelevanceStatus, report.relevance.status, "RELEVANCE_STATUS_"),
        relevance_score=report.relevance.score if report.relevance.HasField("score") else None,
        relevance_reason=report.relevance.reason,
    )


def _with_verdict(report: report_pb2.DpeReport, verdict: claim_pb2.ClaimVerdict) -> int | None:
    """Return how many claims have a verdict; ``None`` when no verdicts were given."""
    ended = {one.number: enums.STAGE_STATUSES.get(one.status) for one in report.stages if not one.sub_stage}
    if ended.get(_VERDICTS) not in {StageStatus.COMPLETED, StageStatus.DEGRADED, StageStatus.NOT_APPLICABLE}:
        return None
    return sum(claim.verdict == verdict for claim in report.claims)


def _given(report: report_pb2.DpeReport, field: str) -> Any:
    """Return the field's value, or ``None`` when it is absent."""
    return getattr(report, field) if report.HasField(field) else None


def _name(enum: Any, value: int, prefix: str) -> str:
    """Return the enum value's name without its prefix; empty for the unset value."""
    return enum.Name(value).removeprefix(prefix) if value else ""


def _ran(report: report_pb2.DpeReport, number: int) -> bool:
    """Say whether a whole stage gave its result."""
    statuses = {enums.STAGE_STATUSES.get(stage.status) for stage in report.stages if stage.number == number}
    return bool(statuses & {StageStatus.COMPLETED, StageStatus.DEGRADED})


def _stage(stage: report_pb2.StageOutcome) -> StageState:
    return StageState(f"{stage.number}{stage.sub_stage}", enums.STAGE_STATUSES[stage.status], stage.reason)
