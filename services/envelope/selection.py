"""Phase 1: candidates from the knowledge fabric and from the session (SPEC-003 §5)."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.encoding import sha256_hex
from services.common.envelope_request import CarriedText, EnvelopeRequest, ToolText
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.facts import FactFilter, FactRecord, TimeFilter
from services.common.ports.graph import SourceRecord
from services.common.ports.tokens import TokenCounter
from services.common.settings.envelope import EnvelopeSettings
from services.common.taxonomy import DispatchStrategy, RetrievalMode
from services.envelope.counted_facts import CountedFacts, count_beside
from services.envelope.domain.caching import build_key, read_directives
from services.envelope.domain.candidates import Candidate, expires_at
from services.envelope.domain.expansion import COMMUNITY_SIZE, expanded, nearest_by_community, thin_communities
from services.envelope.domain.holding import holding
from services.envelope.domain.identity import carried_fact_id_for, tool_fact_id_for, tool_source_id_for
from services.envelope.domain.namespaces import qualified, shown_namespace
from services.envelope.domain.search_mode import FUSED_MODES
from services.envelope.granted_states import Moment
from services.envelope.knowledge_reads import KnowledgeReads
from services.envelope.neighbour_facts import NeighbourFacts
from services.envelope.readable_facts import RETRIEVABLE
from services.envelope.retrieval import Retrieval, RetrievedFact, SubQueries, nearest_first, nearest_of
from services.envelope.warm_facts import Found

MARK_TOKENS: Final = 24
"""What the prompt says beside the number of a fact that does not hold now: why, and since when (ADR 0109)."""
_MOST_TENANTS: Final = 10_000
ACTIVE_TIER: Final = 0
SESSION_TIER: Final = 1
WARM_TIER: Final = 2
SEARCH_TIER: Final = 3


@dataclass(frozen=True, slots=True)
class Selection:
    """The candidate set.

    Attributes:
        queries: vectors of the sub-queries, one a row.
        ckf_hits: facts that retrieval gave, before those seen in former windows were left out.
        memory_tier_hit: highest tier accessed (SPEC-003 §5.2 step 1.4): 3 when the graph was searched, 2 when what was
            warm spared that, 1 or 0 when the request asked no further.
        mode: how the facts were really found.
        warnings: what retrieval had to do without.
        shared_namespaces: those that were searched beside the tenant's own knowledge.
        next_turn: when what the tenant may find changes although nothing is written: some fact's validity begins or
            ends; ``None`` = never.
    """

    queries: NDArray[np.float32]
    candidates: tuple[Candidate, ...]
    ckf_hits: int
    memory_tier_hit: int
    mode: RetrievalMode = RetrievalMode.DENSE
    warnings: tuple[str, ...] = ()
    shared_namespaces: tuple[str, ...] = ()
    next_turn: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A retrieval: the request, which facts it sees by time, and until when that stays the same."""

    request: EnvelopeRequest
    time: TimeFilter
    until: datetime | None


@dataclass(frozen=True, slots=True)
class _Turn:
    """The first turn behind a moment, as of a version of the knowledge; ``None`` = there is none."""

    version: Moment
    after: datetime
    turn: datetime | None

    def holds(self, version: Moment, at: datetime) -> bool:
        """Say whether it is also the first behind another moment."""
        return version == self.version and self.after <= at and (self.turn is None or at < self.turn)


class Selector:
    """Goes through the memory tiers, retrieves, expands communities and adds what the session carries.

    Args:
        knowledge: what is read.
        embedding: embeds queries and carried text.
        tokens: counts the candidates' tokens.
        settings: K, expansion and numbering.
        neighbours: finds what stands next to facts; ``None`` where no order of facts is kept.
    """

    def __init__(
        self,
        knowledge: KnowledgeReads,
        embedding: EmbeddingModel,
        tokens: TokenCounter,
        settings: EnvelopeSettings,
        neighbours: NeighbourFacts | None = None,
    ) -> None:
        self._neighbours = neighbours
        self._knowledge = knowledge
        self._embedding = embedding
        self._tokens = tokens
        self._counted = CountedFacts(tokens)
        self._settings = settings
        self._turns: dict[str, _Turn] = {}

    @property
    def embedding_model(self) -> str:
        """Fingerprint of the model that scores relevance."""
        return self._embedding.fingerprint

    @property
    def embedding(self) -> EmbeddingModel:
        """The model that scores relevance."""
        return self._embedding

    async def select(
        self, tenant_id: str, request: EnvelopeRequest, sub_queries: Sequence[str], time: TimeFilter
    ) -> Selection:
        """Return a build's candidates, distinct by id, without what former windows held and did not hand on.

        Args:
            tenant_id: who asks.
            request: the build.
            sub_queries: what is searched for.
            time: the moment, and which facts are found by when they hold.
        """
        carried = request.carried if request.max_memory_tier >= SESSION_TIER else ()
        given_texts = [*(text.content for text in carried), *(text.content for text in request.told)]
        vectors, until = await asyncio.gather(
            self._embedding.embed([*sub_queries, *given_texts]),
            self._next_turn(tenant_id, time.at),
        )
        queries = SubQueries(tuple(sub_queries), vectors[: len(sub_queries)])
        found, tier = await self._cascade(tenant_id, queries, _Asked(request, time, until))
        given = _given_tiers(request)
        missing = [fact_id for fact_id in given if fact_id not in found.facts]
        known = await self._knowledge.facts.get(tenant_id, missing)
        wanted = {**found.facts, **{fact.fact_id: fact for fact in known}}
        # SPEC-003 §14.2, SPEC-004 §8.1, ADR 0022; what the window holds already is no repetition of a former one
        hidden = request.seen.difference(request.transferred_fact_ids, request.active_fact_ids)
        named = frozenset(request.active_fact_ids)
        records = [
            fact
            for fact_id, fact in wanted.items()
            if fact_id not in hidden
            and fact.status in RETRIEVABLE
            # What a former window handed on may have been replaced since; what the caller names is given (ADR 0109).
            and (time.sees(fact) or fact_id in named)
        ]
        counts = await self._counted.count(records, request.model)
        tiers = [given.get(fact.fact_id, tier) for fact in records]
        behind = len(sub_queries) + len(carried)
        candidates = [
            *self._candidates(records, counts, tiers, time.at),
            *self._carried(carried, await self._counts(carried, request), vectors[len(sub_queries) : behind], time.at),
            *self._told(request, await self._counts(request.told, request), vectors[behind:], time.at),
        ]
        return Selection(
            queries.vectors,
            tuple(candidates),
            len(found.facts),
            tier,
            found.mode,
            found.warnings,
            self._knowledge.facts.shared_with(tenant_id),
            until,
        )

    async def _next_turn(self, tenant_id: str, at: datetime) -> datetime | None:
        """Return when the next validity of a fact that the tenant reads begins or ends; asked anew after each write."""
        knowledge = self._knowledge
        if not knowledge.states.sees_every_write:
            return await knowledge.facts.next_turn(tenant_id, at)
        version = await knowledge.states.version(tenant_id)
        known = self._turns.get(tenant_id)
        if known is not None and known.holds(version, at):
            return known.turn
        turn = await knowledge.facts.next_turn(tenant_id, at)
        if len(self._turns) >= _MOST_TENANTS:
            self._turns.clear()
        self._turns[tenant_id] = _Turn(version, at, turn)
        return turn

    async def sources(self, tenant_id: str, facts: Iterable[Candidate]) -> Mapping[str, SourceRecord]:
        """Return the documents that facts were taken from, by id."""
        return await self._knowledge.sources.of_facts(tenant_id, facts)

    async def _cascade(self, tenant_id: str, queries: SubQueries, asked: _Asked) -> tuple[Found, int]:
        """Return what retrieval gives and the highest tier that was asked for it (SPEC-003 §5.2 step 1.4).

        Tiers 0 and 1 are part of the request. Tier 2 answers only what tier 3 would answer just so (ADR 0077), and
        not at all when the caller wants nothing from a cache or leaves nothing behind.
        """
        request = asked.request
        mode = self._knowledge.retriever.mode(request.retrieval_mode)
        if request.max_memory_tier < SEARCH_TIER:
            return Found({}, mode), request.max_memory_tier
        knowledge, directives = self._knowledge, read_directives(request.cache_directives)
        uses_warm = self._settings.warm_facts > 0 and knowledge.states.sees_every_write
        uses_warm = uses_warm and not directives.no_cache and not directives.no_store
        if not uses_warm:
            return await self._retrieve(tenant_id, queries, asked, mode), SEARCH_TIER
        before = await knowledge.states.version(tenant_id)
        key = self._retrieval_key(queries, asked, mode)
        warm = knowledge.warm.get(tenant_id, key, before)
        if warm is not None:
            return warm, WARM_TIER
        found = await self._retrieve(tenant_id, queries, asked, mode)
        if found.mode is mode and before == await knowledge.states.version(tenant_id):
            knowledge.warm.put(tenant_id, key, before, found)
        return found, SEARCH_TIER

    def _retrieval_key(self, queries: SubQueries, asked: _Asked, mode: RetrievalMode) -> str:
        """Return everything that a retrieval depends on beside the knowledge and the settings.

        Of the time it is what it lets through, and until when: between two turns every moment sees the same facts.
        """
        digest = sha256_hex(np.ascontiguousarray(queries.vectors).tobytes())
        time = [str(asked.time.ended), str(asked.time.coming), str(asked.until)]
        k = str(self._k(asked.request))
        return build_key([queries.texts, [digest, mode.name, k], sorted(asked.request.seen), time])

    def _k(self, request: EnvelopeRequest) -> int:
        return (
            self._settings.retrieval_k_pull if request.strategy is DispatchStrategy.PULL else self._settings.retrieval_k
        )

    async def _retrieve(self, tenant_id: str, queries: SubQueries, asked: _Asked, mode: RetrievalMode) -> Found:
        """Search for all sub-queries at once and look again into communities that are thinly represented."""
        k, seen, where = self._k(asked.request), asked.request.seen, FactFilter(time=asked.time)
        limit = k + len(seen)  # what former windows showed must not crowd out what is new
        retrieval = await self._knowledge.retriever.candidates(tenant_id, queries, mode=mode, limit=limit, where=where)
        unseen = [[hit for hit in hits if hit.fact.fact_id not in seen] for hits in retrieval.hits]
        nearest = [nearest_of(hits, k, mode) for hits in unseen]
        added = [hits[: self._settings.hybrid_candidates] if mode in FUSED_MODES else [] for hits in unseen]
        found = {hit.fact.fact_id: hit.fact for hits in (*nearest, *added) for hit in hits}
        if any(len(hits) >= k for hits in unseen):
            ranked = sorted((hit for hits in nearest for hit in hits), key=nearest_first)
            found |= await self._expansion(tenant_id, queries.vectors, ranked, found, where)
        found |= await self._adjacent(tenant_id, unseen, found, asked.time)
        return Found(found, retrieval.mode, retrieval_warnings(retrieval))

    async def _adjacent(
        self,
        tenant_id: str,
        unseen: Sequence[Sequence[RetrievedFact]],
        found: Mapping[str, FactRecord],
        time: TimeFilter,
    ) -> dict[str, FactRecord]:
        """Return what stands next to the best facts of each sub-query in their sections (ADR 0110)."""
        best = {hit.fact.fact_id: hit.fact for hits in unseen for hit in hits[: self._settings.neighbours_of]}
        if self._neighbours is None or not best:
            return {}
        ids = await self._neighbours.around(list(best.values()), found.keys())
        return {fact.fact_id: fact for fact in await self._knowledge.facts.get(tenant_id, ids) if time.sees(fact)}

    async def _expansion(
        self,
        tenant_id: str,
        vectors: NDArray[np.float32],
        ranked: Sequence[RetrievedFact],
        found: Mapping[str, FactRecord],
        where: FactFilter,
    ) -> dict[str, FactRecord]:
        """Return further facts of the communities that are partially represented (SPEC-003 §5.2 step 1.3)."""
        communities = {hit.fact.fact_id: _community(hit.fact) for hit in ranked}
        thin = thin_communities(list(communities.values()), self._settings.expansion_communities)
        if not thin:
            return {}
        near = await self._knowledge.facts.near_communities(tenant_id, vectors, thin, each=COMMUNITY_SIZE, where=where)
        floor = ranked[-1].cosine - self._settings.expansion_slack_cosine
        nearest = nearest_by_community(
            ((hit.fact.fact_id, _community(hit.fact), hit.score) for hit in hits) for hits in near
        )
        records = {hit.fact.fact_id: hit.fact for hits in near for hit in hits}
        added = (fact_id for name in thin for fact_id in expanded(nearest.get(name, {}), floor))
        return {fact_id: records[fact_id] for fact_id in added if fact_id not in found}

    def _candidates(
        self, records: Sequence[FactRecord], counts: Sequence[int], tiers: Sequence[int], now: datetime
    ) -> Iterable[Candidate]:
        for fact, count, tier in zip(records, counts, tiers, strict=True):
            at = holding(fact, now)
            yield Candidate(
                fact_id=fact.fact_id,
                content=fact.content,
                content_hash=fact.content_hash,
                source_id=fact.source_id,
                token_count=count + self._settings.fact_overhead_tokens + (MARK_TOKENS if at.is_out_of_time else 0),
                importance_weight=fact.importance_weight,
                ingested_at=fact.ingested_at,
                embedding=fact.embedding,
                status=at.status,
                stale_reason=at.reason,
                ended_at=at.ended_at,
                valid_from=fact.valid_from,
                valid_to=fact.valid_to,
                expires_at=expires_at(fact.status, fact.ingested_at, fact.ttl, now),
                community=_community(fact),
                source_location=fact.source_location,
                entities=fact.entities,
                memory_tier=tier,
                namespace=shown_namespace(fact.tenant_id),
            )

    async def _counts(self, texts: Sequence[CarriedText | ToolText], request: EnvelopeRequest) -> list[int]:
        return await count_beside(self._tokens, [text.content for text in texts], request.model)

    def _told(
        self, request: EnvelopeRequest, counts: Sequence[int], vectors: NDArray[np.float32], now: datetime
    ) -> Iterable[Candidate]:
        """Return what tools answered as facts of this build: tier 0, new as of now (CRP-SPEC-008, agentic)."""
        distinct = {tool_fact_id_for(text.tool, text.content): place for place, text in enumerate(request.told)}
        for fact_id, place in distinct.items():
            text = request.told[place]
            yield Candidate(
                fact_id=fact_id,
                content=text.content,
                content_hash=sha256_hex(text.content),
                source_id=tool_source_id_for(text.tool),
                token_count=counts[place] + self._settings.fact_overhead_tokens,
                importance_weight=text.importance_weight,
                ingested_at=now,
                embedding=vectors[place],
                memory_tier=ACTIVE_TIER,
                tool=text.tool,
            )

    def _carried(
        self, carried: Sequence[CarriedText], counts: Sequence[int], vectors: NDArray[np.float32], now: datetime
    ) -> Iterable[Candidate]:
        """Return former windows' text as facts: tier 1, new as of now (SPEC-003 §14.1)."""
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


def _community(fact: FactRecord) -> str:
    return qualified(fact.tenant_id, fact.community_label)


def _given_tiers(request: EnvelopeRequest) -> dict[str, int]:
    """Return the facts that the request names, with the tier that they are in: the active window's, the session's."""
    session = (*request.deferred_fact_ids, *request.transferred_fact_ids)
    given = dict.fromkeys(session if request.max_memory_tier >= SESSION_TIER else (), SESSION_TIER)
    return given | dict.fromkeys(request.active_fact_ids, ACTIVE_TIER)
