import datetime

from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SessionStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_STATUS_UNSPECIFIED: _ClassVar[SessionStatus]
    SESSION_STATUS_OPEN: _ClassVar[SessionStatus]
    SESSION_STATUS_COMPLETED: _ClassVar[SessionStatus]
    SESSION_STATUS_TERMINATED: _ClassVar[SessionStatus]
    SESSION_STATUS_BROKEN: _ClassVar[SessionStatus]
    SESSION_STATUS_ERASED: _ClassVar[SessionStatus]
    SESSION_STATUS_EXPIRED: _ClassVar[SessionStatus]
    SESSION_STATUS_UNREADABLE: _ClassVar[SessionStatus]
    SESSION_STATUS_TOMBSTONED: _ClassVar[SessionStatus]

class WindowStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WINDOW_STATUS_UNSPECIFIED: _ClassVar[WindowStatus]
    WINDOW_STATUS_PENDING: _ClassVar[WindowStatus]
    WINDOW_STATUS_COMMITTED: _ClassVar[WindowStatus]
    WINDOW_STATUS_FAILED: _ClassVar[WindowStatus]

class WindowPattern(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WINDOW_PATTERN_UNSPECIFIED: _ClassVar[WindowPattern]
    WINDOW_PATTERN_LINEAR: _ClassVar[WindowPattern]
    WINDOW_PATTERN_FAN_OUT: _ClassVar[WindowPattern]
    WINDOW_PATTERN_FAN_IN: _ClassVar[WindowPattern]
    WINDOW_PATTERN_BRANCH: _ClassVar[WindowPattern]

class TransferType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRANSFER_TYPE_UNSPECIFIED: _ClassVar[TransferType]
    TRANSFER_TYPE_FULL_CONTEXT: _ClassVar[TransferType]
    TRANSFER_TYPE_SUMMARY: _ClassVar[TransferType]
    TRANSFER_TYPE_FACTS_ONLY: _ClassVar[TransferType]
    TRANSFER_TYPE_RESULT_ONLY: _ClassVar[TransferType]
    TRANSFER_TYPE_RELAYED: _ClassVar[TransferType]

class AuditEventType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUDIT_EVENT_TYPE_UNSPECIFIED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_SESSION_CREATED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_SESSION_CONTINUED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_SESSION_TERMINATED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_DISPATCH_STARTED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_DISPATCH_COMPLETED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_DISPATCH_FAILED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_RE_DISPATCH: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_STRATEGY_UPGRADE: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_DPE_COMPLETED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_FABRICATION_DETECTED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_DISTORTION_DETECTED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_CONTRADICTION_DETECTED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_REPETITION_DETECTED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_COMPLETENESS_GAP: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_FLOW_REMEDIATION: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_STOP_INJECT: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_SAFETY_HALT: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_SAFETY_BUDGET_DEPLETED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_OVERSIGHT_TRIGGERED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_POLICY_VIOLATION: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_PII_DETECTED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_EU_AI_ACT_CLASSIFIED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_FACT_RETRIEVED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_FACT_INGESTED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_FACT_DELETED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_FACT_QUARANTINED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_CKF_ETAG_CHANGED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_TOOL_CALL: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_AGENT_LOOP_ITERATION: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_FAN_OUT_CREATED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_FAN_IN_MERGED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_COMPLETENESS_CONTINUATION: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_FLOW_STITCH: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_SUMMARISATION: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_SESSION_ERASED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_ERCP_OPERATOR: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_QUALITY_DEGRADED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_SAFETY_BUDGET_RETURNED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_SAFETY_BUDGET_LOWERED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_RETENTION_SET: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_LEGAL_HOLD_SET: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_LEGAL_HOLD_RELEASED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_SESSION_TOMBSTONED: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_INJECTION_FOUND: _ClassVar[AuditEventType]
    AUDIT_EVENT_TYPE_OVERSIGHT_DECIDED: _ClassVar[AuditEventType]

class DegradationLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEGRADATION_LEVEL_UNSPECIFIED: _ClassVar[DegradationLevel]
    DEGRADATION_LEVEL_NONE: _ClassVar[DegradationLevel]
    DEGRADATION_LEVEL_FIRST_DROP: _ClassVar[DegradationLevel]
    DEGRADATION_LEVEL_SUSTAINED: _ClassVar[DegradationLevel]
    DEGRADATION_LEVEL_CRITICAL: _ClassVar[DegradationLevel]
    DEGRADATION_LEVEL_PERSISTENT: _ClassVar[DegradationLevel]
SESSION_STATUS_UNSPECIFIED: SessionStatus
SESSION_STATUS_OPEN: SessionStatus
SESSION_STATUS_COMPLETED: SessionStatus
SESSION_STATUS_TERMINATED: SessionStatus
SESSION_STATUS_BROKEN: SessionStatus
SESSION_STATUS_ERASED: SessionStatus
SESSION_STATUS_EXPIRED: SessionStatus
SESSION_STATUS_UNREADABLE: SessionStatus
SESSION_STATUS_TOMBSTONED: SessionStatus
WINDOW_STATUS_UNSPECIFIED: WindowStatus
WINDOW_STATUS_PENDING: WindowStatus
WINDOW_STATUS_COMMITTED: WindowStatus
WINDOW_STATUS_FAILED: WindowStatus
WINDOW_PATTERN_UNSPECIFIED: WindowPattern
WINDOW_PATTERN_LINEAR: WindowPattern
WINDOW_PATTERN_FAN_OUT: WindowPattern
WINDOW_PATTERN_FAN_IN: WindowPattern
WINDOW_PATTERN_BRANCH: WindowPattern
TRANSFER_TYPE_UNSPECIFIED: TransferType
TRANSFER_TYPE_FULL_CONTEXT: TransferType
TRANSFER_TYPE_SUMMARY: TransferType
TRANSFER_TYPE_FACTS_ONLY: TransferType
TRANSFER_TYPE_RESULT_ONLY: TransferType
TRANSFER_TYPE_RELAYED: TransferType
AUDIT_EVENT_TYPE_UNSPECIFIED: AuditEventType
AUDIT_EVENT_TYPE_SESSION_CREATED: AuditEventType
AUDIT_EVENT_TYPE_SESSION_CONTINUED: AuditEventType
AUDIT_EVENT_TYPE_SESSION_TERMINATED: AuditEventType
AUDIT_EVENT_TYPE_DISPATCH_STARTED: AuditEventType
AUDIT_EVENT_TYPE_DISPATCH_COMPLETED: AuditEventType
AUDIT_EVENT_TYPE_DISPATCH_FAILED: AuditEventType
AUDIT_EVENT_TYPE_RE_DISPATCH: AuditEventType
AUDIT_EVENT_TYPE_STRATEGY_UPGRADE: AuditEventType
AUDIT_EVENT_TYPE_DPE_COMPLETED: AuditEventType
AUDIT_EVENT_TYPE_FABRICATION_DETECTED: AuditEventType
AUDIT_EVENT_TYPE_DISTORTION_DETECTED: AuditEventType
AUDIT_EVENT_TYPE_CONTRADICTION_DETECTED: AuditEventType
AUDIT_EVENT_TYPE_REPETITION_DETECTED: AuditEventType
AUDIT_EVENT_TYPE_COMPLETENESS_GAP: AuditEventType
AUDIT_EVENT_TYPE_FLOW_REMEDIATION: AuditEventType
AUDIT_EVENT_TYPE_STOP_INJECT: AuditEventType
AUDIT_EVENT_TYPE_SAFETY_HALT: AuditEventType
AUDIT_EVENT_TYPE_SAFETY_BUDGET_DEPLETED: AuditEventType
AUDIT_EVENT_TYPE_OVERSIGHT_TRIGGERED: AuditEventType
AUDIT_EVENT_TYPE_POLICY_VIOLATION: AuditEventType
AUDIT_EVENT_TYPE_PII_DETECTED: AuditEventType
AUDIT_EVENT_TYPE_EU_AI_ACT_CLASSIFIED: AuditEventType
AUDIT_EVENT_TYPE_FACT_RETRIEVED: AuditEventType
AUDIT_EVENT_TYPE_FACT_INGESTED: AuditEventType
AUDIT_EVENT_TYPE_FACT_DELETED: AuditEventType
AUDIT_EVENT_TYPE_FACT_QUARANTINED: AuditEventType
AUDIT_EVENT_TYPE_CKF_ETAG_CHANGED: AuditEventType
AUDIT_EVENT_TYPE_TOOL_CALL: AuditEventType
AUDIT_EVENT_TYPE_AGENT_LOOP_ITERATION: AuditEventType
AUDIT_EVENT_TYPE_FAN_OUT_CREATED: AuditEventType
AUDIT_EVENT_TYPE_FAN_IN_MERGED: AuditEventType
AUDIT_EVENT_TYPE_COMPLETENESS_CONTINUATION: AuditEventType
AUDIT_EVENT_TYPE_FLOW_STITCH: AuditEventType
AUDIT_EVENT_TYPE_SUMMARISATION: AuditEventType
AUDIT_EVENT_TYPE_SESSION_ERASED: AuditEventType
AUDIT_EVENT_TYPE_ERCP_OPERATOR: AuditEventType
AUDIT_EVENT_TYPE_QUALITY_DEGRADED: AuditEventType
AUDIT_EVENT_TYPE_SAFETY_BUDGET_RETURNED: AuditEventType
AUDIT_EVENT_TYPE_SAFETY_BUDGET_LOWERED: AuditEventType
AUDIT_EVENT_TYPE_RETENTION_SET: AuditEventType
AUDIT_EVENT_TYPE_LEGAL_HOLD_SET: AuditEventType
AUDIT_EVENT_TYPE_LEGAL_HOLD_RELEASED: AuditEventType
AUDIT_EVENT_TYPE_SESSION_TOMBSTONED: AuditEventType
AUDIT_EVENT_TYPE_INJECTION_FOUND: AuditEventType
AUDIT_EVENT_TYPE_OVERSIGHT_DECIDED: AuditEventType
DEGRADATION_LEVEL_UNSPECIFIED: DegradationLevel
DEGRADATION_LEVEL_NONE: DegradationLevel
DEGRADATION_LEVEL_FIRST_DROP: DegradationLevel
DEGRADATION_LEVEL_SUSTAINED: DegradationLevel
DEGRADATION_LEVEL_CRITICAL: DegradationLevel
DEGRADATION_LEVEL_PERSISTENT: DegradationLevel

class SessionLimits(_message.Message):
    __slots__ = ("max_windows", "max_fan_out", "max_dag_nodes", "max_loop_depth")
    MAX_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    MAX_FAN_OUT_FIELD_NUMBER: _ClassVar[int]
    MAX_DAG_NODES_FIELD_NUMBER: _ClassVar[int]
    MAX_LOOP_DEPTH_FIELD_NUMBER: _ClassVar[int]
    max_windows: int
    max_fan_out: int
    max_dag_nodes: int
    max_loop_depth: int
    def __init__(self, max_windows: _Optional[int] = ..., max_fan_out: _Optional[int] = ..., max_dag_nodes: _Optional[int] = ..., max_loop_depth: _Optional[int] = ...) -> None: ...

class Session(_message.Message):
    __slots__ = ("session_id", "status", "created_time", "version", "audit_trail_id", "policy_hash", "limits", "parent_session_id", "loop_depth", "key_version", "window_count", "safety_budget", "circuit_breaker")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CREATED_TIME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    AUDIT_TRAIL_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_HASH_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    PARENT_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    LOOP_DEPTH_FIELD_NUMBER: _ClassVar[int]
    KEY_VERSION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_COUNT_FIELD_NUMBER: _ClassVar[int]
    SAFETY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_BREAKER_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    status: SessionStatus
    created_time: _timestamp_pb2.Timestamp
    version: int
    audit_trail_id: str
    policy_hash: str
    limits: SessionLimits
    parent_session_id: str
    loop_depth: int
    key_version: int
    window_count: int
    safety_budget: float
    circuit_breaker: _taxonomy_pb2.BreakerState
    def __init__(self, session_id: _Optional[str] = ..., status: _Optional[_Union[SessionStatus, str]] = ..., created_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., version: _Optional[int] = ..., audit_trail_id: _Optional[str] = ..., policy_hash: _Optional[str] = ..., limits: _Optional[_Union[SessionLimits, _Mapping]] = ..., parent_session_id: _Optional[str] = ..., loop_depth: _Optional[int] = ..., key_version: _Optional[int] = ..., window_count: _Optional[int] = ..., safety_budget: _Optional[float] = ..., circuit_breaker: _Optional[_Union[_taxonomy_pb2.BreakerState, str]] = ...) -> None: ...

class WindowNode(_message.Message):
    __slots__ = ("window_id", "session_id", "window_number", "parent_ids", "child_ids", "continuation_id", "pattern", "strategy", "envelope_etag", "quality_tier", "risk_level", "safety_budget", "hmac", "hmac_chain_tip", "timestamp", "token_count", "response_hash", "status", "window_hmac", "report_id", "report_hash", "response_tokens", "model_fingerprint", "facts_included", "facts_deferred", "failure_reason")
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_NUMBER_FIELD_NUMBER: _ClassVar[int]
    PARENT_IDS_FIELD_NUMBER: _ClassVar[int]
    CHILD_IDS_FIELD_NUMBER: _ClassVar[int]
    CONTINUATION_ID_FIELD_NUMBER: _ClassVar[int]
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    ENVELOPE_ETAG_FIELD_NUMBER: _ClassVar[int]
    QUALITY_TIER_FIELD_NUMBER: _ClassVar[int]
    RISK_LEVEL_FIELD_NUMBER: _ClassVar[int]
    SAFETY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    HMAC_FIELD_NUMBER: _ClassVar[int]
    HMAC_CHAIN_TIP_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_HASH_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_HMAC_FIELD_NUMBER: _ClassVar[int]
    REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    REPORT_HASH_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    FACTS_INCLUDED_FIELD_NUMBER: _ClassVar[int]
    FACTS_DEFERRED_FIELD_NUMBER: _ClassVar[int]
    FAILURE_REASON_FIELD_NUMBER: _ClassVar[int]
    window_id: str
    session_id: str
    window_number: int
    parent_ids: _containers.RepeatedScalarFieldContainer[str]
    child_ids: _containers.RepeatedScalarFieldContainer[str]
    continuation_id: str
    pattern: WindowPattern
    strategy: str
    envelope_etag: str
    quality_tier: _taxonomy_pb2.QualityTier
    risk_level: _taxonomy_pb2.RiskLevel
    safety_budget: float
    hmac: str
    hmac_chain_tip: str
    timestamp: _timestamp_pb2.Timestamp
    token_count: int
    response_hash: str
    status: WindowStatus
    window_hmac: str
    report_id: str
    report_hash: str
    response_tokens: int
    model_fingerprint: str
    facts_included: _containers.RepeatedScalarFieldContainer[str]
    facts_deferred: _containers.RepeatedCompositeFieldContainer[DeferredFactRef]
    failure_reason: str
    def __init__(self, window_id: _Optional[str] = ..., session_id: _Optional[str] = ..., window_number: _Optional[int] = ..., parent_ids: _Optional[_Iterable[str]] = ..., child_ids: _Optional[_Iterable[str]] = ..., continuation_id: _Optional[str] = ..., pattern: _Optional[_Union[WindowPattern, str]] = ..., strategy: _Optional[str] = ..., envelope_etag: _Optional[str] = ..., quality_tier: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., risk_level: _Optional[_Union[_taxonomy_pb2.RiskLevel, str]] = ..., safety_budget: _Optional[float] = ..., hmac: _Optional[str] = ..., hmac_chain_tip: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., token_count: _Optional[int] = ..., response_hash: _Optional[str] = ..., status: _Optional[_Union[WindowStatus, str]] = ..., window_hmac: _Optional[str] = ..., report_id: _Optional[str] = ..., report_hash: _Optional[str] = ..., response_tokens: _Optional[int] = ..., model_fingerprint: _Optional[str] = ..., facts_included: _Optional[_Iterable[str]] = ..., facts_deferred: _Optional[_Iterable[_Union[DeferredFactRef, _Mapping]]] = ..., failure_reason: _Optional[str] = ...) -> None: ...

class DeferredFactRef(_message.Message):
    __slots__ = ("fact_id", "token_count")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    token_count: int
    def __init__(self, fact_id: _Optional[str] = ..., token_count: _Optional[int] = ...) -> None: ...

class WindowEdge(_message.Message):
    __slots__ = ("source_id", "target_id", "transfer_type", "transferred_tokens", "summary_hash")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_TYPE_FIELD_NUMBER: _ClassVar[int]
    TRANSFERRED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_HASH_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    target_id: str
    transfer_type: TransferType
    transferred_tokens: int
    summary_hash: str
    def __init__(self, source_id: _Optional[str] = ..., target_id: _Optional[str] = ..., transfer_type: _Optional[_Union[TransferType, str]] = ..., transferred_tokens: _Optional[int] = ..., summary_hash: _Optional[str] = ...) -> None: ...

class AuditEvent(_message.Message):
    __slots__ = ("event_id", "sequence", "event_type", "timestamp", "window_id", "data", "hmac", "session_id", "data_sha256")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    HMAC_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    DATA_SHA256_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    sequence: int
    event_type: AuditEventType
    timestamp: _timestamp_pb2.Timestamp
    window_id: str
    data: str
    hmac: str
    session_id: str
    data_sha256: str
    def __init__(self, event_id: _Optional[str] = ..., sequence: _Optional[int] = ..., event_type: _Optional[_Union[AuditEventType, str]] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., window_id: _Optional[str] = ..., data: _Optional[str] = ..., hmac: _Optional[str] = ..., session_id: _Optional[str] = ..., data_sha256: _Optional[str] = ...) -> None: ...

class QualityDegradation(_message.Message):
    __slots__ = ("level", "advice")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    level: DegradationLevel
    advice: str
    def __init__(self, level: _Optional[_Union[DegradationLevel, str]] = ..., advice: _Optional[str] = ...) -> None: ...
