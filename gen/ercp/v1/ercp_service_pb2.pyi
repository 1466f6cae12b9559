import datetime

from ercp.v1 import ercp_pb2 as _ercp_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunConfig(_message.Message):
    __slots__ = ("model", "max_iterations", "max_constraints", "similarity_threshold", "temperature", "top_p", "deterministic", "verify_threshold", "candidate_threshold", "seed", "max_duration_ms", "nli_threshold", "run_fact_check", "max_constraints_per_error", "max_tokens", "allow_undecided", "extensions")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MAX_ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    MAX_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    VERIFY_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    MAX_DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    NLI_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    RUN_FACT_CHECK_FIELD_NUMBER: _ClassVar[int]
    MAX_CONSTRAINTS_PER_ERROR_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_UNDECIDED_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    model: str
    max_iterations: int
    max_constraints: int
    similarity_threshold: float
    temperature: float
    top_p: float
    deterministic: bool
    verify_threshold: float
    candidate_threshold: float
    seed: int
    max_duration_ms: int
    nli_threshold: float
    run_fact_check: bool
    max_constraints_per_error: int
    max_tokens: int
    allow_undecided: bool
    extensions: _struct_pb2.Struct
    def __init__(self, model: _Optional[str] = ..., max_iterations: _Optional[int] = ..., max_constraints: _Optional[int] = ..., similarity_threshold: _Optional[float] = ..., temperature: _Optional[float] = ..., top_p: _Optional[float] = ..., deterministic: _Optional[bool] = ..., verify_threshold: _Optional[float] = ..., candidate_threshold: _Optional[float] = ..., seed: _Optional[int] = ..., max_duration_ms: _Optional[int] = ..., nli_threshold: _Optional[float] = ..., run_fact_check: _Optional[bool] = ..., max_constraints_per_error: _Optional[int] = ..., max_tokens: _Optional[int] = ..., allow_undecided: _Optional[bool] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class RunRequest(_message.Message):
    __slots__ = ("request_id", "trace_id", "problem", "config", "constraints", "retrieval_context", "extensions")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    trace_id: str
    problem: _ercp_pb2.Problem
    config: RunConfig
    constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Constraint]
    retrieval_context: _containers.RepeatedCompositeFieldContainer[RetrievalPassage]
    extensions: _struct_pb2.Struct
    def __init__(self, request_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., problem: _Optional[_Union[_ercp_pb2.Problem, _Mapping]] = ..., config: _Optional[_Union[RunConfig, _Mapping]] = ..., constraints: _Optional[_Iterable[_Union[_ercp_pb2.Constraint, _Mapping]]] = ..., retrieval_context: _Optional[_Iterable[_Union[RetrievalPassage, _Mapping]]] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class RunResponse(_message.Message):
    __slots__ = ("trace_id", "timestamp", "proto_version", "status", "final_reasoning", "constraints", "trace_events", "utility_score", "model_fingerprint", "node_signature", "candidate_constraints", "conflicting_constraint_ids", "iterations", "status_reason", "relaxed_constraints", "fidelity_score", "constraint_outcomes", "duplicate_constraints", "open_doubts", "open_grounds")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PROTO_VERSION_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    FINAL_REASONING_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    TRACE_EVENTS_FIELD_NUMBER: _ClassVar[int]
    UTILITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    NODE_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    CONFLICTING_CONSTRAINT_IDS_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    STATUS_REASON_FIELD_NUMBER: _ClassVar[int]
    RELAXED_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    FIDELITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINT_OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    OPEN_DOUBTS_FIELD_NUMBER: _ClassVar[int]
    OPEN_GROUNDS_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    timestamp: _timestamp_pb2.Timestamp
    proto_version: str
    status: _ercp_pb2.RunStatus
    final_reasoning: _ercp_pb2.Reasoning
    constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Constraint]
    trace_events: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.TraceEvent]
    utility_score: float
    model_fingerprint: str
    node_signature: str
    candidate_constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Constraint]
    conflicting_constraint_ids: _containers.RepeatedScalarFieldContainer[str]
    iterations: int
    status_reason: str
    relaxed_constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Constraint]
    fidelity_score: float
    constraint_outcomes: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.ConstraintOutcome]
    duplicate_constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.DuplicateConstraints]
    open_doubts: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Doubt]
    open_grounds: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.OpenGround]
    def __init__(self, trace_id: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., proto_version: _Optional[str] = ..., status: _Optional[_Union[_ercp_pb2.RunStatus, str]] = ..., final_reasoning: _Optional[_Union[_ercp_pb2.Reasoning, _Mapping]] = ..., constraints: _Optional[_Iterable[_Union[_ercp_pb2.Constraint, _Mapping]]] = ..., trace_events: _Optional[_Iterable[_Union[_ercp_pb2.TraceEvent, _Mapping]]] = ..., utility_score: _Optional[float] = ..., model_fingerprint: _Optional[str] = ..., node_signature: _Optional[str] = ..., candidate_constraints: _Optional[_Iterable[_Union[_ercp_pb2.Constraint, _Mapping]]] = ..., conflicting_constraint_ids: _Optional[_Iterable[str]] = ..., iterations: _Optional[int] = ..., status_reason: _Optional[str] = ..., relaxed_constraints: _Optional[_Iterable[_Union[_ercp_pb2.Constraint, _Mapping]]] = ..., fidelity_score: _Optional[float] = ..., constraint_outcomes: _Optional[_Iterable[_Union[_ercp_pb2.ConstraintOutcome, _Mapping]]] = ..., duplicate_constraints: _Optional[_Iterable[_Union[_ercp_pb2.DuplicateConstraints, _Mapping]]] = ..., open_doubts: _Optional[_Iterable[_Union[_ercp_pb2.Doubt, _Mapping]]] = ..., open_grounds: _Optional[_Iterable[_Union[_ercp_pb2.OpenGround, _Mapping]]] = ...) -> None: ...

class RunStreamRequest(_message.Message):
    __slots__ = ("request_id", "trace_id", "problem", "config", "constraints", "retrieval_context", "extensions")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    trace_id: str
    problem: _ercp_pb2.Problem
    config: RunConfig
    constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Constraint]
    retrieval_context: _containers.RepeatedCompositeFieldContainer[RetrievalPassage]
    extensions: _struct_pb2.Struct
    def __init__(self, request_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., problem: _Optional[_Union[_ercp_pb2.Problem, _Mapping]] = ..., config: _Optional[_Union[RunConfig, _Mapping]] = ..., constraints: _Optional[_Iterable[_Union[_ercp_pb2.Constraint, _Mapping]]] = ..., retrieval_context: _Optional[_Iterable[_Union[RetrievalPassage, _Mapping]]] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class RunStreamResponse(_message.Message):
    __slots__ = ("trace_event", "result")
    TRACE_EVENT_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    trace_event: _ercp_pb2.TraceEvent
    result: RunResponse
    def __init__(self, trace_event: _Optional[_Union[_ercp_pb2.TraceEvent, _Mapping]] = ..., result: _Optional[_Union[RunResponse, _Mapping]] = ...) -> None: ...

class GenConfig(_message.Message):
    __slots__ = ("model", "temperature", "max_tokens", "deterministic", "top_p", "seed", "extensions")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    model: str
    temperature: float
    max_tokens: int
    deterministic: bool
    top_p: float
    seed: int
    extensions: _struct_pb2.Struct
    def __init__(self, model: _Optional[str] = ..., temperature: _Optional[float] = ..., max_tokens: _Optional[int] = ..., deterministic: _Optional[bool] = ..., top_p: _Optional[float] = ..., seed: _Optional[int] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class GenerateRequest(_message.Message):
    __slots__ = ("request_id", "trace_id", "problem", "constraints", "gen_config", "extensions")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    GEN_CONFIG_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    trace_id: str
    problem: _ercp_pb2.Problem
    constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Constraint]
    gen_config: GenConfig
    extensions: _struct_pb2.Struct
    def __init__(self, request_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., problem: _Optional[_Union[_ercp_pb2.Problem, _Mapping]] = ..., constraints: _Optional[_Iterable[_Union[_ercp_pb2.Constraint, _Mapping]]] = ..., gen_config: _Optional[_Union[GenConfig, _Mapping]] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class GenerateResponse(_message.Message):
    __slots__ = ("trace_id", "reasoning_id", "reasoning_text", "sentences", "claims", "model_fingerprint", "node_signature", "timestamp", "proto_version")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    REASONING_ID_FIELD_NUMBER: _ClassVar[int]
    REASONING_TEXT_FIELD_NUMBER: _ClassVar[int]
    SENTENCES_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    NODE_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PROTO_VERSION_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    reasoning_id: str
    reasoning_text: str
    sentences: _containers.RepeatedScalarFieldContainer[str]
    claims: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.ReasoningClaim]
    model_fingerprint: str
    node_signature: str
    timestamp: _timestamp_pb2.Timestamp
    proto_version: str
    def __init__(self, trace_id: _Optional[str] = ..., reasoning_id: _Optional[str] = ..., reasoning_text: _Optional[str] = ..., sentences: _Optional[_Iterable[str]] = ..., claims: _Optional[_Iterable[_Union[_ercp_pb2.ReasoningClaim, _Mapping]]] = ..., model_fingerprint: _Optional[str] = ..., node_signature: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., proto_version: _Optional[str] = ...) -> None: ...

class VerifyConfig(_message.Message):
    __slots__ = ("nli_threshold", "run_fact_check", "extensions")
    NLI_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    RUN_FACT_CHECK_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    nli_threshold: float
    run_fact_check: bool
    extensions: _struct_pb2.Struct
    def __init__(self, nli_threshold: _Optional[float] = ..., run_fact_check: _Optional[bool] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class RetrievalPassage(_message.Message):
    __slots__ = ("source", "text", "extensions")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    source: str
    text: str
    extensions: _struct_pb2.Struct
    def __init__(self, source: _Optional[str] = ..., text: _Optional[str] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class VerifyRequest(_message.Message):
    __slots__ = ("request_id", "trace_id", "reasoning_id", "reasoning_text", "constraints", "verify_config", "retrieval_context", "extensions")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    REASONING_ID_FIELD_NUMBER: _ClassVar[int]
    REASONING_TEXT_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    VERIFY_CONFIG_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    trace_id: str
    reasoning_id: str
    reasoning_text: str
    constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Constraint]
    verify_config: VerifyConfig
    retrieval_context: _containers.RepeatedCompositeFieldContainer[RetrievalPassage]
    extensions: _struct_pb2.Struct
    def __init__(self, request_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., reasoning_id: _Optional[str] = ..., reasoning_text: _Optional[str] = ..., constraints: _Optional[_Iterable[_Union[_ercp_pb2.Constraint, _Mapping]]] = ..., verify_config: _Optional[_Union[VerifyConfig, _Mapping]] = ..., retrieval_context: _Optional[_Iterable[_Union[RetrievalPassage, _Mapping]]] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class VerifyResponse(_message.Message):
    __slots__ = ("trace_id", "errors", "model_fingerprint", "node_signature", "timestamp", "proto_version", "skipped_detectors", "constraint_outcomes", "duplicate_constraints", "open_doubts", "open_grounds")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    NODE_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PROTO_VERSION_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_DETECTORS_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINT_OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    OPEN_DOUBTS_FIELD_NUMBER: _ClassVar[int]
    OPEN_GROUNDS_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    errors: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Error]
    model_fingerprint: str
    node_signature: str
    timestamp: _timestamp_pb2.Timestamp
    proto_version: str
    skipped_detectors: _containers.RepeatedScalarFieldContainer[str]
    constraint_outcomes: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.ConstraintOutcome]
    duplicate_constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.DuplicateConstraints]
    open_doubts: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Doubt]
    open_grounds: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.OpenGround]
    def __init__(self, trace_id: _Optional[str] = ..., errors: _Optional[_Iterable[_Union[_ercp_pb2.Error, _Mapping]]] = ..., model_fingerprint: _Optional[str] = ..., node_signature: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., proto_version: _Optional[str] = ..., skipped_detectors: _Optional[_Iterable[str]] = ..., constraint_outcomes: _Optional[_Iterable[_Union[_ercp_pb2.ConstraintOutcome, _Mapping]]] = ..., duplicate_constraints: _Optional[_Iterable[_Union[_ercp_pb2.DuplicateConstraints, _Mapping]]] = ..., open_doubts: _Optional[_Iterable[_Union[_ercp_pb2.Doubt, _Mapping]]] = ..., open_grounds: _Optional[_Iterable[_Union[_ercp_pb2.OpenGround, _Mapping]]] = ...) -> None: ...

class ExtractConfig(_message.Message):
    __slots__ = ("max_constraints_per_error", "verify_threshold", "candidate_threshold", "extensions")
    MAX_CONSTRAINTS_PER_ERROR_FIELD_NUMBER: _ClassVar[int]
    VERIFY_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    max_constraints_per_error: int
    verify_threshold: float
    candidate_threshold: float
    extensions: _struct_pb2.Struct
    def __init__(self, max_constraints_per_error: _Optional[int] = ..., verify_threshold: _Optional[float] = ..., candidate_threshold: _Optional[float] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ExtractConstraintsRequest(_message.Message):
    __slots__ = ("request_id", "trace_id", "errors", "reasoning_text", "extract_config", "extensions")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    REASONING_TEXT_FIELD_NUMBER: _ClassVar[int]
    EXTRACT_CONFIG_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    trace_id: str
    errors: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Error]
    reasoning_text: str
    extract_config: ExtractConfig
    extensions: _struct_pb2.Struct
    def __init__(self, request_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., errors: _Optional[_Iterable[_Union[_ercp_pb2.Error, _Mapping]]] = ..., reasoning_text: _Optional[str] = ..., extract_config: _Optional[_Union[ExtractConfig, _Mapping]] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ExtractConstraintsResponse(_message.Message):
    __slots__ = ("trace_id", "constraints", "candidate_constraints", "model_fingerprint", "node_signature", "timestamp", "proto_version")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    NODE_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PROTO_VERSION_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Constraint]
    candidate_constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Constraint]
    model_fingerprint: str
    node_signature: str
    timestamp: _timestamp_pb2.Timestamp
    proto_version: str
    def __init__(self, trace_id: _Optional[str] = ..., constraints: _Optional[_Iterable[_Union[_ercp_pb2.Constraint, _Mapping]]] = ..., candidate_constraints: _Optional[_Iterable[_Union[_ercp_pb2.Constraint, _Mapping]]] = ..., model_fingerprint: _Optional[str] = ..., node_signature: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., proto_version: _Optional[str] = ...) -> None: ...

class StabilizeRequest(_message.Message):
    __slots__ = ("request_id", "trace_id", "reasoning_prev", "reasoning_curr", "threshold", "extensions")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    REASONING_PREV_FIELD_NUMBER: _ClassVar[int]
    REASONING_CURR_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    trace_id: str
    reasoning_prev: str
    reasoning_curr: str
    threshold: float
    extensions: _struct_pb2.Struct
    def __init__(self, request_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., reasoning_prev: _Optional[str] = ..., reasoning_curr: _Optional[str] = ..., threshold: _Optional[float] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class StabilizeResponse(_message.Message):
    __slots__ = ("trace_id", "stable", "score", "node_signature", "timestamp", "proto_version", "model_fingerprint")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    STABLE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    NODE_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PROTO_VERSION_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    stable: bool
    score: float
    node_signature: str
    timestamp: _timestamp_pb2.Timestamp
    proto_version: str
    model_fingerprint: str
    def __init__(self, trace_id: _Optional[str] = ..., stable: _Optional[bool] = ..., score: _Optional[float] = ..., node_signature: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., proto_version: _Optional[str] = ..., model_fingerprint: _Optional[str] = ...) -> None: ...

class MutateRequest(_message.Message):
    __slots__ = ("request_id", "trace_id", "problem", "reasoning_text", "mutation_strategy", "mutation_config", "constraints", "extensions")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    REASONING_TEXT_FIELD_NUMBER: _ClassVar[int]
    MUTATION_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    MUTATION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    trace_id: str
    problem: _ercp_pb2.Problem
    reasoning_text: str
    mutation_strategy: _ercp_pb2.MutationStrategy
    mutation_config: _struct_pb2.Struct
    constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Constraint]
    extensions: _struct_pb2.Struct
    def __init__(self, request_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., problem: _Optional[_Union[_ercp_pb2.Problem, _Mapping]] = ..., reasoning_text: _Optional[str] = ..., mutation_strategy: _Optional[_Union[_ercp_pb2.MutationStrategy, str]] = ..., mutation_config: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., constraints: _Optional[_Iterable[_Union[_ercp_pb2.Constraint, _Mapping]]] = ..., extensions: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class MutateResponse(_message.Message):
    __slots__ = ("trace_id", "new_problem", "new_constraints", "mutation_notes", "node_signature", "timestamp", "proto_version", "model_fingerprint")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    NEW_PROBLEM_FIELD_NUMBER: _ClassVar[int]
    NEW_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    MUTATION_NOTES_FIELD_NUMBER: _ClassVar[int]
    NODE_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PROTO_VERSION_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    new_problem: _ercp_pb2.Problem
    new_constraints: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.Constraint]
    mutation_notes: str
    node_signature: str
    timestamp: _timestamp_pb2.Timestamp
    proto_version: str
    model_fingerprint: str
    def __init__(self, trace_id: _Optional[str] = ..., new_problem: _Optional[_Union[_ercp_pb2.Problem, _Mapping]] = ..., new_constraints: _Optional[_Iterable[_Union[_ercp_pb2.Constraint, _Mapping]]] = ..., mutation_notes: _Optional[str] = ..., node_signature: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., proto_version: _Optional[str] = ..., model_fingerprint: _Optional[str] = ...) -> None: ...

class GetTraceRequest(_message.Message):
    __slots__ = ("trace_id",)
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    def __init__(self, trace_id: _Optional[str] = ...) -> None: ...

class GetTraceResponse(_message.Message):
    __slots__ = ("trace_id", "trace_events", "model_fingerprints", "node_signature", "timestamp", "proto_version", "model_fingerprint", "node_key_id", "trace_key_id")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_EVENTS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINTS_FIELD_NUMBER: _ClassVar[int]
    NODE_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PROTO_VERSION_FIELD_NUMBER: _ClassVar[int]
    MODEL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    NODE_KEY_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_KEY_ID_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    trace_events: _containers.RepeatedCompositeFieldContainer[_ercp_pb2.TraceEvent]
    model_fingerprints: _containers.RepeatedScalarFieldContainer[str]
    node_signature: str
    timestamp: _timestamp_pb2.Timestamp
    proto_version: str
    model_fingerprint: str
    node_key_id: str
    trace_key_id: str
    def __init__(self, trace_id: _Optional[str] = ..., trace_events: _Optional[_Iterable[_Union[_ercp_pb2.TraceEvent, _Mapping]]] = ..., model_fingerprints: _Optional[_Iterable[str]] = ..., node_signature: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., proto_version: _Optional[str] = ..., model_fingerprint: _Optional[str] = ..., node_key_id: _Optional[str] = ..., trace_key_id: _Optional[str] = ...) -> None: ...
