"""Finding what is due and doing it, one session and one transaction at a time (ADR 0104).

A session is looked up by what its row repeats, and nothing is done before its trail says the same. Each step is whole
or not there, and what was done is no longer due: whoever is stopped in between goes on by looking again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum, unique
from typing import Final

from services.common.clock import Clock
from services.common.encoding import iso_micros
from services.common.errors import ConflictError, CrpError, ErrorReason
from services.common.ports.session_lists import DuePlace, DueSession
from services.common.ports.sessions import SessionChange, SessionStatus, SessionStore
from services.common.progress import writing
from services.dag.chains import Chains
from services.dag.domain.erasing import ErasureCommand, erase_session
from services.dag.domain.register import is_register
from services.dag.domain.repeated import is_held, told
from services.dag.domain.retention import RETAINED, STAGES, Rules, Stage
from services.dag.domain.step import to_change
from services.dag.domain.tombstones import bury_session
from services.dag.domain.verification import StoredChain
from services.dag.expiry import Expiry

_WALK: Final = tuple(STAGES)
_PAGE: Final = 100


@unique
class Outcome(StrEnum):
    """What becomes of a session that is due; of one that is OVERTAKEN another writer changed what was due."""

    DUE = "DUE"
    HELD = "HELD"
    DONE = "DONE"
    FAILED = "FAILED"
    OVERTAKEN = "OVERTAKEN"


@dataclass(frozen=True, slots=True)
class WalkPlace:
    """How far a walk over what is due has come: the status, by its place in the walk, and the last session of it."""

    step: int = 0
    behind: DuePlace | None = None


@dataclass(frozen=True, slots=True)
class Acted:
    """A session that is due, and what became of it.

    Attributes:
        place: the walk after it.
        detail: why it failed, without content; empty otherwise.
    """

    session_id: str
    stage: Stage
    since: datetime
    outcome: Outcome
    place: WalkPlace
    detail: str = ""


@dataclass(frozen=True, slots=True)
class DuePage:
    """What is due; ``following`` is where to go on, ``None`` = the walk is over."""

    items: Sequence[Acted]
    following: WalkPlace | None


@dataclass(frozen=True, slots=True)
class Applied:
    """What was done on request; ``more`` says that there may be more that is due."""

    items: Sequence[Acted]
    more: bool


class Retention:
    """What retention does.

    Args:
        store: holds the sessions.
        chains: load and verify them.
        expiry: ends idle ones, and knows the tenants' rules.
        clock: says what time it is.
    """

    def __init__(self, store: SessionStore, chains: Chains, expiry: Expiry, clock: Clock) -> None:
        self._store = store
        self._chains = chains
        self._expiry = expiry
        self._clock = clock

    async def due(self, tenant_id: str, place: WalkPlace, limit: int) -> DuePage:
        """Return up to ``limit`` sessions that are due, or held although they are, from a place of the walk on.

        Raises:
            ChainBrokenError: CHAIN_BROKEN: the tenant's register does not verify.
        """
        rules, now = await self._expiry.registers.rules(tenant_id), self._clock.now()
        items: list[Acted] = []
        step, behind = place.step, place.behind
        while step < len(_WALK):
            found = await self._page(tenant_id, _WALK[step], rules, now, behind, limit - len(items))
            items += [self._item(one, _WALK[step], rules, step) for one in found if not _is_register(one)]
            if len(items) >= limit:
                return DuePage(items, WalkPlace(step, found[-1].place))
            if found:
                behind = found[-1].place
                continue
            step, behind = step + 1, None
        return DuePage(items, None)

    async def act(self, tenant_id: str, item: Acted) -> Acted:
        """Do what is due; what is held, or no longer due, is left."""
        if item.outcome is not Outcome.DUE:
            return item
        try:
            done = await self._act(tenant_id, item)
        except CrpError as error:
            return replace(item, outcome=Outcome.FAILED, detail=f"{error.reason.value}: {error.message}")
        except Exception as error:  # noqa: BLE001 - a session that cannot even be read stands in no other's way
            return replace(item, outcome=Outcome.FAILED, detail=f"INTERNAL: {type(error).__name__}")
        return replace(item, outcome=done)

    async def apply(self, tenant_id: str, limit: int) -> Applied:
        """Do what is due for a tenant, up to ``limit`` sessions; those that are held are passed over.

        Raises:
            ChainBrokenError: CHAIN_BROKEN: the tenant's register does not verify.
        """
        items: list[Acted] = []
        place: WalkPlace | None = WalkPlace()
        while place is not None:
            page = await self.due(tenant_id, place, _PAGE)
            for item in page.items:
                acted = await self.act(tenant_id, item)
                if acted.outcome in (Outcome.DONE, Outcome.FAILED):
                    items.append(acted)
                if len(items) == limit:
                    return Applied(items, more=True)
            place = page.following
        return Applied(items, more=False)

    async def _page(
        self, tenant_id: str, status: SessionStatus, rules: Rules, now: datetime, behind: DuePlace | None, limit: int
    ) -> list[DueSession]:
        span = rules.after(STAGES[status])
        if span is None:
            return []
        return await self._store.page_due(tenant_id, status, until=now - span, after=behind, limit=limit)

    def _item(self, one: DueSession, status: SessionStatus, rules: Rules, step: int) -> Acted:
        stage = STAGES[status]
        held = one.record is not None and rules.holds(one.record, stage)
        outcome, detail = (Outcome.HELD if held else Outcome.DUE), ""
        if one.record is None:
            outcome, detail = Outcome.FAILED, "the stored record of the session cannot be read"
        place = WalkPlace(step, one.place)
        return Acted(one.place.session_id, stage, one.place.status_at, outcome, place, detail)

    async def _act(self, tenant_id: str, item: Acted) -> Outcome:
        stored = await self._chains.load(tenant_id, item.session_id)
        rules, now = await self._expiry.registers.rules(tenant_id), self._clock.now()
        session = stored.snapshot.session
        since = told(session, stored.events).status_at
        if rules.due(session, since, now) is not item.stage:
            return Outcome.OVERTAKEN
        if item.stage is not Stage.EXPIRE and (is_held(stored.events) or await self._is_tenant_held(tenant_id)):
            return Outcome.HELD
        change = await self._change(stored, item)
        try:
            with writing():
                await self._store.write(change)
        except ConflictError as error:
            if error.reason is not ErrorReason.COMMIT_RACE:
                raise
            return Outcome.OVERTAKEN
        return Outcome.DONE

    async def _is_tenant_held(self, tenant_id: str) -> bool:
        """Say whether the tenant's rules keep everything, as they are now and not as they are remembered."""
        return (await self._expiry.registers.read(tenant_id)).effective.legal_hold

    async def _change(self, stored: StoredChain, item: Acted) -> SessionChange:
        session = stored.snapshot.session
        if item.stage is Stage.EXPIRE:
            await self._chains.verified(stored)
            return await self._expiry.ending(stored.snapshot)
        verification = await self._chains.verify(stored)
        if item.stage is Stage.ERASE:
            reason = f"{RETAINED}: {session.status.value} since {iso_micros(item.since)}"
            ask = ErasureCommand(session.session_id, reason, RETAINED)
            erasure = erase_session(stored, verification, ask)
            key = await self._chains.hmac_key(session)
            # As by EraseSession: a broken session's content has to go too, and what its trail lacks stays visible.
            change = to_change(erasure.step, stored.snapshot, self._clock.now(), key, check=False)
            return replace(change, erased_events=erasure.events)
        # It verifies: what is sealed by the tombstone is whole.
        step = bury_session(stored, verification, RETAINED)
        key = await self._chains.hmac_key(session)
        return replace(to_change(step, stored.snapshot, self._clock.now(), key, check=False), tombstone=True)


def _is_register(one: DueSession) -> bool:
    return one.record is not None and is_register(one.record)
