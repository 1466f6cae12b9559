import datetime

from crp.common.v1 import text_pb2 as _text_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SourceType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_TYPE_UNSPECIFIED: _ClassVar[SourceType]
    SOURCE_TYPE_REGULATION: _ClassVar[SourceType]
    SOURCE_TYPE_OFFICIAL_DOCUMENT: _ClassVar[SourceType]
    SOURCE_TYPE_RESEARCH: _ClassVar[SourceType]
    SOURCE_TYPE_INTERNAL: _ClassVar[SourceType]
    SOURCE_TYPE_USER: _ClassVar[SourceType]
    SOURCE_TYPE_WEB: _ClassVar[SourceType]

class FactStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_STATUS_UNSPECIFIED: _ClassVar[FactStatus]
    FACT_STATUS_ACTIVE: _ClassVar[FactStatus]
    FACT_STATUS_STALE: _ClassVar[FactStatus]
    FACT_STATUS_DELETED: _ClassVar[FactStatus]
    FACT_STATUS_QUARANTINED: _ClassVar[FactStatus]

class StaleReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STALE_REASON_UNSPECIFIED: _ClassVar[StaleReason]
    STALE_REASON_SUPERSEDED: _ClassVar[StaleReason]
    STALE_REASON_NO_LONGER_VALID: _ClassVar[StaleReason]
    STALE_REASON_NOT_YET_VALID: _ClassVar[StaleReason]
    STALE_REASON_EXPIRED: _ClassVar[StaleReason]

class SourceStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_STATUS_UNSPECIFIED: _ClassVar[SourceStatus]
    SOURCE_STATUS_INGESTING: _ClassVar[SourceStatus]
    SOURCE_STATUS_ACTIVE: _ClassVar[SourceStatus]
    SOURCE_STATUS_ERASING: _ClassVar[SourceStatus]
    SOURCE_STATUS_ERASED: _ClassVar[SourceStatus]
SOURCE_TYPE_UNSPECIFIED: SourceType
SOURCE_TYPE_REGULATION: SourceType
SOURCE_TYPE_OFFICIAL_DOCUMENT: SourceType
SOURCE_TYPE_RESEARCH: SourceType
SOURCE_TYPE_INTERNAL: SourceType
SOURCE_TYPE_USER: SourceType
SOURCE_TYPE_WEB: SourceType
FACT_STATUS_UNSPECIFIED: FactStatus
FACT_STATUS_ACTIVE: FactStatus
FACT_STATUS_STALE: FactStatus
FACT_STATUS_DELETED: FactStatus
FACT_STATUS_QUARANTINED: FactStatus
STALE_REASON_UNSPECIFIED: StaleReason
STALE_REASON_SUPERSEDED: StaleReason
STALE_REASON_NO_LONGER_VALID: StaleReason
STALE_REASON_NOT_YET_VALID: StaleReason
STALE_REASON_EXPIRED: StaleReason
SOURCE_STATUS_UNSPECIFIED: SourceStatus
SOURCE_STATUS_INGESTING: SourceStatus
SOURCE_STATUS_ACTIVE: SourceStatus
SOURCE_STATUS_ERASING: SourceStatus
SOURCE_STATUS_ERASED: SourceStatus

class Fact(_message.Message):
    __slots__ = ("fact_id", "content", "content_hash", "source_id", "source_location", "importance_weight", "community_label", "ingested_at", "modified_at", "access_count", "last_accessed_at", "ttl", "status", "entities", "embedding_model", "metadata", "namespace", "stale_reason", "superseded_at", "valid_from", "valid_to")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LOCATION_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    COMMUNITY_LABEL_FIELD_NUMBER: _ClassVar[int]
    INGESTED_AT_FIELD_NUMBER: _ClassVar[int]
    MODIFIED_AT_FIELD_NUMBER: _ClassVar[int]
    ACCESS_COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_ACCESSED_AT_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    STALE_REASON_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_AT_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    content: str
    content_hash: str
    source_id: str
    source_location: str
    importance_weight: float
    community_label: str
    ingested_at: _timestamp_pb2.Timestamp
    modified_at: _timestamp_pb2.Timestamp
    access_count: int
    last_accessed_at: _timestamp_pb2.Timestamp
    ttl: _duration_pb2.Duration
    status: FactStatus
    entities: _containers.RepeatedCompositeFieldContainer[_text_pb2.Entity]
    embedding_model: str
    metadata: _containers.ScalarMap[str, str]
    namespace: str
    stale_reason: StaleReason
    superseded_at: _timestamp_pb2.Timestamp
    valid_from: _timestamp_pb2.Timestamp
    valid_to: _timestamp_pb2.Timestamp
    def __init__(self, fact_id: _Optional[str] = ..., content: _Optional[str] = ..., content_hash: _Optional[str] = ..., source_id: _Optional[str] = ..., source_location: _Optional[str] = ..., importance_weight: _Optional[float] = ..., community_label: _Optional[str] = ..., ingested_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., modified_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., access_count: _Optional[int] = ..., last_accessed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., status: _Optional[_Union[FactStatus, str]] = ..., entities: _Optional[_Iterable[_Union[_text_pb2.Entity, _Mapping]]] = ..., embedding_model: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., namespace: _Optional[str] = ..., stale_reason: _Optional[_Union[StaleReason, str]] = ..., superseded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("source_id", "title", "uri", "source_type", "media_type", "document_hash", "ingested_at", "fact_count", "status", "metadata", "version")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_HASH_FIELD_NUMBER: _ClassVar[int]
    INGESTED_AT_FIELD_NUMBER: _ClassVar[int]
    FACT_COUNT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    title: str
    uri: str
    source_type: SourceType
    media_type: str
    document_hash: str
    ingested_at: _timestamp_pb2.Timestamp
    fact_count: int
    status: SourceStatus
    metadata: _containers.ScalarMap[str, str]
    version: int
    def __init__(self, source_id: _Optional[str] = ..., title: _Optional[str] = ..., uri: _Optional[str] = ..., source_type: _Optional[_Union[SourceType, str]] = ..., media_type: _Optional[str] = ..., document_hash: _Optional[str] = ..., ingested_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., fact_count: _Optional[int] = ..., status: _Optional[_Union[SourceStatus, str]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., version: _Optional[int] = ...) -> None: ...

class Community(_message.Message):
    __slots__ = ("label", "fact_count", "epoch")
    LABEL_FIELD_NUMBER: _ClassVar[int]
    FACT_COUNT_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    label: str
    fact_count: int
    epoch: int
    def __init__(self, label: _Optional[str] = ..., fact_count: _Optional[int] = ..., epoch: _Optional[int] = ...) -> None: ...
