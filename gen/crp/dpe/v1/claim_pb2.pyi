import datetime

from crp.ckf.v1 import ckf_pb2 as _ckf_pb2
from crp.common.v1 import text_pb2 as _text_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ClaimType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CLAIM_TYPE_UNSPECIFIED: _ClassVar[ClaimType]
    CLAIM_TYPE_FACTUAL: _ClassVar[ClaimType]
    CLAIM_TYPE_OPINION: _ClassVar[ClaimType]
    CLAIM_TYPE_PROCEDURAL: _ClassVar[ClaimType]
    CLAIM_TYPE_META: _ClassVar[ClaimType]

class AttributionType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ATTRIBUTION_TYPE_UNSPECIFIED: _ClassVar[AttributionType]
    ATTRIBUTION_TYPE_CONTEXT_GROUNDED: _ClassVar[AttributionType]
    ATTRIBUTION_TYPE_PARAMETRIC: _ClassVar[AttributionType]
    ATTRIBUTION_TYPE_MIXED: _ClassVar[AttributionType]
    ATTRIBUTION_TYPE_UNVERIFIABLE: _ClassVar[AttributionType]

class ClaimVerdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CLAIM_VERDICT_UNSPECIFIED: _ClassVar[ClaimVerdict]
    CLAIM_VERDICT_SUPPORTED: _ClassVar[ClaimVerdict]
    CLAIM_VERDICT_CONTRADICTED: _ClassVar[ClaimVerdict]
    CLAIM_VERDICT_UNSUPPORTED: _ClassVar[ClaimVerdict]
    CLAIM_VERDICT_SUPERSEDED: _ClassVar[ClaimVerdict]
    CLAIM_VERDICT_UNDECIDED: _ClassVar[ClaimVerdict]

class VerdictBasis(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_BASIS_UNSPECIFIED: _ClassVar[VerdictBasis]
    VERDICT_BASIS_QUOTATION: _ClassVar[VerdictBasis]
    VERDICT_BASIS_VALUE_CONFLICT: _ClassVar[VerdictBasis]
    VERDICT_BASIS_DISTORTION: _ClassVar[VerdictBasis]
    VERDICT_BASIS_CONTRADICTION: _ClassVar[VerdictBasis]
    VERDICT_BASIS_GROUNDING: _ClassVar[VerdictBasis]
    VERDICT_BASIS_CONSTRAINT: _ClassVar[VerdictBasis]
    VERDICT_BASIS_VALUES: _ClassVar[VerdictBasis]
    VERDICT_BASIS_SECOND_OPINION: _ClassVar[VerdictBasis]

class ValueRelation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VALUE_RELATION_UNSPECIFIED: _ClassVar[ValueRelation]
    VALUE_RELATION_EQUAL: _ClassVar[ValueRelation]
    VALUE_RELATION_DIFFERENT: _ClassVar[ValueRelation]
CLAIM_TYPE_UNSPECIFIED: ClaimType
CLAIM_TYPE_FACTUAL: ClaimType
CLAIM_TYPE_OPINION: ClaimType
CLAIM_TYPE_PROCEDURAL: ClaimType
CLAIM_TYPE_META: ClaimType
ATTRIBUTION_TYPE_UNSPECIFIED: AttributionType
ATTRIBUTION_TYPE_CONTEXT_GROUNDED: AttributionType
ATTRIBUTION_TYPE_PARAMETRIC: AttributionType
ATTRIBUTION_TYPE_MIXED: AttributionType
ATTRIBUTION_TYPE_UNVERIFIABLE: AttributionType
CLAIM_VERDICT_UNSPECIFIED: ClaimVerdict
CLAIM_VERDICT_SUPPORTED: ClaimVerdict
CLAIM_VERDICT_CONTRADICTED: ClaimVerdict
CLAIM_VERDICT_UNSUPPORTED: ClaimVerdict
CLAIM_VERDICT_SUPERSEDED: ClaimVerdict
CLAIM_VERDICT_UNDECIDED: ClaimVerdict
VERDICT_BASIS_UNSPECIFIED: VerdictBasis
VERDICT_BASIS_QUOTATION: VerdictBasis
VERDICT_BASIS_VALUE_CONFLICT: VerdictBasis
VERDICT_BASIS_DISTORTION: VerdictBasis
VERDICT_BASIS_CONTRADICTION: VerdictBasis
VERDICT_BASIS_GROUNDING: VerdictBasis
VERDICT_BASIS_CONSTRAINT: VerdictBasis
VERDICT_BASIS_VALUES: VerdictBasis
VERDICT_BASIS_SECOND_OPINION: VerdictBasis
VALUE_RELATION_UNSPECIFIED: ValueRelation
VALUE_RELATION_EQUAL: ValueRelation
VALUE_RELATION_DIFFERENT: ValueRelation

class AlignedValue(_message.Message):
    __slots__ = ("kind", "answer_text", "answer_span", "fact_text", "fact_span", "answer_normalised", "fact_normalised", "relation", "derivation")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ANSWER_TEXT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_SPAN_FIELD_NUMBER: _ClassVar[int]
    FACT_TEXT_FIELD_NUMBER: _ClassVar[int]
    FACT_SPAN_FIELD_NUMBER: _ClassVar[int]
    ANSWER_NORMALISED_FIELD_NUMBER: _ClassVar[int]
    FACT_NORMALISED_FIELD_NUMBER: _ClassVar[int]
    RELATION_FIELD_NUMBER: _ClassVar[int]
    DERIVATION_FIELD_NUMBER: _ClassVar[int]
    kind: _text_pb2.EntityKind
    answer_text: str
    answer_span: _text_pb2.TextSpan
    fact_text: str
    fact_span: _text_pb2.TextSpan
    answer_normalised: str
    fact_normalised: str
    relation: ValueRelation
    derivation: str
    def __init__(self, kind: _Optional[_Union[_text_pb2.EntityKind, str]] = ..., answer_text: _Optional[str] = ..., answer_span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., fact_text: _Optional[str] = ..., fact_span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., answer_normalised: _Optional[str] = ..., fact_normalised: _Optional[str] = ..., relation: _Optional[_Union[ValueRelation, str]] = ..., derivation: _Optional[str] = ...) -> None: ...

class Evidence(_message.Message):
    __slots__ = ("fact_id", "answer_span", "fact_span", "raw_similarity", "calibrated_similarity", "aligned_values", "entailment_probability", "contradiction_probability", "source", "stale_reason", "ended_at", "quote")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    ANSWER_SPAN_FIELD_NUMBER: _ClassVar[int]
    FACT_SPAN_FIELD_NUMBER: _ClassVar[int]
    RAW_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    CALIBRATED_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    ALIGNED_VALUES_FIELD_NUMBER: _ClassVar[int]
    ENTAILMENT_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTION_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STALE_REASON_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    QUOTE_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    answer_span: _text_pb2.TextSpan
    fact_span: _text_pb2.TextSpan
    raw_similarity: float
    calibrated_similarity: float
    aligned_values: _containers.RepeatedCompositeFieldContainer[AlignedValue]
    entailment_probability: float
    contradiction_probability: float
    source: _text_pb2.FactSource
    stale_reason: _ckf_pb2.StaleReason
    ended_at: _timestamp_pb2.Timestamp
    quote: str
    def __init__(self, fact_id: _Optional[str] = ..., answer_span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., fact_span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., raw_similarity: _Optional[float] = ..., calibrated_similarity: _Optional[float] = ..., aligned_values: _Optional[_Iterable[_Union[AlignedValue, _Mapping]]] = ..., entailment_probability: _Optional[float] = ..., contradiction_probability: _Optional[float] = ..., source: _Optional[_Union[_text_pb2.FactSource, _Mapping]] = ..., stale_reason: _Optional[_Union[_ckf_pb2.StaleReason, str]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., quote: _Optional[str] = ...) -> None: ...

class UnsupportedSpan(_message.Message):
    __slots__ = ("span", "score")
    SPAN_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    span: _text_pb2.TextSpan
    score: float
    def __init__(self, span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., score: _Optional[float] = ...) -> None: ...

class ConstraintConflict(_message.Message):
    __slots__ = ("constraint_ids", "verdict_without", "constraints_total")
    CONSTRAINT_IDS_FIELD_NUMBER: _ClassVar[int]
    VERDICT_WITHOUT_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    constraint_ids: _containers.RepeatedScalarFieldContainer[str]
    verdict_without: ClaimVerdict
    constraints_total: int
    def __init__(self, constraint_ids: _Optional[_Iterable[str]] = ..., verdict_without: _Optional[_Union[ClaimVerdict, str]] = ..., constraints_total: _Optional[int] = ...) -> None: ...

class Judgement(_message.Message):
    __slots__ = ("basis", "support_probability", "entailment_probability", "contradiction_probability", "unsupported_spans", "evidence", "constraint_conflict", "why")
    BASIS_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    ENTAILMENT_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTION_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    UNSUPPORTED_SPANS_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINT_CONFLICT_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    basis: VerdictBasis
    support_probability: float
    entailment_probability: float
    contradiction_probability: float
    unsupported_spans: _containers.RepeatedCompositeFieldContainer[UnsupportedSpan]
    evidence: _containers.RepeatedCompositeFieldContainer[Evidence]
    constraint_conflict: ConstraintConflict
    why: str
    def __init__(self, basis: _Optional[_Union[VerdictBasis, str]] = ..., support_probability: _Optional[float] = ..., entailment_probability: _Optional[float] = ..., contradiction_probability: _Optional[float] = ..., unsupported_spans: _Optional[_Iterable[_Union[UnsupportedSpan, _Mapping]]] = ..., evidence: _Optional[_Iterable[_Union[Evidence, _Mapping]]] = ..., constraint_conflict: _Optional[_Union[ConstraintConflict, _Mapping]] = ..., why: _Optional[str] = ...) -> None: ...

class Attribution(_message.Message):
    __slots__ = ("type", "raw_similarity", "calibrated_similarity", "evidence")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    RAW_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    CALIBRATED_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    type: AttributionType
    raw_similarity: float
    calibrated_similarity: float
    evidence: _containers.RepeatedCompositeFieldContainer[Evidence]
    def __init__(self, type: _Optional[_Union[AttributionType, str]] = ..., raw_similarity: _Optional[float] = ..., calibrated_similarity: _Optional[float] = ..., evidence: _Optional[_Iterable[_Union[Evidence, _Mapping]]] = ...) -> None: ...

class Claim(_message.Message):
    __slots__ = ("claim_id", "text", "sentence_index", "claim_type", "specificity", "entities", "span", "attribution", "verdict", "judgement")
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_INDEX_FIELD_NUMBER: _ClassVar[int]
    CLAIM_TYPE_FIELD_NUMBER: _ClassVar[int]
    SPECIFICITY_FIELD_NUMBER: _ClassVar[int]
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    JUDGEMENT_FIELD_NUMBER: _ClassVar[int]
    claim_id: str
    text: str
    sentence_index: int
    claim_type: ClaimType
    specificity: float
    entities: _containers.RepeatedCompositeFieldContainer[_text_pb2.Entity]
    span: _text_pb2.TextSpan
    attribution: Attribution
    verdict: ClaimVerdict
    judgement: Judgement
    def __init__(self, claim_id: _Optional[str] = ..., text: _Optional[str] = ..., sentence_index: _Optional[int] = ..., claim_type: _Optional[_Union[ClaimType, str]] = ..., specificity: _Optional[float] = ..., entities: _Optional[_Iterable[_Union[_text_pb2.Entity, _Mapping]]] = ..., span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., attribution: _Optional[_Union[Attribution, _Mapping]] = ..., verdict: _Optional[_Union[ClaimVerdict, str]] = ..., judgement: _Optional[_Union[Judgement, _Mapping]] = ...) -> None: ...
