"""A finished analysis as a report, with its hash (SPEC-005 §15; ADR 0004)."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import claim_pb2, finding_pb2, report_pb2
from google.protobuf.duration_pb2 import Duration

from services.common.build_manifest import BuildIdentity
from services.common.encoding import sha256_hex
from services.common.provenance import report_hash
from services.common.reading.text_types import Claim, ClaimType
from services.common.rpc import enums
from services.common.rpc.canonical import message_json
from services.common.taxonomy import RiskLevel
from services.dpe.app import CompletedAnalysis
from services.dpe.convert import findings
from services.dpe.convert.constraints import fill_constraints
from services.dpe.convert.disagreements import fill_disagreements
from services.dpe.convert.findings import enum_value
from services.dpe.convert.omissions import fill_omissions
from services.dpe.convert.opinions import fill_second_opinion
from services.dpe.convert.quality import fill_coherence, fill_quality
from services.dpe.convert.quotes import add_quotes
from services.dpe.convert.regulatory import fill_regulatory
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.findings import AttributionType, DistortionType, RiskFloor, Verdict
from services.dpe.domain.outcome import StageOutcome
from services.dpe.domain.results import Outputs

_SIGNALS: Final = ("ATTRIBUTION", "FIDELITY", "ENTAILMENT", "SPECIFICITY")


def report_message(finished: CompletedAnalysis) -> report_pb2.DpeReport:
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
        grounding_mode=enums.GROUNDING_MODES.number(given.grounding_mode),
        ai_system_id=given.ai_system_id,
        envelope_etag=given.envelope_etag,
        gazetteer_version=analysis.gazetteer.version,
        stages=[outcome_message(outcome) for outcome in analysis.outcomes],
    )
    _fill_claims(message, analysis)
    _fill_findings(message, outputs)
    fill_omissions(message, outputs, given.facts)
    fill_coherence(message, outputs)
    fill_quality(message, outputs)
    _fill_risk(message, outputs)
    fill_disagreements(message, given, outputs)
    _fill_personal_data(message, outputs)
    fill_regulatory(message, given.ai_system, outputs.regulatory)
    fill_constraints(message, outputs)
    fill_second_opinion(message, outputs.second_opinion, given.answer)
    if finished.build is not None:
        message.build.CopyFrom(_build(finished.build))
    message.report_hash = report_hash(message_json(message))
    add_quotes(message, given.facts)
    message.timings.CopyFrom(_timings(finished))
    return message


def outcome_message(outcome: StageOutcome) -> report_pb2.StageOutcome:
    """Return how a stage ended."""
    return report_pb2.StageOutcome(
        number=outcome.key.number,
        sub_stage=outcome.key.sub_stage,
        name=outcome.stage.name,
        status=enums.STAGE_STATUSES.number(outcome.status),
        reason=str(outcome.reason),
        detail=outcome.detail,
        section=outcome.stage.section,
    )


def _build(build: BuildIdentity) -> report_pb2.BuildIdentity:
    # SPEC-005 §21.1: which code and weights made the report; under its hash like everything else.
    return report_pb2.BuildIdentity(
        code_digest=build.code_digest,
        weights_digest=build.weights_digest,
        trust=enum_value(report_pb2.BuildTrust, f"BUILD_TRUST_{build.trust}"),
        key_id=build.key_id,
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


def claims_messages(analysis: Analysis) -> list[claim_pb2.Claim]:
    """Return the claims with what they rest on, in the order of the answer; ``add_quotes`` adds the quotes."""
    outputs = analysis.outputs
    attributions = outputs.attribution.by_claim or {}
    return [
        findings.claim_message(
            claim,
            attributions.get(claim.claim_id),
            outputs.fidelity.verdicts.get(claim.claim_id, Verdict.NONE),
            outputs.fidelity.judgements.get(claim.claim_id),
            analysis.input.facts,
        )
        for claim in outputs.text.claims
    ]


def _fill_claims(message: report_pb2.DpeReport, analysis: Analysis) -> None:
    outputs = analysis.outputs
    attributions = outputs.attribution.by_claim or {}
    message.claims_total = len(outputs.text.claims)
    message.claims_by_type.update(claims_by_type(outputs.text.claims))
    message.claims.extend(claims_messages(analysis))
    message.coverage.sentences_total = len(outputs.text.sentences)
    if outputs.attribution.by_claim is not None:
        counted = Counter(item.type for item in attributions.values())
        message.attribution_breakdown.update({str(kind): counted[kind] for kind in AttributionType})
    if outputs.attribution.dominant is not None:
        message.attribution_dominant = enum_value(
            claim_pb2.AttributionType, f"ATTRIBUTION_TYPE_{outputs.attribution.dominant}"
        )
    if outputs.attribution.grounding_pct is not None:
        message.grounding_pct = outputs.attribution.grounding_pct
    message.grounding_violations.extend(
        finding_pb2.GroundingViolation(claim_id=key, attribution=claim_pb2.ATTRIBUTION_TYPE_PARAMETRIC)
        for key in outputs.attribution.grounding_violations
    )


def _fill_findings(message: report_pb2.DpeReport, outputs: Outputs) -> None:
    if outputs.fabrication.found is not None:
        message.fabrication_count = len(outputs.fabrication.found)
        message.fabrications.extend(findings.fabrication_message(item) for item in outputs.fabrication.found)
    if outputs.distortion.found is not None:
        message.distortion_count = len(outputs.distortion.found)
        message.distortions.extend(findings.distortion_message(item) for item in outputs.distortion.found)
        present = {item.type for item in outputs.distortion.found}
        message.distortion_types.extend(
            enum_value(finding_pb2.DistortionType, f"DISTORTION_TYPE_{kind}")
            for kind in DistortionType
            if kind in present
        )
    if outputs.contradiction.found is not None:
        message.contradictions.extend(
            findings.contradiction_message(item, message.window_id) for item in outputs.contradiction.found
        )
    message.coverage.pairs_total = outputs.contradiction.pairs_total
    message.coverage.pairs_scored = outputs.contradiction.pairs_scored


def _fill_risk(message: report_pb2.DpeReport, outputs: Outputs) -> None:
    if outputs.fidelity.score is not None:
        message.fidelity_score = outputs.fidelity.score
    if outputs.entailment is not None:
        message.entailment_score = outputs.entailment.score
        message.neutral_probability = outputs.entailment.neutral
        message.contradiction_probability = outputs.entailment.contradiction
        message.coverage.response_chunks = outputs.entailment.response_chunks
        message.coverage.premise_windows_total = outputs.entailment.premise_windows_total
        message.coverage.premise_windows_scored = outputs.entailment.premise_windows_scored
        message.coverage.quoted_chunks = outputs.entailment.quoted_chunks
        message.coverage.sentences_without_claims = outputs.entailment.chunks_without_claims
        message.coverage.contradicted_chunks = outputs.entailment.contradicted_chunks
    risk = outputs.risk
    if risk is None:
        return
    for name, value, judged in zip(_SIGNALS, risk.signals, risk.judged_signals, strict=True):
        signal = message.risk_signals.add(kind=enum_value(report_pb2.RiskSignalKind, f"RISK_SIGNAL_KIND_{name}"))
        if value is not None:
            signal.value = value
        if judged is not None:
            signal.judged_value = judged
    if risk.base_score is not None and risk.composite_score is not None:
        message.base_score = risk.base_score
        message.composite_score = risk.composite_score
    if risk.judged_score is not None:
        message.judged_score = risk.judged_score
    message.amplifiers_applied.extend(risk.amplifiers)
    message.risk_level = _level(risk.level)
    if risk.composite_level is not None:
        message.composite_level = _level(risk.composite_level)
    message.risk_floors.extend(_floor(floor) for floor in risk.floors)
    message.risk_degraded = risk.degraded


def _level(level: RiskLevel) -> taxonomy_pb2.RiskLevel:
    value: taxonomy_pb2.RiskLevel = enums.RISK_LEVELS.number(level)
    return value


def _floor(floor: RiskFloor) -> report_pb2.RiskFloor:
    return report_pb2.RiskFloor(
        level=_level(floor.level),
        reason=enum_value(report_pb2.RiskFloorReason, f"RISK_FLOOR_REASON_{floor.reason}"),
        claim_ids=floor.claim_ids,
        fact_ids=floor.fact_ids,
        stages=floor.stages,
        details=floor.details,
    )


def _fill_personal_data(message: report_pb2.DpeReport, outputs: Outputs) -> None:
    # SPEC-005 §13.3; places and kinds alone, never the data.
    message.pii_findings.extend(findings.pii_message(item) for item in outputs.personal_data.findings or ())
    if outputs.personal_data.gdpr_detected is not None:
        message.gdpr_pii_detected = outputs.personal_data.gdpr_detected
    message.pii_cache_warning = outputs.personal_data.cache_warning


def _timings(finished: CompletedAnalysis) -> report_pb2.Timings:
    return report_pb2.Timings(
        stages=[
            report_pb2.StageTiming(
                number=end.outcome.key.number, sub_stage=end.outcome.key.sub_stage, elapsed=duration(end.elapsed_s)
            )
            for end in finished.stage_ends
        ],
        total=duration(finished.total_s),
    )
