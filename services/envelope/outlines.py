"""Reading outlines: the neighbours of facts, and the versions of a source (ADR 0113)."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from services.common.ports.facts import FactRecord
from services.common.ports.graph import KnowledgeGraph, SourceRecord, SourceStatus
from services.common.ports.outline import OutlineEntry
from services.envelope.domain.outlines import OrderedFacts, Standing

CAPACITY_FACTS: Final = 100_000
"""Facts whose order is kept in memory, over all tenants, some 300 bytes each; what was used longest ago goes first."""

_Key: TypeAlias = tuple[str, str, int]


class Outlines:
    """The order of facts in their sources. Belongs to the event loop.

    Args:
        graph: keeps the outlines of all tenants.
        capacity: facts whose order is kept.
    """

    def __init__(self, graph: KnowledgeGraph, capacity: int = CAPACITY_FACTS) -> None:
        self._graph = graph
        self._capacity = capacity
        self._kept: OrderedDict[_Key, OrderedFacts] = OrderedDict()
        self._size = 0

    async def neighbours(
        self, facts: Sequence[FactRecord], each_side: int, *, within_section: bool = True
    ) -> Mapping[str, Standing]:
        """Return how facts stand in the present versions of their sources, by id.

        What no present version has is left out: what was superseded or erased, and what was ingested before outlines
        were kept. Neighbours are ids; whoever reads them takes what he may read.

        Args:
            facts: of any sources; each is looked for where it is stored, a shared namespace for instance.
            each_side: most neighbours before a fact, and most behind it.
            within_section: only neighbours of the fact's own section.
        """
        wanted: dict[str, dict[str, None]] = {}
        for fact in facts:
            wanted.setdefault(fact.tenant_id, {})[fact.source_id] = None
        some = await asyncio.gather(*(self._graph.get_sources(whose, list(ids)) for whose, ids in wanted.items()))
        sources = [source for part in some for source in part]
        outlines = await asyncio.gather(*map(self._present, sources))
        ordered = {
            (source.tenant_id, source.source_id): outline for source, outline in zip(sources, outlines, strict=True)
        }
        found = {}
        for fact in facts:
            version = ordered.get((fact.tenant_id, fact.source_id))
            if version is None:
                continue
            standing = version.standing(fact.fact_id, each_side, within_section=within_section)
            if standing is not None:
                found[fact.fact_id] = standing
        return found

    async def in_order(self, tenant_id: str, source_id: str) -> Sequence[OutlineEntry]:
        """Return the facts of a source's present version in reading order; nothing where the order is not known."""
        source = await self._graph.get_source(tenant_id, source_id)
        ordered = None if source is None else await self._present(source)
        return () if ordered is None else ordered.entries

    def forget(self, tenant_id: str, source_id: str) -> None:
        """Keep nothing of a source any more: it is erased (SPEC-003 §17.2)."""
        for key in [key for key in self._kept if key[:2] == (tenant_id, source_id)]:
            self._drop(key)

    async def _present(self, source: SourceRecord) -> OrderedFacts | None:
        of = source.tenant_id, source.source_id
        version = present_version(source)
        key = (*of, version)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        outline = await self._graph.get_outline(*of, version) if version else None
        if outline is None:
            return None
        ordered = OrderedFacts(outline.entries)
        self._keep(key, ordered)
        return ordered

    def _keep(self, key: _Key, ordered: OrderedFacts) -> None:
        for other in [other for other in self._kept if other[:2] == key[:2]]:
            self._drop(other)  # a former version of the same source
        self._kept[key] = ordered
        self._size += len(ordered.entries)
        while self._kept and self._size > self._capacity:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: _Key) -> None:
        self._size -= len(self._kept.pop(key).entries)


def present_version(source: SourceRecord) -> int:
    """Return the number of the version that was acknowledged last; 0 where none has an outline or all are erased."""
    if source.status in {SourceStatus.ERASING, SourceStatus.ERASED}:
        return 0
    return source.version - 1 if source.status is SourceStatus.INGESTING else source.version
