"""What a store of facts may offer beside ``FactStore``, so that nobody reads everything to learn what changed.

A store that does not offer it is read whole instead: slower, with the same results.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from services.common.ports.facts import StateEntry


@dataclass(frozen=True, slots=True)
class StateRow:
    """A fact's entry of the state hash, and where it counts.

    Attributes:
        number: of one fact, or of one version of it; what the store tells later under the same number takes its place.
        community: the fact's label; empty for none.
    """

    number: int
    community: str
    entry: StateEntry


@dataclass(frozen=True, slots=True)
class StateKnown:
    """What a reader knows of a tenant's entries.

    Attributes:
        change: the change number at which it knew them; -1 when it knows nothing.
        communities: labels whose entries it knows; ``None`` = all.
    """

    change: int = -1
    communities: frozenset[str] | None = frozenset()


@dataclass(frozen=True, slots=True)
class StateChanges:
    """How to get from what is known to what is now, read at one moment.

    Attributes:
        change: the tenant's change number, which grows with every write but counted accesses, of any process.
        starts_over: forget what was known: more has changed than is worth telling.
        removed: numbers of entries that are gone; unknown ones may be among them.
        changed: entries that are new or have changed, of known communities and of others.
        added: all entries of the communities that were not known.
    """

    change: int
    starts_over: bool
    removed: Sequence[int]
    changed: Sequence[StateRow]
    added: Sequence[StateRow]


@dataclass(frozen=True, slots=True)
class FactOutline:
    """A retrievable fact without its text and vector."""

    fact_id: str
    content_hash: str
    importance_weight: float
    community_label: str


@runtime_checkable
class FactChanges(Protocol):
    """Each tenant apart; errors as in ``FactStore``."""

    async def state_change(self, tenant_id: str) -> int:
        """Return the tenant's change number; 0 before its first write."""
        ...

    async def state_changes(
        self, tenant_id: str, known: StateKnown, communities: frozenset[str] | None
    ) -> StateChanges:
        """Return what turns ``known`` into the present entries of its communities and of ``communities``.

        Args:
            tenant_id: the tenant.
            known: what the caller has; not all of it need be wanted now.
            communities: labels that must be known afterwards; ``None`` = all.
        """
        ...

    def outlines(self, tenant_id: str) -> AsyncIterator[list[FactOutline]]:
        """Yield the outlines of all retrievable facts in blocks, ordered by ``fact_id``."""
        ...
