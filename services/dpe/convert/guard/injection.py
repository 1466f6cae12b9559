"""Between the messages of DetectInjection and its app."""

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.injection.searching import Match
from services.dpe.convert.findings import enum_value, span_message
from services.dpe.convert.report import models_messages
from services.dpe.domain.guard.detection import Detection, InjectionInput
from services.dpe.domain.guard.intent_divergence import JudgedClaim


def injection_input(request: pb.DetectInjectionRequest) -> InjectionInput:
    """Return what is to be searched."""
    return InjectionInput(request.input, request.intent, request.response)


def detect_response(detection: Detection) -> pb.DetectInjectionResponse:
    """Return what was found; scores of stages that did not run are absent."""
    divergence, judged = detection.divergence, detection.judged
    message = pb.DetectInjectionResponse(
        detected=detection.detected,
        combined_score=detection.score,
        threshold=detection.threshold,
        pattern_score=detection.found.score,
        blocked=detection.blocked,
        matches=[_match(one) for one in detection.found.matches],
        claims=[_claim(one) for one in divergence.claims],
        status=enum_value(taxonomy_pb2.StageStatus, f"STAGE_STATUS_{divergence.end.status}"),
        reason=str(divergence.end.reason),
        models=models_messages(detection.models),
        classifier_status=enum_value(taxonomy_pb2.StageStatus, f"STAGE_STATUS_{judged.end.status}"),
        classifier_reason=str(judged.end.reason),
    )
    if divergence.risk is not None:
        message.injection_risk = divergence.risk
    if judged.probability is not None:
        message.classifier_probability = judged.probability
    return message


def _match(match: Match) -> pb.InjectionMatch:
    return pb.InjectionMatch(
        pattern_class=enum_value(pb.InjectionPatternClass, f"INJECTION_PATTERN_CLASS_{match.pattern_class.upper()}"),
        weight=match.weight,
        span=span_message(match.start, match.end),
        rule_id=match.rule_id,
        tells=match.tells,
        layers=match.layers,
    )


def _claim(claim: JudgedClaim) -> pb.InjectionClaim:
    return pb.InjectionClaim(
        span=span_message(claim.start, claim.end),
        verdict=enum_value(pb.InjectionVerdict, f"INJECTION_VERDICT_{claim.verdict}"),
        forward_divergence=claim.forward,
        reverse_divergence=claim.reverse,
        divergence=claim.divergence,
        traceability=claim.traceability,
    )
