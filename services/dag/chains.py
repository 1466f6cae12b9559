"""Loading stored chains, verifying them, and closing the session of one that is broken (SPEC-004 §9.4, §16.4)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NoReturn

from services.common.clock import Clock
from services.common.computing import compute
from services.common.counting import counted
from services.common.errors import (
    ChainBrokenError,
    ConflictError,
    ErrorReason,
    LogInconsistentError,
    NotFoundError,
    UnavailableError,
    UnreadableRecordError,
)
from services.common.ports.sessions import (
    AuditEventRecord,
    ReportRecord,
    SessionChange,
    SessionRecord,
    SessionSnapshot,
    SessionStatus,
    SessionStore,
)
from services.common.progress import writing
from services.common.taxonomy import ChainIntegrity
from services.dag.domain import keys
from services.dag.domain.ending import BROKEN_CAUSE, end_session
from services.dag.domain.step import Step, resealed, to_change, trail_holds
from services.dag.domain.tombstones import is_tombstone, is_tombstoned, verify_tombstone
from services.dag.domain.verification import Fault, StoredChain, Verification, not_read
from services.dag.domain.verify import is_first_event, verify_chain
from services.dag.held_keys import other_keys
from services.dag.ports import MasterKeys

_PAGE: Final = 1000
_CLOSING_ATTEMPTS: Final = 12
_ANOTHER_KEY: Final = "names another master key version than the one that its events are chained under"
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
        """Return the session with its events, reports and leaves, consistent with the snapshot.

        Raises:
            NotFoundError: SESSION_NOT_FOUND.
        """
        stored = await self.find(tenant_id, session_id)
        if stored is None:
            raise session_not_found(session_id)
        return stored

    async def find(self, tenant_id: str, session_id: str) -> StoredChain | None:
        """Return what ``load`` does, or ``None``; of a short chain all is read at once."""
        found = await self._store.load(tenant_id, session_id, limit=_PAGE)
        snapshot = found.logged.snapshot
        if snapshot is None:
            return None
        events = await self._events(tenant_id, snapshot, found.events)
        reports = await self._reports(tenant_id, snapshot, found.reports)
        return StoredChain(snapshot, tuple(events), tuple(reports), found.logged.leaves)

    async def judged(self, tenant_id: str, session_id: str) -> Verification:
        """Load the chain and recompute it; a record that does not parse is a fault, and named before any other.

        Raises:
            NotFoundError: SESSION_NOT_FOUND: neither store nor log knows the session.
            UnavailableError: SERVICE_UNAVAILABLE: the session's master key is not held here.
        """
        try:
            return await self.verify(await self.load(tenant_id, session_id))
        except UnreadableRecordError as error:
            return not_read(Fault(error.record_kind, error.record_id, error.detail))
        except NotFoundError:
            missing = await self._missing(tenant_id, session_id)
            if missing is None:
                raise
            return missing

    async def hmac_key(self, session: SessionRecord) -> bytes:
        """Return the session's HMAC key.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: its master key version is not held here.
        """
        return keys.session_hmac_key(await self._master(session), session.session_id)

    async def _master(self, session: SessionRecord) -> keys.MasterKey:
        master = await self._master_keys.find(session.key_version)
        if master is None:
            text = f"master key version {session.key_version} is not configured; add it to verify older sessions"
            raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, text, key_version=str(session.key_version))
        return master

    async def holding_key(self, session: SessionRecord, opened: AuditEventRecord) -> bytes:
        """Return the key of what is kept of a window's answer while it is held, from the event that opened the window.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the session's master key version is not held here.
        """
        master = await self._master(session)
        return keys.holding_key(master, session.session_id, opened.window_id, opened.salt)

    async def provider_key(self, tenant_id: str, version: int) -> tuple[int, bytes]:
        """Return the key of the credentials of a tenant's own providers, and its version (ADR 0163).

        Args:
            tenant_id: whose it is.
            version: of the master key; 0 = the current one.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the master key version is not held here.
        """
        master = await (self._master_keys.find(version) if version else self._master_keys.current())
        if master is None:
            text = f"master key version {version} is not configured; add it to read provider keys that it sealed"
            raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, text, key_version=str(version))
        return master.version, keys.provider_key(master, tenant_id)

    async def verify(self, stored: StoredChain) -> Verification:
        """Recompute the chain; nothing is written.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: its master key version is not held here.
        """
        session = stored.snapshot.session
        try:
            key = await self.hmac_key(session)
        except UnavailableError:
            if await self._names_another_key(stored):
                return not_read(Fault("session", session.session_id, _ANOTHER_KEY))
            raise
        if is_tombstoned(stored):
            found = verify_tombstone(stored, key)
        elif len(stored.events) <= _INLINE_EVENTS:
            found = verify_chain(stored, key, self._verify_max_windows)
        else:
            found = await compute(verify_chain, stored, key, self._verify_max_windows)
        if found.fault is not None and not found.events_verified and await self._names_another_key(stored):
            return replace(found, fault=Fault("session", session.session_id, _ANOTHER_KEY))
        return found

    async def _names_another_key(self, stored: StoredChain) -> bool:
        """Say whether the first event, or the tombstone, is chained under another held key than the row names."""
        session, first = stored.snapshot.session, stored.events[0] if stored.events else None
        if first is None:
            return False
        async for master in other_keys(self._master_keys, session.key_version):
            key = keys.session_hmac_key(master, session.session_id)
            if is_first_event(first, key) or is_tombstone(first, key):
                return True
        return False

    async def verified(self, stored: StoredChain) -> Verification:
        """Recompute the chain of a session that is to be continued.

        Raises:
            ChainBrokenError: CHAIN_BROKEN; the session is BROKEN for good and its trail holds the incident.
        """
        verification = await self.verify(stored)
        if verification.integrity is ChainIntegrity.BROKEN and verification.fault is not None:
            await self.close_broken(stored.snapshot, verification.fault)
        return verification

    async def _missing(self, tenant_id: str, session_id: str) -> Verification | None:
        """Return what is said of a session that is not in the store; ``None`` when the log has no leaf of it either."""
        found = await self._store.logged(tenant_id, session_id)
        if found.snapshot is not None or not found.leaves:
            return None
        held = counted(len(found.leaves), "leaf", "leaves")
        fault = Fault("session", session_id, f"is missing: the log holds {held} of it")
        return not_read(fault)

    async def change(
        self, step: Step, before: SessionSnapshot, *, now: datetime | None = None, check: bool = True
    ) -> SessionChange:
        """Return the step as one transaction on top of ``before``, if nothing was taken from the end of its trail.

        A trail that an earlier version left open, and that else holds, is sealed from here on (ADR 0099).

        Raises:
            ChainBrokenError: CHAIN_BROKEN; the session is BROKEN for good and its trail holds the incident.
            CrpError: INTERNAL when the step would break an invariant.
        """
        key = await self.hmac_key(step.session)
        if not trail_holds(before, key):
            await self.verified(await self.load(before.session.tenant_id, before.session.session_id))
            step = step if before.session.trail_mac else resealed(step, before)
        return to_change(step, before, now or self._clock.now(), key, check=check)

    async def close_broken(self, snapshot: SessionSnapshot, fault: Fault) -> NoReturn:
        """Set the session BROKEN and append the incident (SPEC-004 §16.4).

        Raises:
            ChainBrokenError: CHAIN_BROKEN, always.
        """
        latest: SessionSnapshot | None = snapshot
        try:
            key = await self.hmac_key(snapshot.session)
        except UnavailableError:  # nothing can be chained to it: refused all the same
            latest = None
            key = b""
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
            except LogInconsistentError:  # nothing is written to such a log; what was found is said all the same
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

    async def _events(
        self, tenant_id: str, snapshot: SessionSnapshot, page: Sequence[AuditEventRecord]
    ) -> list[AuditEventRecord]:
        """Return the events up to the snapshot's last, from their first page on: later ones belong to a later state."""
        last = snapshot.last_event.sequence if snapshot.last_event else -1
        events = list(page)
        while len(page) == _PAGE and page[-1].sequence < last:
            page = await self._store.page_events(
                tenant_id, snapshot.session.session_id, after_sequence=page[-1].sequence, limit=_PAGE
            )
            events.extend(event for event in page if event.sequence <= last)
        return events

    async def _reports(
        self, tenant_id: str, snapshot: SessionSnapshot, page: Sequence[ReportRecord | UnreadableRecordError]
    ) -> list[ReportRecord]:
        """Return the reports, but for those of windows that were committed after the snapshot."""
        pending = {window.window_id for window in snapshot.windows if not window.report_id}
        reports = _readable(page)
        while len(page) == _PAGE:
            after = reports[-1].report_id
            page = await self._store.page_reports(tenant_id, snapshot.session.session_id, after=after, limit=_PAGE)
            reports.extend(_readable(page))
        return [report for report in reports if report.window_id not in pending]


def _readable(page: Sequence[ReportRecord | UnreadableRecordError]) -> list[ReportRecord]:
    """Return a page of reports; raises the first that does not parse."""
    reports: list[ReportRecord] = []
    for report in page:
        if isinstance(report, UnreadableRecordError):
            raise report
        reports.append(report)
    return reports


def session_not_found(session_id: str) -> NotFoundError:
    """Return the SESSION_NOT_FOUND error; another tenant's session is no different from none."""
    return NotFoundError(ErrorReason.SESSION_NOT_FOUND, f"no session {session_id}", session_id=session_id)
