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
        """Return the sources that facts were taken from, by id, each looked up once; what is being erased is left out.

        Args:
            tenant_id: who reads.
            facts: of an envelope; those of former windows have no source.
        """
        wanted = dict.fromkeys((each.namespace or tenant_id, each.source_id) for each in facts if not each.is_carried)
        asked = [one for one in wanted if one not in self._erased]
        found = await asyncio.gather(*(self._graph.get_source(*one) for one in asked))
        return {source.source_id: source for source in found if source is not None}
