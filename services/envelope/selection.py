"""Phase 1: candidates from the knowledge fabric and from the session (SPEC-003 §5)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.encoding import sha256_hex
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.facts import FactFilter, FactHit, FactRecord, FactStatus, FactStore
from services.common.ports.tokens import TokenCounter
from services.common.settings.envelope import EnvelopeSettings
from services.envelope.domain.candidates import Candidate, effective_status
from services.envelope.domain.expansion import COMMUNITY_SIZE, expanded, thin_communities
from services.envelope.domain.identity import carried_fact_id_for
from services.envelope.domain.search_mode import SearchMode
from services.envelope.requests import CarriedText, EnvelopeRequest, Strategy
from services.envelope.retrieval import Retrieval, RetrievedFact, Retriever, SubQueries

SESSION_TIER: Final = 1
SEARCH_TIER: Final = 3
_RETRIEVABLE: Final = frozenset({FactStatus.ACTIVE, FactStatus.STALE})


@dataclass(frozen=True, slots=True)
class Selection:
    """The candidate set.

    Attributes:
        queries: vectors of the sub-queries, one a row.
        ckf_hits: facts that retrieval gave, before those seen in former windows were left out.
        memory_tier_hit: highest tier accessed; 3 whenever the graph was searched (SPEC-003 §5.2 step 1.4).
        mode: how the facts were really found.
        warnings: what retrieval had to do without.
    """

    queries: NDArray[np.float32]
    candidates: tuple[Candidate, ...]
    ckf_hits: int
    memory_tier_hit: int
    mode: SearchMode = SearchMode.DENSE
    warnings: tuple[str, ...] = ()


class Selector:
    """Retrieves, expands communities and adds what the session carries.

    Args:
        facts: the knowledge fabric.
        retriever: searches it.
        embedding: embeds queries and carried text.
        tokens: counts the candidates' tokens.
        settings: K, expansion and numbering.
    """

    def __init__(
        self,
        facts: FactStore,
        retriever: Retriever,
        embedding: EmbeddingModel,
        tokens: TokenCounter,
        settings: EnvelopeSettings,
    ) -> None:
        self._facts = facts
        self._retriever = retriever
        self._embedding = embedding
        self._tokens = tokens
        self._settings = settings

    @property
    def embedding_model(self) -> str:
        """Fingerprint of the model that scores relevance."""
        return self._embedding.fingerprint

    async def select(
        self, tenant_id: str, request: EnvelopeRequest, sub_queries: Sequence[str], now: datetime
    ) -> Selection:
        """Return a build's candidates, distinct by id, without what former windows held and did not hand on."""
        vectors = await self._embedding.embed([*sub_queries, *(text.content for text in request.carried)])
        queries = vectors[: len(sub_queries)]
        found, retrieval = await self._retrieve(tenant_id, SubQueries(tuple(sub_queries), queries), request)
        hits = len(found)
        from_session = dict.fromkeys((*request.deferred_fact_ids, *request.transferred_fact_ids), SESSION_TIER)
        missing = [fact_id for fact_id in from_session if fact_id not in found]
        wanted = {**found, **{fact.fact_id: fact for fact in await self._facts.get(tenant_id, missing)}}
        hidden = request.facts_seen.difference(request.transferred_fact_ids)  # SPEC-003 §14.2, SPEC-004 §8.1, ADR 0022
        records = [fact for fact_id, fact in wanted.items() if fact_id not in hidden and fact.status in _RETRIEVABLE]
        candidates = [
            *self._candidates(records, from_session, request.model, now),
            *self._carried(request.carried, vectors[len(sub_queries) :], request.model, now),
        ]
        return Selection(queries, tuple(candidates), hits, SEARCH_TIER, retrieval.mode, retrieval_warnings(retrieval))

    async def _retrieve(
        self, tenant_id: str, queries: SubQueries, request: EnvelopeRequest
    ) -> tuple[dict[str, FactRecord], Retrieval]:
        """Search for each sub-query and look again into communities that are thinly represented."""
        k = self._settings.retrieval_k_pull if request.strategy is Strategy.PULL else self._settings.retrieval_k
        limit = k + len(request.facts_seen)  # what former windows showed must not crowd out what is new
        mode = request.retrieval_mode or SearchMode[self._settings.retrieval_mode.upper()]
        retrieval = await self._retriever.retrieve(tenant_id, queries, mode=mode, limit=limit, where=None)
        unseen = [[hit for hit in hits if hit.fact.fact_id not in request.facts_seen][:k] for hits in retrieval.hits]
        found = {hit.fact.fact_id: hit.fact for hits in unseen for hit in hits}
        if all(len(hits) < k for hits in unseen):
            return found, retrieval
        ranked = sorted((hit for hits in unseen for hit in hits), key=_best_first)
        labels = {hit.fact.fact_id: hit.fact.community_label for hit in ranked}
        thin = thin_communities(list(labels.values()), self._settings.expansion_communities)
        floor = ranked[-1].cosine - self._settings.expansion_slack_cosine
        for label in thin:
            near = await self._facts.search(
                tenant_id, queries.vectors, limit=COMMUNITY_SIZE, where=FactFilter(communities=(label,))
            )
            worst_first = sorted((hit for hits in near for hit in hits), key=_nearest_first, reverse=True)
            best = {hit.fact.fact_id: hit for hit in worst_first}
            for fact_id in expanded({fact_id: hit.score for fact_id, hit in best.items()}, floor):
                found.setdefault(fact_id, best[fact_id].fact)
        return found, retrieval

    def _candidates(
        self, records: Sequence[FactRecord], tiers: dict[str, int], model: str, now: datetime
    ) -> Iterable[Candidate]:
        counts = self._tokens.count([fact.content for fact in records], model)
        for fact, count in zip(records, counts, strict=True):
            yield Candidate(
                fact_id=fact.fact_id,
                content=fact.content,
                content_hash=fact.content_hash,
                source_id=fact.source_id,
                token_count=count + self._settings.fact_overhead_tokens,
                importance_weight=fact.importance_weight,
                ingested_at=fact.ingested_at,
                embedding=fact.embedding,
                status=effective_status(fact.status, fact.ingested_at, fact.ttl, now),
                community=fact.community_label,
                source_location=fact.source_location,
                entities=fact.entities,
                memory_tier=tiers.get(fact.fact_id, SEARCH_TIER),
            )

    def _carried(
        self, carried: Sequence[CarriedText], vectors: NDArray[np.float32], model: str, now: datetime
    ) -> Iterable[Candidate]:
        """Return former windows' text as facts: tier 1, new as of now (SPEC-003 §14.1)."""
        counts = self._tokens.count([text.content for text in carried], model)
        seen: set[str] = set()
        for text, vector, count in zip(carried, vectors, counts, strict=True):
            fact_id = carried_fact_id_for(text.source_window_id, text.content)
            if fact_id in seen:
                continue
            seen.add(fact_id)
            yield Candidate(
                fact_id=fact_id,
                content=text.content,
                content_hash=sha256_hex(text.content),
                source_id=text.source_window_id,
                token_count=count + self._settings.fact_overhead_tokens,
                importance_weight=text.importance_weight,
                ingested_at=now,
                embedding=vector,
                memory_tier=SESSION_TIER,
                carried_from_window_id=text.source_window_id,
                transfer_type=text.transfer_type,
            )


def retrieval_warnings(retrieval: Retrieval) -> tuple[str, ...]:
    """Return what the caller should know of how the facts were found."""
    fallback = ("the vectors returned nothing, so facts were found by their words",)
    return (*retrieval.warnings, *(fallback if retrieval.keyword_fallback else ()))


def _best_first(hit: RetrievedFact) -> tuple[float, str]:
    return -hit.cosine, hit.fact.fact_id


def _nearest_first(hit: FactHit) -> tuple[float, str]:
    return -hit.score, hit.fact.fact_id
