"""Taking over windows that another instance stored (SPEC-004 §10.2; ADR 0102).

The token is believed: it gives number, history, budget, limits, policy and the tip. A stand-in for the leaf is stored,
COMMITTED with the tip as its hmac and without a report, so that the chain goes on from it; verification says PARTIAL.
In a store that holds earlier windows of the line, the stand-in hangs on the nearest of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from services.common.encoding import sha256_hex
from services.common.ids import WINDOW_PREFIX
from services.common.ports.sessions import (
    EdgeRecord,
    SessionRecord,
    SessionSnapshot,
    SessionStatus,
    TransferType,
    WindowPattern,
    WindowRecord,
)
from services.common.taxonomy import WindowStatus
from services.dag.domain import chain
from services.dag.domain.ending import fail, not_here
from services.dag.domain.events import OwnEvent, PendingEvent, session_data, window_data
from services.dag.domain.groups import Groups
from services.dag.domain.limits import Limits
from services.dag.domain.origins import TIP_DIGITS, Adoptions, group_tips, origin_fields, tip_of
from services.dag.domain.place import NewWindow, give_way, spent
from services.dag.domain.quality import tiers_of
from services.dag.domain.step import Step
from services.dag.domain.token import TokenState
from services.dag.domain.verification import Fault
from services.dag.domain.view import DagView, is_adopted

_ID_DIGITS: Final = 16
ABANDONED: Final = "ABANDONED"


def adopt(token: TokenState, tenant_id: str, now: datetime, audit_trail_id: str, local: Limits) -> Step:
    """Return the session and, when the token names one, its leaf's stand-in.

    Args:
        token: believed; a leaf that it names can be continued.
        tenant_id: the caller's tenant.
        now: the moment of the adoption.
        audit_trail_id: a fresh trail; the other instance's goes on there.
        local: limits for a token that carries none.
    """
    limits = Limits(*token.limits) if token.limits else local
    session = SessionRecord(
        tenant_id=tenant_id,
        session_id=token.session_id,
        scope=token.scope,
        status=SessionStatus.OPEN,
        created_at=now,
        version=0,
        audit_trail_id=audit_trail_id,
        key_version=token.hmac_key_version,
        policy_hash=token.policy_hash,
        max_windows=limits.max_windows,
        max_fan_out=limits.max_fan_out,
        max_dag_nodes=limits.max_dag_nodes,
        max_loop_depth=limits.max_loop_depth,
        budget_ceiling=token.safety_budget,
    )
    if token.window_number == 0:
        return Step(session, drafts=(_continued(session),))
    groups = tuple(origin.tip for origin in token.origins if origin.opened_group)
    return _adoption(session, token, _Place((), WindowPattern.LINEAR, groups))


def adopt_leaf(before: SessionSnapshot, token: TokenState, adoptions: Adoptions, fresh: NewWindow) -> Step:
    """Return the stand-in for a token's leaf in a session of which earlier windows are here.

    It takes the place that the window would have been given here: where a store can know that the line was continued
    otherwise, the token was used twice.

    Args:
        before: the session, verified; it does not hold the leaf, and nothing says that it should (``token_fault``).
        token: believed.
        adoptions: what the session's adopted windows came with.
        fresh: the impure values.

    Raises:
        NotFoundError: CONTINUATION_NOT_FOUND: nothing here is on the token's line.
        UnauthenticatedError: TOKEN_SPENT: the line was continued here otherwise, or a fan-in has taken it.
        LimitExceededError: FAN_OUT_LIMIT, DAG_NODE_LIMIT.
    """
    dag = DagView.of(before)
    limits = Limits.of(before.session)
    limits.check_nodes(len(dag.windows))
    place = _place(dag, token, adoptions, limits, fresh)
    session = before.session
    if not place.groups:  # the main line's policy is the session's (ADR 0051)
        session = replace(session, policy_hash=token.policy_hash)
    return _adoption(session, token, place, [fail(dag, window, ABANDONED) for window in place.abandoned])


def token_fault(dag: DagView, token: TokenState, own: frozenset[str]) -> Fault | None:
    """Last check of a token: what it says of this store's windows is so (CRP-SPEC-007; SPEC-004 §16.4).

    A token that verifies and names a window of this store that is not here, or that is other than it says, shows that
    the store lost or changed windows. A window of another store may be missing: that is a relay.

    Args:
        dag: the session.
        token: believed.
        own: ids of this store: its own, and the one that the session's first event names.
    """
    if token.window_number == 0:
        return None
    leaf = find_leaf(dag, token)
    if leaf is not None and (leaf.window_number, leaf.continuation_id) != (token.window_number, token.continuation_id):
        return Fault("window", leaf.window_id, "differs from the session token that names it")
    held = {tip_of(window): window for window in dag.committed}
    for place, origin in enumerate(token.origins):
        if origin.store_id in own and origin.tip and not _is_held(held, origin.tip, origin.window_number):
            name = token.continuation_id if place == 0 else f"number {origin.window_number}"
            return Fault("window", name, "is missing: a session token names it as a window of this store")
    return None


def find_leaf(dag: DagView, token: TokenState) -> WindowRecord | None:
    """Return the window that the token names, or ``None``."""
    return next((window for window in dag.committed if chain.same(window.hmac, token.chain_tip)), None)


def _is_held(held: dict[str, WindowRecord], tip: str, number: int) -> bool:
    return tip in held and held[tip].window_number == number


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a stand-in hangs; ``groups`` as in ``origins.Adopted``."""

    parents: tuple[WindowRecord, ...]
    pattern: WindowPattern
    groups: tuple[str, ...] = ()
    abandoned: tuple[WindowRecord, ...] = ()


def _place(dag: DagView, token: TokenState, adoptions: Adoptions, limits: Limits, fresh: NewWindow) -> _Place:
    parents = _nearest(dag, token) or _stood_in(dag, token, adoptions, fresh)
    opened = tuple(origin.tip for origin in token.origins if origin.opened_group)
    if not parents:
        return _Place((), WindowPattern.LINEAR, opened, _free_root(dag, token, adoptions, fresh))
    children = [child for parent in parents for child in dag.living_children(parent.window_id)]
    in_the_way = [child for child in children if not _is_hollow(dag, child)]
    standing = group_tips(dag, parents[0], adoptions)
    pattern = WindowPattern(token.dag_structure)
    if len(parents) > 1 or pattern is WindowPattern.FAN_IN or not set(standing) <= set(opened):
        groups = Groups.of(dag)
        takers = groups.take_over(groups.paths[parents[0].window_id], fresh)
        return _Place(parents, WindowPattern.FAN_IN, (), _unlike((*give_way(in_the_way, fresh), *takers)))
    inside = tuple(tip for tip in opened if tip not in standing)
    if not inside:
        return _Place(parents, WindowPattern.LINEAR, (), give_way(in_the_way, fresh))
    _check_not_passed(dag, token, adoptions)
    siblings = [child for child in children if child.pattern is not WindowPattern.LINEAR]
    limits.check_fan_out(len(siblings))
    groups = Groups.of(dag)
    takers = groups.take_over((*groups.paths[parents[0].window_id], parents[0].window_id), fresh)
    if pattern is WindowPattern.BRANCH:  # it stands beside a reflexive window, which is LINEAR (§1.2)
        return _Place(parents, WindowPattern.BRANCH, inside, takers)
    others = give_way([child for child in in_the_way if child.pattern is not WindowPattern.FAN_OUT], fresh)
    return _Place(parents, WindowPattern.FAN_OUT, inside, _unlike((*others, *takers)))


def _unlike(windows: Sequence[WindowRecord]) -> tuple[WindowRecord, ...]:
    return tuple({window.window_id: window for window in windows}.values())


def _nearest(dag: DagView, token: TokenState) -> tuple[WindowRecord, ...]:
    """Return the windows of the token's line that are here and that no other one descends from, sorted by id."""
    tips = {origin.tip for origin in token.origins[1:] if origin.tip}
    known = {w.window_id: w for w in dag.committed if tip_of(w) in tips and w.window_number < token.window_number}
    for window in sorted(known.values(), key=lambda one: -one.window_number):
        if window.window_id in known:
            for above in dag.lineage((window.window_id,)):
                if above.window_id != window.window_id:
                    known.pop(above.window_id, None)
    return tuple(known[window_id] for window_id in sorted(known))


def _stood_in(dag: DagView, token: TokenState, adoptions: Adoptions, fresh: NewWindow) -> tuple[WindowRecord, ...]:
    """Return the latest stand-in before the token's window where a store holds nothing but stand-ins of one line.

    The token's line may have gone on past all of them, each of its stores having later windows to name: a store that
    cannot tell a fork from the line takes it (ADR 0102). In parallel groups it can: their openers are named.

    Raises:
        UnauthenticatedError: TOKEN_SPENT: a window that is here descends from the token's.
    """
    root = dag.root
    if root is None or fresh.is_abandoned(root) or not _is_hollow(dag, root) or _names_other_root(token, root):
        return ()
    standing = [one for one in (root, *dag.descendants(root.window_id)) if _lives(one)]
    if any(origin.opened_group for origin in token.origins) or any(adoptions[one.window_id].groups for one in standing):
        return ()
    before = [one for one in standing if one.window_number < token.window_number]
    if not before:
        return ()
    _check_not_passed(dag, token, adoptions)
    return (max(before, key=lambda one: (one.window_number, one.window_id)),)


def _names_other_root(token: TokenState, root: WindowRecord) -> bool:
    named = any(origin.window_number == 1 and origin.tip != tip_of(root) for origin in token.origins)
    return root.window_number == 1 and named


def _free_root(dag: DagView, token: TokenState, adoptions: Adoptions, fresh: NewWindow) -> tuple[WindowRecord, ...]:
    """Return the abandoned root that gives way; a store holds one living root of a session (SPEC-004 §3.3).

    Raises:
        UnauthenticatedError: TOKEN_SPENT: the session's first token was used here and elsewhere, or a window that is
            here descends from the token's.
        NotFoundError: CONTINUATION_NOT_FOUND.
    """
    root = dag.root
    if root is None or fresh.is_abandoned(root):
        return () if root is None else (root,)
    _check_not_passed(dag, token, adoptions)
    if _names_other_root(token, root):
        raise spent(root)
    raise not_here(token.continuation_id)


def _check_not_passed(dag: DagView, token: TokenState, adoptions: Adoptions) -> None:
    """Refuse a window that one that is here descends from, as its token said, and that is open to no fan-out.

    Raises:
        UnauthenticatedError: TOKEN_SPENT.
    """
    tip = token.chain_tip[:TIP_DIGITS]
    for window in dag.adopted:
        if any(one.tip == tip and not one.opened_group for one in adoptions[window.window_id].origins):
            raise spent(window)


def _is_hollow(dag: DagView, window: WindowRecord) -> bool:
    """Say whether a window and all below it only stand for others': whether they are of a line cannot be known here."""
    return all(is_adopted(one) for one in (window, *dag.descendants(window.window_id)) if _lives(one))


def _lives(window: WindowRecord) -> bool:
    return window.status is not WindowStatus.FAILED


def _continued(session: SessionRecord) -> PendingEvent:
    return PendingEvent(OwnEvent.SESSION_CONTINUED, "", {"session": session_data(session), "adopted": True})


def _adoption(
    session: SessionRecord, token: TokenState, place: _Place, failed: Sequence[tuple[WindowRecord, PendingEvent]] = ()
) -> Step:
    leaf = _stand_in(token, place)
    edges = tuple(
        EdgeRecord(session.session_id, parent.window_id, leaf.window_id, TransferType.RELAYED, 0)
        for parent in place.parents
    )
    said: dict[str, Any] = {
        "quality_history": list(token.quality_history),
        "policy_hash": token.policy_hash,
        "origins": origin_fields(token.origins),
        "groups": list(place.groups),
    }
    stood_in = PendingEvent(OwnEvent.DISPATCH_COMPLETED, leaf.window_id, {**window_data(leaf, edges), "adopted": said})
    drafts = (*(draft for _, draft in failed), _continued(session), stood_in)
    return Step(session, windows=(*(window for window, _ in failed), leaf), edges=edges, drafts=drafts)


def _stand_in(token: TokenState, place: _Place) -> WindowRecord:
    digest = sha256_hex(f"{token.session_id}.{token.window_number}.{token.chain_tip}")
    return WindowRecord(
        session_id=token.session_id,
        window_id=WINDOW_PREFIX + digest[:_ID_DIGITS],
        window_number=token.window_number,
        parent_ids=tuple(parent.window_id for parent in place.parents),
        pattern=place.pattern,
        status=WindowStatus.COMMITTED,
        strategy=token.strategy,
        timestamp=token.issued_at,
        continuation_id=token.continuation_id,
        quality_tier=next(reversed(tiers_of(token.quality_history)), ""),
        safety_budget=token.safety_budget,
        hmac=token.chain_tip,
    )
