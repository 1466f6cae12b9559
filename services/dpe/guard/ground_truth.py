"""What the tenant's knowledge says, asked of the knowledge service for the running call (Director-AI page, D2).

The page's GroundTruthStore: vector search, and words where the vectors find nothing. The knowledge service is a peer,
as it is for the gateway: what a tenant may read, what holds now and what is withheld is decided in one place, in one
process and in many alike (ADR 0122).
"""

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol

import grpc
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc

from services.common.context import current_call
from services.common.errors import DeadlineError, UnavailableError
from services.dpe.convert.requests import read_entity
from services.dpe.domain.guard.coherence_grounds import GroundText

MAX_QUERY_CHARS: Final = 8_000
"""Of a longer text the beginning is searched for: the embedder reads it in windows, and facts are short."""
_OUT_OF_TIME: Final = frozenset(
    {
        ckf_pb2.STALE_REASON_SUPERSEDED,
        ckf_pb2.STALE_REASON_NO_LONGER_VALID,
        ckf_pb2.STALE_REASON_NOT_YET_VALID,
    }
)


class KnowledgeAwayError(Exception):
    """The knowledge service does not answer, or not in time."""


class GroundTruth(Protocol):
    """Finds facts in the tenant's knowledge."""

    async def retrieve(self, prompt: str, response: str) -> tuple[GroundText, ...]:
        """Return the facts nearest to prompt and answer, each once, the nearest first.

        Raises:
            KnowledgeAwayError: it does not answer.
            CrpError: it refuses the call, or its queue is full.
        """
        ...


class GrpcGroundTruth:
    """``GroundTruth`` over ``crp.ckf.v1.KnowledgeService``, with the running call's credential and time.

    Args:
        channel: to the knowledge service.
        limit: most facts of one search.
        share: of the time that the call has left, what a search may take.
    """

    def __init__(self, channel: grpc.aio.Channel, limit: int, share: float) -> None:
        self._stub = knowledge_service_pb2_grpc.KnowledgeServiceStub(channel)  # type: ignore[no-untyped-call]
        self._limit = limit
        self._share = share

    async def retrieve(self, prompt: str, response: str) -> tuple[GroundText, ...]:
        """Search for both at once; what only the answer finds and does not hold now is marked so."""
        try:
            by_prompt, by_answer = await asyncio.gather(self._search(prompt), self._search(response))
        except (UnavailableError, DeadlineError) as error:
            raise KnowledgeAwayError from error
        found: dict[str, GroundText] = {}
        for place in range(max(len(by_prompt), len(by_answer))):
            for hits, is_asked in ((by_prompt, True), (by_answer, False)):
                if place < len(hits):
                    fact = hits[place]
                    # What the prompt asks of the past is no news; what the answer alone speaks of has to hold.
                    superseded = fact.stale_reason in _OUT_OF_TIME and not is_asked
                    known = found.get(fact.fact_id)
                    if known is None or (known.superseded and not superseded):
                        found[fact.fact_id] = _text(fact, superseded=superseded)
        return tuple(found.values())

    async def _search(self, query: str) -> Sequence[ckf_pb2.Fact]:
        request = knowledge_service_pb2.SearchFactsRequest(query=query[:MAX_QUERY_CHARS], limit=self._limit)
        answer = await self._stub.SearchFacts(request, timeout=self._allowed_s())
        return [hit.fact for hit in answer.hits]

    def _allowed_s(self) -> float | None:
        try:
            deadline = current_call().deadline
        except LookupError:
            return None
        return None if deadline is None else max(0.0, (deadline - asyncio.get_running_loop().time()) * self._share)


def _text(fact: ckf_pb2.Fact, *, superseded: bool) -> GroundText:
    entities = tuple(read_entity(entity, fact.content) for entity in fact.entities)
    return GroundText(fact.fact_id, fact.content, entities or None, superseded)
