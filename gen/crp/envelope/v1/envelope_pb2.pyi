import datetime

from crp.ckf.v1 import ckf_pb2 as _ckf_pb2
from crp.ckf.v1 import knowledge_service_pb2 as _knowledge_service_pb2
from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from crp.common.v1 import text_pb2 as _text_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TierRule(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIER_RULE_UNSPECIFIED: _ClassVar[TierRule]
    TIER_RULE_CRITICAL_FACT_EXCLUDED: _ClassVar[TierRule]
    TIER_RULE_COVERAGE_LOW: _ClassVar[TierRule]
    TIER_RULE_PRIMARY_COMMUNITY_ABSENT: _ClassVar[TierRule]
    TIER_RULE_FRESHNESS_FAILED: _ClassVar[TierRule]
    TIER_RULE_SATURATION_LOW: _ClassVar[TierRule]
    TIER_RULE_STRICT_SATURATION_LOW: _ClassVar[TierRule]

class SaturationBand(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SATURATION_BAND_UNSPECIFIED: _ClassVar[SaturationBand]
    SATURATION_BAND_FULLY_SATURATED: _ClassVar[SaturationBand]
    SATURATION_BAND_NEAR_SATURATED: _ClassVar[SaturationBand]
    SATURATION_BAND_WELL_PACKED: _ClassVar[SaturationBand]
    SATURATION_BAND_MODERATE: _ClassVar[SaturationBand]
    SATURATION_BAND_SPARSE: _ClassVar[SaturationBand]

class QualitySignal(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUALITY_SIGNAL_UNSPECIFIED: _ClassVar[QualitySignal]
    QUALITY_SIGNAL_QUALITY_SCORE: _ClassVar[QualitySignal]
    QUALITY_SIGNAL_SATURATION: _ClassVar[QualitySignal]
    QUALITY_SIGNAL_COVERAGE_SCORE: _ClassVar[QualitySignal]
    QUALITY_SIGNAL_RELEVANCE_MEAN: _ClassVar[QualitySignal]
TIER_RULE_UNSPECIFIED: TierRule
TIER_RULE_CRITICAL_FACT_EXCLUDED: TierRule
TIER_RULE_COVERAGE_LOW: TierRule
TIER_RULE_PRIMARY_COMMUNITY_ABSENT: TierRule
TIER_RULE_FRESHNESS_FAILED: TierRule
TIER_RULE_SATURATION_LOW: TierRule
TIER_RULE_STRICT_SATURATION_LOW: TierRule
SATURATION_BAND_UNSPECIFIED: SaturationBand
SATURATION_BAND_FULLY_SATURATED: SaturationBand
SATURATION_BAND_NEAR_SATURATED: SaturationBand
SATURATION_BAND_WELL_PACKED: SaturationBand
SATURATION_BAND_MODERATE: SaturationBand
SATURATION_BAND_SPARSE: SaturationBand
QUALITY_SIGNAL_UNSPECIFIED: QualitySignal
QUALITY_SIGNAL_QUALITY_SCORE: QualitySignal
QUALITY_SIGNAL_SATURATION: QualitySignal
QUALITY_SIGNAL_COVERAGE_SCORE: QualitySignal
QUALITY_SIGNAL_RELEVANCE_MEAN: QualitySignal

class ContextEnvelope(_message.Message):
    __slots__ = ("session_id", "window_number", "facts", "total_facts_available", "total_facts_included", "token_count", "token_budget", "saturation", "quality_tier", "etag", "strategy", "grounding_mode", "created_at", "ckf_communities", "memory_tier_hit", "window_id", "model", "ckf_hits", "knowledge_age", "ckf_state_hash", "embedding_model", "retrieval_mode", "token_counting", "shared_namespaces", "conflicts")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_NUMBER_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FACTS_AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FACTS_INCLUDED_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    SATURATION_FIELD_NUMBER: _ClassVar[int]
    QUALITY_TIER_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    GROUNDING_MODE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CKF_COMMUNITIES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_TIER_HIT_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CKF_HITS_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_AGE_FIELD_NUMBER: _ClassVar[int]
    CKF_STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_MODE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNTING_FIELD_NUMBER: _ClassVar[int]
    SHARED_NAMESPACES_FIELD_NUMBER: _ClassVar[int]
    CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    window_number: int
    facts: _containers.RepeatedCompositeFieldContainer[EnvelopeFact]
    total_facts_available: int
    total_facts_included: int
    token_count: int
    token_budget: int
    saturation: float
    quality_tier: _taxonomy_pb2.QualityTier
    etag: str
    strategy: _taxonomy_pb2.DispatchStrategy
    grounding_mode: _taxonomy_pb2.GroundingMode
    created_at: _timestamp_pb2.Timestamp
    ckf_communities: _containers.RepeatedScalarFieldContainer[str]
    memory_tier_hit: int
    window_id: str
    model: str
    ckf_hits: int
    knowledge_age: _duration_pb2.Duration
    ckf_state_hash: str
    embedding_model: str
    retrieval_mode: _knowledge_service_pb2.SearchMode
    token_counting: TokenCounting
    shared_namespaces: _containers.RepeatedScalarFieldContainer[str]
    conflicts: _containers.RepeatedCompositeFieldContainer[SourceConflict]
    def __init__(self, session_id: _Optional[str] = ..., window_number: _Optional[int] = ..., facts: _Optional[_Iterable[_Union[EnvelopeFact, _Mapping]]] = ..., total_facts_available: _Optional[int] = ..., total_facts_included: _Optional[int] = ..., token_count: _Optional[int] = ..., token_budget: _Optional[int] = ..., saturation: _Optional[float] = ..., quality_tier: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., etag: _Optional[str] = ..., strategy: _Optional[_Union[_taxonomy_pb2.DispatchStrategy, str]] = ..., grounding_mode: _Optional[_Union[_taxonomy_pb2.GroundingMode, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ckf_communities: _Optional[_Iterable[str]] = ..., memory_tier_hit: _Optional[int] = ..., window_id: _Optional[str] = ..., model: _Optional[str] = ..., ckf_hits: _Optional[int] = ..., knowledge_age: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., ckf_state_hash: _Optional[str] = ..., embedding_model: _Optional[str] = ..., retrieval_mode: _Optional[_Union[_knowledge_service_pb2.SearchMode, str]] = ..., token_counting: _Optional[_Union[TokenCounting, _Mapping]] = ..., shared_namespaces: _Optional[_Iterable[str]] = ..., conflicts: _Optional[_Iterable[_Union[SourceConflict, _Mapping]]] = ...) -> None: ...

class SourceConflict(_message.Message):
    __slots__ = ("subject", "values")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    subject: str
    values: _containers.RepeatedCompositeFieldContainer[ConflictingValue]
    def __init__(self, subject: _Optional[str] = ..., values: _Optional[_Iterable[_Union[ConflictingValue, _Mapping]]] = ...) -> None: ...

class ConflictingValue(_message.Message):
    __slots__ = ("fact_id", "text", "span")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    text: str
    span: _text_pb2.TextSpan
    def __init__(self, fact_id: _Optional[str] = ..., text: _Optional[str] = ..., span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ...) -> None: ...

class TokenCounting(_message.Message):
    __slots__ = ("tokenizer", "approximate", "safety_margin_ratio", "context_window_tokens")
    TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_FIELD_NUMBER: _ClassVar[int]
    SAFETY_MARGIN_RATIO_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    tokenizer: str
    approximate: bool
    safety_margin_ratio: float
    context_window_tokens: int
    def __init__(self, tokenizer: _Optional[str] = ..., approximate: _Optional[bool] = ..., safety_margin_ratio: _Optional[float] = ..., context_window_tokens: _Optional[int] = ...) -> None: ...

class EnvelopeFact(_message.Message):
    __slots__ = ("fact_id", "content", "source_id", "relevance_score", "importance_weight", "composite_score", "token_count", "position", "community", "ingested_at", "entities", "embedding", "source_location", "content_hash", "status", "carried_from_window_id", "freshness_score", "diversity_bonus", "memory_tier", "transfer_type", "namespace", "source", "stale_reason", "ended_at", "valid_from", "valid_to")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_SCORE_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    COMPOSITE_SCORE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    COMMUNITY_FIELD_NUMBER: _ClassVar[int]
    INGESTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LOCATION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CARRIED_FROM_WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    FRESHNESS_SCORE_FIELD_NUMBER: _ClassVar[int]
    DIVERSITY_BONUS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_TIER_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_TYPE_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STALE_REASON_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    content: str
    source_id: str
    relevance_score: float
    importance_weight: float
    composite_score: float
    token_count: int
    position: int
    community: str
    ingested_at: _timestamp_pb2.Timestamp
    entities: _containers.RepeatedCompositeFieldContainer[_text_pb2.Entity]
    embedding: bytes
    source_location: str
    content_hash: str
    status: _ckf_pb2.FactStatus
    carried_from_window_id: str
    freshness_score: float
    diversity_bonus: float
    memory_tier: int
    transfer_type: str
    namespace: str
    source: _text_pb2.FactSource
    stale_reason: _ckf_pb2.StaleReason
    ended_at: _timestamp_pb2.Timestamp
    valid_from: _timestamp_pb2.Timestamp
    valid_to: _timestamp_pb2.Timestamp
    def __init__(self, fact_id: _Optional[str] = ..., content: _Optional[str] = ..., source_id: _Optional[str] = ..., relevance_score: _Optional[float] = ..., importance_weight: _Optional[float] = ..., composite_score: _Optional[float] = ..., token_count: _Optional[int] = ..., position: _Optional[int] = ..., community: _Optional[str] = ..., ingested_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., entities: _Optional[_Iterable[_Union[_text_pb2.Entity, _Mapping]]] = ..., embedding: _Optional[bytes] = ..., source_location: _Optional[str] = ..., content_hash: _Optional[str] = ..., status: _Optional[_Union[_ckf_pb2.FactStatus, str]] = ..., carried_from_window_id: _Optional[str] = ..., freshness_score: _Optional[float] = ..., diversity_bonus: _Optional[float] = ..., memory_tier: _Optional[int] = ..., transfer_type: _Optional[str] = ..., namespace: _Optional[str] = ..., source: _Optional[_Union[_text_pb2.FactSource, _Mapping]] = ..., stale_reason: _Optional[_Union[_ckf_pb2.StaleReason, str]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class DeferredFact(_message.Message):
    __slots__ = ("fact_id", "token_count", "composite_score")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    COMPOSITE_SCORE_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    token_count: int
    composite_score: float
    def __init__(self, fact_id: _Optional[str] = ..., token_count: _Optional[int] = ..., composite_score: _Optional[float] = ...) -> None: ...

class QualityShortfall(_message.Message):
    __slots__ = ("signal", "value", "required", "shortfall")
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    SHORTFALL_FIELD_NUMBER: _ClassVar[int]
    signal: QualitySignal
    value: float
    required: float
    shortfall: float
    def __init__(self, signal: _Optional[_Union[QualitySignal, str]] = ..., value: _Optional[float] = ..., required: _Optional[float] = ..., shortfall: _Optional[float] = ...) -> None: ...

class QualityGap(_message.Message):
    __slots__ = ("reached", "required", "shortfalls", "capping_rules")
    REACHED_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    SHORTFALLS_FIELD_NUMBER: _ClassVar[int]
    CAPPING_RULES_FIELD_NUMBER: _ClassVar[int]
    reached: _taxonomy_pb2.QualityTier
    required: _taxonomy_pb2.QualityTier
    shortfalls: _containers.RepeatedCompositeFieldContainer[QualityShortfall]
    capping_rules: _containers.RepeatedScalarFieldContainer[TierRule]
    def __init__(self, reached: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., required: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., shortfalls: _Optional[_Iterable[_Union[QualityShortfall, _Mapping]]] = ..., capping_rules: _Optional[_Iterable[_Union[TierRule, str]]] = ...) -> None: ...

class QualityAssessment(_message.Message):
    __slots__ = ("coverage_score", "saturation", "relevance_mean", "quality_score", "score_tier", "saturation_tier", "rules", "quality_tier", "accepted", "saturation_band", "gap")
    COVERAGE_SCORE_FIELD_NUMBER: _ClassVar[int]
    SATURATION_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_MEAN_FIELD_NUMBER: _ClassVar[int]
    QUALITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORE_TIER_FIELD_NUMBER: _ClassVar[int]
    SATURATION_TIER_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    QUALITY_TIER_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    SATURATION_BAND_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    coverage_score: float
    saturation: float
    relevance_mean: float
    quality_score: float
    score_tier: _taxonomy_pb2.QualityTier
    saturation_tier: _taxonomy_pb2.QualityTier
    rules: _containers.RepeatedScalarFieldContainer[TierRule]
    quality_tier: _taxonomy_pb2.QualityTier
    accepted: bool
    saturation_band: SaturationBand
    gap: QualityGap
    def __init__(self, coverage_score: _Optional[float] = ..., saturation: _Optional[float] = ..., relevance_mean: _Optional[float] = ..., quality_score: _Optional[float] = ..., score_tier: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., saturation_tier: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., rules: _Optional[_Iterable[_Union[TierRule, str]]] = ..., quality_tier: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., accepted: _Optional[bool] = ..., saturation_band: _Optional[_Union[SaturationBand, str]] = ..., gap: _Optional[_Union[QualityGap, _Mapping]] = ...) -> None: ...

class EnvelopePreview(_message.Message):
    __slots__ = ("facts_available", "facts_included", "estimated_tokens", "quality_tier", "saturation", "etag", "communities", "memory_tier_hit", "token_budget")
    FACTS_AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    FACTS_INCLUDED_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    QUALITY_TIER_FIELD_NUMBER: _ClassVar[int]
    SATURATION_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    COMMUNITIES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_TIER_HIT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    facts_available: int
    facts_included: int
    estimated_tokens: int
    quality_tier: _taxonomy_pb2.QualityTier
    saturation: float
    etag: str
    communities: _containers.RepeatedScalarFieldContainer[str]
    memory_tier_hit: int
    token_budget: int
    def __init__(self, facts_available: _Optional[int] = ..., facts_included: _Optional[int] = ..., estimated_tokens: _Optional[int] = ..., quality_tier: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., saturation: _Optional[float] = ..., etag: _Optional[str] = ..., communities: _Optional[_Iterable[str]] = ..., memory_tier_hit: _Optional[int] = ..., token_budget: _Optional[int] = ...) -> None: ...
