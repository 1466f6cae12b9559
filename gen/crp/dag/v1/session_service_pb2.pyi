import datetime

from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from crp.dag.v1 import dag_pb2 as _dag_pb2
from crp.dpe.v1 import inputs_pb2 as _inputs_pb2
from crp.dpe.v1 import report_pb2 as _report_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FanInPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAN_IN_POLICY_UNSPECIFIED: _ClassVar[FanInPolicy]
    FAN_IN_POLICY_REQUIRE_ALL: _ClassVar[FanInPolicy]
    FAN_IN_POLICY_PARTIAL: _ClassVar[FanInPolicy]

class DagFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DAG_FORMAT_UNSPECIFIED: _ClassVar[DagFormat]
    DAG_FORMAT_DOT: _ClassVar[DagFormat]
    DAG_FORMAT_MERMAID: _ClassVar[DagFormat]
    DAG_FORMAT_JSON_GRAPH: _ClassVar[DagFormat]

class AuditExportFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUDIT_EXPORT_FORMAT_UNSPECIFIED: _ClassVar[AuditExportFormat]
    AUDIT_EXPORT_FORMAT_NDJSON: _ClassVar[AuditExportFormat]
    AUDIT_EXPORT_FORMAT_OCSF: _ClassVar[AuditExportFormat]
FAN_IN_POLICY_UNSPECIFIED: FanInPolicy
FAN_IN_POLICY_REQUIRE_ALL: FanInPolicy
FAN_IN_POLICY_PARTIAL: FanInPolicy
DAG_FORMAT_UNSPECIFIED: DagFormat
DAG_FORMAT_DOT: DagFormat
DAG_FORMAT_MERMAID: DagFormat
DAG_FORMAT_JSON_GRAPH: DagFormat
AUDIT_EXPORT_FORMAT_UNSPECIFIED: AuditExportFormat
AUDIT_EXPORT_FORMAT_NDJSON: AuditExportFormat
AUDIT_EXPORT_FORMAT_OCSF: AuditExportFormat

class CreateSessionRequest(_message.Message):
    __slots__ = ("request_id", "policy_hash", "loop_depth", "agent_session_parent", "safety_budget_ceiling", "policy_tightened", "trace_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_HASH_FIELD_NUMBER: _ClassVar[int]
    LOOP_DEPTH_FIELD_NUMBER: _ClassVar[int]
    AGENT_SESSION_PARENT_FIELD_NUMBER: _ClassVar[int]
    SAFETY_BUDGET_CEILING_FIELD_NUMBER: _ClassVar[int]
    POLICY_TIGHTENED_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    policy_hash: str
    loop_depth: int
    agent_session_parent: str
    safety_budget_ceiling: float
    policy_tightened: bool
    trace_id: str
    def __init__(self, request_id: _Optional[str] = ..., policy_hash: _Optional[str] = ..., loop_depth: _Optional[int] = ..., agent_session_parent: _Optional[str] = ..., safety_budget_ceiling: _Optional[float] = ..., policy_tightened: _Optional[bool] = ..., trace_id: _Optional[str] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session", "session_token", "set_session")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SESSION_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SET_SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _dag_pb2.Session
    session_token: str
    set_session: str
    def __init__(self, session: _Optional[_Union[_dag_pb2.Session, _Mapping]] = ..., session_token: _Optional[str] = ..., set_session: _Optional[str] = ...) -> None: ...

class OpenWindowRequest(_message.Message):
    __slots__ = ("request_id", "session_token", "continuation_ids", "strategy", "policy_hash", "loop_depth", "safety_budget_ceiling", "agent_session_parent", "available_budget_tokens", "fan_in_policy", "policy_tightened", "summariser_available", "branch", "policy", "compared_policy_hashes", "agent_sessions")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CONTINUATION_IDS_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    POLICY_HASH_FIELD_NUMBER: _ClassVar[int]
    LOOP_DEPTH_FIELD_NUMBER: _ClassVar[int]
    SAFETY_BUDGET_CEILING_FIELD_NUMBER: _ClassVar[int]
    AGENT_SESSION_PARENT_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    FAN_IN_POLICY_FIELD_NUMBER: _ClassVar[int]
    POLICY_TIGHTENED_FIELD_NUMBER: _ClassVar[int]
    SUMMARISER_AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    COMPARED_POLICY_HASHES_FIELD_NUMBER: _ClassVar[int]
    AGENT_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_token: str
    continuation_ids: _containers.RepeatedScalarFieldContainer[str]
    strategy: _taxonomy_pb2.DispatchStrategy
    policy_hash: str
    loop_depth: int
    safety_budget_ceiling: float
    agent_session_parent: str
    available_budget_tokens: int
    fan_in_policy: FanInPolicy
    policy_tightened: bool
    summariser_available: bool
    branch: bool
    policy: str
    compared_policy_hashes: _containers.RepeatedScalarFieldContainer[str]
    agent_sessions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, request_id: _Optional[str] = ..., session_token: _Optional[str] = ..., continuation_ids: _Optional[_Iterable[str]] = ..., strategy: _Optional[_Union[_taxonomy_pb2.DispatchStrategy, str]] = ..., policy_hash: _Optional[str] = ..., loop_depth: _Optional[int] = ..., safety_budget_ceiling: _Optional[float] = ..., agent_session_parent: _Optional[str] = ..., available_budget_tokens: _Optional[int] = ..., fan_in_policy: _Optional[_Union[FanInPolicy, str]] = ..., policy_tightened: _Optional[bool] = ..., summariser_available: _Optional[bool] = ..., branch: _Optional[bool] = ..., policy: _Optional[str] = ..., compared_policy_hashes: _Optional[_Iterable[str]] = ..., agent_sessions: _Optional[_Iterable[str]] = ...) -> None: ...

class ParentContext(_message.Message):
    __slots__ = ("window_id", "window_number", "response_text", "transfer_type", "transferred_tokens", "deferred_fact_ids", "skipped", "transferred_fact_ids", "summary_tokens", "fallback_text")
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_NUMBER_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_TEXT_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_TYPE_FIELD_NUMBER: _ClassVar[int]
    TRANSFERRED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    TRANSFERRED_FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_TEXT_FIELD_NUMBER: _ClassVar[int]
    window_id: str
    window_number: int
    response_text: str
    transfer_type: _dag_pb2.TransferType
    transferred_tokens: int
    deferred_fact_ids: _containers.RepeatedScalarFieldContainer[str]
    skipped: _containers.RepeatedScalarFieldContainer[str]
    transferred_fact_ids: _containers.RepeatedScalarFieldContainer[str]
    summary_tokens: int
    fallback_text: str
    def __init__(self, window_id: _Optional[str] = ..., window_number: _Optional[int] = ..., response_text: _Optional[str] = ..., transfer_type: _Optional[_Union[_dag_pb2.TransferType, str]] = ..., transferred_tokens: _Optional[int] = ..., deferred_fact_ids: _Optional[_Iterable[str]] = ..., skipped: _Optional[_Iterable[str]] = ..., transferred_fact_ids: _Optional[_Iterable[str]] = ..., summary_tokens: _Optional[int] = ..., fallback_text: _Optional[str] = ...) -> None: ...

class ParentTransfer(_message.Message):
    __slots__ = ("source_window_id", "transfer_type", "transferred_tokens", "summary_text", "fidelity_score", "model_fingerprint", "reason")
    SOURCE_WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_TYPE_FIELD_NUMBER: _ClassVar[int]
    TRANSFERRED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_TEXT_FIELD_NUMBER: _ClassVar[int]
    FIDELITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    source_window_id: str
    transfer_type: _dag_pb2.TransferType
    transferred_tokens: int
    summary_text: str
    fidelity_score: float
    model_fingerprint: str
    reason: str
    def __init__(self, source_window_id: _Optional[str] = ..., transfer_type: _Optional[_Union[_dag_pb2.TransferType, str]] = ..., transferred_tokens: _Optional[int] = ..., summary_text: _Optional[str] = ..., fidelity_score: _Optional[float] = ..., model_fingerprint: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class PriorWindow(_message.Message):
    __slots__ = ("window_id", "window_number", "text", "query")
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    window_id: str
    window_number: int
    text: str
    query: str
    def __init__(self, window_id: _Optional[str] = ..., window_number: _Optional[int] = ..., text: _Optional[str] = ..., query: _Optional[str] = ...) -> None: ...

class OpenWindowResponse(_message.Message):
    __slots__ = ("session", "window", "parents", "facts_seen", "safety_budget", "chain_integrity", "prior_windows", "quality_history", "degradation", "window_position", "draft_key", "fresh", "circuit_breaker", "halt_reason", "agents_left_out")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    PARENTS_FIELD_NUMBER: _ClassVar[int]
    FACTS_SEEN_FIELD_NUMBER: _ClassVar[int]
    SAFETY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    CHAIN_INTEGRITY_FIELD_NUMBER: _ClassVar[int]
    PRIOR_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    QUALITY_HISTORY_FIELD_NUMBER: _ClassVar[int]
    DEGRADATION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_POSITION_FIELD_NUMBER: _ClassVar[int]
    DRAFT_KEY_FIELD_NUMBER: _ClassVar[int]
    FRESH_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_BREAKER_FIELD_NUMBER: _ClassVar[int]
    HALT_REASON_FIELD_NUMBER: _ClassVar[int]
    AGENTS_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    session: _dag_pb2.Session
    window: _dag_pb2.WindowNode
    parents: _containers.RepeatedCompositeFieldContainer[ParentContext]
    facts_seen: _containers.RepeatedScalarFieldContainer[str]
    safety_budget: float
    chain_integrity: _taxonomy_pb2.ChainIntegrity
    prior_windows: _containers.RepeatedCompositeFieldContainer[PriorWindow]
    quality_history: _containers.RepeatedScalarFieldContainer[_taxonomy_pb2.QualityTier]
    degradation: _dag_pb2.QualityDegradation
    window_position: str
    draft_key: bytes
    fresh: bool
    circuit_breaker: _taxonomy_pb2.BreakerState
    halt_reason: str
    agents_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session: _Optional[_Union[_dag_pb2.Session, _Mapping]] = ..., window: _Optional[_Union[_dag_pb2.WindowNode, _Mapping]] = ..., parents: _Optional[_Iterable[_Union[ParentContext, _Mapping]]] = ..., facts_seen: _Optional[_Iterable[str]] = ..., safety_budget: _Optional[float] = ..., chain_integrity: _Optional[_Union[_taxonomy_pb2.ChainIntegrity, str]] = ..., prior_windows: _Optional[_Iterable[_Union[PriorWindow, _Mapping]]] = ..., quality_history: _Optional[_Iterable[_Union[_taxonomy_pb2.QualityTier, str]]] = ..., degradation: _Optional[_Union[_dag_pb2.QualityDegradation, _Mapping]] = ..., window_position: _Optional[str] = ..., draft_key: _Optional[bytes] = ..., fresh: _Optional[bool] = ..., circuit_breaker: _Optional[_Union[_taxonomy_pb2.BreakerState, str]] = ..., halt_reason: _Optional[str] = ..., agents_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class CommitWindowRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "window_id", "response_text", "report", "envelope_etag", "quality_tier", "token_count", "response_tokens", "facts_included", "deferred_facts", "strategy", "model_fingerprint", "ckf_state_hash", "analysis_inputs", "transfers")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_TEXT_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    ENVELOPE_ETAG_FIELD_NUMBER: _ClassVar[int]
    QUALITY_TIER_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    FACTS_INCLUDED_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_FACTS_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    CKF_STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    ANALYSIS_INPUTS_FIELD_NUMBER: _ClassVar[int]
    TRANSFERS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    window_id: str
    response_text: str
    report: _report_pb2.DpeReport
    envelope_etag: str
    quality_tier: _taxonomy_pb2.QualityTier
    token_count: int
    response_tokens: int
    facts_included: _containers.RepeatedScalarFieldContainer[str]
    deferred_facts: _containers.RepeatedCompositeFieldContainer[_dag_pb2.DeferredFactRef]
    strategy: _taxonomy_pb2.DispatchStrategy
    model_fingerprint: str
    ckf_state_hash: str
    analysis_inputs: _inputs_pb2.AnalysisInputs
    transfers: _containers.RepeatedCompositeFieldContainer[ParentTransfer]
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., response_text: _Optional[str] = ..., report: _Optional[_Union[_report_pb2.DpeReport, _Mapping]] = ..., envelope_etag: _Optional[str] = ..., quality_tier: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., token_count: _Optional[int] = ..., response_tokens: _Optional[int] = ..., facts_included: _Optional[_Iterable[str]] = ..., deferred_facts: _Optional[_Iterable[_Union[_dag_pb2.DeferredFactRef, _Mapping]]] = ..., strategy: _Optional[_Union[_taxonomy_pb2.DispatchStrategy, str]] = ..., model_fingerprint: _Optional[str] = ..., ckf_state_hash: _Optional[str] = ..., analysis_inputs: _Optional[_Union[_inputs_pb2.AnalysisInputs, _Mapping]] = ..., transfers: _Optional[_Iterable[_Union[ParentTransfer, _Mapping]]] = ...) -> None: ...

class CommitWindowResponse(_message.Message):
    __slots__ = ("window", "session", "session_token", "set_session", "continuation_id", "chain_integrity", "lineage", "quality_history", "safety_budget", "budget_warning", "dag_root", "audit_trail_id", "report_id", "degradation", "human_review_required", "halt_reason", "window_position", "circuit_breaker")
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SESSION_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SET_SESSION_FIELD_NUMBER: _ClassVar[int]
    CONTINUATION_ID_FIELD_NUMBER: _ClassVar[int]
    CHAIN_INTEGRITY_FIELD_NUMBER: _ClassVar[int]
    LINEAGE_FIELD_NUMBER: _ClassVar[int]
    QUALITY_HISTORY_FIELD_NUMBER: _ClassVar[int]
    SAFETY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    BUDGET_WARNING_FIELD_NUMBER: _ClassVar[int]
    DAG_ROOT_FIELD_NUMBER: _ClassVar[int]
    AUDIT_TRAIL_ID_FIELD_NUMBER: _ClassVar[int]
    REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    DEGRADATION_FIELD_NUMBER: _ClassVar[int]
    HUMAN_REVIEW_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    HALT_REASON_FIELD_NUMBER: _ClassVar[int]
    WINDOW_POSITION_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_BREAKER_FIELD_NUMBER: _ClassVar[int]
    window: _dag_pb2.WindowNode
    session: _dag_pb2.Session
    session_token: str
    set_session: str
    continuation_id: str
    chain_integrity: _taxonomy_pb2.ChainIntegrity
    lineage: str
    quality_history: _containers.RepeatedScalarFieldContainer[_taxonomy_pb2.QualityTier]
    safety_budget: float
    budget_warning: str
    dag_root: str
    audit_trail_id: str
    report_id: str
    degradation: _dag_pb2.QualityDegradation
    human_review_required: bool
    halt_reason: str
    window_position: str
    circuit_breaker: _taxonomy_pb2.BreakerState
    def __init__(self, window: _Optional[_Union[_dag_pb2.WindowNode, _Mapping]] = ..., session: _Optional[_Union[_dag_pb2.Session, _Mapping]] = ..., session_token: _Optional[str] = ..., set_session: _Optional[str] = ..., continuation_id: _Optional[str] = ..., chain_integrity: _Optional[_Union[_taxonomy_pb2.ChainIntegrity, str]] = ..., lineage: _Optional[str] = ..., quality_history: _Optional[_Iterable[_Union[_taxonomy_pb2.QualityTier, str]]] = ..., safety_budget: _Optional[float] = ..., budget_warning: _Optional[str] = ..., dag_root: _Optional[str] = ..., audit_trail_id: _Optional[str] = ..., report_id: _Optional[str] = ..., degradation: _Optional[_Union[_dag_pb2.QualityDegradation, _Mapping]] = ..., human_review_required: _Optional[bool] = ..., halt_reason: _Optional[str] = ..., window_position: _Optional[str] = ..., circuit_breaker: _Optional[_Union[_taxonomy_pb2.BreakerState, str]] = ...) -> None: ...

class FailWindowRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "window_id", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    window_id: str
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class FailWindowResponse(_message.Message):
    __slots__ = ("window",)
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    window: _dag_pb2.WindowNode
    def __init__(self, window: _Optional[_Union[_dag_pb2.WindowNode, _Mapping]] = ...) -> None: ...

class GetWindowRequest(_message.Message):
    __slots__ = ("session_id", "window_id", "include_response")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_RESPONSE_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    window_id: str
    include_response: bool
    def __init__(self, session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., include_response: _Optional[bool] = ...) -> None: ...

class GetWindowResponse(_message.Message):
    __slots__ = ("window", "response_text", "parent_edges")
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_TEXT_FIELD_NUMBER: _ClassVar[int]
    PARENT_EDGES_FIELD_NUMBER: _ClassVar[int]
    window: _dag_pb2.WindowNode
    response_text: str
    parent_edges: _containers.RepeatedCompositeFieldContainer[_dag_pb2.WindowEdge]
    def __init__(self, window: _Optional[_Union[_dag_pb2.WindowNode, _Mapping]] = ..., response_text: _Optional[str] = ..., parent_edges: _Optional[_Iterable[_Union[_dag_pb2.WindowEdge, _Mapping]]] = ...) -> None: ...

class GetHoldingKeyRequest(_message.Message):
    __slots__ = ("session_id", "window_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    window_id: str
    def __init__(self, session_id: _Optional[str] = ..., window_id: _Optional[str] = ...) -> None: ...

class GetHoldingKeyResponse(_message.Message):
    __slots__ = ("holding_key",)
    HOLDING_KEY_FIELD_NUMBER: _ClassVar[int]
    holding_key: bytes
    def __init__(self, holding_key: _Optional[bytes] = ...) -> None: ...

class GetProviderKeyRequest(_message.Message):
    __slots__ = ("key_version",)
    KEY_VERSION_FIELD_NUMBER: _ClassVar[int]
    key_version: int
    def __init__(self, key_version: _Optional[int] = ...) -> None: ...

class GetProviderKeyResponse(_message.Message):
    __slots__ = ("provider_key", "key_version")
    PROVIDER_KEY_FIELD_NUMBER: _ClassVar[int]
    KEY_VERSION_FIELD_NUMBER: _ClassVar[int]
    provider_key: bytes
    key_version: int
    def __init__(self, provider_key: _Optional[bytes] = ..., key_version: _Optional[int] = ...) -> None: ...

class GetDagRequest(_message.Message):
    __slots__ = ("session_id", "format")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    format: DagFormat
    def __init__(self, session_id: _Optional[str] = ..., format: _Optional[_Union[DagFormat, str]] = ...) -> None: ...

class GetDagResponse(_message.Message):
    __slots__ = ("session", "windows", "edges", "rendered", "agents")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    EDGES_FIELD_NUMBER: _ClassVar[int]
    RENDERED_FIELD_NUMBER: _ClassVar[int]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    session: _dag_pb2.Session
    windows: _containers.RepeatedCompositeFieldContainer[_dag_pb2.WindowNode]
    edges: _containers.RepeatedCompositeFieldContainer[_dag_pb2.WindowEdge]
    rendered: str
    agents: _containers.RepeatedCompositeFieldContainer[MergedAgent]
    def __init__(self, session: _Optional[_Union[_dag_pb2.Session, _Mapping]] = ..., windows: _Optional[_Iterable[_Union[_dag_pb2.WindowNode, _Mapping]]] = ..., edges: _Optional[_Iterable[_Union[_dag_pb2.WindowEdge, _Mapping]]] = ..., rendered: _Optional[str] = ..., agents: _Optional[_Iterable[_Union[MergedAgent, _Mapping]]] = ...) -> None: ...

class MergedAgent(_message.Message):
    __slots__ = ("target_id", "session_id", "window_id", "hmac", "safety_budget")
    TARGET_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    HMAC_FIELD_NUMBER: _ClassVar[int]
    SAFETY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    target_id: str
    session_id: str
    window_id: str
    hmac: str
    safety_budget: float
    def __init__(self, target_id: _Optional[str] = ..., session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., hmac: _Optional[str] = ..., safety_budget: _Optional[float] = ...) -> None: ...

class GetLineageRequest(_message.Message):
    __slots__ = ("session_id", "window_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    window_id: str
    def __init__(self, session_id: _Optional[str] = ..., window_id: _Optional[str] = ...) -> None: ...

class GetLineageResponse(_message.Message):
    __slots__ = ("lineage", "window_ids")
    LINEAGE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_IDS_FIELD_NUMBER: _ClassVar[int]
    lineage: str
    window_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, lineage: _Optional[str] = ..., window_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class VerifyChainRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class VerifyChainResponse(_message.Message):
    __slots__ = ("integrity", "windows_verified", "windows_total", "events_verified", "events_total", "fault", "tips", "partial_reason")
    INTEGRITY_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_VERIFIED_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    EVENTS_VERIFIED_FIELD_NUMBER: _ClassVar[int]
    EVENTS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    TIPS_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_REASON_FIELD_NUMBER: _ClassVar[int]
    integrity: _taxonomy_pb2.ChainIntegrity
    windows_verified: int
    windows_total: int
    events_verified: int
    events_total: int
    fault: ChainFault
    tips: _containers.RepeatedScalarFieldContainer[str]
    partial_reason: str
    def __init__(self, integrity: _Optional[_Union[_taxonomy_pb2.ChainIntegrity, str]] = ..., windows_verified: _Optional[int] = ..., windows_total: _Optional[int] = ..., events_verified: _Optional[int] = ..., events_total: _Optional[int] = ..., fault: _Optional[_Union[ChainFault, _Mapping]] = ..., tips: _Optional[_Iterable[str]] = ..., partial_reason: _Optional[str] = ...) -> None: ...

class ChainFault(_message.Message):
    __slots__ = ("record_kind", "record_id", "detail")
    RECORD_KIND_FIELD_NUMBER: _ClassVar[int]
    RECORD_ID_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    record_kind: str
    record_id: str
    detail: str
    def __init__(self, record_kind: _Optional[str] = ..., record_id: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class AppendEventRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "event_type", "window_id", "data")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    event_type: _dag_pb2.AuditEventType
    window_id: str
    data: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., event_type: _Optional[_Union[_dag_pb2.AuditEventType, str]] = ..., window_id: _Optional[str] = ..., data: _Optional[str] = ...) -> None: ...

class AppendEventResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _dag_pb2.AuditEvent
    def __init__(self, event: _Optional[_Union[_dag_pb2.AuditEvent, _Mapping]] = ...) -> None: ...

class ListAuditEventsRequest(_message.Message):
    __slots__ = ("session_id", "page_size", "page_token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    page_size: int
    page_token: str
    def __init__(self, session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAuditEventsResponse(_message.Message):
    __slots__ = ("events", "next_page_token")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_dag_pb2.AuditEvent]
    next_page_token: str
    def __init__(self, events: _Optional[_Iterable[_Union[_dag_pb2.AuditEvent, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ExportAuditRequest(_message.Message):
    __slots__ = ("session_id", "format", "with_content", "consistency_from_sizes")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    WITH_CONTENT_FIELD_NUMBER: _ClassVar[int]
    CONSISTENCY_FROM_SIZES_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    format: AuditExportFormat
    with_content: bool
    consistency_from_sizes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, session_id: _Optional[str] = ..., format: _Optional[_Union[AuditExportFormat, str]] = ..., with_content: _Optional[bool] = ..., consistency_from_sizes: _Optional[_Iterable[int]] = ...) -> None: ...

class ExportAuditResponse(_message.Message):
    __slots__ = ("line",)
    LINE_FIELD_NUMBER: _ClassVar[int]
    line: str
    def __init__(self, line: _Optional[str] = ...) -> None: ...

class GetReportRequest(_message.Message):
    __slots__ = ("report_id", "view")
    REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    report_id: str
    view: _report_pb2.ReportView
    def __init__(self, report_id: _Optional[str] = ..., view: _Optional[_Union[_report_pb2.ReportView, str]] = ...) -> None: ...

class GetReportResponse(_message.Message):
    __slots__ = ("report", "canonical_json", "summary")
    REPORT_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_JSON_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    report: _report_pb2.DpeReport
    canonical_json: str
    summary: ReportSummary
    def __init__(self, report: _Optional[_Union[_report_pb2.DpeReport, _Mapping]] = ..., canonical_json: _Optional[str] = ..., summary: _Optional[_Union[ReportSummary, _Mapping]] = ...) -> None: ...

class ReportSummary(_message.Message):
    __slots__ = ("report_id", "session_id", "window_id", "report_hash", "created_time", "unreadable", "signals")
    REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    REPORT_HASH_FIELD_NUMBER: _ClassVar[int]
    CREATED_TIME_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    SIGNALS_FIELD_NUMBER: _ClassVar[int]
    report_id: str
    session_id: str
    window_id: str
    report_hash: str
    created_time: _timestamp_pb2.Timestamp
    unreadable: str
    signals: _report_pb2.DpeReport
    def __init__(self, report_id: _Optional[str] = ..., session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., report_hash: _Optional[str] = ..., created_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., unreadable: _Optional[str] = ..., signals: _Optional[_Union[_report_pb2.DpeReport, _Mapping]] = ...) -> None: ...

class ListReportsRequest(_message.Message):
    __slots__ = ("session_id", "page_size", "page_token", "with_signals")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WITH_SIGNALS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    page_size: int
    page_token: str
    with_signals: bool
    def __init__(self, session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., with_signals: _Optional[bool] = ...) -> None: ...

class ListReportsResponse(_message.Message):
    __slots__ = ("reports", "next_page_token")
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    reports: _containers.RepeatedCompositeFieldContainer[ReportSummary]
    next_page_token: str
    def __init__(self, reports: _Optional[_Iterable[_Union[ReportSummary, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class TerminateSessionRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class TerminateSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _dag_pb2.Session
    def __init__(self, session: _Optional[_Union[_dag_pb2.Session, _Mapping]] = ...) -> None: ...

class EraseSessionRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class EraseSessionResponse(_message.Message):
    __slots__ = ("session", "event", "windows_erased", "reports_erased", "events_erased")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_ERASED_FIELD_NUMBER: _ClassVar[int]
    REPORTS_ERASED_FIELD_NUMBER: _ClassVar[int]
    EVENTS_ERASED_FIELD_NUMBER: _ClassVar[int]
    session: _dag_pb2.Session
    event: _dag_pb2.AuditEvent
    windows_erased: int
    reports_erased: int
    events_erased: int
    def __init__(self, session: _Optional[_Union[_dag_pb2.Session, _Mapping]] = ..., event: _Optional[_Union[_dag_pb2.AuditEvent, _Mapping]] = ..., windows_erased: _Optional[int] = ..., reports_erased: _Optional[int] = ..., events_erased: _Optional[int] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "status", "opened_since", "opened_until", "updated_since", "updated_until", "agent_session_parent")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    OPENED_SINCE_FIELD_NUMBER: _ClassVar[int]
    OPENED_UNTIL_FIELD_NUMBER: _ClassVar[int]
    UPDATED_SINCE_FIELD_NUMBER: _ClassVar[int]
    UPDATED_UNTIL_FIELD_NUMBER: _ClassVar[int]
    AGENT_SESSION_PARENT_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    status: _dag_pb2.SessionStatus
    opened_since: _timestamp_pb2.Timestamp
    opened_until: _timestamp_pb2.Timestamp
    updated_since: _timestamp_pb2.Timestamp
    updated_until: _timestamp_pb2.Timestamp
    agent_session_parent: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., status: _Optional[_Union[_dag_pb2.SessionStatus, str]] = ..., opened_since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., opened_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., agent_session_parent: _Optional[str] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("sessions", "next_page_token")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[SessionSummary]
    next_page_token: str
    def __init__(self, sessions: _Optional[_Iterable[_Union[SessionSummary, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SessionSummary(_message.Message):
    __slots__ = ("session", "unreadable", "updated_time", "status_time", "legal_hold", "windows_committed", "last_report_id", "quality_tier", "risk_level", "safety_budget")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    UPDATED_TIME_FIELD_NUMBER: _ClassVar[int]
    STATUS_TIME_FIELD_NUMBER: _ClassVar[int]
    LEGAL_HOLD_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_COMMITTED_FIELD_NUMBER: _ClassVar[int]
    LAST_REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    QUALITY_TIER_FIELD_NUMBER: _ClassVar[int]
    RISK_LEVEL_FIELD_NUMBER: _ClassVar[int]
    SAFETY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    session: _dag_pb2.Session
    unreadable: bool
    updated_time: _timestamp_pb2.Timestamp
    status_time: _timestamp_pb2.Timestamp
    legal_hold: bool
    windows_committed: int
    last_report_id: str
    quality_tier: _taxonomy_pb2.QualityTier
    risk_level: _taxonomy_pb2.RiskLevel
    safety_budget: float
    def __init__(self, session: _Optional[_Union[_dag_pb2.Session, _Mapping]] = ..., unreadable: _Optional[bool] = ..., updated_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., status_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., legal_hold: _Optional[bool] = ..., windows_committed: _Optional[int] = ..., last_report_id: _Optional[str] = ..., quality_tier: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., risk_level: _Optional[_Union[_taxonomy_pb2.RiskLevel, str]] = ..., safety_budget: _Optional[float] = ...) -> None: ...
