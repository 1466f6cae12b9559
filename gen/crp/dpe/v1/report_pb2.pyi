import datetime

from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from crp.common.v1 import text_pb2 as _text_pb2
from crp.dpe.v1 import claim_pb2 as _claim_pb2
from crp.dpe.v1 import constraint_pb2 as _constraint_pb2
from crp.dpe.v1 import finding_pb2 as _finding_pb2
from crp.dpe.v1 import opinion_pb2 as _opinion_pb2
from crp.dpe.v1 import quality_pb2 as _quality_pb2
from crp.dpe.v1 import regulatory_pb2 as _regulatory_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RepetitionLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REPETITION_LEVEL_UNSPECIFIED: _ClassVar[RepetitionLevel]
    REPETITION_LEVEL_NONE: _ClassVar[RepetitionLevel]
    REPETITION_LEVEL_MINOR: _ClassVar[RepetitionLevel]
    REPETITION_LEVEL_SIGNIFICANT: _ClassVar[RepetitionLevel]
    REPETITION_LEVEL_SEVERE: _ClassVar[RepetitionLevel]

class CompletenessLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMPLETENESS_LEVEL_UNSPECIFIED: _ClassVar[CompletenessLevel]
    COMPLETENESS_LEVEL_COMPLETE: _ClassVar[CompletenessLevel]
    COMPLETENESS_LEVEL_MOSTLY_COMPLETE: _ClassVar[CompletenessLevel]
    COMPLETENESS_LEVEL_PARTIAL: _ClassVar[CompletenessLevel]
    COMPLETENESS_LEVEL_INCOMPLETE: _ClassVar[CompletenessLevel]

class EuAiActClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EU_AI_ACT_CLASS_UNSPECIFIED: _ClassVar[EuAiActClass]
    EU_AI_ACT_CLASS_UNKNOWN: _ClassVar[EuAiActClass]
    EU_AI_ACT_CLASS_MINIMAL: _ClassVar[EuAiActClass]
    EU_AI_ACT_CLASS_LIMITED: _ClassVar[EuAiActClass]
    EU_AI_ACT_CLASS_HIGH: _ClassVar[EuAiActClass]
    EU_AI_ACT_CLASS_UNACCEPTABLE: _ClassVar[EuAiActClass]

class NistTier(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NIST_TIER_UNSPECIFIED: _ClassVar[NistTier]
    NIST_TIER_1: _ClassVar[NistTier]
    NIST_TIER_2: _ClassVar[NistTier]
    NIST_TIER_3: _ClassVar[NistTier]
    NIST_TIER_4: _ClassVar[NistTier]

class RiskSignalKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RISK_SIGNAL_KIND_UNSPECIFIED: _ClassVar[RiskSignalKind]
    RISK_SIGNAL_KIND_ATTRIBUTION: _ClassVar[RiskSignalKind]
    RISK_SIGNAL_KIND_FIDELITY: _ClassVar[RiskSignalKind]
    RISK_SIGNAL_KIND_ENTAILMENT: _ClassVar[RiskSignalKind]
    RISK_SIGNAL_KIND_SPECIFICITY: _ClassVar[RiskSignalKind]

class RiskFloorReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RISK_FLOOR_REASON_UNSPECIFIED: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_SEVERAL_CONTRADICTED_BY_RULE: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_CONTRADICTED_BY_RULE: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_CONTRADICTED_BY_MODEL: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_FABRICATED: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_UNDECIDED: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_UNSUPPORTED: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_SUPERSEDED_FACT: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_BESIDE_QUESTION: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_NOT_COMPUTED: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_LEFT_OUT: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_INCOMPLETE_UNDER_POLICY: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_EXPIRED_FACT: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_MISRECKONED: _ClassVar[RiskFloorReason]
    RISK_FLOOR_REASON_ANSWER_REVERSED: _ClassVar[RiskFloorReason]

class BuildTrust(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BUILD_TRUST_UNSPECIFIED: _ClassVar[BuildTrust]
    BUILD_TRUST_SIGNED: _ClassVar[BuildTrust]
    BUILD_TRUST_UNVERIFIED: _ClassVar[BuildTrust]
    BUILD_TRUST_UNSIGNED: _ClassVar[BuildTrust]

class ReportView(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REPORT_VIEW_UNSPECIFIED: _ClassVar[ReportView]
    REPORT_VIEW_FULL: _ClassVar[ReportView]
    REPORT_VIEW_SUMMARY: _ClassVar[ReportView]
    REPORT_VIEW_NONE: _ClassVar[ReportView]
REPETITION_LEVEL_UNSPECIFIED: RepetitionLevel
REPETITION_LEVEL_NONE: RepetitionLevel
REPETITION_LEVEL_MINOR: RepetitionLevel
REPETITION_LEVEL_SIGNIFICANT: RepetitionLevel
REPETITION_LEVEL_SEVERE: RepetitionLevel
COMPLETENESS_LEVEL_UNSPECIFIED: CompletenessLevel
COMPLETENESS_LEVEL_COMPLETE: CompletenessLevel
COMPLETENESS_LEVEL_MOSTLY_COMPLETE: CompletenessLevel
COMPLETENESS_LEVEL_PARTIAL: CompletenessLevel
COMPLETENESS_LEVEL_INCOMPLETE: CompletenessLevel
EU_AI_ACT_CLASS_UNSPECIFIED: EuAiActClass
EU_AI_ACT_CLASS_UNKNOWN: EuAiActClass
EU_AI_ACT_CLASS_MINIMAL: EuAiActClass
EU_AI_ACT_CLASS_LIMITED: EuAiActClass
EU_AI_ACT_CLASS_HIGH: EuAiActClass
EU_AI_ACT_CLASS_UNACCEPTABLE: EuAiActClass
NIST_TIER_UNSPECIFIED: NistTier
NIST_TIER_1: NistTier
NIST_TIER_2: NistTier
NIST_TIER_3: NistTier
NIST_TIER_4: NistTier
RISK_SIGNAL_KIND_UNSPECIFIED: RiskSignalKind
RISK_SIGNAL_KIND_ATTRIBUTION: RiskSignalKind
RISK_SIGNAL_KIND_FIDELITY: RiskSignalKind
RISK_SIGNAL_KIND_ENTAILMENT: RiskSignalKind
RISK_SIGNAL_KIND_SPECIFICITY: RiskSignalKind
RISK_FLOOR_REASON_UNSPECIFIED: RiskFloorReason
RISK_FLOOR_REASON_SEVERAL_CONTRADICTED_BY_RULE: RiskFloorReason
RISK_FLOOR_REASON_CONTRADICTED_BY_RULE: RiskFloorReason
RISK_FLOOR_REASON_CONTRADICTED_BY_MODEL: RiskFloorReason
RISK_FLOOR_REASON_FABRICATED: RiskFloorReason
RISK_FLOOR_REASON_UNDECIDED: RiskFloorReason
RISK_FLOOR_REASON_UNSUPPORTED: RiskFloorReason
RISK_FLOOR_REASON_SUPERSEDED_FACT: RiskFloorReason
RISK_FLOOR_REASON_BESIDE_QUESTION: RiskFloorReason
RISK_FLOOR_REASON_NOT_COMPUTED: RiskFloorReason
RISK_FLOOR_REASON_LEFT_OUT: RiskFloorReason
RISK_FLOOR_REASON_INCOMPLETE_UNDER_POLICY: RiskFloorReason
RISK_FLOOR_REASON_EXPIRED_FACT: RiskFloorReason
RISK_FLOOR_REASON_MISRECKONED: RiskFloorReason
RISK_FLOOR_REASON_ANSWER_REVERSED: RiskFloorReason
BUILD_TRUST_UNSPECIFIED: BuildTrust
BUILD_TRUST_SIGNED: BuildTrust
BUILD_TRUST_UNVERIFIED: BuildTrust
BUILD_TRUST_UNSIGNED: BuildTrust
REPORT_VIEW_UNSPECIFIED: ReportView
REPORT_VIEW_FULL: ReportView
REPORT_VIEW_SUMMARY: ReportView
REPORT_VIEW_NONE: ReportView

class StageOutcome(_message.Message):
    __slots__ = ("number", "sub_stage", "name", "status", "reason", "detail", "section")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SUB_STAGE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    number: int
    sub_stage: str
    name: str
    status: _taxonomy_pb2.StageStatus
    reason: str
    detail: str
    section: str
    def __init__(self, number: _Optional[int] = ..., sub_stage: _Optional[str] = ..., name: _Optional[str] = ..., status: _Optional[_Union[_taxonomy_pb2.StageStatus, str]] = ..., reason: _Optional[str] = ..., detail: _Optional[str] = ..., section: _Optional[str] = ...) -> None: ...

class RiskSignal(_message.Message):
    __slots__ = ("kind", "value", "judged_value")
    KIND_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    JUDGED_VALUE_FIELD_NUMBER: _ClassVar[int]
    kind: RiskSignalKind
    value: float
    judged_value: float
    def __init__(self, kind: _Optional[_Union[RiskSignalKind, str]] = ..., value: _Optional[float] = ..., judged_value: _Optional[float] = ...) -> None: ...

class SourceDisagreement(_message.Message):
    __slots__ = ("values", "claim_ids")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    CLAIM_IDS_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[DisagreeingValue]
    claim_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, values: _Optional[_Iterable[_Union[DisagreeingValue, _Mapping]]] = ..., claim_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class DisagreeingValue(_message.Message):
    __slots__ = ("fact_id", "text", "source")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    text: str
    source: _text_pb2.FactSource
    def __init__(self, fact_id: _Optional[str] = ..., text: _Optional[str] = ..., source: _Optional[_Union[_text_pb2.FactSource, _Mapping]] = ...) -> None: ...

class RiskFloor(_message.Message):
    __slots__ = ("level", "reason", "claim_ids", "fact_ids", "stages", "details")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CLAIM_IDS_FIELD_NUMBER: _ClassVar[int]
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    level: _taxonomy_pb2.RiskLevel
    reason: RiskFloorReason
    claim_ids: _containers.RepeatedScalarFieldContainer[str]
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    stages: _containers.RepeatedScalarFieldContainer[str]
    details: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, level: _Optional[_Union[_taxonomy_pb2.RiskLevel, str]] = ..., reason: _Optional[_Union[RiskFloorReason, str]] = ..., claim_ids: _Optional[_Iterable[str]] = ..., fact_ids: _Optional[_Iterable[str]] = ..., stages: _Optional[_Iterable[str]] = ..., details: _Optional[_Iterable[str]] = ...) -> None: ...

class ModelFingerprint(_message.Message):
    __slots__ = ("role", "fingerprint")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    role: str
    fingerprint: str
    def __init__(self, role: _Optional[str] = ..., fingerprint: _Optional[str] = ...) -> None: ...

class BuildIdentity(_message.Message):
    __slots__ = ("code_digest", "weights_digest", "trust", "key_id")
    CODE_DIGEST_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    code_digest: str
    weights_digest: str
    trust: BuildTrust
    key_id: str
    def __init__(self, code_digest: _Optional[str] = ..., weights_digest: _Optional[str] = ..., trust: _Optional[_Union[BuildTrust, str]] = ..., key_id: _Optional[str] = ...) -> None: ...

class Coverage(_message.Message):
    __slots__ = ("pairs_total", "pairs_scored", "cross_window_pairs_total", "cross_window_pairs_scored", "premise_windows_total", "premise_windows_scored", "response_chunks", "sentences_total", "quoted_chunks", "sentences_without_claims", "contradicted_chunks")
    PAIRS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    PAIRS_SCORED_FIELD_NUMBER: _ClassVar[int]
    CROSS_WINDOW_PAIRS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    CROSS_WINDOW_PAIRS_SCORED_FIELD_NUMBER: _ClassVar[int]
    PREMISE_WINDOWS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    PREMISE_WINDOWS_SCORED_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_CHUNKS_FIELD_NUMBER: _ClassVar[int]
    SENTENCES_TOTAL_FIELD_NUMBER: _ClassVar[int]
    QUOTED_CHUNKS_FIELD_NUMBER: _ClassVar[int]
    SENTENCES_WITHOUT_CLAIMS_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTED_CHUNKS_FIELD_NUMBER: _ClassVar[int]
    pairs_total: int
    pairs_scored: int
    cross_window_pairs_total: int
    cross_window_pairs_scored: int
    premise_windows_total: int
    premise_windows_scored: int
    response_chunks: int
    sentences_total: int
    quoted_chunks: int
    sentences_without_claims: int
    contradicted_chunks: int
    def __init__(self, pairs_total: _Optional[int] = ..., pairs_scored: _Optional[int] = ..., cross_window_pairs_total: _Optional[int] = ..., cross_window_pairs_scored: _Optional[int] = ..., premise_windows_total: _Optional[int] = ..., premise_windows_scored: _Optional[int] = ..., response_chunks: _Optional[int] = ..., sentences_total: _Optional[int] = ..., quoted_chunks: _Optional[int] = ..., sentences_without_claims: _Optional[int] = ..., contradicted_chunks: _Optional[int] = ...) -> None: ...

class StageTiming(_message.Message):
    __slots__ = ("number", "elapsed", "sub_stage")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_FIELD_NUMBER: _ClassVar[int]
    SUB_STAGE_FIELD_NUMBER: _ClassVar[int]
    number: int
    elapsed: _duration_pb2.Duration
    sub_stage: str
    def __init__(self, number: _Optional[int] = ..., elapsed: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., sub_stage: _Optional[str] = ...) -> None: ...

class Timings(_message.Message):
    __slots__ = ("stages", "total")
    STAGES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    stages: _containers.RepeatedCompositeFieldContainer[StageTiming]
    total: _duration_pb2.Duration
    def __init__(self, stages: _Optional[_Iterable[_Union[StageTiming, _Mapping]]] = ..., total: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class RegulatoryRow(_message.Message):
    __slots__ = ("row", "provision", "eu_ai_act_class", "decisive")
    ROW_FIELD_NUMBER: _ClassVar[int]
    PROVISION_FIELD_NUMBER: _ClassVar[int]
    EU_AI_ACT_CLASS_FIELD_NUMBER: _ClassVar[int]
    DECISIVE_FIELD_NUMBER: _ClassVar[int]
    row: str
    provision: str
    eu_ai_act_class: EuAiActClass
    decisive: bool
    def __init__(self, row: _Optional[str] = ..., provision: _Optional[str] = ..., eu_ai_act_class: _Optional[_Union[EuAiActClass, str]] = ..., decisive: _Optional[bool] = ...) -> None: ...

class RegulatoryBasis(_message.Message):
    __slots__ = ("rows", "tier_by_class", "tier_by_risk", "controls")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    TIER_BY_CLASS_FIELD_NUMBER: _ClassVar[int]
    TIER_BY_RISK_FIELD_NUMBER: _ClassVar[int]
    CONTROLS_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedCompositeFieldContainer[RegulatoryRow]
    tier_by_class: NistTier
    tier_by_risk: NistTier
    controls: _containers.RepeatedCompositeFieldContainer[_regulatory_pb2.ControlAssessment]
    def __init__(self, rows: _Optional[_Iterable[_Union[RegulatoryRow, _Mapping]]] = ..., tier_by_class: _Optional[_Union[NistTier, str]] = ..., tier_by_risk: _Optional[_Union[NistTier, str]] = ..., controls: _Optional[_Iterable[_Union[_regulatory_pb2.ControlAssessment, _Mapping]]] = ...) -> None: ...

class DpeReport(_message.Message):
    __slots__ = ("report_id", "session_id", "window_id", "window_number", "timestamp", "claims_total", "claims_by_type", "attribution_dominant", "grounding_pct", "fabrication_count", "distortion_count", "distortion_types", "contradiction_count", "contradiction_scope", "omission_summary", "fidelity_score", "entailment_score", "contradiction_probability", "neutral_probability", "repetition_level", "repetition_overlap", "completeness_score", "completeness_level", "uncovered_sub_queries", "sub_queries_total", "flow_score", "flow_remediation", "cross_window_contradictions", "coherence_score", "quality_score", "maximum_quality_tier", "composite_score", "base_score", "amplifiers_applied", "risk_level", "risk_degraded", "risk_signals", "eu_ai_act_class", "nist_tier", "gdpr_pii_detected", "iso_42001_controls", "controls_met", "controls_total", "pii_cache_warning", "hmac", "chain_integrity", "response_content_hash", "report_hash", "claims", "fabrications", "distortions", "contradictions", "omissions", "pii_findings", "grounding_violations", "attribution_breakdown", "stages", "policy_hash", "models", "coverage", "grounding_mode", "ai_system_id", "envelope_etag", "gazetteer_version", "timings", "ai_system", "regulatory", "flow_signals", "quality_degraded", "build", "constraint_outcomes", "composite_level", "risk_floors", "relevance", "omissions_in_envelope", "source_disagreements", "judged_score", "second_opinion")
    class ClaimsByTypeEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class OmissionSummaryEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class AttributionBreakdownEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class OmissionsInEnvelopeEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_BY_TYPE_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTION_DOMINANT_FIELD_NUMBER: _ClassVar[int]
    GROUNDING_PCT_FIELD_NUMBER: _ClassVar[int]
    FABRICATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    DISTORTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    DISTORTION_TYPES_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTION_SCOPE_FIELD_NUMBER: _ClassVar[int]
    OMISSION_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    FIDELITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    ENTAILMENT_SCORE_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTION_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    NEUTRAL_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    REPETITION_LEVEL_FIELD_NUMBER: _ClassVar[int]
    REPETITION_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    COMPLETENESS_SCORE_FIELD_NUMBER: _ClassVar[int]
    COMPLETENESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    UNCOVERED_SUB_QUERIES_FIELD_NUMBER: _ClassVar[int]
    SUB_QUERIES_TOTAL_FIELD_NUMBER: _ClassVar[int]
    FLOW_SCORE_FIELD_NUMBER: _ClassVar[int]
    FLOW_REMEDIATION_FIELD_NUMBER: _ClassVar[int]
    CROSS_WINDOW_CONTRADICTIONS_FIELD_NUMBER: _ClassVar[int]
    COHERENCE_SCORE_FIELD_NUMBER: _ClassVar[int]
    QUALITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_QUALITY_TIER_FIELD_NUMBER: _ClassVar[int]
    COMPOSITE_SCORE_FIELD_NUMBER: _ClassVar[int]
    BASE_SCORE_FIELD_NUMBER: _ClassVar[int]
    AMPLIFIERS_APPLIED_FIELD_NUMBER: _ClassVar[int]
    RISK_LEVEL_FIELD_NUMBER: _ClassVar[int]
    RISK_DEGRADED_FIELD_NUMBER: _ClassVar[int]
    RISK_SIGNALS_FIELD_NUMBER: _ClassVar[int]
    EU_AI_ACT_CLASS_FIELD_NUMBER: _ClassVar[int]
    NIST_TIER_FIELD_NUMBER: _ClassVar[int]
    GDPR_PII_DETECTED_FIELD_NUMBER: _ClassVar[int]
    ISO_42001_CONTROLS_FIELD_NUMBER: _ClassVar[int]
    CONTROLS_MET_FIELD_NUMBER: _ClassVar[int]
    CONTROLS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    PII_CACHE_WARNING_FIELD_NUMBER: _ClassVar[int]
    HMAC_FIELD_NUMBER: _ClassVar[int]
    CHAIN_INTEGRITY_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
    REPORT_HASH_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    FABRICATIONS_FIELD_NUMBER: _ClassVar[int]
    DISTORTIONS_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTIONS_FIELD_NUMBER: _ClassVar[int]
    OMISSIONS_FIELD_NUMBER: _ClassVar[int]
    PII_FINDINGS_FIELD_NUMBER: _ClassVar[int]
    GROUNDING_VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTION_BREAKDOWN_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    POLICY_HASH_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    GROUNDING_MODE_FIELD_NUMBER: _ClassVar[int]
    AI_SYSTEM_ID_FIELD_NUMBER: _ClassVar[int]
    ENVELOPE_ETAG_FIELD_NUMBER: _ClassVar[int]
    GAZETTEER_VERSION_FIELD_NUMBER: _ClassVar[int]
    TIMINGS_FIELD_NUMBER: _ClassVar[int]
    AI_SYSTEM_FIELD_NUMBER: _ClassVar[int]
    REGULATORY_FIELD_NUMBER: _ClassVar[int]
    FLOW_SIGNALS_FIELD_NUMBER: _ClassVar[int]
    QUALITY_DEGRADED_FIELD_NUMBER: _ClassVar[int]
    BUILD_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINT_OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    COMPOSITE_LEVEL_FIELD_NUMBER: _ClassVar[int]
    RISK_FLOORS_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    OMISSIONS_IN_ENVELOPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_DISAGREEMENTS_FIELD_NUMBER: _ClassVar[int]
    JUDGED_SCORE_FIELD_NUMBER: _ClassVar[int]
    SECOND_OPINION_FIELD_NUMBER: _ClassVar[int]
    report_id: str
    session_id: str
    window_id: str
    window_number: int
    timestamp: _timestamp_pb2.Timestamp
    claims_total: int
    claims_by_type: _containers.ScalarMap[str, int]
    attribution_dominant: _claim_pb2.AttributionType
    grounding_pct: float
    fabrication_count: int
    distortion_count: int
    distortion_types: _containers.RepeatedScalarFieldContainer[_finding_pb2.DistortionType]
    contradiction_count: int
    contradiction_scope: _finding_pb2.ContradictionScope
    omission_summary: _containers.ScalarMap[str, int]
    fidelity_score: float
    entailment_score: float
    contradiction_probability: float
    neutral_probability: float
    repetition_level: RepetitionLevel
    repetition_overlap: float
    completeness_score: float
    completeness_level: CompletenessLevel
    uncovered_sub_queries: _containers.RepeatedScalarFieldContainer[str]
    sub_queries_total: int
    flow_score: float
    flow_remediation: str
    cross_window_contradictions: _containers.RepeatedCompositeFieldContainer[_finding_pb2.Contradiction]
    coherence_score: float
    quality_score: float
    maximum_quality_tier: _taxonomy_pb2.QualityTier
    composite_score: float
    base_score: float
    amplifiers_applied: _containers.RepeatedScalarFieldContainer[str]
    risk_level: _taxonomy_pb2.RiskLevel
    risk_degraded: bool
    risk_signals: _containers.RepeatedCompositeFieldContainer[RiskSignal]
    eu_ai_act_class: EuAiActClass
    nist_tier: NistTier
    gdpr_pii_detected: bool
    iso_42001_controls: _containers.RepeatedScalarFieldContainer[str]
    controls_met: int
    controls_total: int
    pii_cache_warning: bool
    hmac: str
    chain_integrity: _taxonomy_pb2.ChainIntegrity
    response_content_hash: str
    report_hash: str
    claims: _containers.RepeatedCompositeFieldContainer[_claim_pb2.Claim]
    fabrications: _containers.RepeatedCompositeFieldContainer[_finding_pb2.Fabrication]
    distortions: _containers.RepeatedCompositeFieldContainer[_finding_pb2.Distortion]
    contradictions: _containers.RepeatedCompositeFieldContainer[_finding_pb2.Contradiction]
    omissions: _containers.RepeatedCompositeFieldContainer[_finding_pb2.Omission]
    pii_findings: _containers.RepeatedCompositeFieldContainer[_finding_pb2.PiiFinding]
    grounding_violations: _containers.RepeatedCompositeFieldContainer[_finding_pb2.GroundingViolation]
    attribution_breakdown: _containers.ScalarMap[str, int]
    stages: _containers.RepeatedCompositeFieldContainer[StageOutcome]
    policy_hash: str
    models: _containers.RepeatedCompositeFieldContainer[ModelFingerprint]
    coverage: Coverage
    grounding_mode: _taxonomy_pb2.GroundingMode
    ai_system_id: str
    envelope_etag: str
    gazetteer_version: str
    timings: Timings
    ai_system: _regulatory_pb2.AiSystemProfile
    regulatory: RegulatoryBasis
    flow_signals: _quality_pb2.FlowSignals
    quality_degraded: bool
    build: BuildIdentity
    constraint_outcomes: _constraint_pb2.ConstraintOutcomes
    composite_level: _taxonomy_pb2.RiskLevel
    risk_floors: _containers.RepeatedCompositeFieldContainer[RiskFloor]
    relevance: _quality_pb2.Relevance
    omissions_in_envelope: _containers.ScalarMap[str, int]
    source_disagreements: _containers.RepeatedCompositeFieldContainer[SourceDisagreement]
    judged_score: float
    second_opinion: _opinion_pb2.SecondOpinion
    def __init__(self, report_id: _Optional[str] = ..., session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., window_number: _Optional[int] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., claims_total: _Optional[int] = ..., claims_by_type: _Optional[_Mapping[str, int]] = ..., attribution_dominant: _Optional[_Union[_claim_pb2.AttributionType, str]] = ..., grounding_pct: _Optional[float] = ..., fabrication_count: _Optional[int] = ..., distortion_count: _Optional[int] = ..., distortion_types: _Optional[_Iterable[_Union[_finding_pb2.DistortionType, str]]] = ..., contradiction_count: _Optional[int] = ..., contradiction_scope: _Optional[_Union[_finding_pb2.ContradictionScope, str]] = ..., omission_summary: _Optional[_Mapping[str, int]] = ..., fidelity_score: _Optional[float] = ..., entailment_score: _Optional[float] = ..., contradiction_probability: _Optional[float] = ..., neutral_probability: _Optional[float] = ..., repetition_level: _Optional[_Union[RepetitionLevel, str]] = ..., repetition_overlap: _Optional[float] = ..., completeness_score: _Optional[float] = ..., completeness_level: _Optional[_Union[CompletenessLevel, str]] = ..., uncovered_sub_queries: _Optional[_Iterable[str]] = ..., sub_queries_total: _Optional[int] = ..., flow_score: _Optional[float] = ..., flow_remediation: _Optional[str] = ..., cross_window_contradictions: _Optional[_Iterable[_Union[_finding_pb2.Contradiction, _Mapping]]] = ..., coherence_score: _Optional[float] = ..., quality_score: _Optional[float] = ..., maximum_quality_tier: _Optional[_Union[_taxonomy_pb2.QualityTier, str]] = ..., composite_score: _Optional[float] = ..., base_score: _Optional[float] = ..., amplifiers_applied: _Optional[_Iterable[str]] = ..., risk_level: _Optional[_Union[_taxonomy_pb2.RiskLevel, str]] = ..., risk_degraded: _Optional[bool] = ..., risk_signals: _Optional[_Iterable[_Union[RiskSignal, _Mapping]]] = ..., eu_ai_act_class: _Optional[_Union[EuAiActClass, str]] = ..., nist_tier: _Optional[_Union[NistTier, str]] = ..., gdpr_pii_detected: _Optional[bool] = ..., iso_42001_controls: _Optional[_Iterable[str]] = ..., controls_met: _Optional[int] = ..., controls_total: _Optional[int] = ..., pii_cache_warning: _Optional[bool] = ..., hmac: _Optional[str] = ..., chain_integrity: _Optional[_Union[_taxonomy_pb2.ChainIntegrity, str]] = ..., response_content_hash: _Optional[str] = ..., report_hash: _Optional[str] = ..., claims: _Optional[_Iterable[_Union[_claim_pb2.Claim, _Mapping]]] = ..., fabrications: _Optional[_Iterable[_Union[_finding_pb2.Fabrication, _Mapping]]] = ..., distortions: _Optional[_Iterable[_Union[_finding_pb2.Distortion, _Mapping]]] = ..., contradictions: _Optional[_Iterable[_Union[_finding_pb2.Contradiction, _Mapping]]] = ..., omissions: _Optional[_Iterable[_Union[_finding_pb2.Omission, _Mapping]]] = ..., pii_findings: _Optional[_Iterable[_Union[_finding_pb2.PiiFinding, _Mapping]]] = ..., grounding_violations: _Optional[_Iterable[_Union[_finding_pb2.GroundingViolation, _Mapping]]] = ..., attribution_breakdown: _Optional[_Mapping[str, int]] = ..., stages: _Optional[_Iterable[_Union[StageOutcome, _Mapping]]] = ..., policy_hash: _Optional[str] = ..., models: _Optional[_Iterable[_Union[ModelFingerprint, _Mapping]]] = ..., coverage: _Optional[_Union[Coverage, _Mapping]] = ..., grounding_mode: _Optional[_Union[_taxonomy_pb2.GroundingMode, str]] = ..., ai_system_id: _Optional[str] = ..., envelope_etag: _Optional[str] = ..., gazetteer_version: _Optional[str] = ..., timings: _Optional[_Union[Timings, _Mapping]] = ..., ai_system: _Optional[_Union[_regulatory_pb2.AiSystemProfile, _Mapping]] = ..., regulatory: _Optional[_Union[RegulatoryBasis, _Mapping]] = ..., flow_signals: _Optional[_Union[_quality_pb2.FlowSignals, _Mapping]] = ..., quality_degraded: _Optional[bool] = ..., build: _Optional[_Union[BuildIdentity, _Mapping]] = ..., constraint_outcomes: _Optional[_Union[_constraint_pb2.ConstraintOutcomes, _Mapping]] = ..., composite_level: _Optional[_Union[_taxonomy_pb2.RiskLevel, str]] = ..., risk_floors: _Optional[_Iterable[_Union[RiskFloor, _Mapping]]] = ..., relevance: _Optional[_Union[_quality_pb2.Relevance, _Mapping]] = ..., omissions_in_envelope: _Optional[_Mapping[str, int]] = ..., source_disagreements: _Optional[_Iterable[_Union[SourceDisagreement, _Mapping]]] = ..., judged_score: _Optional[float] = ..., second_opinion: _Optional[_Union[_opinion_pb2.SecondOpinion, _Mapping]] = ...) -> None: ...
