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
from services.common.concurrency import KeyedLock
from services.common.context import Caller
from services.common.errors import (
    ConflictError,
    ErrorReason,
    NotFoundError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnreadableRecordError,
)
from services.common.ids import (
    IdSource,
    is_trace_session,
    new_continuation_id,
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
)
from services.common.taxonomy import ChainIntegrity, WindowStatus
from services.dag.beginning import Beginnings, CreateCommand
from services.dag.chains import Chains
from services.dag.domain import budget, quality
from services.dag.domain.committing import CommitCommand, CommitTerms, commit_window
from services.dag.domain.ending import check_open, check_pending, end_session, fail_window, find_window
from services.dag.domain.erasing import check_not_erased
from services.dag.domain.events import OwnEvent, PendingEvent, session_data
from services.dag.domain.limits import check_events
from services.dag.domain.lineage import lineage_text
from services.dag.domain.opening import (
    OpenCommand,
    Opening,
    check_limits,
    check_strategy,
    open_child,
    open_root,
)
from services.dag.domain.opening_note import check_policies, note_of, policy_text
from services.dag.domain.origins import Adoptions, Origin, origins_of
from services.dag.domain.place import NewWindow
from services.dag.domain.questions import questions
from services.dag.domain.returning import Returned, with_return
from services.dag.domain.step import Step, empty_snapshot
from services.dag.domain.token import MAX_HISTORY, invalid_token, read
from services.dag.domain.verification import StoredChain, Verification
from services.dag.domain.view import DagView
from services.dag.expiry import Expiry
from services.dag.metrics import BudgetMetrics
from services.dag.policy import DagPolicy
from services.dag.ports import MasterKeys
from services.dag.registers import Registers
from services.dag.relaying import Relays
from services.dag.results import Committed, Created, Opened
from services.dag.returning import Returns, Turns
from services.dag.tokens import Leaf, Tokens, TrustedToken
from services.dag.writing import Changes, RequestKey, ResultT, Writer, refusing_unreadable

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
class AppendCommand:
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
        self._queues = KeyedLock()
        store, master_keys, clock = dependencies.store, dependencies.master_keys, dependencies.clock
        self.chains = Chains(store, master_keys, clock, policy.verify_max_windows)
        self.registers = Registers(store, master_keys, self.chains, clock, dependencies.ids, policy)
        self.expiry = Expiry(store, self.chains, self.registers, clock, policy)
        self._beginnings = Beginnings(self.expiry, self.chains, master_keys, (clock, dependencies.ids), policy)
        self.budgets = BudgetMetrics()
        self._returns = Returns(store, self.chains, self.expiry)
        self._relays = Relays(store, self.chains, clock, dependencies.ids, policy.limits)

    async def create_session(self, caller: Caller, ask: CreateCommand, request: RequestKey[Created]) -> bytes:
        """Begin a session without a window (SPEC-004 §4.1), or join the one of a trace (ADR 0073).

        Raises:
            UnauthenticatedError: TOKEN_SCOPE_MISMATCH: another credential's trace.
            LimitExceededError: LOOP_DEPTH_LIMIT.
            NotFoundError: SESSION_NOT_FOUND: the parent session.
            PermissionDeniedError: POLICY_RELAXED: another policy than the parent session's.
            PreconditionError: SESSION_CLOSED, DELEGATION_SUSPENDED: the parent session; REQUEST_ID_REUSED.
            ChainBrokenError: CHAIN_BROKEN: the parent session.
        """
        if ask.trace_id:
            joined = await self._joined(caller, ask)
            if joined is not None:
                return request.encode(joined)

        async def decide(_: int) -> tuple[SessionChange, Created]:
            session = await self._beginnings.session(caller, ask)
            before = empty_snapshot(session)
            begin = PendingEvent(OwnEvent.SESSION_CREATED, "", {"session": session_data(session)})
            change = await self._change(Step(session, drafts=(begin,)), before)
            origins = (Origin(await self._relays.store_id(), 0, ""),)
            leaf = Leaf(None, (), session.budget_ceiling, origins=origins)
            return change, Created(change.session, await self._tokens.issue(session, leaf))

        with self.budgets.counting_suspended():
            return await self._writer.continued(caller.tenant_id, request, decide)

    async def _joined(self, caller: Caller, ask: CreateCommand) -> Created | None:
        """Return the session of a trace with a fresh token for its latest window; ``None`` when there is none yet.

        Nothing is written, so that the answer needs no receipt.
        """
        session_id = trace_session_id(caller.tenant_id, ask.trace_id)
        with refusing_unreadable():
            before = await self._store.snapshot(caller.tenant_id, session_id)
        if before is None:
            return None
        if before.session.scope != caller.scope:
            text = "the trace was begun with another credential; use that one or start a new trace"
            raise UnauthenticatedError(ErrorReason.TOKEN_SCOPE_MISMATCH, text, trace_id=ask.trace_id)
        dag = DagView.of(before)
        latest = dag.committed[-1] if dag.committed else None
        history = quality.latest(quality.history_of(dag, (latest.window_id,)), MAX_HISTORY) if latest else ()
        remaining = latest.safety_budget if latest else before.session.budget_ceiling
        events = (await self.chains.load(caller.tenant_id, session_id)).events if dag.adopted else ()
        origins = origins_of(dag, latest, await self._relays.store_id(), Adoptions.of(events))
        issued = await self._tokens.issue(before.session, Leaf(latest, history, remaining, origins=origins))
        return Created(before.session, issued, dag)

    async def open_window(self, caller: Caller, token: str, ask: OpenCommand, request: RequestKey[Opened]) -> bytes:
        """Open the root of a new session, or a child of the windows that token and pointers name (SPEC-004 §4-§7).

        Raises:
            UnauthenticatedError: TOKEN_INVALID, TOKEN_EXPIRED, TOKEN_SPENT, TOKEN_SCOPE_MISMATCH.
            PermissionDeniedError: POLICY_RELAXED.
            NotFoundError: SESSION_NOT_FOUND, CONTINUATION_NOT_FOUND.
            PreconditionError: SESSION_CLOSED, UNSUPPORTED_STRATEGY, FAN_IN_INCOMPLETE, DELEGATION_SUSPENDED,
                REQUEST_ID_REUSED.
            LimitExceededError: WINDOW_LIMIT, FAN_OUT_LIMIT, DAG_NODE_LIMIT, LOOP_DEPTH_LIMIT.
            ChainBrokenError: CHAIN_BROKEN.
            ConflictError: COMMIT_RACE.
        """
        if not token and ask.continuation_ids:
            raise invalid_token("is missing beside the continuation id")
        if not token:
            check_strategy(ask, continues=False)
            async with self._refusing(caller, ask.parent_session_id):
                return await self._writer.continued(caller.tenant_id, request, lambda _: self._begin(caller, ask))

        async def decide(_: int) -> tuple[SessionChange, Opened]:
            return await self._continue(caller, await self._tokens.verify(token, caller, ask), ask)

        # The claimed session only names the queue; the token is believed in its turn.
        session_id = read(token).state.session_id
        async with self._refusing(caller, session_id):
            return await self._queued(caller, session_id, request, decide)

    @contextlib.asynccontextmanager
    async def _refusing(self, caller: Caller, session_id: str) -> AsyncIterator[None]:
        """Count refusals to delegate, and add to that of a policy the text of the one that is held, to compare with."""
        try:
            with self.budgets.counting_suspended():
                yield
        except PermissionDeniedError as error:
            held = error.metadata.get("session_policy_hash") or error.metadata.get("parent_policy_hash")
            if held:
                with contextlib.suppress(NotFoundError, UnreadableRecordError):  # another instance's store holds it
                    text = policy_text((await self.chains.load(caller.tenant_id, session_id)).events, held)
                    if text is not None and len(text) <= MAX_TOLD_CHARS:
                        error.metadata["held_policy"] = text
            raise

    async def commit_window(self, caller: Caller, ask: CommitCommand, request: RequestKey[Committed]) -> bytes:
        """Commit a pending window and issue the next token (SPEC-004 §9, §10); an agent's budget goes up (§15.2).

        Raises:
            NotFoundError: SESSION_NOT_FOUND, WINDOW_NOT_FOUND.
            PreconditionError: WINDOW_NOT_PENDING, REPORT_MISMATCH, SESSION_CLOSED, REQUEST_ID_REUSED.
            ConflictError: COMMIT_RACE: another commit of this window came first.
            ChainBrokenError: CHAIN_BROKEN.
        """
        made: list[tuple[Changes, Committed]] = []

        async def decide(lost: int) -> tuple[Changes, Committed]:
            made[:] = [await self._commit(caller, ask, lost, turns)]
            return made[0]

        async with Turns(self._queues) as turns:
            answer = await self._queued(caller, ask.session_id, request, decide)
        for changes, result in made:  # empty where the answer is one of before
            self.budgets.committed(result.window.safety_budget, changes)
        return answer

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

        async def decide(_: int) -> tuple[Changes, tuple[SessionRecord, DagView]]:
            before = await self._verified_snapshot(caller, session_id)
            check_open(before.session)
            step = end_session(before, SessionStatus.TERMINATED, reason)
            step, above = await self._with_return(step, before, "", turns)
            change = await self._change(step, before)
            return (change, *above), (change.session, DagView.of(before, change.windows))

        async with Turns(self._queues) as turns:
            return await self._queued(caller, session_id, request, decide)

    async def append_event(self, caller: Caller, ask: AppendCommand, request: RequestKey[AuditEventRecord]) -> bytes:
        """Append an event to the session's audit chain.

        Raises:
            NotFoundError: SESSION_NOT_FOUND, WINDOW_NOT_FOUND.
            LimitExceededError: EVENT_LIMIT.
            PreconditionError: SESSION_CLOSED: the session was erased; REQUEST_ID_REUSED.
            ChainBrokenError: CHAIN_BROKEN: the end of the trail is missing.
            ConflictError: COMMIT_RACE.
        """

        async def decide(_: int) -> tuple[SessionChange, AuditEventRecord]:
            before = await self.expiry.snapshot(caller.tenant_id, ask.session_id)
            check_not_erased(before.session)
            check_events(before.last_event, self._policy.max_session_events)
            if ask.window_id:
                find_window(DagView.of(before), ask.window_id)
            draft = PendingEvent(ask.event_type, ask.window_id, json.loads(ask.data))
            change = await self._change(Step(before.session, drafts=(draft,)), before, check=False)
            return change, change.events[-1]

        return await self._queued(caller, ask.session_id, request, decide)

    async def _queued(
        self,
        caller: Caller,
        session_id: str,
        request: RequestKey[ResultT],
        decide: Callable[[int], Awaitable[tuple[Changes, ResultT]]],
    ) -> bytes:
        """Write once, in the session's turn; waiting for it counts as a race lost."""
        async with self._queues.lock(caller.tenant_id, session_id) as waited:
            return await self._writer.continued(caller.tenant_id, request, lambda lost: decide(lost + waited))

    async def _begin(self, caller: Caller, ask: OpenCommand) -> tuple[SessionChange, Opened]:
        create = CreateCommand(
            ask.policy_hash,
            ask.loop_depth,
            ask.parent_session_id,
            ask.budget_ceiling,
            ask.policy_tightened,
            compared=ask.compared,
        )
        session = await self._beginnings.session(caller, create)
        before = empty_snapshot(session)
        opening = open_root(before, ask, self._fresh(), session.budget_ceiling, session.policy_hash)
        return await self._opened(before, opening, Verification(ChainIntegrity.UNVERIFIED, 0, 0, 0, 0))

    async def _continue(self, caller: Caller, token: TrustedToken, ask: OpenCommand) -> tuple[SessionChange, Opened]:
        state, fresh = token.state, self._fresh()
        check_strategy(ask, continues=state.window_number > 0)
        found = await self.expiry.find(caller.tenant_id, state.session_id)
        if found is None:
            await self._relays.take_over(caller, state)
            found = await self.expiry.load(caller.tenant_id, state.session_id)
        check_open(found.snapshot.session)
        check_limits(found.snapshot, state, ask, fresh)
        stored, verification = await self._relays.line(caller, state, fresh, found)
        before, agents = stored.snapshot, list[StoredChain]()
        if state.window_number == 0:
            opening = open_root(before, ask, fresh, state.safety_budget, token.policy_hash)
        else:
            agents = [await self._agent(caller, session_id) for session_id in ask.agent_sessions]
            opening = open_child(
                before, state, token.policy_hash, ask, fresh, agents=[agent.snapshot for agent in agents]
            )
        notes = [note_of(stored.events, parent, before.session) for parent in opening.window.parent_ids]
        check_policies(notes, token.policy_hash, ask.has_compared)
        for agent in agents:  # last: recomputing chains costs most, and nothing of them was kept yet
            await self.chains.verified(agent)
        change, opened = await self._opened(before, opening, verification)
        ancestors = {prior.window_id for prior in opened.prior_windows}
        kept = {report.window_id: report.inputs for report in stored.reports if report.window_id in ancestors}
        return change, replace(opened, questions=questions(kept))

    async def _agent(self, caller: Caller, session_id: str) -> StoredChain:
        """Return an agent's session whose answers are to be merged (§15.1); its chain is still to be verified."""
        stored = await self.expiry.load(caller.tenant_id, session_id)
        check_not_erased(stored.snapshot.session)
        return stored

    async def _commit(self, caller: Caller, ask: CommitCommand, lost: int, turns: Turns) -> tuple[Changes, Committed]:
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
        step, above = await self._with_return(commit.step, before, ask.window_id, turns)
        change = await self.chains.change(step, before, now=terms.now)
        dag = DagView.of(before, change.windows, change.edges)
        history = quality.history_of(dag, (ask.window_id,), verification.quality_before)
        carried = quality.latest(history, MAX_HISTORY)
        origins = origins_of(dag, commit.window, await self._relays.store_id(), Adoptions.of(stored.events))
        leaf = Leaf(commit.window, carried, commit.window.safety_budget, ask.ckf_state_hash, origins)
        # A branch of a fan-out has a policy of its own (ADR 0051).
        issued = await self._tokens.issue(replace(change.session, policy_hash=terms.note.policy_hash), leaf)
        return (change, *above), Committed(
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

    async def _with_return(
        self, step: Step, before: SessionSnapshot, window_id: str, turns: Turns
    ) -> tuple[Step, tuple[SessionChange, ...]]:
        """Return the step with the event of what an agent's session has left, and the sessions above, lowered to it.

        A trace's windows are drafts that cost nothing (ADR 0073), and who has answered nothing has nothing to return.
        """
        if not step.session.parent_session_id or is_trace_session(step.session.session_id):
            return step, ()
        dag = DagView.of(before, step.windows, step.edges)
        if not dag.committed:
            return step, ()
        left = budget.budget_left(step.session, dag)
        upward = await self._returns.upward(before.session, Returned(before.session.session_id, window_id, left), turns)
        return (step, ()) if upward is None else (with_return(step, upward.draft), upward.changes)

    async def _verified_snapshot(self, caller: Caller, session_id: str) -> SessionSnapshot:
        """Return the session, verified: no write puts a fresh event over records that do not hold."""
        stored = await self.expiry.load(caller.tenant_id, session_id)
        if stored.snapshot.session.status is SessionStatus.BROKEN:
            check_open(stored.snapshot.session)
        await self.chains.verified(stored)
        return stored.snapshot

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
            depleted=self._policy.profile.depleted(window.safety_budget),
            agents_left_out=opening.agents_left_out,
        )

    async def _change(self, step: Step, before: SessionSnapshot, *, check: bool = True) -> SessionChange:
        step = await self._relays.begin(step) if before.session.version == 0 else step
        return await self.chains.change(step, before, check=check)

    def _fresh(self) -> NewWindow:
        return NewWindow(new_window_id(self._ids), self._clock.now(), self._policy.pending_lifetime)


def _check_race(window: WindowRecord, lost: int) -> None:
    """Tell the loser of a race from a late second commit (ADR 0009).

    Raises:
        ConflictError: COMMIT_RACE.
    """
    if lost and window.status is not WindowStatus.PENDING:
        text = "another request committed or failed the window first"
        raise ConflictError(ErrorReason.COMMIT_RACE, text, window_id=window.window_id)
