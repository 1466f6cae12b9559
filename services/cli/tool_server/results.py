"""What the tools answer with: models, from which the protocol's output schemas are made."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from crp.ckf.v1 import ckf_pb2 as ckf
from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as sessions
from crp.gateway.v1 import dispatch_service_pb2 as dispatch
from groundtrail import Claim, WithheldError
from groundtrail.answers import answer_of
from pydantic import BaseModel, Field

from services.allinone.check_result import PolicedResult
from services.cli.words import enum_text, where

_SUPPORTED: Final = "SUPPORTED"
Level = Annotated[str, Field(description="LOW, MEDIUM, HIGH or CRITICAL: how risky it is to rely on the answer.")]


class Quote(BaseModel):
    """Words of a document."""

    title: str
    location: str
    quote: str


class JudgedClaim(BaseModel):
    """A claim with its verdict and the words that it was held against."""

    text: str
    verdict: Annotated[str, Field(description="SUPPORTED, CONTRADICTED, UNSUPPORTED, SUPERSEDED or UNDECIDED.")]
    why: str
    evidence: list[Quote]


class FoundFact(BaseModel):
    """A fact of the documents."""

    fact_id: str
    text: str
    location: str
    score: float
    holds: Annotated[str, Field(description="CURRENT, or why it does not hold now, e.g. SUPERSEDED.")]


class SearchResult(BaseModel):
    """Facts, best first."""

    facts: list[FoundFact]
    mode: str
    warnings: list[str]


class CheckedAnswer(BaseModel):
    """What was found in an answer."""

    risk_level: Level
    supported: int
    judged: int
    claims: list[JudgedClaim]
    withheld: Annotated[str, Field(description="The directive of the policy that withholds the answer; empty = none.")]
    warnings: list[str]


class GivenAnswer(BaseModel):
    """An answer from the documents; without text when it was withheld."""

    outcome: Annotated[str, Field(description="ANSWERED, WITHHELD or HELD_FOR_REVIEW.")]
    text: str
    reason: Annotated[str, Field(description="Why it was withheld; empty for an answer.")]
    risk_level: Annotated[str, Field(description="As of check; empty when it was withheld before there was a level.")]
    supported: int
    judged: int
    claims: list[JudgedClaim]
    session_id: Annotated[str, Field(description="Give it with the next question to go on, or to verify.")]
    can_continue: bool
    warnings: list[str]


class VerifiedSession(BaseModel):
    """What is left of a session's chain when all of it is computed again."""

    integrity: Annotated[str, Field(description="VALID, BROKEN, PARTIAL, TRUNCATED or UNVERIFIED.")]
    windows_verified: int
    windows_total: int
    events_verified: int
    events_total: int
    fault: Annotated[str, Field(description="The first record that does not hold; empty unless BROKEN.")]
    partial_reason: str


def search_result(found: knowledge.SearchFactsResponse) -> SearchResult:
    """Return what a search found."""
    facts = [
        FoundFact(
            fact_id=hit.fact.fact_id,
            text=hit.fact.content,
            location=where(hit.fact.source_location),
            score=hit.score,
            holds=enum_text(ckf.StaleReason, hit.fact.stale_reason) if hit.fact.stale_reason else "CURRENT",
        )
        for hit in found.hits
    ]
    mode = enum_text(knowledge.SearchMode, found.mode)
    return SearchResult(facts=facts, mode=mode, warnings=list(found.warnings))


def checked_answer(result: PolicedResult) -> CheckedAnswer:
    """Return what a check found."""
    claims = judged_claims(result.claims)
    return CheckedAnswer(
        risk_level=str(result.level),
        supported=_supported(claims),
        judged=len(claims),
        claims=claims,
        withheld="" if result.policy is None else result.policy.halt_reason,
        warnings=list(result.warnings),
    )


def given_answer(response: dispatch.DispatchResponse) -> GivenAnswer:
    """Return the outcome of a question; one that was withheld is an outcome as well."""
    try:
        answer = answer_of(response)
    except WithheldError as error:
        claims = judged_claims(error.claims)
        kind = response.WhichOneof("outcome") or ""
        return GivenAnswer(
            outcome="WITHHELD" if kind == "halted" else error.reason,
            text="",
            reason=str(error),
            risk_level=str(error.level or ""),
            supported=_supported(claims),
            judged=len(claims),
            claims=claims,
            session_id=getattr(response, kind).session_id,
            can_continue=False,
            warnings=[warning.message for warning in response.warnings],
        )
    claims = judged_claims(answer.claims)
    return GivenAnswer(
        outcome="ANSWERED",
        text=answer.text,
        reason="",
        risk_level=str(answer.level),
        supported=_supported(claims),
        judged=len(claims),
        claims=claims,
        session_id=answer.session_id,
        can_continue=bool(answer.continuation_id),
        warnings=list(answer.warnings),
    )


def verified_session(found: sessions.VerifyChainResponse) -> VerifiedSession:
    """Return the verdict on a chain."""
    fault = (
        f"{found.fault.record_kind} {found.fault.record_id}: {found.fault.detail}" if found.HasField("fault") else ""
    )
    return VerifiedSession(
        integrity=enum_text(taxonomy.ChainIntegrity, found.integrity),
        windows_verified=found.windows_verified,
        windows_total=found.windows_total,
        events_verified=found.events_verified,
        events_total=found.events_total,
        fault=fault,
        partial_reason=found.partial_reason,
    )


def judged_claims(claims: Iterable[Claim]) -> list[JudgedClaim]:
    """Return the claims that have a verdict."""
    return [
        JudgedClaim(
            text=claim.text,
            verdict=claim.verdict,
            why=claim.why,
            evidence=[Quote(title=one.title, location=one.location, quote=one.words) for one in claim.quotes],
        )
        for claim in claims
        if claim.verdict
    ]


def _supported(claims: Sequence[JudgedClaim]) -> int:
    return sum(claim.verdict == _SUPPORTED for claim in claims)
