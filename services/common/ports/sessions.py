"""Sessions, windows, edges, audit events and reports (CRP-SPEC-004 §3, §9). Only writer: the dag service."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum, unique
from typing import Final, Protocol

from services.common.errors import UnreadableRecordError
from services.common.ports.receipts import Receipt
from services.common.ports.session_lists import SessionLists
from services.common.ports.transparency_log import LogLeaf, TransparencyLog
from services.common.taxonomy import WindowStatus

STORE_ID_BYTES: Final = 8
_UNKNOWN_MOMENT: Final = datetime(1970, 1, 1, tzinfo=UTC)


@unique
class SessionStatus(StrEnum):
    """OPEN can be continued; the others never again.

    Of an ERASED one the content is gone, of a TOMBSTONED one every record but one event (ADR 0104). UNREADABLE is never
    stored: lists have it in the place of a session of which the record does not parse.
    """

    OPEN = "OPEN"
    COMPLETED = "COMPLETED"
    TERMINATED = "TERMINATED"
    BROKEN = "BROKEN"
    ERASED = "ERASED"
    EXPIRED = "EXPIRED"
    TOMBSTONED = "TOMBSTONED"
    UNREADABLE = "UNREADABLE"


@unique
class WindowPattern(StrEnum):
    """How a window hangs in the DAG (SPEC-004 §3.1)."""

    LINEAR = "LINEAR"
    FAN_OUT = "FAN_OUT"
    FAN_IN = "FAN_IN"
    BRANCH = "BRANCH"


@unique
class TransferType(StrEnum):
    """What flows along an edge (SPEC-004 §8.1).

    RELAYED is ours: the target is a window of another store, which keeps what flowed (§10.2, ADR 0102).
    """

    FULL_CONTEXT = "FULL_CONTEXT"
    SUMMARY = "SUMMARY"
    FACTS_ONLY = "FACTS_ONLY"
    RESULT_ONLY = "RESULT_ONLY"
    RELAYED = "RELAYED"


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session.

    Attributes:
        version: grows by one with every write; the guard against races.
        scope: the credential scope that opened it; tokens are bound to it.
        policy_hash: SHA-256 hex of the canonical safety policy in force.
        limits: max_windows, max_fan_out, max_dag_nodes, max_loop_depth (SPEC-004 §11).
        parent_session_id: of an agent's session (SPEC-004 §15); empty otherwise.
        trail_mac: 64 hex digits, HMAC over version, number of audit events and the last one's HMAC, so that a trail
            that lost its end is found (ADR 0058).
        budget_ceiling: no window starts from more safety budget: what the session began with, lowered to what agents'
            sessions under it have left (SPEC-004 §15.2, ADR 0103).
        updated_at, status_at, legal_hold: what the row repeats of the trail, so that lists and retention need no trail:
            when the last event was written, since when the session has its status (of an open one the same), and
            whether it is exempt from erasure (ADR 0104).
    """

    tenant_id: str
    session_id: str
    scope: str
    status: SessionStatus
    created_at: datetime
    version: int
    audit_trail_id: str
    key_version: int
    policy_hash: str
    max_windows: int
    max_fan_out: int
    max_dag_nodes: int
    max_loop_depth: int
    parent_session_id: str = ""
    loop_depth: int = 0
    trail_mac: str = ""
    budget_ceiling: float = 1.0
    updated_at: datetime | None = None
    status_at: datetime | None = None
    legal_hold: bool = False


def unreadable_session(tenant_id: str, session_id: str) -> SessionRecord:
    """Return what lists hold in the place of a session of which the record does not parse."""
    return SessionRecord(tenant_id, session_id, "", SessionStatus.UNREADABLE, _UNKNOWN_MOMENT, 0, "", 0, "", 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class DeferredFact:
    """A relevant fact that did not fit (SPEC-003 §10.3)."""

    fact_id: str
    token_count: int


@dataclass(frozen=True, slots=True)
class WindowRecord:
    """One window; the fields of SPEC-004 §3.1 and what continuing it needs.

    Attributes:
        hmac: 64 hex digits; empty unless COMMITTED.
        window_hmac: the same with an empty parent (CRP-Provenance-Window-HMAC).
        response_hash, report_hash: 64 hex digits.
        response_text: the content, for transfer to children; empty after erasure.
        response_tokens: tokens of ``response_text`` in the target model's tokenizer.
        failure_reason: set when FAILED; empty after erasure, but for a window that was pending then.
        salt: 32 random bytes that the window's leaf is salted with; held beside the content and gone with it. Stores
            neither keep nor return it: it travels inside the sealed ``response_text`` (ADR 0055).
    """

    session_id: str
    window_id: str
    window_number: int
    parent_ids: tuple[str, ...]
    pattern: WindowPattern
    status: WindowStatus
    strategy: str
    timestamp: datetime
    opened_by_request: str = ""
    continuation_id: str = ""
    envelope_etag: str = ""
    quality_tier: str = ""
    risk_level: str = ""
    safety_budget: float = 1.0
    hmac: str = ""
    window_hmac: str = ""
    token_count: int = 0
    response_hash: str = ""
    response_text: str = ""
    response_tokens: int = 0
    report_id: str = ""
    report_hash: str = ""
    model_fingerprint: str = ""
    facts_included: tuple[str, ...] = ()
    facts_deferred: tuple[DeferredFact, ...] = ()
    failure_reason: str = ""
    salt: bytes = field(default=b"", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """Context flow from a parent to a child (SPEC-004 §3.2)."""

    session_id: str
    source_id: str
    target_id: str
    transfer_type: TransferType
    transferred_tokens: int
    summary_hash: str = ""


@dataclass(frozen=True, slots=True)
class AuditEventRecord:
    """One audit event; chained by HMAC within its session (CRP-SPEC-011 facts).

    Attributes:
        sequence: 0-based position in the session's chain.
        data: canonical JSON text of the event's data; empty after erasure.
        hmac: 64 hex digits over type, timestamp, SHA-256 of ``data``, window id and the previous event's HMAC.
        data_sha256: 64 hex digits, what is left of ``data`` after erasure; empty before.
        salt: as a window's, inside the sealed ``data``.
    """

    session_id: str
    sequence: int
    event_id: str
    event_type: str
    timestamp: datetime
    window_id: str
    data: str
    hmac: str
    data_sha256: str = ""
    salt: bytes = field(default=b"", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ReportRecord:
    """A stored DPE report: ``body`` is the protobuf JSON text (proto field names, RFC 8785 canonical).

    ``inputs`` is the same of ``crp.dpe.v1.AnalysisInputs``; empty when they were not kept.
    """

    session_id: str
    window_id: str
    report_id: str
    report_hash: str
    created_at: datetime
    body: str
    inputs: str = ""


@dataclass(frozen=True, slots=True)
class SessionSnapshot:
    """A consistent view: windows ordered by (window_number, window_id), edges by (target, source)."""

    session: SessionRecord
    windows: tuple[WindowRecord, ...]
    edges: tuple[EdgeRecord, ...]
    last_event: AuditEventRecord | None


@dataclass(frozen=True, slots=True)
class LoggedSession:
    """A session and its leaves, read as one: no write lies between the two.

    Attributes:
        snapshot: ``None`` when the store holds no such session.
        leaves: every leaf in the tenant's log that names the session, by index; as they are stored, whatever they hold.
    """

    snapshot: SessionSnapshot | None
    leaves: tuple[LogLeaf, ...]


@dataclass(frozen=True, slots=True)
class LoadedSession:
    """A session with its leaves and the first of its events and reports, read as one: no write lies between them.

    Attributes:
        logged: session and leaves.
        events: in order, from the first.
        reports: ordered by id.
    """

    logged: LoggedSession
    events: tuple[AuditEventRecord, ...] = ()
    reports: tuple[ReportRecord | UnreadableRecordError, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionChange:
    """Everything that one step changes, written in one transaction or not at all.

    Attributes:
        session: the session as it shall be, ``version`` = the expected version + 1 (1 for a new one).
        windows: windows to insert or replace.
        edges, reports: to insert or replace.
        events: to append; their sequence must continue the stored chain without a gap.
        receipt: the remembered answer.
        leaves: to append to the tenant's log in this order, ``leaf_index`` UNASSIGNED; of several changes at once the
            log holds each one's leaves side by side.
        erased_events: stored events in the place of their former selves, without their data; given exactly when the
            change erases the session. Then every earlier receipt of the session goes too, and the store overwrites
            what it frees; it may use the disk reserve for it.
        tombstone: windows, edges, reports, receipts and stored events of the session go, as content does with
            ``erased_events``; its row, the change's events and the leaves stay. The change holds nothing to insert but
            events.
    """

    session: SessionRecord
    windows: tuple[WindowRecord, ...] = ()
    edges: tuple[EdgeRecord, ...] = ()
    events: tuple[AuditEventRecord, ...] = ()
    reports: tuple[ReportRecord, ...] = ()
    receipt: Receipt | None = None
    leaves: tuple[LogLeaf, ...] = ()
    erased_events: tuple[AuditEventRecord, ...] = ()
    tombstone: bool = False


def check_whole(changes: Sequence[SessionChange]) -> None:
    """Refuse what no transaction holds: a caller's mistake, whatever is stored.

    Raises:
        ValueError: as ``SessionStore.write`` says.
    """
    for change in changes:
        owners = {window.session_id for window in change.windows} | {edge.session_id for edge in change.edges}
        owners |= {event.session_id for event in change.events} | {report.session_id for report in change.reports}
        owners |= {event.session_id for event in change.erased_events} | {leaf.session_id for leaf in change.leaves}
        if owners - {change.session.session_id}:
            raise ValueError("a change holds records of another session")
        if change.tombstone and (change.windows or change.edges or change.reports or change.erased_events):
            raise ValueError("a tombstone leaves no record but events")
        if change.receipt is not None and change.receipt.tenant_id != change.session.tenant_id:
            raise ValueError("a change holds a receipt of another tenant")
    if len({change.session.tenant_id for change in changes}) > 1:
        raise ValueError("changes of different tenants are no one write")
    if len({change.session.session_id for change in changes}) < len(changes):
        raise ValueError("two changes are of one session")


class SessionStore(TransparencyLog, SessionLists, Protocol):
    """Sessions of all tenants, each tenant apart. Durability and errors as in ``FactStore``.

    Every read raises ``UnreadableRecordError`` (RECORD_UNREADABLE) for a record that it needs and that does not parse,
    and leaves nothing behind that a later read would meet. Lists over sessions go on: ``list_sessions`` has an
    UNREADABLE session in its place, ``page_reports`` the error; of a record without a readable id they know nothing.
    """

    async def store_id(self) -> str:
        """Return what tells this store from every other one: 16 hex digits, drawn once and kept with its records."""
        ...

    async def key_checks(self) -> dict[int, bytes]:
        """Return what tells the master keys of these records from all others, by version (ADR 0220)."""
        ...

    async def keep_key_check(self, version: int, value: bytes) -> None:
        """Keep the value with the records, unless one is kept for the version.

        Raises:
            LimitExceededError: STORAGE_FULL.
        """
        ...

    async def write(self, *changes: SessionChange) -> None:
        """Apply changes of different sessions of one tenant in one transaction; all of them or nothing, durable.

        Each is guarded by its own session's version: what is stored is ``change.session.version - 1``. Their leaves
        come into the log in the order of the changes.

        Raises:
            ConflictError: COMMIT_RACE: another writer came first to one of them; read the snapshots again and decide
                anew.
            LogInconsistentError: LOG_INCONSISTENT: the tenant's log does not hold together; nothing was written.
            ValueError: two changes are of one session or of different tenants, or one holds another session's records.
        """
        ...

    async def snapshot(self, tenant_id: str, session_id: str) -> SessionSnapshot | None:
        """Return a consistent view of the session or ``None``."""
        ...

    async def logged(self, tenant_id: str, session_id: str) -> LoggedSession:
        """Return the session with its leaves, by one indexed read of each that nothing is written between."""
        ...

    async def load(self, tenant_id: str, session_id: str, *, limit: int) -> LoadedSession:
        """Return what ``logged`` does and the first pages of events and reports, in one round trip.

        Args:
            tenant_id: the caller's tenant.
            session_id: whose records.
            limit: at most this many events and this many reports; ``page_events`` and ``page_reports`` go on from
                there.
        """
        ...

    async def find_continuation(self, tenant_id: str, continuation_id: str) -> WindowRecord | None:
        """Return the window that issued the continuation id or ``None``."""
        ...

    async def page_events(
        self, tenant_id: str, session_id: str, *, after_sequence: int, limit: int
    ) -> list[AuditEventRecord]:
        """Return up to ``limit`` events with ``sequence > after_sequence`` (-1 = from the first), in order."""
        ...

    async def get_report(self, tenant_id: str, report_id: str) -> ReportRecord | None:
        """Return a report or ``None``."""
        ...

    async def page_reports(
        self, tenant_id: str, session_id: str, *, after: str, limit: int, with_inputs: bool = True
    ) -> list[ReportRecord | UnreadableRecordError]:
        """Return up to ``limit`` reports with ``report_id > after``, ordered by id; empty session = all sessions.

        Without ``with_inputs`` their ``inputs`` are empty, and are not read: they are the larger part of a report.
        """
        ...

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return what was answered to this request id, while it is kept."""
        ...

    async def check(self) -> None:
        """Return when the store can serve; raise ``UnavailableError`` otherwise."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
