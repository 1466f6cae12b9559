"""``KnowledgeSource`` over ``crp.envelope.v1.EnvelopeService``."""

from collections.abc import Sequence
from typing import Final

import grpc
from crp.common.v1 import taxonomy_pb2
from crp.envelope.v1 import envelope_pb2, envelope_service_pb2, envelope_service_pb2_grpc

from services.ercp.domain.records import Passage
from services.ercp.ports import Knowledge

MAX_QUERY_CHARS: Final = 8_000
"""Of a longer problem or text the beginning is searched for: the envelope service takes no more than this at least."""
_GIVEN_WEIGHT: Final = 1.0


class GrpcKnowledgeSource:
    """Speaks to the envelope service for the running call.

    Args:
        channel: to the envelope service.
        token_model: whose tokenizer and context window envelopes are budgeted with.
    """

    def __init__(self, channel: grpc.aio.Channel, token_model: str) -> None:
        self._stub = envelope_service_pb2_grpc.EnvelopeServiceStub(channel)  # type: ignore[no-untyped-call]
        self._token_model = token_model

    async def retrieve(self, query: str) -> Knowledge:
        """Build the envelope of the query."""
        request = envelope_service_pb2.BuildEnvelopeRequest(
            query=query[:MAX_QUERY_CHARS],
            model=self._token_model,
            grounding_mode=taxonomy_pb2.GROUNDING_MODE_OPEN,
            include_embeddings=True,
        )
        return knowledge_of((await self._stub.BuildEnvelope(request)).envelope)

    def given(self, passages: Sequence[Passage]) -> Knowledge:
        """Return an envelope of the caller's passages; two of one source are told apart by a number."""
        seen: dict[str, int] = {}
        facts = []
        for position, passage in enumerate(passages, start=1):
            name = passage.source or f"passage-{position}"
            seen[name] = seen.get(name, 0) + 1
            facts.append(
                envelope_pb2.EnvelopeFact(
                    fact_id=name if seen[name] == 1 else f"{name}#{seen[name]}",
                    content=passage.text,
                    relevance_score=_GIVEN_WEIGHT,
                    importance_weight=_GIVEN_WEIGHT,
                    composite_score=_GIVEN_WEIGHT,
                    position=position,
                )
            )
        envelope = envelope_pb2.ContextEnvelope(
            facts=facts,
            total_facts_available=len(facts),
            total_facts_included=len(facts),
            quality_tier=taxonomy_pb2.QUALITY_TIER_D,
            grounding_mode=taxonomy_pb2.GROUNDING_MODE_OPEN,
        )
        return knowledge_of(envelope)


def knowledge_of(envelope: envelope_pb2.ContextEnvelope) -> Knowledge:
    """Read an envelope."""
    return Knowledge(
        envelope=envelope.SerializeToString(deterministic=True),
        passages=tuple(Passage(fact.fact_id, fact.content) for fact in envelope.facts),
        scores=tuple(fact.relevance_score for fact in envelope.facts),
    )
