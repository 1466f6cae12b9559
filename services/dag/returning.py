"""Taking what an agent's session has left up to the sessions above it, in one write with its own (SPEC-004 §15.2).

Where a session above is in another instance's store, or its chain does not hold, the way up ends there (ADR 0103).
"""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from services.common.concurrency import KeyedLock
from services.common.errors import ChainBrokenError
from services.common.ports.sessions import SessionChange, SessionRecord, SessionSnapshot, SessionStore
from services.common.taxonomy import ChainIntegrity
from services.dag.chains import Chains
from services.dag.domain.budget import budget_left
from services.dag.domain.events import PendingEvent
from services.dag.domain.returning import Lowering, Returned, lowering, returned_draft, takes
from services.dag.domain.view import DagView
from services.dag.expiry import Expiry


@dataclass(frozen=True, slots=True)
class Upward:
    """What a return comes to: the event of the agent's trail, and the changes of the sessions above."""

    draft: PendingEvent
    changes: tuple[SessionChange, ...]


@dataclass(slots=True)
class Turns:
    """The turns of sessions above that one call has taken; it keeps them until its write is done.

    A call takes the turn of its own session first and of those above it nearest first: sessions form a tree, so that
    calls never wait for each other in a circle.
    """

    queues: KeyedLock
    held: set[tuple[str, str]] = field(default_factory=set)
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def take(self, tenant_id: str, session_id: str) -> None:
        """Wait for the session's turn, once."""
        if (tenant_id, session_id) not in self.held:
            await self._stack.enter_async_context(self.queues.lock(tenant_id, session_id))
            self.held.add((tenant_id, session_id))

    async def __aenter__(self) -> Self:
        """Begin with none."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give them all back."""
        await self._stack.__aexit__(kind, error, trace)


class Returns:
    """Decides what the sessions above an agent's become."""

    def __init__(self, store: SessionStore, chains: Chains, expiry: Expiry) -> None:
        self._store = store
        self._chains = chains
        self._expiry = expiry

    async def upward(self, agent: SessionRecord, returned: Returned, turns: Turns) -> Upward | None:
        """Return the lowered sessions above, nearest first; ``None`` when none has more left than the agent's.

        A session that is not lowered ends the way up: what it has left came up before. One that ended is passed over.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the master key version of a session above is not held here.
        """
        lowerings: list[Lowering] = []
        child = agent
        # Every session on the way is verified, its parent with it: whoever is above began before, so the way ends.
        while child.parent_session_id:
            above = await self._above(child, returned, turns)
            if above is None:
                break
            if takes(above.session):
                found = lowering(above, child.session_id, returned)
                if found is None:
                    break
                lowerings.append(found)
            child = above.session
        if not lowerings:
            return None
        changes = [await self._chains.change(each.step, each.before) for each in lowerings]
        return Upward(returned_draft(returned, lowerings), tuple(changes))

    async def _above(self, child: SessionRecord, returned: Returned, turns: Turns) -> SessionSnapshot | None:
        """Return the session above, verified where it may be lowered or passed over; ``None`` ends the way."""
        tenant_id, session_id = child.tenant_id, child.parent_session_id
        found = await self._store.snapshot(tenant_id, session_id)
        if found is None or (takes(found.session) and returned.budget >= budget_left(found.session, DagView.of(found))):
            return None
        await turns.take(tenant_id, session_id)
        try:  # what comes back wakes no session that was idle for too long (ADR 0104)
            await self._expiry.settled(found)
        except ChainBrokenError:
            return None
        stored = await self._chains.load(tenant_id, session_id)
        verification = await self._chains.verify(stored)
        return None if verification.integrity is ChainIntegrity.BROKEN else stored.snapshot
