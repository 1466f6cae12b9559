import datetime

from crp.dpe.v1 import claim_pb2 as _claim_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Judgement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JUDGEMENT_UNSPECIFIED: _ClassVar[Judgement]
    JUDGEMENT_RIGHT: _ClassVar[Judgement]
    JUDGEMENT_WRONG: _ClassVar[Judgement]
JUDGEMENT_UNSPECIFIED: Judgement
JUDGEMENT_RIGHT: Judgement
JUDGEMENT_WRONG: Judgement

class Feedback(_message.Message):
    __slots__ = ("feedback_id", "report_id", "session_id", "claim_id", "verdict", "judgement", "expected_verdict", "given_by", "give_time")
    FEEDBACK_ID_FIELD_NUMBER: _ClassVar[int]
    REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    JUDGEMENT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERDICT_FIELD_NUMBER: _ClassVar[int]
    GIVEN_BY_FIELD_NUMBER: _ClassVar[int]
    GIVE_TIME_FIELD_NUMBER: _ClassVar[int]
    feedback_id: str
    report_id: str
    session_id: str
    claim_id: str
    verdict: _claim_pb2.ClaimVerdict
    judgement: Judgement
    expected_verdict: _claim_pb2.ClaimVerdict
    given_by: str
    give_time: _timestamp_pb2.Timestamp
    def __init__(self, feedback_id: _Optional[str] = ..., report_id: _Optional[str] = ..., session_id: _Optional[str] = ..., claim_id: _Optional[str] = ..., verdict: _Optional[_Union[_claim_pb2.ClaimVerdict, str]] = ..., judgement: _Optional[_Union[Judgement, str]] = ..., expected_verdict: _Optional[_Union[_claim_pb2.ClaimVerdict, str]] = ..., given_by: _Optional[str] = ..., give_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
