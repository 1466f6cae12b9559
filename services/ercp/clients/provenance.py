"""``Provenance`` over ``crp.dpe.v1.ProvenanceService``: a report in, findings in our own words out (ADR 0074)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import grpc
from crp.common.v1 import taxonomy_pb2, text_pb2
from crp.dpe.v1 import (
    claim_pb2,
    constraint_pb2,
    finding_pb2,
    provenance_service_pb2,
    provenance_service_pb2_grpc,
    report_pb2,
)
from crp.envelope.v1 import envelope_pb2

from services.common.computing import compute_unless_small
from services.ercp.domain.constraint_checks import ConstraintVerdict
from services.ercp.domain.findings import ClaimSupport, Finding, FindingKind
from services.ercp.domain.records import Claim, Sentence
from services.ercp.ports import Analysis, Fidelity, Knowledge, Segments, Window

MAX_QUERY_CHARS: Final = 100_000
_SENTENCE_ENDS: Final = (". ", "! ", "? ", "\n")
_DISTORTION_PREFIX: Final = "DISTORTION_TYPE_"
_STATING = (claim_pb2.CLAIM_TYPE_FACTUAL, claim_pb2.CLAIM_TYPE_UNSPECIFIED)
_SUPPORTED = claim_pb2.CLAIM_VERDICT_SUPPORTED
_CONTRADICTED = claim_pb2.CLAIM_VERDICT_CONTRADICTED
_UNSUPPORTED = claim_pb2.CLAIM_VERDICT_UNSUPPORTED
_SUPERSEDED = claim_pb2.CLAIM_VERDICT_SUPERSEDED
_UNDECIDED = claim_pb2.CLAIM_VERDICT_UNDECIDED


class GrpcProvenance:
    """Speaks to the dpe service for the running call."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = provenance_service_pb2_grpc.ProvenanceServiceStub(channel)  # type: ignore[no-untyped-call]

    async def segment(self, text: str) -> Segments:
        """Split a text."""
        answer = await self._stub.SegmentClaims(provenance_service_pb2.SegmentClaimsRequest(text=text))
        states = {claim.sentence_index for claim in answer.claims if claim.claim_type in _STATING}
        return Segments(
            sentences=tuple(
                Sentence(each.start, each.end, text[each.start : each.end], number in states)
                for number, each in enumerate(answer.sentences)
            ),
            claims=tuple(Claim(claim.text) for claim in answer.claims),
            models=tuple(model.fingerprint for model in answer.models),
        )

    async def analyze(
        self, query: str, text: str, knowledge: Knowledge, window: Window, verdicts: Sequence[ConstraintVerdict] = ()
    ) -> Analysis:
        """Analyse a candidate; earlier candidates are drafts of the same answer and no prior windows of it."""
        envelope = envelope_pb2.ContextEnvelope.FromString(knowledge.envelope)
        envelope.session_id, envelope.window_id = window.session_id, window.window_id
        envelope.window_number = window.window_number
        answer = await self._stub.Analyze(
            provenance_service_pb2.AnalyzeRequest(
                session_id=window.session_id,
                window_id=window.window_id,
                window_number=window.window_number,
                query=query[:MAX_QUERY_CHARS],
                response_text=text,
                envelope=envelope,
                grounding_mode=taxonomy_pb2.GROUNDING_MODE_OPEN,
                constraint_verdicts=_verdicts(verdicts),
            )
        )
        return await compute_unless_small(len(text), analysis_of, answer.report, knowledge)

    def read(self, report: bytes, knowledge: Knowledge) -> Analysis:
        """Read a stored report."""
        return analysis_of(report_pb2.DpeReport.FromString(report), knowledge)


def analysis_of(report: report_pb2.DpeReport, knowledge: Knowledge) -> Analysis:
    """Return what a report found, in the order of its lists."""
    facts = {passage.source: passage.text for passage in knowledge.passages}
    claims = {claim.claim_id: claim for claim in report.claims}
    return Analysis(
        report=report.SerializeToString(deterministic=True),
        findings=tuple(_findings(report, claims, facts)),
        models=tuple(f"{model.role}:{model.fingerprint}" for model in report.models),
        fidelity=_fidelity(report),
        supports=tuple(_support(claim) for claim in report.claims),
    )


def _support(claim: claim_pb2.Claim) -> ClaimSupport:
    return ClaimSupport((claim.span.start, claim.span.end), is_supported=_by_evidence(claim) == _SUPPORTED)


def _verdicts(verdicts: Sequence[ConstraintVerdict]) -> constraint_pb2.ConstraintVerdicts | None:
    if not verdicts:
        return None
    return constraint_pb2.ConstraintVerdicts(
        verdicts=[
            constraint_pb2.ConstraintVerdict(
                constraint_id=each.constraint_id,
                nl_text=each.nl_text,
                state=f"CONSTRAINT_STATE_{each.state}",
                spans=[text_pb2.TextSpan(start=start, end=end) for start, end in each.spans],
                why=each.why,
                detector=each.detector.value,
            )
            for each in verdicts
        ]
    )


def _fidelity(report: report_pb2.DpeReport) -> Fidelity:
    held = report.constraint_outcomes
    return Fidelity(
        score=report.fidelity_score if report.HasField("fidelity_score") else None,
        score_without=held.fidelity_score_without if held.HasField("fidelity_score_without") else None,
        constraints=len(held.outcomes),
        violated=_in_state(held, constraint_pb2.CONSTRAINT_STATE_VIOLATED),
        unknown=_in_state(held, constraint_pb2.CONSTRAINT_STATE_UNKNOWN),
    )


def _in_state(held: constraint_pb2.ConstraintOutcomes, state: constraint_pb2.ConstraintState) -> tuple[str, ...]:
    return tuple(each.verdict.constraint_id for each in held.outcomes if each.verdict.state == state)


def _findings(
    report: report_pb2.DpeReport, claims: Mapping[str, claim_pb2.Claim], facts: Mapping[str, str]
) -> Iterator[Finding]:
    distorted = set()
    for distortion in report.distortions:
        distorted.add(distortion.claim_id)
        yield _distortion(distortion, claims, facts)
    for fabrication in report.fabrications:
        span = fabrication.entity.span
        yield Finding(FindingKind.FABRICATION, (span.start, span.end), detail=_entity_kind(fabrication))
    for contradiction in report.contradictions:
        yield Finding(
            FindingKind.CONTRADICTION,
            (contradiction.claim_span.start, contradiction.claim_span.end),
            probability=_probability(contradiction),
            other=contradiction.other_text,
            exact=contradiction.HasField("values"),
        )
    for claim in report.claims:
        if claim.claim_id in distorted or not claim.HasField("judgement") or not facts:
            continue
        if _by_evidence(claim) in {_CONTRADICTED, _UNSUPPORTED, _SUPERSEDED, _UNDECIDED}:
            yield _judged(claim, facts)


def _by_evidence(claim: claim_pb2.Claim) -> claim_pb2.ClaimVerdict:
    """Return what the facts say of a claim: of a constraint that it violates the predicate check makes an error."""
    conflict = claim.judgement.HasField("constraint_conflict")
    return claim.judgement.constraint_conflict.verdict_without if conflict else claim.verdict


def _distortion(
    distortion: finding_pb2.Distortion, claims: Mapping[str, claim_pb2.Claim], facts: Mapping[str, str]
) -> Finding:
    claim = claims.get(distortion.claim_id)
    span = claim.span if claim is not None else distortion.answer_span
    fact = facts.get(distortion.fact_id, "")
    return Finding(
        FindingKind.DISTORTION,
        (span.start, span.end),
        detail=finding_pb2.DistortionType.Name(distortion.type).removeprefix(_DISTORTION_PREFIX),
        probability=_probability(distortion),
        fact_id=distortion.fact_id,
        other=_sentence_around(fact, distortion.fact_span.start, distortion.fact_span.end),
        exact=distortion.HasField("values"),
    )


def _judged(claim: claim_pb2.Claim, facts: Mapping[str, str]) -> Finding:
    judgement = claim.judgement
    evidence = judgement.evidence[0] if judgement.evidence else None
    fact = facts.get(evidence.fact_id, "") if evidence is not None else ""
    contradicted = _by_evidence(claim) == _CONTRADICTED
    probability = judgement.contradiction_probability if judgement.HasField("contradiction_probability") else None
    if not contradicted:
        probability = 1.0 - judgement.support_probability if judgement.HasField("support_probability") else None
    return Finding(
        FindingKind.CONTRADICTED if contradicted else FindingKind.UNSUPPORTED,
        (claim.span.start, claim.span.end),
        detail=claim_pb2.VerdictBasis.Name(_basis(judgement)).removeprefix("VERDICT_BASIS_"),
        probability=probability,
        fact_id=evidence.fact_id if evidence is not None else "",
        other=_sentence_around(fact, evidence.fact_span.start, evidence.fact_span.end) if evidence is not None else "",
    )


def _basis(judgement: claim_pb2.Judgement) -> claim_pb2.VerdictBasis:
    """Return what decided but for constraints: what no fact bears out is unsupported by the grounding model."""
    by_constraint = judgement.basis == claim_pb2.VERDICT_BASIS_CONSTRAINT
    return claim_pb2.VERDICT_BASIS_GROUNDING if by_constraint else judgement.basis


def _probability(finding: finding_pb2.Distortion | finding_pb2.Contradiction) -> float | None:
    return finding.contradiction_probability if finding.HasField("contradiction_probability") else None


def _entity_kind(fabrication: finding_pb2.Fabrication) -> str:
    return text_pb2.EntityKind.Name(fabrication.entity.kind).removeprefix("ENTITY_KIND_")


def _sentence_around(text: str, start: int, end: int) -> str:
    """Return the sentence of a fact that holds the stretch: what a constraint can be read from."""
    starts = [text.rfind(mark, 0, start) + len(mark) for mark in _SENTENCE_ENDS if mark in text[:start]]
    ends = [at + 1 for mark in _SENTENCE_ENDS if (at := text.find(mark, end)) >= 0]
    return text[max(starts, default=0) : min(ends, default=len(text))].strip()
