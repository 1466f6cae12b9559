"""Sessions as they stand now: one that was idle for too long is ended before anybody goes on with it (ADR 0104)."""

import contextlib

from services.common.clock import Clock
from services.common.errors import ChainBrokenError, ConflictError
from services.common.ports.sessions import SessionChange, SessionSnapshot, SessionStatus, SessionStore
from services.common.progress import writing
from services.dag.chains import Chains
from services.dag.domain.retention import SHORTEST_IDLE, Rules, Stage, expire_session
from services.dag.domain.verification import StoredChain
from services.dag.policy import DagPolicy
from services.dag.registers import Registers


class Expiry:
    """Ends idle sessions.

    Args:
        store: holds the sessions.
        chains: load and verify them.
        registers: say how long is too long.
        clock: says what time it is.
        policy: the deployment's.
    """

    def __init__(
        self, store: SessionStore, chains: Chains, registers: Registers, clock: Clock, policy: DagPolicy
    ) -> None:
        self._store = store
        self._chains = chains
        self.registers = registers
        self._clock = clock
        self._policy = policy

    async def snapshot(self, tenant_id: str, session_id: str) -> SessionSnapshot:
        """Return the session, ended if it was idle for too long.

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
            ChainBrokenError: CHAIN_BROKEN: it is idle and does not verify.
        """
        return await self.settled(await self._chains.snapshot(tenant_id, session_id))

    async def load(self, tenant_id: str, session_id: str) -> StoredChain:
        """Return the session with its events and reports; as ``snapshot``."""
        return await self._settled_chain(await self._chains.load(tenant_id, session_id))

    async def find(self, tenant_id: str, session_id: str) -> StoredChain | None:
        """Return what ``load`` does, or ``None``."""
        stored = await self._chains.find(tenant_id, session_id)
        return None if stored is None else await self._settled_chain(stored)

    async def settled(self, snapshot: SessionSnapshot) -> SessionSnapshot:
        """Return the snapshot itself, or the session as it is after it was ended."""
        while await self.is_due(snapshot):
            tenant_id, session_id = snapshot.session.tenant_id, snapshot.session.session_id
            stored = await self._chains.load(tenant_id, session_id)
            if not await self.is_due(stored.snapshot):  # another writer came first
                return stored.snapshot
            await self._chains.verified(stored)
            change = await self.ending(stored.snapshot)
            with contextlib.suppress(ConflictError), writing():  # another writer may come first: look again
                await self._store.write(change)
            snapshot = await self._chains.snapshot(tenant_id, session_id)
        return snapshot

    async def _settled_chain(self, stored: StoredChain) -> StoredChain:
        session = stored.snapshot.session
        settled = await self.settled(stored.snapshot)
        if settled is stored.snapshot:
            return stored
        return await self._chains.load(session.tenant_id, session.session_id)

    async def ending(self, before: SessionSnapshot) -> SessionChange:
        """Return the change that ends the session, which verifies."""
        return await self._chains.change(expire_session(before), before)

    async def is_due(self, snapshot: SessionSnapshot) -> bool:
        """Say whether the session has to be ended; its last event says since when it is idle."""
        session, last = snapshot.session, snapshot.last_event
        if session.status is not SessionStatus.OPEN or last is None:
            return False
        now = self._clock.now()
        if now - last.timestamp < SHORTEST_IDLE:
            return False
        return (await self._rules(session.tenant_id)).due(session, last.timestamp, now) is Stage.EXPIRE

    async def _rules(self, tenant_id: str) -> Rules:
        try:
            return await self.registers.rules(tenant_id)
        except ChainBrokenError:  # a tenant whose register was tampered with can go on under the deployment's rules
            return self._policy.retention.not_shorter(self._policy.pending_lifetime)
