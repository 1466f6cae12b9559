"""From leaves of the log to one request's body: the events of one tenant in order, bounded in number and bytes."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from services.common.errors import UnreadableRecordError
from services.common.ports.event_endpoint import EventBatch
from services.common.ports.event_feed import EventFeed, FedEvent
from services.common.ports.sessions import AuditEventRecord, SessionStatus, SessionStore

CHUNK: Final = 32
"""Events that are held as records at a time; the rest of a batch is held as lines."""

REPORTED: Final = "DPE_COMPLETED"
"""The event of a report that was stored."""

Attach = Callable[[str, str], str]
"""Gives an event's line with the report whose body is given."""

Encode = Callable[[str, AuditEventRecord], str]
"""Gives a tenant's event as one line, without the line break."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A batch and what it stands for.

    Attributes:
        batch: ``None`` when there is no event to send among the leaves.
        through: the last leaf that is dealt with once the batch is delivered.
        oldest: when its first event happened; ``None`` without one.
        missing: events that the log names and the store does not hold, or not so that they can be read, but for those
            that a tombstone stands for.
    """

    batch: EventBatch | None
    through: int
    oldest: datetime | None
    missing: tuple[FedEvent, ...]


class Batches:
    """Fills batches.

    Args:
        feed: says which events come next.
        store: holds them.
        encode: writes them.
        media_type: of the bodies.
        max_bytes: of a body; a single event is sent whatever its size.
        attach: puts a stored report's body into its event's line; ``None`` = none does.
    """

    def __init__(
        self,
        feed: EventFeed,
        store: SessionStore,
        encode: Encode,
        media_type: str,
        max_bytes: int,
        attach: Attach | None = None,
    ) -> None:
        self._attach = attach
        self._feed = feed
        self._store = store
        self._encode = encode
        self._media_type = media_type
        self._max_bytes = max_bytes

    async def fill(self, tenant_id: str, *, after: int, limit: int) -> Filled:
        """Return the events among the up to ``limit`` leaves that follow ``after``, as many as the body may hold.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
        """
        page = await self._feed.page(tenant_id, after=after, limit=limit)
        lines: list[bytes] = []
        size, through = 0, after
        oldest: datetime | None = None
        missing: list[FedEvent] = []
        for start in range(0, len(page.events), CHUNK):
            chunk = page.events[start : start + CHUNK]
            records = await self._records(tenant_id, chunk)
            for place in chunk:
                record = records.get((place.session_id, place.sequence))
                if record is None:
                    if not await self._is_buried(tenant_id, place.session_id):
                        missing.append(place)
                    through = place.leaf_index
                    continue
                line = (await self._line(tenant_id, record)).encode() + b"\n"
                if lines and size + len(line) > self._max_bytes:
                    return self._filled(tenant_id, lines, through, oldest, missing)
                lines.append(line)
                size += len(line)
                through = place.leaf_index
                oldest = oldest or record.timestamp
        return self._filled(tenant_id, lines, page.through, oldest, missing)

    async def _line(self, tenant_id: str, record: AuditEventRecord) -> str:
        line = self._encode(tenant_id, record)
        if self._attach is None or record.event_type != REPORTED:
            return line
        try:
            report_id = json.loads(record.data)["report_id"]
            report = await self._store.get_report(tenant_id, report_id)
            return self._attach(line, report.body) if report is not None and report.body else line
        except (UnreadableRecordError, ValueError, KeyError, TypeError):
            return line  # of what cannot be read the event goes without it: one report never stops the rest

    def _filled(
        self, tenant_id: str, lines: list[bytes], through: int, oldest: datetime | None, missing: list[FedEvent]
    ) -> Filled:
        batch = EventBatch(tenant_id, b"".join(lines), self._media_type, len(lines)) if lines else None
        return Filled(batch, through, oldest, tuple(missing))

    async def _is_buried(self, tenant_id: str, session_id: str) -> bool:
        """Say whether a tombstone stands for the session, so that its events went by the rules (ADR 0104)."""
        try:
            snapshot = await self._store.snapshot(tenant_id, session_id)
        except UnreadableRecordError:
            return False
        return snapshot is not None and snapshot.session.status is SessionStatus.TOMBSTONED

    async def _records(self, tenant_id: str, places: Sequence[FedEvent]) -> dict[tuple[str, int], AuditEventRecord]:
        """Read the events; those that follow one another in one session cost one read."""
        found: dict[tuple[str, int], AuditEventRecord] = {}
        for session_id, run in groupby(places, key=lambda place: place.session_id):
            sequences = [place.sequence for place in run]
            after, limit = min(sequences) - 1, max(sequences) - min(sequences) + 1
            try:
                page = await self._store.page_events(tenant_id, session_id, after_sequence=after, limit=limit)
            except UnreadableRecordError:
                page = [event for one in sequences for event in await self._alone(tenant_id, session_id, one)]
            found.update({(event.session_id, event.sequence): event for event in page})
        return found

    async def _alone(self, tenant_id: str, session_id: str, sequence: int) -> list[AuditEventRecord]:
        """Read one event; one that does not parse is as good as missing, and the others are sent (ADR 0101)."""
        try:
            return await self._store.page_events(tenant_id, session_id, after_sequence=sequence - 1, limit=1)
        except UnreadableRecordError:
            return []
