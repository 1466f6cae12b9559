"""Reading, searching, withholding and erasing knowledge."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.common.concurrency import uninterrupted
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.facts import FactFilter, FactHit, FactRecord, FactStatus
from services.common.ports.graph import ClusteringRecord, CommunityRecord, SourceRecord, SourceStatus
from services.common.ports.receipts import Receipt
from services.common.progress import stored, writing
from services.common.taxonomy import RetrievalMode
from services.envelope.community_app import CommunityApp
from services.envelope.domain.asked_time import asked_time, time_filter
from services.envelope.knowledge_reads import KnowledgeReads
from services.envelope.knowledge_stores import KnowledgeStores
from services.envelope.readable_facts import ReadableFacts
from services.envelope.recovery import erased_record
from services.envelope.requests import EraseOutcome, WriteTicket
from services.envelope.retrieval import SubQueries
from services.envelope.stored_knowledge import StoredKnowledge, no_source


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What a search found: the hits with what their mode orders by, and how it came about (``Retrieval``)."""

    hits: tuple[FactHit, ...]
    mode: RetrievalMode
    keyword_fallback: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnowledgeState:
    """A tenant's state hash and counts."""

    state_hash: str
    active: int
    stale: int
    quarantined: int
    clustering: ClusteringRecord
    embedding_model: str


class KnowledgeApp(StoredKnowledge):
    """Everything of KnowledgeService but ingestion and clustering.

    Args:
        stores: where the knowledge is.
        reads: what callers may read, and how it is searched.
        embedding: embeds search queries.
        communities: told about erasures.
    """

    def __init__(
        self, stores: KnowledgeStores, reads: KnowledgeReads, embedding: EmbeddingModel, communities: CommunityApp
    ) -> None:
        async def facts() -> ReadableFacts:
            return reads.facts

        super().__init__(facts, reads.sources, stores.graph, reads.outlines, stores.clock)
        self._stores = stores
        self._reads = reads
        self._embedding = embedding
        self._communities = communities

    async def receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return what was answered to this request id, while it is kept."""
        return await self._stores.graph.get_receipt(tenant_id, rpc, request_id)

    async def search(
        self,
        tenant_id: str,
        query: str,
        requested: RetrievalMode | None,
        where: FactFilter,
        limit: int,
        *,
        include_superseded: bool = False,
    ) -> SearchOutcome:
        """Return up to ``limit`` hits, best first; no mode means the deployment's, and TEXT needs no model.

        What does not hold now is not found, unless it is asked for, here or by the query itself (ADR 0109).
        """
        now = self._stores.clock.now()
        where = replace(where, time=time_filter(asked_time(query, now.date()), now, everything=include_superseded))
        mode = self._reads.retriever.mode(requested)
        if mode is RetrievalMode.TEXT:
            hits = await self._reads.retriever.words(tenant_id, query, limit=limit, where=where)
            return SearchOutcome(self._shown_hits([(hit.fact, hit.score) for hit in hits]), mode)
        queries = SubQueries((query,), await self._embedding.embed([query]))
        found = await self._reads.retriever.retrieve(tenant_id, queries, mode=mode, limit=limit, where=where)
        shown = self._shown_hits([(hit.fact, hit.score) for hit in found.hits[0]])
        return SearchOutcome(shown, found.mode, found.keyword_fallback, found.warnings)

    async def communities(self, tenant_id: str, after: str, limit: int) -> list[CommunityRecord]:
        """Return up to ``limit`` communities after ``after``, by label."""
        return await self._stores.graph.page_communities(tenant_id, after=after, limit=limit)

    async def state(self, tenant_id: str, communities: tuple[str, ...]) -> KnowledgeState:
        """Return the state hash of the communities, or of everything, and the tenant's counts."""
        stores = self._stores
        facts = stores.facts
        state_hash, clustering, active, stale, quarantined = await asyncio.gather(
            self._reads.states.of(tenant_id, communities),
            stores.graph.clustering(tenant_id),
            facts.count(tenant_id, FactFilter(statuses=(FactStatus.ACTIVE,))),
            facts.count(tenant_id, FactFilter(statuses=(FactStatus.STALE,))),
            facts.count(tenant_id, FactFilter(statuses=(FactStatus.QUARANTINED,))),
        )
        return KnowledgeState(state_hash, active, stale, quarantined, clustering, self._embedding.fingerprint)

    async def erase(self, tenant_id: str, source_id: str, ticket: WriteTicket[EraseOutcome]) -> EraseOutcome:
        """Destroy a source's content; nothing of it is returned any more once this returns (SPEC-003 §17.2).

        Raises:
            NotFoundError: SOURCE_NOT_FOUND.
            PermissionDeniedError: NAMESPACE_READ_ONLY.
        """
        await self._reads.refuse_shared_source(tenant_id, source_id, self._stores.graph)
        source = await self._own_source(tenant_id, source_id)
        async with self._stores.locks.lock(tenant_id, source.uri):
            return await uninterrupted(self._erase_locked(tenant_id, source_id, ticket))

    async def _erase_locked(self, tenant_id: str, source_id: str, ticket: WriteTicket[EraseOutcome]) -> EraseOutcome:
        stores = self._stores
        source = await self._own_source(tenant_id, source_id)
        if source.status is SourceStatus.INGESTING:
            await stores.recovery.settle(source)
            source = await self._own_source(tenant_id, source_id)
        erased = 0
        if source.status is not SourceStatus.ERASED:
            stores.states.written(tenant_id)
            await stores.graph.put_source(replace(source, status=SourceStatus.ERASING))
            self._reads.forget(tenant_id, source_id)
            erased = await stores.recovery.finish_erasure(source)
            self._reads.forget(tenant_id, source_id)  # what was read meanwhile
            await self._communities.facts_erased(tenant_id, source_id)
            stores.states.written(tenant_id)
        outcome = EraseOutcome(erased_record(source), erased)
        await stores.graph.put_source(outcome.source, ticket.receipt(tenant_id, outcome, stores.clock.now()))
        stored()
        return outcome

    async def quarantine(self, tenant_id: str, fact_id: str, ticket: WriteTicket[FactRecord]) -> FactRecord:
        """Withhold a fact from every retrieval.

        Raises:
            NotFoundError: FACT_NOT_FOUND.
            PermissionDeniedError: NAMESPACE_READ_ONLY.
        """
        return await self._set_status(tenant_id, fact_id, FactStatus.QUARANTINED, ticket)

    async def restore(self, tenant_id: str, fact_id: str, ticket: WriteTicket[FactRecord]) -> FactRecord:
        """Make a quarantined fact again what it is by now, ACTIVE or superseded; any other is left as it is.

        Raises:
            NotFoundError: FACT_NOT_FOUND.
            PermissionDeniedError: NAMESPACE_READ_ONLY.
        """
        return await self._set_status(tenant_id, fact_id, FactStatus.ACTIVE, ticket)

    async def _set_status(
        self, tenant_id: str, fact_id: str, status: FactStatus, ticket: WriteTicket[FactRecord]
    ) -> FactRecord:
        stores = self._stores
        await self._reads.refuse_shared_facts(tenant_id, [fact_id])
        source = await self._own_source(tenant_id, (await self.fact(tenant_id, fact_id)).source_id)
        async with stores.locks.lock(tenant_id, source.uri):
            fact = await self.fact(tenant_id, fact_id)
            applies = status is FactStatus.QUARANTINED or fact.status is FactStatus.QUARANTINED
            now = stores.clock.now()
            stores.states.written(tenant_id)
            if status is FactStatus.ACTIVE and fact.superseded_at is not None and fact.superseded_at <= now:
                status = FactStatus.STALE
            if applies:
                with writing():
                    await stores.facts.set_status(tenant_id, [fact_id], status, at=now)
            changed = await self.fact(tenant_id, fact_id)
            # The receipt travels with the source's unchanged record: a repeated call is answered as the first time.
            source = await self._own_source(tenant_id, fact.source_id)
            with writing():
                await stores.graph.put_source(source, ticket.receipt(tenant_id, changed, now))
            stored()
            stores.states.written(tenant_id)
        return changed

    async def _own_source(self, tenant_id: str, source_id: str) -> SourceRecord:
        source = await self._stores.graph.get_source(tenant_id, source_id)
        if source is None:
            raise no_source(source_id)
        return source

    def _shown_hits(self, found: Sequence[tuple[FactRecord, float]]) -> tuple[FactHit, ...]:
        shown = self.shown([fact for fact, _ in found])
        return tuple(FactHit(fact, score) for fact, (_, score) in zip(shown, found, strict=True))
