"""Answers of the provenance RPCs."""

from crp.dpe.v1 import provenance_service_pb2 as pb

from services.dpe.app import CompletedAnalysis, Segmented, StageTiming
from services.dpe.convert.findings import claim_message, span_message
from services.dpe.convert.remediation import plan_message
from services.dpe.convert.report import claims_by_type, duration, models_messages, outcome_message, report_message
from services.dpe.domain.findings import Verdict
from services.dpe.domain.remediation import plan_of


def analyze_response(finished: CompletedAnalysis) -> pb.AnalyzeResponse:
    """Return report and remediation plan."""
    return pb.AnalyzeResponse(report=report_message(finished), remediation=plan_message(plan_of(finished.analysis)))


def stream_response(event: StageTiming | CompletedAnalysis) -> pb.AnalyzeStreamResponse:
    """Return one message of the stream."""
    if isinstance(event, CompletedAnalysis):
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
