"""Communities: computed on demand and after enough new facts (CRP-SPEC-009), off the event loop.

A clustering after an ingestion is part of that call, so that what an envelope holds depends on what was ingested and
never on timing. Labels are written to the facts first and the clustering's epoch after them: a crash in between leaves
the old epoch, and the next clustering repairs the labels.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.common.errors import ErrorReason, LimitExceededError
from services.common.ports.facts import FactFilter, FactStore
from services.common.ports.graph import ClusteringRecord, CommunityRecord
from services.common.settings.envelope import EnvelopeSettings
from services.envelope.domain.clustering import (
    ClusteredFact,
    Edge,
    knn_edges,
    label_of,
    large_enough,
    most_important,
    strengths,
    unique_labels,
)
from services.envelope.knowledge_stores import KnowledgeStores
from services.envelope.ports import CommunityDetector
from services.envelope.requests import ClusteringOutcome, WriteTicket
from services.envelope.uninterrupted import uninterrupted

_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The facts to cluster, in an order that depends on their content alone, and their vectors' rows in that order."""

    facts: list[ClusteredFact]
    vectors: NDArray[np.float32]


class CommunityApp:
    """RebuildCommunities, and the clustering that ingestion and erasure cause.

    Args:
        stores: where facts and communities are.
        detector: finds the communities.
        settings: when to cluster on our own, and how much.
        embedding_model: fingerprint of the model in use.
    """

    def __init__(
        self, stores: KnowledgeStores, detector: CommunityDetector, settings: EnvelopeSettings, embedding_model: str
    ) -> None:
        self._stores = stores
        self._detector = detector
        self._settings = settings
        self._model = embedding_model
        self._new_facts: Counter[str] = Counter()

    async def facts_added(self, tenant_id: str, count: int) -> None:
        """Cluster when enough facts are new: 50, and a share of those clustered already (so bulk loads stay cheap)."""
        self._new_facts[tenant_id] += count
        if count == 0 or not self._settings.recluster_after_facts:
            return
        clustering = await self._stores.graph.clustering(tenant_id)
        total = await self._stores.facts.count(tenant_id)
        new = max(self._new_facts[tenant_id], total - clustering.facts_at_clustering)
        share = clustering.facts_at_clustering * self._settings.recluster_growth_ratio
        if new >= max(self._settings.recluster_after_facts, share) and total <= self._settings.max_clustered_facts:
            await self.rebuild(tenant_id)

    async def facts_erased(self, tenant_id: str) -> None:
        """Cluster anew after an erasure: labels are made of words of the facts, and must not outlive them."""
        if not (await self._stores.graph.clustering(tenant_id)).epoch:
            return
        if await self._stores.facts.count(tenant_id) <= self._settings.max_clustered_facts:
            await self.rebuild(tenant_id)
        else:
            facts = await _all_facts(self._stores.facts, tenant_id)
            await self._write(tenant_id, {fact.fact_id: "" for fact in facts}, [], None)

    async def rebuild(self, tenant_id: str, ticket: WriteTicket[ClusteringOutcome] | None = None) -> ClusteringOutcome:
        """Compute the tenant's communities anew.

        Raises:
            LimitExceededError: QUEUE_FULL, more facts than this process may cluster.
        """
        async with self._stores.locks.of(tenant_id, "", "communities"):
            nodes = await self._nodes(tenant_id)
            edges, memberships = await asyncio.to_thread(self._detect, nodes.vectors)
            labels, communities = await self._labelled(tenant_id, nodes, edges, memberships)
            return await uninterrupted(self._write(tenant_id, labels, communities, ticket))

    def _detect(self, vectors: NDArray[np.float32]) -> tuple[list[Edge], dict[int, int]]:
        edges = knn_edges(vectors)
        return edges, dict(self._detector.communities(edges))

    async def _nodes(self, tenant_id: str) -> _Nodes:
        facts = await _all_facts(self._stores.facts, tenant_id)
        if len(facts) > self._settings.max_clustered_facts:
            raise LimitExceededError(
                ErrorReason.QUEUE_FULL,
                f"{len(facts)} facts are more than the {self._settings.max_clustered_facts} that may be clustered here",
                facts=str(len(facts)),
                limit=str(self._settings.max_clustered_facts),
            )
        blocks = [block async for block in self._stores.facts.embeddings(tenant_id)]
        rows = {fact_id: vector for ids, vectors in blocks for fact_id, vector in zip(ids, vectors, strict=True)}
        ordered = sorted(
            (fact for fact in facts if fact.fact_id in rows), key=lambda fact: (fact.content_hash, fact.fact_id)
        )
        vectors = np.stack([rows[fact.fact_id] for fact in ordered]) if ordered else np.zeros((0, 1), dtype=np.float32)
        return _Nodes(ordered, vectors)

    async def _labelled(
        self, tenant_id: str, nodes: _Nodes, edges: list[Edge], memberships: dict[int, int]
    ) -> tuple[dict[str, str], list[tuple[str, int]]]:
        """Return every fact's label (empty for none), and the communities' labels with their sizes."""
        strength = strengths(edges, len(nodes.facts))
        groups = large_enough(memberships)
        names: list[str] = []
        for number, group in enumerate(groups, start=1):
            facts = [
                ClusteredFact(fact.fact_id, fact.content_hash, fact.importance_weight, strength[node])
                for node, fact in ((node, nodes.facts[node]) for node in group)
            ]
            top = await self._stores.facts.get(tenant_id, most_important(facts))
            names.append(label_of([fact.content for fact in top], number))
        labels = {fact.fact_id: "" for fact in nodes.facts}
        unique = unique_labels(names)
        for label, group in zip(unique, groups, strict=True):
            labels.update({nodes.facts[node].fact_id: label for node in group})
        return labels, [(label, len(group)) for label, group in zip(unique, groups, strict=True)]

    async def _write(
        self,
        tenant_id: str,
        labels: dict[str, str],
        communities: list[tuple[str, int]],
        ticket: WriteTicket[ClusteringOutcome] | None,
    ) -> ClusteringOutcome:
        stores, now = self._stores, self._stores.clock.now()
        epoch = (await stores.graph.clustering(tenant_id)).epoch + 1
        clustered = sum(size for _, size in communities)
        outcome = ClusteringOutcome(epoch, len(communities), len(labels), len(labels) - clustered)
        stores.states.written(tenant_id)
        try:
            await stores.facts.set_communities(tenant_id, labels)
            await stores.graph.replace_communities(
                ClusteringRecord(tenant_id, epoch, now, len(labels), self._model),
                [CommunityRecord(tenant_id, label, size, epoch) for label, size in communities],
                ticket.receipt(tenant_id, outcome, now) if ticket else None,
            )
        finally:
            stores.states.written(tenant_id)
        self._new_facts[tenant_id] = 0
        return outcome


async def _all_facts(store: FactStore, tenant_id: str) -> list[ClusteredFact]:
    """Return what clustering needs of every retrievable fact."""
    facts: list[ClusteredFact] = []
    after = ""
    while True:
        page = await store.page(tenant_id, FactFilter(), after=after, limit=_PAGE)
        facts.extend(ClusteredFact(fact.fact_id, fact.content_hash, fact.importance_weight, 0.0) for fact in page)
        if len(page) < _PAGE:
            return facts
        after = page[-1].fact_id
