from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GrammaticalPerson(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GRAMMATICAL_PERSON_UNSPECIFIED: _ClassVar[GrammaticalPerson]
    GRAMMATICAL_PERSON_FIRST: _ClassVar[GrammaticalPerson]
    GRAMMATICAL_PERSON_SECOND: _ClassVar[GrammaticalPerson]
    GRAMMATICAL_PERSON_THIRD: _ClassVar[GrammaticalPerson]
GRAMMATICAL_PERSON_UNSPECIFIED: GrammaticalPerson
GRAMMATICAL_PERSON_FIRST: GrammaticalPerson
GRAMMATICAL_PERSON_SECOND: GrammaticalPerson
GRAMMATICAL_PERSON_THIRD: GrammaticalPerson

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
