"""The second opinion: a request's limits to domain, the record to its message and back (ADR 0119)."""

from collections.abc import Mapping
from typing import Any, Final

from crp.common.v1 import text_pb2
from crp.dpe.v1 import claim_pb2, finding_pb2, opinion_pb2, report_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb
from google.protobuf.json_format import ParseDict

from services.common.ports.second_opinion import OpinionKind, TypedSpan, Vote
from services.dpe.convert.findings import enum_value
from services.dpe.domain.findings import Basis, Verdict
from services.dpe.domain.opinion_record import AskedLimits, ClaimOpinion, Gap, OpinionCall, OpinionRecord, Scope
from services.dpe.domain.opinions import distortion_type

_MOST: Final = 2**32 - 1


def asked_limits(request: "pb.AnalyzeRequest | pb.CheckRequest") -> AskedLimits | None:
    """Return what a request lowers; ``None`` when it lowers nothing."""
    if not request.HasField("opinion_limits"):
        return None
    asked = request.opinion_limits
    return AskedLimits(
        Scope(_word(opinion_pb2.OpinionScope.Name(asked.scope), "OPINION_SCOPE_")) if asked.scope else None,
        asked.max_calls if asked.HasField("max_calls") else None,
        asked.max_tokens if asked.HasField("max_tokens") else None,
        asked.max_time.ToMicroseconds() / 1e6 if asked.HasField("max_time") else None,
    )


def fill_second_opinion(message: report_pb2.DpeReport, record: OpinionRecord | None, answer: str) -> None:
    """Add the record; nothing where nobody was to be asked."""
    if record is None:
        return
    message.second_opinion.CopyFrom(
        opinion_pb2.SecondOpinion(
            kind=enum_value(opinion_pb2.OpinionKind, f"OPINION_KIND_{record.kind}"),
            model=record.model,
            prompt_version=record.prompt_version,
            scope=enum_value(opinion_pb2.OpinionScope, f"OPINION_SCOPE_{record.scope}"),
            votes=[_vote(vote, answer) for vote in record.votes],
            left=[
                opinion_pb2.OpinionLeft(gap=enum_value(opinion_pb2.OpinionGap, f"OPINION_GAP_{gap}"), claim_ids=ids)
                for gap, ids in record.left
            ],
            calls=[
                opinion_pb2.OpinionCall(
                    claims=call.claims,
                    reason=call.reason,
                    model=call.model,
                    answer_sha256=call.answer_sha256,
                    prompt_tokens=min(call.prompt_tokens, _MOST),
                    completion_tokens=min(call.completion_tokens, _MOST),
                )
                for call in record.calls
            ],
        )
    )


def recorded_opinion(report: Mapping[str, Any]) -> OpinionRecord | None:
    """Return the record of a stored report, in its JSON form; ``None`` where it has none.

    Raises:
        ParseError: it cannot be read.
    """
    stored = report.get("second_opinion")
    if not stored:
        return None
    message = ParseDict(stored, opinion_pb2.SecondOpinion())
    return OpinionRecord(
        OpinionKind(_word(opinion_pb2.OpinionKind.Name(message.kind), "OPINION_KIND_")),
        message.model,
        message.prompt_version,
        Scope(_word(opinion_pb2.OpinionScope.Name(message.scope), "OPINION_SCOPE_")),
        tuple(_recorded_vote(vote) for vote in message.votes),
        tuple(
            (Gap(_word(opinion_pb2.OpinionGap.Name(left.gap), "OPINION_GAP_")), tuple(left.claim_ids))
            for left in message.left
        ),
        tuple(
            OpinionCall(
                call.claims,
                call.reason,
                call.model,
                call.answer_sha256,
                call.prompt_tokens,
                call.completion_tokens,
            )
            for call in message.calls
        ),
    )


def _vote(vote: ClaimOpinion, answer: str) -> opinion_pb2.ClaimOpinion:
    message = opinion_pb2.ClaimOpinion(
        claim_id=vote.claim_id,
        vote=enum_value(opinion_pb2.OpinionVote, f"OPINION_VOTE_{vote.vote}"),
        moved=vote.moved,
        cached=vote.cached,
        model=vote.model,
        spans=[_span(span, answer) for span in vote.spans],
    )
    if vote.first_verdict is not Verdict.NONE:
        message.first_verdict = enum_value(claim_pb2.ClaimVerdict, f"CLAIM_VERDICT_{vote.first_verdict}")
    if vote.first_basis is not None:
        message.first_basis = enum_value(claim_pb2.VerdictBasis, f"VERDICT_BASIS_{vote.first_basis}")
    return message


def _span(span: TypedSpan, answer: str) -> opinion_pb2.OpinionSpan:
    message = opinion_pb2.OpinionSpan(
        span=text_pb2.TextSpan(start=span.start, end=span.end), category=span.category, subcategory=span.subcategory
    )
    kind = distortion_type(span, answer[span.start : span.end])
    if kind is not None:
        message.distortion_type = enum_value(finding_pb2.DistortionType, f"DISTORTION_TYPE_{kind}")
    return message


def _recorded_vote(vote: opinion_pb2.ClaimOpinion) -> ClaimOpinion:
    verdict = _word(claim_pb2.ClaimVerdict.Name(vote.first_verdict), "CLAIM_VERDICT_") if vote.first_verdict else "NONE"
    basis = _word(claim_pb2.VerdictBasis.Name(vote.first_basis), "VERDICT_BASIS_") if vote.first_basis else ""
    return ClaimOpinion(
        vote.claim_id,
        Vote(_word(opinion_pb2.OpinionVote.Name(vote.vote), "OPINION_VOTE_")),
        Verdict(verdict),
        Basis(basis) if basis else None,
        vote.moved,
        vote.cached,
        vote.model,
        tuple(TypedSpan(one.span.start, one.span.end, one.category, one.subcategory) for one in vote.spans),
    )


def _word(name: str, prefix: str) -> str:
    return name.removeprefix(prefix)
