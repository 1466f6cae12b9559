"""``FactStore`` in dictionaries: exact, naive, for tests and as the reference of the contract suite."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np

from services.common.adapters.memory import bm25
from services.common.keywords import Stemming
from services.common.locations import searched_text
from services.common.ports.facts import (
    ERASED_HASH,
    FactFilter,
    FactHit,
    FactRecord,
    FactStatus,
    StateEntry,
    Vectors,
    check_embedding,
    check_queries,
)

_RETRIEVABLE: Final = frozenset({FactStatus.ACTIVE, FactStatus.STALE})
_BLOCK: Final = 1_024


class MemoryFactStore:
    """Facts of all tenants in one process's memory.

    Args:
        dimension: length of every vector.
        stemming: of the words of keyword search.
    """

    def __init__(self, dimension: int, *, stemming: Stemming = Stemming.ENGLISH) -> None:
        self._dimension = dimension
        self._stemming = stemming
        self._facts: dict[str, dict[str, FactRecord]] = {}

    async def upsert(self, facts: Sequence[FactRecord]) -> None:
        """Insert or replace by ``fact_id``."""
        kept = [self._own(fact) for fact in facts]
        for fact in kept:
            self._facts.setdefault(fact.tenant_id, {})[fact.fact_id] = fact

    async def tenants(self) -> list[str]:
        """Return the ids of all tenants, ordered."""
        return sorted(tenant_id for tenant_id, facts in self._facts.items() if facts)

    async def get(self, tenant_id: str, fact_ids: Sequence[str]) -> list[FactRecord]:
        """Return the known facts in the given order."""
        known = self._facts.get(tenant_id, {})
        return [known[key] for key in fact_ids if key in known and known[key].status is not FactStatus.DELETED]

    async def page(self, tenant_id: str, where: FactFilter, *, after: str, limit: int) -> list[FactRecord]:
        """Return the next facts by id."""
        return [fact for fact in self._select(tenant_id, where) if fact.fact_id > after][:limit]

    async def search(
        self, tenant_id: str, queries: Vectors, *, limit: int, where: FactFilter | None = None
    ) -> list[list[FactHit]]:
        """Compare every vector."""
        check_queries(queries, self._dimension)
        facts = [fact for fact in self._select(tenant_id, where or FactFilter()) if fact.status in _RETRIEVABLE]
        results = []
        for query in np.asarray(queries, dtype=np.float64):
            unit = query / (float(np.sqrt(np.sum(query * query))) or 1.0)
            hits = [FactHit(fact, float(np.sum(fact.embedding.astype(np.float64) * unit))) for fact in facts]
            results.append(_best(hits, limit))
        return results

    async def search_text(
        self, tenant_id: str, query: str, *, limit: int, where: FactFilter | None = None
    ) -> list[FactHit]:
        """Rank by BM25."""
        known = self._facts.get(tenant_id, {})
        texts = {
            key: searched_text(fact.content, fact.source_location)
            for key, fact in known.items()
            if fact.status is not FactStatus.DELETED
        }
        scores = bm25.rank(texts, query, self._stemming)
        facts = [fact for fact in self._select(tenant_id, where or FactFilter()) if fact.status in _RETRIEVABLE]
        return _best([FactHit(fact, scores[fact.fact_id]) for fact in facts if fact.fact_id in scores], limit)

    async def set_status(self, tenant_id: str, fact_ids: Sequence[str], status: FactStatus, *, at: datetime) -> int:
        """Set the status of facts that are not DELETED and have another one."""
        known = self._facts.get(tenant_id, {})
        changing = {
            key
            for key in fact_ids
            if key in known and known[key].status is not FactStatus.DELETED and known[key].status is not status
        }
        for key in changing:
            known[key] = self._own(replace(known[key], status=status, modified_at=at))
        return len(changing)

    async def supersede(self, tenant_id: str, fact_ids: Sequence[str], *, ended_at: datetime, at: datetime) -> int:
        """Mark facts as replaced."""
        known = self._facts.get(tenant_id, {})
        alive = self._alive(tenant_id, fact_ids)
        marked = [fact for fact in alive if fact.superseded_at is None or fact.superseded_at > at]
        for fact in marked:
            is_over = fact.status is FactStatus.ACTIVE and ended_at <= at
            status = FactStatus.STALE if is_over else fact.status
            known[fact.fact_id] = replace(fact, status=status, superseded_at=ended_at, modified_at=at)
        return len(marked)

    async def reinstate(self, tenant_id: str, fact_ids: Sequence[str], *, at: datetime) -> int:
        """Take the mark off."""
        known = self._facts.get(tenant_id, {})
        marked = [fact for fact in self._alive(tenant_id, fact_ids) if fact.superseded_at is not None]
        for fact in marked:
            status = FactStatus.ACTIVE if fact.status is FactStatus.STALE else fact.status
            known[fact.fact_id] = replace(fact, status=status, superseded_at=None, modified_at=at)
        return len(marked)

    async def next_turn(self, tenant_id: str, after: datetime) -> datetime | None:
        """Return the next moment at which a validity begins or ends."""
        facts = self._select(tenant_id, FactFilter(statuses=(FactStatus.ACTIVE,)))
        times = (time for fact in facts for time in (fact.valid_from, fact.valid_to, fact.superseded_at))
        return min((time for time in times if time is not None and time > after), default=None)

    async def set_communities(self, tenant_id: str, labels: Mapping[str, str]) -> None:
        """Set community labels."""
        known = self._facts.get(tenant_id, {})
        for key in labels.keys() & known.keys():
            known[key] = replace(known[key], community_label=labels[key])

    async def touch(self, tenant_id: str, fact_ids: Sequence[str], *, at: datetime) -> None:
        """Count an access."""
        known = self._facts.get(tenant_id, {})
        for key in set(fact_ids) & known.keys():
            if known[key].status is not FactStatus.DELETED:
                known[key] = replace(known[key], access_count=known[key].access_count + 1, last_accessed_at=at)

    async def fact_ids_of_source(self, tenant_id: str, source_id: str) -> list[str]:
        """Return the source's facts that are not DELETED."""
        where = FactFilter(source_ids=(source_id,), statuses=())
        return [fact.fact_id for fact in self._select(tenant_id, where) if fact.status is not FactStatus.DELETED]

    async def erase_source(self, tenant_id: str, source_id: str, *, at: datetime) -> int:
        """Turn the source's facts into tombstones."""
        ids = await self.fact_ids_of_source(tenant_id, source_id)
        return await self.set_status(tenant_id, ids, FactStatus.DELETED, at=at)

    async def delete(self, tenant_id: str, fact_ids: Sequence[str]) -> None:
        """Remove facts without a trace."""
        for key in fact_ids:
            self._facts.get(tenant_id, {}).pop(key, None)

    async def count(self, tenant_id: str, where: FactFilter | None = None) -> int:
        """Count matching facts."""
        return len(self._select(tenant_id, where or FactFilter()))

    async def state_entries(self, tenant_id: str, communities: Sequence[str] = ()) -> AsyncIterator[StateEntry]:
        """Yield what the state hash is made of."""
        for fact in self._select(tenant_id, FactFilter(communities=tuple(communities), statuses=())):
            yield StateEntry(fact.fact_id, fact.content_hash, fact.modified_at, fact.status)

    async def embeddings(self, tenant_id: str) -> AsyncIterator[tuple[list[str], Vectors]]:
        """Yield retrievable facts' vectors in blocks."""
        facts = self._select(tenant_id, FactFilter())
        for start in range(0, len(facts), _BLOCK):
            block = facts[start : start + _BLOCK]
            yield [fact.fact_id for fact in block], np.stack([fact.embedding for fact in block])

    async def check(self) -> None:
        """Memory can always serve."""

    async def close(self) -> None:
        """Forget everything."""
        self._facts.clear()

    def _alive(self, tenant_id: str, fact_ids: Sequence[str]) -> list[FactRecord]:
        """Return the known facts among the ids that are not DELETED, each once."""
        known = self._facts.get(tenant_id, {})
        found = (known[key] for key in dict.fromkeys(fact_ids) if key in known)
        return [fact for fact in found if fact.status is not FactStatus.DELETED]

    def _select(self, tenant_id: str, where: FactFilter) -> list[FactRecord]:
        return sorted(_matching(self._facts.get(tenant_id, {}).values(), where), key=lambda fact: fact.fact_id)

    def _own(self, fact: FactRecord) -> FactRecord:
        check_embedding(fact, self._dimension)
        if fact.status is FactStatus.DELETED:
            erased = np.zeros(self._dimension, dtype=np.float32)
            fact = replace(fact, content="", content_hash=ERASED_HASH, source_location="", entities=(), metadata={})
            fact = replace(fact, embedding=erased, superseded_at=None, valid_from=None, valid_to=None)
        vector = np.array(fact.embedding, dtype=np.float32)
        vector.setflags(write=False)
        return replace(fact, embedding=vector, metadata=dict(fact.metadata))


def _matching(facts: Iterable[FactRecord], where: FactFilter) -> list[FactRecord]:
    return [
        fact
        for fact in facts
        if (not where.source_ids or fact.source_id in where.source_ids)
        and (not where.communities or fact.community_label in where.communities)
        and (not where.statuses or fact.status in where.statuses)
        and (where.time is None or where.time.sees(fact))
    ]


def _best(hits: list[FactHit], limit: int) -> list[FactHit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.fact.fact_id))[:limit]
