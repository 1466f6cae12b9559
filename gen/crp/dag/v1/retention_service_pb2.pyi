import datetime

from crp.dag.v1 import dag_pb2 as _dag_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RetentionAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RETENTION_ACTION_UNSPECIFIED: _ClassVar[RetentionAction]
    RETENTION_ACTION_EXPIRE: _ClassVar[RetentionAction]
    RETENTION_ACTION_ERASE: _ClassVar[RetentionAction]
    RETENTION_ACTION_TOMBSTONE: _ClassVar[RetentionAction]

class RetentionOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RETENTION_OUTCOME_UNSPECIFIED: _ClassVar[RetentionOutcome]
    RETENTION_OUTCOME_DUE: _ClassVar[RetentionOutcome]
    RETENTION_OUTCOME_HELD: _ClassVar[RetentionOutcome]
    RETENTION_OUTCOME_DONE: _ClassVar[RetentionOutcome]
    RETENTION_OUTCOME_FAILED: _ClassVar[RetentionOutcome]
RETENTION_ACTION_UNSPECIFIED: RetentionAction
RETENTION_ACTION_EXPIRE: RetentionAction
RETENTION_ACTION_ERASE: RetentionAction
RETENTION_ACTION_TOMBSTONE: RetentionAction
RETENTION_OUTCOME_UNSPECIFIED: RetentionOutcome
RETENTION_OUTCOME_DUE: RetentionOutcome
RETENTION_OUTCOME_HELD: RetentionOutcome
RETENTION_OUTCOME_DONE: RetentionOutcome
RETENTION_OUTCOME_FAILED: RetentionOutcome

class RetentionRules(_message.Message):
    __slots__ = ("idle_expiry_s", "erase_after_days", "tombstone_after_days", "legal_hold")
    IDLE_EXPIRY_S_FIELD_NUMBER: _ClassVar[int]
    ERASE_AFTER_DAYS_FIELD_NUMBER: _ClassVar[int]
    TOMBSTONE_AFTER_DAYS_FIELD_NUMBER: _ClassVar[int]
    LEGAL_HOLD_FIELD_NUMBER: _ClassVar[int]
    idle_expiry_s: int
    erase_after_days: int
    tombstone_after_days: int
    legal_hold: bool
    def __init__(self, idle_expiry_s: _Optional[int] = ..., erase_after_days: _Optional[int] = ..., tombstone_after_days: _Optional[int] = ..., legal_hold: _Optional[bool] = ...) -> None: ...

class GetRetentionRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetRetentionResponse(_message.Message):
    __slots__ = ("own", "effective", "register_session_id", "set_time")
    OWN_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_FIELD_NUMBER: _ClassVar[int]
    REGISTER_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SET_TIME_FIELD_NUMBER: _ClassVar[int]
    own: RetentionRules
    effective: RetentionRules
    register_session_id: str
    set_time: _timestamp_pb2.Timestamp
    def __init__(self, own: _Optional[_Union[RetentionRules, _Mapping]] = ..., effective: _Optional[_Union[RetentionRules, _Mapping]] = ..., register_session_id: _Optional[str] = ..., set_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SetRetentionRequest(_message.Message):
    __slots__ = ("request_id", "rules", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    rules: RetentionRules
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., rules: _Optional[_Union[RetentionRules, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...

class SetRetentionResponse(_message.Message):
    __slots__ = ("effective", "register_session_id", "event")
    EFFECTIVE_FIELD_NUMBER: _ClassVar[int]
    REGISTER_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    effective: RetentionRules
    register_session_id: str
    event: _dag_pb2.AuditEvent
    def __init__(self, effective: _Optional[_Union[RetentionRules, _Mapping]] = ..., register_session_id: _Optional[str] = ..., event: _Optional[_Union[_dag_pb2.AuditEvent, _Mapping]] = ...) -> None: ...

class SetLegalHoldRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "held", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    held: bool
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., held: _Optional[bool] = ..., reason: _Optional[str] = ...) -> None: ...

class SetLegalHoldResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _dag_pb2.AuditEvent
    def __init__(self, event: _Optional[_Union[_dag_pb2.AuditEvent, _Mapping]] = ...) -> None: ...

class RetentionItem(_message.Message):
    __slots__ = ("session_id", "action", "since_time", "outcome", "detail")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    SINCE_TIME_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    action: RetentionAction
    since_time: _timestamp_pb2.Timestamp
    outcome: RetentionOutcome
    detail: str
    def __init__(self, session_id: _Optional[str] = ..., action: _Optional[_Union[RetentionAction, str]] = ..., since_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., outcome: _Optional[_Union[RetentionOutcome, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class PreviewRetentionRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class PreviewRetentionResponse(_message.Message):
    __slots__ = ("items", "next_page_token")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[RetentionItem]
    next_page_token: str
    def __init__(self, items: _Optional[_Iterable[_Union[RetentionItem, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ApplyRetentionRequest(_message.Message):
    __slots__ = ("request_id", "max_sessions")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    max_sessions: int
    def __init__(self, request_id: _Optional[str] = ..., max_sessions: _Optional[int] = ...) -> None: ...

class ApplyRetentionResponse(_message.Message):
    __slots__ = ("items", "more")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[RetentionItem]
    more: bool
    def __init__(self, items: _Optional[_Iterable[_Union[RetentionItem, _Mapping]]] = ..., more: _Optional[bool] = ...) -> None: ...
