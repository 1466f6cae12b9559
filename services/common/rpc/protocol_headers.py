"""What the protocol's headers say of a failure, as gRPC trailing metadata and over HTTP (SPEC-004 §16; ADR 0102).

One table for every door. Header values are printable ASCII and hold nothing of a request.
"""

from collections.abc import Mapping
from typing import Final

from services.common.errors import CrpError, ErrorReason
from services.common.taxonomy import PROTOCOL_VERSION

RETRY_AFTER: Final = "CRP-Safety-Retry-After"
CHAIN_INTEGRITY: Final = "CRP-Provenance-Chain-Integrity"
QUALITY_TIER: Final = "CRP-Context-Quality-Tier"
BEST_TIER: Final = "best_tier"
"""Metadata of an error that says which tier could be reached."""
VERSION: Final = "CRP-Context-Protocol-Version"
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
_BODIES: Final[Mapping[ErrorReason, tuple[str, tuple[str, ...]]]] = {
    # SPEC-004 §16.1.
    ErrorReason.CONTINUATION_NOT_FOUND: ("continuation_not_found", ("continuation_id",)),
    # CRP-SPEC-006 facts: 400 and 403.
    ErrorReason.UNKNOWN_DIRECTIVE: ("unknown directive", ("directive",)),
    ErrorReason.POLICY_RELAXED: (
        "safety_policy_inheritance_violation",
        ("directive", "parent_value", "child_value"),
    ),
}
"""The protocol's word for a failure, and what of the error's metadata stands beside it."""


def failure_headers(error: CrpError) -> tuple[tuple[str, str], ...]:
    """Return names and values; the version of the protocol alone for a failure of which it says nothing."""
    found = [_OF_REASON[error.reason]] if error.reason in _OF_REASON else []
    # SPEC-003 §8.4: a refusal says the best achievable tier.
    if tier := error.metadata.get(BEST_TIER):
        found.append((QUALITY_TIER, tier))
    return (*found, (VERSION, PROTOCOL_VERSION))


def failure_body(error: CrpError) -> dict[str, str]:
    """Return what the protocol puts at the top of a refusal's body, under its names; empty where it says nothing.

    SPEC-004 §16.1: ``{"error": "continuation_not_found", "continuation_id": …}``. The word is ``crp_error``, as
    ``error`` is an object at every door.
    """
    word, names = _BODIES.get(error.reason, ("", ()))
    told = {name: error.metadata[name] for name in names if name in error.metadata}
    return {"crp_error": word, **told} if word else {}


def failure_metadata(error: CrpError) -> tuple[tuple[str, str], ...]:
    """Return the headers as gRPC metadata, which is in lower case."""
    return tuple((name.lower(), value) for name, value in failure_headers(error))
