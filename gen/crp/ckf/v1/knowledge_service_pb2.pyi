import datetime

from crp.ckf.v1 import ckf_pb2 as _ckf_pb2
from crp.ckf.v1 import ingestion_pb2 as _ingestion_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SearchMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEARCH_MODE_UNSPECIFIED: _ClassVar[SearchMode]
    SEARCH_MODE_DENSE: _ClassVar[SearchMode]
    SEARCH_MODE_TEXT: _ClassVar[SearchMode]
    SEARCH_MODE_HYBRID: _ClassVar[SearchMode]
    SEARCH_MODE_RERANKED: _ClassVar[SearchMode]
    SEARCH_MODE_LATE_INTERACTION: _ClassVar[SearchMode]
SEARCH_MODE_UNSPECIFIED: SearchMode
SEARCH_MODE_DENSE: SearchMode
SEARCH_MODE_TEXT: SearchMode
SEARCH_MODE_HYBRID: SearchMode
SEARCH_MODE_RERANKED: SearchMode
SEARCH_MODE_LATE_INTERACTION: SearchMode

class IngestSourceRequest(_message.Message):
    __slots__ = ("request_id", "uri", "title", "media_type", "source_type", "content", "metadata", "importance_weight", "ttl", "supersedes_uris")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDES_URIS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    uri: str
    title: str
    media_type: str
    source_type: _ckf_pb2.SourceType
    content: bytes
    metadata: _containers.ScalarMap[str, str]
    importance_weight: float
    ttl: _duration_pb2.Duration
    supersedes_uris: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, request_id: _Optional[str] = ..., uri: _Optional[str] = ..., title: _Optional[str] = ..., media_type: _Optional[str] = ..., source_type: _Optional[_Union[_ckf_pb2.SourceType, str]] = ..., content: _Optional[bytes] = ..., metadata: _Optional[_Mapping[str, str]] = ..., importance_weight: _Optional[float] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., supersedes_uris: _Optional[_Iterable[str]] = ...) -> None: ...

class IngestSourceResponse(_message.Message):
    __slots__ = ("source", "facts_created", "facts_stale", "facts_unchanged", "unchanged", "warnings", "report")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    FACTS_CREATED_FIELD_NUMBER: _ClassVar[int]
    FACTS_STALE_FIELD_NUMBER: _ClassVar[int]
    FACTS_UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    source: _ckf_pb2.Source
    facts_created: int
    facts_stale: int
    facts_unchanged: int
    unchanged: bool
    warnings: _containers.RepeatedScalarFieldContainer[str]
    report: _ingestion_pb2.IngestionReport
    def __init__(self, source: _Optional[_Union[_ckf_pb2.Source, _Mapping]] = ..., facts_created: _Optional[int] = ..., facts_stale: _Optional[int] = ..., facts_unchanged: _Optional[int] = ..., unchanged: _Optional[bool] = ..., warnings: _Optional[_Iterable[str]] = ..., report: _Optional[_Union[_ingestion_pb2.IngestionReport, _Mapping]] = ...) -> None: ...

class IngestSourceStreamRequest(_message.Message):
    __slots__ = ("source",)
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    source: IngestSourceRequest
    def __init__(self, source: _Optional[_Union[IngestSourceRequest, _Mapping]] = ...) -> None: ...

class IngestionProgress(_message.Message):
    __slots__ = ("stage", "facts_done", "facts_total", "seconds_left")
    STAGE_FIELD_NUMBER: _ClassVar[int]
    FACTS_DONE_FIELD_NUMBER: _ClassVar[int]
    FACTS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    SECONDS_LEFT_FIELD_NUMBER: _ClassVar[int]
    stage: str
    facts_done: int
    facts_total: int
    seconds_left: float
    def __init__(self, stage: _Optional[str] = ..., facts_done: _Optional[int] = ..., facts_total: _Optional[int] = ..., seconds_left: _Optional[float] = ...) -> None: ...

class IngestSourceStreamResponse(_message.Message):
    __slots__ = ("progress", "result")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    progress: IngestionProgress
    result: IngestSourceResponse
    def __init__(self, progress: _Optional[_Union[IngestionProgress, _Mapping]] = ..., result: _Optional[_Union[IngestSourceResponse, _Mapping]] = ...) -> None: ...

class PreviewIngestionRequest(_message.Message):
    __slots__ = ("uri", "media_type", "content", "skip_comparison", "page_size", "page_token")
    URI_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SKIP_COMPARISON_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    uri: str
    media_type: str
    content: bytes
    skip_comparison: bool
    page_size: int
    page_token: str
    def __init__(self, uri: _Optional[str] = ..., media_type: _Optional[str] = ..., content: _Optional[bytes] = ..., skip_comparison: _Optional[bool] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class PreviewIngestionResponse(_message.Message):
    __slots__ = ("report", "facts", "next_page_token", "source_id", "facts_created", "facts_stale", "facts_unchanged", "unchanged")
    REPORT_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    FACTS_CREATED_FIELD_NUMBER: _ClassVar[int]
    FACTS_STALE_FIELD_NUMBER: _ClassVar[int]
    FACTS_UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    report: _ingestion_pb2.IngestionReport
    facts: _containers.RepeatedCompositeFieldContainer[_ingestion_pb2.PreviewedFact]
    next_page_token: str
    source_id: str
    facts_created: int
    facts_stale: int
    facts_unchanged: int
    unchanged: bool
    def __init__(self, report: _Optional[_Union[_ingestion_pb2.IngestionReport, _Mapping]] = ..., facts: _Optional[_Iterable[_Union[_ingestion_pb2.PreviewedFact, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., source_id: _Optional[str] = ..., facts_created: _Optional[int] = ..., facts_stale: _Optional[int] = ..., facts_unchanged: _Optional[int] = ..., unchanged: _Optional[bool] = ...) -> None: ...

class StoredVersion(_message.Message):
    __slots__ = ("source_id", "version")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    version: int
    def __init__(self, source_id: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class UnstoredDocument(_message.Message):
    __slots__ = ("name", "media_type", "content")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    name: str
    media_type: str
    content: bytes
    def __init__(self, name: _Optional[str] = ..., media_type: _Optional[str] = ..., content: _Optional[bytes] = ...) -> None: ...

class DiffSide(_message.Message):
    __slots__ = ("stored", "document")
    STORED_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    stored: StoredVersion
    document: UnstoredDocument
    def __init__(self, stored: _Optional[_Union[StoredVersion, _Mapping]] = ..., document: _Optional[_Union[UnstoredDocument, _Mapping]] = ...) -> None: ...

class DiffSourcesRequest(_message.Message):
    __slots__ = ("before", "after", "limit")
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    before: DiffSide
    after: DiffSide
    limit: int
    def __init__(self, before: _Optional[_Union[DiffSide, _Mapping]] = ..., after: _Optional[_Union[DiffSide, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class DiffSourcesResponse(_message.Message):
    __slots__ = ("added", "added_count", "removed", "removed_count", "changed", "changed_count", "moved", "moved_count", "unchanged_count", "renamed", "renamed_count")
    ADDED_FIELD_NUMBER: _ClassVar[int]
    ADDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    CHANGED_COUNT_FIELD_NUMBER: _ClassVar[int]
    MOVED_FIELD_NUMBER: _ClassVar[int]
    MOVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_COUNT_FIELD_NUMBER: _ClassVar[int]
    RENAMED_FIELD_NUMBER: _ClassVar[int]
    RENAMED_COUNT_FIELD_NUMBER: _ClassVar[int]
    added: _containers.RepeatedCompositeFieldContainer[_ingestion_pb2.ComparedFact]
    added_count: int
    removed: _containers.RepeatedCompositeFieldContainer[_ingestion_pb2.ComparedFact]
    removed_count: int
    changed: _containers.RepeatedCompositeFieldContainer[_ingestion_pb2.FactPair]
    changed_count: int
    moved: _containers.RepeatedCompositeFieldContainer[_ingestion_pb2.FactPair]
    moved_count: int
    unchanged_count: int
    renamed: _containers.RepeatedCompositeFieldContainer[RenamedHeading]
    renamed_count: int
    def __init__(self, added: _Optional[_Iterable[_Union[_ingestion_pb2.ComparedFact, _Mapping]]] = ..., added_count: _Optional[int] = ..., removed: _Optional[_Iterable[_Union[_ingestion_pb2.ComparedFact, _Mapping]]] = ..., removed_count: _Optional[int] = ..., changed: _Optional[_Iterable[_Union[_ingestion_pb2.FactPair, _Mapping]]] = ..., changed_count: _Optional[int] = ..., moved: _Optional[_Iterable[_Union[_ingestion_pb2.FactPair, _Mapping]]] = ..., moved_count: _Optional[int] = ..., unchanged_count: _Optional[int] = ..., renamed: _Optional[_Iterable[_Union[RenamedHeading, _Mapping]]] = ..., renamed_count: _Optional[int] = ...) -> None: ...

class RenamedHeading(_message.Message):
    __slots__ = ("before", "after")
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    before: str
    after: str
    def __init__(self, before: _Optional[str] = ..., after: _Optional[str] = ...) -> None: ...

class FactInput(_message.Message):
    __slots__ = ("content", "source_location", "importance_weight", "ttl", "metadata", "supersedes_fact_ids")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LOCATION_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDES_FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    content: str
    source_location: str
    importance_weight: float
    ttl: _duration_pb2.Duration
    metadata: _containers.ScalarMap[str, str]
    supersedes_fact_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, content: _Optional[str] = ..., source_location: _Optional[str] = ..., importance_weight: _Optional[float] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., supersedes_fact_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class IngestFactsRequest(_message.Message):
    __slots__ = ("request_id", "uri", "title", "source_type", "facts")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    uri: str
    title: str
    source_type: _ckf_pb2.SourceType
    facts: _containers.RepeatedCompositeFieldContainer[FactInput]
    def __init__(self, request_id: _Optional[str] = ..., uri: _Optional[str] = ..., title: _Optional[str] = ..., source_type: _Optional[_Union[_ckf_pb2.SourceType, str]] = ..., facts: _Optional[_Iterable[_Union[FactInput, _Mapping]]] = ...) -> None: ...

class IngestFactsResponse(_message.Message):
    __slots__ = ("source", "fact_ids", "facts_created", "facts_stale", "facts_unchanged", "warnings")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    FACTS_CREATED_FIELD_NUMBER: _ClassVar[int]
    FACTS_STALE_FIELD_NUMBER: _ClassVar[int]
    FACTS_UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    source: _ckf_pb2.Source
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    facts_created: int
    facts_stale: int
    facts_unchanged: int
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, source: _Optional[_Union[_ckf_pb2.Source, _Mapping]] = ..., fact_ids: _Optional[_Iterable[str]] = ..., facts_created: _Optional[int] = ..., facts_stale: _Optional[int] = ..., facts_unchanged: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class GetFactRequest(_message.Message):
    __slots__ = ("fact_id",)
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    def __init__(self, fact_id: _Optional[str] = ...) -> None: ...

class GetFactResponse(_message.Message):
    __slots__ = ("fact", "previous_fact_id", "next_fact_id", "section", "place", "kind")
    FACT_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FACT_ID_FIELD_NUMBER: _ClassVar[int]
    NEXT_FACT_ID_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    fact: _ckf_pb2.Fact
    previous_fact_id: str
    next_fact_id: str
    section: int
    place: _ingestion_pb2.FactPlace
    kind: _ingestion_pb2.FactKind
    def __init__(self, fact: _Optional[_Union[_ckf_pb2.Fact, _Mapping]] = ..., previous_fact_id: _Optional[str] = ..., next_fact_id: _Optional[str] = ..., section: _Optional[int] = ..., place: _Optional[_Union[_ingestion_pb2.FactPlace, _Mapping]] = ..., kind: _Optional[_Union[_ingestion_pb2.FactKind, str]] = ...) -> None: ...

class ListFactsRequest(_message.Message):
    __slots__ = ("source_ids", "communities", "statuses", "page_size", "page_token", "fact_id_prefix")
    SOURCE_IDS_FIELD_NUMBER: _ClassVar[int]
    COMMUNITIES_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    FACT_ID_PREFIX_FIELD_NUMBER: _ClassVar[int]
    source_ids: _containers.RepeatedScalarFieldContainer[str]
    communities: _containers.RepeatedScalarFieldContainer[str]
    statuses: _containers.RepeatedScalarFieldContainer[_ckf_pb2.FactStatus]
    page_size: int
    page_token: str
    fact_id_prefix: str
    def __init__(self, source_ids: _Optional[_Iterable[str]] = ..., communities: _Optional[_Iterable[str]] = ..., statuses: _Optional[_Iterable[_Union[_ckf_pb2.FactStatus, str]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., fact_id_prefix: _Optional[str] = ...) -> None: ...

class ListFactsResponse(_message.Message):
    __slots__ = ("facts", "next_page_token")
    FACTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    facts: _containers.RepeatedCompositeFieldContainer[_ckf_pb2.Fact]
    next_page_token: str
    def __init__(self, facts: _Optional[_Iterable[_Union[_ckf_pb2.Fact, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchFactsRequest(_message.Message):
    __slots__ = ("query", "mode", "limit", "source_ids", "communities", "include_superseded")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_IDS_FIELD_NUMBER: _ClassVar[int]
    COMMUNITIES_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    query: str
    mode: SearchMode
    limit: int
    source_ids: _containers.RepeatedScalarFieldContainer[str]
    communities: _containers.RepeatedScalarFieldContainer[str]
    include_superseded: bool
    def __init__(self, query: _Optional[str] = ..., mode: _Optional[_Union[SearchMode, str]] = ..., limit: _Optional[int] = ..., source_ids: _Optional[_Iterable[str]] = ..., communities: _Optional[_Iterable[str]] = ..., include_superseded: _Optional[bool] = ...) -> None: ...

class SearchHit(_message.Message):
    __slots__ = ("fact", "score")
    FACT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    fact: _ckf_pb2.Fact
    score: float
    def __init__(self, fact: _Optional[_Union[_ckf_pb2.Fact, _Mapping]] = ..., score: _Optional[float] = ...) -> None: ...

class SearchFactsResponse(_message.Message):
    __slots__ = ("hits", "mode", "keyword_fallback", "warnings")
    HITS_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_FALLBACK_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[SearchHit]
    mode: SearchMode
    keyword_fallback: bool
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, hits: _Optional[_Iterable[_Union[SearchHit, _Mapping]]] = ..., mode: _Optional[_Union[SearchMode, str]] = ..., keyword_fallback: _Optional[bool] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class EraseSourceRequest(_message.Message):
    __slots__ = ("request_id", "source_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    source_id: str
    def __init__(self, request_id: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class EraseSourceResponse(_message.Message):
    __slots__ = ("source", "facts_erased")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    FACTS_ERASED_FIELD_NUMBER: _ClassVar[int]
    source: _ckf_pb2.Source
    facts_erased: int
    def __init__(self, source: _Optional[_Union[_ckf_pb2.Source, _Mapping]] = ..., facts_erased: _Optional[int] = ...) -> None: ...

class QuarantineFactRequest(_message.Message):
    __slots__ = ("request_id", "fact_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    fact_id: str
    def __init__(self, request_id: _Optional[str] = ..., fact_id: _Optional[str] = ...) -> None: ...

class QuarantineFactResponse(_message.Message):
    __slots__ = ("fact_id", "status")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    status: _ckf_pb2.FactStatus
    def __init__(self, fact_id: _Optional[str] = ..., status: _Optional[_Union[_ckf_pb2.FactStatus, str]] = ...) -> None: ...

class RestoreFactRequest(_message.Message):
    __slots__ = ("request_id", "fact_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    fact_id: str
    def __init__(self, request_id: _Optional[str] = ..., fact_id: _Optional[str] = ...) -> None: ...

class RestoreFactResponse(_message.Message):
    __slots__ = ("fact_id", "status")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    status: _ckf_pb2.FactStatus
    def __init__(self, fact_id: _Optional[str] = ..., status: _Optional[_Union[_ckf_pb2.FactStatus, str]] = ...) -> None: ...

class RebuildCommunitiesRequest(_message.Message):
    __slots__ = ("request_id",)
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    def __init__(self, request_id: _Optional[str] = ...) -> None: ...

class RebuildCommunitiesResponse(_message.Message):
    __slots__ = ("epoch", "community_count", "fact_count", "unclustered_fact_count")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    COMMUNITY_COUNT_FIELD_NUMBER: _ClassVar[int]
    FACT_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNCLUSTERED_FACT_COUNT_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    community_count: int
    fact_count: int
    unclustered_fact_count: int
    def __init__(self, epoch: _Optional[int] = ..., community_count: _Optional[int] = ..., fact_count: _Optional[int] = ..., unclustered_fact_count: _Optional[int] = ...) -> None: ...

class ListCommunitiesRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListCommunitiesResponse(_message.Message):
    __slots__ = ("communities", "next_page_token")
    COMMUNITIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    communities: _containers.RepeatedCompositeFieldContainer[_ckf_pb2.Community]
    next_page_token: str
    def __init__(self, communities: _Optional[_Iterable[_Union[_ckf_pb2.Community, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetSourceRequest(_message.Message):
    __slots__ = ("source_id",)
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    def __init__(self, source_id: _Optional[str] = ...) -> None: ...

class GetSourceResponse(_message.Message):
    __slots__ = ("source", "versions")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    source: _ckf_pb2.Source
    versions: _containers.RepeatedCompositeFieldContainer[_ingestion_pb2.SourceVersion]
    def __init__(self, source: _Optional[_Union[_ckf_pb2.Source, _Mapping]] = ..., versions: _Optional[_Iterable[_Union[_ingestion_pb2.SourceVersion, _Mapping]]] = ...) -> None: ...

class ListSourcesRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSourcesResponse(_message.Message):
    __slots__ = ("sources", "next_page_token")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    sources: _containers.RepeatedCompositeFieldContainer[_ckf_pb2.Source]
    next_page_token: str
    def __init__(self, sources: _Optional[_Iterable[_Union[_ckf_pb2.Source, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetStateRequest(_message.Message):
    __slots__ = ("communities",)
    COMMUNITIES_FIELD_NUMBER: _ClassVar[int]
    communities: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, communities: _Optional[_Iterable[str]] = ...) -> None: ...

class GetStateResponse(_message.Message):
    __slots__ = ("state_hash", "active_fact_count", "stale_fact_count", "quarantined_fact_count", "clustering_epoch", "clustered_at", "embedding_model")
    STATE_HASH_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FACT_COUNT_FIELD_NUMBER: _ClassVar[int]
    STALE_FACT_COUNT_FIELD_NUMBER: _ClassVar[int]
    QUARANTINED_FACT_COUNT_FIELD_NUMBER: _ClassVar[int]
    CLUSTERING_EPOCH_FIELD_NUMBER: _ClassVar[int]
    CLUSTERED_AT_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    state_hash: str
    active_fact_count: int
    stale_fact_count: int
    quarantined_fact_count: int
    clustering_epoch: int
    clustered_at: _timestamp_pb2.Timestamp
    embedding_model: str
    def __init__(self, state_hash: _Optional[str] = ..., active_fact_count: _Optional[int] = ..., stale_fact_count: _Optional[int] = ..., quarantined_fact_count: _Optional[int] = ..., clustering_epoch: _Optional[int] = ..., clustered_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., embedding_model: _Optional[str] = ...) -> None: ...
