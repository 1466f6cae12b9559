"""Everything the dag service answers without writing: windows, lineage, verification, events, reports."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from services.common.errors import ErrorReason, NotFoundError, PreconditionError, UnreadableRecordError
from services.common.ports.session_lists import ListedSession, SessionFilter
from services.common.ports.sessions import (
    AuditEventRecord,
    EdgeRecord,
    ReportRecord,
    SessionRecord,
    SessionSnapshot,
    SessionStore,
    WindowRecord,
)
from services.common.ports.transparency_log import LogLeaf
from services.dag.chains import Chains, session_not_found
from services.dag.domain.agents import MergedEnd, merged_ends
from services.dag.domain.ending import find_window
from services.dag.domain.events import OwnEvent
from services.dag.domain.lineage import lineage_text
from services.dag.domain.opening import FAN_IN
from services.dag.domain.verification import Verification
from services.dag.domain.view import DagView

_EXPORT_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class WindowFound:
    """A window, the DAG it hangs in and the edges into it."""

    window: WindowRecord
    dag: DagView
    edges: tuple[EdgeRecord, ...]


class SessionReads:
    """Reads of one tenant at a time."""

    def __init__(self, store: SessionStore, chains: Chains) -> None:
        self._store = store
        self._chains = chains

    async def window(self, tenant_id: str, session_id: str, window_id: str) -> WindowFound:
        """Return a window.

        Raises:
            NotFoundError: SESSION_NOT_FOUND, WINDOW_NOT_FOUND.
        """
        dag = DagView.of(await self._chains.snapshot(tenant_id, session_id))
        return WindowFound(find_window(dag, window_id), dag, dag.edges_into(window_id))

    async def dag(self, tenant_id: str, session_id: str) -> tuple[SessionRecord, DagView, tuple[MergedEnd, ...]]:
        """Return the session, its DAG, and the ends of agents' sessions that its windows merged.

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
            UnreadableRecordError: RECORD_UNREADABLE: an event that names merged ends.
        """
        snapshot = await self._chains.snapshot(tenant_id, session_id)
        dag = DagView.of(snapshot)
        if not any(window.strategy == FAN_IN for window in dag.windows):
            return snapshot.session, dag, ()
        events = [event async for event in self.every_event(tenant_id, session_id, snapshot.last_event)]
        return snapshot.session, dag, merged_ends(events)

    async def lineage(self, tenant_id: str, session_id: str, window_id: str) -> tuple[str, tuple[str, ...]]:
        """Return the printed lineage of a window and the ids in it.

        Raises:
            NotFoundError: SESSION_NOT_FOUND, WINDOW_NOT_FOUND.
        """
        found = await self.window(tenant_id, session_id, window_id)
        ids = tuple(window.window_id for window in found.dag.lineage((window_id,)))
        return lineage_text(found.dag, window_id), ids

    async def verify(self, tenant_id: str, session_id: str) -> Verification:
        """Recompute the chain; a broken one is a result, not an error.

        Raises:
            NotFoundError: SESSION_NOT_FOUND: neither store nor log knows the session.
            UnavailableError: SERVICE_UNAVAILABLE: the session's master key is not held here.
        """
        return await self._chains.judged(tenant_id, session_id)

    async def events(self, tenant_id: str, session_id: str, *, after: int, limit: int) -> list[AuditEventRecord]:
        """Return up to ``limit`` events with a sequence above ``after``.

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
        """
        await self._chains.snapshot(tenant_id, session_id)
        return await self._store.page_events(tenant_id, session_id, after_sequence=after, limit=limit)

    async def logged(self, tenant_id: str, session_id: str) -> tuple[SessionSnapshot, tuple[LogLeaf, ...]]:
        """Return the session and every leaf that the log has of it, read as one.

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
        """
        found = await self._store.logged(tenant_id, session_id)
        if found.snapshot is None:
            raise session_not_found(session_id)
        return found.snapshot, found.leaves

    async def every_event(
        self, tenant_id: str, session_id: str, through: AuditEventRecord | None = None
    ) -> AsyncIterator[AuditEventRecord]:
        """Yield all events in order, page by page, up to one and with it if it is given.

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
        """
        after = -1
        while True:
            page = await self.events(tenant_id, session_id, after=after, limit=_EXPORT_PAGE)
            for event in page:
                if through is not None and event.sequence > through.sequence:
                    return
                yield event
            if len(page) < _EXPORT_PAGE:
                return
            after = page[-1].sequence

    async def holding_key(self, tenant_id: str, session_id: str, window_id: str) -> bytes:
        """Return the key of what is kept of the window's answer while a person decides about it (ADR 0148).

        Raises:
            NotFoundError: SESSION_NOT_FOUND, WINDOW_NOT_FOUND.
            PreconditionError: SESSION_CLOSED: the session was erased, and the key with it.
            UnavailableError: SERVICE_UNAVAILABLE: the session's master key is not held here.
        """
        snapshot = await self._chains.snapshot(tenant_id, session_id)
        find_window(DagView.of(snapshot), window_id)
        async for event in self.every_event(tenant_id, session_id, snapshot.last_event):
            if event.window_id == window_id and event.event_type == OwnEvent.DISPATCH_STARTED and event.salt:
                return await self._chains.holding_key(snapshot.session, event)
        text = "the session was erased, or the window was not opened here: nothing that was held of it can be read"
        raise PreconditionError(ErrorReason.SESSION_CLOSED, text, session_id=session_id, window_id=window_id)

    async def provider_key(self, tenant_id: str, version: int) -> tuple[int, bytes]:
        """Return the key of the credentials of the tenant's own providers, as ``Chains.provider_key``."""
        return await self._chains.provider_key(tenant_id, version)

    async def every_analysis(
        self, tenant_id: str, snapshot: SessionSnapshot
    ) -> AsyncIterator[tuple[WindowRecord, ReportRecord]]:
        """Yield every committed window with its report, by number.

        Windows of another instance's store have none, those of an erased session no longer.
        """
        for window in DagView.of(snapshot).committed:
            report = await self._store.get_report(tenant_id, window.report_id)
            if report is not None and report.body:
                yield window, report

    async def sessions(self, tenant_id: str, wanted: SessionFilter, *, after: str, limit: int) -> list[ListedSession]:
        """Return up to ``limit`` sessions, newest first, that follow session ``after``."""
        return await self._store.list_sessions(tenant_id, wanted, after=after, limit=limit)

    async def report(self, tenant_id: str, report_id: str) -> ReportRecord:
        """Return a report.

        Raises:
            NotFoundError: REPORT_NOT_FOUND.
        """
        report = await self._store.get_report(tenant_id, report_id)
        if report is None:
            raise NotFoundError(ErrorReason.REPORT_NOT_FOUND, f"no report {report_id}", report_id=report_id)
        return report

    async def reports(
        self, tenant_id: str, session_id: str, *, after: str, limit: int, with_inputs: bool = True
    ) -> list[ReportRecord | UnreadableRecordError]:
        """Return up to ``limit`` reports with an id above ``after``; an empty session id means all sessions.

        One that does not parse has its place in the list (ADR 0101).

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
        """
        if session_id:
            await self._chains.snapshot(tenant_id, session_id)
        return await self._store.page_reports(tenant_id, session_id, after=after, limit=limit, with_inputs=with_inputs)
