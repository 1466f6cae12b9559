import datetime

from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from crp.gateway.v1 import dispatch_pb2 as _dispatch_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ReviewStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REVIEW_STATUS_UNSPECIFIED: _ClassVar[ReviewStatus]
    REVIEW_STATUS_PENDING: _ClassVar[ReviewStatus]
    REVIEW_STATUS_APPROVED: _ClassVar[ReviewStatus]
    REVIEW_STATUS_REJECTED: _ClassVar[ReviewStatus]
    REVIEW_STATUS_EXPIRED: _ClassVar[ReviewStatus]
REVIEW_STATUS_UNSPECIFIED: ReviewStatus
REVIEW_STATUS_PENDING: ReviewStatus
REVIEW_STATUS_APPROVED: ReviewStatus
REVIEW_STATUS_REJECTED: ReviewStatus
REVIEW_STATUS_EXPIRED: ReviewStatus

class Review(_message.Message):
    __slots__ = ("review_id", "status", "session_id", "window_id", "report_id", "reason", "risk_level", "violations", "create_time", "expire_time", "decide_time", "decided_by", "comment", "version", "author")
    REVIEW_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RISK_LEVEL_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    DECIDE_TIME_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    review_id: str
    status: ReviewStatus
    session_id: str
    window_id: str
    report_id: str
    reason: str
    risk_level: _taxonomy_pb2.RiskLevel
    violations: _containers.RepeatedCompositeFieldContainer[_dispatch_pb2.PolicyViolation]
    create_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    decide_time: _timestamp_pb2.Timestamp
    decided_by: str
    comment: str
    version: int
    author: str
    def __init__(self, review_id: _Optional[str] = ..., status: _Optional[_Union[ReviewStatus, str]] = ..., session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., report_id: _Optional[str] = ..., reason: _Optional[str] = ..., risk_level: _Optional[_Union[_taxonomy_pb2.RiskLevel, str]] = ..., violations: _Optional[_Iterable[_Union[_dispatch_pb2.PolicyViolation, _Mapping]]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., decide_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., decided_by: _Optional[str] = ..., comment: _Optional[str] = ..., version: _Optional[int] = ..., author: _Optional[str] = ...) -> None: ...
