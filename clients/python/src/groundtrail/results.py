"""What a check found, typed."""

from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crp.dpe.v1 import claim_pb2
    from crp.dpe.v1 import provenance_service_pb2 as pb


@unique
class Level(StrEnum):
    """Risk levels, from good to bad (CRP-SPEC-005 §7.4)."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"


@dataclass(frozen=True, slots=True)
class Quote:
    """The words of a fact that were held against a claim.

    Attributes:
        fact_id: ``f`` and the fact's number in ``response.facts``.
        title: of the document; empty when it has none.
        location: where in the document; empty for a single fact.
        words: those that were held against the claim.
    """

    fact_id: str
    title: str
    location: str
    words: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the answer.

    Attributes:
        text: its words, ``answer[start:end]`` in Unicode code points.
        verdict: SUPPORTED, CONTRADICTED, UNSUPPORTED or SUPERSEDED; empty for a claim that is not judged.
        why: the verdict in one sentence; empty without a verdict.
        support: probability that the facts support it, 0.0-1.0; ``None`` = not computed.
        quotes: the facts' words that were held against it, those that decided first.
    """

    text: str = field(repr=False)
    start: int
    end: int
    verdict: str
    why: str = field(repr=False)
    support: float | None
    quotes: tuple[Quote, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was found.

    Attributes:
        level: the risk level, with its floors.
        score: what the level rests on beside its floors, 0.0-1.0; ``None`` = not computed.
        claims: in the order of the answer.
        warnings: what reading the documents left out.
        response: everything, as ``ProvenanceService.Check`` gave it.
    """

    level: Level
    score: float | None
    claims: tuple[Claim, ...]
    warnings: tuple[str, ...]
    response: "pb.CheckResponse" = field(repr=False)

    @property
    def supported(self) -> bool:
        """Every claim with a verdict is SUPPORTED, and there is one."""
        verdicts = [claim.verdict for claim in self.claims if claim.verdict]
        return bool(verdicts) and all(verdict == "SUPPORTED" for verdict in verdicts)


def result_of(response: "pb.CheckResponse") -> CheckResult:
    """Return a response as the caller sees it."""
    from crp.common.v1 import taxonomy_pb2

    report = response.report
    facts = {fact.fact_id: fact for fact in response.facts}
    return CheckResult(
        Level(taxonomy_pb2.RiskLevel.Name(report.risk_level).removeprefix("RISK_LEVEL_")),
        report.judged_score if report.HasField("judged_score") else None,
        tuple(_claim(claim, facts) for claim in report.claims),
        tuple(response.warnings),
        response,
    )


def _claim(claim: "claim_pb2.Claim", facts: "dict[str, pb.CheckedFact]") -> Claim:
    from crp.dpe.v1 import claim_pb2

    judgement = claim.judgement
    return Claim(
        claim.text,
        claim.span.start,
        claim.span.end,
        claim_pb2.ClaimVerdict.Name(claim.verdict).removeprefix("CLAIM_VERDICT_") if claim.verdict else "",
        judgement.why,
        judgement.support_probability if judgement.HasField("support_probability") else None,
        tuple(_quote(one, facts[one.fact_id]) for one in judgement.evidence if one.fact_id in facts),
    )


def _quote(evidence: "claim_pb2.Evidence", fact: "pb.CheckedFact") -> Quote:
    span = evidence.fact_span
    return Quote(evidence.fact_id, fact.title, fact.location, fact.content[span.start : span.end] or fact.content)
