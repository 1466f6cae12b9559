"""One verification under way: what was read of a chain, and how it ends at the first record that does not hold."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from services.common.ports.sessions import AuditEventRecord
from services.dag.domain import chain
from services.dag.domain.events import OwnEvent
from services.dag.domain.promises import Promise
from services.dag.domain.verification import Fault, StoredChain
from services.dag.domain.view import DagView

UNUSABLE: Final = (ValueError, TypeError, AttributeError, RecursionError)
"""What computing on a stored value raises that is none of its kind."""
CANNOT_BE_HASHED: Final = "holds a value that cannot be hashed"


class BadRecordError(Exception):
    """Ends the walk at the first record that does not hold."""

    def __init__(self, record_kind: str, record_id: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = Fault(record_kind, record_id, detail)


@dataclass(slots=True)
class Walk:
    """One verification under way."""

    stored: StoredChain
    key: bytes
    max_windows: int
    dag: DagView = field(init=False)
    macs: chain.Macs = field(init=False)
    session_text: str = "{}"
    window_texts: dict[str, str] = field(default_factory=dict)
    report_texts: dict[str, str] = field(default_factory=dict)
    """Data of the latest event that holds each record, as stored: parsed only where the text alone does not do."""
    erased_at: int = field(init=False)
    erasure: dict[str, Any] = field(default_factory=dict)
    promise: Promise | None = None
    sealed_at: int = 0
    """Sequence of the event that sealed a trail which an earlier version left open; 0 = it never was."""
    digests: list[str] = field(default_factory=list)
    """SHA-256 of the data of every event that was recomputed."""
    older: int = 0
    """Records that are older than the log."""
    events_verified: int = 0
    windows_verified: int = 0

    def __post_init__(self) -> None:
        self.dag = DagView.of(self.stored.snapshot)
        self.macs = chain.Macs(self.key)
        self.erased_at = erasure_of(self.stored.events, self.macs)
        """Sequence of the SESSION_ERASED event, before which events have no data; 0 = nothing was erased."""


def erasure_of(events: Sequence[AuditEventRecord], macs: chain.Macs) -> int:
    """Return the position of the SESSION_ERASED event that is chained to its predecessor; 0 when there is none."""
    for position in range(1, len(events)):
        event = events[position]
        if event.event_type == OwnEvent.SESSION_ERASED and is_text(
            event.hmac, macs.event, event, events[position - 1].hmac
        ):
            return position
    return 0


def computed(record_kind: str, record_id: str, compute: Any, *arguments: Any) -> Any:
    """Return ``compute(*arguments)``; a stored value that cannot even be computed on is a bad record."""
    try:
        return compute(*arguments)
    except UNUSABLE:
        raise BadRecordError(record_kind, record_id, CANNOT_BE_HASHED) from None


def parsed(record_kind: str, record_id: str, text: str) -> dict[str, Any]:
    """Return the data of one of our own events."""
    data: dict[str, Any] = computed(record_kind, record_id, json.loads, text)
    return data


def is_text(text: str, compute: Callable[..., str], *arguments: Any) -> bool:
    """Say whether ``compute(*arguments)`` gives the text; what it cannot be computed on is told by the longer way."""
    try:
        return chain.same(compute(*arguments), text)
    except UNUSABLE:
        return False
