"""API keys: how one is put together, what is public of it, and whether it holds at a moment.

The form itself (``crp_gw_<env>_`` and 32 alphanumerics), its hash and its prefix are in
``services.common.api_key_format``, because every service reads keys and only the gateway makes them.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum, unique

from services.common.api_key_format import KEY_START, SECRET_CHARS, hash_of, prefix_of


@unique
class KeyState(StrEnum):
    """Whether a key is accepted."""

    ACTIVE = "ACTIVE"
    EXPIRED = "EXPIRED"
    REVOKED = "REVOKED"


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A fresh key: the secret, shown once, and what is stored of it."""

    key: str
    prefix: str
    key_hash: str


def make_key(environment: str, secret: str) -> MadeKey:
    """Put a key together.

    Args:
        environment: 2 to 16 lower-case letters.
        secret: 32 random alphanumerics.

    Raises:
        ValueError: the parts do not make a well-formed key.
    """
    key = f"{KEY_START}{environment}_{secret}"
    prefix = prefix_of(key)
    if prefix is None:
        msg = f"an API key needs an environment of 2 to 16 letters a-z and {SECRET_CHARS} alphanumerics"
        raise ValueError(msg)
    return MadeKey(key, prefix, hash_of(key))


def state_of(expires_at: datetime | None, revoked_at: datetime | None, now: datetime) -> KeyState:
    """Return the state of a key at ``now``; revocation outweighs expiry."""
    if revoked_at is not None:
        return KeyState.REVOKED
    if expires_at is not None and now >= expires_at:
        return KeyState.EXPIRED
    return KeyState.ACTIVE
