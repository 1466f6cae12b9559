"""Going on from a token whose windows another instance stored: taking over, or refusing without closing (§10.2)."""

import contextlib
import json
from dataclasses import replace
from typing import Final

from services.common.clock import Clock
from services.common.context import Caller
from services.common.errors import ChainBrokenError, ConflictError, ErrorReason
from services.common.ids import IdSource, new_trail_id
from services.common.ports.sessions import SessionChange, SessionStore
from services.common.progress import writing
from services.dag.chains import Chains, session_not_found
from services.dag.domain.adopting import adopt, adopt_leaf, find_leaf, token_fault
from services.dag.domain.ending import branch_ended, check_open
from services.dag.domain.limits import Limits
from services.dag.domain.origins import Adoptions
from services.dag.domain.place import NewWindow
from services.dag.domain.step import Step, empty_snapshot, to_change
from services.dag.domain.token import TokenState
from services.dag.domain.verification import StoredChain, Verification
from services.dag.domain.view import DagView

STORE: Final = "store"
"""Member of a session's first event: the store that the session began in, under the event's HMAC."""
_ATTEMPTS: Final = 12


class Relays:
    """Brings a token's session and leaf into this store.

    Args:
        store: where they go.
        chains: loads and verifies.
        clock: tells the moment.
        ids: gives a fresh audit trail.
        limits: of this deployment, for a token that carries none.
    """

    def __init__(self, store: SessionStore, chains: Chains, clock: Clock, ids: IdSource, limits: Limits) -> None:
        self._store = store
        self._chains = chains
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._store_id = ""

    async def store_id(self) -> str:
        """Return this store's id, read once."""
        if not self._store_id:
            self._store_id = await self._store.store_id()
        return self._store_id

    async def begin(self, step: Step) -> Step:
        """Return a session's first step, of which the first event names this store."""
        first, *rest = step.drafts
        named = replace(first, data={**first.data, STORE: await self.store_id()})
        return replace(step, drafts=(named, *rest))

    async def take_over(self, caller: Caller, token: TokenState) -> None:
        """Take over a session that this store does not hold (ADR 0102).

        Raises:
            NotFoundError: SESSION_NOT_FOUND: the token names no tenant.
            PreconditionError: SESSION_CLOSED: it ended with the token's window.
            ChainBrokenError: CHAIN_BROKEN: the token names windows of this store, which lost the whole session.
        """
        if not token.tenant:
            raise session_not_found(token.session_id)
        if await self.store_id() in {origin.store_id for origin in token.origins}:
            text = "a session token names windows of this store, which holds nothing of the session; start a new one"
            raise ChainBrokenError(ErrorReason.CHAIN_BROKEN, text, session_id=token.session_id)
        if token.window_number > 0 and not token.continuation_id:
            raise branch_ended(token.session_id)
        adoption = adopt(token, caller.tenant_id, self._clock.now(), new_trail_id(self._ids), self._limits)
        before = empty_snapshot(adoption.session)
        key = await self._chains.hmac_key(adoption.session)
        await self._write(to_change(await self.begin(adoption), before, self._clock.now(), key))

    async def line(
        self, caller: Caller, token: TokenState, fresh: NewWindow, stored: StoredChain
    ) -> tuple[StoredChain, Verification]:
        """Return the session, verified, with the token's leaf in it; ``stored`` is the session as it was loaded.

        Raises:
            ChainBrokenError: CHAIN_BROKEN: the chain does not hold, or a window of this store is gone.
            PreconditionError: SESSION_CLOSED.
            NotFoundError, UnauthenticatedError, LimitExceededError: as ``adopt_leaf``; nothing is closed.
            ConflictError: COMMIT_RACE.
        """
        for _ in range(_ATTEMPTS):
            check_open(stored.snapshot.session)
            verification = await self._chains.verified(stored)
            dag = DagView.of(stored.snapshot)
            fault = token_fault(dag, token, await self._own(stored))
            if fault is not None:
                await self._chains.close_broken(stored.snapshot, fault)
            if token.window_number == 0 or find_leaf(dag, token) is not None:
                return stored, verification
            if not token.continuation_id:
                raise branch_ended(token.session_id)
            step = adopt_leaf(stored.snapshot, token, Adoptions.of(stored.events), fresh)
            await self._write(await self._chains.change(step, stored.snapshot))
            stored = await self._chains.load(caller.tenant_id, token.session_id)
        text = "other writers changed the session first each time; read it again and retry"
        raise ConflictError(ErrorReason.COMMIT_RACE, text, session_id=token.session_id)

    async def _own(self, stored: StoredChain) -> frozenset[str]:
        """Return the ids of this store: the present one, and the one under the HMAC of the session's first event."""
        began = json.loads(stored.events[0].data or "{}").get(STORE, "")
        return frozenset({await self.store_id(), str(began)} - {""})

    async def _write(self, change: SessionChange) -> None:
        """Write, unless another writer came first; whoever goes on reads anew."""
        with contextlib.suppress(ConflictError), writing():
            await self._store.write(change)
