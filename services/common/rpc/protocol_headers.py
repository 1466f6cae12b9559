"""What the protocol's headers say of a failure, as gRPC trailing metadata and over HTTP (SPEC-004 §16; ADR 0102).

One table for every door. Header values are printable ASCII and hold nothing of a request.
"""

from collections.abc import Mapping
from typing import Final

from services.common.errors import CrpError, ErrorReason

RETRY_AFTER: Final = "CRP-Safety-Retry-After"
CHAIN_INTEGRITY: Final = "CRP-Provenance-Chain-Integrity"
QUALITY_TIER: Final = "CRP-Context-Quality-Tier"
BEST_TIER: Final = "best_tier"
"""Metadata of an error that says which tier could be reached."""
_AT_ONCE: Final = (RETRY_AFTER, "0")
_OF_REASON: Final[Mapping[ErrorReason, tuple[str, str]]] = {
    # SPEC-004 §16.2, §17.2; CRP-SPEC-002 facts: 401 for a bad, forged, replayed or expired token; a new session may
    # begin at once.
    ErrorReason.TOKEN_INVALID: _AT_ONCE,
    ErrorReason.TOKEN_EXPIRED: _AT_ONCE,
    ErrorReason.TOKEN_SPENT: _AT_ONCE,
    ErrorReason.TOKEN_SCOPE_MISMATCH: _AT_ONCE,
    # SPEC-004 §16.4.
    ErrorReason.CHAIN_BROKEN: (CHAIN_INTEGRITY, "BROKEN"),
}


def failure_headers(error: CrpError) -> tuple[tuple[str, str], ...]:
    """Return names and values; empty for a failure of which the protocol says nothing."""
    found = [_OF_REASON[error.reason]] if error.reason in _OF_REASON else []
    # SPEC-003 §8.4: a refusal says the best achievable tier.
    if tier := error.metadata.get(BEST_TIER):
        found.append((QUALITY_TIER, tier))
    return tuple(found)


def failure_metadata(error: CrpError) -> tuple[tuple[str, str], ...]:
    """Return the headers as gRPC metadata, which is in lower case."""
    return tuple((name.lower(), value) for name, value in failure_headers(error))
