"""What a check found, typed: level, claims with their verdicts, the sentences that bear them out or refute them."""

from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crp.dpe.v1 import claim_pb2, report_pb2
    from crp.dpe.v1 import provenance_service_pb2 as pb


@unique
class Level(StrEnum):
    """Risk levels, from good to bad (CRP-SPEC-005 §7.4)."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"

    @property
    def rank(self) -> int:
        """Return the place in the order, 0 for LOW."""
        return list(type(self)).index(self)


@dataclass(frozen=True, slots=True)
class Quote:
    """The words of a fact that were held against a claim.

    Attributes:
        fact_id: ``f`` and the fact's number in ``response.facts``; of an answer, the fact's id.
        title: of the document; empty when it has none.
        location: where in the document; empty for a single fact.
        words: those that were held against the claim; empty where the answer to the call does not hold them.
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
        verdict: SUPPORTED, CONTRADICTED, UNSUPPORTED, SUPERSEDED or UNDECIDED; empty for a claim that is not judged.
        why: the verdict in one sentence; empty without a verdict.
        support: probability that the facts support it, 0.0-1.0; ``None`` = not computed.
        quotes: the facts' words that were held against it, those that decided first.
        kind: FACTUAL, OPINION, PROCEDURAL or META.
        basis: what the verdict rests on, e.g. QUOTATION; empty without a verdict.
        claim_id: by which reasons and findings name it.
    """

    text: str = field(repr=False)
    start: int
    end: int
    verdict: str
    why: str = field(repr=False)
    support: float | None
    quotes: tuple[Quote, ...] = field(repr=False)
    kind: str = ""
    basis: str = ""
    claim_id: str = ""


class JudgedText:
    """A text with its claims."""

    __slots__ = ()
    claims: tuple[Claim, ...]

    @property
    def judged(self) -> tuple[Claim, ...]:
        """The claims that have a verdict."""
        return tuple(claim for claim in self.claims if claim.verdict)

    @property
    def supported(self) -> bool:
        """Every claim with a verdict is SUPPORTED, and there is one."""
        return bool(self.judged) and all(claim.verdict == "SUPPORTED" for claim in self.judged)


@dataclass(frozen=True, slots=True)
class CheckResult(JudgedText):
    """What was found.

    Attributes:
        level: the risk level, with its floors.
        score: what the level rests on beside its floors: the composite with SUPPORTED claims counted as borne out,
            0.0-1.0; ``None`` = not computed.
        claims: in the order of the answer.
        warnings: what reading the documents left out.
        response: everything, as ``ProvenanceService.Check`` gave it.
        composite: the composite score of CRP-SPEC-005 §7.2, 0.0-1.0; ``None`` = not computed.
        contradictions: between claims of the answer.
        contradictions_with_earlier: between its claims and those of earlier answers.
        findings: kinds of fabrications, distortions and contradictions, each once.
    """

    level: Level
    score: float | None
    claims: tuple[Claim, ...]
    warnings: tuple[str, ...]
    response: "pb.CheckResponse" = field(repr=False)
    composite: float | None = None
    contradictions: int = 0
    contradictions_with_earlier: int = 0
    findings: tuple[str, ...] = ()


def result_of(response: "pb.CheckResponse") -> CheckResult:
    """Return a response as the caller sees it."""
    return CheckResult(**fields_of(response))


def fields_of(response: "pb.CheckResponse") -> dict[str, Any]:
    """Return the fields of a response's result by their names, for results that hold more."""
    report = response.report
    return {
        "level": level_of(report.risk_level),
        "score": report.judged_score if report.HasField("judged_score") else None,
        "claims": claims_of(report.claims, {fact.fact_id: fact for fact in response.facts}),
        "warnings": tuple(response.warnings),
        "response": response,
        "composite": report.composite_score if report.HasField("composite_score") else None,
        "contradictions": len(report.contradictions),
        "contradictions_with_earlier": len(report.cross_window_contradictions),
        "findings": _findings(report),
    }


def level_of(value: int) -> Level:
    """Return a level of the contract; CRITICAL for one that was not told, so that nothing passes for it."""
    from crp.common.v1 import taxonomy_pb2

    return Level(taxonomy_pb2.RiskLevel.Name(value).removeprefix("RISK_LEVEL_")) if value else Level.CRITICAL


def claims_of(
    claims: "Iterable[claim_pb2.Claim]", facts: "Mapping[str, pb.CheckedFact]", offset: int = 0
) -> tuple[Claim, ...]:
    """Return claims of a report.

    Args:
        claims: of the report.
        facts: by their ids; of those that are not among them the evidence itself says what it quotes.
        offset: characters before the text that was analysed.
    """
    return tuple(_claim(claim, facts, offset) for claim in claims)


def _claim(claim: "claim_pb2.Claim", facts: "Mapping[str, pb.CheckedFact]", offset: int) -> Claim:
    from crp.dpe.v1 import claim_pb2

    judgement = claim.judgement
    return Claim(
        claim.text,
        claim.span.start + offset,
        claim.span.end + offset,
        claim_pb2.ClaimVerdict.Name(claim.verdict).removeprefix("CLAIM_VERDICT_") if claim.verdict else "",
        judgement.why,
        judgement.support_probability if judgement.HasField("support_probability") else None,
        tuple(_quote(one, facts.get(one.fact_id)) for one in judgement.evidence),
        claim_pb2.ClaimType.Name(claim.claim_type).removeprefix("CLAIM_TYPE_"),
        claim_pb2.VerdictBasis.Name(judgement.basis).removeprefix("VERDICT_BASIS_") if judgement.basis else "",
        claim.claim_id,
    )


def _quote(evidence: "claim_pb2.Evidence", fact: "pb.CheckedFact | None") -> Quote:
    if fact is None:
        source = evidence.source
        return Quote(evidence.fact_id, source.title, source.section or _page(source.page), evidence.quote)
    span = evidence.fact_span
    return Quote(evidence.fact_id, fact.title, fact.location, fact.content[span.start : span.end] or fact.content)


def _page(number: int) -> str:
    return f"p. {number}" if number else ""


def _findings(report: "report_pb2.DpeReport") -> tuple[str, ...]:
    from crp.dpe.v1 import finding_pb2

    found = ["FABRICATION"] if report.fabrications else []
    names = map(finding_pb2.DistortionType.Name, report.distortion_types)
    found += [name.removeprefix("DISTORTION_TYPE_") for name in names]
    found += ["CONTRADICTION"] if report.contradiction_count else []
    return tuple(found)
