from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GrammaticalPerson(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GRAMMATICAL_PERSON_UNSPECIFIED: _ClassVar[GrammaticalPerson]
    GRAMMATICAL_PERSON_FIRST: _ClassVar[GrammaticalPerson]
    GRAMMATICAL_PERSON_SECOND: _ClassVar[GrammaticalPerson]
    GRAMMATICAL_PERSON_THIRD: _ClassVar[GrammaticalPerson]

class RelevanceStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RELEVANCE_STATUS_UNSPECIFIED: _ClassVar[RelevanceStatus]
    RELEVANCE_STATUS_RELEVANT: _ClassVar[RelevanceStatus]
    RELEVANCE_STATUS_PARTIAL: _ClassVar[RelevanceStatus]
    RELEVANCE_STATUS_BESIDE_THE_QUESTION: _ClassVar[RelevanceStatus]
    RELEVANCE_STATUS_REFUSAL: _ClassVar[RelevanceStatus]
    RELEVANCE_STATUS_NOT_ASSESSED: _ClassVar[RelevanceStatus]

class AnswerKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ANSWER_KIND_UNSPECIFIED: _ClassVar[AnswerKind]
    ANSWER_KIND_NUMBER: _ClassVar[AnswerKind]
    ANSWER_KIND_TIME: _ClassVar[AnswerKind]
    ANSWER_KIND_NAME: _ClassVar[AnswerKind]
    ANSWER_KIND_PLACE: _ClassVar[AnswerKind]
    ANSWER_KIND_YES_NO: _ClassVar[AnswerKind]
    ANSWER_KIND_LIST: _ClassVar[AnswerKind]
    ANSWER_KIND_PROCEDURE: _ClassVar[AnswerKind]
    ANSWER_KIND_REASON: _ClassVar[AnswerKind]
    ANSWER_KIND_DEFINITION: _ClassVar[AnswerKind]
    ANSWER_KIND_CODE: _ClassVar[AnswerKind]
    ANSWER_KIND_OPEN: _ClassVar[AnswerKind]
GRAMMATICAL_PERSON_UNSPECIFIED: GrammaticalPerson
GRAMMATICAL_PERSON_FIRST: GrammaticalPerson
GRAMMATICAL_PERSON_SECOND: GrammaticalPerson
GRAMMATICAL_PERSON_THIRD: GrammaticalPerson
RELEVANCE_STATUS_UNSPECIFIED: RelevanceStatus
RELEVANCE_STATUS_RELEVANT: RelevanceStatus
RELEVANCE_STATUS_PARTIAL: RelevanceStatus
RELEVANCE_STATUS_BESIDE_THE_QUESTION: RelevanceStatus
RELEVANCE_STATUS_REFUSAL: RelevanceStatus
RELEVANCE_STATUS_NOT_ASSESSED: RelevanceStatus
ANSWER_KIND_UNSPECIFIED: AnswerKind
ANSWER_KIND_NUMBER: AnswerKind
ANSWER_KIND_TIME: AnswerKind
ANSWER_KIND_NAME: AnswerKind
ANSWER_KIND_PLACE: AnswerKind
ANSWER_KIND_YES_NO: AnswerKind
ANSWER_KIND_LIST: AnswerKind
ANSWER_KIND_PROCEDURE: AnswerKind
ANSWER_KIND_REASON: AnswerKind
ANSWER_KIND_DEFINITION: AnswerKind
ANSWER_KIND_CODE: AnswerKind
ANSWER_KIND_OPEN: AnswerKind

class RegisterMeasures(_message.Message):
    __slots__ = ("mean_sentence_words", "mean_word_letters", "passive_ratio", "person")
    MEAN_SENTENCE_WORDS_FIELD_NUMBER: _ClassVar[int]
    MEAN_WORD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    PASSIVE_RATIO_FIELD_NUMBER: _ClassVar[int]
    PERSON_FIELD_NUMBER: _ClassVar[int]
    mean_sentence_words: float
    mean_word_letters: float
    passive_ratio: float
    person: GrammaticalPerson
    def __init__(self, mean_sentence_words: _Optional[float] = ..., mean_word_letters: _Optional[float] = ..., passive_ratio: _Optional[float] = ..., person: _Optional[_Union[GrammaticalPerson, str]] = ...) -> None: ...

class FlowSignals(_message.Message):
    __slots__ = ("prior_window_id", "opening_coherence", "topic_continuity", "register_consistency", "has_transition", "register", "prior_register")
    PRIOR_WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    OPENING_COHERENCE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_CONTINUITY_FIELD_NUMBER: _ClassVar[int]
    REGISTER_CONSISTENCY_FIELD_NUMBER: _ClassVar[int]
    HAS_TRANSITION_FIELD_NUMBER: _ClassVar[int]
    REGISTER_FIELD_NUMBER: _ClassVar[int]
    PRIOR_REGISTER_FIELD_NUMBER: _ClassVar[int]
    prior_window_id: str
    opening_coherence: float
    topic_continuity: float
    register_consistency: float
    has_transition: bool
    register: RegisterMeasures
    prior_register: RegisterMeasures
    def __init__(self, prior_window_id: _Optional[str] = ..., opening_coherence: _Optional[float] = ..., topic_continuity: _Optional[float] = ..., register_consistency: _Optional[float] = ..., has_transition: _Optional[bool] = ..., register: _Optional[_Union[RegisterMeasures, _Mapping]] = ..., prior_register: _Optional[_Union[RegisterMeasures, _Mapping]] = ...) -> None: ...

class Relevance(_message.Message):
    __slots__ = ("status", "score", "expected", "questions_total", "unanswered_questions", "reason")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    UNANSWERED_QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    status: RelevanceStatus
    score: float
    expected: _containers.RepeatedScalarFieldContainer[AnswerKind]
    questions_total: int
    unanswered_questions: _containers.RepeatedScalarFieldContainer[str]
    reason: str
    def __init__(self, status: _Optional[_Union[RelevanceStatus, str]] = ..., score: _Optional[float] = ..., expected: _Optional[_Iterable[_Union[AnswerKind, str]]] = ..., questions_total: _Optional[int] = ..., unanswered_questions: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ...) -> None: ...
