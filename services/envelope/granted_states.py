"""The state of everything that a tenant reads: its own knowledge and the shared namespaces (SPEC-003 §11.3)."""

from typing import TypeAlias

from services.envelope.domain.namespaces import Namespaces, combined_state, labels_in
from services.envelope.state_hashes import UNCLUSTERED, StateHashes

Moment: TypeAlias = tuple[tuple[int, int], ...]


class GrantedStates:
    """State hashes and versions over a tenant's readable namespaces.

    Args:
        states: those of single namespaces.
        namespaces: who reads what.
    """

    def __init__(self, states: StateHashes, namespaces: Namespaces) -> None:
        self._states = states
        self._namespaces = namespaces

    async def of(self, tenant_id: str, communities: tuple[str, ...] = ()) -> str:
        """Return the hash over these communities (qualified names) and what is in none; none named = everything.

        A tenant that nothing is shared with has the hash of its own knowledge, unchanged.
        """
        readable = self._namespaces.readable(tenant_id)
        own, *shared = [
            await self._states.of(each, (labels_in(each, communities) or (UNCLUSTERED,)) if communities else ())
            for each in readable
        ]
        return combined_state(own, dict(zip(readable[1:], shared, strict=True)))

    async def arrived(self, tenant_id: str) -> tuple[int, ...]:
        """Return what differs whenever a fact that the tenant may read may have become retrievable."""
        return tuple([await self._states.arrived(each) for each in self._namespaces.readable(tenant_id)])

    async def version(self, tenant_id: str) -> Moment:
        """Return what differs after every write to anything that the tenant reads."""
        return tuple([await self._states.version(each) for each in self._namespaces.readable(tenant_id)])

    @property
    def sees_every_write(self) -> bool:
        """Whether ``version`` tells writes of other processes as well, where there are any."""
        return self._states.sees_every_write
