"""ScoreCoherence between the wire and the app: validate, convert, convert back (Director-AI page, D2)."""

from math import isfinite
from typing import Final

from crp.common.v1 import taxonomy_pb2, text_pb2
from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.reading.text_types import Span
from services.common.rpc.validation import Violations
from services.common.settings.dpe import DpeSettings
from services.dpe.convert.findings import enum_value
from services.dpe.convert.guard.grounding_texts import FACT, ids_of, require_texts
from services.dpe.convert.report import models_messages
from services.dpe.domain.guard.coherence import Exhibit, JudgeOpinion, Origin
from services.dpe.domain.guard.coherence_grounds import GroundText
from services.dpe.guard.coherence import CoherenceOrder, Review
from services.dpe.validate import require_size

MAX_ID_CHARS: Final = 200
_ORIGINS: Final = {
    Origin.FACT: guard_pb2.EVIDENCE_ORIGIN_FACT,
    Origin.PROMPT: guard_pb2.EVIDENCE_ORIGIN_PROMPT,
    Origin.ANSWER: guard_pb2.EVIDENCE_ORIGIN_ANSWER,
}
_OPINIONS: Final = {
    JudgeOpinion.NOT_ASKED: pb.JUDGE_OPINION_UNSPECIFIED,
    JudgeOpinion.AGREES: pb.JUDGE_OPINION_AGREES,
    JudgeOpinion.DISAGREES: pb.JUDGE_OPINION_DISAGREES,
    JudgeOpinion.UNCLEAR: pb.JUDGE_OPINION_UNCLEAR,
}


def validate_coherence(request: pb.ScoreCoherenceRequest, settings: DpeSettings) -> None:
    """Refuse a malformed ScoreCoherenceRequest.

    Args:
        request: the request.
        settings: limits on texts and on the number of facts, as for an analysis.

    Raises:
        LimitExceededError: MESSAGE_TOO_LARGE, prompt or answer is too long.
        InvalidRequestError: INVALID_FIELD with every violation.
    """
    limit = settings.max_response_chars
    found = Violations()
    for name in ("prompt", "response"):
        require_size(name, getattr(request, name), limit)
        found.require(getattr(request, name).strip(), name, "must not be empty")
    if request.HasField("threshold"):
        usable = isfinite(request.threshold) and 0.0 <= request.threshold <= 1.0
        found.require(usable, "threshold", "must be 0.0 to 1.0, or unset")
    most = settings.max_facts
    found.require(len(request.facts) <= most, "facts", f"must be at most {most}")
    require_texts(found, "facts", request.facts, most, MAX_ID_CHARS)
    for index, fact in enumerate(request.facts[:most]):
        found.require(len(fact.content) <= limit, f"facts[{index}].content", f"must hold at most {limit} characters")
    found.raise_if_any()


def coherence_order(request: pb.ScoreCoherenceRequest) -> CoherenceOrder:
    """Return the domain's view of a validated request; facts without ids are "f1", "f2" and so on."""
    names = ids_of(request.facts, FACT)
    return CoherenceOrder(
        request.prompt,
        request.response,
        tuple(GroundText(name, fact.content) for name, fact in zip(names, request.facts, strict=True)),
        request.threshold if request.HasField("threshold") else None,
        request.use_llm_judge,
        request.bypass_cache,
    )


def coherence_response(review: Review) -> pb.ScoreCoherenceResponse:
    """Return a review as it goes out; what was not computed is absent."""
    score, found = review.score, review.score.found
    return pb.ScoreCoherenceResponse(
        approved=review.approved,
        coherence=score.coherence,
        logical_divergence=found.logical,
        factual_divergence=found.factual,
        threshold=review.threshold,
        warning=review.warning,
        entailment_confidence=found.confidence,
        judge=_OPINIONS[score.judge],
        blended_divergence=score.blended,
        cache_hit=review.cache_hit,
        evidence=[evidence_message(exhibit) for exhibit in found.exhibits],
        status=enum_value(taxonomy_pb2.StageStatus, f"STAGE_STATUS_{found.status}"),
        reason=found.reason,
        models=models_messages(score.models),
        policy_hash=review.policy_hash,
    )


def evidence_message(exhibit: Exhibit) -> guard_pb2.GroundingEvidence:
    """Return an exhibit as it goes out."""
    return guard_pb2.GroundingEvidence(
        id=exhibit.text_id,
        span=_span(exhibit.span),
        answer_span=_span(exhibit.answer_span),
        similarity=min(1.0, max(0.0, exhibit.similarity)),
        contradiction_probability=exhibit.contradiction,
        origin=_ORIGINS[exhibit.origin],
    )


def _span(span: Span) -> text_pb2.TextSpan:
    return text_pb2.TextSpan(start=span.start, end=span.end)
