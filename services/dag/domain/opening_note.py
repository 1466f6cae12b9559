"""What was decided when a window was opened and is needed when it is committed.

It stands in the window's DISPATCH_STARTED event, under the chain, so that no window record has to carry it: the policy
in force on this branch, how long each summary was to be, and what a fan-in goes without.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from services.common.encoding import sha256_hex
from services.common.errors import ErrorReason, PermissionDeniedError
from services.common.ports.sessions import AuditEventRecord, SessionRecord, WindowRecord
from services.dag.domain.events import OwnEvent
from services.dag.domain.token_checks import NO_POLICY
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
        policy: the text that ``policy_hash`` is over; empty when the caller gave none.
        compared: hashes of the policies that the caller found it to be at least as strict as (ADR 0093).
        agents: windows of agents' sessions that are merged, by id: session, HMAC, budget (SPEC-004 §15.1, ADR 0170).
        agents_left_out: sessions of agents that had no answer.
    """

    policy_hash: str = ""
    summary_tokens: Mapping[str, int] = field(default_factory=dict)
    fan_in_policy: str = ""
    left_out: tuple[str, ...] = ()
    policy: str = ""
    compared: tuple[str, ...] = ()
    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    agents_left_out: tuple[str, ...] = ()


def note_data(note: OpeningNote, transfers: Sequence[tuple[WindowRecord, Transfer]]) -> dict[str, Any]:
    """Return what DISPATCH_STARTED holds beside node and edges."""
    data: dict[str, Any] = {
        "policy_hash": note.policy_hash,
        "transfer_types_skipped": {parent.window_id: list(transfer.skipped) for parent, transfer in transfers},
        "summary_tokens": dict(note.summary_tokens),
    }
    if note.policy:
        data["policy"] = note.policy
    if note.compared:
        data["policy_tightened_from"] = list(note.compared)
    if note.fan_in_policy:
        data |= {"fan_in_policy": note.fan_in_policy, "left_out": list(note.left_out)}
    if note.agents:
        data |= {"agents": dict(note.agents), "agents_left_out": list(note.agents_left_out)}
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
                agents=data.get("agents", {}),
                agents_left_out=tuple(data.get("agents_left_out", ())),
            )
        if event.window_id == window_id and event.event_type == OwnEvent.DISPATCH_COMPLETED:
            adopted = json.loads(event.data).get("adopted")
            if adopted is not None:  # opened elsewhere: the token said under which policy (§10.2)
                return OpeningNote(policy_hash=adopted.get("policy_hash", session.policy_hash))
    return OpeningNote(policy_hash=session.policy_hash)


def policy_text(events: Sequence[AuditEventRecord], policy_hash: str) -> str | None:
    """Return the text of a policy that some window was opened under; ``None`` when no event holds it.

    The text is proven by its hash, so that the events need not be verified.
    """
    if policy_hash == NO_POLICY:
        return ""
    for event in reversed(events):
        if event.event_type == OwnEvent.DISPATCH_STARTED:
            text: str = json.loads(event.data).get("policy", "")
            if text and sha256_hex(text) == policy_hash:
                return text
    return None


def check_policies(notes: Sequence[OpeningNote], policy_hash: str, compared: Callable[[str], bool]) -> None:
    """Refuse a window whose policy was not shown to be at least as strict as each of its parents' (CRP-SPEC-006 facts).

    Args:
        notes: of the parents.
        policy_hash: in force from now on.
        compared: says of a policy's hash whether the caller compared the one that it names with it.

    Raises:
        PermissionDeniedError: POLICY_RELAXED.
    """
    for note in notes:
        if note.policy_hash not in ("", policy_hash) and not compared(note.policy_hash):
            text = "the safety policy differs from a parent's and was not shown to be at least as strict"
            raise PermissionDeniedError(
                ErrorReason.POLICY_RELAXED, text, parent_policy_hash=note.policy_hash, policy_hash=policy_hash
            )
