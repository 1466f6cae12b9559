"""Tables of sessions.db, and its records as rows.

The constraints are the second line behind the version guard: one row per window, continuation and report id of a
tenant, one event per place in a session's chain, one living root per session (SPEC-004 §3.3).
"""

from collections.abc import Sequence
from typing import Any, Final

from services.common.adapters.sqlite.connections import Schema
from services.common.adapters.sqlite.event_feed import FEED_SCHEMA
from services.common.adapters.sqlite.key_checks import KEY_CHECKS_SCHEMA
from services.common.adapters.sqlite.log_rows import HEADS_SCHEMA, LOG_SCHEMA
from services.common.adapters.sqlite.published_log import COSIGNED_SCHEMA
from services.common.adapters.sqlite.receipts import RECEIPTS_OF_SESSIONS, RECEIPTS_SCHEMA
from services.common.adapters.sqlite.session_schema import LISTS_SCHEMA
from services.common.adapters.sqlite.typed_rows import RowShape, pairs_of, strings_of
from services.common.adapters.sqlite.values import json_list, micros, moment, optional_micros, optional_moment
from services.common.adapters.stored_values import number_of, word_of
from services.common.errors import UnreadableRecordError
from services.common.ports.sessions import (
    AuditEventRecord,
    DeferredFact,
    EdgeRecord,
    ReportRecord,
    SessionRecord,
    SessionStatus,
    TransferType,
    WindowPattern,
    WindowRecord,
    unreadable_session,
)
from services.common.taxonomy import WindowStatus

STORE_ID_SCHEMA: Final = (
    "CREATE TABLE store_identity (store_id TEXT PRIMARY KEY) WITHOUT ROWID",
    "INSERT INTO store_identity VALUES (lower(hex(randomblob(8))))",
)
"""What tells this file from every other one in session tokens (ADR 0102); a copy of the file has the same id."""

SESSIONS_SCHEMA: Final = Schema(
    application_id=0x47545345,  # "GTSE"
    migrations=(
        (
            """
            CREATE TABLE sessions (
                tenant_id TEXT NOT NULL,
                session_id TEXT NOT NULL,
                scope TEXT NOT NULL,
                status TEXT NOT NULL,
                created_us INTEGER NOT NULL,
                version INTEGER NOT NULL,
                audit_trail_id TEXT NOT NULL,
                key_version INTEGER NOT NULL,
                policy_hash TEXT NOT NULL,
                max_windows INTEGER NOT NULL,
                max_fan_out INTEGER NOT NULL,
                max_dag_nodes INTEGER NOT NULL,
                max_loop_depth INTEGER NOT NULL,
                parent_session_id TEXT NOT NULL,
                loop_depth INTEGER NOT NULL,
                PRIMARY KEY (tenant_id, session_id)
            )
            """,
            "CREATE INDEX sessions_by_age ON sessions (tenant_id, created_us DESC, session_id)",
            """
            CREATE TABLE windows (
                tenant_id TEXT NOT NULL,
                session_id TEXT NOT NULL,
                window_id TEXT NOT NULL,
                window_number INTEGER NOT NULL,
                parent_ids TEXT NOT NULL,
                pattern TEXT NOT NULL,
                status TEXT NOT NULL,
                strategy TEXT NOT NULL,
                timestamp_us INTEGER NOT NULL,
                opened_by_request TEXT NOT NULL,
                continuation_id TEXT NOT NULL,
                envelope_etag TEXT NOT NULL,
                quality_tier TEXT NOT NULL,
                risk_level TEXT NOT NULL,
                safety_budget REAL NOT NULL,
                hmac TEXT NOT NULL,
                window_hmac TEXT NOT NULL,
                token_count INTEGER NOT NULL,
                response_hash TEXT NOT NULL,
                response_text TEXT NOT NULL,
                response_tokens INTEGER NOT NULL,
                report_id TEXT NOT NULL,
                report_hash TEXT NOT NULL,
                model_fingerprint TEXT NOT NULL,
                facts_included TEXT NOT NULL,
                facts_deferred TEXT NOT NULL,
                failure_reason TEXT NOT NULL,
                PRIMARY KEY (tenant_id, window_id),
                FOREIGN KEY (tenant_id, session_id) REFERENCES sessions
            )
            """,
            "CREATE INDEX windows_of_session ON windows (tenant_id, session_id, window_number, window_id)",
            "CREATE UNIQUE INDEX continuations ON windows (tenant_id, continuation_id) WHERE continuation_id <> ''",
            """
            CREATE UNIQUE INDEX one_root ON windows (tenant_id, session_id)
            WHERE parent_ids = '[]' AND status <> 'FAILED'
            """,
            """
            CREATE TABLE edges (
                tenant_id TEXT NOT NULL,
                session_id TEXT NOT NULL,
                target_id TEXT NOT NULL,
                source_id TEXT NOT NULL,
                transfer_type TEXT NOT NULL,
                transferred_tokens INTEGER NOT NULL,
                summary_hash TEXT NOT NULL,
                PRIMARY KEY (tenant_id, session_id, target_id, source_id)
            ) WITHOUT ROWID
            """,
            """
            CREATE TABLE events (
                tenant_id TEXT NOT NULL,
                session_id TEXT NOT NULL,
                sequence INTEGER NOT NULL,
                event_id TEXT NOT NULL,
                event_type TEXT NOT NULL,
                timestamp_us INTEGER NOT NULL,
                window_id TEXT NOT NULL,
                data TEXT NOT NULL,
                hmac TEXT NOT NULL,
                PRIMARY KEY (tenant_id, session_id, sequence)
            )
            """,
            """
            CREATE TABLE reports (
                tenant_id TEXT NOT NULL,
                session_id TEXT NOT NULL,
                report_id TEXT NOT NULL,
                window_id TEXT NOT NULL,
                report_hash TEXT NOT NULL,
                created_us INTEGER NOT NULL,
                body TEXT NOT NULL,
                PRIMARY KEY (tenant_id, report_id)
            )
            """,
            "CREATE INDEX reports_of_session ON reports (tenant_id, session_id, report_id)",
            *RECEIPTS_SCHEMA,
        ),
        ("ALTER TABLE reports ADD COLUMN inputs TEXT NOT NULL DEFAULT ''",),
        (
            *LOG_SCHEMA,
            "ALTER TABLE events ADD COLUMN data_sha256 TEXT NOT NULL DEFAULT ''",
            *RECEIPTS_OF_SESSIONS,
        ),
        FEED_SCHEMA,
        ("ALTER TABLE sessions ADD COLUMN trail_mac TEXT NOT NULL DEFAULT ''",),
        HEADS_SCHEMA,
        COSIGNED_SCHEMA,
        STORE_ID_SCHEMA,
        ("ALTER TABLE sessions ADD COLUMN budget_ceiling REAL NOT NULL DEFAULT 1.0",),
        LISTS_SCHEMA,
        KEY_CHECKS_SCHEMA,
    ),
)

SESSION_COLUMNS: Final = (
    "tenant_id, session_id, scope, status, created_us, version, audit_trail_id, key_version, policy_hash, "
    "max_windows, max_fan_out, max_dag_nodes, max_loop_depth, parent_session_id, loop_depth, trail_mac, "
    "budget_ceiling, updated_us, status_us, legal_hold"
)
_HELD: Final = {0: False, 1: True}
WINDOW_COLUMNS: Final = (
    "session_id, window_id, window_number, parent_ids, pattern, status, strategy, timestamp_us, opened_by_request, "
    "continuation_id, envelope_etag, quality_tier, risk_level, safety_budget, hmac, window_hmac, token_count, "
    "response_hash, response_text, response_tokens, report_id, report_hash, model_fingerprint, facts_included, "
    "facts_deferred, failure_reason"
)
EDGE_COLUMNS: Final = "session_id, source_id, target_id, transfer_type, transferred_tokens, summary_hash"
EVENT_COLUMNS: Final = "session_id, sequence, event_id, event_type, timestamp_us, window_id, data, hmac, data_sha256"
REPORT_COLUMNS: Final = "session_id, window_id, report_id, report_hash, created_us, body, inputs"


def _deferred(text: str) -> tuple[DeferredFact, ...]:
    return tuple(DeferredFact(*pair) for pair in pairs_of(text))


_SESSION_NUMBERS: Final = (
    "version",
    "key_version",
    "max_windows",
    "max_fan_out",
    "max_dag_nodes",
    "max_loop_depth",
    "loop_depth",
)
_SESSION: Final = RowShape.of(
    "session",
    SESSION_COLUMNS,
    named=("session_id",),
    types=dict.fromkeys((*_SESSION_NUMBERS, "created_us", "updated_us", "status_us", "legal_hold"), int)
    | {"budget_ceiling": float},
    parsed={
        "status": word_of(SessionStatus, never=SessionStatus.UNREADABLE),
        "created_us": moment,
        "updated_us": optional_moment,
        "status_us": optional_moment,
        "legal_hold": _HELD.__getitem__,
        **dict.fromkeys(_SESSION_NUMBERS, number_of),
    },
    optional=("updated_us", "status_us"),
)
_WINDOW: Final = RowShape.of(
    "window",
    WINDOW_COLUMNS,
    named=("window_id",),
    types={
        "window_number": int,
        "timestamp_us": int,
        "safety_budget": float,
        "token_count": int,
        "response_tokens": int,
    },
    parsed={
        "parent_ids": strings_of,
        "pattern": word_of(WindowPattern),
        "status": word_of(WindowStatus),
        "timestamp_us": moment,
        "facts_included": strings_of,
        "facts_deferred": _deferred,
    },
)
_EDGE: Final = RowShape.of(
    "edge",
    EDGE_COLUMNS,
    named=("source_id", "target_id"),
    types={"transferred_tokens": int},
    parsed={"transfer_type": word_of(TransferType)},
)
_EVENT: Final = RowShape.of(
    "event",
    EVENT_COLUMNS,
    named=("sequence",),
    types={"sequence": int, "timestamp_us": int},
    parsed={"sequence": number_of, "timestamp_us": moment},
)
_REPORT: Final = RowShape.of(
    "report",
    REPORT_COLUMNS,
    named=("report_id",),
    types={"created_us": int},
    parsed={"created_us": moment},
)


def session_values(session: SessionRecord) -> tuple[Any, ...]:
    """Return the values of ``SESSION_COLUMNS``."""
    return (
        session.tenant_id,
        session.session_id,
        session.scope,
        session.status,
        micros(session.created_at),
        session.version,
        session.audit_trail_id,
        session.key_version,
        session.policy_hash,
        session.max_windows,
        session.max_fan_out,
        session.max_dag_nodes,
        session.max_loop_depth,
        session.parent_session_id,
        session.loop_depth,
        session.trail_mac,
        session.budget_ceiling,
        optional_micros(session.updated_at),
        optional_micros(session.status_at),
        int(session.legal_hold),
    )


def session_of(row: Sequence[Any]) -> SessionRecord:
    """Read ``SESSION_COLUMNS``.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    return SessionRecord(*_SESSION.read(row))


def listed_session_of(row: Sequence[Any]) -> SessionRecord:
    """Read ``SESSION_COLUMNS`` for a list, in which one that does not parse has its place."""
    try:
        return session_of(row)
    except UnreadableRecordError as error:
        return unreadable_session(row[0], error.record_id)


def window_values(window: WindowRecord) -> tuple[Any, ...]:
    """Return the values of ``WINDOW_COLUMNS``."""
    return (
        window.session_id,
        window.window_id,
        window.window_number,
        json_list(window.parent_ids),
        window.pattern,
        window.status,
        window.strategy,
        micros(window.timestamp),
        window.opened_by_request,
        window.continuation_id,
        window.envelope_etag,
        window.quality_tier,
        window.risk_level,
        window.safety_budget,
        window.hmac,
        window.window_hmac,
        window.token_count,
        window.response_hash,
        window.response_text,
        window.response_tokens,
        window.report_id,
        window.report_hash,
        window.model_fingerprint,
        json_list(window.facts_included),
        json_list((deferred.fact_id, deferred.token_count) for deferred in window.facts_deferred),
        window.failure_reason,
    )


def window_of(row: Sequence[Any]) -> WindowRecord:
    """Read ``WINDOW_COLUMNS``, which are in the order of the record's fields.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    return WindowRecord(*_WINDOW.read(row))


def edge_values(edge: EdgeRecord) -> tuple[Any, ...]:
    """Return the values of ``EDGE_COLUMNS``."""
    flow = (edge.transfer_type, edge.transferred_tokens, edge.summary_hash)
    return (edge.session_id, edge.source_id, edge.target_id, *flow)


def edge_of(row: Sequence[Any]) -> EdgeRecord:
    """Read ``EDGE_COLUMNS``.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    return EdgeRecord(*_EDGE.read(row))


def event_values(event: AuditEventRecord) -> tuple[Any, ...]:
    """Return the values of ``EVENT_COLUMNS``."""
    place = (event.session_id, event.sequence, event.event_id, event.event_type)
    return (*place, micros(event.timestamp), event.window_id, event.data, event.hmac, event.data_sha256)


def event_of(row: Sequence[Any]) -> AuditEventRecord:
    """Read ``EVENT_COLUMNS``.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    return AuditEventRecord(*_EVENT.read(row))


def report_values(report: ReportRecord) -> tuple[Any, ...]:
    """Return the values of ``REPORT_COLUMNS``."""
    identity = (report.session_id, report.window_id, report.report_id, report.report_hash)
    return (*identity, micros(report.created_at), report.body, report.inputs)


def listed_report_of(row: Sequence[Any]) -> ReportRecord | UnreadableRecordError:
    """Read ``REPORT_COLUMNS`` for a list, in which one that does not parse has its place."""
    try:
        return report_of(row)
    except UnreadableRecordError as error:
        return error.with_traceback(None)


def report_of(row: Sequence[Any]) -> ReportRecord:
    """Read ``REPORT_COLUMNS``.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    return ReportRecord(*_REPORT.read(row))
