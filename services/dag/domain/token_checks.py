"""Whether a presented session token holds: signature, expiry, scope, policy, nonce, in that order (CRP-SPEC-007 facts).

The last check, the chain tip, needs the DAG and is ``opening``'s matter, like whether the token's leaf is still open.
Comparisons take constant time (SPEC-004 §17.2).
"""

import hmac
from datetime import datetime, timedelta
from typing import Final

from services.common.encoding import sha256_hex
from services.common.errors import ErrorReason, PermissionDeniedError, UnauthenticatedError
from services.dag.domain.keys import MasterKey
from services.dag.domain.token import Presented, invalid_token, policy_nonce, signature, tenant_digest

CLOCK_LEEWAY: Final = timedelta(seconds=300)
"""By how much the clock of the instance that issued a token may be ahead of ours (ADR 0058)."""
NO_POLICY: Final = sha256_hex("")
"""Hash of a policy without a directive; an empty hash says nothing, which keeps the session's."""


def check_signature(presented: Presented, sign_key: bytes) -> None:
    """First check, in constant time (SPEC-004 §17.2).

    Raises:
        UnauthenticatedError: TOKEN_INVALID.
    """
    if not hmac.compare_digest(signature(presented.payload_text, sign_key), presented.signature):
        raise invalid_token("does not verify")


def check_expiry(presented: Presented, now: datetime) -> None:
    """Second check (SPEC-004 §10.3).

    A token holds from its issue to its expiry as our clock tells them. A clock that was set back must not lengthen the
    life of what is out, so a token from its future is refused, but for the leeway between two instances' clocks.

    Raises:
        UnauthenticatedError: TOKEN_EXPIRED; TOKEN_INVALID when it was issued later than now.
    """
    ahead = presented.state.issued_at - now
    if ahead > CLOCK_LEEWAY:
        raise invalid_token(f"was issued {ahead.total_seconds():.0f} s after this server's present time")
    if now >= presented.state.expires_at:
        expired = presented.state.expires_at.isoformat()
        text = f"the session token expired at {expired}; start a new session"
        raise UnauthenticatedError(ErrorReason.TOKEN_EXPIRED, text, retry_after_s=0, expired_at=expired)


def check_key(presented: Presented, master: MasterKey, now: datetime, lifetime: timedelta) -> None:
    """Part of the first check: the key that signed still held when the token says that it did (CRP-SPEC-007 facts).

    Raises:
        UnauthenticatedError: TOKEN_INVALID.
    """
    if not master.signs_at(now, lifetime):
        raise invalid_token("was signed with a key that does not hold any more")
    if not master.may_have_issued(presented.state.issued_at):
        raise invalid_token("is dated after the retirement of the key that signed it")


def check_scope(presented: Presented, scope: str, tenant_id: str) -> None:
    """Third check: the token was issued to this credential of this tenant.

    Raises:
        UnauthenticatedError: TOKEN_SCOPE_MISMATCH.
    """
    state = presented.state
    same_tenant = not state.tenant or _equal(state.tenant, tenant_digest(tenant_id))
    if not (_equal(state.scope, scope) and same_tenant):
        text = "the session token was issued to another credential; start a new session"
        raise UnauthenticatedError(ErrorReason.TOKEN_SCOPE_MISMATCH, text, retry_after_s=0)


def check_policy(presented: Presented, policy_hash: str, *, tightened: bool) -> str:
    """Fourth check: the policy stays, or was only tightened (CRP-SPEC-006 facts). Returns the hash in force.

    Args:
        presented: the token.
        policy_hash: of the request; empty keeps the session's.
        tightened: the caller compared both policies, directive by directive.

    Raises:
        PermissionDeniedError: POLICY_RELAXED.
    """
    held = presented.state.policy_hash
    if not policy_hash or policy_hash == held or (not held and policy_hash == NO_POLICY):
        return held
    if held and not tightened:
        text = "the safety policy differs from the session's and was not shown to be at least as strict"
        raise PermissionDeniedError(ErrorReason.POLICY_RELAXED, text, session_policy_hash=held, policy_hash=policy_hash)
    return policy_hash


def check_nonce(presented: Presented, sign_key: bytes) -> None:
    """Fifth check: the nonce is the one of session and policy.

    Raises:
        UnauthenticatedError: TOKEN_INVALID.
    """
    state = presented.state
    if not _equal(presented.nonce, policy_nonce(state.session_id, state.policy_hash, sign_key)):
        raise invalid_token("has a nonce of another policy")


def _equal(left: str, right: str) -> bool:
    return hmac.compare_digest(left.encode(), right.encode())
