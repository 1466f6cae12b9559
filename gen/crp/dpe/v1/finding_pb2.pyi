from crp.common.v1 import text_pb2 as _text_pb2
from crp.dpe.v1 import claim_pb2 as _claim_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DistortionType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DISTORTION_TYPE_UNSPECIFIED: _ClassVar[DistortionType]
    DISTORTION_TYPE_NUMBER_CHANGED: _ClassVar[DistortionType]
    DISTORTION_TYPE_NEGATION_FLIP: _ClassVar[DistortionType]
    DISTORTION_TYPE_DATE_SHIFTED: _ClassVar[DistortionType]
    DISTORTION_TYPE_ENTITY_SUBSTITUTED: _ClassVar[DistortionType]
    DISTORTION_TYPE_MAGNITUDE_ALTERED: _ClassVar[DistortionType]
    DISTORTION_TYPE_CONTEXT_STRIPPED: _ClassVar[DistortionType]
    DISTORTION_TYPE_CONDITION_ALTERED: _ClassVar[DistortionType]
    DISTORTION_TYPE_ATTRIBUTION_ALTERED: _ClassVar[DistortionType]
    DISTORTION_TYPE_MODALITY_ALTERED: _ClassVar[DistortionType]
    DISTORTION_TYPE_QUANTIFIER_ALTERED: _ClassVar[DistortionType]
    DISTORTION_TYPE_RELATION_ALTERED: _ClassVar[DistortionType]

class DistortionRule(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DISTORTION_RULE_UNSPECIFIED: _ClassVar[DistortionRule]
    DISTORTION_RULE_VALUE: _ClassVar[DistortionRule]
    DISTORTION_RULE_BOUND: _ClassVar[DistortionRule]
    DISTORTION_RULE_FREQUENCY: _ClassVar[DistortionRule]
    DISTORTION_RULE_NAME: _ClassVar[DistortionRule]
    DISTORTION_RULE_PARTIES: _ClassVar[DistortionRule]
    DISTORTION_RULE_MEMBER: _ClassVar[DistortionRule]
    DISTORTION_RULE_TERM: _ClassVar[DistortionRule]
    DISTORTION_RULE_NEGATION: _ClassVar[DistortionRule]
    DISTORTION_RULE_LIMIT: _ClassVar[DistortionRule]
    DISTORTION_RULE_CONDITION: _ClassVar[DistortionRule]
    DISTORTION_RULE_EXCEPTION: _ClassVar[DistortionRule]
    DISTORTION_RULE_ATTRIBUTION: _ClassVar[DistortionRule]
    DISTORTION_RULE_ALLEGED: _ClassVar[DistortionRule]
    DISTORTION_RULE_STATUS: _ClassVar[DistortionRule]
    DISTORTION_RULE_PLANNED: _ClassVar[DistortionRule]
    DISTORTION_RULE_MODALITY: _ClassVar[DistortionRule]
    DISTORTION_RULE_QUANTIFIER: _ClassVar[DistortionRule]
    DISTORTION_RULE_CONJUNCTION: _ClassVar[DistortionRule]
    DISTORTION_RULE_ORDER: _ClassVar[DistortionRule]
    DISTORTION_RULE_CAUSE: _ClassVar[DistortionRule]
    DISTORTION_RULE_ENCODERS: _ClassVar[DistortionRule]
    DISTORTION_RULE_ROW: _ClassVar[DistortionRule]
    DISTORTION_RULE_APPLIED: _ClassVar[DistortionRule]
    DISTORTION_RULE_DISPLACED: _ClassVar[DistortionRule]

class ContradictionSeverity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTRADICTION_SEVERITY_UNSPECIFIED: _ClassVar[ContradictionSeverity]
    CONTRADICTION_SEVERITY_LOW: _ClassVar[ContradictionSeverity]
    CONTRADICTION_SEVERITY_MEDIUM: _ClassVar[ContradictionSeverity]
    CONTRADICTION_SEVERITY_HIGH: _ClassVar[ContradictionSeverity]
    CONTRADICTION_SEVERITY_CRITICAL: _ClassVar[ContradictionSeverity]

class ContradictionScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTRADICTION_SCOPE_UNSPECIFIED: _ClassVar[ContradictionScope]
    CONTRADICTION_SCOPE_INTRA: _ClassVar[ContradictionScope]
    CONTRADICTION_SCOPE_CROSS_WINDOW: _ClassVar[ContradictionScope]
    CONTRADICTION_SCOPE_BOTH: _ClassVar[ContradictionScope]

class ContradictionReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTRADICTION_REASON_UNSPECIFIED: _ClassVar[ContradictionReason]
    CONTRADICTION_REASON_VALUES_DIFFER: _ClassVar[ContradictionReason]
    CONTRADICTION_REASON_DATES_DIFFER: _ClassVar[ContradictionReason]
    CONTRADICTION_REASON_NEGATED: _ClassVar[ContradictionReason]
    CONTRADICTION_REASON_OPPOSITE_WORDS: _ClassVar[ContradictionReason]
    CONTRADICTION_REASON_ENTAILMENT_MODEL: _ClassVar[ContradictionReason]
    CONTRADICTION_REASON_NAMES_DIFFER: _ClassVar[ContradictionReason]

class OmissionSeverity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OMISSION_SEVERITY_UNSPECIFIED: _ClassVar[OmissionSeverity]
    OMISSION_SEVERITY_MEDIUM: _ClassVar[OmissionSeverity]
    OMISSION_SEVERITY_HIGH: _ClassVar[OmissionSeverity]
    OMISSION_SEVERITY_CRITICAL: _ClassVar[OmissionSeverity]

class PiiCategory(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PII_CATEGORY_UNSPECIFIED: _ClassVar[PiiCategory]
    PII_CATEGORY_DIRECT_IDENTIFIER: _ClassVar[PiiCategory]
    PII_CATEGORY_QUASI_IDENTIFIER: _ClassVar[PiiCategory]
    PII_CATEGORY_SENSITIVE: _ClassVar[PiiCategory]
    PII_CATEGORY_FINANCIAL: _ClassVar[PiiCategory]

class TextOrigin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TEXT_ORIGIN_UNSPECIFIED: _ClassVar[TextOrigin]
    TEXT_ORIGIN_PROMPT: _ClassVar[TextOrigin]
    TEXT_ORIGIN_RESPONSE: _ClassVar[TextOrigin]
DISTORTION_TYPE_UNSPECIFIED: DistortionType
DISTORTION_TYPE_NUMBER_CHANGED: DistortionType
DISTORTION_TYPE_NEGATION_FLIP: DistortionType
DISTORTION_TYPE_DATE_SHIFTED: DistortionType
DISTORTION_TYPE_ENTITY_SUBSTITUTED: DistortionType
DISTORTION_TYPE_MAGNITUDE_ALTERED: DistortionType
DISTORTION_TYPE_CONTEXT_STRIPPED: DistortionType
DISTORTION_TYPE_CONDITION_ALTERED: DistortionType
DISTORTION_TYPE_ATTRIBUTION_ALTERED: DistortionType
DISTORTION_TYPE_MODALITY_ALTERED: DistortionType
DISTORTION_TYPE_QUANTIFIER_ALTERED: DistortionType
DISTORTION_TYPE_RELATION_ALTERED: DistortionType
DISTORTION_RULE_UNSPECIFIED: DistortionRule
DISTORTION_RULE_VALUE: DistortionRule
DISTORTION_RULE_BOUND: DistortionRule
DISTORTION_RULE_FREQUENCY: DistortionRule
DISTORTION_RULE_NAME: DistortionRule
DISTORTION_RULE_PARTIES: DistortionRule
DISTORTION_RULE_MEMBER: DistortionRule
DISTORTION_RULE_TERM: DistortionRule
DISTORTION_RULE_NEGATION: DistortionRule
DISTORTION_RULE_LIMIT: DistortionRule
DISTORTION_RULE_CONDITION: DistortionRule
DISTORTION_RULE_EXCEPTION: DistortionRule
DISTORTION_RULE_ATTRIBUTION: DistortionRule
DISTORTION_RULE_ALLEGED: DistortionRule
DISTORTION_RULE_STATUS: DistortionRule
DISTORTION_RULE_PLANNED: DistortionRule
DISTORTION_RULE_MODALITY: DistortionRule
DISTORTION_RULE_QUANTIFIER: DistortionRule
DISTORTION_RULE_CONJUNCTION: DistortionRule
DISTORTION_RULE_ORDER: DistortionRule
DISTORTION_RULE_CAUSE: DistortionRule
DISTORTION_RULE_ENCODERS: DistortionRule
DISTORTION_RULE_ROW: DistortionRule
DISTORTION_RULE_APPLIED: DistortionRule
DISTORTION_RULE_DISPLACED: DistortionRule
CONTRADICTION_SEVERITY_UNSPECIFIED: ContradictionSeverity
CONTRADICTION_SEVERITY_LOW: ContradictionSeverity
CONTRADICTION_SEVERITY_MEDIUM: ContradictionSeverity
CONTRADICTION_SEVERITY_HIGH: ContradictionSeverity
CONTRADICTION_SEVERITY_CRITICAL: ContradictionSeverity
CONTRADICTION_SCOPE_UNSPECIFIED: ContradictionScope
CONTRADICTION_SCOPE_INTRA: ContradictionScope
CONTRADICTION_SCOPE_CROSS_WINDOW: ContradictionScope
CONTRADICTION_SCOPE_BOTH: ContradictionScope
CONTRADICTION_REASON_UNSPECIFIED: ContradictionReason
CONTRADICTION_REASON_VALUES_DIFFER: ContradictionReason
CONTRADICTION_REASON_DATES_DIFFER: ContradictionReason
CONTRADICTION_REASON_NEGATED: ContradictionReason
CONTRADICTION_REASON_OPPOSITE_WORDS: ContradictionReason
CONTRADICTION_REASON_ENTAILMENT_MODEL: ContradictionReason
CONTRADICTION_REASON_NAMES_DIFFER: ContradictionReason
OMISSION_SEVERITY_UNSPECIFIED: OmissionSeverity
OMISSION_SEVERITY_MEDIUM: OmissionSeverity
OMISSION_SEVERITY_HIGH: OmissionSeverity
OMISSION_SEVERITY_CRITICAL: OmissionSeverity
PII_CATEGORY_UNSPECIFIED: PiiCategory
PII_CATEGORY_DIRECT_IDENTIFIER: PiiCategory
PII_CATEGORY_QUASI_IDENTIFIER: PiiCategory
PII_CATEGORY_SENSITIVE: PiiCategory
PII_CATEGORY_FINANCIAL: PiiCategory
TEXT_ORIGIN_UNSPECIFIED: TextOrigin
TEXT_ORIGIN_PROMPT: TextOrigin
TEXT_ORIGIN_RESPONSE: TextOrigin

class Fabrication(_message.Message):
    __slots__ = ("claim_id", "entity", "normalised")
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    NORMALISED_FIELD_NUMBER: _ClassVar[int]
    claim_id: str
    entity: _text_pb2.Entity
    normalised: str
    def __init__(self, claim_id: _Optional[str] = ..., entity: _Optional[_Union[_text_pb2.Entity, _Mapping]] = ..., normalised: _Optional[str] = ...) -> None: ...

class Distortion(_message.Message):
    __slots__ = ("type", "claim_id", "fact_id", "answer_span", "fact_span", "values", "contradiction_probability", "rule", "decides")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    ANSWER_SPAN_FIELD_NUMBER: _ClassVar[int]
    FACT_SPAN_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTION_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    DECIDES_FIELD_NUMBER: _ClassVar[int]
    type: DistortionType
    claim_id: str
    fact_id: str
    answer_span: _text_pb2.TextSpan
    fact_span: _text_pb2.TextSpan
    values: _claim_pb2.AlignedValue
    contradiction_probability: float
    rule: DistortionRule
    decides: bool
    def __init__(self, type: _Optional[_Union[DistortionType, str]] = ..., claim_id: _Optional[str] = ..., fact_id: _Optional[str] = ..., answer_span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., fact_span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., values: _Optional[_Union[_claim_pb2.AlignedValue, _Mapping]] = ..., contradiction_probability: _Optional[float] = ..., rule: _Optional[_Union[DistortionRule, str]] = ..., decides: _Optional[bool] = ...) -> None: ...

class Contradiction(_message.Message):
    __slots__ = ("severity", "claim_id", "claim_text", "claim_span", "other_claim_id", "other_text", "other_span", "window_id", "other_window_id", "values", "contradiction_probability", "other_is_summary", "reason", "why")
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    CLAIM_TEXT_FIELD_NUMBER: _ClassVar[int]
    CLAIM_SPAN_FIELD_NUMBER: _ClassVar[int]
    OTHER_CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    OTHER_TEXT_FIELD_NUMBER: _ClassVar[int]
    OTHER_SPAN_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    OTHER_WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTION_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    OTHER_IS_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    severity: ContradictionSeverity
    claim_id: str
    claim_text: str
    claim_span: _text_pb2.TextSpan
    other_claim_id: str
    other_text: str
    other_span: _text_pb2.TextSpan
    window_id: str
    other_window_id: str
    values: _claim_pb2.AlignedValue
    contradiction_probability: float
    other_is_summary: bool
    reason: ContradictionReason
    why: str
    def __init__(self, severity: _Optional[_Union[ContradictionSeverity, str]] = ..., claim_id: _Optional[str] = ..., claim_text: _Optional[str] = ..., claim_span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., other_claim_id: _Optional[str] = ..., other_text: _Optional[str] = ..., other_span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., window_id: _Optional[str] = ..., other_window_id: _Optional[str] = ..., values: _Optional[_Union[_claim_pb2.AlignedValue, _Mapping]] = ..., contradiction_probability: _Optional[float] = ..., other_is_summary: _Optional[bool] = ..., reason: _Optional[_Union[ContradictionReason, str]] = ..., why: _Optional[str] = ...) -> None: ...

class Omission(_message.Message):
    __slots__ = ("fact_id", "severity", "importance_weight", "best_similarity", "query_similarity", "source", "quote")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    BEST_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    QUERY_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    QUOTE_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    severity: OmissionSeverity
    importance_weight: float
    best_similarity: float
    query_similarity: float
    source: _text_pb2.FactSource
    quote: str
    def __init__(self, fact_id: _Optional[str] = ..., severity: _Optional[_Union[OmissionSeverity, str]] = ..., importance_weight: _Optional[float] = ..., best_similarity: _Optional[float] = ..., query_similarity: _Optional[float] = ..., source: _Optional[_Union[_text_pb2.FactSource, _Mapping]] = ..., quote: _Optional[str] = ...) -> None: ...

class PiiFinding(_message.Message):
    __slots__ = ("category", "type", "origin", "span", "confidence", "counted")
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    COUNTED_FIELD_NUMBER: _ClassVar[int]
    category: PiiCategory
    type: str
    origin: TextOrigin
    span: _text_pb2.TextSpan
    confidence: float
    counted: bool
    def __init__(self, category: _Optional[_Union[PiiCategory, str]] = ..., type: _Optional[str] = ..., origin: _Optional[_Union[TextOrigin, str]] = ..., span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., confidence: _Optional[float] = ..., counted: _Optional[bool] = ...) -> None: ...

class GroundingViolation(_message.Message):
    __slots__ = ("claim_id", "attribution")
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    claim_id: str
    attribution: _claim_pb2.AttributionType
    def __init__(self, claim_id: _Optional[str] = ..., attribution: _Optional[_Union[_claim_pb2.AttributionType, str]] = ...) -> None: ...
