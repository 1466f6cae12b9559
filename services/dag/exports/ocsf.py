"""Audit events as OCSF 1.5.0, class API Activity (class_uid 6003), one JSON object per event (ADR 0057).

The mapping is a function of the event, its tenant and the product's version alone: the same event is the same object
in an export and at an event sink. Every field of the event is carried, so that the HMAC over it can be recomputed by
whoever holds the session's HMAC key; the key itself is never here to be carried.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum, unique
from typing import Any, Final

from services.common.encoding import canonical_json, iso_micros, sha256_hex
from services.common.ports.sessions import AuditEventRecord

OCSF_VERSION: Final = "1.5.0"
CLASS_UID: Final = 6003
CATEGORY_UID: Final = 6
SERVICE: Final = "crp.dag.v1.SessionService"
PRODUCT: Final = "Groundtrail"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_REPLY_DIGEST: Final = re.compile(r"[+;]sha256:[0-9a-f]{64}$")
_RISK_PREFIX: Final = "RISK_LEVEL_"


@unique
class Activity(IntEnum):
    """``activity_id`` of class 6003."""

    CREATE = 1
    READ = 2
    UPDATE = 3
    DELETE = 4
    OTHER = 99


@unique
class Severity(IntEnum):
    """``severity_id``; what the table does not know is UNKNOWN, never guessed."""

    UNKNOWN = 0
    INFORMATIONAL = 1
    LOW = 2
    MEDIUM = 3
    HIGH = 4
    CRITICAL = 5


@dataclass(frozen=True, slots=True)
class Kind:
    """What one event type is in OCSF: its activity, its severity whatever the risk level, and one sentence."""

    activity: Activity
    severity: Severity
    message: str


_C, _R, _U, _D, _O = Activity.CREATE, Activity.READ, Activity.UPDATE, Activity.DELETE, Activity.OTHER
_INFO, _LOW, _MEDIUM = Severity.INFORMATIONAL, Severity.LOW, Severity.MEDIUM
_HIGH, _CRITICAL = Severity.HIGH, Severity.CRITICAL

KINDS: Final[dict[str, Kind]] = {
    "SESSION_CREATED": Kind(_C, _INFO, "A session began"),
    "SESSION_CONTINUED": Kind(_U, _INFO, "A session was continued"),
    "SESSION_TERMINATED": Kind(_U, _INFO, "A session ended"),
    "SESSION_ERASED": Kind(_D, _LOW, "A session's content was erased"),
    "SESSION_TOMBSTONED": Kind(_D, _LOW, "A session's records were replaced by a tombstone"),
    "RETENTION_SET": Kind(_U, _LOW, "A tenant's rules of retention were set"),
    "LEGAL_HOLD_SET": Kind(_U, _LOW, "A session was exempted from erasure"),
    "LEGAL_HOLD_RELEASED": Kind(_U, _LOW, "A session's exemption from erasure ended"),
    "DISPATCH_STARTED": Kind(_C, _INFO, "A window was opened"),
    "DISPATCH_COMPLETED": Kind(_U, _INFO, "A window was committed"),
    "DISPATCH_FAILED": Kind(_U, _MEDIUM, "A window was given up"),
    "RE_DISPATCH": Kind(_U, _LOW, "An answer was generated again"),
    "STRATEGY_UPGRADE": Kind(_U, _LOW, "A stronger strategy took over"),
    "DPE_COMPLETED": Kind(_C, _INFO, "A provenance report was stored"),
    "FABRICATION_DETECTED": Kind(_O, _HIGH, "An answer holds a fabrication"),
    "DISTORTION_DETECTED": Kind(_O, _MEDIUM, "An answer distorts a fact"),
    "CONTRADICTION_DETECTED": Kind(_O, _MEDIUM, "Answers or facts contradict one another"),
    "REPETITION_DETECTED": Kind(_O, _LOW, "An answer repeats what was said"),
    "COMPLETENESS_GAP": Kind(_O, _LOW, "A part of the query is unanswered"),
    "FLOW_REMEDIATION": Kind(_U, _INFO, "A flow remediation was applied"),
    "STOP_INJECT": Kind(_O, _HIGH, "A stream was stopped"),
    "SAFETY_HALT": Kind(_O, _CRITICAL, "An answer was withheld"),
    "SAFETY_BUDGET_DEPLETED": Kind(_O, _CRITICAL, "The safety budget is spent"),
    "OVERSIGHT_TRIGGERED": Kind(_O, _HIGH, "A person has to look"),
    "OVERSIGHT_DECIDED": Kind(_U, _LOW, "A person decided about a held answer, or nobody did in time"),
    "POLICY_VIOLATION": Kind(_O, _HIGH, "A safety policy was violated"),
    "PII_DETECTED": Kind(_O, _HIGH, "Personal data was found"),
    "EU_AI_ACT_CLASSIFIED": Kind(_U, _INFO, "An AI system was classified"),
    "FACT_RETRIEVED": Kind(_R, _INFO, "Facts were retrieved"),
    "FACT_INGESTED": Kind(_C, _INFO, "Facts were ingested"),
    "FACT_DELETED": Kind(_D, _LOW, "Facts were erased"),
    "FACT_QUARANTINED": Kind(_U, _MEDIUM, "A fact was quarantined"),
    "CKF_ETAG_CHANGED": Kind(_U, _INFO, "The knowledge state changed"),
    "TOOL_CALL": Kind(_O, _INFO, "A tool was called"),
    "AGENT_LOOP_ITERATION": Kind(_O, _INFO, "An agent went through one iteration"),
    "FAN_OUT_CREATED": Kind(_C, _INFO, "A window got parallel children"),
    "FAN_IN_MERGED": Kind(_U, _INFO, "Parallel windows were merged"),
    "COMPLETENESS_CONTINUATION": Kind(_C, _INFO, "A continuation filled a completeness gap"),
    "FLOW_STITCH": Kind(_U, _INFO, "Two answers were stitched"),
    "SUMMARISATION": Kind(_C, _INFO, "A summary was generated"),
    "ERCP_OPERATOR": Kind(_C, _INFO, "An ERCP operator ran"),
    "SAFETY_BUDGET_RETURNED": Kind(_O, _INFO, "An agent's session handed up what it has left"),
    "SAFETY_BUDGET_LOWERED": Kind(_U, _LOW, "An agent's session lowered the safety budget"),
    "INJECTION_FOUND": Kind(_O, _HIGH, "A text speaks to a language model"),
    "QUALITY_DEGRADED": Kind(_O, _MEDIUM, "The quality of a session's envelopes keeps falling"),
}
"""One row per event type of CRP-SPEC-011; a test holds it against the contract's enum."""

_UNKNOWN_KIND: Final = Kind(_O, Severity.UNKNOWN, "An event of a type that this version does not know")
RISK_SEVERITY: Final = {"LOW": _INFO, "MEDIUM": _MEDIUM, "HIGH": _HIGH, "CRITICAL": _CRITICAL}
"""An event that states a risk level is at least this severe."""
_CAPTIONS: Final = {Activity.OTHER: "Other"} | {each: each.name.capitalize() for each in list(Activity)[:4]}


def ocsf_line(event: AuditEventRecord, tenant_id: str, product_version: str) -> str:
    """Return the event as one line of OCSF: canonical JSON (RFC 8785) without a line break."""
    return canonical_json(ocsf_event(event, tenant_id, product_version)).decode()


def ocsf_event(event: AuditEventRecord, tenant_id: str, product_version: str) -> dict[str, Any]:
    """Return the event as an OCSF object.

    Args:
        event: as stored; empty ``data`` means that it was erased.
        tenant_id: whose session it is.
        product_version: of Groundtrail.
    """
    data = _data_of(event)
    kind = KINDS.get(event.event_type, _UNKNOWN_KIND)
    risk = _risk_level(data)
    severity = _severity(kind, risk, data)
    return {
        "activity_id": kind.activity.value,
        # OCSF: with "Other", the name is the source's own word.
        "activity_name": event.event_type if kind.activity is Activity.OTHER else _CAPTIONS[kind.activity],
        "category_name": "Application Activity",
        "category_uid": CATEGORY_UID,
        "class_name": "API Activity",
        "class_uid": CLASS_UID,
        "type_name": f"API Activity: {_CAPTIONS[kind.activity]}",
        "type_uid": CLASS_UID * 100 + kind.activity.value,
        "severity": severity.name.capitalize(),
        "severity_id": severity.value,
        "status_id": 2 if event.event_type == "DISPATCH_FAILED" else 1,
        "time": (event.timestamp - _EPOCH) // timedelta(milliseconds=1),
        "message": kind.message,
        "metadata": _metadata(event, tenant_id, product_version),
        "actor": _actor(event, data),
        "api": {"operation": event.event_type, "service": {"name": SERVICE}, "version": "v1"},
        "src_endpoint": {"uid": event.session_id},
        "dst_endpoint": _destination(data),
        **({"resources": [{"uid": event.window_id, "type": "crp_window"}]} if event.window_id else {}),
        "unmapped": {
            "crp_hmac": event.hmac,
            "crp_risk_level": risk,
            "crp_event_type": event.event_type,
            "crp_session_id": event.session_id,
            "crp_window_id": event.window_id,
            "crp_timestamp": iso_micros(event.timestamp),
            "crp_data": data,
            "crp_data_sha256": event.data_sha256 or sha256_hex(event.data),
        },
    }


def _data_of(event: AuditEventRecord) -> dict[str, Any] | None:
    """Return the event's data; ``None`` for data that was erased or cannot be read, which verification reports."""
    try:
        value = json.loads(event.data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _metadata(event: AuditEventRecord, tenant_id: str, product_version: str) -> dict[str, Any]:
    return {
        "version": OCSF_VERSION,
        "product": {"name": PRODUCT, "vendor_name": PRODUCT, "version": product_version},
        "uid": event.event_id,
        "sequence": event.sequence,
        "event_code": event.event_type,
        "correlation_uid": event.session_id,
        "tenant_uid": tenant_id,
        "log_name": "crp-audit",
    }


def _actor(event: AuditEventRecord, data: dict[str, Any] | None) -> dict[str, Any]:
    """Return who acted: the session, and the credential that opened it where the event names its prefix."""
    session: dict[str, Any] = {"uid": event.session_id}
    scope = _within(data, "session").get("scope")
    if isinstance(scope, str) and scope:
        session["credential_uid"] = scope
    return {"app_name": PRODUCT, "session": session}


def _destination(data: dict[str, Any] | None) -> dict[str, Any]:
    """Return the provider and model that the event names, or the service itself where it names none."""
    for fingerprint in (_within(data, "node").get("model_fingerprint"), (data or {}).get("model_fingerprint")):
        if isinstance(fingerprint, str) and fingerprint:
            return {"uid": _REPLY_DIGEST.sub("", fingerprint)}
    return {"svc_name": SERVICE}


def _risk_level(data: dict[str, Any] | None) -> str | None:
    for value in (_within(data, "node").get("risk_level"), (data or {}).get("risk_level")):
        level = value.removeprefix(_RISK_PREFIX) if isinstance(value, str) else ""
        if level in RISK_SEVERITY:
            return level
    return None


def _severity(kind: Kind, risk: str | None, data: dict[str, Any] | None) -> Severity:
    # SPEC-004 §16.4: a broken chain is a CRITICAL incident, and its event says so.
    stated = _CRITICAL if (data or {}).get("severity") == "CRITICAL" else Severity.UNKNOWN
    return max(kind.severity, RISK_SEVERITY[risk] if risk else Severity.UNKNOWN, stated)


def _within(data: dict[str, Any] | None, name: str) -> dict[str, Any]:
    value = (data or {}).get(name)
    return value if isinstance(value, dict) else {}
