"""Tenants' rules of retention: read from registers, remembered for a moment, set by a chained event (ADR 0104)."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from services.common.clock import Clock
from services.common.context import Caller
from services.common.errors import ChainBrokenError, ErrorReason
from services.common.ids import IdSource, new_trail_id
from services.common.ports.sessions import AuditEventRecord, SessionChange, SessionRecord, SessionStatus, SessionStore
from services.common.taxonomy import ChainIntegrity
from services.dag.chains import Chains
from services.dag.domain.register import REGISTER_SCOPE, begin_register, register_id, rules_of, rules_set
from services.dag.domain.retention import OwnRules, Rules
from services.dag.domain.step import Step, empty_snapshot
from services.dag.domain.verification import StoredChain
from services.dag.policy import DagPolicy
from services.dag.ports import MasterKeys
from services.dag.writing import RequestKey, Writer

REMEMBERED_FOR: Final = timedelta(seconds=10)
_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Register:
    """A tenant's rules.

    Attributes:
        set_at: when they were set; ``None`` when they never were.
    """

    own: OwnRules
    effective: Rules
    set_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewRules:
    """Rules to set, and why."""

    rules: OwnRules
    reason: str


@dataclass(frozen=True, slots=True)
class RulesSet:
    """What was set."""

    effective: Rules
    event: AuditEventRecord


class Registers:
    """Reads and sets rules.

    Args:
        store: holds the registers.
        master_keys: sign new registers.
        chains: verify them.
        clock, ids: as everywhere.
        policy: the deployment's; its rules are in force where a tenant set none.
    """

    def __init__(
        self,
        store: SessionStore,
        master_keys: MasterKeys,
        chains: Chains,
        clock: Clock,
        ids: IdSource,
        policy: DagPolicy,
    ) -> None:
        self._store = store
        self._master_keys = master_keys
        self._chains = chains
        self._clock = clock
        self._ids = ids
        self._policy = policy
        self._writer = Writer(store, clock)
        self._known: dict[str, tuple[datetime, Register]] = {}

    async def rules(self, tenant_id: str) -> Rules:
        """Return what is in force, as it was at most 10 seconds ago.

        Raises:
            ChainBrokenError: CHAIN_BROKEN: the register does not verify, so nobody knows what is in force.
        """
        now = self._clock.now()
        known = self._known.get(tenant_id)
        if known is None or not known[0] <= now < known[0] + REMEMBERED_FOR:
            known = now, await self.read(tenant_id)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[tenant_id] = known
        return known[1].effective

    async def read(self, tenant_id: str) -> Register:
        """Return what is in force now.

        Raises:
            ChainBrokenError: CHAIN_BROKEN.
        """
        if not await self._is_there(tenant_id):
            return Register(OwnRules(), self._effective(OwnRules()))
        stored = await self._chains.load(tenant_id, register_id(tenant_id))
        return self._register(stored, await self._checked(stored))

    async def set(self, caller: Caller, new: NewRules, request: RequestKey[RulesSet]) -> bytes:
        """Replace the tenant's rules.

        Raises:
            ChainBrokenError: CHAIN_BROKEN: the register does not verify.
            ConflictError: COMMIT_RACE.
            PreconditionError: REQUEST_ID_REUSED.
        """

        async def decide(_: int) -> tuple[SessionChange, RulesSet]:
            change = await self._setting(caller, new)
            return change, RulesSet(self._effective(new.rules), change.events[-1])

        answer = await self._writer.once(caller.tenant_id, request, decide)
        self._known.pop(caller.tenant_id, None)
        return answer

    async def _setting(self, caller: Caller, new: NewRules) -> SessionChange:
        draft = rules_set(new.rules, new.reason, caller.subject)
        if not await self._is_there(caller.tenant_id):
            session = await self._new_session(caller.tenant_id)
            step = begin_register(session, new.reason, caller.subject)
            step = replace(step, drafts=(*step.drafts, draft))
            before = empty_snapshot(session)
        else:
            stored = await self._chains.load(caller.tenant_id, register_id(caller.tenant_id))
            await self._checked(stored)
            before = stored.snapshot
            step = Step(before.session, drafts=(draft,))
        return await self._chains.change(step, before)

    async def _is_there(self, tenant_id: str) -> bool:
        """Say whether the tenant has a register; one that the log knows and the store does not was taken away."""
        name = register_id(tenant_id)
        found = await self._store.logged(tenant_id, name)
        if found.snapshot is None and found.leaves:
            raise _broken(name, "session", name)
        return found.snapshot is not None

    async def _new_session(self, tenant_id: str) -> SessionRecord:
        master, limits = await self._master_keys.current(), self._policy.limits
        return SessionRecord(
            tenant_id=tenant_id,
            session_id=register_id(tenant_id),
            scope=REGISTER_SCOPE,
            status=SessionStatus.OPEN,
            created_at=self._clock.now(),
            version=0,
            audit_trail_id=new_trail_id(self._ids),
            key_version=master.version,
            policy_hash="",
            max_windows=limits.max_windows,
            max_fan_out=limits.max_fan_out,
            max_dag_nodes=limits.max_dag_nodes,
            max_loop_depth=limits.max_loop_depth,
        )

    async def _checked(self, stored: StoredChain) -> OwnRules:
        """Return the rules of a register that verifies."""
        verification, session = await self._chains.verify(stored), stored.snapshot.session
        if verification.integrity is ChainIntegrity.BROKEN and verification.fault is not None:
            raise _broken(session.session_id, verification.fault.record_kind, verification.fault.record_id)
        try:
            return rules_of(stored.events[-1] if stored.events else None)
        except (ValueError, TypeError, KeyError):
            raise _broken(session.session_id, "event", str(len(stored.events) - 1)) from None

    def _register(self, stored: StoredChain, own: OwnRules) -> Register:
        return Register(own, self._effective(own), stored.events[-1].timestamp)

    def _effective(self, own: OwnRules) -> Rules:
        """Return what is in force; no window that is being answered ends by it."""
        return own.over(self._policy.retention).not_shorter(self._policy.pending_lifetime)


def _broken(session_id: str, record_kind: str, record_id: str) -> ChainBrokenError:
    text = (
        f"the register of the tenant's rules does not verify at {record_kind} {record_id}; nothing is erased by rules"
    )
    return ChainBrokenError(
        ErrorReason.CHAIN_BROKEN, text, session_id=session_id, record_kind=record_kind, record_id=record_id
    )
