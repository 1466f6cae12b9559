import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATUS_UNSPECIFIED: _ClassVar[RunStatus]
    RUN_STATUS_CONVERGED: _ClassVar[RunStatus]
    RUN_STATUS_INFEASIBLE: _ClassVar[RunStatus]
    RUN_STATUS_PARTIAL: _ClassVar[RunStatus]
    RUN_STATUS_FAILED: _ClassVar[RunStatus]

class ConstraintType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONSTRAINT_TYPE_UNSPECIFIED: _ClassVar[ConstraintType]
    CONSTRAINT_TYPE_PREDICATE: _ClassVar[ConstraintType]
    CONSTRAINT_TYPE_STYLE: _ClassVar[ConstraintType]
    CONSTRAINT_TYPE_FACTUAL: _ClassVar[ConstraintType]
    CONSTRAINT_TYPE_TEMPORAL: _ClassVar[ConstraintType]
    CONSTRAINT_TYPE_CUSTOM: _ClassVar[ConstraintType]

class ConstraintPriority(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONSTRAINT_PRIORITY_UNSPECIFIED: _ClassVar[ConstraintPriority]
    CONSTRAINT_PRIORITY_HIGH: _ClassVar[ConstraintPriority]
    CONSTRAINT_PRIORITY_MEDIUM: _ClassVar[ConstraintPriority]
    CONSTRAINT_PRIORITY_LOW: _ClassVar[ConstraintPriority]

class ErrorType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_TYPE_UNSPECIFIED: _ClassVar[ErrorType]
    ERROR_TYPE_CONTRADICTION: _ClassVar[ErrorType]
    ERROR_TYPE_FACTUAL_INCORRECT: _ClassVar[ErrorType]
    ERROR_TYPE_MISSING_JUSTIFICATION: _ClassVar[ErrorType]
    ERROR_TYPE_AMBIGUITY: _ClassVar[ErrorType]
    ERROR_TYPE_SYNTAX_ERROR: _ClassVar[ErrorType]

class MutationStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MUTATION_STRATEGY_UNSPECIFIED: _ClassVar[MutationStrategy]
    MUTATION_STRATEGY_RELAX: _ClassVar[MutationStrategy]
    MUTATION_STRATEGY_REFRAME: _ClassVar[MutationStrategy]
    MUTATION_STRATEGY_DECOMPOSE: _ClassVar[MutationStrategy]

class ConstraintState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONSTRAINT_STATE_UNSPECIFIED: _ClassVar[ConstraintState]
    CONSTRAINT_STATE_KEPT: _ClassVar[ConstraintState]
    CONSTRAINT_STATE_BROKEN: _ClassVar[ConstraintState]
    CONSTRAINT_STATE_UNDECIDED: _ClassVar[ConstraintState]

class Operator(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPERATOR_UNSPECIFIED: _ClassVar[Operator]
    OPERATOR_GENERATE: _ClassVar[Operator]
    OPERATOR_VERIFY: _ClassVar[Operator]
    OPERATOR_EXTRACT: _ClassVar[Operator]
    OPERATOR_STABILIZE: _ClassVar[Operator]
    OPERATOR_MUTATE: _ClassVar[Operator]
RUN_STATUS_UNSPECIFIED: RunStatus
RUN_STATUS_CONVERGED: RunStatus
RUN_STATUS_INFEASIBLE: RunStatus
RUN_STATUS_PARTIAL: RunStatus
RUN_STATUS_FAILED: RunStatus
CONSTRAINT_TYPE_UNSPECIFIED: ConstraintType
CONSTRAINT_TYPE_PREDICATE: ConstraintType
CONSTRAINT_TYPE_STYLE: ConstraintType
CONSTRAINT_TYPE_FACTUAL: ConstraintType
CONSTRAINT_TYPE_TEMPORAL: ConstraintType
CONSTRAINT_TYPE_CUSTOM: ConstraintType
CONSTRAINT_PRIORITY_UNSPECIFIED: ConstraintPriority
CONSTRAINT_PRIORITY_HIGH: ConstraintPriority
CONSTRAINT_PRIORITY_MEDIUM: ConstraintPriority
CONSTRAINT_PRIORITY_LOW: ConstraintPriority
ERROR_TYPE_UNSPECIFIED: ErrorType
ERROR_TYPE_CONTRADICTION: ErrorType
ERROR_TYPE_FACTUAL_INCORRECT: ErrorType
ERROR_TYPE_MISSING_JUSTIFICATION: ErrorType
ERROR_TYPE_AMBIGUITY: ErrorType
ERROR_TYPE_SYNTAX_ERROR: ErrorType
MUTATION_STRATEGY_UNSPECIFIED: MutationStrategy
MUTATION_STRATEGY_RELAX: MutationStrategy
MUTATION_STRATEGY_REFRAME: MutationStrategy
MUTATION_STRATEGY_DECOMPOSE: MutationStrategy
CONSTRAINT_STATE_UNSPECIFIED: ConstraintState
CONSTRAINT_STATE_KEPT: ConstraintState
CONSTRAINT_STATE_BROKEN: ConstraintState
CONSTRAINT_STATE_UNDECIDED: ConstraintState
OPERATOR_UNSPECIFIED: Operator
OPERATOR_GENERATE: Operator
OPERATOR_VERIFY: Operator
OPERATOR_EXTRACT: Operator
OPERATOR_STABILIZE: Operator
OPERATOR_MUTATE: Operator

class Problem(_message.Message):
    __slots__ = ("id", "description", "metadata", "extensions")
    ID_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    id: str
    description: str
    metadata: _struct_pb2.Struct
    extensions: _struct_pb2.Struct
    def __init__(self, id: _Optional[str] = ..., description: _Optional[str] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ReasoningClaim(_message.Message):
    __slots__ = ("claim", "source")
    CLAIM_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    claim: str
    source: str
    def __init__(self, claim: _Optional[str] = ..., source: _Optional[str] = ...) -> None: ...

class Reasoning(_message.Message):
    __slots__ = ("reasoning_id", "reasoning_text", "sentences", "claims")
    REASONING_ID_FIELD_NUMBER: _ClassVar[int]
    REASONING_TEXT_FIELD_NUMBER: _ClassVar[int]
    SENTENCES_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    reasoning_id: str
    reasoning_text: str
    sentences: _containers.RepeatedScalarFieldContainer[str]
    claims: _containers.RepeatedCompositeFieldContainer[ReasoningClaim]
    def __init__(self, reasoning_id: _Optional[str] = ..., reasoning_text: _Optional[str] = ..., sentences: _Optional[_Iterable[str]] = ..., claims: _Optional[_Iterable[_Union[ReasoningClaim, _Mapping]]] = ...) -> None: ...

class Predicate(_message.Message):
    __slots__ = ("predicate_name", "args", "extensions")
    PREDICATE_NAME_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    predicate_name: str
    args: _struct_pb2.Struct
    extensions: _struct_pb2.Struct
    def __init__(self, predicate_name: _Optional[str] = ..., args: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ConstraintSource(_message.Message):
    __slots__ = ("detected_by", "error_id", "extensions")
    DETECTED_BY_FIELD_NUMBER: _ClassVar[int]
    ERROR_ID_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    detected_by: str
    error_id: str
    extensions: _struct_pb2.Struct
    def __init__(self, detected_by: _Optional[str] = ..., error_id: _Optional[str] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class Constraint(_message.Message):
    __slots__ = ("constraint_id", "type", "priority", "nl_text", "predicate", "source", "confidence", "immutable", "extensions")
    CONSTRAINT_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    NL_TEXT_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    IMMUTABLE_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    constraint_id: str
    type: ConstraintType
    priority: ConstraintPriority
    nl_text: str
    predicate: Predicate
    source: ConstraintSource
    confidence: float
    immutable: bool
    extensions: _struct_pb2.Struct
    def __init__(self, constraint_id: _Optional[str] = ..., type: _Optional[_Union[ConstraintType, str]] = ..., priority: _Optional[_Union[ConstraintPriority, str]] = ..., nl_text: _Optional[str] = ..., predicate: _Optional[_Union[Predicate, _Mapping]] = ..., source: _Optional[_Union[ConstraintSource, _Mapping]] = ..., confidence: _Optional[float] = ..., immutable: _Optional[bool] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class Evidence(_message.Message):
    __slots__ = ("source", "score", "excerpt", "extensions")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    EXCERPT_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    source: str
    score: float
    excerpt: str
    extensions: _struct_pb2.Struct
    def __init__(self, source: _Optional[str] = ..., score: _Optional[float] = ..., excerpt: _Optional[str] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ("error_id", "type", "span", "excerpt", "confidence", "detected_by", "evidence", "extensions")
    ERROR_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    EXCERPT_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    DETECTED_BY_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    error_id: str
    type: ErrorType
    span: _containers.RepeatedScalarFieldContainer[int]
    excerpt: str
    confidence: float
    detected_by: _containers.RepeatedScalarFieldContainer[str]
    evidence: _containers.RepeatedCompositeFieldContainer[Evidence]
    extensions: _struct_pb2.Struct
    def __init__(self, error_id: _Optional[str] = ..., type: _Optional[_Union[ErrorType, str]] = ..., span: _Optional[_Iterable[int]] = ..., excerpt: _Optional[str] = ..., confidence: _Optional[float] = ..., detected_by: _Optional[_Iterable[str]] = ..., evidence: _Optional[_Iterable[_Union[Evidence, _Mapping]]] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class DraftPlace(_message.Message):
    __slots__ = ("start", "end", "sentence_start", "sentence_end", "sentence")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_START_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_END_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    sentence_start: int
    sentence_end: int
    sentence: str
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ..., sentence_start: _Optional[int] = ..., sentence_end: _Optional[int] = ..., sentence: _Optional[str] = ...) -> None: ...

class ConstraintOutcome(_message.Message):
    __slots__ = ("constraint_id", "state", "undecided_reason", "why", "places", "immutable")
    CONSTRAINT_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    UNDECIDED_REASON_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    IMMUTABLE_FIELD_NUMBER: _ClassVar[int]
    constraint_id: str
    state: ConstraintState
    undecided_reason: str
    why: str
    places: _containers.RepeatedCompositeFieldContainer[DraftPlace]
    immutable: bool
    def __init__(self, constraint_id: _Optional[str] = ..., state: _Optional[_Union[ConstraintState, str]] = ..., undecided_reason: _Optional[str] = ..., why: _Optional[str] = ..., places: _Optional[_Iterable[_Union[DraftPlace, _Mapping]]] = ..., immutable: _Optional[bool] = ...) -> None: ...

class Doubt(_message.Message):
    __slots__ = ("type", "confidence", "places", "source", "against", "why")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    AGAINST_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    type: ErrorType
    confidence: float
    places: _containers.RepeatedCompositeFieldContainer[DraftPlace]
    source: str
    against: str
    why: str
    def __init__(self, type: _Optional[_Union[ErrorType, str]] = ..., confidence: _Optional[float] = ..., places: _Optional[_Iterable[_Union[DraftPlace, _Mapping]]] = ..., source: _Optional[str] = ..., against: _Optional[str] = ..., why: _Optional[str] = ...) -> None: ...

class OpenGround(_message.Message):
    __slots__ = ("places", "is_confirmed", "why")
    PLACES_FIELD_NUMBER: _ClassVar[int]
    IS_CONFIRMED_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    places: _containers.RepeatedCompositeFieldContainer[DraftPlace]
    is_confirmed: bool
    why: str
    def __init__(self, places: _Optional[_Iterable[_Union[DraftPlace, _Mapping]]] = ..., is_confirmed: _Optional[bool] = ..., why: _Optional[str] = ...) -> None: ...

class DuplicateConstraints(_message.Message):
    __slots__ = ("constraint_ids", "demand")
    CONSTRAINT_IDS_FIELD_NUMBER: _ClassVar[int]
    DEMAND_FIELD_NUMBER: _ClassVar[int]
    constraint_ids: _containers.RepeatedScalarFieldContainer[str]
    demand: str
    def __init__(self, constraint_ids: _Optional[_Iterable[str]] = ..., demand: _Optional[str] = ...) -> None: ...

class DecodingParameters(_message.Message):
    __slots__ = ("temperature", "top_p", "seed", "max_tokens", "deterministic")
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    temperature: float
    top_p: float
    seed: int
    max_tokens: int
    deterministic: bool
    def __init__(self, temperature: _Optional[float] = ..., top_p: _Optional[float] = ..., seed: _Optional[int] = ..., max_tokens: _Optional[int] = ..., deterministic: _Optional[bool] = ...) -> None: ...

class ModelIdentity(_message.Message):
    __slots__ = ("model_name", "version", "weights_sha256", "provider_metadata", "response_sha256")
    MODEL_NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_METADATA_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_SHA256_FIELD_NUMBER: _ClassVar[int]
    model_name: str
    version: str
    weights_sha256: str
    provider_metadata: _struct_pb2.Struct
    response_sha256: str
    def __init__(self, model_name: _Optional[str] = ..., version: _Optional[str] = ..., weights_sha256: _Optional[str] = ..., provider_metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., response_sha256: _Optional[str] = ...) -> None: ...

class TraceEvent(_message.Message):
    __slots__ = ("event_id", "trace_id", "timestamp", "operator", "input_summary", "output_summary", "model_fingerprint", "node_signature", "decoding_parameters", "model_identity")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    INPUT_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    NODE_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    DECODING_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    MODEL_IDENTITY_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    trace_id: str
    timestamp: _timestamp_pb2.Timestamp
    operator: Operator
    input_summary: _struct_pb2.Struct
    output_summary: _struct_pb2.Struct
    model_fingerprint: str
    node_signature: str
    decoding_parameters: DecodingParameters
    model_identity: ModelIdentity
    def __init__(self, event_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., operator: _Optional[_Union[Operator, str]] = ..., input_summary: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., output_summary: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., model_fingerprint: _Optional[str] = ..., node_signature: _Optional[str] = ..., decoding_parameters: _Optional[_Union[DecodingParameters, _Mapping]] = ..., model_identity: _Optional[_Union[ModelIdentity, _Mapping]] = ...) -> None: ...
