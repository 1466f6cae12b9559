"""Beginning a session: limits, depth, policy and budget, which an agent's session takes from its parent's (§15)."""

from dataclasses import dataclass

from services.common.clock import Clock
from services.common.context import Caller
from services.common.ids import IdSource, new_session_id, new_trail_id, trace_session_id
from services.common.ports.sessions import SessionRecord, SessionSnapshot, SessionStatus
from services.dag.chains import Chains
from services.dag.domain.breaker import check_delegation
from services.dag.domain.budget import FULL_BUDGET, budget_left, starting_budget
from services.dag.domain.ending import check_open
from services.dag.domain.opening_note import OpeningNote, check_policies
from services.dag.domain.view import DagView
from services.dag.expiry import Expiry
from services.dag.policy import DagPolicy
from services.dag.ports import MasterKeys


@dataclass(frozen=True, slots=True)
class CreateCommand:
    """A session to begin; fields as in ``OpenCommand``. With ``trace_id`` that of an ERCP trace, which may be there."""

    policy_hash: str = ""
    loop_depth: int | None = None
    parent_session_id: str = ""
    budget_ceiling: float | None = None
    policy_tightened: bool = False
    trace_id: str = ""
    compared: tuple[str, ...] = ()

    def has_compared(self, held: str) -> bool:
        """Say whether the caller found its policy to be at least as strict as the one with this hash."""
        return bool(self.policy_hash) and (self.policy_tightened or held in self.compared)


class Beginnings:
    """Makes the records of new sessions; nothing is written."""

    def __init__(
        self,
        expiry: Expiry,
        chains: Chains,
        master_keys: MasterKeys,
        sources: tuple[Clock, IdSource],
        policy: DagPolicy,
    ) -> None:
        self._expiry = expiry
        self._chains = chains
        self._master_keys = master_keys
        self._clock, self._ids = sources
        self._policy = policy

    async def session(self, caller: Caller, ask: CreateCommand) -> SessionRecord:
        """Return a session to begin; its ceiling is the budget that it starts with.

        Raises:
            NotFoundError: SESSION_NOT_FOUND: the parent session.
            PreconditionError: SESSION_CLOSED, SESSION_EXPIRED, DELEGATION_SUSPENDED: the parent session.
            ChainBrokenError: CHAIN_BROKEN: the parent session.
            PermissionDeniedError: POLICY_RELAXED: another policy than the parent session's.
            LimitExceededError: LOOP_DEPTH_LIMIT.
        """
        master = await self._master_keys.current()
        depth, inherited, policy_hash = ask.loop_depth or 0, FULL_BUDGET, ask.policy_hash
        if ask.parent_session_id:
            parent = await self._parent(caller, ask.parent_session_id)
            # SPEC-004 §15.2, §15.3: budget flows down, depth counts up; a caller can only be stricter.
            depth = max(depth, parent.session.loop_depth + 1)
            inherited = budget_left(parent.session, DagView.of(parent))
            policy_hash = ask.policy_hash or parent.session.policy_hash
            check_policies([OpeningNote(parent.session.policy_hash)], policy_hash, ask.has_compared)
        limits = self._policy.trace_limits if ask.trace_id else self._policy.limits
        limits.check_loop_depth(depth)
        if ask.parent_session_id:
            check_delegation(inherited, ask.parent_session_id)
        session_id = trace_session_id(caller.tenant_id, ask.trace_id) if ask.trace_id else new_session_id(self._ids)
        return SessionRecord(
            tenant_id=caller.tenant_id,
            session_id=session_id,
            scope=caller.scope,
            status=SessionStatus.OPEN,
            created_at=self._clock.now(),
            version=0,
            audit_trail_id=new_trail_id(self._ids),
            key_version=master.version,
            policy_hash=policy_hash,
            max_windows=limits.max_windows,
            max_fan_out=limits.max_fan_out,
            max_dag_nodes=limits.max_dag_nodes,
            max_loop_depth=limits.max_loop_depth,
            parent_session_id=ask.parent_session_id,
            loop_depth=depth,
            budget_ceiling=starting_budget((inherited,), ask.budget_ceiling),
        )

    async def _parent(self, caller: Caller, session_id: str) -> SessionSnapshot:
        """Return the session that delegates, open and verified: what flows down is what its record proves."""
        check_open((await self._expiry.snapshot(caller.tenant_id, session_id)).session)
        stored = await self._chains.load(caller.tenant_id, session_id)
        check_open(stored.snapshot.session)
        await self._chains.verified(stored)
        return stored.snapshot
