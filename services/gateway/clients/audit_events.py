"""What the gateway writes into a session's audit chain: ids, levels, counts, offsets and digests, never content.

A withheld answer is committed nowhere. So its SAFETY_HALT or OVERSIGHT_TRIGGERED event carries what an auditor needs of
its report: the hash that the report would be chained by, and every finding by kind and offset (ADR 0059).
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from crp.dag.v1 import session_service_pb2
from crp.dpe.v1 import claim_pb2, finding_pb2, report_pb2

from services.common.encoding import canonical_json
from services.common.ports.credentials import AiSystemRecord
from services.common.taxonomy import DispatchStrategy
from services.gateway.domain.ai_systems import UNACCEPTABLE_CLASS, prohibited_rows
from services.gateway.domain.command import DispatchDraft, derived_id
from services.gateway.domain.outcome import OVERSIGHT_REQUIRED, UNACCEPTABLE_SYSTEM
from services.gateway.domain.quality import QualityUpgrade
from services.gateway.domain.remedies import RemedyRound, ReportRef
from services.gateway.domain.suspicion import event_data
from services.gateway.domain.window import CommittedWindow, OpenedWindow, ReportSummary, WindowPlace
from services.gateway.ports import Decided

MAX_CLAIMS: Final = 150
"""Claims that a halt's event lists; their number is given beside the number of all (65,536 bytes of an event)."""
_PREFIX: Final = "AUDIT_EVENT_TYPE_"


def classification_event(request_id: str, draft: DispatchDraft) -> session_service_pb2.AppendEventRequest:
    """Return the audit event of a classified system: which registration, which class, by which rows (SPEC-005 §14)."""
    report = draft.report
    data: dict[str, Any] = {
        "ai_system_id": report.ai_system_id,
        "ai_system_version": report.ai_system_version,
        "eu_ai_act_class": report.eu_ai_act_class,
        "rows": list(report.regulatory_rows),
        "nist_tier": report.nist_tier,
        "report_id": report.report_id,
    }
    if report.controls_met is not None:
        data |= {"controls_met": report.controls_met, "controls_total": report.controls_total}
    return _event(request_id, draft.place, "EU_AI_ACT_CLASSIFIED", data)


def prohibited_events(
    request_ids: tuple[str, str], place: WindowPlace, system: AiSystemRecord
) -> Iterator[session_service_pb2.AppendEventRequest]:
    """Yield the events of a system that no call may be made for: how it is classified, and that nothing was done."""
    data = {
        "ai_system_id": system.ai_system_id,
        "ai_system_version": system.version,
        "eu_ai_act_class": UNACCEPTABLE_CLASS,
        "rows": list(prohibited_rows(system)),
    }
    yield _event(request_ids[0], place, "EU_AI_ACT_CLASSIFIED", data)
    halt = {"halt_reason": UNACCEPTABLE_SYSTEM, "ai_system_id": system.ai_system_id, "model_called": False}
    yield _event(request_ids[1], place, "SAFETY_HALT", halt)


def depletion_event(request_id: str, opened: OpenedWindow) -> session_service_pb2.AppendEventRequest:
    """Return the audit event of a window that starts with a spent budget: no model was called (ADR 0103)."""
    data = {
        "halt_reason": opened.halt_reason,
        "safety_budget": opened.safety_budget,
        "circuit_breaker": opened.breaker.value,
        "model_called": False,
    }
    return _event(request_id, opened.place, opened.halt_reason, data)


def halt_event(request_id: str, draft: DispatchDraft, halt_reason: str) -> session_service_pb2.AppendEventRequest:
    """Return the audit event of a withheld answer, with what its report found."""
    report = report_pb2.DpeReport.FromString(draft.report_message)
    data: dict[str, Any] = {
        "halt_reason": halt_reason,
        "risk_level": draft.report.risk_level.value,
        "directives": list(draft.verdict.violated),
        "model_fingerprint": draft.written.model_fingerprint,
        **_report_data(draft.report, report),
    }
    person = halt_reason == OVERSIGHT_REQUIRED
    return _event(request_id, draft.place, "OVERSIGHT_TRIGGERED" if person else "SAFETY_HALT", data)


def decision_event(decided: Decided) -> session_service_pb2.AppendEventRequest:
    """Return the audit event of a decision about a held answer: who, what, and the digest of why (ADR 0148)."""
    data = {
        "review_id": decided.review_id,
        "decision": decided.decision,
        "decided_by": decided.decided_by,
        "author": decided.author,
        "comment_sha256": decided.comment_sha256,
    }
    return _event(decided.request_id, decided.place, "OVERSIGHT_DECIDED", data)


def _report_data(summary: ReportSummary, report: report_pb2.DpeReport) -> dict[str, Any]:
    scores = {
        "hallucination_score": summary.composite_score,
        "composite_level": None if summary.composite_level is None else summary.composite_level.value,
        "grounding_pct": summary.grounding_pct,
        "fidelity_score": summary.fidelity_score,
        "entailment_score": summary.entailment_score,
        "fabrication_count": summary.fabrication_count,
        "distortion_count": summary.distortion_count,
        "contradiction_count": summary.contradiction_count,
        "gdpr_pii_detected": summary.gdpr_pii_detected,
    }
    kinds = Counter(finding_pb2.DistortionType.Name(each.type) for each in report.distortions)
    return {
        "report_id": report.report_id,
        "report_hash": report.report_hash,
        "response_content_hash": report.response_content_hash,
        "policy_hash": report.policy_hash,
        "risk_floors": [[level.value, reason] for level, reason in summary.floors],
        "claims_total": report.claims_total,
        "attribution": dict(summary.attribution_breakdown),
        "distortions": dict(kinds),
        "stages": {each.stage: each.status.value for each in summary.stages},
        "claims": [_claim(claim) for claim in report.claims[:MAX_CLAIMS]],
        **{name: value for name, value in scores.items() if value is not None},
    }


def _claim(claim: claim_pb2.Claim) -> list[Any]:
    """Return a claim without its words: id, start, end, type, attribution and verdict."""
    return [
        claim.claim_id,
        claim.span.start,
        claim.span.end,
        claim_pb2.ClaimType.Name(claim.claim_type).removeprefix("CLAIM_TYPE_"),
        claim_pb2.AttributionType.Name(claim.attribution.type).removeprefix("ATTRIBUTION_TYPE_"),
        claim_pb2.ClaimVerdict.Name(claim.verdict).removeprefix("CLAIM_VERDICT_"),
    ]


def remedy_events(request_id: str, draft: DispatchDraft) -> Iterator[session_service_pb2.AppendEventRequest]:
    """Yield the events of an upgrade for the envelope's sake, then of every round, in order (SPEC-005 §19.3).

    The ids follow from ``request_id``.
    """
    if draft.upgrade is not None:  # SPEC-003 §8.4
        yield _event(derived_id(request_id, "envelope"), draft.place, "STRATEGY_UPGRADE", _upgrade_data(draft.upgrade))
    for number, tried in enumerate(draft.rounds):
        for name in tried.audit_events:
            event_id = derived_id(request_id, f"{number}/{name}")
            yield _event(event_id, draft.place, name, _round_data(tried))


def _upgrade_data(upgrade: QualityUpgrade) -> dict[str, Any]:
    return {
        "reason": "QUALITY_TIER_NOT_ACCEPTED",
        "from_strategy": upgrade.from_strategy.value,
        "to_strategy": upgrade.to_strategy.value,
        "tier_before": upgrade.before.value,
        "tier_after": upgrade.after.value,
        "kept": upgrade.kept,
    }


def agent_events(request_id: str, draft: DispatchDraft) -> Iterator[session_service_pb2.AppendEventRequest]:
    """Yield TOOL_CALL for each call that was to be made, then AGENT_LOOP_ITERATION (CRP-SPEC-008, -011)."""
    for number, call in enumerate(draft.tool_calls):
        yield _event(derived_id(request_id, f"tool/{number}"), draft.place, "TOOL_CALL", call.record())
    agent = draft.agent
    if agent is None or agent.phase is None:
        return
    data: dict[str, Any] = {
        "phase": agent.phase.value,
        "tool_calls": agent.tool_calls,
        "sub_queries_total": draft.report.sub_queries_total,
        "sub_queries_open": len(draft.report.uncovered_sub_queries),
        "risk_level": draft.report.risk_level.value,
    }
    if agent.revision is not None:
        data["revision_round"] = f"{agent.revision.current}/{agent.revision.most}"
    yield _event(derived_id(request_id, "iteration"), draft.place, "AGENT_LOOP_ITERATION", data)


def degradation_event(
    request_id: str, draft: DispatchDraft, committed: CommittedWindow
) -> session_service_pb2.AppendEventRequest:
    """Return the warning that the quality of a session's envelopes keeps falling (SPEC-003 §14.3)."""
    data = {
        "degradation": committed.degradation.value,
        "quality_tier": draft.tier.value,
        "recommended_strategy": DispatchStrategy.HIERARCHICAL.value,
        "communities": len(draft.envelope.communities),
        "saturation": round(draft.envelope.saturation, 6),
    }
    return _event(request_id, draft.place, "QUALITY_DEGRADED", data)


def injection_event(request_id: str, draft: DispatchDraft) -> session_service_pb2.AppendEventRequest:
    """Return the event of texts that speak to a language model: what they are, which rules, where, what was done."""
    return _event(request_id, draft.place, "INJECTION_FOUND", event_data(draft.suspicions))


def _round_data(tried: RemedyRound) -> dict[str, Any]:
    data: dict[str, Any] = {
        "attempt": tried.attempt,
        "remedies": [
            {"remedy": step.remedy.value, "reason": step.reason, "stage": step.stage_number} for step in tried.steps
        ],
        "kept": tried.kept,
        "of_window_id": tried.window_id,
        "before": _reference(tried.before),
        "after": _reference(tried.after),
    }
    if tried.call is not None:
        counts = {"prompt_tokens": tried.call.prompt_tokens, "completion_tokens": tried.call.completion_tokens}
        data["call"] = {
            "model_fingerprint": tried.call.model_fingerprint,
            "billed": tried.call.purpose.billed,
            **{name: count for name, count in counts.items() if count is not None},
        }
    return data


def _reference(report: ReportRef) -> dict[str, Any]:
    data: dict[str, Any] = {
        "report_id": report.report_id,
        "report_hash": report.report_hash,
        "risk_level": report.risk_level.value,
    }
    return data if report.composite_score is None else data | {"hallucination_score": report.composite_score}


def _event(
    request_id: str, place: WindowPlace, name: str, data: dict[str, Any]
) -> session_service_pb2.AppendEventRequest:
    return session_service_pb2.AppendEventRequest(
        request_id=request_id,
        session_id=place.session_id,
        window_id=place.window_id,
        event_type=f"{_PREFIX}{name}",
        data=canonical_json(data).decode(),
    )
