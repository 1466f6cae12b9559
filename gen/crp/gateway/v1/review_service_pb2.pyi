from crp.dpe.v1 import report_pb2 as _report_pb2
from crp.gateway.v1 import dispatch_service_pb2 as _dispatch_service_pb2
from crp.gateway.v1 import review_pb2 as _review_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListReviewsRequest(_message.Message):
    __slots__ = ("status", "session_id", "page_size", "page_token")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    status: _review_pb2.ReviewStatus
    session_id: str
    page_size: int
    page_token: str
    def __init__(self, status: _Optional[_Union[_review_pb2.ReviewStatus, str]] = ..., session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListReviewsResponse(_message.Message):
    __slots__ = ("reviews", "next_page_token")
    REVIEWS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    reviews: _containers.RepeatedCompositeFieldContainer[_review_pb2.Review]
    next_page_token: str
    def __init__(self, reviews: _Optional[_Iterable[_Union[_review_pb2.Review, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetReviewRequest(_message.Message):
    __slots__ = ("review_id", "wait_ms")
    REVIEW_ID_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    review_id: str
    wait_ms: int
    def __init__(self, review_id: _Optional[str] = ..., wait_ms: _Optional[int] = ...) -> None: ...

class GetReviewResponse(_message.Message):
    __slots__ = ("review", "answer_text", "response", "report", "query")
    REVIEW_FIELD_NUMBER: _ClassVar[int]
    ANSWER_TEXT_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    review: _review_pb2.Review
    answer_text: str
    response: _dispatch_service_pb2.DispatchResponse
    report: _report_pb2.DpeReport
    query: str
    def __init__(self, review: _Optional[_Union[_review_pb2.Review, _Mapping]] = ..., answer_text: _Optional[str] = ..., response: _Optional[_Union[_dispatch_service_pb2.DispatchResponse, _Mapping]] = ..., report: _Optional[_Union[_report_pb2.DpeReport, _Mapping]] = ..., query: _Optional[str] = ...) -> None: ...

class DecideReviewRequest(_message.Message):
    __slots__ = ("request_id", "review_id", "decision", "comment", "expected_version")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    REVIEW_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    review_id: str
    decision: _review_pb2.ReviewStatus
    comment: str
    expected_version: int
    def __init__(self, request_id: _Optional[str] = ..., review_id: _Optional[str] = ..., decision: _Optional[_Union[_review_pb2.ReviewStatus, str]] = ..., comment: _Optional[str] = ..., expected_version: _Optional[int] = ...) -> None: ...

class DecideReviewResponse(_message.Message):
    __slots__ = ("review", "response")
    REVIEW_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    review: _review_pb2.Review
    response: _dispatch_service_pb2.DispatchResponse
    def __init__(self, review: _Optional[_Union[_review_pb2.Review, _Mapping]] = ..., response: _Optional[_Union[_dispatch_service_pb2.DispatchResponse, _Mapping]] = ...) -> None: ...
