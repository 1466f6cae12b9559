from crp.ckf.v1 import knowledge_service_pb2 as _knowledge_service_pb2
from crp.common.v1 import injection_pb2 as _injection_pb2
from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from crp.envelope.v1 import envelope_pb2 as _envelope_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CarriedFact(_message.Message):
    __slots__ = ("content", "importance_weight", "source_window_id", "transfer_type")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_TYPE_FIELD_NUMBER: _ClassVar[int]
    content: str
    importance_weight: float
    source_window_id: str
    transfer_type: str
    def __init__(self, content: _Optional[str] = ..., importance_weight: _Optional[float] = ..., source_window_id: _Optional[str] = ..., transfer_type: _Optional[str] = ...) -> None: ...

class ToolFact(_message.Message):
    __slots__ = ("content", "tool", "importance_weight")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    content: str
    tool: str
    importance_weight: float
    def __init__(self, content: _Optional[str] = ..., tool: _Optional[str] = ..., importance_weight: _Optional[float] = ...) -> None: ...

class BuildEnvelopeRequest(_message.Message):
    __slots__ = ("session_id", "window_id", "window_number", "query", "model", "grounding_mode", "strategy", "system_prompt", "expected_response_tokens", "max_envelope_tokens", "facts_seen", "deferred_fact_ids", "carried_facts", "if_match_etag", "cache_directives", "accept_quality", "include_embeddings", "transferred_fact_ids", "retrieval_mode", "approximate_tokens", "context_window_tokens", "upgrade_on_risk", "compare_only", "active_fact_ids", "max_memory_tier", "include_superseded", "tool_facts")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_NUMBER_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    GROUNDING_MODE_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_RESPONSE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_ENVELOPE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    FACTS_SEEN_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    CARRIED_FACTS_FIELD_NUMBER: _ClassVar[int]
    IF_MATCH_ETAG_FIELD_NUMBER: _ClassVar[int]
    CACHE_DIRECTIVES_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_QUALITY_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_EMBEDDINGS_FIELD_NUMBER: _ClassVar[int]
    TRANSFERRED_FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_MODE_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    UPGRADE_ON_RISK_FIELD_NUMBER: _ClassVar[int]
    COMPARE_ONLY_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    MAX_MEMORY_TIER_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    TOOL_FACTS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    window_id: str
    window_number: int
    query: str
    model: str
    grounding_mode: _taxonomy_pb2.GroundingMode
    strategy: _taxonomy_pb2.DispatchStrategy
    system_prompt: str
    expected_response_tokens: int
    max_envelope_tokens: int
    facts_seen: _containers.RepeatedScalarFieldContainer[str]
    deferred_fact_ids: _containers.RepeatedScalarFieldContainer[str]
    carried_facts: _containers.RepeatedCompositeFieldContainer[CarriedFact]
    if_match_etag: str
    cache_directives: _containers.RepeatedScalarFieldContainer[str]
    accept_quality: _containers.RepeatedScalarFieldContainer[_taxonomy_pb2.QualityTier]
    include_embeddings: bool
    transferred_fact_ids: _containers.RepeatedScalarFieldContainer[str]
    retrieval_mode: _knowledge_service_pb2.SearchMode
    approximate_tokens: bool
    context_window_tokens: int
    upgrade_on_risk: bool
    compare_only: bool
    active_fact_ids: _containers.RepeatedScalarFieldContainer[str]
    max_memory_tier: int
    include_superseded: bool
    tool_facts: _containers.RepeatedCompositeFieldContainer[ToolFact]
    def __init__(self, session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., window_number: _Optional[int] = ..., query: _Optional[str] = ..., model: _Optional[str] = ..., grounding_mode: _Optional[_Union[_taxonomy_pb2.GroundingMode, str]] = ..., strategy: _Optional[_Union[_taxonomy_pb2.DispatchStrategy, str]] = ..., system_prompt: _Optional[str] = ..., expected_response_tokens: _Optional[int] = ..., max_envelope_tokens: _Optional[int] = ..., facts_seen: _Optional[_Iterable[str]] = ..., deferred_fact_ids: _Optional[_Iterable[str]] = ..., carried_facts: _Optional[_Iterable[_Union[CarriedFact, _Mapping]]] = ..., if_match_etag: _Optional[str] = ..., cache_directives: _Optional[_Iterable[str]] = ..., accept_quality: _Optional[_Iterable[_Union[_taxonomy_pb2.QualityTier, str]]] = ..., include_embeddings: _Optional[bool] = ..., transferred_fact_ids: _Optional[_Iterable[str]] = ..., retrieval_mode: _Optional[_Union[_knowledge_service_pb2.SearchMode, str]] = ..., approximate_tokens: _Optional[bool] = ..., context_window_tokens: _Optional[int] = ..., upgrade_on_risk: _Optional[bool] = ..., compare_only: _Optional[bool] = ..., active_fact_ids: _Optional[_Iterable[str]] = ..., max_memory_tier: _Optional[int] = ..., include_superseded: _Optional[bool] = ..., tool_facts: _Optional[_Iterable[_Union[ToolFact, _Mapping]]] = ...) -> None: ...

class BuildEnvelopeResponse(_message.Message):
    __slots__ = ("envelope", "deferred_facts", "system_prompt", "not_modified", "sub_queries", "cache_status", "warnings", "continuation_recommended", "reuse_ckf_recommended", "quality", "recommended_strategy", "suspected_facts")
    ENVELOPE_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_FACTS_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    NOT_MODIFIED_FIELD_NUMBER: _ClassVar[int]
    SUB_QUERIES_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATUS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    CONTINUATION_RECOMMENDED_FIELD_NUMBER: _ClassVar[int]
    REUSE_CKF_RECOMMENDED_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    RECOMMENDED_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    SUSPECTED_FACTS_FIELD_NUMBER: _ClassVar[int]
    envelope: _envelope_pb2.ContextEnvelope
    deferred_facts: _containers.RepeatedCompositeFieldContainer[_envelope_pb2.DeferredFact]
    system_prompt: str
    not_modified: bool
    sub_queries: _containers.RepeatedScalarFieldContainer[str]
    cache_status: str
    warnings: _containers.RepeatedScalarFieldContainer[str]
    continuation_recommended: bool
    reuse_ckf_recommended: bool
    quality: _envelope_pb2.QualityAssessment
    recommended_strategy: _taxonomy_pb2.DispatchStrategy
    suspected_facts: _containers.RepeatedCompositeFieldContainer[SuspectedFact]
    def __init__(self, envelope: _Optional[_Union[_envelope_pb2.ContextEnvelope, _Mapping]] = ..., deferred_facts: _Optional[_Iterable[_Union[_envelope_pb2.DeferredFact, _Mapping]]] = ..., system_prompt: _Optional[str] = ..., not_modified: _Optional[bool] = ..., sub_queries: _Optional[_Iterable[str]] = ..., cache_status: _Optional[str] = ..., warnings: _Optional[_Iterable[str]] = ..., continuation_recommended: _Optional[bool] = ..., reuse_ckf_recommended: _Optional[bool] = ..., quality: _Optional[_Union[_envelope_pb2.QualityAssessment, _Mapping]] = ..., recommended_strategy: _Optional[_Union[_taxonomy_pb2.DispatchStrategy, str]] = ..., suspected_facts: _Optional[_Iterable[_Union[SuspectedFact, _Mapping]]] = ...) -> None: ...

class SuspectedFact(_message.Message):
    __slots__ = ("fact_id", "carried_from_window_id", "finding")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    CARRIED_FROM_WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    FINDING_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    carried_from_window_id: str
    finding: _injection_pb2.InjectionFinding
    def __init__(self, fact_id: _Optional[str] = ..., carried_from_window_id: _Optional[str] = ..., finding: _Optional[_Union[_injection_pb2.InjectionFinding, _Mapping]] = ...) -> None: ...

class PreviewEnvelopeRequest(_message.Message):
    __slots__ = ("query", "model", "grounding_mode", "strategy", "system_prompt", "expected_response_tokens", "max_envelope_tokens", "retrieval_mode", "approximate_tokens", "context_window_tokens", "include_superseded")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    GROUNDING_MODE_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_RESPONSE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_ENVELOPE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_MODE_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    query: str
    model: str
    grounding_mode: _taxonomy_pb2.GroundingMode
    strategy: _taxonomy_pb2.DispatchStrategy
    system_prompt: str
    expected_response_tokens: int
    max_envelope_tokens: int
    retrieval_mode: _knowledge_service_pb2.SearchMode
    approximate_tokens: bool
    context_window_tokens: int
    include_superseded: bool
    def __init__(self, query: _Optional[str] = ..., model: _Optional[str] = ..., grounding_mode: _Optional[_Union[_taxonomy_pb2.GroundingMode, str]] = ..., strategy: _Optional[_Union[_taxonomy_pb2.DispatchStrategy, str]] = ..., system_prompt: _Optional[str] = ..., expected_response_tokens: _Optional[int] = ..., max_envelope_tokens: _Optional[int] = ..., retrieval_mode: _Optional[_Union[_knowledge_service_pb2.SearchMode, str]] = ..., approximate_tokens: _Optional[bool] = ..., context_window_tokens: _Optional[int] = ..., include_superseded: _Optional[bool] = ...) -> None: ...

class PreviewEnvelopeResponse(_message.Message):
    __slots__ = ("preview", "quality", "warnings", "token_counting")
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNTING_FIELD_NUMBER: _ClassVar[int]
    preview: _envelope_pb2.EnvelopePreview
    quality: _envelope_pb2.QualityAssessment
    warnings: _containers.RepeatedScalarFieldContainer[str]
    token_counting: _envelope_pb2.TokenCounting
    def __init__(self, preview: _Optional[_Union[_envelope_pb2.EnvelopePreview, _Mapping]] = ..., quality: _Optional[_Union[_envelope_pb2.QualityAssessment, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ..., token_counting: _Optional[_Union[_envelope_pb2.TokenCounting, _Mapping]] = ...) -> None: ...

class CountTokensRequest(_message.Message):
    __slots__ = ("model", "texts", "approximate_tokens", "context_window_tokens")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    model: str
    texts: _containers.RepeatedScalarFieldContainer[str]
    approximate_tokens: bool
    context_window_tokens: int
    def __init__(self, model: _Optional[str] = ..., texts: _Optional[_Iterable[str]] = ..., approximate_tokens: _Optional[bool] = ..., context_window_tokens: _Optional[int] = ...) -> None: ...

class CountTokensResponse(_message.Message):
    __slots__ = ("counts", "tokenizer", "approximate", "context_window_tokens", "safety_margin_ratio")
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SAFETY_MARGIN_RATIO_FIELD_NUMBER: _ClassVar[int]
    counts: _containers.RepeatedScalarFieldContainer[int]
    tokenizer: str
    approximate: bool
    context_window_tokens: int
    safety_margin_ratio: float
    def __init__(self, counts: _Optional[_Iterable[int]] = ..., tokenizer: _Optional[str] = ..., approximate: _Optional[bool] = ..., context_window_tokens: _Optional[int] = ..., safety_margin_ratio: _Optional[float] = ...) -> None: ...
