"""Communities computed and written: all of them anew, or new facts into those that there are (CRP-SPEC-009, ADR 0069).

Labels are written to the facts first and the clustering's epoch after them: a crash in between leaves the old epoch,
and the next clustering repairs the labels.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np

from services.common.concurrency import uninterrupted
from services.common.errors import ErrorReason, LimitExceededError
from services.common.ports.fact_changes import FactChanges, FactOutline
from services.common.ports.facts import FactFilter, FactRecord, FactStatus
from services.common.ports.graph import ClusteringRecord, CommunityRecord
from services.common.progress import stored
from services.envelope.community_search import CommunitySearch, FoundCommunities
from services.envelope.domain.clustering import ClusteredFact, label_of, large_enough, most_important, unique_labels
from services.envelope.domain.neighbours import NOBODY, NearestSoFar, Places, Vectors, votes
from services.envelope.knowledge_stores import KnowledgeStores
from services.envelope.requests import ClusteringOutcome, WriteTicket

_PAGE: Final = 1_000
_RETRIEVABLE: Final = frozenset({FactStatus.ACTIVE, FactStatus.STALE})


class CommunityWriter:
    """Computes and writes a tenant's communities; one such work at a time for each tenant.

    Args:
        stores: where facts and communities are.
        search: finds communities.
        max_facts: most facts of one tenant.
        embedding_model: fingerprint of the model in use.
    """

    def __init__(self, stores: KnowledgeStores, search: CommunitySearch, max_facts: int, embedding_model: str) -> None:
        self._stores = stores
        self._search = search
        self._max_facts = max_facts
        self._model = embedding_model

    async def rebuild(self, tenant_id: str, ticket: WriteTicket[ClusteringOutcome] | None = None) -> ClusteringOutcome:
        """Compute all communities anew.

        Raises:
            LimitExceededError: QUEUE_FULL, more facts than this process may cluster.
        """
        async with self._stores.locks.lock(tenant_id, "", "communities"):
            began = self._stores.clock.now()
            facts = [outline async for block in self._outlines(tenant_id) for outline in block]
            self._require_few(len(facts))
            facts = await asyncio.to_thread(sorted, facts, key=lambda fact: (fact.content_hash, fact.fact_id))
            keys = [fact.fact_id for fact in facts]
            found = await self._search.find(tenant_id, keys, self._blocks(tenant_id, keys))
            groups, tops = await asyncio.to_thread(_grouped, facts, found)
            names = []
            for number, top in enumerate(tops, start=1):
                texts = [fact.content for fact in await self._stores.facts.get(tenant_id, top)]
                names.append(label_of(texts, number))
            unique = unique_labels(names)
            labels = await asyncio.to_thread(_labels, keys, unique, groups)
            former = {fact.fact_id: fact.community_label for fact in facts}
            changed = {fact_id: label for fact_id, label in labels.items() if former[fact_id] != label}
            sizes = [(label, len(group)) for label, group in zip(unique, groups, strict=True)]
            record = await self._next_record(tenant_id, began, len(facts))
            return await uninterrupted(self._write(record, changed, sizes, ticket))

    async def adopt(self, tenant_id: str, fact_ids: Sequence[str]) -> int:
        """Put new facts into the communities that their nearest neighbours lean to; return how many have found one.

        Each is compared with every fact, and nothing else is. Facts near to none stay in none until all communities are
        computed anew.
        """
        stores = self._stores
        async with stores.locks.lock(tenant_id, "", "communities"):
            clustering = await stores.graph.clustering(tenant_id)
            fresh = [fact for fact in await stores.facts.get(tenant_id, list(fact_ids)) if _belongs_nowhere(fact)]
            if not clustering.epoch or not fresh:
                return 0
            labels = await self._labels_by_neighbours(tenant_id, fresh)
            sizes = Counter({one.label: one.fact_count for one in await self._communities(tenant_id)})
            labels = {fact_id: label for fact_id, label in labels.items() if label in sizes}
            sizes.update(labels.values())
            record = replace(
                clustering, epoch=clustering.epoch + 1
            )  # a share of all is still counted from the last time
            if labels:
                await uninterrupted(self._write(record, labels, list(sizes.items()), None))
            return len(labels)

    async def clear(self, tenant_id: str, labels: Collection[str]) -> None:
        """Leave nothing of these communities, on tombstones neither, since labels are made of words of the facts.

        The others stay as they are; all count as never computed, so that they are computed anew.
        """
        async with self._stores.locks.lock(tenant_id, "", "communities"):
            entries = self._stores.facts.state_entries(tenant_id, tuple(sorted(labels)))
            labelled = {entry.fact_id: "" async for entry in entries}
            kept = [(one.label, one.fact_count) for one in await self._communities(tenant_id)]
            record = await self._next_record(tenant_id, self._stores.clock.now(), 0)
            sizes = [(label, size) for label, size in kept if label not in labels]
            await uninterrupted(self._write(record, labelled, sizes, None))

    def _require_few(self, count: int) -> None:
        if count > self._max_facts:
            raise LimitExceededError(
                ErrorReason.QUEUE_FULL,
                f"{count} facts are more than the {self._max_facts} that may be clustered here",
                facts=str(count),
                limit=str(self._max_facts),
            )

    async def _next_record(self, tenant_id: str, at: datetime, facts: int) -> ClusteringRecord:
        epoch = (await self._stores.graph.clustering(tenant_id)).epoch + 1
        return ClusteringRecord(tenant_id, epoch, at, facts, self._model)

    async def _outlines(self, tenant_id: str) -> AsyncIterator[list[FactOutline]]:
        store, after = self._stores.facts, ""
        if isinstance(store, FactChanges):
            async for block in store.outlines(tenant_id):
                yield block
            return
        while page := await store.page(tenant_id, FactFilter(), after=after, limit=_PAGE):
            yield [FactOutline(f.fact_id, f.content_hash, f.importance_weight, f.community_label) for f in page]
            after = page[-1].fact_id

    async def _blocks(self, tenant_id: str, keys: Sequence[str]) -> AsyncIterator[tuple[Places, Vectors]]:
        places = {key: place for place, key in enumerate(keys)}
        async for ids, vectors in self._stores.facts.embeddings(tenant_id):
            found = np.array([places.get(fact_id, NOBODY) for fact_id in ids], dtype=np.int32)
            if len(known := np.flatnonzero(found != NOBODY)):
                yield found[known], vectors[known]

    async def _labels_by_neighbours(self, tenant_id: str, fresh: Sequence[FactRecord]) -> dict[str, str]:
        nearest, ids = NearestSoFar(np.stack([fact.embedding for fact in fresh])), list[str]()
        async for block_ids, vectors in self._stores.facts.embeddings(tenant_id):
            await asyncio.to_thread(nearest.look, vectors)
            ids.extend(block_ids)
        near = [
            [(ids[place], cosine) for place, cosine in row if ids[place] != fact.fact_id]
            for fact, row in zip(fresh, nearest.rows(), strict=True)
        ]
        wanted = sorted({fact_id for row in near for fact_id, _ in row})
        labels = {fact.fact_id: fact.community_label for fact in await self._stores.facts.get(tenant_id, wanted)}
        found = {
            fact.fact_id: votes([labels.get(one, "") for one, _ in row], [cosine for _, cosine in row])
            for fact, row in zip(fresh, near, strict=True)
        }
        return {fact_id: label for fact_id, label in found.items() if label}

    async def _communities(self, tenant_id: str) -> list[CommunityRecord]:
        found: list[CommunityRecord] = []
        after = ""
        while page := await self._stores.graph.page_communities(tenant_id, after=after, limit=_PAGE):
            found.extend(page)
            after = page[-1].label
        return found

    async def _write(
        self,
        record: ClusteringRecord,
        labels: Mapping[str, str],
        communities: Sequence[tuple[str, int]],
        ticket: WriteTicket[ClusteringOutcome] | None,
    ) -> ClusteringOutcome:
        stores, tenant_id = self._stores, record.tenant_id
        clustered = sum(size for _, size in communities)
        total = record.facts_at_clustering
        outcome = ClusteringOutcome(record.epoch, len(communities), total, total - clustered)
        stores.states.written(tenant_id)
        try:
            await stores.facts.set_communities(tenant_id, labels)
            await stores.graph.replace_communities(
                record,
                [CommunityRecord(tenant_id, label, size, record.epoch) for label, size in communities],
                ticket.receipt(tenant_id, outcome, stores.clock.now()) if ticket else None,
            )
        finally:
            stores.states.written(tenant_id)
        if ticket is not None:  # computed anew because a caller asked for it
            stored()
        return outcome


def _belongs_nowhere(fact: FactRecord) -> bool:
    return not fact.community_label and fact.status in _RETRIEVABLE


def _grouped(facts: Sequence[FactOutline], found: FoundCommunities) -> tuple[list[list[int]], list[tuple[str, ...]]]:
    """Return the communities' places, the largest first, and the ids of the facts that each is named after."""
    numbers = enumerate(found.memberships.tolist())
    groups = large_enough({place: number for place, number in numbers if number != NOBODY})
    strengths = found.strengths.tolist()
    tops = [
        most_important(
            [
                ClusteredFact(one.fact_id, one.content_hash, one.importance_weight, strengths[place])
                for place, one in ((place, facts[place]) for place in group)
            ]
        )
        for group in groups
    ]
    return groups, tops


def _labels(keys: Sequence[str], labels: Sequence[str], groups: Sequence[Sequence[int]]) -> dict[str, str]:
    """Return every fact's label, empty for none."""
    found = dict.fromkeys(keys, "")
    for label, group in zip(labels, groups, strict=True):
        found.update((keys[place], label) for place in group)
    return found
