"""``SessionStore`` in dictionaries, for tests and as the reference of the contract suite."""

import secrets
from collections.abc import Sequence
from dataclasses import replace

from services.common.adapters.memory.event_feed import MemoryEventFeed
from services.common.adapters.memory.log import MemoryLogs
from services.common.adapters.memory.receipts import MemoryReceipts
from services.common.adapters.memory.session_lists import HeldSession, MemorySessionLists
from services.common.errors import ConflictError, ErrorReason, UnreadableRecordError
from services.common.merkle import Place
from services.common.ports.receipts import Receipt
from services.common.ports.sessions import (
    STORE_ID_BYTES,
    AuditEventRecord,
    LoadedSession,
    LoggedSession,
    ReportRecord,
    SessionChange,
    SessionSnapshot,
    WindowRecord,
    check_whole,
)
from services.common.ports.transparency_log import KeptHead, LeafKind, LogLeaf, LogRow, LogState
from services.common.taxonomy import WindowStatus


class MemorySessionStore(MemorySessionLists):
    """Sessions of all tenants in one process's memory."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], HeldSession] = {}
        self._receipts = MemoryReceipts()
        self._logs = MemoryLogs()
        self._feed = MemoryEventFeed(self._logs)
        self._cosigned: dict[str, tuple[int, str]] = {}
        self._store_id = secrets.token_hex(STORE_ID_BYTES)
        self._key_checks: dict[int, bytes] = {}

    async def store_id(self) -> str:
        """Return this store's id."""
        return self._store_id

    async def key_checks(self) -> dict[int, bytes]:
        """Return the kept values by version."""
        return dict(self._key_checks)

    async def keep_key_check(self, version: int, value: bytes) -> None:
        """Keep the value, unless one is kept for the version."""
        self._key_checks.setdefault(version, value)

    async def write(self, *changes: SessionChange) -> None:
        """Apply the changes if nobody came first to any of their sessions."""
        check_whole(changes)
        for change in changes:
            self._check(change)
        _check_apart(changes)
        for change in changes:
            self._apply(change)

    async def snapshot(self, tenant_id: str, session_id: str) -> SessionSnapshot | None:
        """Return a consistent view."""
        held = self._sessions.get((tenant_id, session_id))
        if held is None:
            return None
        windows = sorted(held.windows.values(), key=lambda window: (window.window_number, window.window_id))
        edges = tuple(held.edges[key] for key in sorted(held.edges))
        return SessionSnapshot(held.record, tuple(windows), edges, held.events[-1] if held.events else None)

    async def logged(self, tenant_id: str, session_id: str) -> LoggedSession:
        """Return the session with its leaves."""
        leaves = self._logs.of_session(tenant_id, session_id)
        return LoggedSession(await self.snapshot(tenant_id, session_id), leaves)

    async def load(self, tenant_id: str, session_id: str, *, limit: int) -> LoadedSession:
        """Return the session with its leaves and the first of its events and reports."""
        logged = await self.logged(tenant_id, session_id)
        if logged.snapshot is None:
            return LoadedSession(logged)
        events = await self.page_events(tenant_id, session_id, after_sequence=-1, limit=limit)
        reports = await self.page_reports(tenant_id, session_id, after="", limit=limit)
        return LoadedSession(logged, tuple(events), tuple(reports))

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

    async def page_reports(
        self, tenant_id: str, session_id: str, *, after: str, limit: int, with_inputs: bool = True
    ) -> list[ReportRecord | UnreadableRecordError]:
        """Return the next reports by id."""
        sessions = [held for held in self._of(tenant_id) if session_id in ("", held.record.session_id)]
        reports = sorted((report for held in sessions for report in held.reports.values()), key=lambda r: r.report_id)
        page = [report for report in reports if report.report_id > after][:limit]
        return [report if with_inputs else replace(report, inputs="") for report in page]

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

    async def log_state(self, tenant_id: str) -> LogState:
        """Return size, peaks and kept head."""
        return self._logs.state(tenant_id)

    async def page_log(self, tenant_id: str, *, after: int, limit: int) -> list[LogRow]:
        """Return the next leaves by index."""
        return self._logs.rows(tenant_id, after, limit)

    async def keep_head(self, tenant_id: str, head: KeptHead) -> None:
        """Keep the head unless a larger one is kept."""
        self._logs.keep(tenant_id, head)

    def event_feed(self) -> MemoryEventFeed:
        """Return the feed of the events in this store."""
        return self._feed

    async def read_leaves(self, tenant_id: str, *, first: int, limit: int) -> list[LogLeaf]:
        """Return leaves by index."""
        return self._logs.after(tenant_id, first - 1, limit)

    async def keep_cosigned(self, tenant_id: str, size: int, note: str) -> None:
        """Keep a checkpoint that witnesses cosigned, unless a larger one is held."""
        if size >= self._cosigned.get(tenant_id, (0, ""))[0]:
            self._cosigned[tenant_id] = (size, note)

    async def cosigned(self, tenant_id: str) -> str:
        """Return the kept checkpoint."""
        return self._cosigned.get(tenant_id, (0, ""))[1]

    async def check(self) -> None:
        """Memory can always serve."""

    async def close(self) -> None:
        """Nothing to release."""

    def _check(self, change: SessionChange) -> None:
        self._receipts.check(change.receipt)
        stored = self._sessions.get((change.session.tenant_id, change.session.session_id))
        if change.session.version != (stored.record.version if stored else 0) + 1:
            raise _race("the session's version moved on")
        self._check_unique(change, stored)
        if change.leaves:
            self._logs.check(change.session.tenant_id)

    def _apply(self, change: SessionChange) -> None:
        key = (change.session.tenant_id, change.session.session_id)
        held = self._sessions.setdefault(key, HeldSession(change.session))
        held.record = change.session
        if change.tombstone:
            held.clear()
        held.windows.update({window.window_id: window for window in change.windows})
        held.edges.update({(edge.target_id, edge.source_id): edge for edge in change.edges})
        held.events.extend(change.events)
        held.reports.update({report.report_id: report for report in change.reports})
        if change.erased_events:
            held.events[: len(change.erased_events)] = change.erased_events
        if change.erased_events or change.tombstone:
            self._receipts.drop(change.session.tenant_id, held.requests)
            held.requests.clear()
        if change.receipt is not None:
            held.requests.append((change.receipt.rpc, change.receipt.request_id))
        self._receipts.put(change.receipt)
        self._logs.append(change.session.tenant_id, change.leaves)

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


def _check_apart(changes: Sequence[SessionChange]) -> None:
    """Refuse changes that take the same id: what a database's constraints do within one transaction."""
    for name, taken in (
        ("continuation", [{window.continuation_id for window in change.windows} - {""} for change in changes]),
        ("window", [{window.window_id for window in change.windows} for change in changes]),
        ("report", [{report.report_id for report in change.reports} for change in changes]),
    ):
        if len(set[str]().union(*taken)) < sum(map(len, taken)):
            raise _race(f"a {name} id is taken")


def _race(what: str) -> ConflictError:
    return ConflictError(ErrorReason.COMMIT_RACE, f"{what}: another writer came first; read the session again")
