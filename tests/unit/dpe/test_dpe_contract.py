"""The report's contract: every field of SPEC-005 §15.2, scores that may be absent, enums that match the domain."""

import pytest
from crp.common.v1 import taxonomy_pb2, text_pb2
from crp.dpe.v1 import claim_pb2, finding_pb2, opinion_pb2, provenance_service_pb2, report_pb2

from services.common import taxonomy
from services.common.ports import second_opinion
from services.common.ports.recognition import EntityKind
from services.common.reading import text_types
from services.common.rpc.canonical import message_json
from services.dpe.domain import findings, opinion_record, outcome
from tests.each import each

FIELDS = report_pb2.DpeReport.DESCRIPTOR.fields_by_name
SPEC_FIELDS = (
    "session_id window_id window_number timestamp claims_total claims_by_type attribution_dominant grounding_pct"
    " fabrication_count distortion_count distortion_types contradiction_count contradiction_scope omission_summary"
    " fidelity_score entailment_score repetition_level repetition_overlap completeness_score uncovered_sub_queries"
    " flow_score flow_remediation cross_window_contradictions composite_score amplifiers_applied risk_level"
    " eu_ai_act_class nist_tier gdpr_pii_detected iso_42001_controls hmac chain_integrity response_content_hash"
    " report_hash"
)
MAY_BE_ABSENT = (
    "grounding_pct fabrication_count distortion_count contradiction_count fidelity_score entailment_score"
    " repetition_overlap completeness_score flow_score flow_remediation coherence_score quality_score composite_score"
    " base_score gdpr_pii_detected controls_met controls_total"
)


@each("name", SPEC_FIELDS.split())
def test_the_report_has_every_field_of_the_specification(name):
    assert name in FIELDS


@each("name", MAY_BE_ABSENT.split())
def test_what_may_not_be_computed_has_presence(name):
    assert FIELDS[name].has_presence


@pytest.mark.parametrize(
    ("domain", "message", "prefix"),
    [
        (text_types.ClaimType, claim_pb2.ClaimType, "CLAIM_TYPE"),
        (findings.AttributionType, claim_pb2.AttributionType, "ATTRIBUTION_TYPE"),
        (findings.DistortionType, finding_pb2.DistortionType, "DISTORTION_TYPE"),
        (findings.ContradictionSeverity, finding_pb2.ContradictionSeverity, "CONTRADICTION_SEVERITY"),
        (findings.OmissionSeverity, finding_pb2.OmissionSeverity, "OMISSION_SEVERITY"),
        (taxonomy.RepetitionLevel, report_pb2.RepetitionLevel, "REPETITION_LEVEL"),
        (findings.Basis, claim_pb2.VerdictBasis, "VERDICT_BASIS"),
        (second_opinion.Vote, opinion_pb2.OpinionVote, "OPINION_VOTE"),
        (second_opinion.OpinionKind, opinion_pb2.OpinionKind, "OPINION_KIND"),
        (opinion_record.Scope, opinion_pb2.OpinionScope, "OPINION_SCOPE"),
        (opinion_record.Gap, opinion_pb2.OpinionGap, "OPINION_GAP"),
        (taxonomy.RiskLevel, taxonomy_pb2.RiskLevel, "RISK_LEVEL"),
        (taxonomy.StageStatus, taxonomy_pb2.StageStatus, "STAGE_STATUS"),
        (EntityKind, text_pb2.EntityKind, "ENTITY_KIND"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_enums_match(domain, message, prefix):
    named = {name.removeprefix(f"{prefix}_") for name in message.keys()} - {"UNSPECIFIED"}  # noqa: SIM118 - no mapping
    assert {str(value) for value in domain} == named


def test_every_reason_has_a_sentence():
    assert set(outcome.DETAILS) == set(outcome.Reason)
    assert all(text.endswith(".") for reason, text in outcome.DETAILS.items() if reason)


@pytest.mark.parametrize("message", [provenance_service_pb2.AnalyzeRequest(), report_pb2.DpeReport()])
def test_what_no_second_opinion_says_is_in_no_hash(message):
    assert not {"opinion_limits", "second_opinion"} & message_json(message).keys()
