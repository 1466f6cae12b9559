"""What audit events hold, and how a step's events are chained (CRP-SPEC-011 facts; ADR 0004).

A window's event carries the JCS of its node and edges, so that every field that an auditor reads is under an HMAC; the
session's fields stand in every SESSION event. ``verify`` compares the stored records
with the latest of these.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum, unique
from typing import Any, Final

from services.common.encoding import canonical_json, iso_micros, sha256_hex
from services.common.ports.sessions import AuditEventRecord, EdgeRecord, ReportRecord, SessionRecord, WindowRecord
from services.dag.domain.chain import EventMaterial, event_hmac, event_id


@unique
class OwnEvent(StrEnum):
    """The event types that the dag service writes itself; callers cannot append them."""

    SESSION_CREATED = "SESSION_CREATED"
    SESSION_CONTINUED = "SESSION_CONTINUED"
    SESSION_TERMINATED = "SESSION_TERMINATED"
    DISPATCH_STARTED = "DISPATCH_STARTED"
    DISPATCH_COMPLETED = "DISPATCH_COMPLETED"
    DISPATCH_FAILED = "DISPATCH_FAILED"
    DPE_COMPLETED = "DPE_COMPLETED"
    FAN_OUT_CREATED = "FAN_OUT_CREATED"
    FAN_IN_MERGED = "FAN_IN_MERGED"
    SUMMARISATION = "SUMMARISATION"
    SESSION_ERASED = "SESSION_ERASED"
    SAFETY_BUDGET_RETURNED = "SAFETY_BUDGET_RETURNED"
    SAFETY_BUDGET_LOWERED = "SAFETY_BUDGET_LOWERED"
    SESSION_TOMBSTONED = "SESSION_TOMBSTONED"
    LEGAL_HOLD_SET = "LEGAL_HOLD_SET"
    LEGAL_HOLD_RELEASED = "LEGAL_HOLD_RELEASED"
    RETENTION_SET = "RETENTION_SET"


BUDGET_DEPLETED: Final = "SAFETY_BUDGET_DEPLETED"
WINDOW_EVENTS: Final = frozenset({OwnEvent.DISPATCH_STARTED, OwnEvent.DISPATCH_COMPLETED, OwnEvent.DISPATCH_FAILED})
"""Types whose data holds a window's node and edges."""
SESSION_EVENTS: Final = frozenset(
    {
        OwnEvent.SESSION_CREATED,
        OwnEvent.SESSION_CONTINUED,
        OwnEvent.SESSION_TERMINATED,
        OwnEvent.SESSION_ERASED,
        OwnEvent.SAFETY_BUDGET_LOWERED,
    }
)
"""Types whose data holds the session's fields."""


_NO_CEILING: Final = 1.0


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """An event before it is chained."""

    event_type: str
    window_id: str
    data: Mapping[str, Any]


def chain_events(
    drafts: Sequence[PendingEvent], session_id: str, last: AuditEventRecord | None, now: datetime, key: bytes
) -> tuple[AuditEventRecord, ...]:
    """Return the drafts as records that continue the session's chain.

    Args:
        drafts: in order.
        session_id: their session.
        last: the stored chain's last event, or ``None`` for the first of a session.
        now: their timestamp.
        key: the session's HMAC key.
    """
    records: list[AuditEventRecord] = []
    for draft in drafts:
        previous = records[-1] if records else last
        data = canonical_json(draft.data).decode()
        material = EventMaterial(draft.event_type, now, data, draft.window_id)
        mac = event_hmac(material, previous.hmac if previous else "", key)
        records.append(
            AuditEventRecord(
                session_id=session_id,
                sequence=previous.sequence + 1 if previous else 0,
                event_id=event_id(mac),
                event_type=draft.event_type,
                timestamp=now,
                window_id=draft.window_id,
                data=data,
                hmac=mac,
            )
        )
    return tuple(records)


def session_data(session: SessionRecord) -> dict[str, Any]:
    """Return the session's fields, all but the version, which only guards against races.

    The whole budget is left out, as in the events of versions that knew no ceiling: one that is emptied or raised in
    the store differs from the latest event.
    """
    ceiling = {} if session.budget_ceiling == _NO_CEILING else {"budget_ceiling": session.budget_ceiling}
    return {
        **ceiling,
        "tenant_id": session.tenant_id,
        "session_id": session.session_id,
        "scope": session.scope,
        "status": session.status.value,
        "created_at": iso_micros(session.created_at),
        "audit_trail_id": session.audit_trail_id,
        "key_version": session.key_version,
        "policy_hash": session.policy_hash,
        "max_windows": session.max_windows,
        "max_fan_out": session.max_fan_out,
        "max_dag_nodes": session.max_dag_nodes,
        "max_loop_depth": session.max_loop_depth,
        "parent_session_id": session.parent_session_id,
        "loop_depth": session.loop_depth,
    }


def window_data(window: WindowRecord, edges: Iterable[EdgeRecord]) -> dict[str, Any]:
    """Return node and edges of a window; ``response_hash`` stands for the text."""
    return {"node": _node(window), "edges": [_edge(edge) for edge in sorted(edges, key=lambda edge: edge.source_id)]}


def report_data(report: ReportRecord) -> dict[str, Any]:
    """Return what ties the stored report, its unhashed fields and the analysis inputs included, to the chain."""
    inputs = {"inputs_sha256": sha256_hex(report.inputs)} if report.inputs else {}
    return {
        **inputs,
        "report_id": report.report_id,
        "report_hash": report.report_hash,
        "created_at": iso_micros(report.created_at),
        "body_sha256": sha256_hex(report.body),
    }


def _node(window: WindowRecord) -> dict[str, Any]:
    return {
        "session_id": window.session_id,
        "window_id": window.window_id,
        "window_number": window.window_number,
        "parent_ids": list(window.parent_ids),
        "pattern": window.pattern.value,
        "status": window.status.value,
        "strategy": window.strategy,
        "timestamp": iso_micros(window.timestamp),
        "opened_by_request": window.opened_by_request,
        "continuation_id": window.continuation_id,
        "envelope_etag": window.envelope_etag,
        "quality_tier": window.quality_tier,
        "risk_level": window.risk_level,
        "safety_budget": window.safety_budget,
        "hmac": window.hmac,
        "window_hmac": window.window_hmac,
        "token_count": window.token_count,
        "response_hash": window.response_hash,
        "response_tokens": window.response_tokens,
        "report_id": window.report_id,
        "report_hash": window.report_hash,
        "model_fingerprint": window.model_fingerprint,
        "facts_included": list(window.facts_included),
        "facts_deferred": [[fact.fact_id, fact.token_count] for fact in window.facts_deferred],
        "failure_reason": window.failure_reason,
    }


def _edge(edge: EdgeRecord) -> dict[str, Any]:
    return {
        "session_id": edge.session_id,
        "source_id": edge.source_id,
        "target_id": edge.target_id,
        "transfer_type": edge.transfer_type.value,
        "transferred_tokens": edge.transferred_tokens,
        "summary_hash": edge.summary_hash,
    }
