"""Keys of a session or a tenant, derived from the master key (CRP-SPEC-007, -015 facts).

Nothing here is ever logged or exported. Every key is HKDF-SHA256 (RFC 5869) of the master key with the session id, or
the tenant id, as salt and its own ``info``, 32 bytes.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

HMAC_INFO: Final = b"crp-session-hmac-v3"
SIGN_INFO: Final = b"crp-session-sign-v3"
SEAL_INFO: Final = b"groundtrail-session-seal-v1"
RECEIPT_SEAL_INFO: Final = b"groundtrail-receipt-seal-v1"
PROVIDER_INFO: Final = b"groundtrail-provider-seal-v1"
HOLDING_INFO: Final = b"groundtrail-holding-v1"
LOG_INFO: Final = b"groundtrail-log-sign-v1"
LOG_HEAD_INFO: Final = b"groundtrail-log-head-v1"
CHECK_INFO: Final = b"groundtrail-master-key-check-v1"
KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class MasterKey:
    """One version of the master key.

    Attributes:
        version: from 1; what a token's ``kv`` and a session's ``key_version`` name.
        secret: 32 bytes; kept out of ``repr``.
        retired_at: when the next version took over; ``None`` for the one that signs now.
        seen_within: how long after it an instance may not know of it yet, by where its keys come from.
    """

    version: int
    secret: bytes = field(repr=False)
    retired_at: datetime | None = None
    seen_within: timedelta = timedelta(0)

    def signs_at(self, now: datetime, lifetime: timedelta) -> bool:
        """Say whether tokens under this key still hold: a retired one does for one token lifetime (CRP-SPEC-007)."""
        return self.retired_at is None or now < self.retired_at + lifetime

    def may_have_issued(self, issued_at: datetime) -> bool:
        """Say whether a token of that moment can be this key's: a retired key signs nothing later (ADR 0102).

        Whoever got hold of a retired key else makes tokens with it for one lifetime more.
        """
        return self.retired_at is None or issued_at <= self.retired_at + self.seen_within


def session_hmac_key(master: MasterKey, session_id: str) -> bytes:
    """Return the key of the session's window and audit-event HMACs."""
    return _derive(master.secret, session_id, HMAC_INFO)


def session_sign_key(master: MasterKey, session_id: str) -> bytes:
    """Return the key of the session's tokens under this master key."""
    return _derive(master.secret, session_id, SIGN_INFO)


def session_seal_key(master: MasterKey, session_id: str) -> bytes:
    """Return the key that wraps the keys of the session's sealed content (ADR 0054)."""
    return _derive(master.secret, session_id, SEAL_INFO)


def receipt_seal_key(master: MasterKey, tenant_id: str) -> bytes:
    """Return the key that wraps the keys of the tenant's remembered answers (ADR 0054)."""
    return _derive(master.secret, tenant_id, RECEIPT_SEAL_INFO)


def holding_key(master: MasterKey, session_id: str, window_id: str, salt: bytes) -> bytes:
    """Return the key of what is kept of a window's answer while a person decides about it (ADR 0148).

    Args:
        master: the session's version of the master key.
        session_id: of the answer.
        window_id: of the answer.
        salt: of the event that opened the window; an erasure destroys it, and the key with it.
    """
    info = b"/".join((HOLDING_INFO, session_id.encode(), window_id.encode()))
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=info).derive(master.secret)


def provider_key(master: MasterKey, tenant_id: str) -> bytes:
    """Return the key that credentials of the tenant's own providers are sealed with (ADR 0163)."""
    return _derive(master.secret, tenant_id, PROVIDER_INFO)


def log_signing_seed(master: MasterKey, tenant_id: str) -> bytes:
    """Return the Ed25519 seed that signs the heads of the tenant's transparency log (ADR 0053)."""
    return _derive(master.secret, tenant_id, LOG_INFO)


def log_head_key(master: MasterKey, tenant_id: str) -> bytes:
    """Return the key of the MAC over the kept head of the tenant's transparency log (ADR 0099)."""
    return _derive(master.secret, tenant_id, LOG_HEAD_INFO)


def key_check(master: MasterKey) -> bytes:
    """Return what tells this master key from every other one, and opens nothing (ADR 0220)."""
    return _derive(master.secret, "", CHECK_INFO)


def _derive(secret: bytes, salt: str, info: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt.encode(), info=info).derive(secret)
