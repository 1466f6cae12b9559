"""What a check found, typed: level, claims with their verdicts, the sentences that bear them out or refute them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import claim_pb2, finding_pb2, report_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb

from services.common.taxonomy import RiskLevel

if TYPE_CHECKING:
    from services.gateway.check_policy import PolicyVerdict
    from services.gateway.domain.outcome import PolicyInForce


@dataclass(frozen=True, slots=True)
class Quoted:
    """The words of a fact that were held against a claim.

    Attributes:
        fact_id: ``f`` and the fact's number in ``CheckResult.facts``.
        title: of the document; empty when it has none.
        location: where in the document.
        quote: the words.
    """

    fact_id: str
    title: str
    location: str
    quote: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """A claim of the answer.

    Attributes:
        text: its words, ``answer[start:end]`` in Unicode code points.
        kind: FACTUAL, OPINION, PROCEDURAL or META.
        verdict: SUPPORTED, CONTRADICTED, UNSUPPORTED, SUPERSEDED or UNDECIDED; empty for a claim that is not judged.
        basis: what the verdict rests on; empty without a verdict.
        why: the verdict in one sentence; empty without a verdict.
        support: probability that the facts support it; ``None`` = not computed.
        evidence: the facts' words that were held against it, those that decided first.
        claim_id: by which reasons and findings name it.
    """

    text: str = field(repr=False)
    start: int
    end: int
    kind: str
    verdict: str
    basis: str
    why: str = field(repr=False)
    support: float | None
    evidence: tuple[Quoted, ...] = field(repr=False)
    claim_id: str = ""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was found.

    Attributes:
        level: risk level, with its floors.
        composite: the composite score of CRP-SPEC-005 §7.2; ``None`` = not computed.
        claims: in the order of the answer.
        contradictions: between claims of the answer.
        contradictions_with_earlier: between its claims and those of earlier answers.
        findings: kinds of fabrications, distortions and contradictions, each once.
        warnings: what reading the documents left out.
        policy: what the safety policy makes of it; ``None`` when none was given.
        response: everything, as the RPC gave it.
        score: what the level rests on beside its floors: the composite with SUPPORTED claims counted as borne out
            (ADR 0121); ``None`` = not computed.
    """

    level: RiskLevel
    composite: float | None
    claims: tuple[ClaimResult, ...]
    contradictions: int
    contradictions_with_earlier: int
    findings: tuple[str, ...]
    warnings: tuple[str, ...]
    policy: "PolicyVerdict | None"
    response: pb.CheckResponse = field(repr=False)
    score: float | None = None

    @property
    def judged(self) -> tuple[ClaimResult, ...]:
        """The claims that have a verdict."""
        return tuple(claim for claim in self.claims if claim.verdict)

    @property
    def supported(self) -> bool:
        """Every claim with a verdict is SUPPORTED, and there is one."""
        return bool(self.judged) and all(claim.verdict == "SUPPORTED" for claim in self.judged)


def result_of(response: pb.CheckResponse, force: "PolicyInForce | None") -> CheckResult:
    """Return a response as the caller sees it, held against a policy where one is given."""
    report = response.report
    verdict = None
    if force is not None:
        from services.gateway.check_policy import policy_verdict

        verdict = policy_verdict(report, force)
    facts = {fact.fact_id: fact for fact in response.facts}
    return CheckResult(
        RiskLevel(_word(taxonomy_pb2.RiskLevel.Name(report.risk_level), "RISK_LEVEL_")),
        report.composite_score if report.HasField("composite_score") else None,
        tuple(_claim(claim, facts) for claim in report.claims),
        len(report.contradictions),
        len(report.cross_window_contradictions),
        _findings(report),
        tuple(response.warnings),
        verdict,
        response,
        report.judged_score if report.HasField("judged_score") else None,
    )


def _claim(claim: claim_pb2.Claim, facts: dict[str, pb.CheckedFact]) -> ClaimResult:
    judgement = claim.judgement
    quoted = tuple(_quoted(one, facts[one.fact_id]) for one in judgement.evidence if one.fact_id in facts)
    verdict = _word(claim_pb2.ClaimVerdict.Name(claim.verdict), "CLAIM_VERDICT_") if claim.verdict else ""
    return ClaimResult(
        claim.text,
        claim.span.start,
        claim.span.end,
        _word(claim_pb2.ClaimType.Name(claim.claim_type), "CLAIM_TYPE_"),
        verdict,
        _word(claim_pb2.VerdictBasis.Name(judgement.basis), "VERDICT_BASIS_") if judgement.basis else "",
        judgement.why,
        judgement.support_probability if judgement.HasField("support_probability") else None,
        quoted,
        claim.claim_id,
    )


def _quoted(evidence: claim_pb2.Evidence, fact: pb.CheckedFact) -> Quoted:
    span = evidence.fact_span
    words = fact.content[span.start : span.end] or fact.content
    return Quoted(evidence.fact_id, fact.title, fact.location, words)


def _findings(report: report_pb2.DpeReport) -> tuple[str, ...]:
    found = ["FABRICATION"] if report.fabrications else []
    found += [_word(finding_pb2.DistortionType.Name(kind), "DISTORTION_TYPE_") for kind in report.distortion_types]
    found += ["CONTRADICTION"] if report.contradiction_count else []
    return tuple(found)


def _word(name: str, prefix: str) -> str:
    return name.removeprefix(prefix)
