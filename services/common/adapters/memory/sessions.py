"""``SessionStore`` in dictionaries, for tests and as the reference of the contract suite."""

from collections.abc import Sequence

from services.common.adapters.memory.event_feed import MemoryEventFeed
from services.common.adapters.memory.log import MemoryLogs
from services.common.adapters.memory.receipts import MemoryReceipts
from services.common.adapters.memory.session_lists import HeldSession, MemorySessionLists
from services.common.errors import ConflictError, ErrorReason
from services.common.merkle import Place
from services.common.ports.receipts import Receipt
from services.common.ports.sessions import (
    AuditEventRecord,
    LeafKind,
    LogLeaf,
    ReportRecord,
    SessionChange,
    SessionSnapshot,
    WindowRecord,
    WindowStatus,
)


class MemorySessionStore(MemorySessionLists):
    """Sessions of all tenants in one process's memory."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], HeldSession] = {}
        self._receipts = MemoryReceipts()
        self._logs = MemoryLogs()
        self._feed = MemoryEventFeed(self._logs)

    async def write(self, change: SessionChange) -> None:
        """Apply the change if nobody came first."""
        _check_whole(change)
        self._receipts.check(change.receipt)
        key = (change.session.tenant_id, change.session.session_id)
        stored = self._sessions.get(key)
        if change.session.version != (stored.record.version if stored else 0) + 1:
            raise _race("the session's version moved on")
        self._check_unique(change, stored)
        held = stored or HeldSession(change.session)
        held.record = change.session
        if change.tombstone:
            held.clear()
        held.windows.update({window.window_id: window for window in change.windows})
        held.edges.update({(edge.target_id, edge.source_id): edge for edge in change.edges})
        held.events.extend(change.events)
        held.reports.update({report.report_id: report for report in change.reports})
        self._sessions[key] = held
        if change.erased_events:
            held.events[: len(change.erased_events)] = change.erased_events
        if change.erased_events or change.tombstone:
            self._receipts.drop(change.session.tenant_id, held.requests)
            held.requests.clear()
        if change.receipt is not None:
            held.requests.append((change.receipt.rpc, change.receipt.request_id))
        self._receipts.put(change.receipt)
        self._logs.append(change.session.tenant_id, change.leaves)

    async def snapshot(self, tenant_id: str, session_id: str) -> SessionSnapshot | None:
        """Return a consistent view."""
        held = self._sessions.get((tenant_id, session_id))
        if held is None:
            return None
        windows = sorted(held.windows.values(), key=lambda window: (window.window_number, window.window_id))
        edges = tuple(held.edges[key] for key in sorted(held.edges))
        return SessionSnapshot(held.record, tuple(windows), edges, held.events[-1] if held.events else None)

    async def find_continuation(self, tenant_id: str, continuation_id: str) -> WindowRecord | None:
        """Return the window that issued the continuation id."""
        windows = (window for held in self._of(tenant_id) for window in held.windows.values())
        return next((found for found in windows if continuation_id and found.continuation_id == continuation_id), None)

    async def page_events(
        self, tenant_id: str, session_id: str, *, after_sequence: int, limit: int
    ) -> list[AuditEventRecord]:
        """Return the next events of the session."""
        held = self._sessions.get((tenant_id, session_id))
        return [event for event in held.events if event.sequence > after_sequence][:limit] if held else []

    async def get_report(self, tenant_id: str, report_id: str) -> ReportRecord | None:
        """Return a report or ``None``."""
        return next((held.reports[report_id] for held in self._of(tenant_id) if report_id in held.reports), None)

    async def page_reports(self, tenant_id: str, session_id: str, *, after: str, limit: int) -> list[ReportRecord]:
        """Return the next reports by id."""
        sessions = [held for held in self._of(tenant_id) if session_id in ("", held.record.session_id)]
        reports = sorted((report for held in sessions for report in held.reports.values()), key=lambda r: r.report_id)
        return [report for report in reports if report.report_id > after][:limit]

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return a remembered answer."""
        return self._receipts.get(tenant_id, rpc, request_id)

    async def tree_size(self, tenant_id: str) -> int:
        """Return the number of leaves."""
        return self._logs.size(tenant_id)

    async def tree_hashes(self, tenant_id: str, places: Sequence[Place]) -> list[bytes]:
        """Return the hashes of full subtrees."""
        return self._logs.hashes(tenant_id, places)

    async def find_leaves(
        self, tenant_id: str, session_id: str, records: Sequence[tuple[LeafKind, str]]
    ) -> list[LogLeaf | None]:
        """Return the leaves of records."""
        return self._logs.find(tenant_id, session_id, records)

    async def session_leaves(self, tenant_id: str, session_id: str) -> list[LogLeaf]:
        """Return the session's leaves."""
        return self._logs.of_session(tenant_id, session_id)

    def event_feed(self) -> MemoryEventFeed:
        """Return the feed of the events in this store."""
        return self._feed

    async def check(self) -> None:
        """Memory can always serve."""

    async def close(self) -> None:
        """Nothing to release."""

    def _check_unique(self, change: SessionChange, stored: HeldSession | None) -> None:
        expected = stored.events[-1].sequence + 1 if stored and stored.events else 0
        if [event.sequence for event in change.events] != list(range(expected, expected + len(change.events))):
            raise _race("the audit events do not continue the stored chain")
        if change.erased_events and [event.sequence for event in change.erased_events] != list(range(expected)):
            raise _race("the erased events are not those that are stored")
        if self._logs.holds(change.session.tenant_id, change.leaves):
            raise _race("a record is in the log")
        others = [held for held in self._of(change.session.tenant_id) if held is not stored]
        windows = {**(stored.windows if stored else {}), **{window.window_id: window for window in change.windows}}
        continuations = [window.continuation_id for window in windows.values() if window.continuation_id]
        taken = {window.continuation_id for held in others for window in held.windows.values()}
        if len(set(continuations)) != len(continuations) or taken & set(continuations):
            raise _race("a continuation id is taken")
        if any(window.window_id in held.windows for held in others for window in change.windows):
            raise _race("a window id is taken")
        if any(report.report_id in held.reports for held in others for report in change.reports):
            raise _race("a report id is taken")
        roots = [window for window in windows.values() if not window.parent_ids]
        if sum(window.status is not WindowStatus.FAILED for window in roots) > 1:
            raise _race("the session has a root window")  # SPEC-004 §3.3: a single root


def _check_whole(change: SessionChange) -> None:
    owners = {window.session_id for window in change.windows} | {edge.session_id for edge in change.edges}
    owners |= {event.session_id for event in change.events} | {report.session_id for report in change.reports}
    owners |= {event.session_id for event in change.erased_events} | {leaf.session_id for leaf in change.leaves}
    if owners - {change.session.session_id}:
        raise ValueError("a change holds records of another session")
    if change.tombstone and (change.windows or change.edges or change.reports or change.erased_events):
        raise ValueError("a tombstone leaves no record but events")
    if change.receipt is not None and change.receipt.tenant_id != change.session.tenant_id:
        raise ValueError("a change holds a receipt of another tenant")


def _race(what: str) -> ConflictError:
    return ConflictError(ErrorReason.COMMIT_RACE, f"{what}: another writer came first; read the session again")
