"""``EnvelopeClient`` over ``crp.envelope.v1.EnvelopeService``."""

import grpc
from crp.ckf.v1 import ckf_pb2
from crp.common.v1 import injection_pb2
from crp.envelope.v1 import envelope_pb2, envelope_service_pb2, envelope_service_pb2_grpc

from services.common.days import last_day
from services.common.envelope_request import TOOL_URI, EnvelopeRequest
from services.common.rpc import enums
from services.common.rpc.envelope_request import build_message
from services.gateway.domain.quality import QualityGap, Shortfall
from services.gateway.domain.suspicion import Part, Suspicion
from services.gateway.domain.window import (
    BuiltEnvelope,
    DeferredFact,
    EnvelopeFact,
    EnvelopeMessage,
    EnvelopeSummary,
    OutOfTime,
    SourceConflict,
)

_SIGNAL = "QUALITY_SIGNAL_"
_RULE = "TIER_RULE_"
_STALE = "STALE_REASON_"
_ACTION = "INJECTION_ACTION_"
_OUT_OF_TIME = frozenset(
    {
        ckf_pb2.STALE_REASON_SUPERSEDED,
        ckf_pb2.STALE_REASON_NO_LONGER_VALID,
        ckf_pb2.STALE_REASON_NOT_YET_VALID,
    }
)


class GrpcEnvelopeClient:
    """Speaks to the envelope service for the running call."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = envelope_service_pb2_grpc.EnvelopeServiceStub(channel)  # type: ignore[no-untyped-call]

    async def build(self, request: EnvelopeRequest) -> BuiltEnvelope:
        """Build an envelope."""
        return built_envelope(await self._stub.BuildEnvelope(build_message(request)))

    async def compare(self, request: EnvelopeRequest) -> BuiltEnvelope | str:
        """Compare an ETag; nothing is built."""
        message = build_message(request)
        message.compare_only = True
        response = await self._stub.BuildEnvelope(message)
        return built_envelope(response) if response.not_modified else str(response.cache_status)


def built_envelope(response: envelope_service_pb2.BuildEnvelopeResponse) -> BuiltEnvelope:
    """Read an envelope; the message itself is kept for the analysis."""
    envelope = response.envelope
    return BuiltEnvelope(
        summary=_summary(response),
        facts=tuple(_fact(fact) for fact in envelope.facts),
        grounding_instruction=response.system_prompt,
        not_modified=response.not_modified,
        accepted=response.quality.accepted or not response.HasField("quality"),
        sub_queries=tuple(response.sub_queries),
        warnings=tuple(response.warnings),
        message=EnvelopeMessage(envelope),
        reuse_recommended=response.reuse_ckf_recommended,
        gap=_gap(response.quality.gap) if response.quality.HasField("gap") else None,
        recommended_strategy=enums.STRATEGIES.get(response.recommended_strategy),
        approximate=envelope.token_counting.approximate,
        conflicts=tuple(
            SourceConflict(tuple((value.fact_id, value.text) for value in conflict.values))
            for conflict in envelope.conflicts
        ),
    )


def _gap(gap: envelope_pb2.QualityGap) -> QualityGap:
    return QualityGap(
        reached=enums.QUALITY_TIERS[gap.reached],
        required=enums.QUALITY_TIERS[gap.required],
        shortfalls=tuple(
            Shortfall(envelope_pb2.QualitySignal.Name(each.signal).removeprefix(_SIGNAL), each.value, each.required)
            for each in gap.shortfalls
        ),
        capping_rules=tuple(envelope_pb2.TierRule.Name(rule).removeprefix(_RULE) for rule in gap.capping_rules),
    )


def _fact(fact: envelope_pb2.EnvelopeFact) -> EnvelopeFact:
    return EnvelopeFact(
        fact_id=fact.fact_id,
        content=fact.content,
        relevance_score=fact.relevance_score,
        carried_from=fact.carried_from_window_id,
        stale=fact.status == ckf_pb2.FACT_STATUS_STALE,
        location=fact.source_location,
        out_of_time=_out_of_time(fact),
        tool=fact.source.uri.removeprefix(TOOL_URI) if fact.source.uri.startswith(TOOL_URI) else "",
    )


def _out_of_time(fact: envelope_pb2.EnvelopeFact) -> OutOfTime | None:
    """Read why a fact does not hold now, with the last day on which it did, or the first on which it will."""
    if fact.stale_reason not in _OUT_OF_TIME:
        return None
    reason = ckf_pb2.StaleReason.Name(fact.stale_reason).removeprefix(_STALE)
    if fact.stale_reason == ckf_pb2.STALE_REASON_NOT_YET_VALID:
        return OutOfTime(reason, fact.valid_from.ToDatetime().date() if fact.HasField("valid_from") else None)
    return OutOfTime(reason, last_day(fact.ended_at.ToDatetime()) if fact.HasField("ended_at") else None)


def _summary(response: envelope_service_pb2.BuildEnvelopeResponse) -> EnvelopeSummary:
    envelope = response.envelope
    return EnvelopeSummary(
        facts_available=envelope.total_facts_available,
        facts_included=envelope.total_facts_included,
        token_count=envelope.token_count,
        token_budget=envelope.token_budget,
        saturation=envelope.saturation,
        quality_tier=enums.QUALITY_TIERS[envelope.quality_tier],
        etag=envelope.etag,
        communities=tuple(envelope.ckf_communities),
        memory_tier_hit=envelope.memory_tier_hit,
        ckf_hits=envelope.ckf_hits,
        ckf_state_hash=envelope.ckf_state_hash,
        cache_status=response.cache_status,
        knowledge_age=envelope.knowledge_age.ToTimedelta() if envelope.HasField("knowledge_age") else None,
        fact_ids=tuple(fact.fact_id for fact in envelope.facts),
        deferred=tuple(DeferredFact(fact.fact_id, fact.token_count) for fact in response.deferred_facts),
        retrieval_mode=enums.RETRIEVAL_MODES.get(envelope.retrieval_mode),
        facts_out_of_time=sum(fact.stale_reason in _OUT_OF_TIME for fact in envelope.facts),
        source_conflicts=len(envelope.conflicts),
        suspicions=tuple(_suspicion(one) for one in response.suspected_facts),
    )


def _suspicion(fact: envelope_service_pb2.SuspectedFact) -> Suspicion:
    finding = fact.finding
    return Suspicion(
        part=Part.FACT,
        of=fact.fact_id,
        action=injection_pb2.InjectionAction.Name(finding.action).removeprefix(_ACTION).lower(),
        tells=(),
        rules=tuple((rule.rule_id, rule.count) for rule in finding.rules),
        places=tuple((span.start, span.end) for span in finding.spans),
        count=finding.span_count,
    )
