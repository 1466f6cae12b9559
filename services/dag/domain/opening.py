"""Opening a window: the root of a new session, or a child of the windows that token and pointers name (SPEC-004 §4-§7).

The token's form, signature and expiry were checked before (``token_checks``); here the DAG decides whether its leaf is
still open, which limits hold, what flows from the parents and what the window starts with. Where the window hangs is
decided by ``linear``, ``fan_out``, ``branch`` and ``fan_in``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.errors import ErrorReason, NotFoundError, PreconditionError
from services.common.ports.sessions import EdgeRecord, SessionRecord, SessionSnapshot, WindowPattern, WindowRecord
from services.common.taxonomy import WindowStatus
from services.dag.domain.agents import answers_of
from services.dag.domain.branch import place_branch
from services.dag.domain.breaker import check_delegation
from services.dag.domain.budget import starting_budget
from services.dag.domain.ending import branch_ended, fail
from services.dag.domain.events import OwnEvent, PendingEvent, session_data, window_data
from services.dag.domain.fan_in import place_fan_in
from services.dag.domain.fan_out import place_fan_out
from services.dag.domain.groups import Groups
from services.dag.domain.limits import Limits
from services.dag.domain.linear import place_linear
from services.dag.domain.opening_note import PARTIAL, REQUIRE_ALL, OpeningNote, note_data
from services.dag.domain.place import NewWindow, Place, give_way, spent
from services.dag.domain.step import Step
from services.dag.domain.token import TokenState, invalid_token
from services.dag.domain.transfer import Room, Transfer, choose_transfers
from services.dag.domain.view import DagView

ABANDONED: Final = "ABANDONED"
FAN_OUT: Final = "fan-out"
FAN_IN: Final = "fan-in"
PARALLEL_STRATEGIES: Final = (FAN_OUT, "hierarchical", "batch")
"""Strategies whose windows may share a parent: sub-queries and independent queries are a fan-out (CRP-SPEC-008)."""


@dataclass(frozen=True, slots=True)
class OpenCommand:
    """What the caller wants.

    Attributes:
        strategy: the header's spelling.
        continuation_ids: pointers that the request names; empty takes the token's own, several are a fan-in (§14.4).
        policy_hash: 64 hex digits or empty.
        policy: the text that ``policy_hash`` is over; empty when the caller does not give it.
        policy_tightened: the caller compared the policies, all of them.
        compared: hashes of the policies that it compared.
        agent_sessions: sessions under this one whose latest answers are merged (§15.1).
        loop_depth: ``None`` = the parent session's plus one, 0 without a parent.
        budget_ceiling: lowers the starting budget; ``None`` = no ceiling.
        available_budget_tokens: decides the transfer type; ``None`` for a root.
        request_id: kept with the window.
        partial: a fan-in may leave failed and ended children out (§16.3).
        summariser: the caller can make and verify summaries (§12).
        branch: a sibling of a reflexive window (§1.2).
    """

    strategy: str
    request_id: str
    continuation_ids: tuple[str, ...] = ()
    policy_hash: str = ""
    policy_tightened: bool = False
    loop_depth: int | None = None
    budget_ceiling: float | None = None
    parent_session_id: str = ""
    available_budget_tokens: int | None = None
    partial: bool = False
    summariser: bool = False
    branch: bool = False
    policy: str = ""
    compared: tuple[str, ...] = ()
    agent_sessions: tuple[str, ...] = ()

    def has_compared(self, held: str) -> bool:
        """Say whether the caller found its policy to be at least as strict as the one with this hash."""
        return bool(self.policy_hash) and (self.policy_tightened or held in self.compared)

    @property
    def pattern(self) -> WindowPattern:
        """How a window of this request hangs on its parents; a root is always LINEAR."""
        if self.branch:
            return WindowPattern.BRANCH
        if len(self.continuation_ids) > 1 or (self.strategy == FAN_IN and not self.agent_sessions):
            return WindowPattern.FAN_IN
        return WindowPattern.FAN_OUT if self.strategy in PARALLEL_STRATEGIES else WindowPattern.LINEAR


@dataclass(frozen=True, slots=True)
class Opening:
    """The step and what the window starts from."""

    step: Step
    window: WindowRecord
    transfers: tuple[tuple[WindowRecord, Transfer], ...] = ()
    agents_left_out: tuple[str, ...] = ()


def check_strategy(ask: OpenCommand, *, continues: bool) -> None:
    """Refuse a strategy that does not fit what it is to continue.

    Args:
        ask: what the caller wants.
        continues: whether a token names a session with windows.

    Raises:
        PreconditionError: UNSUPPORTED_STRATEGY.
    """
    text = ""
    if ask.strategy == FAN_OUT and len(ask.continuation_ids) > 1:
        text = "a fan-out has one parent; name one continuation id, or merge several with fan-in"
    elif ask.agent_sessions and ask.strategy != FAN_IN:
        text = "answers of agents' sessions are merged with strategy fan-in alone"
    elif not continues and (ask.agent_sessions or ask.pattern in (WindowPattern.FAN_IN, WindowPattern.BRANCH)):
        text = f"the first window of a session merges and branches from nothing, strategy {ask.strategy} needs parents"
    if text:
        raise PreconditionError(ErrorReason.UNSUPPORTED_STRATEGY, text, strategy=ask.strategy)


def check_limits(before: SessionSnapshot, token: TokenState, ask: OpenCommand, fresh: NewWindow) -> None:
    """Refuse what is beyond the limits before the chain is read and verified (SPEC-004 §17.4).

    Args:
        before: the session, not verified yet.
        token: believed.
        ask: what the caller wants.
        fresh: the impure values.

    Raises:
        LimitExceededError: LOOP_DEPTH_LIMIT, WINDOW_LIMIT, DAG_NODE_LIMIT, FAN_OUT_LIMIT.
    """
    limits = Limits.of(before.session)
    limits.check_loop_depth(max(before.session.loop_depth, ask.loop_depth or 0))
    asked = {token.continuation_id, *ask.continuation_ids} - {""}
    named = [window for window in before.windows if window.continuation_id in asked]
    limits.check_window_number(max((window.window_number for window in named), default=token.window_number) + 1)
    limits.check_nodes(len(before.windows))
    if ask.pattern in (WindowPattern.FAN_OUT, WindowPattern.BRANCH):
        dag = DagView.of(before)
        for window in named:
            children = [child for child in dag.living_children(window.window_id) if not fresh.is_abandoned(child)]
            # A group that was taken is TOKEN_SPENT, however many are in it.
            if not Groups.of(dag).is_taken((window.window_id,), fresh):
                limits.check_fan_out(len(children))


def open_root(
    before: SessionSnapshot, ask: OpenCommand, fresh: NewWindow, inherited_budget: float, policy_hash: str
) -> Opening:
    """Open the root window of a session that has none that lives.

    Args:
        before: the session; one that is not stored yet has version 0.
        ask: what the caller wants.
        fresh: the impure values.
        inherited_budget: of a parent session's or the first token's; 1.0 otherwise.
        policy_hash: in force from now on; empty keeps the session's.

    Raises:
        NotFoundError: CONTINUATION_NOT_FOUND: a pointer is named and the session has no window.
        UnauthenticatedError: TOKEN_SPENT: the session has a root.
    """
    dag = DagView.of(before)
    _check_pointers(dag, ask.continuation_ids)
    abandoned = give_way((window for window in (dag.root,) if window is not None), fresh)
    Limits.of(before.session).check_nodes(len(dag.windows))
    session = replace(before.session, policy_hash=policy_hash or before.session.policy_hash)
    place = Place((), WindowPattern.LINEAR, abandoned)
    budget = starting_budget((inherited_budget, session.budget_ceiling), ask.budget_ceiling)
    window = _window(session, place, ask, fresh, budget)
    created = before.session.version == 0
    begin = (_session_draft(OwnEvent.SESSION_CREATED, session),) if created else ()
    note = OpeningNote(policy_hash=session.policy_hash, policy=ask.policy, compared=ask.compared)
    return _opening(dag, session, (place, window), (), (note, begin))


def open_child(
    before: SessionSnapshot,
    token: TokenState,
    policy_hash: str,
    ask: OpenCommand,
    fresh: NewWindow,
    agents: Sequence[SessionSnapshot] = (),
) -> Opening:
    """Open a child of the windows that token and pointers name (SPEC-004 §4.2, §5-§7).

    Args:
        before: the session, verified.
        token: believed, and its leaf is stored (``relaying``).
        policy_hash: in force from now on; empty keeps the session's.
        ask: what the caller wants; ``available_budget_tokens`` is set.
        fresh: the impure values.
        agents: the sessions that ``ask.agent_sessions`` names, in that order; the caller verifies them before it keeps
            what is opened.

    Raises:
        NotFoundError: CONTINUATION_NOT_FOUND.
        UnauthenticatedError: TOKEN_INVALID, TOKEN_SPENT.
        PreconditionError: SESSION_CLOSED (the token's branch ended), UNSUPPORTED_STRATEGY, FAN_IN_INCOMPLETE,
            DELEGATION_SUSPENDED.
        LimitExceededError: WINDOW_LIMIT, FAN_OUT_LIMIT, DAG_NODE_LIMIT.
    """
    dag = DagView.of(before)
    limits = Limits.of(before.session)
    parents = _named(dag, token, ask)
    limits.check_window_number(max(parent.window_number for parent in parents) + 1)
    limits.check_nodes(len(dag.windows))
    place = _place(dag, parents, ask, limits, fresh)
    found = answers_of(agents, before.session.session_id, fresh, partial=ask.partial)
    merged = place.pattern is WindowPattern.FAN_IN or bool(found.ends)
    limits.check_merged(len(found.ends))
    room = Room(ask.available_budget_tokens or 0, ask.summariser)
    transfers = choose_transfers(place.parents, room, merged=merged, agents=found.ends)
    sources = (*place.parents, *found.ends)
    inherited = (before.session.budget_ceiling, *(source.safety_budget for source in sources))
    if place.pattern is WindowPattern.FAN_OUT:
        check_delegation(min(inherited), before.session.session_id)
    budget = starting_budget(inherited, ask.budget_ceiling)
    note = OpeningNote(
        policy_hash=policy_hash or before.session.policy_hash,
        policy=ask.policy,
        compared=ask.compared,
        summary_tokens={parent.window_id: flow.summary_tokens for parent, flow in transfers if flow.summary_tokens},
        fan_in_policy=(PARTIAL if ask.partial else REQUIRE_ALL) if merged else "",
        left_out=place.left_out,
        agents=found.named(),
        agents_left_out=found.left_out,
    )
    window = _window(before.session, place, ask, fresh, budget)
    session = _with_policy(before, window, note)
    begin = (_session_draft(OwnEvent.SESSION_CONTINUED, session), *_fan_out_created(dag, window, limits))
    opened = _opening(dag, session, (place, window), transfers, (note, begin))
    return replace(opened, agents_left_out=found.left_out)


def _named(dag: DagView, token: TokenState, ask: OpenCommand) -> list[WindowRecord]:
    """Return the windows that token and pointers name together (SPEC-004 §4.2 step 3, §7.3.2, §17.3)."""
    if not token.continuation_id:
        raise branch_ended(token.session_id)
    pointers = _check_pointers(dag, ask.continuation_ids)
    asked = ask.continuation_ids or (token.continuation_id,)
    if token.continuation_id not in asked:
        own = pointers[token.continuation_id]
        children = dag.living_children(own.window_id)
        raise spent(children[0]) if children else invalid_token("is of another window than the continuation id")
    return [pointers[continuation_id] for continuation_id in asked]


def _check_pointers(dag: DagView, continuation_ids: Sequence[str]) -> dict[str, WindowRecord]:
    """Return the windows by their pointers.

    Raises:
        NotFoundError: CONTINUATION_NOT_FOUND (§16.1): a guessed pointer and another session's are alike (§17.3).
    """
    pointers = {window.continuation_id: window for window in dag.committed if window.continuation_id}
    for asked in continuation_ids:
        if asked not in pointers:
            text = "no window of the session issued the continuation id; start a new session"
            raise NotFoundError(ErrorReason.CONTINUATION_NOT_FOUND, text, continuation_id=asked)
    return pointers


def _place(dag: DagView, parents: Sequence[WindowRecord], ask: OpenCommand, limits: Limits, fresh: NewWindow) -> Place:
    match ask.pattern:
        case WindowPattern.FAN_IN:
            return place_fan_in(dag, parents, fresh, partial=ask.partial)
        case WindowPattern.FAN_OUT:
            return place_fan_out(dag, parents[0], limits, fresh)
        case WindowPattern.BRANCH:
            return place_branch(dag, parents[0], limits, fresh)
        case WindowPattern.LINEAR:
            return place_linear(dag, parents[0], fresh)


def _window(session: SessionRecord, place: Place, ask: OpenCommand, fresh: NewWindow, budget: float) -> WindowRecord:
    return WindowRecord(
        session_id=session.session_id,
        window_id=fresh.window_id,
        # SPEC-004 §3.3, §6.3: one above the highest parent, so that siblings share it.
        window_number=max((parent.window_number for parent in place.parents), default=0) + 1,
        parent_ids=tuple(parent.window_id for parent in place.parents),
        pattern=place.pattern,
        status=WindowStatus.PENDING,
        strategy=ask.strategy,
        timestamp=fresh.now,
        opened_by_request=ask.request_id,
        safety_budget=budget,
    )


def _with_policy(before: SessionSnapshot, window: WindowRecord, note: OpeningNote) -> SessionRecord:
    """Return the session; its policy follows the main line only, each branch has its own (ADR 0051)."""
    inside = Groups.of(DagView.of(before, (window,))).is_parallel(window.window_id)
    return before.session if inside else replace(before.session, policy_hash=note.policy_hash)


def _fan_out_created(dag: DagView, window: WindowRecord, limits: Limits) -> tuple[PendingEvent, ...]:
    """Return the event of a fan-out's first child; the later ones are known by their own events."""
    if window.pattern is not WindowPattern.FAN_OUT:
        return ()
    parent_id = window.parent_ids[0]
    if any(child.pattern is WindowPattern.FAN_OUT for child in dag.children(parent_id)):
        return ()
    bounds = {"max_fan_out": limits.max_fan_out, "safety_budget": window.safety_budget}
    data = {"first_child_id": window.window_id, **bounds}
    return (PendingEvent(OwnEvent.FAN_OUT_CREATED, parent_id, data),)


def _opening(
    dag: DagView,
    session: SessionRecord,
    placed: tuple[Place, WindowRecord],
    transfers: tuple[tuple[WindowRecord, Transfer], ...],
    said: tuple[OpeningNote, tuple[PendingEvent, ...]],
) -> Opening:
    """Return the step: abandoned windows fail, the session's events, the window with its edges."""
    place, window = placed
    note, begin = said
    failed = [fail(dag, abandoned, ABANDONED) for abandoned in place.abandoned]
    edges = tuple(
        EdgeRecord(session.session_id, parent.window_id, window.window_id, flow.transfer_type, flow.tokens)
        for parent, flow in transfers
        if parent.session_id == session.session_id  # an edge joins windows of one session (§3.2)
    )
    data = {**window_data(window, edges), **note_data(note, transfers)}
    started = PendingEvent(OwnEvent.DISPATCH_STARTED, window.window_id, data)
    drafts = (*(draft for _, draft in failed), *begin, started)
    step = Step(session, windows=(*(failing for failing, _ in failed), window), edges=edges, drafts=drafts)
    return Opening(step, window, transfers)


def _session_draft(kind: OwnEvent, session: SessionRecord) -> PendingEvent:
    return PendingEvent(kind, "", {"session": session_data(session)})
