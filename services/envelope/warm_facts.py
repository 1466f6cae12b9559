"""Memory tier 2: what was retrieved a moment ago, while nothing has changed since (SPEC-003 §5.2 step 1.4, ADR 0077).

Only the very same retrieval is answered from here: the same vectors and words, depth, mode and facts that are not to be
shown, at the same version of everything that the tenant reads. So a warm answer is the cold one, and which facts an
envelope holds never depends on what a process remembers (§4). Kept by tenant, bounded, never on disk.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from services.common.ports.facts import FactRecord
from services.common.taxonomy import RetrievalMode
from services.envelope.granted_states import Moment

TENANT_SHARE: Final = 4
"""One tenant takes a quarter of the room at most."""


@dataclass(frozen=True, slots=True)
class Found:
    """What retrieval found, communities expanded: the facts by id, the mode that ran, and what callers should know."""

    facts: Mapping[str, FactRecord] = field(repr=False)
    mode: RetrievalMode
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    found: Found
    at: Moment

    @property
    def size(self) -> int:
        return max(1, len(self.found.facts))


class WarmFacts:
    """Retrievals, the least recently used first. Belongs to the event loop.

    Args:
        capacity_facts: facts that are kept of all tenants together, each as often as retrievals hold it; 0 keeps none.
    """

    def __init__(self, capacity_facts: int) -> None:
        self._capacity = capacity_facts
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._sizes: dict[str, int] = {}

    @property
    def size_facts(self) -> int:
        """How many facts are kept now."""
        return sum(self._sizes.values())

    def get(self, tenant_id: str, key: str, at: Moment) -> Found | None:
        """Return what this retrieval found at this version; what was found at another one is dropped."""
        kept = self._kept.get((tenant_id, key))
        if kept is None:
            return None
        if kept.at != at:
            self._drop((tenant_id, key))
            return None
        self._kept.move_to_end((tenant_id, key))
        return kept.found

    def put(self, tenant_id: str, key: str, at: Moment, found: Found) -> None:
        """Keep a retrieval, unless it alone would take a tenant's share."""
        kept = _Kept(found, at)
        most = self._capacity // TENANT_SHARE
        if (tenant_id, key) in self._kept:
            self._drop((tenant_id, key))
        if kept.size > most:
            return
        self._kept[tenant_id, key] = kept
        self._sizes[tenant_id] = self._sizes.get(tenant_id, 0) + kept.size
        while self._sizes[tenant_id] > most:
            self._drop(next(place for place in self._kept if place[0] == tenant_id))
        while self.size_facts > self._capacity:
            self._drop(next(iter(self._kept)))

    def forget(self, namespace: str) -> None:
        """Drop every retrieval that holds a fact of this tenant or shared namespace: some were erased (§17.2)."""
        held = [
            place
            for place, kept in self._kept.items()
            if place[0] == namespace or any(fact.tenant_id == namespace for fact in kept.found.facts.values())
        ]
        for place in held:
            self._drop(place)

    def _drop(self, place: tuple[str, str]) -> None:
        kept = self._kept.pop(place)
        self._sizes[place[0]] -= kept.size
        if not self._sizes[place[0]]:
            del self._sizes[place[0]]
