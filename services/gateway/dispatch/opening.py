"""Opening a window under a policy that is at least as strict as its session's (CRP-SPEC-006 facts; ADR 0093).

The dag service holds the policies of a session's windows and refuses one that differs from a parent's; with the refusal
it says which it holds. Here the two are joined, directive by directive, and the window is opened under both.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Final

from services.common.errors import ErrorReason, PermissionDeniedError
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import derived_id
from services.gateway.domain.outcome import PolicyRelaxedError, inherited, relaxed
from services.gateway.domain.policy import PolicyError, policy_hash
from services.gateway.ports import OpenWindow

MAX_POLICIES: Final = 10
"""Policies that a window may inherit: a fan-in merges so many branches by default (SPEC-004 §11)."""
_HELD: Final = "held_policy"
_HELD_HASHES: Final = ("session_policy_hash", "parent_policy_hash")
"""What the refusal tells of the policy that is held: its text, and its hash under either name."""


@dataclass(frozen=True, slots=True)
class UnderPolicy:
    """A window to open, and the query with the policy that it is opened under."""

    admitted: AdmittedDispatch
    command: OpenWindow


def under_policy(admitted: AdmittedDispatch, command: OpenWindow) -> UnderPolicy:
    """Return the window to open under the policy of the request."""
    digest = policy_hash(admitted.policy.applied, continues=not admitted.command.continuation.is_root)
    return UnderPolicy(admitted, replace(command, policy_hash=digest, policy=admitted.policy.applied))


def joined(asked: UnderPolicy, refusal: PermissionDeniedError) -> UnderPolicy:
    """Return the window under the parent's policy as well that a refusal names.

    Raises:
        PermissionDeniedError: POLICY_RELAXED: the request is weaker than that policy, or nobody knows its text; or what
            the window was refused for otherwise.
    """
    digest = next((refusal.metadata[name] for name in _HELD_HASHES if name in refusal.metadata), "")
    held = refusal.metadata.get(_HELD)
    known = held is not None and hashlib.sha256(held.encode()).hexdigest() == digest
    seen = asked.command.compared
    if refusal.reason is not ErrorReason.POLICY_RELAXED:
        raise refusal
    if not known or digest in seen or len(seen) == MAX_POLICIES:
        raise _as_a_whole(refusal, digest, asked.command.policy_hash)
    policy = asked.admitted.policy
    try:
        policy = inherited(policy, asked.admitted.command.policy, held or "")
    except PolicyRelaxedError as error:
        raise relaxed(error, "session") from None
    except PolicyError:
        raise _as_a_whole(refusal, digest, asked.command.policy_hash) from None
    admitted = replace(asked.admitted, policy=policy)
    again = under_policy(admitted, asked.command).command
    return UnderPolicy(
        admitted,
        replace(
            again,
            # Another body needs another id; the same refusal leads to the same one, so that a retry meets its window.
            request_id=derived_id(asked.command.request_id, f"policy/{again.policy_hash}"),
            compared=(*seen, digest),
        ),
    )


def _as_a_whole(refusal: PermissionDeniedError, held: str, given: str) -> PermissionDeniedError:
    """Return the refusal of a policy whose parent's text nobody knows: only the two as a whole can be named."""
    told = {"directive": "policy", "parent_value": f"sha256:{held}", "child_value": f"sha256:{given}"}
    refusal.metadata |= {name: value for name, value in told.items() if name not in refusal.metadata}
    return refusal
