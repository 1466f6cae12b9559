"""Verified claims: requests to texts and sources, results to messages (Director-AI page, ADR 0127)."""

from collections.abc import Iterable, Sequence
from typing import Any

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.reading.text_types import Span
from services.dpe.convert.findings import enum_value, span_message
from services.dpe.convert.guard.grounding_texts import SOURCE, ids_of
from services.dpe.convert.report import models_messages
from services.dpe.domain.guard.source_passages import SourceText
from services.dpe.domain.guard.verification import (
    ClaimedText,
    Difference,
    SourceEvidence,
    Verified,
    VerifiedClaim,
    VerifiedText,
)
from services.dpe.domain.guard.verification_signals import Signal, SignalKind, Vote
from services.dpe.domain.guard.verification_votes import ClaimVerdict


def sources_of(sources: Sequence[guard_pb2.GroundingText]) -> tuple[SourceText, ...]:
    """Return the sources of a request; without ids they are "s1", "s2" and so on."""
    return tuple(SourceText(name, one.content) for name, one in zip(ids_of(sources, SOURCE), sources, strict=True))


def texts_of(request: pb.VerifyClaimsBatchRequest) -> tuple[ClaimedText, ...]:
    """Return the texts of a batch."""
    return tuple(ClaimedText(one.content, one.question, one.id) for one in request.texts)


def verified_response(verified: Verified) -> pb.VerifyClaimsResponse:
    """Return the answer about one text."""
    return pb.VerifyClaimsResponse(
        **_outcome(verified.texts[0]),
        models=models_messages(verified.models),
        policy_hash=verified.policy_hash,
    )


def batch_response(texts: Iterable[ClaimedText], verified: Verified) -> pb.VerifyClaimsBatchResponse:
    """Return the answer about several texts."""
    return pb.VerifyClaimsBatchResponse(
        texts=[
            pb.VerifiedText(id=text.text_id, **_outcome(found))
            for text, found in zip(texts, verified.texts, strict=True)
        ],
        models=models_messages(verified.models),
        policy_hash=verified.policy_hash,
    )


def _outcome(text: VerifiedText) -> dict[str, Any]:
    return {
        "approved": text.approved,
        "claims": [_claim(claim) for claim in text.claims],
        "supported_ratio": text.supported_ratio,
        "status": enum_value(taxonomy_pb2.StageStatus, f"STAGE_STATUS_{text.status}"),
        "reason": str(text.reason),
    }


def _claim(claim: VerifiedClaim) -> pb.VerifiedClaim:
    decision = claim.decision
    return pb.VerifiedClaim(
        text=claim.text,
        span=span_message(claim.span.start, claim.span.end),
        verdict=_verdict(decision.verdict),
        confidence=decision.confidence,
        signals=[_signal(signal) for signal in claim.signals],
        evidence=None if claim.evidence is None else _evidence(claim.evidence, claim.span),
        support=decision.support,
        plain_verdict=_verdict(claim.plain),
        why=claim.why,
        differences=[_difference(one) for one in claim.differences],
        doubtful_spans=[span_message(span.start, span.end) for span in claim.doubtful],
    )


def _signal(signal: Signal) -> pb.VerificationSignal:
    vote = "UNSPECIFIED" if signal.vote is Vote.NONE else str(signal.vote)
    return pb.VerificationSignal(
        kind=_kind(signal.kind), value=signal.value, vote=enum_value(pb.SignalVote, f"SIGNAL_VOTE_{vote}")
    )


def _difference(one: Difference) -> pb.ClaimDifference:
    return pb.ClaimDifference(
        kind=_kind(one.kind),
        answer_span=span_message(one.answer_span.start, one.answer_span.end),
        source_id=one.source_id,
        source_span=span_message(one.source_span.start, one.source_span.end),
        decides=one.decides,
    )


def _evidence(found: SourceEvidence, claim: Span) -> guard_pb2.GroundingEvidence:
    return guard_pb2.GroundingEvidence(
        id=found.source_id,
        span=span_message(found.span.start, found.span.end),
        answer_span=span_message(claim.start, claim.end),
        similarity=min(1.0, max(0.0, found.similarity)),
        contradiction_probability=found.contradiction,
    )


def _kind(kind: SignalKind) -> pb.VerificationSignalKind:
    value: pb.VerificationSignalKind = enum_value(pb.VerificationSignalKind, f"VERIFICATION_SIGNAL_KIND_{kind}")
    return value


def _verdict(verdict: ClaimVerdict) -> pb.VerifiedClaimVerdict:
    value: pb.VerifiedClaimVerdict = enum_value(pb.VerifiedClaimVerdict, f"VERIFIED_CLAIM_VERDICT_{verdict}")
    return value
