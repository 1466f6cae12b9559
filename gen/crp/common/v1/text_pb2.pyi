from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EntityKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENTITY_KIND_UNSPECIFIED: _ClassVar[EntityKind]
    ENTITY_KIND_PERSON: _ClassVar[EntityKind]
    ENTITY_KIND_ORGANISATION: _ClassVar[EntityKind]
    ENTITY_KIND_LOCATION: _ClassVar[EntityKind]
    ENTITY_KIND_DATE: _ClassVar[EntityKind]
    ENTITY_KIND_TIME: _ClassVar[EntityKind]
    ENTITY_KIND_MONEY: _ClassVar[EntityKind]
    ENTITY_KIND_PERCENT: _ClassVar[EntityKind]
    ENTITY_KIND_QUANTITY: _ClassVar[EntityKind]
    ENTITY_KIND_NUMBER: _ClassVar[EntityKind]
    ENTITY_KIND_CITATION: _ClassVar[EntityKind]
    ENTITY_KIND_URL: _ClassVar[EntityKind]
    ENTITY_KIND_EMAIL: _ClassVar[EntityKind]
    ENTITY_KIND_PRODUCT: _ClassVar[EntityKind]
    ENTITY_KIND_EVENT: _ClassVar[EntityKind]
    ENTITY_KIND_LAW: _ClassVar[EntityKind]
    ENTITY_KIND_OTHER: _ClassVar[EntityKind]
ENTITY_KIND_UNSPECIFIED: EntityKind
ENTITY_KIND_PERSON: EntityKind
ENTITY_KIND_ORGANISATION: EntityKind
ENTITY_KIND_LOCATION: EntityKind
ENTITY_KIND_DATE: EntityKind
ENTITY_KIND_TIME: EntityKind
ENTITY_KIND_MONEY: EntityKind
ENTITY_KIND_PERCENT: EntityKind
ENTITY_KIND_QUANTITY: EntityKind
ENTITY_KIND_NUMBER: EntityKind
ENTITY_KIND_CITATION: EntityKind
ENTITY_KIND_URL: EntityKind
ENTITY_KIND_EMAIL: EntityKind
ENTITY_KIND_PRODUCT: EntityKind
ENTITY_KIND_EVENT: EntityKind
ENTITY_KIND_LAW: EntityKind
ENTITY_KIND_OTHER: EntityKind

class TextSpan(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class Entity(_message.Message):
    __slots__ = ("kind", "text", "span")
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    kind: EntityKind
    text: str
    span: TextSpan
    def __init__(self, kind: _Optional[_Union[EntityKind, str]] = ..., text: _Optional[str] = ..., span: _Optional[_Union[TextSpan, _Mapping]] = ...) -> None: ...

class FactSource(_message.Message):
    __slots__ = ("source_id", "uri", "title", "section", "page")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    uri: str
    title: str
    section: str
    page: int
    def __init__(self, source_id: _Optional[str] = ..., uri: _Optional[str] = ..., title: _Optional[str] = ..., section: _Optional[str] = ..., page: _Optional[int] = ...) -> None: ...
