"""``SessionStore`` around another one: content is sealed on the way in, and every record that counts gets its leaf.

Adapters store ciphertext and leaves and know of neither; whoever reads through this sees the records as they were
written, with their salts. The one place on the dag service's write path where leaves are made (ADR 0053, 0054).
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from services.common.errors import LogInconsistentError, UnreadableRecordError
from services.common.merkle import Place
from services.common.ports.receipts import Receipt
from services.common.ports.session_lists import DuePlace, DueSession, ListedSession, SessionFilter
from services.common.ports.sessions import (
    AuditEventRecord,
    LoadedSession,
    LoggedSession,
    ReportRecord,
    SessionChange,
    SessionSnapshot,
    SessionStatus,
    SessionStore,
    WindowRecord,
)
from services.common.ports.transparency_log import KeptHead, LeafKind, LogLeaf, LogRow, LogState
from services.dag.domain.leaves import SALT_BYTES, committed_node, event_loggable, new_leaf, window_loggable
from services.dag.log_keeper import LogKeeper
from services.dag.sealing import MARK, Sealer, SealPlace

_REPORT: Final = "report"
_RECEIPT: Final = "receipt"


class SealedSessionStore:
    """Seals what ``inner`` keeps.

    Args:
        inner: any store of sessions.
        sealer: seals and opens.
        keeper: says whether a tenant's log may be written to; ``None`` for whoever writes to no log that is served.
    """

    def __init__(self, inner: SessionStore, sealer: Sealer, keeper: LogKeeper | None = None) -> None:
        self._inner = inner
        self._sealer = sealer
        self._keeper = keeper

    async def store_id(self) -> str:
        """Return the inner store's id."""
        return await self._inner.store_id()

    async def key_checks(self) -> dict[int, bytes]:
        """Return what tells the master keys of the records from all others."""
        return await self._inner.key_checks()

    async def keep_key_check(self, version: int, value: bytes) -> None:
        """Keep the value, unless one is kept for the version."""
        await self._inner.keep_key_check(version, value)

    async def write(self, *changes: SessionChange) -> None:
        """Seal the changes' content, add their leaves, and write them.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the master key cannot be had.
            LogInconsistentError: LOG_INCONSISTENT: nothing was written.
        """
        tenants = {change.session.tenant_id for change in changes}
        if self._keeper is not None:
            for tenant_id in tenants:
                await self._keeper.admit(tenant_id)
        sealed = [await self._sealed(change) for change in changes]
        try:
            await self._inner.write(*sealed)
        except LogInconsistentError as error:
            if self._keeper is not None:
                for tenant_id in tenants:
                    self._keeper.found(tenant_id, error)
            raise

    async def snapshot(self, tenant_id: str, session_id: str) -> SessionSnapshot | None:
        """Return a consistent view."""
        found = await self._inner.snapshot(tenant_id, session_id)
        return None if found is None else await self._opened(tenant_id, found)

    async def logged(self, tenant_id: str, session_id: str) -> LoggedSession:
        """Return the session with its leaves."""
        found = await self._inner.logged(tenant_id, session_id)
        if found.snapshot is None:
            return found
        return replace(found, snapshot=await self._opened(tenant_id, found.snapshot))

    async def load(self, tenant_id: str, session_id: str, *, limit: int) -> LoadedSession:
        """Return the session with its leaves and the first of its events and reports."""
        found = await self._inner.load(tenant_id, session_id, limit=limit)
        sealed = found.logged.snapshot
        if sealed is None:
            return found
        events = tuple([await self._open_event(tenant_id, event) for event in found.events])
        if found.events and found.events[-1] == sealed.last_event:  # opened already
            snapshot = await self._opened(tenant_id, replace(sealed, last_event=None))
            snapshot = replace(snapshot, last_event=events[-1])
        else:
            snapshot = await self._opened(tenant_id, sealed)
        reports = tuple([await self._opened_report(tenant_id, one) for one in found.reports])
        return LoadedSession(replace(found.logged, snapshot=snapshot), events, reports)

    async def _opened(self, tenant_id: str, found: SessionSnapshot) -> SessionSnapshot:
        last = found.last_event
        return replace(
            found,
            windows=tuple([await self._open_window(tenant_id, window) for window in found.windows]),
            last_event=None if last is None else await self._open_event(tenant_id, last),
        )

    async def find_continuation(self, tenant_id: str, continuation_id: str) -> WindowRecord | None:
        """Return the window that issued the continuation id."""
        found = await self._inner.find_continuation(tenant_id, continuation_id)
        return None if found is None else await self._open_window(tenant_id, found)

    async def page_events(
        self, tenant_id: str, session_id: str, *, after_sequence: int, limit: int
    ) -> list[AuditEventRecord]:
        """Return the next events of the session."""
        found = await self._inner.page_events(tenant_id, session_id, after_sequence=after_sequence, limit=limit)
        return [await self._open_event(tenant_id, event) for event in found]

    async def get_report(self, tenant_id: str, report_id: str) -> ReportRecord | None:
        """Return a report or ``None``."""
        found = await self._inner.get_report(tenant_id, report_id)
        return None if found is None else await self._open_report(tenant_id, found)

    async def page_reports(
        self, tenant_id: str, session_id: str, *, after: str, limit: int, with_inputs: bool = True
    ) -> list[ReportRecord | UnreadableRecordError]:
        """Return the next reports by id."""
        found = await self._inner.page_reports(tenant_id, session_id, after=after, limit=limit, with_inputs=with_inputs)
        return [await self._opened_report(tenant_id, one) for one in found]

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return a remembered answer."""
        found = await self._inner.get_receipt(tenant_id, rpc, request_id)
        if found is None:
            return None
        if not found.response.startswith(MARK.encode()):
            return found
        opened = await self._sealer.open(_receipt_place(found), found.response.decode("ascii", errors="replace"))
        # One that does not open was altered: as good as none.
        return replace(found, response=opened.content) if opened.opened else None

    async def tree_size(self, tenant_id: str) -> int:
        """Return the number of leaves."""
        return await self._inner.tree_size(tenant_id)

    async def tree_hashes(self, tenant_id: str, places: Sequence[Place]) -> list[bytes]:
        """Return the hashes of full subtrees."""
        return await self._inner.tree_hashes(tenant_id, places)

    async def find_leaves(
        self, tenant_id: str, session_id: str, records: Sequence[tuple[LeafKind, str]]
    ) -> list[LogLeaf | None]:
        """Return the leaves of records."""
        return await self._inner.find_leaves(tenant_id, session_id, records)

    async def list_sessions(
        self, tenant_id: str, wanted: SessionFilter, *, after: str, limit: int
    ) -> list[ListedSession]:
        """Return sessions, newest first."""
        return await self._inner.list_sessions(tenant_id, wanted, after=after, limit=limit)

    async def page_due(
        self, tenant_id: str, status: SessionStatus, *, until: datetime, after: DuePlace | None, limit: int
    ) -> list[DueSession]:
        """Return sessions by the time of their status."""
        return await self._inner.page_due(tenant_id, status, until=until, after=after, limit=limit)

    async def count_sessions(self, tenant_id: str) -> Mapping[SessionStatus, int]:
        """Return the number of sessions by status."""
        return await self._inner.count_sessions(tenant_id)

    async def session_tenants(self, *, after: str, limit: int) -> list[str]:
        """Return tenants by name."""
        return await self._inner.session_tenants(after=after, limit=limit)

    async def log_state(self, tenant_id: str) -> LogState:
        """Return size, peaks and kept head."""
        return await self._inner.log_state(tenant_id)

    async def page_log(self, tenant_id: str, *, after: int, limit: int) -> list[LogRow]:
        """Return the next leaves by index."""
        return await self._inner.page_log(tenant_id, after=after, limit=limit)

    async def keep_head(self, tenant_id: str, head: KeptHead) -> None:
        """Keep the head unless a larger one is kept."""
        await self._inner.keep_head(tenant_id, head)

    async def check(self) -> None:
        """Return when the store can serve."""
        await self._inner.check()

    async def read_leaves(self, tenant_id: str, *, first: int, limit: int) -> list[LogLeaf]:
        """Return leaves by index."""
        return await self._inner.read_leaves(tenant_id, first=first, limit=limit)

    async def keep_cosigned(self, tenant_id: str, size: int, note: str) -> None:
        """Keep a checkpoint that witnesses cosigned."""
        await self._inner.keep_cosigned(tenant_id, size, note)

    async def cosigned(self, tenant_id: str) -> str:
        """Return the kept checkpoint."""
        return await self._inner.cosigned(tenant_id)

    async def close(self) -> None:
        """Release everything."""
        await self._inner.close()

    async def _sealed(self, change: SessionChange) -> SessionChange:
        tenant_id, logged = change.session.tenant_id, logged_change(change)
        return replace(
            change,
            windows=tuple([await self._sealed_window(tenant_id, one) for one in logged.windows]),
            events=tuple([await self._sealed_event(tenant_id, one) for one in logged.events]),
            reports=tuple([await self._sealed_report(tenant_id, one) for one in change.reports]),
            receipt=None if change.receipt is None else await self._sealed_receipt(change.receipt),
            leaves=(*change.leaves, *logged.leaves),
        )

    async def _sealed_window(self, tenant_id: str, window: WindowRecord) -> WindowRecord:
        if window.failure_reason:  # free text of callers (ADR 0102); a failed window has no answer
            place = _window_place(tenant_id, window, "failure_reason")
            window = replace(window, failure_reason=await self._sealer.seal(place, window.failure_reason.encode()))
        if not window.response_text and not window.salt:
            return window
        place = _window_place(tenant_id, window, "response_text")
        return replace(
            window, response_text=await self._sealer.seal(place, window.response_text.encode(), window.salt), salt=b""
        )

    async def _open_window(self, tenant_id: str, window: WindowRecord) -> WindowRecord:
        if window.failure_reason:
            reason = await self._sealer.open(_window_place(tenant_id, window, "failure_reason"), window.failure_reason)
            window = replace(window, failure_reason=reason.text)
        if not window.response_text:
            return window
        place = _window_place(tenant_id, window, "response_text")
        found = await self._sealer.open(place, window.response_text)
        return replace(window, response_text=found.text, salt=found.salt)

    async def _sealed_event(self, tenant_id: str, event: AuditEventRecord) -> AuditEventRecord:
        place = SealPlace(tenant_id, event.session_id, LeafKind.EVENT, event.event_id, "data")
        return replace(event, data=await self._sealer.seal(place, event.data.encode(), event.salt), salt=b"")

    async def _open_event(self, tenant_id: str, event: AuditEventRecord) -> AuditEventRecord:
        place = SealPlace(tenant_id, event.session_id, LeafKind.EVENT, event.event_id, "data")
        found = await self._sealer.open(place, event.data)
        return replace(event, data=found.text, salt=found.salt)

    async def _sealed_report(self, tenant_id: str, report: ReportRecord) -> ReportRecord:
        body, inputs = _report_place(tenant_id, report, "body"), _report_place(tenant_id, report, "inputs")
        return replace(
            report,
            body=await self._sealer.seal(body, report.body.encode()) if report.body else "",
            inputs=await self._sealer.seal(inputs, report.inputs.encode()) if report.inputs else "",
        )

    async def _opened_report(
        self, tenant_id: str, found: ReportRecord | UnreadableRecordError
    ) -> ReportRecord | UnreadableRecordError:
        return found if isinstance(found, UnreadableRecordError) else await self._open_report(tenant_id, found)

    async def _open_report(self, tenant_id: str, report: ReportRecord) -> ReportRecord:
        body = await self._sealer.open(_report_place(tenant_id, report, "body"), report.body)
        inputs = await self._sealer.open(_report_place(tenant_id, report, "inputs"), report.inputs)
        return replace(report, body=body.text, inputs=inputs.text)

    async def _sealed_receipt(self, receipt: Receipt) -> Receipt:
        sealed = await self._sealer.seal(_receipt_place(receipt), receipt.response)
        return replace(receipt, response=sealed.encode("ascii"))


def _window_place(tenant_id: str, window: WindowRecord, field: str) -> SealPlace:
    return SealPlace(tenant_id, window.session_id, LeafKind.WINDOW, window.window_id, field)


def _receipt_place(receipt: Receipt) -> SealPlace:
    return SealPlace(receipt.tenant_id, "", _RECEIPT, f"{receipt.rpc}/{receipt.request_id}", "response")


def _report_place(tenant_id: str, report: ReportRecord, field: str) -> SealPlace:
    return SealPlace(tenant_id, report.session_id, _REPORT, report.report_id, field)


def logged_change(change: SessionChange) -> SessionChange:
    """Return the change with a fresh salt for every new event and every window that it commits, and their leaves.

    A window that is written again keeps the salt that it was read with: its leaf is in the log already.
    """
    salts: dict[str, bytes] = {}
    events: list[AuditEventRecord] = []
    leaves: list[LogLeaf] = []
    for event in change.events:
        node = committed_node(event)
        if node is not None:
            window = window_loggable(event.session_id, node)
            salts[window.record_id] = os.urandom(SALT_BYTES)
            leaves.append(new_leaf(window, salts[window.record_id]))
        salted = replace(event, salt=os.urandom(SALT_BYTES))
        events.append(salted)
        leaves.append(new_leaf(event_loggable(event), salted.salt))
    windows = (replace(window, salt=salts.get(window.window_id, window.salt)) for window in change.windows)
    return replace(change, windows=tuple(windows), events=tuple(events), leaves=tuple(leaves))
