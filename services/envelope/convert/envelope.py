"""``crp.envelope.v1`` to and from the envelope app's values."""

from typing import Final

import numpy as np
from crp.common.v1 import text_pb2
from crp.envelope.v1 import envelope_pb2, envelope_service_pb2

from services.common.envelope_request import TOOL_URI, EnvelopeRequest
from services.common.locations import place_of, title_over
from services.common.ports.graph import SourceRecord
from services.common.ports.tokens import ModelProfile
from services.common.rpc import enums
from services.envelope.convert.common import (
    FACT_STATUS,
    duration,
    entity_fields,
    optional_timestamp,
    stale_reason,
    timestamp,
)
from services.envelope.convert.injection import finding_message
from services.envelope.domain.candidates import Candidate, RankedFact
from services.envelope.domain.conflicts import Conflict
from services.envelope.domain.quality_gap import QualityGap, QualitySignal
from services.envelope.domain.quality_tier import TierRule
from services.envelope.domain.saturation import saturation_band
from services.envelope.envelope_app import CountRequest, TokenCounts
from services.envelope.requests import BuiltEnvelope

_RULES: Final = {rule: f"TIER_RULE_{rule.value}" for rule in TierRule}
_SIGNALS: Final = {signal: f"QUALITY_SIGNAL_{signal.value}" for signal in QualitySignal}


def count_request(request: envelope_service_pb2.CountTokensRequest) -> CountRequest:
    """Read a validated CountTokensRequest."""
    window = request.context_window_tokens if request.HasField("context_window_tokens") else None
    return CountRequest(request.model, request.texts, request.approximate_tokens, window)


def build_response(
    request: EnvelopeRequest, built: BuiltEnvelope, *, include_embeddings: bool
) -> envelope_service_pb2.BuildEnvelopeResponse:
    """Return a built envelope."""
    return envelope_service_pb2.BuildEnvelopeResponse(
        envelope=_envelope(request, built, include_embeddings=include_embeddings),
        deferred_facts=[
            envelope_pb2.DeferredFact(
                fact_id=fact.candidate.fact_id,
                token_count=fact.candidate.token_count,
                composite_score=fact.composite_score,
            )
            for fact in built.deferred
        ],
        system_prompt=built.grounding_instruction,
        not_modified=built.not_modified,
        sub_queries=built.sub_queries,
        cache_status=built.cache_status,
        warnings=built.warnings,
        continuation_recommended=built.continuation_recommended,
        reuse_ckf_recommended=built.reuse_recommended,
        quality=_quality(built),
        recommended_strategy=(
            None if built.recommended_strategy is None else enums.STRATEGIES.number(built.recommended_strategy)
        ),
        suspected_facts=[
            envelope_service_pb2.SuspectedFact(
                fact_id=one.fact_id,
                carried_from_window_id=one.carried_from_window_id,
                finding=finding_message(one.finding, one.treatment),
            )
            for one in built.suspected
        ],
    )


def _envelope(
    request: EnvelopeRequest, built: BuiltEnvelope, *, include_embeddings: bool
) -> envelope_pb2.ContextEnvelope:
    summary = built.summary
    return envelope_pb2.ContextEnvelope(
        session_id=request.session_id,
        window_number=request.window_number,
        facts=[
            _fact(fact, position, built.sources.get(fact.candidate.source_id), include_embedding=include_embeddings)
            for position, fact in enumerate(built.facts, start=1)
        ],
        total_facts_available=summary.total_facts_available,
        total_facts_included=summary.total_facts_included,
        token_count=summary.token_count,
        token_budget=summary.token_budget,
        saturation=summary.saturation,
        quality_tier=enums.QUALITY_TIERS.number(summary.verdict.tier),
        etag=summary.etag,
        strategy=enums.STRATEGIES.number(request.strategy),
        grounding_mode=enums.GROUNDING_MODES.number(request.grounding_mode),
        created_at=timestamp(summary.created_at),
        ckf_communities=summary.communities,
        memory_tier_hit=summary.memory_tier_hit,
        window_id=request.window_id,
        model=request.model,
        ckf_hits=summary.ckf_hits,
        knowledge_age=None if summary.knowledge_age is None else duration(summary.knowledge_age),
        ckf_state_hash=summary.state_hash,
        embedding_model=summary.embedding_model,
        retrieval_mode=enums.RETRIEVAL_MODES.number(summary.retrieval_mode),
        token_counting=_counting(built.counting),
        shared_namespaces=summary.shared_namespaces,
        conflicts=[_conflict(each) for each in built.conflicts],
    )


def _conflict(conflict: Conflict) -> envelope_pb2.SourceConflict:
    return envelope_pb2.SourceConflict(
        subject=conflict.subject,
        values=[
            envelope_pb2.ConflictingValue(
                fact_id=side.fact_id, text=side.text, span=text_pb2.TextSpan(start=side.start, end=side.end)
            )
            for side in conflict.sides
        ],
    )


def _fact(
    fact: RankedFact, position: int, source: SourceRecord | None, *, include_embedding: bool
) -> envelope_pb2.EnvelopeFact:
    candidate = fact.candidate
    return envelope_pb2.EnvelopeFact(
        fact_id=candidate.fact_id,
        content=candidate.content,
        source_id=candidate.source_id,
        relevance_score=fact.relevance_score,
        importance_weight=candidate.importance_weight,
        composite_score=fact.composite_score,
        token_count=candidate.token_count,
        position=position,
        community=candidate.community,
        ingested_at=timestamp(candidate.ingested_at),
        entities=[entity_fields(entity) for entity in candidate.entities],
        embedding=np.asarray(candidate.embedding, dtype="<f4").tobytes() if include_embedding else b"",
        source_location=candidate.source_location,
        content_hash=candidate.content_hash,
        status=FACT_STATUS[candidate.status],
        carried_from_window_id=candidate.carried_from_window_id,
        freshness_score=fact.freshness_score,
        diversity_bonus=fact.diversity_bonus,
        memory_tier=candidate.memory_tier,
        transfer_type=candidate.transfer_type,
        namespace=candidate.namespace,
        stale_reason=stale_reason(candidate.stale_reason),
        ended_at=optional_timestamp(candidate.ended_at),
        valid_from=optional_timestamp(candidate.valid_from),
        valid_to=optional_timestamp(candidate.valid_to),
        source=_source_of(candidate, source),
    )


def _source_of(candidate: Candidate, source: SourceRecord | None) -> text_pb2.FactSource | None:
    if candidate.tool:
        uri = f"{TOOL_URI}{candidate.tool}"
        return text_pb2.FactSource(source_id=candidate.source_id, uri=uri, title=candidate.tool)
    return None if source is None or candidate.is_carried else _source(source, candidate.source_location)


def _source(source: SourceRecord, location: str) -> text_pb2.FactSource:
    title = title_over(location, source.title)
    place = place_of(location, title)
    return text_pb2.FactSource(
        source_id=source.source_id, uri=source.uri, title=title, section=place.section, page=place.page
    )


def _quality(built: BuiltEnvelope) -> envelope_pb2.QualityAssessment:
    verdict = built.summary.verdict
    return envelope_pb2.QualityAssessment(
        coverage_score=verdict.coverage_score,
        saturation=verdict.saturation,
        relevance_mean=verdict.relevance_mean,
        quality_score=verdict.quality_score,
        score_tier=enums.QUALITY_TIERS.number(verdict.score_tier),
        saturation_tier=enums.QUALITY_TIERS.number(verdict.saturation_tier),
        rules=[_RULES[rule] for rule in verdict.rules],
        quality_tier=enums.QUALITY_TIERS.number(verdict.tier),
        accepted=built.accepted,
        saturation_band=f"SATURATION_BAND_{saturation_band(verdict.saturation).name}",
        gap=None if built.gap is None else _gap(built.gap),
    )


def _gap(gap: QualityGap) -> envelope_pb2.QualityGap:
    return envelope_pb2.QualityGap(
        reached=enums.QUALITY_TIERS.number(gap.reached),
        required=enums.QUALITY_TIERS.number(gap.required),
        shortfalls=[
            envelope_pb2.QualityShortfall(
                signal=_SIGNALS[each.signal], value=each.value, required=each.required, shortfall=each.shortfall
            )
            for each in gap.shortfalls
        ],
        capping_rules=[_RULES[rule] for rule in gap.capping_rules],
    )


def _counting(profile: ModelProfile) -> envelope_pb2.TokenCounting:
    return envelope_pb2.TokenCounting(
        tokenizer=profile.tokenizer,
        approximate=profile.approximate,
        safety_margin_ratio=profile.safety_margin_ratio,
        context_window_tokens=profile.context_window_tokens,
    )


def preview_response(built: BuiltEnvelope) -> envelope_service_pb2.PreviewEnvelopeResponse:
    """Return a preview (SPEC-003 §12.2)."""
    summary = built.summary
    return envelope_service_pb2.PreviewEnvelopeResponse(
        preview=envelope_pb2.EnvelopePreview(
            facts_available=summary.total_facts_available,
            facts_included=summary.total_facts_included,
            estimated_tokens=summary.token_count,
            quality_tier=enums.QUALITY_TIERS.number(summary.verdict.tier),
            saturation=summary.saturation,
            etag=summary.etag,
            communities=summary.communities,
            memory_tier_hit=summary.memory_tier_hit,
            token_budget=summary.token_budget,
        ),
        quality=_quality(built),
        warnings=built.warnings,
        token_counting=_counting(built.counting),
    )


def count_response(counts: TokenCounts) -> envelope_service_pb2.CountTokensResponse:
    """Return token counts."""
    return envelope_service_pb2.CountTokensResponse(
        counts=counts.counts,
        tokenizer=counts.profile.tokenizer,
        approximate=counts.profile.approximate,
        context_window_tokens=counts.profile.context_window_tokens,
        safety_margin_ratio=counts.profile.safety_margin_ratio,
    )
