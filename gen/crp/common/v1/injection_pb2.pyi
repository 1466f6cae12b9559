from crp.common.v1 import text_pb2 as _text_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class InjectionAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INJECTION_ACTION_UNSPECIFIED: _ClassVar[InjectionAction]
    INJECTION_ACTION_REPORTED: _ClassVar[InjectionAction]
    INJECTION_ACTION_QUARANTINED: _ClassVar[InjectionAction]
    INJECTION_ACTION_LEFT_OUT: _ClassVar[InjectionAction]
    INJECTION_ACTION_MASKED: _ClassVar[InjectionAction]
INJECTION_ACTION_UNSPECIFIED: InjectionAction
INJECTION_ACTION_REPORTED: InjectionAction
INJECTION_ACTION_QUARANTINED: InjectionAction
INJECTION_ACTION_LEFT_OUT: InjectionAction
INJECTION_ACTION_MASKED: InjectionAction

class InjectionRuleCount(_message.Message):
    __slots__ = ("rule_id", "count")
    RULE_ID_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    rule_id: str
    count: int
    def __init__(self, rule_id: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class InjectionFinding(_message.Message):
    __slots__ = ("action", "rules", "spans", "span_count")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    SPAN_COUNT_FIELD_NUMBER: _ClassVar[int]
    action: InjectionAction
    rules: _containers.RepeatedCompositeFieldContainer[InjectionRuleCount]
    spans: _containers.RepeatedCompositeFieldContainer[_text_pb2.TextSpan]
    span_count: int
    def __init__(self, action: _Optional[_Union[InjectionAction, str]] = ..., rules: _Optional[_Iterable[_Union[InjectionRuleCount, _Mapping]]] = ..., spans: _Optional[_Iterable[_Union[_text_pb2.TextSpan, _Mapping]]] = ..., span_count: _Optional[int] = ...) -> None: ...
