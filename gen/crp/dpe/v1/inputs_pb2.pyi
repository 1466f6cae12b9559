from crp.dpe.v1 import provenance_service_pb2 as _provenance_service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PromptLine(_message.Message):
    __slots__ = ("text", "fact_id", "fact_line")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_LINE_FIELD_NUMBER: _ClassVar[int]
    text: str
    fact_id: str
    fact_line: int
    def __init__(self, text: _Optional[str] = ..., fact_id: _Optional[str] = ..., fact_line: _Optional[int] = ...) -> None: ...

class AnalysisInputs(_message.Message):
    __slots__ = ("request", "prompt", "request_sha256")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_SHA256_FIELD_NUMBER: _ClassVar[int]
    request: _provenance_service_pb2.AnalyzeRequest
    prompt: _containers.RepeatedCompositeFieldContainer[PromptLine]
    request_sha256: str
    def __init__(self, request: _Optional[_Union[_provenance_service_pb2.AnalyzeRequest, _Mapping]] = ..., prompt: _Optional[_Iterable[_Union[PromptLine, _Mapping]]] = ..., request_sha256: _Optional[str] = ...) -> None: ...
