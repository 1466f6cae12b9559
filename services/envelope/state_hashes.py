"""The state hash of a tenant's knowledge, kept level with the stores (SPEC-003 §11.3, ADR 0068).

A store that tells what changed is asked for that before every answer, so that writes of other processes are seen as
those of this one. Of another store everything is read again after a write, or for every build when it is shared.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, TypeVar, TypeVarTuple

from services.common.ports.fact_changes import FactChanges
from services.common.ports.facts import FactStore
from services.common.ports.graph import KnowledgeGraph
from services.envelope.domain.state import StateIndex, state_entry, state_hash

UNCLUSTERED: Final = ""
"""Facts of no community: always part of the state, since a fact that was just ingested may concern any query."""

_REMEMBERED: Final = 1024
_IN_PLACE: Final = 5_000
"""Entries that are worked through on the event loop, some five milliseconds; more are in a thread."""
_MOST_ENTRIES: Final = 1_000_000
"""Entries of all tenants together that are kept, some 250 bytes each; the tenant asked for longest ago goes first."""


_T = TypeVar("_T")
_Args = TypeVarTuple("_Args")


class _Tenant:
    def __init__(self) -> None:
        self.index = StateIndex()
        self.lock = asyncio.Lock()


class StateHashes:
    """Computes state hashes; every write of this process goes through ``written``.

    Args:
        facts: where the entries are.
        graph: where the clustering's epoch is.
        embedding_model: fingerprint of the model in use.
        shared_store: other processes write the same store, so nothing may be kept of one that tells no changes.
    """

    def __init__(self, facts: FactStore, graph: KnowledgeGraph, embedding_model: str, *, shared_store: bool) -> None:
        self._facts = facts
        self._changes = facts if isinstance(facts, FactChanges) else None
        self._graph = graph
        self._model = embedding_model
        self._shared = shared_store
        self._versions: dict[str, int] = {}
        self._kept: OrderedDict[tuple[str, frozenset[str] | None], tuple[object, str]] = OrderedDict()
        self._tenants: OrderedDict[str, _Tenant] = OrderedDict()

    @property
    def sees_every_write(self) -> bool:
        """Whether ``version`` tells writes of other processes as well, where there are any."""
        return self._changes is not None or not self._shared

    async def version(self, tenant_id: str) -> tuple[int, int]:
        """Return what differs after every write to the tenant, also of another process when the store is shared."""
        own = self._versions.get(tenant_id, 0)
        return own, await self._changes.state_change(tenant_id) if self._changes and self._shared else 0

    async def arrived(self, tenant_id: str) -> int:
        """Return a number that is another whenever a fact may have become retrievable, wherever it stands.

        A hash over a build's communities tells what became of the facts that it saw; a fact that is restored, or that
        another process adopts, in a community that it did not see is told by this number alone (ADR 0111).
        """
        if self._changes is None:
            return self._versions.get(tenant_id, 0)
        tenant = self._tenants.setdefault(tenant_id, _Tenant())
        self._tenants.move_to_end(tenant_id)
        async with tenant.lock:
            change = await self._changes.state_change(tenant_id)
            if tenant.index.known.change < change:
                await self._follow(self._changes, tenant, tenant_id, tenant.index.known.communities)
            return tenant.index.arrived

    def written(self, tenant_id: str) -> None:
        """Note a write; call it before and after, so that no reader takes a state for settled in between."""
        self._versions[tenant_id] = self._versions.get(tenant_id, 0) + 1

    async def of(self, tenant_id: str, communities: tuple[str, ...] = ()) -> str:
        """Return the hash over the communities' facts and those of no community; no communities = everything."""
        selected = frozenset({UNCLUSTERED, *communities}) if communities else None
        if self._changes is not None:
            return await self._kept_level(self._changes, tenant_id, selected)
        return await self._read_whole(tenant_id, selected)

    async def _kept_level(self, store: FactChanges, tenant_id: str, selected: frozenset[str] | None) -> str:
        epoch = (await self._graph.clustering(tenant_id)).epoch  # first: labels are written before their epoch
        change = await store.state_change(tenant_id)
        kept = self._remembered(tenant_id, selected, (change, epoch))
        if kept is not None:
            return kept
        tenant = self._tenants.setdefault(tenant_id, _Tenant())
        self._tenants.move_to_end(tenant_id)
        async with tenant.lock:
            index = tenant.index
            if index.known.change < change or not index.knows(selected):
                await self._follow(store, tenant, tenant_id, selected)
            value = await _beside(index.size(selected), self._hash, index, selected, epoch)
            self._remember(tenant_id, selected, (index.known.change, epoch), value)
            return value

    async def _follow(
        self, store: FactChanges, tenant: _Tenant, tenant_id: str, selected: frozenset[str] | None
    ) -> None:
        """Bring a tenant's index level with the store; its lock is held."""
        changes = await store.state_changes(tenant_id, tenant.index.known, selected)
        await _beside(len(changes.added) + len(changes.changed), tenant.index.apply, changes, selected)
        self._evict()

    def _hash(self, index: StateIndex, selected: frozenset[str] | None, epoch: int) -> str:
        return state_hash(index.entries(selected), epoch, self._model)

    def _evict(self) -> None:
        excess = sum(len(tenant.index) for tenant in self._tenants.values()) - _MOST_ENTRIES
        for tenant_id, tenant in list(self._tenants.items())[:-1]:
            if excess <= 0:
                return
            if not tenant.lock.locked():
                excess -= len(tenant.index)
                del self._tenants[tenant_id]

    async def _read_whole(self, tenant_id: str, selected: frozenset[str] | None) -> str:
        at = self._versions.get(tenant_id, 0)
        kept = None if self._shared else self._remembered(tenant_id, selected, at)
        if kept is not None:
            return kept
        entries = [
            state_entry(entry.fact_id, entry.content_hash, entry.modified_at, entry.status)
            async for entry in self._facts.state_entries(tenant_id, tuple(sorted(selected or ())))
        ]
        value = state_hash(entries, (await self._graph.clustering(tenant_id)).epoch, self._model)
        self._remember(tenant_id, selected, at, value)
        return value

    def _remembered(self, tenant_id: str, selected: frozenset[str] | None, at: object) -> str | None:
        kept = self._kept.get((tenant_id, selected))
        if kept is None or kept[0] != at:
            return None
        self._kept.move_to_end((tenant_id, selected))
        return kept[1]

    def _remember(self, tenant_id: str, selected: frozenset[str] | None, at: object, value: str) -> None:
        self._kept[tenant_id, selected] = (at, value)
        self._kept.move_to_end((tenant_id, selected))
        if len(self._kept) > _REMEMBERED:
            self._kept.popitem(last=False)


async def _beside(size: int, work: Callable[[*_Args], _T], *args: *_Args) -> _T:
    """Do the work here when it is small, in a thread otherwise."""
    return work(*args) if size <= _IN_PLACE else await asyncio.to_thread(work, *args)
