"""Taking over a session whose windows another instance stored (SPEC-004 §10.2; architecture decision 9).

The token is believed: it gives number, history, budget, limits and the tip. A stand-in for the leaf is stored,
COMMITTED with the tip as its hmac and without a report, so that the chain goes on from it; verification says PARTIAL.
"""

from datetime import datetime
from typing import Final

from services.common.encoding import sha256_hex
from services.common.ids import WINDOW_PREFIX
from services.common.ports.sessions import SessionRecord, SessionStatus, WindowPattern, WindowRecord, WindowStatus
from services.dag.domain.chain import same
from services.dag.domain.events import Draft, OwnEvent, session_data, window_data
from services.dag.domain.limits import Limits
from services.dag.domain.quality import tiers_of
from services.dag.domain.step import Step
from services.dag.domain.token import TokenState
from services.dag.domain.view import DagView, is_adopted

_ID_DIGITS: Final = 16


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
    continued = Draft(OwnEvent.SESSION_CONTINUED, "", {"session": session_data(session), "adopted": True})
    if token.window_number == 0:
        return Step(session, drafts=(continued,))
    leaf, stood_in = _stand_in(token)
    return Step(session, windows=(leaf,), drafts=(continued, stood_in))


def is_elsewhere(dag: DagView, token: TokenState) -> bool:
    """Say whether the token's leaf may be missing because this store took the session over by a sibling's token.

    A store holds one root of a session, and the stand-in is it: the sibling goes on where its windows are.
    """
    return any(is_adopted(window) for window in dag.committed) and not any(
        same(window.hmac, token.chain_tip) for window in dag.committed
    )


def _stand_in(token: TokenState) -> tuple[WindowRecord, Draft]:
    digest = sha256_hex(f"{token.session_id}.{token.window_number}.{token.chain_tip}")
    leaf = WindowRecord(
        session_id=token.session_id,
        window_id=WINDOW_PREFIX + digest[:_ID_DIGITS],
        window_number=token.window_number,
        parent_ids=(),
        pattern=WindowPattern.LINEAR,
        status=WindowStatus.COMMITTED,
        strategy=token.strategy,
        timestamp=token.issued_at,
        continuation_id=token.continuation_id,
        quality_tier=next(reversed(tiers_of(token.quality_history)), ""),
        safety_budget=token.safety_budget,
        hmac=token.chain_tip,
    )
    data = {**window_data(leaf, ()), "adopted": {"quality_history": list(token.quality_history)}}
    return leaf, Draft(OwnEvent.DISPATCH_COMPLETED, leaf.window_id, data)
