"""Identifiers: every one from a CSPRNG, with at least 128 bits where it must not be guessed (SPEC-004 §17.1)."""

import hashlib
import secrets
import string
import uuid
from typing import Final, Protocol

_ALPHANUMERIC: Final = string.ascii_letters + string.digits
_EVEN: Final = 256 // len(_ALPHANUMERIC) * len(_ALPHANUMERIC)
_CHARACTERS: Final = bytes(ord(_ALPHANUMERIC[byte % len(_ALPHANUMERIC)]) for byte in range(256))
_UNEVEN: Final = bytes(range(_EVEN, 256))
"""Bytes that would make some characters likelier than others."""

SESSION_PREFIX: Final = "crp_sess_"
WINDOW_PREFIX: Final = "crp_win_"
CONTINUATION_PREFIX: Final = "crp_cont_"
TRAIL_PREFIX: Final = "crp_trail_"
_TRACE_SESSION_LENGTH: Final = 28
"""Alphanumerics of the id of a trace's session (166 bits); any other session's has 32."""


class IdSource(Protocol):
    """Gives fresh identifiers."""

    def alphanumeric(self, length: int) -> str:
        """Return ``length`` random characters of [A-Za-z0-9] (5.95 bits each)."""
        ...

    def uuid(self) -> str:
        """Return a random UUID (version 4) in its canonical lower-case form."""
        ...


class RandomIds:
    """Identifiers from the operating system's CSPRNG."""

    def alphanumeric(self, length: int) -> str:
        """Return ``length`` random characters of [A-Za-z0-9]."""
        found = b""
        while len(found) < length:  # drawn at once: each call gives the interpreter lock away
            found += secrets.token_bytes(2 * length).translate(_CHARACTERS, _UNEVEN)
        return found[:length].decode()

    def uuid(self) -> str:
        """Return a random UUID (version 4)."""
        return str(uuid.uuid4())


def new_session_id(ids: IdSource) -> str:
    """Return ``crp_sess_`` and 32 alphanumerics (190 bits)."""
    return SESSION_PREFIX + ids.alphanumeric(32)


def new_window_id(ids: IdSource) -> str:
    """Return ``crp_win_`` and 16 alphanumerics (SPEC-004 §3.1; 95 bits, not a secret)."""
    return WINDOW_PREFIX + ids.alphanumeric(16)


def new_continuation_id(ids: IdSource) -> str:
    """Return ``crp_cont_`` and 32 alphanumerics (190 bits; SPEC-004 §17.1 asks for 128)."""
    return CONTINUATION_PREFIX + ids.alphanumeric(32)


def new_trail_id(ids: IdSource) -> str:
    """Return ``crp_trail_`` and 32 alphanumerics."""
    return TRAIL_PREFIX + ids.alphanumeric(32)


def trace_session_id(tenant_id: str, trace_id: str) -> str:
    """Return the id of the session that keeps an ERCP trace: ``crp_sess_`` and 28 alphanumerics (ADR 0073).

    It follows from tenant and trace, so that a trace is found without an index, and two tenants' traces of one id are
    kept, and signed, apart.
    """
    return derived_session_id("groundtrail-trace", tenant_id, trace_id)


def derived_session_id(*names: str) -> str:
    """Return ``crp_sess_`` and 28 alphanumerics that follow from the names."""
    number = int.from_bytes(hashlib.sha256("/".join(names).encode()).digest(), "big")
    digits = ""
    while len(digits) < _TRACE_SESSION_LENGTH:
        number, digit = divmod(number, len(_ALPHANUMERIC))
        digits += _ALPHANUMERIC[digit]
    return SESSION_PREFIX + digits


def is_trace_session(session_id: str) -> bool:
    """Say whether a session keeps an ERCP trace."""
    return len(session_id) == len(SESSION_PREFIX) + _TRACE_SESSION_LENGTH
