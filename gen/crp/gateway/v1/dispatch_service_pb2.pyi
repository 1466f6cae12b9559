from crp.ckf.v1 import knowledge_service_pb2 as _knowledge_service_pb2
from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from crp.dpe.v1 import report_pb2 as _report_pb2
from crp.gateway.v1 import dispatch_pb2 as _dispatch_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DispatchRequest(_message.Message):
    __slots__ = ("request_id", "query", "session_token", "continuation_ids", "strategies", "model", "grounding_mode", "max_tokens", "temperature", "seed", "safety_policy", "safety_policy_report_only", "safety_mode", "oversight_mode", "if_match", "cache_directives", "accept_quality", "accept_risk", "ai_system_id", "fan_in_policy", "safety_budget", "agent_session_parent", "loop_depth", "agent_dispatch_strategy", "safety_report_uri", "safety_nonce", "data_residency", "stream_safety_mode", "session_id", "system_prompt", "max_envelope_tokens", "remediation", "approximate_tokens", "context_window_tokens", "retrieval_mode", "active_fact_ids", "include_superseded", "report_view", "earlier_questions", "branch", "tools", "agent_sessions")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    SESSION_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CONTINUATION_IDS_FIELD_NUMBER: _ClassVar[int]
    STRATEGIES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    GROUNDING_MODE_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SAFETY_POLICY_FIELD_NUMBER: _ClassVar[int]
    SAFETY_POLICY_REPORT_ONLY_FIELD_NUMBER: _ClassVar[int]
    SAFETY_MODE_FIELD_NUMBER: _ClassVar[int]
    OVERSIGHT_MODE_FIELD_NUMBER: _ClassVar[int]
    IF_MATCH_FIELD_NUMBER: _ClassVar[int]
    CACHE_DIRECTIVES_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_QUALITY_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_RISK_FIELD_NUMBER: _ClassVar[int]
    AI_SYSTEM_ID_FIELD_NUMBER: _ClassVar[int]
    FAN_IN_POLICY_FIELD_NUMBER: _ClassVar[int]
    SAFETY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    AGENT_SESSION_PARENT_FIELD_NUMBER: _ClassVar[int]
    LOOP_DEPTH_FIELD_NUMBER: _ClassVar[int]
    AGENT_DISPATCH_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    SAFETY_REPORT_URI_FIELD_NUMBER: _ClassVar[int]
    SAFETY_NONCE_FIELD_NUMBER: _ClassVar[int]
    DATA_RESIDENCY_FIELD_NUMBER: _ClassVar[int]
    STREAM_SAFETY_MODE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    MAX_ENVELOPE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REMEDIATION_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_MODE_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    REPORT_VIEW_FIELD_NUMBER: _ClassVar[int]
    EARLIER_QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    AGENT_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    query: str
    session_token: str
    continuation_ids: _containers.RepeatedScalarFieldContainer[str]
    strategies: _containers.RepeatedScalarFieldContainer[_taxonomy_pb2.DispatchStrategy]
    model: str
    grounding_mode: _taxonomy_pb2.GroundingMode
    max_tokens: int
    temperature: float
    seed: int
    safety_policy: str
    safety_policy_report_only: str
    safety_mode: _dispatch_pb2.SafetyMode
    oversight_mode: _dispatch_pb2.OversightMode
    if_match: str
    cache_directives: _containers.RepeatedScalarFieldContainer[str]
    accept_quality: _containers.RepeatedScalarFieldContainer[_taxonomy_pb2.QualityTier]
    accept_risk: _taxonomy_pb2.RiskLevel
    ai_system_id: str
    fan_in_policy: _dispatch_pb2.FanInPolicy
    safety_budget: float
    agent_session_parent: str
    loop_depth: int
    agent_dispatch_strategy: _taxonomy_pb2.DispatchStrategy
    safety_report_uri: str
    safety_nonce: str
    data_residency: str
    stream_safety_mode: _dispatch_pb2.StreamSafetyMode
    session_id: str
    system_prompt: str
    max_envelope_tokens: int
    remediation: _dispatch_pb2.RemediationMode
    approximate_tokens: bool
    context_window_tokens: int
    retrieval_mode: _knowledge_service_pb2.SearchMode
    active_fact_ids: _containers.RepeatedScalarFieldContainer[str]
    include_superseded: bool
    report_view: _report_pb2.ReportView
    earlier_questions: _containers.RepeatedScalarFieldContainer[str]
    branch: bool
    tools: _containers.RepeatedScalarFieldContainer[str]
    agent_sessions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, request_id: _Optional[str] = ..., query: _Optional[str] = ..., session_token: _Optional[str] = ..., continuation_ids: _Optional[_Iterable[str]] = ..., strategies: _Optional[_Iterable[_Union[_taxonomy_pb2.DispatchStrategy, str]]] = ..., model: _Optional[str] = ..., grounding_mode: _Optional[_Union[_taxonomy_pb2.GroundingMode, str]] = ..., max_tokens: _Optional[int] = ..., temperature: _Optional[float] = ..., seed: _Optional[int] = ..., safety_policy: _Optional[str] = ..., safety_policy_report_only: _Optional[str] = ..., safety_mode: _Optional[_Union[_dispatch_pb2.SafetyMode, str]] = ..., oversight_mode: _Optional[_Union[_dispatch_pb2.OversightMode, str]] = ..., if_match: _Optional[str] = ..., cache_directives: _Optional[_Iterable[str]] = ..., accept_quality: _Optional[_Iterable[_Union[_taxonomy_pb2.QualityTier, str]]] = ..., accept_risk: _Optional[_Union[_taxonomy_pb2.RiskLevel, str]] = ..., ai_system_id: _Optional[str] = ..., fan_in_policy: _Optional[_Union[_dispatch_pb2.FanInPolicy, str]] = ..., safety_budget: _Optional[float] = ..., agent_session_parent: _Optional[str] = ..., loop_depth: _Optional[int] = ..., agent_dispatch_strategy: _Optional[_Union[_taxonomy_pb2.DispatchStrategy, str]] = ..., safety_report_uri: _Optional[str] = ..., safety_nonce: _Optional[str] = ..., data_residency: _Optional[str] = ..., stream_safety_mode: _Optional[_Union[_dispatch_pb2.StreamSafetyMode, str]] = ..., session_id: _Optional[str] = ..., system_prompt: _Optional[str] = ..., max_envelope_tokens: _Optional[int] = ..., remediation: _Optional[_Union[_dispatch_pb2.RemediationMode, str]] = ..., approximate_tokens: _Optional[bool] = ..., context_window_tokens: _Optional[int] = ..., retrieval_mode: _Optional[_Union[_knowledge_service_pb2.SearchMode, str]] = ..., active_fact_ids: _Optional[_Iterable[str]] = ..., include_superseded: _Optional[bool] = ..., report_view: _Optional[_Union[_report_pb2.ReportView, str]] = ..., earlier_questions: _Optional[_Iterable[str]] = ..., branch: _Optional[bool] = ..., tools: _Optional[_Iterable[str]] = ..., agent_sessions: _Optional[_Iterable[str]] = ...) -> None: ...

class DispatchResponse(_message.Message):
    __slots__ = ("answer", "halted", "not_modified", "held_for_review", "headers", "violations", "warnings", "remediations", "model_calls", "circuit_breaker", "tool_calls")
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    HALTED_FIELD_NUMBER: _ClassVar[int]
    NOT_MODIFIED_FIELD_NUMBER: _ClassVar[int]
    HELD_FOR_REVIEW_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    REMEDIATIONS_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALLS_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_BREAKER_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    answer: _dispatch_pb2.Answer
    halted: _dispatch_pb2.Halted
    not_modified: _dispatch_pb2.NotModified
    held_for_review: _dispatch_pb2.HeldForReview
    headers: _containers.RepeatedCompositeFieldContainer[_dispatch_pb2.CrpHeader]
    violations: _containers.RepeatedCompositeFieldContainer[_dispatch_pb2.PolicyViolation]
    warnings: _containers.RepeatedCompositeFieldContainer[_dispatch_pb2.Warning]
    remediations: _containers.RepeatedCompositeFieldContainer[_dispatch_pb2.Remediation]
    model_calls: _containers.RepeatedCompositeFieldContainer[_dispatch_pb2.ModelCall]
    circuit_breaker: _taxonomy_pb2.BreakerState
    tool_calls: _containers.RepeatedCompositeFieldContainer[_dispatch_pb2.ToolCall]
    def __init__(self, answer: _Optional[_Union[_dispatch_pb2.Answer, _Mapping]] = ..., halted: _Optional[_Union[_dispatch_pb2.Halted, _Mapping]] = ..., not_modified: _Optional[_Union[_dispatch_pb2.NotModified, _Mapping]] = ..., held_for_review: _Optional[_Union[_dispatch_pb2.HeldForReview, _Mapping]] = ..., headers: _Optional[_Iterable[_Union[_dispatch_pb2.CrpHeader, _Mapping]]] = ..., violations: _Optional[_Iterable[_Union[_dispatch_pb2.PolicyViolation, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[_dispatch_pb2.Warning, _Mapping]]] = ..., remediations: _Optional[_Iterable[_Union[_dispatch_pb2.Remediation, _Mapping]]] = ..., model_calls: _Optional[_Iterable[_Union[_dispatch_pb2.ModelCall, _Mapping]]] = ..., circuit_breaker: _Optional[_Union[_taxonomy_pb2.BreakerState, str]] = ..., tool_calls: _Optional[_Iterable[_Union[_dispatch_pb2.ToolCall, _Mapping]]] = ...) -> None: ...

class DispatchStreamRequest(_message.Message):
    __slots__ = ("dispatch",)
    DISPATCH_FIELD_NUMBER: _ClassVar[int]
    dispatch: DispatchRequest
    def __init__(self, dispatch: _Optional[_Union[DispatchRequest, _Mapping]] = ...) -> None: ...

class DispatchStreamResponse(_message.Message):
    __slots__ = ("token", "stage", "outcome")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    token: str
    stage: _report_pb2.StageOutcome
    outcome: DispatchResponse
    def __init__(self, token: _Optional[str] = ..., stage: _Optional[_Union[_report_pb2.StageOutcome, _Mapping]] = ..., outcome: _Optional[_Union[DispatchResponse, _Mapping]] = ...) -> None: ...

class DispatchBatchRequest(_message.Message):
    __slots__ = ("dispatches",)
    DISPATCHES_FIELD_NUMBER: _ClassVar[int]
    dispatches: _containers.RepeatedCompositeFieldContainer[DispatchRequest]
    def __init__(self, dispatches: _Optional[_Iterable[_Union[DispatchRequest, _Mapping]]] = ...) -> None: ...

class FailedField(_message.Message):
    __slots__ = ("field", "description")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    field: str
    description: str
    def __init__(self, field: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...

class DispatchFailure(_message.Message):
    __slots__ = ("reason", "message", "metadata", "fields", "retry_after_ms", "headers")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    reason: str
    message: str
    metadata: _containers.ScalarMap[str, str]
    fields: _containers.RepeatedCompositeFieldContainer[FailedField]
    retry_after_ms: int
    headers: _containers.RepeatedCompositeFieldContainer[_dispatch_pb2.CrpHeader]
    def __init__(self, reason: _Optional[str] = ..., message: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., fields: _Optional[_Iterable[_Union[FailedField, _Mapping]]] = ..., retry_after_ms: _Optional[int] = ..., headers: _Optional[_Iterable[_Union[_dispatch_pb2.CrpHeader, _Mapping]]] = ...) -> None: ...

class DispatchBatchItem(_message.Message):
    __slots__ = ("request_id", "response", "failure")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    response: DispatchResponse
    failure: DispatchFailure
    def __init__(self, request_id: _Optional[str] = ..., response: _Optional[_Union[DispatchResponse, _Mapping]] = ..., failure: _Optional[_Union[DispatchFailure, _Mapping]] = ...) -> None: ...

class DispatchBatchResponse(_message.Message):
    __slots__ = ("items", "headers")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[DispatchBatchItem]
    headers: _containers.RepeatedCompositeFieldContainer[_dispatch_pb2.CrpHeader]
    def __init__(self, items: _Optional[_Iterable[_Union[DispatchBatchItem, _Mapping]]] = ..., headers: _Optional[_Iterable[_Union[_dispatch_pb2.CrpHeader, _Mapping]]] = ...) -> None: ...

class FanOutRequest(_message.Message):
    __slots__ = ("dispatch", "queries")
    DISPATCH_FIELD_NUMBER: _ClassVar[int]
    QUERIES_FIELD_NUMBER: _ClassVar[int]
    dispatch: DispatchRequest
    queries: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, dispatch: _Optional[_Union[DispatchRequest, _Mapping]] = ..., queries: _Optional[_Iterable[str]] = ...) -> None: ...

class FanOutChild(_message.Message):
    __slots__ = ("index", "query", "response", "failure")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    index: int
    query: str
    response: DispatchResponse
    failure: DispatchFailure
    def __init__(self, index: _Optional[int] = ..., query: _Optional[str] = ..., response: _Optional[_Union[DispatchResponse, _Mapping]] = ..., failure: _Optional[_Union[DispatchFailure, _Mapping]] = ...) -> None: ...

class FanOutResponse(_message.Message):
    __slots__ = ("parent", "child", "fan_in")
    PARENT_FIELD_NUMBER: _ClassVar[int]
    CHILD_FIELD_NUMBER: _ClassVar[int]
    FAN_IN_FIELD_NUMBER: _ClassVar[int]
    parent: DispatchResponse
    child: FanOutChild
    fan_in: DispatchResponse
    def __init__(self, parent: _Optional[_Union[DispatchResponse, _Mapping]] = ..., child: _Optional[_Union[FanOutChild, _Mapping]] = ..., fan_in: _Optional[_Union[DispatchResponse, _Mapping]] = ...) -> None: ...
