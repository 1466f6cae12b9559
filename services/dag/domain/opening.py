"""Opening a window: the root of a new session, or a linear child of the leaf that a token names (SPEC-004 §4, §5).

The token's form, signature and expiry were checked before (``token_checks``); here the DAG decides whether its leaf is
still open, which limits hold, what flows from the parent and what the window starts with.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from services.common.errors import ErrorReason, NotFoundError, PreconditionError, UnauthenticatedError
from services.common.ports.sessions import (
    EdgeRecord,
    SessionRecord,
    SessionSnapshot,
    WindowPattern,
    WindowRecord,
    WindowStatus,
)
from services.dag.domain import chain
from services.dag.domain.budget import starting_budget
from services.dag.domain.ending import fail
from services.dag.domain.events import Draft, OwnEvent, session_data, window_data
from services.dag.domain.limits import Limits
from services.dag.domain.step import Step
from services.dag.domain.token import TokenState, invalid_token
from services.dag.domain.transfer import Transfer, choose_transfer
from services.dag.domain.verify import Fault
from services.dag.domain.view import DagView

ABANDONED: Final = "ABANDONED"
SERVED_STRATEGIES: Final = ("push", "pull", "reflexive", "agentic", "hierarchical", "batch", "streaming")
"""Strategies whose windows hang in a line; fan-out and fan-in are refused as UNSUPPORTED_STRATEGY."""


@dataclass(frozen=True, slots=True)
class OpenAsk:
    """What the caller wants.

    Attributes:
        continuation_ids: pointers that the request names; empty takes the token's own.
        strategy: the header's spelling.
        policy_hash: 64 hex digits or empty.
        policy_tightened: the caller compared the policies.
        loop_depth: ``None`` = the parent session's plus one, 0 without a parent.
        budget_ceiling: lowers the starting budget; ``None`` = no ceiling.
        available_budget_tokens: decides the transfer type; ``None`` for a root.
        request_id: kept with the window.
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


@dataclass(frozen=True, slots=True)
class Fresh:
    """The impure values of one step.

    Attributes:
        pending_lifetime: after which a pending window counts as abandoned.
    """

    window_id: str
    now: datetime
    pending_lifetime: timedelta


@dataclass(frozen=True, slots=True)
class Opening:
    """The step and what the window starts from."""

    step: Step
    window: WindowRecord
    transfers: tuple[tuple[WindowRecord, Transfer], ...] = ()


def check_strategy(ask: OpenAsk) -> None:
    """Refuse what this deployment does not chain.

    Raises:
        PreconditionError: UNSUPPORTED_STRATEGY.
    """
    if ask.strategy not in SERVED_STRATEGIES or len(ask.continuation_ids) > 1:
        served = ", ".join(SERVED_STRATEGIES)
        text = f"windows of strategy {ask.strategy} with {len(ask.continuation_ids)} parents are not served; served: "
        raise PreconditionError(ErrorReason.UNSUPPORTED_STRATEGY, text + served, strategy=ask.strategy, served=served)


def open_root(before: SessionSnapshot, ask: OpenAsk, fresh: Fresh, inherited_budget: float) -> Opening:
    """Open the root window of a session that has none that lives.

    Args:
        before: the session; one that is not stored yet has version 0.
        ask: what the caller wants.
        fresh: the impure values.
        inherited_budget: of a parent session's or the first token's; 1.0 otherwise.

    Raises:
        UnauthenticatedError: TOKEN_SPENT: the session has a root.
    """
    dag = DagView.of(before)
    failed = _fail_abandoned(dag, [window for window in (dag.root,) if window is not None], fresh)
    Limits.of(before.session).check_nodes(len(dag.windows))
    window = WindowRecord(
        session_id=before.session.session_id,
        window_id=fresh.window_id,
        window_number=1,
        parent_ids=(),
        pattern=WindowPattern.LINEAR,
        status=WindowStatus.PENDING,
        strategy=ask.strategy,
        timestamp=fresh.now,
        opened_by_request=ask.request_id,
        safety_budget=starting_budget((inherited_budget,), ask.budget_ceiling),
    )
    created = before.session.version == 0
    begin = _session_draft(OwnEvent.SESSION_CREATED, before.session) if created else ()
    drafts = (*begin, *(draft for _, draft in failed), _started(window, ()))
    step = Step(before.session, windows=(*(failing for failing, _ in failed), window), drafts=drafts)
    return Opening(step, window)


def open_child(before: SessionSnapshot, token: TokenState, policy_hash: str, ask: OpenAsk, fresh: Fresh) -> Opening:
    """Open the linear child of the leaf that the token names (SPEC-004 §4.2, §5).

    Args:
        before: the session, verified.
        token: believed, and its tip is stored (``token_fault``).
        policy_hash: in force from now on; empty keeps the session's.
        ask: what the caller wants; ``available_budget_tokens`` is set.
        fresh: the impure values.

    Raises:
        NotFoundError: CONTINUATION_NOT_FOUND.
        UnauthenticatedError: TOKEN_INVALID, TOKEN_SPENT.
        LimitExceededError: WINDOW_LIMIT, DAG_NODE_LIMIT.
    """
    dag = DagView.of(before)
    parent = _named_leaf(dag, token, ask.continuation_ids)
    failed = _fail_abandoned(dag, dag.living_children(parent.window_id), fresh)
    limits = Limits.of(before.session)
    limits.check_window_number(parent.window_number + 1)
    limits.check_nodes(len(dag.windows))
    transfer = choose_transfer(parent, ask.available_budget_tokens or 0)
    session = replace(before.session, policy_hash=policy_hash or before.session.policy_hash)
    window = WindowRecord(
        session_id=session.session_id,
        window_id=fresh.window_id,
        window_number=parent.window_number + 1,
        parent_ids=(parent.window_id,),
        pattern=WindowPattern.LINEAR,
        status=WindowStatus.PENDING,
        strategy=ask.strategy,
        timestamp=fresh.now,
        opened_by_request=ask.request_id,
        safety_budget=starting_budget((parent.safety_budget,), ask.budget_ceiling),
    )
    edge = EdgeRecord(
        session_id=session.session_id,
        source_id=parent.window_id,
        target_id=window.window_id,
        transfer_type=transfer.transfer_type,
        transferred_tokens=transfer.tokens,
    )
    continued = _session_draft(OwnEvent.SESSION_CONTINUED, session)
    drafts = (*(draft for _, draft in failed), *continued, _started(window, (edge,), transfer))
    step = Step(session, windows=(*(failing for failing, _ in failed), window), edges=(edge,), drafts=drafts)
    return Opening(step, window, ((parent, transfer),))


def token_fault(dag: DagView, token: TokenState) -> Fault | None:
    """Last check of a token: its leaf is stored as the token says (CRP-SPEC-007).

    A token that verifies but whose leaf is missing or other than it says shows that the store lost or changed windows:
    the chain is broken (SPEC-004 §16.4).
    """
    if token.window_number == 0:
        return None
    leaf = next((w for w in dag.committed if chain.same(w.hmac, token.chain_tip)), None)
    if leaf is None:
        return Fault("window", token.continuation_id, "is missing: a session token names it")
    if (leaf.window_number, leaf.continuation_id) != (token.window_number, token.continuation_id):
        return Fault("window", leaf.window_id, "differs from the session token that names it")
    return None


def _named_leaf(dag: DagView, token: TokenState, continuation_ids: Sequence[str]) -> WindowRecord:
    """Return the window that token and pointer name together (SPEC-004 §4.2 step 3, §17.3)."""
    pointers = {window.continuation_id: window for window in dag.committed if window.continuation_id}
    for asked in continuation_ids:
        if asked not in pointers:
            text = "no window of the session issued the continuation id; start a new session"
            raise NotFoundError(ErrorReason.CONTINUATION_NOT_FOUND, text, continuation_id=asked)
    if continuation_ids and continuation_ids[0] != token.continuation_id:
        raise invalid_token("is of another window than the continuation id")
    return pointers[token.continuation_id]


def _fail_abandoned(dag: DagView, living: Sequence[WindowRecord], fresh: Fresh) -> list[tuple[WindowRecord, Draft]]:
    """Fail pending windows that nobody will commit any more; refuse when one lives.

    Raises:
        UnauthenticatedError: TOKEN_SPENT: the leaf was already continued (decision 8).
    """
    for window in living:
        if window.status is WindowStatus.COMMITTED or fresh.now < window.timestamp + fresh.pending_lifetime:
            text = "the session token's window was already continued; use the latest token or start a new session"
            raise UnauthenticatedError(ErrorReason.TOKEN_SPENT, text, retry_after_s=0, window_id=window.window_id)
    return [fail(dag, window, ABANDONED) for window in living]


def _session_draft(kind: OwnEvent, session: SessionRecord) -> tuple[Draft]:
    return (Draft(kind, "", {"session": session_data(session)}),)


def _started(window: WindowRecord, edges: tuple[EdgeRecord, ...], transfer: Transfer | None = None) -> Draft:
    skipped = list(transfer.skipped) if transfer else []
    data = {**window_data(window, edges), "transfer_types_skipped": skipped}
    return Draft(OwnEvent.DISPATCH_STARTED, window.window_id, data)
