"""The verdict on a summary as a message (SPEC-004 §12.3, ADR 0042)."""

from crp.dpe.v1 import provenance_service_pb2 as pb

from services.dpe.app import VerifiedSummary
from services.dpe.convert.findings import (
    distortion_message,
    enum_value,
    fabrication_message,
    span_message,
)
from services.dpe.convert.report import claims_messages, models_messages, outcome_message
from services.dpe.domain.summaries import CheckedClaim


def summary_response(verified: VerifiedSummary) -> pb.VerifySummaryResponse:
    """Return the verdict; scores that were not computed are absent, and ``reason`` says why."""
    verdict, outputs = verified.verdict, verified.analysis.outputs
    message = pb.VerifySummaryResponse(
        faithful=verdict.faithful,
        fabrications=[fabrication_message(item) for item in outputs.fabrication.found or ()],
        distortions=[distortion_message(item) for item in outputs.distortion.found or ()],
        claims=claims_messages(verified.analysis),
        stages=[outcome_message(outcome) for outcome in verified.analysis.outcomes],
        models=models_messages(verified.models),
        checked_claims=[_checked(item) for item in verdict.checked],
        reason=str(verdict.reason),
    )
    for field in ("fidelity_score", "stage3_score", "supported_ratio"):
        if (value := getattr(verdict, field)) is not None:
            setattr(message, field, value)
    return message


def _checked(item: CheckedClaim) -> pb.SummaryClaim:
    message = pb.SummaryClaim(
        claim_id=item.claim.claim_id,
        span=span_message(item.claim.start, item.claim.end),
        state=enum_value(pb.SummaryClaimState, f"SUMMARY_CLAIM_STATE_{item.state}"),
        evidence=[span_message(span.start, span.end) for span in item.evidence],
    )
    if item.support is not None:
        message.support = item.support
    return message
