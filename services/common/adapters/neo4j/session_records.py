"""Records of sessions as properties of nodes and relationships, and back.

Every node has ``key``; what is told apart within a tenant besides its session has ``id_key`` too. Ids, moments and
everything else stand under the port's own names, so that a person who looks at the graph finds what the port says.
"""

from dataclasses import fields
from typing import Any, Final

from services.common.adapters.neo4j.values import Properties, key, micros, moment, sort_key
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
    WindowStatus,
)

_SALT: Final = "salt"
"""Stores neither keep nor return it (port)."""


def session_properties(session: SessionRecord) -> Properties:
    """Return a session's properties."""
    values = _values(session, "created_at", "updated_at", "status_at")
    return values | {
        "key": key(session.tenant_id, session.session_id),
        "tenant_key": key(session.tenant_id),
        "created_us": micros(session.created_at),
        "updated_us": None if session.updated_at is None else micros(session.updated_at),
        "status_us": None if session.status_at is None else micros(session.status_at),
    }


def session_of(row: Properties) -> SessionRecord:
    """Read what ``session_properties`` wrote."""
    values = _known(SessionRecord, row)
    updated, since = row.get("updated_us"), row.get("status_us")
    return SessionRecord(
        **values
        | {
            "status": SessionStatus(row["status"]),
            "created_at": moment(row["created_us"]),
            "updated_at": None if updated is None else moment(updated),
            "status_at": None if since is None else moment(since),
        },
    )


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
    """Read what ``window_properties`` wrote."""
    deferred = zip(row["facts_deferred"], row["facts_deferred_tokens"], strict=True)
    return WindowRecord(
        **_known(WindowRecord, row)
        | {
            "parent_ids": tuple(row["parent_ids"]),
            "pattern": WindowPattern(row["pattern"]),
            "status": WindowStatus(row["status"]),
            "timestamp": moment(row["timestamp_us"]),
            "facts_included": tuple(row["facts_included"]),
            "facts_deferred": tuple(DeferredFact(fact_id, tokens) for fact_id, tokens in deferred),
        }
    )


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
    """Read an edge with the ids of its ends."""
    flow = (TransferType(row["transfer_type"]), row["transferred_tokens"], row["summary_hash"])
    return EdgeRecord(session_id, row["source_id"], row["target_id"], *flow)


def event_properties(tenant_id: str, event: AuditEventRecord) -> Properties:
    """Return an event's properties."""
    return _values(event, "timestamp") | {
        "key": key(tenant_id, event.session_id, str(event.sequence)),
        "session_key": key(tenant_id, event.session_id),
        "timestamp_us": micros(event.timestamp),
    }


def event_of(row: Properties) -> AuditEventRecord:
    """Read what ``event_properties`` wrote."""
    return AuditEventRecord(**_known(AuditEventRecord, row) | {"timestamp": moment(row["timestamp_us"])})


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
    """Read what ``report_properties`` wrote."""
    return ReportRecord(**_known(ReportRecord, row) | {"created_at": moment(row["created_us"])})


def _values(record: Any, *others: str) -> Properties:
    """Return a record's plain fields, without those that are written in another form."""
    left_out = {*others, _SALT}
    return {field.name: getattr(record, field.name) for field in fields(record) if field.name not in left_out}


def _known(record: Any, row: Properties) -> Properties:
    """Return the properties that are fields of the record."""
    return {field.name: row[field.name] for field in fields(record) if field.name in row}
