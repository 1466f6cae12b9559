from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from crp.common.v1 import text_pb2 as _text_pb2
from crp.dpe.v1 import report_pb2 as _report_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EvidenceOrigin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVIDENCE_ORIGIN_UNSPECIFIED: _ClassVar[EvidenceOrigin]
    EVIDENCE_ORIGIN_FACT: _ClassVar[EvidenceOrigin]
    EVIDENCE_ORIGIN_PROMPT: _ClassVar[EvidenceOrigin]
    EVIDENCE_ORIGIN_ANSWER: _ClassVar[EvidenceOrigin]

class HaltMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HALT_MODE_UNSPECIFIED: _ClassVar[HaltMode]
    HALT_MODE_HARD: _ClassVar[HaltMode]
    HALT_MODE_SOFT: _ClassVar[HaltMode]

class HaltReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HALT_REASON_UNSPECIFIED: _ClassVar[HaltReason]
    HALT_REASON_HARD_LIMIT: _ClassVar[HaltReason]
    HALT_REASON_WINDOW_AVG: _ClassVar[HaltReason]
    HALT_REASON_DOWNWARD_TREND: _ClassVar[HaltReason]
    HALT_REASON_CALLBACK_TIMEOUT: _ClassVar[HaltReason]

class TokenState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOKEN_STATE_UNSPECIFIED: _ClassVar[TokenState]
    TOKEN_STATE_UNSCORED: _ClassVar[TokenState]
    TOKEN_STATE_CARRIED: _ClassVar[TokenState]
    TOKEN_STATE_SCORED: _ClassVar[TokenState]
    TOKEN_STATE_UNASSERTING: _ClassVar[TokenState]
    TOKEN_STATE_BETWEEN: _ClassVar[TokenState]
    TOKEN_STATE_ENDING: _ClassVar[TokenState]
    TOKEN_STATE_HARD_LIMIT: _ClassVar[TokenState]
    TOKEN_STATE_WINDOW_AVG: _ClassVar[TokenState]
    TOKEN_STATE_DOWNWARD_TREND: _ClassVar[TokenState]
EVIDENCE_ORIGIN_UNSPECIFIED: EvidenceOrigin
EVIDENCE_ORIGIN_FACT: EvidenceOrigin
EVIDENCE_ORIGIN_PROMPT: EvidenceOrigin
EVIDENCE_ORIGIN_ANSWER: EvidenceOrigin
HALT_MODE_UNSPECIFIED: HaltMode
HALT_MODE_HARD: HaltMode
HALT_MODE_SOFT: HaltMode
HALT_REASON_UNSPECIFIED: HaltReason
HALT_REASON_HARD_LIMIT: HaltReason
HALT_REASON_WINDOW_AVG: HaltReason
HALT_REASON_DOWNWARD_TREND: HaltReason
HALT_REASON_CALLBACK_TIMEOUT: HaltReason
TOKEN_STATE_UNSPECIFIED: TokenState
TOKEN_STATE_UNSCORED: TokenState
TOKEN_STATE_CARRIED: TokenState
TOKEN_STATE_SCORED: TokenState
TOKEN_STATE_UNASSERTING: TokenState
TOKEN_STATE_BETWEEN: TokenState
TOKEN_STATE_ENDING: TokenState
TOKEN_STATE_HARD_LIMIT: TokenState
TOKEN_STATE_WINDOW_AVG: TokenState
TOKEN_STATE_DOWNWARD_TREND: TokenState

class GroundingText(_message.Message):
    __slots__ = ("id", "content")
    ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    id: str
    content: str
    def __init__(self, id: _Optional[str] = ..., content: _Optional[str] = ...) -> None: ...

class GroundingEvidence(_message.Message):
    __slots__ = ("id", "span", "answer_span", "similarity", "contradiction_probability", "origin")
    ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    ANSWER_SPAN_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTION_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    id: str
    span: _text_pb2.TextSpan
    answer_span: _text_pb2.TextSpan
    similarity: float
    contradiction_probability: float
    origin: EvidenceOrigin
    def __init__(self, id: _Optional[str] = ..., span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., answer_span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., similarity: _Optional[float] = ..., contradiction_probability: _Optional[float] = ..., origin: _Optional[_Union[EvidenceOrigin, str]] = ...) -> None: ...

class StartOversight(_message.Message):
    __slots__ = ("prompt", "facts", "halt_mode", "hard_limit", "window_tokens", "window_threshold", "trend_window_tokens", "trend_threshold", "soft_limit", "soft_halt_cap_tokens", "score_every_tokens", "oversight_id", "strict")
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    HALT_MODE_FIELD_NUMBER: _ClassVar[int]
    HARD_LIMIT_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    TREND_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TREND_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    SOFT_LIMIT_FIELD_NUMBER: _ClassVar[int]
    SOFT_HALT_CAP_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SCORE_EVERY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OVERSIGHT_ID_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    prompt: str
    facts: _containers.RepeatedCompositeFieldContainer[GroundingText]
    halt_mode: HaltMode
    hard_limit: float
    window_tokens: int
    window_threshold: float
    trend_window_tokens: int
    trend_threshold: float
    soft_limit: float
    soft_halt_cap_tokens: int
    score_every_tokens: int
    oversight_id: str
    strict: bool
    def __init__(self, prompt: _Optional[str] = ..., facts: _Optional[_Iterable[_Union[GroundingText, _Mapping]]] = ..., halt_mode: _Optional[_Union[HaltMode, str]] = ..., hard_limit: _Optional[float] = ..., window_tokens: _Optional[int] = ..., window_threshold: _Optional[float] = ..., trend_window_tokens: _Optional[int] = ..., trend_threshold: _Optional[float] = ..., soft_limit: _Optional[float] = ..., soft_halt_cap_tokens: _Optional[int] = ..., score_every_tokens: _Optional[int] = ..., oversight_id: _Optional[str] = ..., strict: _Optional[bool] = ...) -> None: ...

class ResumeOversight(_message.Message):
    __slots__ = ("oversight_id", "resume_after")
    OVERSIGHT_ID_FIELD_NUMBER: _ClassVar[int]
    RESUME_AFTER_FIELD_NUMBER: _ClassVar[int]
    oversight_id: str
    resume_after: int
    def __init__(self, oversight_id: _Optional[str] = ..., resume_after: _Optional[int] = ...) -> None: ...

class StreamToken(_message.Message):
    __slots__ = ("index", "text")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    index: int
    text: str
    def __init__(self, index: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class EndOversight(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TokenVerdict(_message.Message):
    __slots__ = ("index", "coherence", "window_mean", "trend_drop", "warning", "state", "released_index")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    COHERENCE_FIELD_NUMBER: _ClassVar[int]
    WINDOW_MEAN_FIELD_NUMBER: _ClassVar[int]
    TREND_DROP_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RELEASED_INDEX_FIELD_NUMBER: _ClassVar[int]
    index: int
    coherence: float
    window_mean: float
    trend_drop: float
    warning: bool
    state: TokenState
    released_index: int
    def __init__(self, index: _Optional[int] = ..., coherence: _Optional[float] = ..., window_mean: _Optional[float] = ..., trend_drop: _Optional[float] = ..., warning: _Optional[bool] = ..., state: _Optional[_Union[TokenState, str]] = ..., released_index: _Optional[int] = ...) -> None: ...

class StreamHalt(_message.Message):
    __slots__ = ("reason", "last_index", "broken_at_index", "evidence")
    REASON_FIELD_NUMBER: _ClassVar[int]
    LAST_INDEX_FIELD_NUMBER: _ClassVar[int]
    BROKEN_AT_INDEX_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    reason: HaltReason
    last_index: int
    broken_at_index: int
    evidence: _containers.RepeatedCompositeFieldContainer[GroundingEvidence]
    def __init__(self, reason: _Optional[_Union[HaltReason, str]] = ..., last_index: _Optional[int] = ..., broken_at_index: _Optional[int] = ..., evidence: _Optional[_Iterable[_Union[GroundingEvidence, _Mapping]]] = ...) -> None: ...

class StreamSummary(_message.Message):
    __slots__ = ("halted", "tokens", "mean_coherence", "minimum_coherence", "warnings", "status", "reason", "released_index", "scored_sentences", "models")
    HALTED_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    MEAN_COHERENCE_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_COHERENCE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RELEASED_INDEX_FIELD_NUMBER: _ClassVar[int]
    SCORED_SENTENCES_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    halted: bool
    tokens: int
    mean_coherence: float
    minimum_coherence: float
    warnings: int
    status: _taxonomy_pb2.StageStatus
    reason: str
    released_index: int
    scored_sentences: int
    models: _containers.RepeatedCompositeFieldContainer[_report_pb2.ModelFingerprint]
    def __init__(self, halted: _Optional[bool] = ..., tokens: _Optional[int] = ..., mean_coherence: _Optional[float] = ..., minimum_coherence: _Optional[float] = ..., warnings: _Optional[int] = ..., status: _Optional[_Union[_taxonomy_pb2.StageStatus, str]] = ..., reason: _Optional[str] = ..., released_index: _Optional[int] = ..., scored_sentences: _Optional[int] = ..., models: _Optional[_Iterable[_Union[_report_pb2.ModelFingerprint, _Mapping]]] = ...) -> None: ...
