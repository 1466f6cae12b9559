"""What each request must look like; every violation at once, before anything is read or written."""

import re
from typing import Any, Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import transparency_service_pb2 as transparency_pb
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.encoding import canonical_json, sha256_hex
from services.common.rpc.report_views import check_view
from services.common.rpc.validation import Violations
from services.common.strict_json import RepeatedNameError, read_json
from services.dag.domain.events import OwnEvent
from services.dag.domain.summaries import FAITHFUL_FROM
from services.dag.held_keys import MAX_VERSION

MAX_EVENT_DATA_BYTES: Final = 65_536
MAX_REASON_CHARS: Final = 500
MAX_CONTINUATIONS: Final = 1_000
MAX_AGENT_SESSIONS: Final = 50
MAX_POLICY_CHARS: Final = 8_192
"""Of a policy in force: the request's and the tenant's together, each of which holds half of it at most."""
MAX_EARLIER_SIZES: Final = 16
MAX_SUMMARY_BYTES: Final = 1_000_000
MAX_FINGERPRINT_CHARS: Final = 200
_LAST_SECOND: Final = 253_402_300_799
_SECOND_NS: Final = 1_000_000_000
_SESSION: Final = re.compile(r"crp_sess_[A-Za-z0-9]{16,32}")
_WINDOW: Final = re.compile(r"crp_win_[A-Za-z0-9]{16}")
_CONTINUATION: Final = re.compile(r"crp_cont_[A-Za-z0-9]{16,32}")
_EVENT: Final = re.compile(r"crp_evt_[0-9a-f]{32}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_EVENT_PREFIX: Final = "AUDIT_EVENT_TYPE_"


def create_session(request: pb.CreateSessionRequest) -> None:
    """Check a CreateSessionRequest; raises InvalidRequestError."""
    found = Violations()
    found.require_request_id(request.request_id)
    _policy_hash(found, request.policy_hash)
    _parent(found, request.agent_session_parent)
    if request.HasField("safety_budget_ceiling"):
        _fraction(found, "safety_budget_ceiling", request.safety_budget_ceiling)
    if request.trace_id:
        found.require_request_id(request.trace_id, "trace_id")
        found.require(not request.agent_session_parent, "agent_session_parent", "must be empty beside trace_id")
    found.raise_if_any()


def get_provider_key(request: pb.GetProviderKeyRequest) -> None:
    """Check a GetProviderKeyRequest; raises InvalidRequestError."""
    found = Violations()
    found.require(request.key_version <= MAX_VERSION, "key_version", f"must be at most {MAX_VERSION}")
    found.raise_if_any()


def open_window(request: pb.OpenWindowRequest) -> None:
    """Check an OpenWindowRequest; raises InvalidRequestError."""
    found = Violations()
    found.require_request_id(request.request_id)
    _known_enum(found, "strategy", request.strategy, taxonomy.DispatchStrategy.values())
    _policy(found, request)
    _known_enum(found, "fan_in_policy", request.fan_in_policy, pb.FanInPolicy.values())
    _policy_hash(found, request.policy_hash)
    _parent(found, request.agent_session_parent)
    ids = list(request.continuation_ids)
    found.require(len(ids) <= MAX_CONTINUATIONS, "continuation_ids", f"must be at most {MAX_CONTINUATIONS}")
    found.require(len(set(ids)) == len(ids), "continuation_ids", "must not name one twice")
    for index, continuation_id in enumerate(ids[:MAX_CONTINUATIONS]):
        text = "must be crp_cont_ and 16 to 32 alphanumerics"
        found.require(_CONTINUATION.fullmatch(continuation_id), f"continuation_ids[{index}]", text)
    agents, field = list(request.agent_sessions), "agent_sessions"
    found.require(len(agents) <= MAX_AGENT_SESSIONS, field, f"must be at most {MAX_AGENT_SESSIONS}")
    found.require(len(set(agents)) == len(agents), field, "must not name one twice")
    found.require(not agents or request.session_token, field, "needs the session_token that they are merged under")
    for index, session_id in enumerate(agents[:MAX_AGENT_SESSIONS]):
        _session(found, session_id, f"{field}[{index}]")
    if request.HasField("safety_budget_ceiling"):
        _fraction(found, "safety_budget_ceiling", request.safety_budget_ceiling)
    if request.branch:
        reflexive = request.strategy == taxonomy.DISPATCH_STRATEGY_REFLEXIVE and len(ids) <= 1
        found.require(reflexive, "branch", "needs strategy REFLEXIVE and at most one continuation id")
    if request.session_token:
        found.require(
            request.HasField("available_budget_tokens"), "available_budget_tokens", "must be set to continue a session"
        )
    found.raise_if_any()


def commit_window(request: pb.CommitWindowRequest) -> None:
    """Check a CommitWindowRequest; raises InvalidRequestError."""
    found = Violations()
    found.require_request_id(request.request_id)
    _session(found, request.session_id)
    _window(found, request.window_id)
    tiers = set(taxonomy.QualityTier.values()) - {taxonomy.QUALITY_TIER_UNSPECIFIED}
    _known_enum(found, "quality_tier", request.quality_tier, tiers)
    _known_enum(found, "strategy", request.strategy, taxonomy.DispatchStrategy.values())
    found.require(request.HasField("report"), "report", "must be set")
    if request.HasField("report"):
        levels = set(taxonomy.RiskLevel.values()) - {taxonomy.RISK_LEVEL_UNSPECIFIED}
        _known_enum(found, "report.risk_level", request.report.risk_level, levels)
        found.require(request.report.report_id, "report.report_id", "must not be empty")
    found.require(all(request.facts_included), "facts_included", "must not hold an empty id")
    found.require(all(fact.fact_id for fact in request.deferred_facts), "deferred_facts", "must not hold an empty id")
    sources = [transfer.source_window_id for transfer in request.transfers]
    found.require(len(set(sources)) == len(sources), "transfers", "must not name a parent twice")
    for index, transfer in enumerate(request.transfers):
        _transfer(found, f"transfers[{index}]", transfer)
    found.raise_if_any()


def _transfer(found: Violations, field: str, transfer: pb.ParentTransfer) -> None:
    """Check what is said to have flowed (SPEC-004 §12.3): a summary that passed, or why there is none."""
    _window(found, transfer.source_window_id, f"{field}.source_window_id")
    fingerprint = transfer.model_fingerprint
    text = f"must be at most {MAX_FINGERPRINT_CHARS} characters"
    found.require(len(fingerprint) <= MAX_FINGERPRINT_CHARS, f"{field}.model_fingerprint", text)
    if transfer.HasField("fidelity_score"):
        _fraction(found, f"{field}.fidelity_score", transfer.fidelity_score)
    if transfer.transfer_type == dag_pb2.TRANSFER_TYPE_SUMMARY:
        size = len(transfer.summary_text.encode())
        text = f"must be 1 to {MAX_SUMMARY_BYTES} bytes with SUMMARY"
        found.require(1 <= size <= MAX_SUMMARY_BYTES, f"{field}.summary_text", text)
        faithful = transfer.HasField("fidelity_score") and transfer.fidelity_score >= FAITHFUL_FROM
        text = f"must be at least {FAITHFUL_FROM:.2f} with SUMMARY; below it RESULT_ONLY flows"
        found.require(faithful, f"{field}.fidelity_score", text)
        found.require(fingerprint, f"{field}.model_fingerprint", "must name who wrote the summary")
        found.require(not transfer.reason, f"{field}.reason", "must be empty with SUMMARY")
    elif transfer.transfer_type == dag_pb2.TRANSFER_TYPE_RESULT_ONLY:
        found.require(not transfer.summary_text, f"{field}.summary_text", "must be empty with RESULT_ONLY")
        _reason(found, transfer.reason, f"{field}.reason")
    else:
        found.add(f"{field}.transfer_type", "must be SUMMARY or RESULT_ONLY")


def fail_window(request: pb.FailWindowRequest) -> None:
    """Check a FailWindowRequest; raises InvalidRequestError."""
    found = Violations()
    found.require_request_id(request.request_id)
    _session(found, request.session_id)
    _window(found, request.window_id)
    _reason(found, request.reason)
    found.raise_if_any()


def terminate_session(request: pb.TerminateSessionRequest | pb.EraseSessionRequest) -> None:
    """Check a TerminateSessionRequest or an EraseSessionRequest; raises InvalidRequestError."""
    found = Violations()
    found.require_request_id(request.request_id)
    _session(found, request.session_id)
    _reason(found, request.reason)
    found.raise_if_any()


def append_event(request: pb.AppendEventRequest) -> None:
    """Check an AppendEventRequest; raises InvalidRequestError."""
    found = Violations()
    found.require_request_id(request.request_id)
    _session(found, request.session_id)
    if request.window_id:
        _window(found, request.window_id)
    types = set(dag_pb2.AuditEventType.values()) - {dag_pb2.AUDIT_EVENT_TYPE_UNSPECIFIED}
    types -= {dag_pb2.AuditEventType.Value(_EVENT_PREFIX + own) for own in OwnEvent}
    _known_enum(found, "event_type", request.event_type, types)
    size = len(request.data.encode())
    found.require(size <= MAX_EVENT_DATA_BYTES, "data", f"must be at most {MAX_EVENT_DATA_BYTES} bytes")
    if size <= MAX_EVENT_DATA_BYTES:
        _json_object(found, request.data)
    found.raise_if_any()


def of_session(request: Any, *, with_window: bool = False) -> None:
    """Check a request that names a session, and with ``with_window`` a window of it; raises InvalidRequestError."""
    found = Violations()
    _session(found, request.session_id)
    if with_window:
        _window(found, request.window_id)
    found.raise_if_any()


def get_dag(request: pb.GetDagRequest) -> None:
    """Check a GetDagRequest; raises InvalidRequestError."""
    found = Violations()
    _session(found, request.session_id)
    _known_enum(found, "format", request.format, pb.DagFormat.values())
    found.raise_if_any()


def export_audit(request: pb.ExportAuditRequest) -> None:
    """Check an ExportAuditRequest; raises InvalidRequestError."""
    found = Violations()
    _session(found, request.session_id)
    _known_enum(found, "format", request.format, pb.AuditExportFormat.values())
    many = len(request.consistency_from_sizes)
    found.require(many <= MAX_EARLIER_SIZES, "consistency_from_sizes", f"must be at most {MAX_EARLIER_SIZES}")
    if request.with_content:
        text = "must be false with OCSF, which has no place for content; take NDJSON"
        found.require(request.format != pb.AUDIT_EXPORT_FORMAT_OCSF, "with_content", text)
    found.raise_if_any()


def get_inclusion_proof(request: transparency_pb.GetInclusionProofRequest) -> None:
    """Check a GetInclusionProofRequest; raises InvalidRequestError."""
    found = Violations()
    _session(found, request.session_id)
    if request.event_id:
        found.require(_EVENT.fullmatch(request.event_id), "event_id", "must be crp_evt_ and 32 hex digits")
        found.require(not request.window_id, "window_id", "must be empty beside event_id")
    else:
        _window(found, request.window_id)
    found.raise_if_any()


def get_report(request: pb.GetReportRequest) -> None:
    """Check a GetReportRequest; raises InvalidRequestError."""
    found = Violations()
    found.require(request.report_id, "report_id", "must not be empty")
    check_view(found, "view", request.view)
    found.raise_if_any()


def list_reports(request: pb.ListReportsRequest) -> None:
    """Check a ListReportsRequest; raises InvalidRequestError."""
    found = Violations()
    if request.session_id:
        _session(found, request.session_id)
    found.raise_if_any()


def list_sessions(request: pb.ListSessionsRequest) -> None:
    """Check a ListSessionsRequest; raises InvalidRequestError."""
    found = Violations()
    _known_enum(found, "status", request.status, dag_pb2.SessionStatus.values())
    text = "cannot be asked for: a record that does not parse has no status to be found by"
    found.require(request.status != dag_pb2.SESSION_STATUS_UNREADABLE, "status", text)
    for name in ("opened_since", "opened_until", "updated_since", "updated_until"):
        if request.HasField(name):
            found.require(is_moment(getattr(request, name)), name, "must be a moment of the years 1970 to 9999")
    _parent(found, request.agent_session_parent)
    found.raise_if_any()


def is_moment(message: Timestamp) -> bool:
    """Say whether a timestamp is one that a store can hold."""
    return 0 <= message.seconds <= _LAST_SECOND and 0 <= message.nanos < _SECOND_NS


def check_session(found: Violations, session_id: str) -> None:
    """Note a violation unless it is a session id."""
    _session(found, session_id)


def check_reason(found: Violations, reason: str) -> None:
    """Note a violation unless it is a reason."""
    _reason(found, reason)


def _session(found: Violations, session_id: str, field: str = "session_id") -> None:
    found.require(_SESSION.fullmatch(session_id), field, "must be crp_sess_ and 16 to 32 alphanumerics")


def _window(found: Violations, window_id: str, field: str = "window_id") -> None:
    found.require(_WINDOW.fullmatch(window_id), field, "must be crp_win_ and 16 alphanumerics")


def _parent(found: Violations, session_id: str) -> None:
    if session_id:
        _session(found, session_id, "agent_session_parent")


def _policy_hash(found: Violations, policy_hash: str) -> None:
    valid = not policy_hash or _DIGEST.fullmatch(policy_hash)
    found.require(valid, "policy_hash", "must be empty or 64 lower-case hex digits")


def _policy(found: Violations, request: pb.OpenWindowRequest) -> None:
    """Check the policy's text and what it was compared with: later windows are compared with what is kept here."""
    sound = not request.policy or sha256_hex(request.policy) == request.policy_hash
    found.require(sound, "policy", "must be the text that policy_hash is over")
    found.require(len(request.policy) <= MAX_POLICY_CHARS, "policy", f"must hold at most {MAX_POLICY_CHARS} characters")
    hashes, field = request.compared_policy_hashes, "compared_policy_hashes"
    found.require(len(hashes) <= MAX_CONTINUATIONS, field, f"must be at most {MAX_CONTINUATIONS}")
    sound = all(_DIGEST.fullmatch(digest) for digest in hashes[:MAX_CONTINUATIONS])
    found.require(sound, field, "must be 64 lower-case hex digits each")


def _fraction(found: Violations, field: str, value: float) -> None:
    found.require(0.0 <= value <= 1.0, field, "must be 0.0 to 1.0")


def _known_enum(found: Violations, field: str, value: int, known: Any) -> None:
    found.require(value in known, field, "must be one of the known values")


def _reason(found: Violations, reason: str, field: str = "reason") -> None:
    """Require one line of printable text: a reason stands in records, on screens and in logs of others."""
    found.require(1 <= len(reason) <= MAX_REASON_CHARS, field, f"must be 1 to {MAX_REASON_CHARS} characters")
    found.require(reason.isprintable(), field, "must be one line of printable characters")


def _json_object(found: Violations, text: str) -> None:
    """Require an object of I-JSON, which RFC 8785 is for: it is stored in canonical form."""
    try:
        value = read_json(text, "data")
        canonical_json(value)
    except RepeatedNameError as twice:
        found.add(twice.path, "must not be named twice in one object (RFC 7493)")
    except (ValueError, RecursionError):
        found.add("data", "must be a JSON object that RFC 8785 can print")
    else:
        found.require(isinstance(value, dict), "data", "must be a JSON object that RFC 8785 can print")
