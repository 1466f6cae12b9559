"""A finished analysis as a report, with its hash (SPEC-005 §15; decision 4)."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import claim_pb2, finding_pb2, report_pb2
from google.protobuf.duration_pb2 import Duration

from services.common.encoding import sha256_hex
from services.common.provenance import report_hash
from services.common.rpc.canonical import message_json
from services.dpe.app import Finished
from services.dpe.convert import findings
from services.dpe.convert.findings import enum_value
from services.dpe.convert.regulatory import fill_regulatory
from services.dpe.domain.analysis import Outputs
from services.dpe.domain.findings import AttributionType, DistortionType, OmissionSeverity, Verdict
from services.dpe.domain.outcome import STAGES, StageOutcome
from services.dpe.domain.text_types import Claim, ClaimType

_SIGNALS: Final = ("ATTRIBUTION", "FIDELITY", "ENTAILMENT", "SPECIFICITY")
_COMPLETENESS: Final = (  # SPEC-005 §10.2
    (0.90, report_pb2.COMPLETENESS_LEVEL_COMPLETE),
    (0.70, report_pb2.COMPLETENESS_LEVEL_MOSTLY_COMPLETE),
    (0.40, report_pb2.COMPLETENESS_LEVEL_PARTIAL),
    (0.0, report_pb2.COMPLETENESS_LEVEL_INCOMPLETE),
)
_TIERS: Final = (  # SPEC-005 §18.4
    (0.85, taxonomy_pb2.QUALITY_TIER_S),
    (0.70, taxonomy_pb2.QUALITY_TIER_A),
    (0.50, taxonomy_pb2.QUALITY_TIER_B),
    (0.30, taxonomy_pb2.QUALITY_TIER_C),
    (0.0, taxonomy_pb2.QUALITY_TIER_D),
)


def report_message(finished: Finished) -> report_pb2.DpeReport:
    """Return the report, its ``report_hash`` filled in; ``hmac`` and ``chain_integrity`` are the dag service's."""
    analysis, given, outputs = finished.analysis, finished.analysis.input, finished.analysis.outputs
    message = report_pb2.DpeReport(
        report_id=finished.report_id,
        session_id=given.session_id,
        window_id=given.window_id,
        window_number=given.window_number,
        timestamp=finished.started_at,
        response_content_hash=sha256_hex(given.answer),
        policy_hash=finished.policy_hash,
        models=models_messages(finished.models),
        grounding_mode=enum_value(taxonomy_pb2.GroundingMode, f"GROUNDING_MODE_{given.grounding_mode}"),
        ai_system_id=given.ai_system_id,
        envelope_etag=given.envelope_etag,
        gazetteer_version=analysis.gazetteer.version,
        stages=[outcome_message(outcome) for outcome in analysis.outcomes],
    )
    _fill_claims(message, outputs)
    _fill_findings(message, outputs)
    _fill_quality(message, outputs)
    _fill_risk(message, outputs)
    fill_regulatory(message, given.ai_system, outputs.regulatory)
    message.report_hash = report_hash(message_json(message))
    message.timings.CopyFrom(_timings(finished))
    return message


def outcome_message(outcome: StageOutcome) -> report_pb2.StageOutcome:
    """Return how a stage ended."""
    return report_pb2.StageOutcome(
        number=outcome.key.number,
        sub_stage=outcome.key.sub_stage,
        name=outcome.name,
        status=enum_value(taxonomy_pb2.StageStatus, f"STAGE_STATUS_{outcome.status}"),
        reason=str(outcome.reason),
        detail=outcome.detail,
        section=outcome.section,
    )


def models_messages(models: Iterable[tuple[str, str]]) -> list[report_pb2.ModelFingerprint]:
    """Return the models that took part."""
    return [report_pb2.ModelFingerprint(role=role, fingerprint=fingerprint) for role, fingerprint in models]


def claims_by_type(claims: Iterable[Claim]) -> dict[str, int]:
    """Return the number of claims of each type, all types present (SPEC-005 §3.5)."""
    counted = Counter(claim.claim_type for claim in claims)
    return {str(kind): counted[kind] for kind in ClaimType}


def duration(seconds: float) -> Duration:
    """Return a duration, to the microsecond."""
    message = Duration()
    message.FromTimedelta(timedelta(seconds=max(0.0, seconds)))
    return message


def _fill_claims(message: report_pb2.DpeReport, outputs: Outputs) -> None:
    attributions = outputs.attributions or {}
    message.claims_total = len(outputs.claims)
    message.claims_by_type.update(claims_by_type(outputs.claims))
    message.claims.extend(
        findings.claim_message(
            claim, attributions.get(claim.claim_id), outputs.verdicts.get(claim.claim_id, Verdict.NONE)
        )
        for claim in outputs.claims
    )
    message.coverage.sentences_total = len(outputs.sentences)
    if outputs.attributions is not None:
        counted = Counter(item.type for item in attributions.values())
        message.attribution_breakdown.update({str(kind): counted[kind] for kind in AttributionType})
    if outputs.dominant is not None:
        message.attribution_dominant = enum_value(claim_pb2.AttributionType, f"ATTRIBUTION_TYPE_{outputs.dominant}")
    if outputs.grounding_pct is not None:
        message.grounding_pct = outputs.grounding_pct
    message.grounding_violations.extend(
        finding_pb2.GroundingViolation(claim_id=key, attribution=claim_pb2.ATTRIBUTION_TYPE_PARAMETRIC)
        for key in outputs.grounding_violations
    )


def _fill_findings(message: report_pb2.DpeReport, outputs: Outputs) -> None:
    if outputs.fabrications is not None:
        message.fabrication_count = len(outputs.fabrications)
        message.fabrications.extend(findings.fabrication_message(item) for item in outputs.fabrications)
    if outputs.distortions is not None:
        message.distortion_count = len(outputs.distortions)
        message.distortions.extend(findings.distortion_message(item) for item in outputs.distortions)
        present = {item.type for item in outputs.distortions}
        message.distortion_types.extend(
            enum_value(finding_pb2.DistortionType, f"DISTORTION_TYPE_{kind}")
            for kind in DistortionType
            if kind in present
        )
    if outputs.contradictions is not None:
        message.contradiction_count = len(outputs.contradictions)
        message.contradictions.extend(
            findings.contradiction_message(item, message.window_id) for item in outputs.contradictions
        )
        if outputs.contradictions:
            message.contradiction_scope = finding_pb2.CONTRADICTION_SCOPE_INTRA
    message.coverage.pairs_total = outputs.coverage.pairs_total
    message.coverage.pairs_scored = outputs.coverage.pairs_scored
    if outputs.omissions is not None:
        counted = Counter(item.severity for item in outputs.omissions)
        message.omission_summary.update({str(kind): counted[kind] for kind in OmissionSeverity})
        message.omissions.extend(findings.omission_message(item) for item in outputs.omissions)


def _fill_quality(message: report_pb2.DpeReport, outputs: Outputs) -> None:
    if outputs.repetition_level is not None and outputs.repetition_overlap is not None:
        message.repetition_level = enum_value(
            report_pb2.RepetitionLevel, f"REPETITION_LEVEL_{outputs.repetition_level}"
        )
        message.repetition_overlap = outputs.repetition_overlap
    if outputs.completeness_score is not None:
        score = outputs.completeness_score
        message.completeness_score = score
        message.completeness_level = next(level for bound, level in _COMPLETENESS if score >= bound)
        message.uncovered_sub_queries.extend(outputs.uncovered_sub_queries)
        message.sub_queries_total = outputs.sub_queries_total
    if outputs.quality_score is not None:
        quality = outputs.quality_score
        message.quality_score = quality
        message.maximum_quality_tier = next(tier for bound, tier in _TIERS if quality >= bound)


def _fill_risk(message: report_pb2.DpeReport, outputs: Outputs) -> None:
    if outputs.fidelity_score is not None:
        message.fidelity_score = outputs.fidelity_score
    if outputs.entailment is not None:
        message.entailment_score = outputs.entailment.score
        message.neutral_probability = outputs.entailment.neutral
        message.contradiction_probability = outputs.entailment.contradiction
        message.coverage.response_chunks = outputs.entailment.response_chunks
        message.coverage.premise_windows_total = outputs.entailment.premise_windows_total
        message.coverage.premise_windows_scored = outputs.entailment.premise_windows_scored
    risk = outputs.risk
    if risk is None:
        return
    for name, value in zip(_SIGNALS, risk.signals, strict=True):
        signal = message.risk_signals.add(kind=enum_value(report_pb2.RiskSignalKind, f"RISK_SIGNAL_KIND_{name}"))
        if value is not None:
            signal.value = value
    if risk.base_score is not None and risk.composite_score is not None:
        message.base_score = risk.base_score
        message.composite_score = risk.composite_score
    message.amplifiers_applied.extend(risk.amplifiers)
    message.risk_level = enum_value(taxonomy_pb2.RiskLevel, f"RISK_LEVEL_{risk.level}")
    message.risk_degraded = risk.degraded


def _timings(finished: Finished) -> report_pb2.Timings:
    by_number: dict[int, float] = dict.fromkeys((key.number for key in STAGES), 0.0)
    for end in finished.stage_ends:
        by_number[end.outcome.key.number] += end.elapsed_s
    return report_pb2.Timings(
        stages=[
            report_pb2.StageTiming(number=number, elapsed=duration(seconds)) for number, seconds in by_number.items()
        ],
        total=duration(finished.total_s),
    )
