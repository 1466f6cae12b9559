"""What belongs into a log, told by the leaves alone: form, order and place, session by session (ADR 0053, ADR 0100).

A session's events come in their order, each once; a window's leaf stands right before that of the event that commits
it. A session that was set back and written anew shows its positions a second time. Siblings of a fan-out share a
window number, so that two windows of one number say nothing by themselves.
"""

import json
import re
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Any, Final

from services.common.encoding import canonical_json
from services.common.ports.transparency_log import LeafKind
from services.dag.domain.leaves import LEAF_VERSION

_FIELDS: Final = frozenset({"content_hmac", "position", "record_id", "record_kind", "session_id", "version"})
_HMAC: Final = re.compile(r"[0-9a-f]{64}")
_NO_INDEX: Final = -1


@unique
class FindingKind(StrEnum):
    """What can be wrong with a log."""

    ROLLED_BACK = "ROLLED_BACK"
    """The log is smaller than it was."""
    FORKED = "FORKED"
    """The log does not go on from a head that was seen."""
    NOT_SIGNED = "NOT_SIGNED"
    """A head is not signed by the log's key, or it is another log's."""
    LOG_INCONSISTENT = "LOG_INCONSISTENT"
    """The server itself says that its log does not hold together, and signs no head of it."""
    ENTRY_MISSING = "ENTRY_MISSING"
    """The server has no leaf at an index that its head covers."""
    ENTRY_DIFFERS = "ENTRY_DIFFERS"
    """A leaf is not the one that the signed root is over."""
    ENTRY_MALFORMED = "ENTRY_MALFORMED"
    """A leaf is not in the form that this contract gives it."""
    POSITION_TWICE = "POSITION_TWICE"
    """A position of a session is logged again: the session was set back and written anew."""
    POSITION_SKIPPED = "POSITION_SKIPPED"
    """Positions of a session are not in the log."""
    WINDOW_ALONE = "WINDOW_ALONE"
    """A window's leaf is not followed by that of the event that commits it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong.

    Attributes:
        leaf_index: where; -1 for what concerns the whole log.
        session_id: whose; empty for the same.
        detail: in words, without content.
    """

    kind: FindingKind
    leaf_index: int
    session_id: str
    detail: str


@dataclass(slots=True)
class EntryRules:
    """Takes leaves in their order.

    Attributes:
        sessions: the next event of each session.
        window: the session and index of a window's leaf whose event is due; none after an event.
        late: sessions of which the first event in the log is not their first: they are older than the log.
    """

    sessions: dict[str, int] = field(default_factory=dict)
    window: tuple[str, int] = ("", _NO_INDEX)
    late: int = 0

    def take(self, index: int, leaf: bytes) -> list[Finding]:
        """Return what is wrong with the next leaf."""
        entry = _entry(leaf)
        session_id = str(entry["session_id"]) if entry else ""
        is_event = entry is not None and entry["record_kind"] == LeafKind.EVENT
        found = self._due(session_id if is_event else "")
        if entry is None:
            text = "is no canonical leaf of this log's form"
            return [*found, Finding(FindingKind.ENTRY_MALFORMED, index, "", text)]
        if not is_event:
            self.window = (session_id, index)
            return found
        return [*found, *self._event(index, session_id, int(entry["position"]))]

    def _due(self, session_id: str) -> list[Finding]:
        """Return whether the window before is left alone by a leaf that is not its session's event."""
        (due, at), self.window = self.window, ("", _NO_INDEX)
        if not due or due == session_id:
            return []
        text = "a window's leaf is not followed by that of the event that commits it"
        return [Finding(FindingKind.WINDOW_ALONE, at, due, text)]

    def _event(self, index: int, session_id: str, position: int) -> list[Finding]:
        expected = self.sessions.get(session_id)
        self.sessions[session_id] = position + 1
        if expected is None:
            self.late += position > 0
            return []
        if position < expected:
            text = f"event {position} is logged again after event {expected - 1}: the session was set back"
            return [Finding(FindingKind.POSITION_TWICE, index, session_id, text)]
        if position > expected:
            text = f"event {position} follows event {expected - 1}: those between are not in the log"
            return [Finding(FindingKind.POSITION_SKIPPED, index, session_id, text)]
        return []


def _entry(leaf: bytes) -> dict[str, Any] | None:
    """Return a leaf's fields; ``None`` when it is no leaf of version 1."""
    try:
        entry = json.loads(leaf)
        same = canonical_json(entry) == leaf
    except (ValueError, RecursionError):
        return None
    if not same or not isinstance(entry, dict) or entry.keys() != _FIELDS:
        return None
    texts = all(isinstance(entry[name], str) and entry[name] for name in ("record_id", "session_id", "content_hmac"))
    place = entry["position"]
    if not texts or not isinstance(place, int) or isinstance(place, bool) or place < 0:
        return None
    known = entry["version"] == LEAF_VERSION and entry["record_kind"] in [kind.value for kind in LeafKind]
    return entry if known and _HMAC.fullmatch(entry["content_hmac"]) else None
