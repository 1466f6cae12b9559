"""Sessions and windows: every write reads a snapshot, decides by the pure rules, and writes under the version guard.

Nothing here knows protobuf or gRPC. Answers of mutating calls are serialised by the caller's ``RequestKey.encode``
before they are written, so that a repeated request gets the same bytes (``writing``).
"""

import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from services.common.clock import Clock
from services.common.computing import compute_unless_small
from services.common.context import Caller
from services.common.errors import (
    ConflictError,
    ErrorReason,
    NotFoundError,
    PermissionDeniedError,
    UnauthenticatedError,
)
from services.common.ids import (
    IdSource,
    new_continuation_id,
    new_session_id,
    new_trail_id,
    new_window_id,
    trace_session_id,
)
from services.common.ports.sessions import (
    AuditEventRecord,
    SessionChange,
    SessionRecord,
    SessionSnapshot,
    SessionStatus,
    SessionStore,
    WindowRecord,
    WindowStatus,
)
from services.common.progress import writing
from services.dag.chains import Chains, session_not_found
from services.dag.domain import budget, quality
from services.dag.domain.adopting import adopt, is_elsewhere
from services.dag.domain.committing import CommitAsk, CommitTerms, commit_window
from services.dag.domain.ending import (
    branch_ended,
    check_open,
    check_pending,
    end_session,
    fail_window,
    find_window,
    not_here,
)
from services.dag.domain.erasing import check_not_erased
from services.dag.domain.events import Draft, OwnEvent, session_data
from services.dag.domain.limits import check_events
from services.dag.domain.lineage import lineage_text
from services.dag.domain.opening import (
    OpenAsk,
    Opening,
    check_limits,
    check_strategy,
    open_child,
    open_root,
    token_fault,
)
from services.dag.domain.opening_note import OpeningNote, check_policies, note_of, policy_text
from services.dag.domain.place import Fresh
from services.dag.domain.questions import questions
from services.dag.domain.step import Step, empty_snapshot, to_change
from services.dag.domain.token import MAX_HISTORY, invalid_token, read
from services.dag.domain.verify import Integrity, Verification
from services.dag.domain.view import DagView
from services.dag.expiry import Expiry
from services.dag.policy import DagPolicy
from services.dag.ports import MasterKeys
from services.dag.queues import SessionQueues
from services.dag.registers import Registers
from services.dag.results import Committed, Created, Opened
from services.dag.tokens import Believed, Leaf, Tokens
from services.dag.writing import RequestKey, ResultT, Writer

DRAFT_KEY_BYTES: Final = 32
"""Of the key that an opened window's caller gets for what it keeps meanwhile (AES-256; ADR 0055)."""

MAX_TOLD_CHARS: Final = 4_096
"""Longest policy that a refusal tells: the details of an error travel in trailers, which clients limit."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The adapters that sessions live on."""

    store: SessionStore
    master_keys: MasterKeys
    clock: Clock
    ids: IdSource


@dataclass(frozen=True, slots=True)
class CreateAsk:
    """A session to begin; fields as in ``OpenAsk``. With ``trace_id`` the one of an ERCP trace, which may be there."""

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


@dataclass(frozen=True, slots=True)
class AppendAsk:
    """An event to append; ``data`` is a JSON object."""

    session_id: str
    event_type: str
    window_id: str
    data: str


class SessionApp:
    """All writes of the dag service."""

    def __init__(self, dependencies: Dependencies, policy: DagPolicy) -> None:
        self._store = dependencies.store
        self._master_keys = dependencies.master_keys
        self._clock = dependencies.clock
        self._ids = dependencies.ids
        self._policy = policy
        self._writer = Writer(dependencies.store, dependencies.clock)
        self._tokens = Tokens(dependencies.master_keys, dependencies.clock, policy.token_lifetime)
        self._queues = SessionQueues()
        store, master_keys, clock = dependencies.store, dependencies.master_keys, dependencies.clock
        self.chains = Chains(store, master_keys, clock, policy.verify_max_windows)
        self.registers = Registers(store, master_keys, self.chains, clock, dependencies.ids, policy)
        self.expiry = Expiry(store, self.chains, self.registers, clock, policy)

    async def create_session(self, caller: Caller, ask: CreateAsk, request: RequestKey[Created]) -> bytes:
        """Begin a session without a window (SPEC-004 §4.1), or join the one of a trace (ADR 0073).

        Raises:
            UnauthenticatedError: TOKEN_SCOPE_MISMATCH: another credential's trace.
            LimitExceededError: LOOP_DEPTH_LIMIT.
            NotFoundError: SESSION_NOT_FOUND: the parent session.
            PermissionDeniedError: POLICY_RELAXED: another policy than the parent session's.
            PreconditionError: SESSION_CLOSED: the parent session; REQUEST_ID_REUSED.
            ChainBrokenError: CHAIN_BROKEN: the parent session.
        """
        if ask.trace_id:
            joined = await self._joined(caller, ask)
            if joined is not None:
                return request.encode(joined)

        async def decide(_: int) -> tuple[SessionChange, Created]:
            session, inherited = await self._new_session(caller, ask)
            before = empty_snapshot(session)
            begin = Draft(OwnEvent.SESSION_CREATED, "", {"session": session_data(session)})
            change = await self._change(Step(session, drafts=(begin,)), before)
            leaf = Leaf(None, (), budget.starting_budget((inherited,), ask.budget_ceiling))
            return change, Created(change.session, await self._tokens.issue(session, leaf))

        return await self._writer.once(caller.tenant_id, request, decide)

    async def _joined(self, caller: Caller, ask: CreateAsk) -> Created | None:
        """Return the session of a trace with a fresh token for its latest window; ``None`` when there is none yet.

        Nothing is written, so that the answer needs no receipt.
        """
        before = await self._store.snapshot(caller.tenant_id, trace_session_id(caller.tenant_id, ask.trace_id))
        if before is None:
            return None
        if before.session.scope != caller.scope:
            text = "the trace was begun with another credential; use that one or start a new trace"
            raise UnauthenticatedError(ErrorReason.TOKEN_SCOPE_MISMATCH, text, trace_id=ask.trace_id)
        dag = DagView.of(before)
        latest = dag.committed[-1] if dag.committed else None
        history = quality.latest(quality.history_of(dag, (latest.window_id,)), MAX_HISTORY) if latest else ()
        remaining = latest.safety_budget if latest else budget.starting_budget((), ask.budget_ceiling)
        issued = await self._tokens.issue(before.session, Leaf(latest, history, remaining))
        return Created(before.session, issued, dag)

    async def open_window(self, caller: Caller, token: str, ask: OpenAsk, request: RequestKey[Opened]) -> bytes:
        """Open the root of a new session, or a child of the windows that token and pointers name (SPEC-004 §4-§7).

        Raises:
            UnauthenticatedError: TOKEN_INVALID, TOKEN_EXPIRED, TOKEN_SPENT, TOKEN_SCOPE_MISMATCH.
            PermissionDeniedError: POLICY_RELAXED.
            NotFoundError: SESSION_NOT_FOUND, CONTINUATION_NOT_FOUND.
            PreconditionError: SESSION_CLOSED, UNSUPPORTED_STRATEGY, FAN_IN_INCOMPLETE, REQUEST_ID_REUSED.
            LimitExceededError: WINDOW_LIMIT, FAN_OUT_LIMIT, DAG_NODE_LIMIT, LOOP_DEPTH_LIMIT.
            ChainBrokenError: CHAIN_BROKEN.
            ConflictError: COMMIT_RACE.
        """
        if not token and ask.continuation_ids:
            raise invalid_token("is missing beside the continuation id")
        if not token:
            check_strategy(ask, continues=False)
            async with self._telling_policy(caller, ask.parent_session_id):
                return await self._writer.once(caller.tenant_id, request, lambda _: self._begin(caller, ask))

        async def decide(_: int) -> tuple[SessionChange, Opened]:
            return await self._continue(caller, await self._tokens.believe(token, caller, ask), ask)

        # The claimed session only names the queue; the token is believed in its turn.
        session_id = read(token).state.session_id
        async with self._telling_policy(caller, session_id):
            return await self._queued(caller, session_id, request, decide)

    @contextlib.asynccontextmanager
    async def _telling_policy(self, caller: Caller, session_id: str) -> AsyncIterator[None]:
        """Add to the refusal of a policy the text of the one that is held, so that the caller can compare the two."""
        try:
            yield
        except PermissionDeniedError as error:
            held = error.metadata.get("session_policy_hash") or error.metadata.get("parent_policy_hash")
            if held:
                with contextlib.suppress(NotFoundError):  # another instance's store holds it
                    text = policy_text((await self.chains.load(caller.tenant_id, session_id)).events, held)
                    if text is not None and len(text) <= MAX_TOLD_CHARS:
                        error.metadata["held_policy"] = text
            raise

    async def commit_window(self, caller: Caller, ask: CommitAsk, request: RequestKey[Committed]) -> bytes:
        """Commit a pending window and issue the next token (SPEC-004 §9, §10).

        Raises:
            NotFoundError: SESSION_NOT_FOUND, WINDOW_NOT_FOUND.
            PreconditionError: WINDOW_NOT_PENDING, REPORT_MISMATCH, SESSION_CLOSED, REQUEST_ID_REUSED.
            ConflictError: COMMIT_RACE: another commit of this window came first.
            ChainBrokenError: CHAIN_BROKEN.
        """
        return await self._queued(caller, ask.session_id, request, lambda lost: self._commit(caller, ask, lost))

    async def fail_window(
        self, caller: Caller, ids: tuple[str, str], reason: str, request: RequestKey[tuple[WindowRecord, DagView]]
    ) -> bytes:
        """Give a pending window up (SPEC-004 §16.3); ``ids`` are session and window.

        Raises:
            NotFoundError: SESSION_NOT_FOUND, WINDOW_NOT_FOUND.
            PreconditionError: WINDOW_NOT_PENDING, REQUEST_ID_REUSED.
            ConflictError: COMMIT_RACE.
            ChainBrokenError: CHAIN_BROKEN.
        """

        async def decide(lost: int) -> tuple[SessionChange, tuple[WindowRecord, DagView]]:
            before = await self._verified_snapshot(caller, ids[0])
            _check_race(find_window(DagView.of(before), ids[1]), lost)
            step, window = fail_window(before, ids[1], reason)
            return await self._change(step, before), (window, DagView.of(before, (window,)))

        return await self._queued(caller, ids[0], request, decide)

    async def terminate_session(
        self, caller: Caller, session_id: str, reason: str, request: RequestKey[tuple[SessionRecord, DagView]]
    ) -> bytes:
        """End a session for good (SPEC-004 §4.3).

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
            PreconditionError: SESSION_CLOSED, REQUEST_ID_REUSED.
            ChainBrokenError: CHAIN_BROKEN.
            ConflictError: COMMIT_RACE.
        """

        async def decide(_: int) -> tuple[SessionChange, tuple[SessionRecord, DagView]]:
            before = await self._verified_snapshot(caller, session_id)
            check_open(before.session)
            change = await self._change(end_session(before, SessionStatus.TERMINATED, reason), before)
            return change, (change.session, DagView.of(before, change.windows))

        return await self._queued(caller, session_id, request, decide)

    async def append_event(self, caller: Caller, ask: AppendAsk, request: RequestKey[AuditEventRecord]) -> bytes:
        """Append an event to the session's audit chain.

        Raises:
            NotFoundError: SESSION_NOT_FOUND, WINDOW_NOT_FOUND.
            LimitExceededError: EVENT_LIMIT.
            PreconditionError: SESSION_CLOSED: the session was erased; REQUEST_ID_REUSED.
            ConflictError: COMMIT_RACE.
        """

        async def decide(_: int) -> tuple[SessionChange, AuditEventRecord]:
            before = await self.expiry.snapshot(caller.tenant_id, ask.session_id)
            check_not_erased(before.session)
            check_events(before.last_event, self._policy.max_session_events)
            if ask.window_id:
                find_window(DagView.of(before), ask.window_id)
            draft = Draft(ask.event_type, ask.window_id, json.loads(ask.data))
            change = await self._change(Step(before.session, drafts=(draft,)), before, check=False)
            return change, change.events[0]

        return await self._queued(caller, ask.session_id, request, decide)

    async def _queued(
        self,
        caller: Caller,
        session_id: str,
        request: RequestKey[ResultT],
        decide: Callable[[int], Awaitable[tuple[SessionChange, ResultT]]],
    ) -> bytes:
        """Write once, in the session's turn; waiting for it counts as a race lost."""
        async with self._queues.turn(caller.tenant_id, session_id) as waited:
            return await self._writer.once(caller.tenant_id, request, lambda lost: decide(lost + waited))

    async def _begin(self, caller: Caller, ask: OpenAsk) -> tuple[SessionChange, Opened]:
        create = CreateAsk(
            ask.policy_hash,
            ask.loop_depth,
            ask.parent_session_id,
            ask.budget_ceiling,
            ask.policy_tightened,
            compared=ask.compared,
        )
        session, inherited = await self._new_session(caller, create)
        before = empty_snapshot(session)
        opening = open_root(before, ask, self._fresh(), inherited, session.policy_hash)
        return await self._opened(before, opening, Verification(Integrity.UNVERIFIED, 0, 0, 0, 0))

    async def _continue(self, caller: Caller, token: Believed, ask: OpenAsk) -> tuple[SessionChange, Opened]:
        state, fresh = token.state, self._fresh()
        check_strategy(ask, continues=state.window_number > 0)
        snapshot = await self._store.snapshot(caller.tenant_id, state.session_id)
        if snapshot is None:
            await self._adopt(caller, token)
            snapshot = await self.chains.snapshot(caller.tenant_id, state.session_id)
        snapshot = await self.expiry.settled(snapshot)
        check_open(snapshot.session)
        check_limits(snapshot, state, ask, fresh)
        stored = await self.chains.load(caller.tenant_id, state.session_id)
        before = stored.snapshot
        check_open(before.session)
        verification = await self.chains.verified(stored)
        dag = DagView.of(before)
        fault = token_fault(dag, state)
        if fault is not None and is_elsewhere(dag, state):
            raise not_here(state.continuation_id)
        if fault is not None:
            await self.chains.close_broken(before, fault)
        if state.window_number == 0:
            opening = open_root(before, ask, fresh, state.safety_budget, token.policy_hash)
        else:
            opening = open_child(before, state, token.policy_hash, ask, fresh)
        notes = [note_of(stored.events, parent, before.session) for parent in opening.window.parent_ids]
        check_policies(notes, token.policy_hash, ask.has_compared)
        change, opened = await self._opened(before, opening, verification)
        ancestors = {prior.window_id for prior in opened.prior_windows}
        kept = {report.window_id: report.inputs for report in stored.reports if report.window_id in ancestors}
        return change, replace(opened, questions=questions(kept))

    async def _commit(self, caller: Caller, ask: CommitAsk, lost: int) -> tuple[SessionChange, Committed]:
        stored = await self.expiry.load(caller.tenant_id, ask.session_id)
        before = stored.snapshot
        pending = find_window(DagView.of(before), ask.window_id)
        _check_race(pending, lost)
        if before.session.status is not SessionStatus.EXPIRED:  # its window failed with it; the cause says more
            check_pending(pending)
        check_open(before.session)
        verification = await self.chains.verified(stored)
        terms = CommitTerms(
            key=await self.chains.hmac_key(before.session),
            now=self._clock.now(),
            continuation_id=new_continuation_id(self._ids),
            verified=verification.integrity,
            profile=self._policy.profile,
            note=note_of(stored.events, ask.window_id, before.session),
        )
        # A report has some seventeen bytes for each character of its answer.
        commit = await compute_unless_small(17 * len(ask.response_text), commit_window, before, ask, terms)
        change = to_change(commit.step, before, terms.now, terms.key)
        dag = DagView.of(before, change.windows, change.edges)
        history = quality.history_of(dag, (ask.window_id,), verification.quality_before)
        carried = quality.latest(history, MAX_HISTORY)
        leaf = Leaf(commit.window, carried, commit.window.safety_budget, ask.ckf_state_hash)
        # A branch of a fan-out has a policy of its own (ADR 0051).
        issued = await self._tokens.issue(replace(change.session, policy_hash=terms.note.policy_hash), leaf)
        return change, Committed(
            session=change.session,
            window=commit.window,
            dag=dag,
            issued=issued,
            integrity=commit.integrity,
            lineage=lineage_text(dag, ask.window_id),
            quality_history=history,
            degradation=quality.degradation(history),
            root_window_id=dag.root.window_id if dag.root and dag.root.window_number == 1 else "",
            end_cause=commit.end_cause,
            needs_review=self._policy.profile.needs_review(commit.window.safety_budget),
        )

    async def _verified_snapshot(self, caller: Caller, session_id: str) -> SessionSnapshot:
        """Return the session, verified: no write puts a fresh event over records that do not hold."""
        stored = await self.expiry.load(caller.tenant_id, session_id)
        if stored.snapshot.session.status is SessionStatus.BROKEN:
            check_open(stored.snapshot.session)
        await self.chains.verified(stored)
        return stored.snapshot

    async def _adopt(self, caller: Caller, token: Believed) -> None:
        """Take over a session that another instance's store holds (SPEC-004 §10.2, decision 9)."""
        state = token.state
        if not state.tenant:
            raise session_not_found(state.session_id)
        if state.window_number > 0 and not state.continuation_id:
            raise branch_ended(state.session_id)
        adoption = adopt(state, caller.tenant_id, self._clock.now(), new_trail_id(self._ids), self._policy.limits)
        before = empty_snapshot(adoption.session)
        with contextlib.suppress(ConflictError):  # a request beside this one adopted it first
            change = await self._change(adoption, before)
            with writing():
                await self._store.write(change)

    async def _opened(
        self, before: SessionSnapshot, opening: Opening, verification: Verification
    ) -> tuple[SessionChange, Opened]:
        change = await self._change(opening.step, before)
        dag = DagView.of(before, change.windows, change.edges)
        window = opening.window
        history = quality.history_of(dag, window.parent_ids, verification.quality_before)
        prior = dag.lineage(window.parent_ids)
        return change, Opened(
            session=change.session,
            window=window,
            dag=dag,
            transfers=opening.transfers,
            # SPEC-004 §5.3, ADR 0051: the ancestors' facts; siblings are not to see how far the others are.
            facts_seen=tuple(sorted({fact for found in prior for fact in found.facts_included})),
            integrity=verification.integrity,
            prior_windows=prior,
            quality_history=history,
            degradation=quality.degradation(history),
            draft_key=secrets.token_bytes(DRAFT_KEY_BYTES),
        )

    async def _new_session(self, caller: Caller, ask: CreateAsk) -> tuple[SessionRecord, float]:
        """Return a session to begin and the budget that it inherits."""
        master = await self._master_keys.current()
        depth, inherited, policy_hash = ask.loop_depth or 0, budget.FULL_BUDGET, ask.policy_hash
        if ask.parent_session_id:
            parent = await self.expiry.snapshot(caller.tenant_id, ask.parent_session_id)
            check_open(parent.session)
            # SPEC-004 §15.2, §15.3: budget flows down, depth counts up; a caller can only be stricter.
            depth = max(depth, parent.session.loop_depth + 1)
            inherited = min((leaf.safety_budget for leaf in DagView.of(parent).leaves()), default=inherited)
            policy_hash = ask.policy_hash or parent.session.policy_hash
            check_policies([OpeningNote(parent.session.policy_hash)], policy_hash, ask.has_compared)
        limits = self._policy.trace_limits if ask.trace_id else self._policy.limits
        limits.check_loop_depth(depth)
        session_id = trace_session_id(caller.tenant_id, ask.trace_id) if ask.trace_id else new_session_id(self._ids)
        session = SessionRecord(
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
        )
        return session, inherited

    async def _change(self, step: Step, before: SessionSnapshot, *, check: bool = True) -> SessionChange:
        key = await self.chains.hmac_key(step.session)
        return to_change(step, before, self._clock.now(), key, check=check)

    def _fresh(self) -> Fresh:
        return Fresh(new_window_id(self._ids), self._clock.now(), self._policy.pending_lifetime)


def _check_race(window: WindowRecord, lost: int) -> None:
    """Tell the loser of a race from a late second commit (decision 8).

    Raises:
        ConflictError: COMMIT_RACE.
    """
    if lost and window.status is not WindowStatus.PENDING:
        text = "another request committed or failed the window first"
        raise ConflictError(ErrorReason.COMMIT_RACE, text, window_id=window.window_id)
