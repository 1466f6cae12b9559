from crp.ckf.v1 import knowledge_service_pb2 as _knowledge_service_pb2
from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from crp.common.v1 import text_pb2 as _text_pb2
from crp.dag.v1 import dag_pb2 as _dag_pb2
from crp.dpe.v1 import report_pb2 as _report_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OversightMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OVERSIGHT_MODE_UNSPECIFIED: _ClassVar[OversightMode]
    OVERSIGHT_MODE_AUTO: _ClassVar[OversightMode]
    OVERSIGHT_MODE_HUMAN_REVIEW: _ClassVar[OversightMode]
    OVERSIGHT_MODE_HALT: _ClassVar[OversightMode]
    OVERSIGHT_MODE_LOG_ONLY: _ClassVar[OversightMode]

class SafetyMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SAFETY_MODE_UNSPECIFIED: _ClassVar[SafetyMode]
    SAFETY_MODE_STRICT: _ClassVar[SafetyMode]
    SAFETY_MODE_WARN: _ClassVar[SafetyMode]
    SAFETY_MODE_PERMISSIVE: _ClassVar[SafetyMode]

class StreamSafetyMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STREAM_SAFETY_MODE_UNSPECIFIED: _ClassVar[StreamSafetyMode]
    STREAM_SAFETY_MODE_BUFFER: _ClassVar[StreamSafetyMode]
    STREAM_SAFETY_MODE_PASS_THROUGH: _ClassVar[StreamSafetyMode]

class FanInPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAN_IN_POLICY_UNSPECIFIED: _ClassVar[FanInPolicy]
    FAN_IN_POLICY_PARTIAL: _ClassVar[FanInPolicy]
    FAN_IN_POLICY_REQUIRE_ALL: _ClassVar[FanInPolicy]

class Enforcement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENFORCEMENT_UNSPECIFIED: _ClassVar[Enforcement]
    ENFORCEMENT_HALTED: _ClassVar[Enforcement]
    ENFORCEMENT_WARNED: _ClassVar[Enforcement]
    ENFORCEMENT_REPORTED: _ClassVar[Enforcement]

class RemediationKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REMEDIATION_KIND_UNSPECIFIED: _ClassVar[RemediationKind]
    REMEDIATION_KIND_RE_DISPATCH: _ClassVar[RemediationKind]
    REMEDIATION_KIND_ANTI_REPETITION: _ClassVar[RemediationKind]
    REMEDIATION_KIND_AUTO_CONTINUATION: _ClassVar[RemediationKind]
    REMEDIATION_KIND_PROMPT_AUGMENTATION: _ClassVar[RemediationKind]
    REMEDIATION_KIND_STITCH: _ClassVar[RemediationKind]
    REMEDIATION_KIND_STRATEGY_UPGRADE: _ClassVar[RemediationKind]
    REMEDIATION_KIND_CONTRADICTION_CORRECTION: _ClassVar[RemediationKind]

class RemediationMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REMEDIATION_MODE_UNSPECIFIED: _ClassVar[RemediationMode]
    REMEDIATION_MODE_OFF: _ClassVar[RemediationMode]
    REMEDIATION_MODE_POLICY: _ClassVar[RemediationMode]
    REMEDIATION_MODE_REQUIRED: _ClassVar[RemediationMode]
    REMEDIATION_MODE_RECOMMENDED: _ClassVar[RemediationMode]

class ModelCallPurpose(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MODEL_CALL_PURPOSE_UNSPECIFIED: _ClassVar[ModelCallPurpose]
    MODEL_CALL_PURPOSE_ANSWER: _ClassVar[ModelCallPurpose]
    MODEL_CALL_PURPOSE_RE_DISPATCH: _ClassVar[ModelCallPurpose]
    MODEL_CALL_PURPOSE_SUMMARY: _ClassVar[ModelCallPurpose]
    MODEL_CALL_PURPOSE_STITCH: _ClassVar[ModelCallPurpose]
    MODEL_CALL_PURPOSE_PLAN: _ClassVar[ModelCallPurpose]

class ToolOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_OUTCOME_UNSPECIFIED: _ClassVar[ToolOutcome]
    TOOL_OUTCOME_ANSWERED: _ClassVar[ToolOutcome]
    TOOL_OUTCOME_EMPTY: _ClassVar[ToolOutcome]
    TOOL_OUTCOME_FAILED: _ClassVar[ToolOutcome]
    TOOL_OUTCOME_TIMED_OUT: _ClassVar[ToolOutcome]
    TOOL_OUTCOME_TOO_LONG: _ClassVar[ToolOutcome]
    TOOL_OUTCOME_REFUSED: _ClassVar[ToolOutcome]
    TOOL_OUTCOME_REPEATED: _ClassVar[ToolOutcome]
    TOOL_OUTCOME_SPENT: _ClassVar[ToolOutcome]
OVERSIGHT_MODE_UNSPECIFIED: OversightMode
OVERSIGHT_MODE_AUTO: OversightMode
OVERSIGHT_MODE_HUMAN_REVIEW: OversightMode
OVERSIGHT_MODE_HALT: OversightMode
OVERSIGHT_MODE_LOG_ONLY: OversightMode
SAFETY_MODE_UNSPECIFIED: SafetyMode
SAFETY_MODE_STRICT: SafetyMode
SAFETY_MODE_WARN: SafetyMode
SAFETY_MODE_PERMISSIVE: SafetyMode
STREAM_SAFETY_MODE_UNSPECIFIED: StreamSafetyMode
STREAM_SAFETY_MODE_BUFFER: StreamSafetyMode
STREAM_SAFETY_MODE_PASS_THROUGH: StreamSafetyMode
FAN_IN_POLICY_UNSPECIFIED: FanInPolicy
FAN_IN_POLICY_PARTIAL: FanInPolicy
FAN_IN_POLICY_REQUIRE_ALL: FanInPolicy
ENFORCEMENT_UNSPECIFIED: Enforcement
ENFORCEMENT_HALTED: Enforcement
ENFORCEMENT_WARNED: Enforcement
ENFORCEMENT_REPORTED: Enforcement
REMEDIATION_KIND_UNSPECIFIED: RemediationKind
REMEDIATION_KIND_RE_DISPATCH: RemediationKind
REMEDIATION_KIND_ANTI_REPETITION: RemediationKind
REMEDIATION_KIND_AUTO_CONTINUATION: RemediationKind
REMEDIATION_KIND_PROMPT_AUGMENTATION: RemediationKind
REMEDIATION_KIND_STITCH: RemediationKind
REMEDIATION_KIND_STRATEGY_UPGRADE: RemediationKind
REMEDIATION_KIND_CONTRADICTION_CORRECTION: RemediationKind
REMEDIATION_MODE_UNSPECIFIED: RemediationMode
REMEDIATION_MODE_OFF: RemediationMode
REMEDIATION_MODE_POLICY: RemediationMode
REMEDIATION_MODE_REQUIRED: RemediationMode
REMEDIATION_MODE_RECOMMENDED: RemediationMode
MODEL_CALL_PURPOSE_UNSPECIFIED: ModelCallPurpose
MODEL_CALL_PURPOSE_ANSWER: ModelCallPurpose
MODEL_CALL_PURPOSE_RE_DISPATCH: ModelCallPurpose
MODEL_CALL_PURPOSE_SUMMARY: ModelCallPurpose
MODEL_CALL_PURPOSE_STITCH: ModelCallPurpose
MODEL_CALL_PURPOSE_PLAN: ModelCallPurpose
TOOL_OUTCOME_UNSPECIFIED: ToolOutcome
TOOL_OUTCOME_ANSWERED: ToolOutcome
TOOL_OUTCOME_EMPTY: ToolOutcome
TOOL_OUTCOME_FAILED: ToolOutcome
TOOL_OUTCOME_TIMED_OUT: ToolOutcome
TOOL_OUTCOME_TOO_LONG: ToolOutcome
TOOL_OUTCOME_REFUSED: ToolOutcome
TOOL_OUTCOME_REPEATED: ToolOutcome
TOOL_OUTCOME_SPENT: ToolOutcome

class CrpHeader(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class PolicyViolation(_message.Message):
    __slots__ = ("directive", "violation_type", "description", "enforcement", "signal_missing")
    DIRECTIVE_FIELD_NUMBER: _ClassVar[int]
    VIOLATION_TYPE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ENFORCEMENT_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_MISSING_FIELD_NUMBER: _ClassVar[int]
    directive: str
    violation_type: str
    description: str
    enforcement: Enforcement
    signal_missing: bool
    def __init__(self, directive: _Optional[str] = ..., violation_type: _Optional[str] = ..., description: _Optional[str] = ..., enforcement: _Optional[_Union[Enforcement, str]] = ..., signal_missing: _Optional[bool] = ...) -> None: ...

class Warning(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ("tool", "outcome", "window_id", "arguments_sha256", "result_sha256", "result_bytes", "fact_ids", "reason")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    RESULT_SHA256_FIELD_NUMBER: _ClassVar[int]
    RESULT_BYTES_FIELD_NUMBER: _ClassVar[int]
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    tool: str
    outcome: ToolOutcome
    window_id: str
    arguments_sha256: str
    result_sha256: str
    result_bytes: int
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    reason: str
    def __init__(self, tool: _Optional[str] = ..., outcome: _Optional[_Union[ToolOutcome, str]] = ..., window_id: _Optional[str] = ..., arguments_sha256: _Optional[str] = ..., result_sha256: _Optional[str] = ..., result_bytes: _Optional[int] = ..., fact_ids: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ...) -> None: ...

class ModelCall(_message.Message):
    __slots__ = ("purpose", "model_fingerprint", "prompt_tokens", "completion_tokens", "billed", "window_id")
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    BILLED_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    purpose: ModelCallPurpose
    model_fingerprint: str
    prompt_tokens: int
    completion_tokens: int
    billed: bool
    window_id: str
    def __init__(self, purpose: _Optional[_Union[ModelCallPurpose, str]] = ..., model_fingerprint: _Optional[str] = ..., prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ..., billed: _Optional[bool] = ..., window_id: _Optional[str] = ...) -> None: ...

class Remediation(_message.Message):
    __slots__ = ("kind", "reason", "attempt", "window_id", "kept", "stage_number")
    KIND_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    STAGE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    kind: RemediationKind
    reason: str
    attempt: int
    window_id: str
    kept: bool
    stage_number: int
    def __init__(self, kind: _Optional[_Union[RemediationKind, str]] = ..., reason: _Optional[str] = ..., attempt: _Optional[int] = ..., window_id: _Optional[str] = ..., kept: _Optional[bool] = ..., stage_number: _Optional[int] = ...) -> None: ...

class EnvelopeSummary(_message.Message):
    __slots__ = ("facts_available", "facts_included", "token_count", "token_budget", "saturation", "quality_tier", "etag", "communities", "memory_tier_hit", "cache_status", "fact_ids", "facts_deferred", "retrieval_mode", "facts_out_of_time", "source_conflicts")
    FACTS_AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    FACTS_INCLUDED_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    SATURATION_FIELD_NUMBER: _ClassVar[int]
    QUALITY_TIER_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    COMMUNITIES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_TIER_HIT_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATUS_FIELD_NUMBER: _ClassVar[int]
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    FACTS_DEFERRED_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_MODE_FIELD_NUMBER: _ClassVar[int]
    FACTS_OUT_OF_TIME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    facts_available: int
    facts_included: int
    token_count: int
    token_budget: int
    saturation: float
    quality_tier: _taxonomy_pb2.QualityTier
    etag: str
    communities: _containers.RepeatedScalarFieldContainer[str]
    memory_tier_hit: int
    cache_status: str
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    facts_deferred: int
    retrieval_mode: _knowledge_service_pb2.SearchMode
    facts_out_of_time: int
    source_conflicts: int
    def __init__(self, facts_available: _Optional[int] = ..., facts_included: _Optional[int] = ..., token_count: _Optional[int] = ..., token_budget: _Optional[int] = ..., saturation: _Optional[float] = ..., quality_tier: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., etag: _Optional[str] = ..., communities: _Optional[_Iterable[str]] = ..., memory_tier_hit: _Optional[int] = ..., cache_status: _Optional[str] = ..., fact_ids: _Optional[_Iterable[str]] = ..., facts_deferred: _Optional[int] = ..., retrieval_mode: _Optional[_Union[_knowledge_service_pb2.SearchMode, str]] = ..., facts_out_of_time: _Optional[int] = ..., source_conflicts: _Optional[int] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("text", "report", "window", "session_token", "continuation_id", "model_fingerprint", "envelope", "finish_reason", "session_id", "prompt_tokens", "completion_tokens", "strategy", "chain_integrity", "safety_budget", "parts")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    SESSION_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CONTINUATION_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    ENVELOPE_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    CHAIN_INTEGRITY_FIELD_NUMBER: _ClassVar[int]
    SAFETY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    text: str
    report: _report_pb2.DpeReport
    window: _dag_pb2.WindowNode
    session_token: str
    continuation_id: str
    model_fingerprint: str
    envelope: EnvelopeSummary
    finish_reason: str
    session_id: str
    prompt_tokens: int
    completion_tokens: int
    strategy: _taxonomy_pb2.DispatchStrategy
    chain_integrity: _taxonomy_pb2.ChainIntegrity
    safety_budget: float
    parts: _containers.RepeatedCompositeFieldContainer[AnswerPart]
    def __init__(self, text: _Optional[str] = ..., report: _Optional[_Union[_report_pb2.DpeReport, _Mapping]] = ..., window: _Optional[_Union[_dag_pb2.WindowNode, _Mapping]] = ..., session_token: _Optional[str] = ..., continuation_id: _Optional[str] = ..., model_fingerprint: _Optional[str] = ..., envelope: _Optional[_Union[EnvelopeSummary, _Mapping]] = ..., finish_reason: _Optional[str] = ..., session_id: _Optional[str] = ..., prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ..., strategy: _Optional[_Union[_taxonomy_pb2.DispatchStrategy, str]] = ..., chain_integrity: _Optional[_Union[_taxonomy_pb2.ChainIntegrity, str]] = ..., safety_budget: _Optional[float] = ..., parts: _Optional[_Iterable[_Union[AnswerPart, _Mapping]]] = ...) -> None: ...

class AnswerPart(_message.Message):
    __slots__ = ("window_id", "span", "report")
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    window_id: str
    span: _text_pb2.TextSpan
    report: _report_pb2.DpeReport
    def __init__(self, window_id: _Optional[str] = ..., span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., report: _Optional[_Union[_report_pb2.DpeReport, _Mapping]] = ...) -> None: ...

class Halted(_message.Message):
    __slots__ = ("halt_reason", "session_id", "window_id", "audit_trail_uri", "oversight_required", "retry_condition", "risk_level", "hallucination_score", "report_hash", "report_id", "report")
    HALT_REASON_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    AUDIT_TRAIL_URI_FIELD_NUMBER: _ClassVar[int]
    OVERSIGHT_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    RETRY_CONDITION_FIELD_NUMBER: _ClassVar[int]
    RISK_LEVEL_FIELD_NUMBER: _ClassVar[int]
    HALLUCINATION_SCORE_FIELD_NUMBER: _ClassVar[int]
    REPORT_HASH_FIELD_NUMBER: _ClassVar[int]
    REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    halt_reason: str
    session_id: str
    window_id: str
    audit_trail_uri: str
    oversight_required: bool
    retry_condition: str
    risk_level: _taxonomy_pb2.RiskLevel
    hallucination_score: float
    report_hash: str
    report_id: str
    report: _report_pb2.DpeReport
    def __init__(self, halt_reason: _Optional[str] = ..., session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., audit_trail_uri: _Optional[str] = ..., oversight_required: _Optional[bool] = ..., retry_condition: _Optional[str] = ..., risk_level: _Optional[_Union[_taxonomy_pb2.RiskLevel, str]] = ..., hallucination_score: _Optional[float] = ..., report_hash: _Optional[str] = ..., report_id: _Optional[str] = ..., report: _Optional[_Union[_report_pb2.DpeReport, _Mapping]] = ...) -> None: ...

class NotModified(_message.Message):
    __slots__ = ("etag", "cache_status")
    ETAG_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATUS_FIELD_NUMBER: _ClassVar[int]
    etag: str
    cache_status: str
    def __init__(self, etag: _Optional[str] = ..., cache_status: _Optional[str] = ...) -> None: ...

class HeldForReview(_message.Message):
    __slots__ = ("review_id", "session_id", "window_id", "reason")
    REVIEW_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    review_id: str
    session_id: str
    window_id: str
    reason: str
    def __init__(self, review_id: _Optional[str] = ..., session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...
