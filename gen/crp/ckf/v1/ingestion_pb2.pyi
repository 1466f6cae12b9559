import datetime

from crp.common.v1 import injection_pb2 as _injection_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FactKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_KIND_UNSPECIFIED: _ClassVar[FactKind]
    FACT_KIND_STATEMENT: _ClassVar[FactKind]
    FACT_KIND_RULE: _ClassVar[FactKind]
    FACT_KIND_DEFINITION: _ClassVar[FactKind]
    FACT_KIND_TABLE_ROW: _ClassVar[FactKind]
    FACT_KIND_LIST_ITEM: _ClassVar[FactKind]
    FACT_KIND_STEP: _ClassVar[FactKind]
    FACT_KIND_EXAMPLE: _ClassVar[FactKind]
    FACT_KIND_CODE: _ClassVar[FactKind]
    FACT_KIND_CAPTION: _ClassVar[FactKind]
    FACT_KIND_FOOTNOTE: _ClassVar[FactKind]
    FACT_KIND_BOILERPLATE: _ClassVar[FactKind]

class FactChange(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_CHANGE_UNSPECIFIED: _ClassVar[FactChange]
    FACT_CHANGE_NEW: _ClassVar[FactChange]
    FACT_CHANGE_UNCHANGED: _ClassVar[FactChange]
    FACT_CHANGE_RETURNING: _ClassVar[FactChange]
FACT_KIND_UNSPECIFIED: FactKind
FACT_KIND_STATEMENT: FactKind
FACT_KIND_RULE: FactKind
FACT_KIND_DEFINITION: FactKind
FACT_KIND_TABLE_ROW: FactKind
FACT_KIND_LIST_ITEM: FactKind
FACT_KIND_STEP: FactKind
FACT_KIND_EXAMPLE: FactKind
FACT_KIND_CODE: FactKind
FACT_KIND_CAPTION: FactKind
FACT_KIND_FOOTNOTE: FactKind
FACT_KIND_BOILERPLATE: FactKind
FACT_CHANGE_UNSPECIFIED: FactChange
FACT_CHANGE_NEW: FactChange
FACT_CHANGE_UNCHANGED: FactChange
FACT_CHANGE_RETURNING: FactChange

class PageBox(_message.Message):
    __slots__ = ("left", "top", "right", "bottom")
    LEFT_FIELD_NUMBER: _ClassVar[int]
    TOP_FIELD_NUMBER: _ClassVar[int]
    RIGHT_FIELD_NUMBER: _ClassVar[int]
    BOTTOM_FIELD_NUMBER: _ClassVar[int]
    left: float
    top: float
    right: float
    bottom: float
    def __init__(self, left: _Optional[float] = ..., top: _Optional[float] = ..., right: _Optional[float] = ..., bottom: _Optional[float] = ...) -> None: ...

class FactPlace(_message.Message):
    __slots__ = ("page", "box", "path", "table", "first_row", "last_row", "first_column", "last_column")
    PAGE_FIELD_NUMBER: _ClassVar[int]
    BOX_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    LAST_ROW_FIELD_NUMBER: _ClassVar[int]
    FIRST_COLUMN_FIELD_NUMBER: _ClassVar[int]
    LAST_COLUMN_FIELD_NUMBER: _ClassVar[int]
    page: int
    box: PageBox
    path: str
    table: int
    first_row: int
    last_row: int
    first_column: int
    last_column: int
    def __init__(self, page: _Optional[int] = ..., box: _Optional[_Union[PageBox, _Mapping]] = ..., path: _Optional[str] = ..., table: _Optional[int] = ..., first_row: _Optional[int] = ..., last_row: _Optional[int] = ..., first_column: _Optional[int] = ..., last_column: _Optional[int] = ...) -> None: ...

class KindCount(_message.Message):
    __slots__ = ("kind", "fact_count")
    KIND_FIELD_NUMBER: _ClassVar[int]
    FACT_COUNT_FIELD_NUMBER: _ClassVar[int]
    kind: FactKind
    fact_count: int
    def __init__(self, kind: _Optional[_Union[FactKind, str]] = ..., fact_count: _Optional[int] = ...) -> None: ...

class LanguageCount(_message.Message):
    __slots__ = ("language", "fact_count")
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    FACT_COUNT_FIELD_NUMBER: _ClassVar[int]
    language: str
    fact_count: int
    def __init__(self, language: _Optional[str] = ..., fact_count: _Optional[int] = ...) -> None: ...

class DoubtfulTable(_message.Message):
    __slots__ = ("caption", "row_count", "column_count", "why", "place")
    CAPTION_FIELD_NUMBER: _ClassVar[int]
    ROW_COUNT_FIELD_NUMBER: _ClassVar[int]
    COLUMN_COUNT_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    caption: str
    row_count: int
    column_count: int
    why: str
    place: FactPlace
    def __init__(self, caption: _Optional[str] = ..., row_count: _Optional[int] = ..., column_count: _Optional[int] = ..., why: _Optional[str] = ..., place: _Optional[_Union[FactPlace, _Mapping]] = ...) -> None: ...

class HiddenText(_message.Message):
    __slots__ = ("text", "why", "place")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    text: str
    why: str
    place: FactPlace
    def __init__(self, text: _Optional[str] = ..., why: _Optional[str] = ..., place: _Optional[_Union[FactPlace, _Mapping]] = ...) -> None: ...

class SuspectedInstruction(_message.Message):
    __slots__ = ("text", "why", "hidden", "fact_id", "place", "finding")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    FINDING_FIELD_NUMBER: _ClassVar[int]
    text: str
    why: str
    hidden: bool
    fact_id: str
    place: FactPlace
    finding: _injection_pb2.InjectionFinding
    def __init__(self, text: _Optional[str] = ..., why: _Optional[str] = ..., hidden: _Optional[bool] = ..., fact_id: _Optional[str] = ..., place: _Optional[_Union[FactPlace, _Mapping]] = ..., finding: _Optional[_Union[_injection_pb2.InjectionFinding, _Mapping]] = ...) -> None: ...

class DuplicateFact(_message.Message):
    __slots__ = ("fact_id", "content", "other_fact_id", "other_source_id", "other_content", "exact", "cosine")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    OTHER_FACT_ID_FIELD_NUMBER: _ClassVar[int]
    OTHER_SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    OTHER_CONTENT_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    COSINE_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    content: str
    other_fact_id: str
    other_source_id: str
    other_content: str
    exact: bool
    cosine: float
    def __init__(self, fact_id: _Optional[str] = ..., content: _Optional[str] = ..., other_fact_id: _Optional[str] = ..., other_source_id: _Optional[str] = ..., other_content: _Optional[str] = ..., exact: _Optional[bool] = ..., cosine: _Optional[float] = ...) -> None: ...

class DisagreeingFact(_message.Message):
    __slots__ = ("fact_id", "content", "other_fact_id", "other_source_id", "other_content", "value", "other_value", "cosine")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    OTHER_FACT_ID_FIELD_NUMBER: _ClassVar[int]
    OTHER_SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    OTHER_CONTENT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    OTHER_VALUE_FIELD_NUMBER: _ClassVar[int]
    COSINE_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    content: str
    other_fact_id: str
    other_source_id: str
    other_content: str
    value: str
    other_value: str
    cosine: float
    def __init__(self, fact_id: _Optional[str] = ..., content: _Optional[str] = ..., other_fact_id: _Optional[str] = ..., other_source_id: _Optional[str] = ..., other_content: _Optional[str] = ..., value: _Optional[str] = ..., other_value: _Optional[str] = ..., cosine: _Optional[float] = ...) -> None: ...

class IngestionReport(_message.Message):
    __slots__ = ("media_type", "title", "page_count", "declared_language", "fact_count", "kinds", "fragment_count", "fragment_ratio", "fragment_fact_ids", "languages", "doubtful_tables", "doubtful_table_count", "hidden_texts", "hidden_text_count", "suspected_instructions", "suspected_instruction_count", "furniture", "furniture_count", "compared", "duplicates", "duplicate_count", "disagreements", "disagreement_count", "warnings")
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    PAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    DECLARED_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    FACT_COUNT_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    FRAGMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    FRAGMENT_RATIO_FIELD_NUMBER: _ClassVar[int]
    FRAGMENT_FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    DOUBTFUL_TABLES_FIELD_NUMBER: _ClassVar[int]
    DOUBTFUL_TABLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_TEXTS_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_TEXT_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUSPECTED_INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    SUSPECTED_INSTRUCTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    FURNITURE_FIELD_NUMBER: _ClassVar[int]
    FURNITURE_COUNT_FIELD_NUMBER: _ClassVar[int]
    COMPARED_FIELD_NUMBER: _ClassVar[int]
    DUPLICATES_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    DISAGREEMENTS_FIELD_NUMBER: _ClassVar[int]
    DISAGREEMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    media_type: str
    title: str
    page_count: int
    declared_language: str
    fact_count: int
    kinds: _containers.RepeatedCompositeFieldContainer[KindCount]
    fragment_count: int
    fragment_ratio: float
    fragment_fact_ids: _containers.RepeatedScalarFieldContainer[str]
    languages: _containers.RepeatedCompositeFieldContainer[LanguageCount]
    doubtful_tables: _containers.RepeatedCompositeFieldContainer[DoubtfulTable]
    doubtful_table_count: int
    hidden_texts: _containers.RepeatedCompositeFieldContainer[HiddenText]
    hidden_text_count: int
    suspected_instructions: _containers.RepeatedCompositeFieldContainer[SuspectedInstruction]
    suspected_instruction_count: int
    furniture: _containers.RepeatedScalarFieldContainer[str]
    furniture_count: int
    compared: bool
    duplicates: _containers.RepeatedCompositeFieldContainer[DuplicateFact]
    duplicate_count: int
    disagreements: _containers.RepeatedCompositeFieldContainer[DisagreeingFact]
    disagreement_count: int
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, media_type: _Optional[str] = ..., title: _Optional[str] = ..., page_count: _Optional[int] = ..., declared_language: _Optional[str] = ..., fact_count: _Optional[int] = ..., kinds: _Optional[_Iterable[_Union[KindCount, _Mapping]]] = ..., fragment_count: _Optional[int] = ..., fragment_ratio: _Optional[float] = ..., fragment_fact_ids: _Optional[_Iterable[str]] = ..., languages: _Optional[_Iterable[_Union[LanguageCount, _Mapping]]] = ..., doubtful_tables: _Optional[_Iterable[_Union[DoubtfulTable, _Mapping]]] = ..., doubtful_table_count: _Optional[int] = ..., hidden_texts: _Optional[_Iterable[_Union[HiddenText, _Mapping]]] = ..., hidden_text_count: _Optional[int] = ..., suspected_instructions: _Optional[_Iterable[_Union[SuspectedInstruction, _Mapping]]] = ..., suspected_instruction_count: _Optional[int] = ..., furniture: _Optional[_Iterable[str]] = ..., furniture_count: _Optional[int] = ..., compared: _Optional[bool] = ..., duplicates: _Optional[_Iterable[_Union[DuplicateFact, _Mapping]]] = ..., duplicate_count: _Optional[int] = ..., disagreements: _Optional[_Iterable[_Union[DisagreeingFact, _Mapping]]] = ..., disagreement_count: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class PreviewedFact(_message.Message):
    __slots__ = ("fact_id", "content", "source_location", "kind", "place", "change", "fragment")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LOCATION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    FRAGMENT_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    content: str
    source_location: str
    kind: FactKind
    place: FactPlace
    change: FactChange
    fragment: bool
    def __init__(self, fact_id: _Optional[str] = ..., content: _Optional[str] = ..., source_location: _Optional[str] = ..., kind: _Optional[_Union[FactKind, str]] = ..., place: _Optional[_Union[FactPlace, _Mapping]] = ..., change: _Optional[_Union[FactChange, str]] = ..., fragment: _Optional[bool] = ...) -> None: ...

class SourceVersion(_message.Message):
    __slots__ = ("version", "document_hash", "ingested_at", "fact_count")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_HASH_FIELD_NUMBER: _ClassVar[int]
    INGESTED_AT_FIELD_NUMBER: _ClassVar[int]
    FACT_COUNT_FIELD_NUMBER: _ClassVar[int]
    version: int
    document_hash: str
    ingested_at: _timestamp_pb2.Timestamp
    fact_count: int
    def __init__(self, version: _Optional[int] = ..., document_hash: _Optional[str] = ..., ingested_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., fact_count: _Optional[int] = ...) -> None: ...

class ComparedFact(_message.Message):
    __slots__ = ("fact_id", "content", "source_location", "place", "position")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LOCATION_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    content: str
    source_location: str
    place: FactPlace
    position: int
    def __init__(self, fact_id: _Optional[str] = ..., content: _Optional[str] = ..., source_location: _Optional[str] = ..., place: _Optional[_Union[FactPlace, _Mapping]] = ..., position: _Optional[int] = ...) -> None: ...

class FactPair(_message.Message):
    __slots__ = ("before", "after", "similarity")
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    before: ComparedFact
    after: ComparedFact
    similarity: float
    def __init__(self, before: _Optional[_Union[ComparedFact, _Mapping]] = ..., after: _Optional[_Union[ComparedFact, _Mapping]] = ..., similarity: _Optional[float] = ...) -> None: ...
