"""What a DispatchRequest must look like: every violation at once, before anything is done."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import report_pb2
from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as pb

from services.common.errors import ErrorReason, InvalidRequestError
from services.common.rpc.validation import Violations
from services.common.settings import GatewaySettings
from services.gateway.domain.tools import TOOL_NAME

MAX_CONTINUATION_IDS: Final = 50
MAX_TOKENS: Final = 131_072
MAX_TEMPERATURE: Final = 2.0
MAX_WINDOW_TOKENS: Final = 100_000_000
MAX_NAME_CHARS: Final = 128
MAX_POLICY_CHARS: Final = 4_096
MAX_TOKEN_CHARS: Final = 8_192
MAX_LIST: Final = 32
MAX_ACTIVE_FACTS: Final = 10_000

_ETAG: Final = re.compile(r"\*|sha256:[0-9a-f]{64}")
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SESSION_ID: Final = re.compile(r"crp_sess_[A-Za-z0-9]{16,32}")
_CACHE_DIRECTIVE: Final = re.compile(r"no-store|no-cache|reuse-ckf|only-if-ckf|max-age=\d{1,9}")
_HTTPS_URI: Final = re.compile(r"https://[!-~]{1,2000}")

_CRP_PREFIX: Final = "crp-"
_PROVENANCE_PREFIX: Final = "crp-provenance-"
FIELDS_BY_HEADER: Final = {
    "crp-context-session-id": "session_id",
    "crp-context-if-match": "if_match",
    "crp-context-cache": "cache_directives",
    "crp-context-continuation-id": "continuation_ids",
    "crp-accept-quality": "accept_quality",
    "crp-accept-strategy": "strategies",
    "crp-accept-risk": "accept_risk",
    "crp-safety-oversight-mode": "oversight_mode",
    "crp-safety-mode": "safety_mode",
    "crp-safety-policy": "safety_policy",
    "crp-safety-policy-report-only": "safety_policy_report_only",
    "crp-safety-report-uri": "safety_report_uri",
    "crp-safety-nonce": "safety_nonce",
    "crp-compliance-data-residency": "data_residency",
    "crp-agent-safety-budget": "safety_budget",
    "crp-agent-loop-depth": "loop_depth",
    "crp-agent-session-parent": "agent_session_parent",
    "crp-agent-dispatch-strategy": "agent_dispatch_strategy",
    "crp-agent-fan-in-policy": "fan_in_policy",
    "crp-session-token": "session_token",
    "crp-stream-safety-mode": "stream_safety_mode",
    "crp-llm-grounding-mode": "grounding_mode",
}
"""Request headers and the field that carries each."""


def request_headers(pairs: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the CRP request headers among pairs of names in lower case and values; ``crp-provenance-*`` is dropped.

    Raises:
        InvalidRequestError: RESPONSE_ONLY_HEADER.
    """
    found = []
    for key, value in pairs:
        if not key.startswith(_CRP_PREFIX) or key.startswith(_PROVENANCE_PREFIX):
            continue
        if key not in FIELDS_BY_HEADER:
            text = f"{key} is a header that only responses carry; leave it out"
            raise InvalidRequestError(ErrorReason.RESPONSE_ONLY_HEADER, text, header=key)
        found.append((key, value))
    return found


def request_metadata(metadata: Iterable[tuple[str, Any]]) -> None:
    """Refuse CRP headers in the metadata of a call; ``crp-provenance-*`` from a client is dropped.

    A request header that stood in metadata and was not read would silently weaken what the caller asked for.

    Raises:
        InvalidRequestError: RESPONSE_ONLY_HEADER, or INVALID_FIELD naming the field to use.
    """
    found = Violations()
    for key, _ in request_headers(metadata):
        found.add(FIELDS_BY_HEADER[key], f"send it in this field, not as metadata {key}")
    found.raise_if_any()


def dispatch_request(request: pb.DispatchRequest, settings: GatewaySettings) -> None:
    """Check a request.

    Raises:
        InvalidRequestError: INVALID_FIELD with every violation.
    """
    found = Violations()
    found.require_request_id(request.request_id)
    _query(request, settings, found)
    _continuation(request, found)
    _generation(request, settings, found)
    _context(request, found)
    _safety(request, settings, found)
    _agent(request, found)
    _tools(request, found)
    _enums(request, found)
    found.raise_if_any()


def streamed_request(request: pb.DispatchStreamRequest, settings: GatewaySettings) -> None:
    """Check a request whose answer is streamed; fields are named as in ``dispatch``. Raises as ``dispatch_request``."""
    asked, found = request.dispatch, Violations()
    passes = asked.stream_safety_mode == dispatch_pb2.STREAM_SAFETY_MODE_PASS_THROUGH
    strict = asked.safety_mode == dispatch_pb2.SAFETY_MODE_STRICT
    dispatch_request(asked, settings)
    found.require(not (strict and passes), "stream_safety_mode", "must be buffer, or unset, in safety mode strict")
    found.raise_if_any()


def _query(request: pb.DispatchRequest, settings: GatewaySettings, found: Violations) -> None:
    most = settings.max_query_chars
    found.require(request.query.strip(), "query", "must not be empty")
    found.require(len(request.query) <= most, "query", f"must have at most {most} characters")
    field, earlier = "earlier_questions", request.earlier_questions
    found.require(len(earlier) <= MAX_LIST, field, f"must hold at most {MAX_LIST} questions")
    short = all(len(one) <= most for one in earlier[:MAX_LIST])
    found.require(short, field, f"must hold questions of at most {most} characters")


def _tools(request: pb.DispatchRequest, found: Violations) -> None:
    found.require(len(request.tools) <= MAX_LIST, "tools", f"must hold at most {MAX_LIST} names")
    named = all(TOOL_NAME.fullmatch(name) for name in request.tools[:MAX_LIST])
    found.require(named, "tools", "must hold names of 1 to 64 characters of A-Z, a-z, 0-9, _, - and .")
    found.require(len(set(request.tools)) == len(request.tools), "tools", "must not hold a name twice")


def _continuation(request: pb.DispatchRequest, found: Violations) -> None:
    found.require(
        len(request.session_token) <= MAX_TOKEN_CHARS,
        "session_token",
        f"must have at most {MAX_TOKEN_CHARS} characters",
    )
    ids = request.continuation_ids
    most = MAX_CONTINUATION_IDS
    found.require(len(ids) <= most, "continuation_ids", f"must hold at most {most} ids")
    found.require(len(set(ids)) == len(ids), "continuation_ids", "must not hold an id twice")
    found.require(all(ids), "continuation_ids", "must not hold an empty id")
    if request.session_id:
        found.require(_SESSION_ID.fullmatch(request.session_id), "session_id", "must be crp_sess_ and 16-32 characters")
        given = request.session_token or ids
        found.require(given, "session_id", "needs the session_token that continues the session")
    agents, field = request.agent_sessions, "agent_sessions"
    found.require(len(agents) <= most, field, f"must hold at most {most} ids")
    found.require(len(set(agents)) == len(agents), field, "must not hold an id twice")
    sound = all(_SESSION_ID.fullmatch(agent) for agent in agents[:most])
    found.require(sound, field, "must hold ids of crp_sess_ and 16-32 characters")
    found.require(
        not agents or request.session_token, field, "needs the session_token of the session under which they are"
    )
    if request.branch:
        alone = list(request.strategies) == [taxonomy.DISPATCH_STRATEGY_REFLEXIVE]
        found.require(alone, "branch", "needs strategies reflexive, alone")
        found.require(request.session_token and len(ids) <= 1, "branch", "needs session_token, and one pointer at most")


def _generation(request: pb.DispatchRequest, settings: GatewaySettings, found: Violations) -> None:
    found.require(len(request.model) <= MAX_NAME_CHARS, "model", f"must have at most {MAX_NAME_CHARS} characters")
    if request.HasField("max_tokens"):
        found.require(1 <= request.max_tokens <= MAX_TOKENS, "max_tokens", f"must be from 1 to {MAX_TOKENS}")
    if request.HasField("temperature"):
        found.require(_between(request.temperature, MAX_TEMPERATURE), "temperature", "must be from 0.0 to 2.0")
    if request.HasField("context_window_tokens"):
        window, text = request.context_window_tokens, f"must be from 1 to {MAX_WINDOW_TOKENS}"
        found.require(1 <= window <= MAX_WINDOW_TOKENS, "context_window_tokens", text)
    most = settings.max_system_prompt_chars
    found.require(len(request.system_prompt) <= most, "system_prompt", f"must have at most {most} characters")


def _context(request: pb.DispatchRequest, found: Violations) -> None:
    if request.if_match:
        found.require(
            _ETAG.fullmatch(request.if_match), "if_match", "must be * or sha256: and 64 lower-case hex digits"
        )
    for directive in request.cache_directives[:MAX_LIST]:
        found.require(
            _CACHE_DIRECTIVE.fullmatch(directive),
            "cache_directives",
            "must be no-store, no-cache, reuse-ckf, only-if-ckf or max-age=N",
        )
    most = f"must hold at most {MAX_LIST} entries"
    found.require(len(request.cache_directives) <= MAX_LIST, "cache_directives", most)
    if request.HasField("max_envelope_tokens"):
        found.require(request.max_envelope_tokens >= 1, "max_envelope_tokens", "must be at least 1")
    ids, field = request.active_fact_ids, "active_fact_ids"
    found.require(len(ids) <= MAX_ACTIVE_FACTS, field, f"must hold at most {MAX_ACTIVE_FACTS} ids")
    sound = all(_UUID.fullmatch(fact_id) for fact_id in ids[:MAX_ACTIVE_FACTS])
    found.require(sound, field, "must hold fact ids: UUIDs in lower case")
    found.require(len(set(ids)) == len(ids), field, "must not hold an id twice")


def _safety(request: pb.DispatchRequest, settings: GatewaySettings, found: Violations) -> None:
    for field in ("safety_policy", "safety_policy_report_only"):
        value = getattr(request, field)
        text = f"must be printable ASCII of at most {MAX_POLICY_CHARS} characters"
        sound = value.isascii() and (value.isprintable() or not value) and len(value) <= MAX_POLICY_CHARS
        found.require(sound, field, text)
    if request.safety_report_uri:
        found.require(_HTTPS_URI.fullmatch(request.safety_report_uri), "safety_report_uri", "must be an https URI")
    found.require(not request.safety_nonce, "safety_nonce", "is not one that this server issued")
    if request.data_residency:
        served = settings.data_residency
        where = f"this deployment processes in {served}" if served else "this deployment states no region"
        found.require(request.data_residency == served, "data_residency", f"cannot be kept: {where}")
    ai = "ai_system_id"
    found.require(len(request.ai_system_id) <= MAX_NAME_CHARS, ai, f"must have at most {MAX_NAME_CHARS} characters")


def _agent(request: pb.DispatchRequest, found: Violations) -> None:
    if request.HasField("safety_budget"):
        found.require(_between(request.safety_budget, 1.0), "safety_budget", "must be from 0.0 to 1.0")
    if request.agent_session_parent:
        text = "must be crp_sess_ and 16-32 characters"
        found.require(_SESSION_ID.fullmatch(request.agent_session_parent), "agent_session_parent", text)


def _enums(request: pb.DispatchRequest, found: Violations) -> None:
    _members(request.strategies, taxonomy.DispatchStrategy, "strategies", found)
    _members(request.accept_quality, taxonomy.QualityTier, "accept_quality", found)
    for field, enum in (
        ("grounding_mode", taxonomy.GroundingMode),
        ("accept_risk", taxonomy.RiskLevel),
        ("agent_dispatch_strategy", taxonomy.DispatchStrategy),
        ("safety_mode", dispatch_pb2.SafetyMode),
        ("oversight_mode", dispatch_pb2.OversightMode),
        ("fan_in_policy", dispatch_pb2.FanInPolicy),
        ("stream_safety_mode", dispatch_pb2.StreamSafetyMode),
        ("remediation", dispatch_pb2.RemediationMode),
        ("retrieval_mode", knowledge.SearchMode),
        ("report_view", report_pb2.ReportView),
    ):
        found.require(getattr(request, field) in enum.values(), field, "is not a value of the enum")


def _members(values: Sequence[int], enum: Any, field: str, found: Violations) -> None:
    known = set(enum.values()) - {0}
    found.require(len(values) <= MAX_LIST, field, f"must hold at most {MAX_LIST} entries")
    found.require(all(value in known for value in values), field, "must hold values of the enum, none unspecified")


def _between(value: float, most: float) -> bool:
    return math.isfinite(value) and 0.0 <= value <= most
