"""Reading sources of a tenant and of the shared namespaces granted to it (CRP-SPEC-009; SPEC-003 §16.1, §17.2)."""

import asyncio
from collections.abc import Iterable, Mapping

from services.common.ports.graph import KnowledgeGraph, SourceRecord
from services.envelope.domain.candidates import Candidate
from services.envelope.domain.namespaces import Namespaces
from services.envelope.readable_facts import ErasedSources


class ReadableSources:
    """What callers may read of sources, by tenant.

    Args:
        graph: the store of all tenants.
        namespaces: who may read what.
        erased: what is not to be returned.
    """

    def __init__(self, graph: KnowledgeGraph, namespaces: Namespaces, erased: ErasedSources) -> None:
        self._graph = graph
        self._namespaces = namespaces
        self._erased = erased

    async def get(self, tenant_id: str, source_id: str) -> SourceRecord | None:
        """Return a source of the tenant, else of a shared namespace that it reads, else ``None``."""
        for own in self._namespaces.readable(tenant_id):
            found = await self._graph.get_source(own, source_id)
            if found is not None:
                return found
        return None

    async def of_facts(self, tenant_id: str, facts: Iterable[Candidate]) -> Mapping[str, SourceRecord]:
        """Return the sources that facts were taken from, by id; what is being erased is left out.

        One read for each namespace, however many facts and sources there are.

        Args:
            tenant_id: who reads.
            facts: of an envelope; those of former windows and of tools have no source that is stored.
        """
        asked: dict[str, dict[str, None]] = {}
        for each in facts:
            one = each.namespace or tenant_id, each.source_id
            if each.is_stored and one not in self._erased:
                asked.setdefault(one[0], {})[one[1]] = None
        found = await asyncio.gather(*(self._graph.get_sources(whose, list(ids)) for whose, ids in asked.items()))
        return {source.source_id: source for some in found for source in some}
