"""Reading facts of a tenant and of the shared namespaces granted to it (CRP-SPEC-009; SPEC-003 §16.1, §17.2).

Every read of a caller goes through here. Each namespace is asked for itself, at the same time; what comes back is
looked at once more: a fact of another tenant, or of a source that was erased, is dropped whatever an index still holds.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypeVar

from services.common.ports.facts import FactFilter, FactHit, FactRecord, FactStatus, FactStore, Vectors
from services.envelope.domain.namespaces import Namespaces, labels_asked, labels_in

RETRIEVABLE: Final = frozenset({FactStatus.ACTIVE, FactStatus.STALE})
_REMEMBERED: Final = 100_000
_T = TypeVar("_T")


class ErasedSources:
    """Sources that this process erased, so that nothing of them is returned even while an index still has it.

    Bounded: the one erased longest ago goes first, long after every index has caught up.
    """

    def __init__(self) -> None:
        self._sources: OrderedDict[tuple[str, str], None] = OrderedDict()

    def add(self, tenant_id: str, source_id: str) -> None:
        """Note that a source is being erased; an id is never used again."""
        self._sources[tenant_id, source_id] = None
        while len(self._sources) > _REMEMBERED:
            self._sources.popitem(last=False)

    def __contains__(self, source: object) -> bool:
        """Say whether ``(tenant_id, source_id)`` was erased."""
        return source in self._sources


class ReadableFacts:
    """What callers may read, by tenant.

    Args:
        facts: the store of all tenants.
        namespaces: who may read what.
        erased: what is not to be returned.
    """

    def __init__(self, facts: FactStore, namespaces: Namespaces, erased: ErasedSources) -> None:
        self._facts = facts
        self._namespaces = namespaces
        self._erased = erased

    def shared_with(self, tenant_id: str) -> tuple[str, ...]:
        """Return the shared namespaces that the tenant reads."""
        return self._namespaces.shared_with(tenant_id)

    async def search(
        self, tenant_id: str, queries: Vectors, *, limit: int, where: FactFilter | None = None
    ) -> list[list[FactHit]]:
        """Return for each query the nearest facts, as ``FactStore.search`` does; ties by ``fact_id``."""
        asked = self._asked(tenant_id, where or FactFilter())
        answers = await _all(self._facts.search(own, queries, limit=limit, where=each) for own, each in asked)
        found = list(zip(asked, answers, strict=True))
        return [
            _best([(own, hit) for (own, _), rows in found for hit in rows[row] if self._visible(own, hit.fact)], limit)
            for row in range(len(queries))
        ]

    async def search_text(
        self, tenant_id: str, query: str, *, limit: int, where: FactFilter | None = None
    ) -> list[FactHit]:
        """Return the best facts by BM25; each namespace weighs words by its own documents."""
        asked = self._asked(tenant_id, where or FactFilter())
        answers = await _all(self._facts.search_text(own, query, limit=limit, where=each) for own, each in asked)
        found = zip(asked, answers, strict=True)
        return _best([(own, hit) for (own, _), hits in found for hit in hits if self._visible(own, hit.fact)], limit)

    async def near_communities(
        self, tenant_id: str, queries: Vectors, communities: Sequence[str], *, each: int, where: FactFilter
    ) -> list[list[FactHit]]:
        """Return the nearest facts of these communities together, in one search of each namespace that has some.

        Args:
            tenant_id: who reads.
            queries: unit vectors, one a row.
            communities: qualified names.
            each: facts that are looked for by community, shared out among the queries, and at least for each query; a
                community may take another's places.
            where: what may be returned beside that.
        """
        asked = [
            (own, labels) for own in self._namespaces.readable(tenant_id) if (labels := labels_in(own, communities))
        ]
        answers = await _all(
            self._facts.search(
                own,
                queries,
                limit=max(each, -(-each * len(labels) // len(queries))),
                where=replace(where, communities=labels),
            )
            for own, labels in asked
        )
        found = list(zip(asked, answers, strict=True))
        return [
            [hit for (own, _), rows in found for hit in rows[row] if self._visible(own, hit.fact)]
            for row in range(len(queries))
        ]

    async def next_turn(self, tenant_id: str, after: datetime) -> datetime | None:
        """Return when the first validity of a fact that the tenant reads begins or ends, ``None`` = never."""
        names = self._namespaces.readable(tenant_id)
        turns = await _all(self._facts.next_turn(own, after) for own in names)
        return min((turn for turn in turns if turn is not None), default=None)

    async def get(self, tenant_id: str, fact_ids: Sequence[str]) -> list[FactRecord]:
        """Return the known ones in the given order: own ones whatever their status, shared ones if retrievable."""
        if not fact_ids:
            return []
        known: dict[str, FactRecord] = {}
        for own in self._namespaces.readable(tenant_id):
            missing = [fact_id for fact_id in fact_ids if fact_id not in known]
            if missing:
                facts = await self._facts.get(own, missing)
                known |= {fact.fact_id: fact for fact in facts if self._readable(tenant_id, own, fact)}
        return [known[fact_id] for fact_id in fact_ids if fact_id in known]

    async def page(self, tenant_id: str, where: FactFilter, *, after: str, limit: int) -> list[FactRecord]:
        """Return up to ``limit`` facts with ``fact_id > after``, ordered by ``fact_id``."""
        asked = self._asked(tenant_id, where)
        pages = await _all(self._facts.page(own, each, after=after, limit=limit) for own, each in asked)
        facts = [
            fact
            for (own, _), page in zip(asked, pages, strict=True)
            for fact in page
            if self._readable(tenant_id, own, fact)
        ]
        return sorted(facts, key=lambda fact: fact.fact_id)[:limit]

    def _asked(self, tenant_id: str, where: FactFilter) -> list[tuple[str, FactFilter]]:
        """Return each namespace with the filter that applies to it; those that the filter leaves out are not asked."""
        asked: list[tuple[str, FactFilter]] = []
        for own in self._namespaces.readable(tenant_id):
            each = replace(where, communities=labels_asked(own, where.communities)) if where.communities else where
            if where.communities and not each.communities:
                continue
            if own != tenant_id:
                statuses = tuple(sorted(RETRIEVABLE.intersection(each.statuses or RETRIEVABLE)))
                if not statuses:
                    continue
                each = replace(each, statuses=statuses)
            asked.append((own, each))
        return asked

    def _visible(self, tenant_id: str, fact: FactRecord) -> bool:
        """Say whether a search that asked ``tenant_id`` may return the fact (SPEC-003 §17.2)."""
        return fact.status in RETRIEVABLE and self._belongs(tenant_id, fact)

    def _readable(self, tenant_id: str, own: str, fact: FactRecord) -> bool:
        """Say whether ``tenant_id`` may read a fact of ``own``: what is withheld is shown to its owner alone."""
        if fact.status is FactStatus.DELETED:  # a tombstone
            return own == tenant_id == fact.tenant_id and not fact.content
        return self._belongs(own, fact) and (own == tenant_id or fact.status in RETRIEVABLE)

    def _belongs(self, tenant_id: str, fact: FactRecord) -> bool:
        return fact.tenant_id == tenant_id and (tenant_id, fact.source_id) not in self._erased


def _best(hits: list[tuple[str, FactHit]], limit: int) -> list[FactHit]:
    """Return the best; hits of one namespace alone are in order already."""
    if len({own for own, _ in hits}) > 1:
        hits.sort(key=lambda pair: (-pair[1].score, pair[1].fact.fact_id))
    return [hit for _, hit in hits[:limit]]


async def _all(calls: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """Return the answers of calls that run at the same time; one alone costs no task."""
    waiting = list(calls)
    if len(waiting) == 1:
        return [await waiting[0]]
    return list(await asyncio.gather(*waiting))
