from crp.dpe.v1 import claim_pb2 as _claim_pb2
from crp.gateway.v1 import feedback_pb2 as _feedback_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GiveFeedbackRequest(_message.Message):
    __slots__ = ("request_id", "report_id", "claim_id", "judgement", "expected_verdict")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    JUDGEMENT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERDICT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    report_id: str
    claim_id: str
    judgement: _feedback_pb2.Judgement
    expected_verdict: _claim_pb2.ClaimVerdict
    def __init__(self, request_id: _Optional[str] = ..., report_id: _Optional[str] = ..., claim_id: _Optional[str] = ..., judgement: _Optional[_Union[_feedback_pb2.Judgement, str]] = ..., expected_verdict: _Optional[_Union[_claim_pb2.ClaimVerdict, str]] = ...) -> None: ...

class GiveFeedbackResponse(_message.Message):
    __slots__ = ("feedback",)
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    feedback: _feedback_pb2.Feedback
    def __init__(self, feedback: _Optional[_Union[_feedback_pb2.Feedback, _Mapping]] = ...) -> None: ...

class ListFeedbackRequest(_message.Message):
    __slots__ = ("report_id", "page_size", "page_token")
    REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    report_id: str
    page_size: int
    page_token: str
    def __init__(self, report_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListFeedbackResponse(_message.Message):
    __slots__ = ("feedback", "next_page_token")
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    feedback: _containers.RepeatedCompositeFieldContainer[_feedback_pb2.Feedback]
    next_page_token: str
    def __init__(self, feedback: _Optional[_Iterable[_Union[_feedback_pb2.Feedback, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
