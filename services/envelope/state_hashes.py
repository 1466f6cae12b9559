"""The state hash of a tenant's knowledge, read from the stores and kept while nothing is written (SPEC-003 §11.3)."""

from collections import OrderedDict
from typing import Final

from services.common.ports.facts import FactStore
from services.common.ports.graph import KnowledgeGraph
from services.envelope.domain.state import state_entry, state_hash

UNCLUSTERED: Final = ""
"""Facts of no community: always part of the state, since a fact that was just ingested may concern any query."""

_REMEMBERED: Final = 1024


class StateHashes:
    """Computes state hashes; every write of this process goes through ``written``.

    Args:
        facts: where the entries are.
        graph: where the clustering's epoch is.
        embedding_model: fingerprint of the model in use.
        shared_store: other processes write the same store, so nothing may be kept.
    """

    def __init__(self, facts: FactStore, graph: KnowledgeGraph, embedding_model: str, *, shared_store: bool) -> None:
        self._facts = facts
        self._graph = graph
        self._model = embedding_model
        self._shared = shared_store
        self._versions: dict[str, int] = {}
        self._kept: OrderedDict[tuple[str, tuple[str, ...]], tuple[int, str]] = OrderedDict()

    def version(self, tenant_id: str) -> int:
        """Return a number that grows with every write of this process to the tenant's knowledge."""
        return self._versions.get(tenant_id, 0)

    def written(self, tenant_id: str) -> None:
        """Note a write; call it before and after, so that no reader takes a state for settled in between."""
        self._versions[tenant_id] = self.version(tenant_id) + 1

    async def of(self, tenant_id: str, communities: tuple[str, ...] = ()) -> str:
        """Return the hash over the communities' facts and those of no community; no communities = everything."""
        selected = tuple(sorted({UNCLUSTERED, *communities})) if communities else ()
        version = self.version(tenant_id)
        kept = self._kept.get((tenant_id, selected))
        if kept is not None and kept[0] == version and not self._shared:
            self._kept.move_to_end((tenant_id, selected))
            return kept[1]
        entries = [
            state_entry(entry.fact_id, entry.content_hash, entry.modified_at, entry.status)
            async for entry in self._facts.state_entries(tenant_id, selected)
        ]
        clustering = await self._graph.clustering(tenant_id)
        value = state_hash(entries, clustering.epoch, self._model)
        self._kept[tenant_id, selected] = (version, value)
        if len(self._kept) > _REMEMBERED:
            self._kept.popitem(last=False)
        return value
