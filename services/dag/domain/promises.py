"""What a session's own chained events promise that the store holds of it (ADR 0099).

A field that may be empty says nothing by being empty: whoever can write to the store can empty it. So the first event
of a session says, under the session's HMAC, that there is a trail_mac, that every record has a leaf in the tenant's
log, and that the log's last signed head is kept. A session of which an earlier version left the trail open gets the
promise with the event that goes on with it, for what comes after: it is PARTIAL for good. An erasure takes it over.
"""

import contextlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from services.common.ports.sessions import AuditEventRecord, SessionRecord
from services.dag.domain.events import SESSION_EVENTS, OwnEvent, PendingEvent, session_data

PROMISE: Final = "promise"
HOLDS: Final = ("leaves", "log_head", "trail_mac")
_MARK: Final = f'"{PROMISE}":'


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise that was read from a chained event.

    Attributes:
        since: sequence of the first event that it is about; 0 = the whole session.
    """

    since: int = 0

    def data(self) -> dict[str, Any]:
        """Return it as an event's data holds it."""
        return {PROMISE: {"holds": list(HOLDS), "since": self.since}}


def promising(drafts: Sequence[PendingEvent]) -> tuple[PendingEvent, ...]:
    """Return a new session's drafts, the first of which says what is held."""
    if not drafts or drafts[0].event_type not in SESSION_EVENTS:
        return tuple(drafts)
    first = drafts[0]
    return (replace(first, data={**first.data, **Promise().data()}), *drafts[1:])


def resealing(session: SessionRecord, since: int) -> PendingEvent:
    """Return the event that seals a trail which an earlier version left open, from itself on."""
    return PendingEvent(OwnEvent.SESSION_CONTINUED, "", {"session": session_data(session), **Promise(since).data()})


def read_promise(event: AuditEventRecord) -> Promise | None:
    """Return what the event promises; ``None`` for one that promises nothing, or of which the data was erased.

    Raises:
        ValueError, TypeError, KeyError: the data is not as this service writes it.
    """
    if event.event_type not in SESSION_EVENTS or _MARK not in event.data:
        return None
    said = json.loads(event.data).get(PROMISE)
    return None if said is None else Promise(int(said["since"]))


def promise_of(events: Iterable[AuditEventRecord]) -> Promise | None:
    """Return the first promise of a session's events, of those that can be read."""
    for event in events:
        with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
            promise = read_promise(event)
            if promise is not None:
                return promise
    return None
