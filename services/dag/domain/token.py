"""The session token: how state travels with the client (SPEC-004 §10; CRP-SPEC-007 facts; ADR 0009).

``token = base64url(payload) + "." + base64url(signature)``, no padding. The payload is canonical JSON with short field
names and at most 4096 base64url characters; long names of SPEC-004 §10.1 are read as well. This module writes and reads
the form; ``token_checks`` believes it or not.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from services.common.encoding import SHA256_PREFIX, base64url, base64url_decode, canonical_json
from services.common.errors import CrpError, ErrorReason, UnauthenticatedError
from services.dag.domain.origins import Origin, origin_fields, read_origins

TOKEN_VERSION: Final = 3
MAX_PAYLOAD_CHARS: Final = 4096
MAX_HISTORY: Final = 256
"""Tiers that a token carries at most, the latest ones; the store has all."""
_HEADER: Final = base64url(b'{"alg":"HS256","typ":"CRP"}')
_SIGNATURE_BYTES: Final = 32
_NONCE_BYTES: Final = 16
_NONCE_LABEL: Final = b"crp-policy-nonce-v3"
_HEX_DIGITS: Final = 64
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)?", re.ASCII)
_TIERS: Final = "[SABCD](?:,[SABCD])*"
_ENTRY: Final = re.compile(rf"{_TIERS}|\[{_TIERS}\]")

_LONG_NAMES: Final[Mapping[str, str]] = {
    "session_id": "sid",
    "window_number": "win",
    "quality_history": "qh",
    "safety_budget_remaining": "sb",
    "hmac_chain_tip": "ct",
    "continuation_id": "cid",
    "dag_structure": "dag",
    "issued_at": "iat",
    "expires_at": "exp",
    "strategy": "str",
    "policy_hash": "pol",
    "ckf_state": "ckf",
    "key_version": "kv",
    "origins": "org",
}


@dataclass(frozen=True, slots=True)
class TokenState:
    """What a token says.

    Attributes:
        window_number: of the leaf; 0 before the first window.
        quality_history: tiers from the root on, the latest ``MAX_HISTORY``.
        chain_tip: the leaf's HMAC, 64 hex digits; empty before the first window.
        continuation_id: the leaf's pointer; empty when there is none.
        dag_structure: the leaf's pattern, LINEAR before the first window.
        policy_hash: 64 hex digits or empty.
        scope: the credential scope that the token is bound to.
        tenant: digest of the tenant (``tenant_digest``), since scopes of two tenants may coincide; empty when another
            implementation left it out.
        limits: max_windows, max_fan_out, max_dag_nodes, max_loop_depth, for an instance that adopts the session; empty
            when another implementation left them out.
        issued_at, expires_at: whole seconds, UTC.
        key_version: master key that signs the token.
        hmac_key_version: master key of the session's HMACs; differs from ``key_version`` after a rotation.
        origins: windows of the leaf's line and the stores that committed them, the leaf first (ADR 0102); empty in a
            token of an earlier version or of another implementation.
    """

    session_id: str
    window_number: int
    quality_history: tuple[str, ...]
    safety_budget: float
    chain_tip: str
    continuation_id: str
    dag_structure: str
    strategy: str
    policy_hash: str
    ckf_state_hash: str
    scope: str
    tenant: str
    limits: tuple[int, ...]
    issued_at: datetime
    expires_at: datetime
    key_version: int
    hmac_key_version: int
    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True)
class Presented:
    """A token as it was presented: read, not yet believed."""

    state: TokenState
    nonce: str
    payload_text: str
    signature: bytes


def tenant_digest(tenant_id: str) -> str:
    """Return 16 hex digits that stand for the tenant in a token."""
    return hashlib.sha256(b"crp-tenant:" + tenant_id.encode()).hexdigest()[:16]


def policy_nonce(session_id: str, policy_hash: str, sign_key: bytes) -> str:
    """Return the nonce that binds the policy to the session (CRP-Safety-Nonce), base64url of 16 bytes."""
    text = f"{session_id}.{policy_hash}".encode()
    return base64url(hmac.new(sign_key, _NONCE_LABEL + text, hashlib.sha256).digest()[:_NONCE_BYTES])


def issue(state: TokenState, sign_key: bytes) -> str:
    """Return the signed token.

    Args:
        state: what it shall say; times lose their fraction of a second, the history all but the latest tiers: at most
            ``MAX_HISTORY``, fewer where a long scope leaves them no room.
        sign_key: ``keys.session_sign_key`` of ``state.key_version``.

    Raises:
        CrpError: INTERNAL when the payload would be longer than 4096 characters without any history.
    """
    kept = MAX_HISTORY
    while len(payload := base64url(canonical_json(_payload(state, sign_key, kept)))) > MAX_PAYLOAD_CHARS:
        if kept == 0:
            raise CrpError(ErrorReason.INTERNAL, "a session token would be longer than 4096 characters")
        kept //= 2
    return f"{payload}.{base64url(signature(payload, sign_key))}"


def set_session(token: str, state: TokenState, history: str) -> str:
    """Return the whole CRP-Set-Session value; ``history`` is the printed quality history, perhaps empty."""
    lifetime_s = int((state.expires_at - state.issued_at).total_seconds())
    fields = [f"token={token}", "Path=/", f"Max-Age={lifetime_s}", "Signed", "SameSite=Strict"]
    fields.append(f"Window={state.window_number}")
    if history:
        fields.append(f"QualityHistory={history}")
    return "; ".join(fields)


def read(token: str) -> Presented:
    """Read a token's form, short or long field names, without believing it.

    Raises:
        UnauthenticatedError: TOKEN_INVALID.
    """
    payload_text, dot, signature_text = token.partition(".")
    if not dot or len(payload_text) > MAX_PAYLOAD_CHARS or len(signature_text) > 2 * _SIGNATURE_BYTES:
        raise invalid_token("is malformed")
    try:
        fields = json.loads(base64url_decode(payload_text), object_pairs_hook=_unambiguous)
        signed = _signature_bytes(signature_text)
        return Presented(_state(fields), _text(fields.get("nonce", "")), payload_text, signed)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise invalid_token("is malformed") from None


def signature(payload_text: str, sign_key: bytes) -> bytes:
    """Return the HMAC-SHA256 over the fixed header, a dot and the payload as it was sent."""
    return hmac.new(sign_key, f"{_HEADER}.{payload_text}".encode(), hashlib.sha256).digest()


def _payload(state: TokenState, sign_key: bytes, kept: int) -> dict[str, Any]:
    """Return the fields with the latest ``kept`` tiers."""
    fields: dict[str, Any] = {
        "v": TOKEN_VERSION,
        "sid": state.session_id,
        "win": state.window_number,
        "qh": list(state.quality_history[-kept:] if kept else ()),
        "sb": state.safety_budget,
        "ct": SHA256_PREFIX + state.chain_tip if state.chain_tip else "",
        "cid": state.continuation_id,
        "dag": state.dag_structure,
        "str": state.strategy,
        "pol": state.policy_hash,
        "ckf": state.ckf_state_hash,
        "scope": state.scope,
        "ten": state.tenant,
        "lim": list(state.limits),
        "iat": int(state.issued_at.timestamp()),
        "exp": int(state.expires_at.timestamp()),
        "nonce": policy_nonce(state.session_id, state.policy_hash, sign_key),
        "kv": state.key_version,
    }
    if state.hmac_key_version != state.key_version:
        fields["hkv"] = state.hmac_key_version
    if state.origins:
        fields["org"] = origin_fields(state.origins)
    return fields


def _signature_bytes(text: str) -> bytes:
    raw = base64url_decode(text)
    if len(raw) != _SIGNATURE_BYTES:
        raise ValueError
    return raw


def _unambiguous(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object under its short names; a field that is given twice, in either spelling, has no one meaning."""
    fields = {_LONG_NAMES.get(name, name): value for name, value in pairs}
    if len(fields) != len(pairs):
        raise ValueError
    return fields


def _state(fields: Mapping[str, Any]) -> TokenState:
    if fields.get("v", TOKEN_VERSION) != TOKEN_VERSION:
        msg = "unknown token version"
        raise ValueError(msg)
    limits = tuple(_count(limit) for limit in _items(fields.get("lim", [])))
    if len(limits) not in (0, 4):
        raise ValueError
    return TokenState(
        session_id=_text(fields["sid"]),
        window_number=_count(fields["win"]),
        quality_history=tuple(_entry(entry) for entry in _items(fields["qh"])),
        safety_budget=_fraction(fields["sb"]),
        chain_tip=_digest(fields["ct"]),
        continuation_id=_text(fields["cid"]),
        dag_structure=_text(fields.get("dag", "LINEAR")),
        strategy=_text(fields.get("str", "")),
        policy_hash=_digest(fields.get("pol", "")),
        ckf_state_hash=_text(fields.get("ckf", "")),
        scope=_text(fields["scope"]),
        tenant=_text(fields.get("ten", "")),
        limits=limits,
        issued_at=_moment(fields["iat"]),
        expires_at=_moment(fields["exp"]),
        key_version=_count(fields.get("kv", 1)),
        hmac_key_version=_count(fields.get("hkv", fields.get("kv", 1))),
        origins=read_origins(fields.get("org", ())),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # half a surrogate pair, which JSON can spell and UTF-8 cannot, is malformed (UnicodeEncodeError)
    return value


def _items(value: Any) -> Sequence[Any]:
    if isinstance(value, list):
        return value
    raise TypeError


def _entry(value: Any) -> str:
    """Read one entry of a quality history: a tier, or those of parallel windows; earlier versions wrote no brackets."""
    text = _text(value)
    if _ENTRY.fullmatch(text) is None:
        raise ValueError
    return text


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError
    return value


def _fraction(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise TypeError
    return float(value)


def _digest(value: Any) -> str:
    text = _text(value).removeprefix(SHA256_PREFIX)
    if text and (len(text) != _HEX_DIGITS or set(text) - set("0123456789abcdef")):
        raise ValueError
    return text


def _moment(value: Any) -> datetime:
    if isinstance(value, str):
        if _TIME.fullmatch(value) is None:
            raise ValueError
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=_count(value))


def invalid_token(what: str) -> UnauthenticatedError:
    """Return the TOKEN_INVALID error; ``what`` says what is wrong with the token, without showing any of it."""
    text = f"the session token {what}; start a new session"
    return UnauthenticatedError(ErrorReason.TOKEN_INVALID, text, retry_after_s=0)
