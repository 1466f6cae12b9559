"""Claims and findings to messages."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from crp.common.v1 import text_pb2
from crp.dpe.v1 import claim_pb2, finding_pb2
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.text_types import Claim, Span
from services.dpe.domain.facts import EnvelopeFact, FactSource
from services.dpe.domain.findings import (
    AlignedValue,
    Attribution,
    ConstraintConflict,
    Contradiction,
    ContradictionReason,
    CrossContradiction,
    Distortion,
    Evidence,
    Fabrication,
    Judgement,
    Omission,
    PiiFinding,
    Verdict,
)
from services.dpe.domain.verdicts import decides

MAX_CONSTRAINTS_LISTED: Final = 20
"""Of the constraints that a claim violates; their number stands beside them."""


def span_message(start: int, end: int) -> text_pb2.TextSpan:
    """Return a span."""
    return text_pb2.TextSpan(start=start, end=end)


def enum_value(enum: Any, name: str) -> Any:
    """Return the number of an enum value; the generated wrappers type it as a bare ``int``."""
    return enum.Value(name)


def kind_value(kind: EntityKind) -> text_pb2.EntityKind:
    """Return the message value of an entity kind."""
    value: text_pb2.EntityKind = enum_value(text_pb2.EntityKind, f"ENTITY_KIND_{kind}")
    return value


def entity_message(entity: Entity) -> text_pb2.Entity:
    """Return an entity."""
    return text_pb2.Entity(kind=kind_value(entity.kind), text=entity.text, span=span_message(entity.start, entity.end))


def claim_message(
    claim: Claim,
    attribution: Attribution | None,
    verdict: Verdict,
    judgement: Judgement | None = None,
    facts: Sequence[EnvelopeFact] = (),
) -> claim_pb2.Claim:
    """Return a claim with what it rests on, and its verdict with what that rests on; ``facts`` are the envelope's."""
    message = claim_pb2.Claim(
        claim_id=claim.claim_id,
        text=claim.text,
        sentence_index=claim.sentence_index,
        claim_type=enum_value(claim_pb2.ClaimType, f"CLAIM_TYPE_{claim.claim_type}"),
        specificity=claim.specificity,
        entities=[entity_message(entity) for entity in claim.entities],
        span=span_message(claim.start, claim.end),
    )
    if attribution is not None:
        message.attribution.CopyFrom(_attribution(claim, attribution, facts))
    if verdict is not Verdict.NONE:
        message.verdict = enum_value(claim_pb2.ClaimVerdict, f"CLAIM_VERDICT_{verdict}")
    if judgement is not None and judgement.basis is not None:
        message.judgement.CopyFrom(_judgement(claim, judgement, facts))
    return message


def _judgement(claim: Claim, item: Judgement, facts: Sequence[EnvelopeFact]) -> claim_pb2.Judgement:
    message = claim_pb2.Judgement(
        basis=enum_value(claim_pb2.VerdictBasis, f"VERDICT_BASIS_{item.basis}"),
        unsupported_spans=[
            claim_pb2.UnsupportedSpan(span=_span(doubt.span), score=doubt.score) for doubt in item.doubtful
        ],
        evidence=[_evidence(claim, each, facts) for each in item.evidence],
        why=item.why,
    )
    if item.support is not None:
        message.support_probability = item.support
    if item.entailment is not None:
        message.entailment_probability = item.entailment
    if item.contradiction is not None:
        message.contradiction_probability = item.contradiction
    if item.conflict is not None:
        message.constraint_conflict.CopyFrom(_conflict(item.conflict))
    return message


def _conflict(item: ConstraintConflict) -> claim_pb2.ConstraintConflict:
    message = claim_pb2.ConstraintConflict(
        constraint_ids=item.constraint_ids[:MAX_CONSTRAINTS_LISTED], constraints_total=len(item.constraint_ids)
    )
    if item.verdict_without is not Verdict.NONE:
        message.verdict_without = enum_value(claim_pb2.ClaimVerdict, f"CLAIM_VERDICT_{item.verdict_without}")
    return message


def _attribution(claim: Claim, attribution: Attribution, facts: Sequence[EnvelopeFact]) -> claim_pb2.Attribution:
    message = claim_pb2.Attribution(
        type=enum_value(claim_pb2.AttributionType, f"ATTRIBUTION_TYPE_{attribution.type}"),
        evidence=[_evidence(claim, item, facts) for item in attribution.evidence],
    )
    if attribution.evidence:
        message.raw_similarity = attribution.evidence[0].raw_similarity
        message.calibrated_similarity = attribution.evidence[0].similarity
    return message


def _evidence(claim: Claim, item: Evidence, facts: Sequence[EnvelopeFact]) -> claim_pb2.Evidence:
    fact = facts[item.fact_index] if item.fact_index < len(facts) else None
    source = None if fact is None else fact.source
    return claim_pb2.Evidence(
        fact_id=item.fact_id,
        answer_span=span_message(claim.start, claim.end),
        fact_span=span_message(item.fact_span.start, item.fact_span.end),
        raw_similarity=item.raw_similarity,
        calibrated_similarity=item.similarity,
        aligned_values=[_aligned(pair) for pair in item.aligned],
        source=None if source is None else source_message(source),
        stale_reason=f"STALE_REASON_{fact.stale_reason}" if fact is not None and fact.stale_reason else None,
        ended_at=_timestamp(fact.ended_at) if fact is not None and fact.ended_at is not None else None,
    )


def _timestamp(moment: datetime) -> Timestamp:
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def source_message(source: FactSource) -> text_pb2.FactSource:
    """Return the document of a fact."""
    return text_pb2.FactSource(
        source_id=source.source_id, uri=source.uri, title=source.title, section=source.section, page=source.page
    )


def _aligned(pair: AlignedValue) -> claim_pb2.AlignedValue:
    relation = claim_pb2.VALUE_RELATION_EQUAL if pair.equal else claim_pb2.VALUE_RELATION_DIFFERENT
    return claim_pb2.AlignedValue(
        kind=kind_value(pair.claimed.kind),
        answer_text=pair.claimed.text,
        answer_span=span_message(pair.claimed.start, pair.claimed.end),
        fact_text=pair.known.text,
        fact_span=span_message(pair.known.start, pair.known.end),
        answer_normalised=pair.claimed.normal,
        fact_normalised=pair.known.normal,
        relation=relation,
        derivation=pair.derivation,
    )


def fabrication_message(item: Fabrication) -> finding_pb2.Fabrication:
    """Return a fabrication."""
    return finding_pb2.Fabrication(
        claim_id=item.claim_id, entity=entity_message(item.entity), normalised=item.normalised
    )


def distortion_message(item: Distortion) -> finding_pb2.Distortion:
    """Return a distortion."""
    return finding_pb2.Distortion(
        type=enum_value(finding_pb2.DistortionType, f"DISTORTION_TYPE_{item.type}"),
        claim_id=item.claim_id,
        fact_id=item.fact_id,
        answer_span=_span(item.answer_span),
        fact_span=_span(item.fact_span),
        values=_aligned(item.values) if item.values else None,
        rule=enum_value(finding_pb2.DistortionRule, f"DISTORTION_RULE_{item.rule}"),
        decides=decides(item),
    )


def contradiction_message(item: Contradiction, window_id: str) -> finding_pb2.Contradiction:
    """Return a contradiction within one window."""
    message = finding_pb2.Contradiction(
        severity=enum_value(finding_pb2.ContradictionSeverity, f"CONTRADICTION_SEVERITY_{item.severity}"),
        claim_id=item.first.claim_id,
        claim_text=item.first.text,
        claim_span=span_message(item.first.start, item.first.end),
        other_claim_id=item.second.claim_id,
        other_text=item.second.text,
        other_span=span_message(item.second.start, item.second.end),
        window_id=window_id,
        other_window_id=window_id,
        values=_aligned(item.values) if item.values else None,
        reason=_reason(item.reason),
        why=item.why,
    )
    if item.probability is not None:
        message.contradiction_probability = item.probability
    return message


def cross_contradiction_message(item: CrossContradiction, window_id: str) -> finding_pb2.Contradiction:
    """Return a contradiction between this window and an earlier one (SPEC-005 §8.4)."""
    message = finding_pb2.Contradiction(
        severity=enum_value(finding_pb2.ContradictionSeverity, f"CONTRADICTION_SEVERITY_{item.severity}"),
        claim_id=item.claim.claim_id,
        claim_text=item.claim.text,
        claim_span=span_message(item.claim.start, item.claim.end),
        other_text=item.earlier.text,
        other_span=span_message(item.earlier.start, item.earlier.end),
        window_id=window_id,
        other_window_id=item.window_id,
        values=_aligned(item.values) if item.values else None,
        other_is_summary=item.is_summary,
        reason=_reason(item.reason),
        why=item.why,
    )
    if item.probability is not None:
        message.contradiction_probability = item.probability
    return message


def _reason(reason: ContradictionReason) -> Any:
    return enum_value(finding_pb2.ContradictionReason, f"CONTRADICTION_REASON_{reason}")


def omission_message(item: Omission, source: FactSource | None = None) -> finding_pb2.Omission:
    """Return an omission; ``source`` is its fact's."""
    message = finding_pb2.Omission(
        fact_id=item.fact_id,
        severity=enum_value(finding_pb2.OmissionSeverity, f"OMISSION_SEVERITY_{item.severity}"),
        importance_weight=item.importance_weight,
    )
    if item.best_similarity is not None:
        message.best_similarity = item.best_similarity
    if item.query_similarity is not None:
        message.query_similarity = item.query_similarity
    if source is not None:
        message.source.CopyFrom(source_message(source))
    return message


def pii_message(item: PiiFinding) -> finding_pb2.PiiFinding:
    """Return where personal data stands; never the data."""
    return finding_pb2.PiiFinding(
        category=enum_value(finding_pb2.PiiCategory, f"PII_CATEGORY_{item.data.category}"),
        type=item.data.type,
        origin=enum_value(finding_pb2.TextOrigin, f"TEXT_ORIGIN_{item.origin}"),
        span=span_message(item.data.start, item.data.end),
        confidence=item.data.confidence,
        counted=item.counted,
    )


def _span(span: Span) -> text_pb2.TextSpan:
    return span_message(span.start, span.end)
