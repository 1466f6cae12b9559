"""Records of sessions as properties of nodes and relationships, and back.

Every node has ``key``; what is told apart within a tenant besides its session has ``id_key`` too. Ids, moments and
everything else stand under the port's own names, so that a person who looks at the graph finds what the port says.
"""

from dataclasses import fields
from typing import Any, Final

from services.common.adapters.neo4j.typed_properties import NodeShape, listed, moment_of, real_of, text_of, whole_of
from services.common.adapters.neo4j.values import Properties, key, micros, sort_key
from services.common.adapters.stored_values import word_of
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

_SALT: Final = "salt"
"""Stores neither keep nor return it (port)."""
_SESSION_NUMBERS: Final = (
    "version",
    "key_version",
    "max_windows",
    "max_fan_out",
    "max_dag_nodes",
    "max_loop_depth",
    "loop_depth",
)
_SESSION: Final = NodeShape(
    "session",
    ("session_id",),
    plain=dict.fromkeys(
        ("tenant_id", "session_id", "scope", "audit_trail_id", "policy_hash", "parent_session_id", "trail_mac"), str
    )
    | {"legal_hold": bool},
    parsed={
        "status": ("status", word_of(SessionStatus, never=SessionStatus.UNREADABLE)),
        "created_at": ("created_us", moment_of),
        **{name: (name, whole_of) for name in _SESSION_NUMBERS},
        "budget_ceiling": ("budget_ceiling", real_of),
        "updated_at": ("updated_us", moment_of),
        "status_at": ("status_us", moment_of),
    },
    optional=frozenset({"trail_mac", "budget_ceiling", "updated_us", "status_us", "legal_hold"}),
)
_WINDOW: Final = NodeShape(
    "window",
    ("window_id",),
    plain=dict.fromkeys(
        (
            "session_id",
            "window_id",
            "strategy",
            "opened_by_request",
            "continuation_id",
            "envelope_etag",
            "quality_tier",
            "risk_level",
            "hmac",
            "window_hmac",
            "response_hash",
            "response_text",
            "report_id",
            "report_hash",
            "model_fingerprint",
            "failure_reason",
        ),
        str,
    )
    | dict.fromkeys(("window_number", "token_count", "response_tokens"), int),
    parsed={
        "parent_ids": ("parent_ids", listed(text_of)),
        "pattern": ("pattern", word_of(WindowPattern)),
        "status": ("status", word_of(WindowStatus)),
        "timestamp": ("timestamp_us", moment_of),
        "safety_budget": ("safety_budget", real_of),
        "facts_included": ("facts_included", listed(text_of)),
        "facts_deferred": ("facts_deferred", listed(text_of)),
        "deferred_tokens": ("facts_deferred_tokens", listed(whole_of)),
    },
)
_EDGE: Final = NodeShape(
    "edge",
    ("source_id", "target_id"),
    plain={"source_id": str, "target_id": str, "transferred_tokens": int, "summary_hash": str},
    parsed={"transfer_type": ("transfer_type", word_of(TransferType))},
)
_EVENT: Final = NodeShape(
    "event",
    ("sequence",),
    plain=dict.fromkeys(("session_id", "event_id", "event_type", "window_id", "data", "hmac", "data_sha256"), str),
    parsed={"sequence": ("sequence", whole_of), "timestamp": ("timestamp_us", moment_of)},
    optional=frozenset({"data_sha256"}),
)
_REPORT: Final = NodeShape(
    "report",
    ("report_id",),
    plain=dict.fromkeys(("session_id", "window_id", "report_id", "report_hash", "body", "inputs"), str),
    parsed={"created_at": ("created_us", moment_of)},
    optional=frozenset({"inputs"}),
)


def session_properties(session: SessionRecord) -> Properties:
    """Return a session's properties."""
    values = _values(session, "created_at", "updated_at", "status_at")
    repeated = {"updated_us": session.updated_at, "status_us": session.status_at}
    return (
        values
        | {
            "key": key(session.tenant_id, session.session_id),
            "tenant_key": key(session.tenant_id),
            "created_us": micros(session.created_at),
        }
        | {name: micros(at) for name, at in repeated.items() if at is not None}
    )


def session_of(row: Properties) -> SessionRecord:
    """Read what ``session_properties`` wrote.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    return SessionRecord(**_SESSION.read(row))


def listed_session_of(tenant_id: str, row: Properties) -> SessionRecord:
    """Read a session for a list, in which one that does not parse has its place."""
    try:
        return session_of(row)
    except UnreadableRecordError as error:
        return unreadable_session(tenant_id, error.record_id)


def window_key(tenant_id: str, session_id: str, window_id: str) -> str:
    """Return what a window is found by within its session."""
    return key(tenant_id, session_id, window_id)


def window_properties(tenant_id: str, window: WindowRecord) -> Properties:
    """Return a window's properties; those that a constraint is on are absent where it does not apply."""
    values = _values(window, "timestamp", "parent_ids", "facts_included", "facts_deferred") | {
        "key": window_key(tenant_id, window.session_id, window.window_id),
        "id_key": key(tenant_id, window.window_id),
        "timestamp_us": micros(window.timestamp),
        "parent_ids": list(window.parent_ids),
        "facts_included": list(window.facts_included),
        "facts_deferred": [deferred.fact_id for deferred in window.facts_deferred],
        "facts_deferred_tokens": [deferred.token_count for deferred in window.facts_deferred],
    }
    if window.continuation_id:
        values["continuation_key"] = key(tenant_id, window.continuation_id)
    if not window.parent_ids and window.status is not WindowStatus.FAILED:
        values["root_key"] = key(tenant_id, window.session_id)
    return values


def window_of(row: Properties) -> WindowRecord:
    """Read what ``window_properties`` wrote.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    values = _WINDOW.read(row)
    facts, tokens = values["facts_deferred"], values.pop("deferred_tokens")
    if len(facts) != len(tokens):
        raise _WINDOW.unreadable(row, "facts_deferred_tokens")
    values["facts_deferred"] = tuple(DeferredFact(*pair) for pair in zip(facts, tokens, strict=True))
    return WindowRecord(**values)


def edge_row(tenant_id: str, edge: EdgeRecord) -> Properties:
    """Return the keys of an edge's ends, its properties, and what stands for a source that is not in this store."""
    source = window_key(tenant_id, edge.session_id, edge.source_id)
    return {
        "source": source,
        "target": window_key(tenant_id, edge.session_id, edge.target_id),
        "properties": {
            "transfer_type": edge.transfer_type.value,
            "transferred_tokens": edge.transferred_tokens,
            "summary_hash": edge.summary_hash,
        },
        "elsewhere": {"key": source, "session_id": edge.session_id, "window_id": edge.source_id},
    }


def edge_of(session_id: str, row: Properties) -> EdgeRecord:
    """Read an edge with the ids of its ends.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    return EdgeRecord(session_id, **_EDGE.read(row | {"session_id": session_id}))


def event_properties(tenant_id: str, event: AuditEventRecord) -> Properties:
    """Return an event's properties."""
    return _values(event, "timestamp") | {
        "key": key(tenant_id, event.session_id, str(event.sequence)),
        "session_key": key(tenant_id, event.session_id),
        "timestamp_us": micros(event.timestamp),
    }


def event_of(row: Properties) -> AuditEventRecord:
    """Read what ``event_properties`` wrote.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    return AuditEventRecord(**_EVENT.read(row))


def report_properties(tenant_id: str, report: ReportRecord) -> Properties:
    """Return a report's properties."""
    return _values(report, "created_at") | {
        "key": key(tenant_id, report.session_id, report.report_id),
        "id_key": key(tenant_id, report.report_id),
        "session_key": key(tenant_id, report.session_id),
        "tenant_key": key(tenant_id),
        "sort_key": sort_key(report.report_id),
        "created_us": micros(report.created_at),
    }


def report_of(row: Properties) -> ReportRecord:
    """Read what ``report_properties`` wrote.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE.
    """
    return ReportRecord(**_REPORT.read(row))


def listed_report_of(row: Properties) -> ReportRecord | UnreadableRecordError:
    """Read a report for a list, in which one that does not parse has its place."""
    try:
        return report_of(row)
    except UnreadableRecordError as error:
        return error.with_traceback(None)


def _values(record: Any, *others: str) -> Properties:
    """Return a record's plain fields, without those that are written in another form."""
    left_out = {*others, _SALT}
    return {field.name: getattr(record, field.name) for field in fields(record) if field.name not in left_out}
