"""The form of an API key: ``crp_gw_<env>_`` and 32 alphanumerics, and what is stored of it."""

import re
from typing import Final

from services.common.encoding import sha256_hex

KEY_START: Final = "crp_gw_"
SECRET_CHARS: Final = 32
"""Random characters of a key: 190 bits, so that a fast hash is enough to store it."""
PREFIX_CHARS: Final = 8
"""How many of them its public prefix shows."""
_KEY: Final = re.compile(
    rf"(crp_gw_[a-z]{{2,16}}_[A-Za-z0-9]{{{PREFIX_CHARS}}})[A-Za-z0-9]{{{SECRET_CHARS - PREFIX_CHARS}}}"
)


def prefix_of(key: str) -> str | None:
    """Return the public prefix of a well-formed key, ``None`` for anything else."""
    found = _KEY.fullmatch(key)
    return found.group(1) if found else None


def hash_of(key: str) -> str:
    """Return what is stored instead of the key: 64 hex digits of its SHA-256."""
    return sha256_hex(key)
