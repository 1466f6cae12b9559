"""Loading stored chains, verifying them, and closing the session of one that is broken (SPEC-004 §9.4, §16.4)."""

from typing import Final, NoReturn

from services.common.clock import Clock
from services.common.computing import compute
from services.common.errors import (
    ChainBrokenError,
    ConflictError,
    ErrorReason,
    NotFoundError,
    UnavailableError,
)
from services.common.ports.sessions import (
    AuditEventRecord,
    ReportRecord,
    SessionRecord,
    SessionSnapshot,
    SessionStatus,
    SessionStore,
)
from services.common.progress import writing
from services.dag.domain import keys
from services.dag.domain.ending import BROKEN_CAUSE, end_session
from services.dag.domain.step import to_change
from services.dag.domain.tombstones import is_tombstoned, verify_tombstone
from services.dag.domain.verify import Fault, Integrity, StoredChain, Verification, verify_chain
from services.dag.ports import MasterKeys

_PAGE: Final = 1000
_CLOSING_ATTEMPTS: Final = 12
_INLINE_EVENTS: Final = 64
"""Chains up to here (some twelve windows) are verified in place; longer ones in a thread, so that other calls go on."""


class Chains:
    """The stored chains of all sessions."""

    def __init__(self, store: SessionStore, master_keys: MasterKeys, clock: Clock, verify_max_windows: int) -> None:
        self._store = store
        self._master_keys = master_keys
        self._clock = clock
        self._verify_max_windows = verify_max_windows

    async def snapshot(self, tenant_id: str, session_id: str) -> SessionSnapshot:
        """Return the session.

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
        """
        snapshot = await self._store.snapshot(tenant_id, session_id)
        if snapshot is None:
            raise session_not_found(session_id)
        return snapshot

    async def load(self, tenant_id: str, session_id: str) -> StoredChain:
        """Return the session with its events and reports, consistent with the snapshot.

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
        """
        snapshot = await self.snapshot(tenant_id, session_id)
        events = await self._events(tenant_id, snapshot)
        return StoredChain(snapshot, tuple(events), tuple(await self._reports(tenant_id, snapshot)))

    async def hmac_key(self, session: SessionRecord) -> bytes:
        """Return the session's HMAC key.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: its master key version is not held here.
        """
        master = await self._master_keys.find(session.key_version)
        if master is None:
            text = f"master key version {session.key_version} is not configured; add it to verify older sessions"
            raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, text, key_version=str(session.key_version))
        return keys.session_hmac_key(master, session.session_id)

    async def verify(self, stored: StoredChain) -> Verification:
        """Recompute the chain; nothing is written."""
        session = stored.snapshot.session
        key = await self.hmac_key(session)
        if is_tombstoned(stored):
            leaves = await self._store.session_leaves(session.tenant_id, session.session_id)
            return verify_tombstone(stored, leaves, key)
        if len(stored.events) <= _INLINE_EVENTS:
            return verify_chain(stored, key, self._verify_max_windows)
        return await compute(verify_chain, stored, key, self._verify_max_windows)

    async def verified(self, stored: StoredChain) -> Verification:
        """Recompute the chain of a session that is to be continued.

        Raises:
            ChainBrokenError: CHAIN_BROKEN; the session is BROKEN for good and its trail holds the incident.
        """
        verification = await self.verify(stored)
        if verification.integrity is Integrity.BROKEN and verification.fault is not None:
            await self.close_broken(stored.snapshot, verification.fault)
        return verification

    async def close_broken(self, snapshot: SessionSnapshot, fault: Fault) -> NoReturn:
        """Set the session BROKEN and append the incident (SPEC-004 §16.4).

        Raises:
            ChainBrokenError: CHAIN_BROKEN, always.
        """
        key = await self.hmac_key(snapshot.session)
        latest: SessionSnapshot | None = snapshot
        # Another writer may come first: it met the same break and closed the session, or it appended an event.
        for _ in range(_CLOSING_ATTEMPTS):
            if latest is None or latest.session.status is SessionStatus.BROKEN:
                break
            step = end_session(latest, SessionStatus.BROKEN, BROKEN_CAUSE, fault)
            # The invariants are what may be broken: the incident is chained without checking them.
            change = to_change(step, latest, self._clock.now(), key, check=False)
            try:
                with writing():
                    await self._store.write(change)
                break
            except ConflictError:
                latest = await self._store.snapshot(snapshot.session.tenant_id, snapshot.session.session_id)
        text = f"the stored chain does not verify at {fault.record_kind} {fault.record_id}; start a new session"
        raise ChainBrokenError(
            ErrorReason.CHAIN_BROKEN,
            text,
            session_id=snapshot.session.session_id,
            record_kind=fault.record_kind,
            record_id=fault.record_id,
        )

    async def _events(self, tenant_id: str, snapshot: SessionSnapshot) -> list[AuditEventRecord]:
        """Return the events up to the snapshot's last: later ones belong to a later state."""
        last = snapshot.last_event.sequence if snapshot.last_event else -1
        events: list[AuditEventRecord] = []
        while True:
            after = events[-1].sequence if events else -1
            page = await self._store.page_events(
                tenant_id, snapshot.session.session_id, after_sequence=after, limit=_PAGE
            )
            events.extend(event for event in page if event.sequence <= last)
            if len(page) < _PAGE or page[-1].sequence >= last:
                return events

    async def _reports(self, tenant_id: str, snapshot: SessionSnapshot) -> list[ReportRecord]:
        """Return the reports, but for those of windows that were committed after the snapshot."""
        pending = {window.window_id for window in snapshot.windows if not window.report_id}
        reports: list[ReportRecord] = []
        after = ""
        while True:
            page = await self._store.page_reports(tenant_id, snapshot.session.session_id, after=after, limit=_PAGE)
            reports.extend(report for report in page if report.window_id not in pending)
            if len(page) < _PAGE:
                return reports
            after = page[-1].report_id


def session_not_found(session_id: str) -> NotFoundError:
    """Return the SESSION_NOT_FOUND error; another tenant's session is no different from none."""
    return NotFoundError(ErrorReason.SESSION_NOT_FOUND, f"no session {session_id}", session_id=session_id)
