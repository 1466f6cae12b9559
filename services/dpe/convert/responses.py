"""Answers of the provenance RPCs, and what is advised about the findings (SPEC-005 §19)."""

from typing import Final

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb

from services.dpe.app import Finished, Segmented, StageEnd
from services.dpe.convert.findings import claim_message, span_message
from services.dpe.convert.report import claims_by_type, duration, models_messages, outcome_message, report_message
from services.dpe.domain.findings import Verdict
from services.dpe.domain.remediation import MAX_REDISPATCHES, REDISPATCH_TEMPERATURE, Remedy, remedies


def analyze_response(finished: Finished) -> pb.AnalyzeResponse:
    """Return report and remediation plan."""
    return pb.AnalyzeResponse(report=report_message(finished), remediation=_plan(finished))


def stream_response(event: StageEnd | Finished) -> pb.AnalyzeStreamResponse:
    """Return one message of the stream."""
    if isinstance(event, Finished):
        return pb.AnalyzeStreamResponse(result=analyze_response(event))
    return pb.AnalyzeStreamResponse(
        stage=pb.StageEvent(
            outcome=outcome_message(event.outcome),
            elapsed=duration(event.elapsed_s),
            findings=event.outcome.findings,
        )
    )


def segment_response(segmented: Segmented) -> pb.SegmentClaimsResponse:
    """Return the claims of a text."""
    return pb.SegmentClaimsResponse(
        claims=[claim_message(claim, None, Verdict.NONE) for claim in segmented.claims],
        claims_by_type=claims_by_type(segmented.claims),
        sentences=[span_message(sentence.start, sentence.end) for sentence in segmented.sentences],
        models=models_messages(segmented.models),
    )


_ACTIONS: Final = {
    Remedy.UPGRADE_STRATEGY: pb.REMEDIATION_ACTION_UPGRADE_STRATEGY,
    Remedy.ANTI_REPETITION: pb.REMEDIATION_ACTION_ANTI_REPETITION,
}


def _plan(finished: Finished) -> pb.RemediationPlan:
    steps = remedies(finished.analysis)
    plan = pb.RemediationPlan(
        steps=[
            pb.RemediationStep(
                action=_ACTIONS[step.remedy],
                stage_number=step.stage_number,
                reason=step.reason,
                instruction=step.instruction,
                claim_ids=step.claim_ids,
            )
            for step in steps
        ],
        max_redispatches=MAX_REDISPATCHES,
    )
    if steps:
        plan.temperature = REDISPATCH_TEMPERATURE
        plan.strategy = taxonomy_pb2.DISPATCH_STRATEGY_REFLEXIVE
    return plan
