"""Issuing and believing session tokens: the rules of ``domain.token`` over the master keys (SPEC-004 §10, §17.2)."""

from dataclasses import dataclass
from datetime import timedelta

from services.common.clock import Clock
from services.common.context import Caller
from services.common.ports.sessions import SessionRecord, WindowRecord
from services.dag.domain import keys, quality, token_checks
from services.dag.domain import token as tokens
from services.dag.domain.limits import Limits
from services.dag.domain.opening import OpenCommand
from services.dag.domain.origins import Origin
from services.dag.domain.token import TokenState, invalid_token
from services.dag.ports import MasterKeys


@dataclass(frozen=True, slots=True)
class Issued:
    """A token and the whole CRP-Set-Session value around it."""

    session_token: str
    set_session: str


@dataclass(frozen=True, slots=True)
class TrustedToken:
    """A token that holds but for its chain tip, and the policy hash that is in force from now on."""

    state: TokenState
    policy_hash: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """What a token names.

    Attributes:
        window: ``None`` before the first window.
        quality_history: tiers up to it.
        safety_budget: to go on with.
        origins: of its line (``origins.origins_of``).
    """

    window: WindowRecord | None
    quality_history: tuple[str, ...]
    safety_budget: float
    ckf_state_hash: str = ""
    origins: tuple[Origin, ...] = ()


class Tokens:
    """Signs with the current master key, believes whatever a key that still holds has signed."""

    def __init__(self, master_keys: MasterKeys, clock: Clock, lifetime: timedelta) -> None:
        self._master_keys = master_keys
        self._clock = clock
        self._lifetime = lifetime

    async def issue(self, session: SessionRecord, leaf: Leaf) -> Issued:
        """Return a token for the leaf."""
        master = await self._master_keys.current()
        now = self._clock.now().replace(microsecond=0)
        window = leaf.window
        state = TokenState(
            session_id=session.session_id,
            window_number=window.window_number if window else 0,
            quality_history=leaf.quality_history,
            safety_budget=leaf.safety_budget,
            chain_tip=window.hmac if window else "",
            continuation_id=window.continuation_id if window else "",
            dag_structure=window.pattern.value if window else "LINEAR",
            strategy=window.strategy if window else "",
            policy_hash=session.policy_hash,
            ckf_state_hash=leaf.ckf_state_hash,
            scope=session.scope,
            tenant=tokens.tenant_digest(session.tenant_id),
            limits=Limits.of(session).as_tuple(),
            issued_at=now,
            expires_at=now + self._lifetime,
            key_version=master.version,
            hmac_key_version=session.key_version,
            origins=leaf.origins,
        )
        text = tokens.issue(state, keys.session_sign_key(master, session.session_id))
        return Issued(text, tokens.set_session(text, state, quality.printed_history(leaf.quality_history)))

    async def verify(self, token: str, caller: Caller, ask: OpenCommand) -> TrustedToken:
        """Check everything about the token but its chain tip, in the order of CRP-SPEC-007.

        Raises:
            UnauthenticatedError: TOKEN_INVALID, TOKEN_EXPIRED, TOKEN_SCOPE_MISMATCH.
            PermissionDeniedError: POLICY_RELAXED.
        """
        presented = tokens.read(token)
        master = await self._master_keys.find(presented.state.key_version)
        if master is None:
            raise invalid_token("was signed with a key that does not hold any more")
        sign_key = keys.session_sign_key(master, presented.state.session_id)
        token_checks.check_signature(presented, sign_key)
        token_checks.check_key(presented, master, self._clock.now(), self._lifetime)
        token_checks.check_expiry(presented, self._clock.now())
        token_checks.check_scope(presented, caller.scope, caller.tenant_id)
        tightened = ask.has_compared(presented.state.policy_hash)
        policy_hash = token_checks.check_policy(presented, ask.policy_hash, tightened=tightened)
        token_checks.check_nonce(presented, sign_key)
        return TrustedToken(presented.state, policy_hash)
