"""What was decided when a window was opened and is needed when it is committed.

It stands in the window's DISPATCH_STARTED event, under the chain, so that no window record has to carry it: the policy
in force on this branch, how long each summary was to be, and what a fan-in goes without.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from services.common.errors import ErrorReason, PermissionDeniedError
from services.common.ports.sessions import AuditEventRecord, SessionRecord, WindowRecord
from services.dag.domain.events import OwnEvent
from services.dag.domain.transfer import Transfer

REQUIRE_ALL: Final = "require-all"
PARTIAL: Final = "partial"


@dataclass(frozen=True, slots=True)
class OpeningNote:
    """The decisions.

    Attributes:
        policy_hash: SHA-256 hex of the safety policy in force from this window on; empty = none.
        summary_tokens: for each parent that was opened as SUMMARY, N of SPEC-004 §12.2.
        fan_in_policy: ``require-all`` or ``partial``; empty for any other window.
        left_out: windows that a partial fan-in goes without.
    """

    policy_hash: str = ""
    summary_tokens: Mapping[str, int] = field(default_factory=dict)
    fan_in_policy: str = ""
    left_out: tuple[str, ...] = ()


def note_data(note: OpeningNote, transfers: Sequence[tuple[WindowRecord, Transfer]]) -> dict[str, Any]:
    """Return what DISPATCH_STARTED holds beside node and edges."""
    data: dict[str, Any] = {
        "policy_hash": note.policy_hash,
        "transfer_types_skipped": {parent.window_id: list(transfer.skipped) for parent, transfer in transfers},
        "summary_tokens": dict(note.summary_tokens),
    }
    if note.fan_in_policy:
        data |= {"fan_in_policy": note.fan_in_policy, "left_out": list(note.left_out)}
    return data


def note_of(events: Sequence[AuditEventRecord], window_id: str, session: SessionRecord) -> OpeningNote:
    """Return the decisions from the verified events; an event of an older version holds the session's policy only."""
    for event in reversed(events):
        if event.window_id == window_id and event.event_type == OwnEvent.DISPATCH_STARTED:
            data = json.loads(event.data)
            return OpeningNote(
                policy_hash=data.get("policy_hash", session.policy_hash),
                summary_tokens=data.get("summary_tokens", {}),
                fan_in_policy=data.get("fan_in_policy", ""),
                left_out=tuple(data.get("left_out", ())),
            )
    return OpeningNote(policy_hash=session.policy_hash)


def check_policies(notes: Sequence[OpeningNote], policy_hash: str, *, compared: bool) -> None:
    """Refuse a window whose policy was not shown to be at least as strict as each of its parents' (CRP-SPEC-006 facts).

    Args:
        notes: of the parents.
        policy_hash: in force from now on.
        compared: the caller compared the policy that it names with all of them.

    Raises:
        PermissionDeniedError: POLICY_RELAXED.
    """
    for note in notes:
        if note.policy_hash not in ("", policy_hash) and not compared:
            text = "the safety policy differs from a parent's and was not shown to be at least as strict"
            raise PermissionDeniedError(
                ErrorReason.POLICY_RELAXED, text, parent_policy_hash=note.policy_hash, policy_hash=policy_hash
            )
