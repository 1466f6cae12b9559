from crp.common.v1 import regulation_pb2 as _regulation_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ControlEvidenceKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTROL_EVIDENCE_KIND_UNSPECIFIED: _ClassVar[ControlEvidenceKind]
    CONTROL_EVIDENCE_KIND_DISPATCH: _ClassVar[ControlEvidenceKind]
    CONTROL_EVIDENCE_KIND_REGISTRATION: _ClassVar[ControlEvidenceKind]
CONTROL_EVIDENCE_KIND_UNSPECIFIED: ControlEvidenceKind
CONTROL_EVIDENCE_KIND_DISPATCH: ControlEvidenceKind
CONTROL_EVIDENCE_KIND_REGISTRATION: ControlEvidenceKind

class AiSystemProfile(_message.Message):
    __slots__ = ("domain", "sector", "iso_42001_evidence", "makes_decisions", "version", "intended_purpose", "annex_iii_areas", "prohibited_practices", "interacts_with_people", "generates_content", "safety_component", "role", "regulated_sector")
    class Iso42001EvidenceEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    SECTOR_FIELD_NUMBER: _ClassVar[int]
    ISO_42001_EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    MAKES_DECISIONS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    INTENDED_PURPOSE_FIELD_NUMBER: _ClassVar[int]
    ANNEX_III_AREAS_FIELD_NUMBER: _ClassVar[int]
    PROHIBITED_PRACTICES_FIELD_NUMBER: _ClassVar[int]
    INTERACTS_WITH_PEOPLE_FIELD_NUMBER: _ClassVar[int]
    GENERATES_CONTENT_FIELD_NUMBER: _ClassVar[int]
    SAFETY_COMPONENT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    REGULATED_SECTOR_FIELD_NUMBER: _ClassVar[int]
    domain: str
    sector: str
    iso_42001_evidence: _containers.ScalarMap[str, str]
    makes_decisions: bool
    version: int
    intended_purpose: str
    annex_iii_areas: _containers.RepeatedScalarFieldContainer[_regulation_pb2.AnnexIiiArea]
    prohibited_practices: _containers.RepeatedScalarFieldContainer[_regulation_pb2.ProhibitedPractice]
    interacts_with_people: bool
    generates_content: bool
    safety_component: bool
    role: _regulation_pb2.AiActRole
    regulated_sector: _regulation_pb2.RegulatedSector
    def __init__(self, domain: _Optional[str] = ..., sector: _Optional[str] = ..., iso_42001_evidence: _Optional[_Mapping[str, str]] = ..., makes_decisions: _Optional[bool] = ..., version: _Optional[int] = ..., intended_purpose: _Optional[str] = ..., annex_iii_areas: _Optional[_Iterable[_Union[_regulation_pb2.AnnexIiiArea, str]]] = ..., prohibited_practices: _Optional[_Iterable[_Union[_regulation_pb2.ProhibitedPractice, str]]] = ..., interacts_with_people: _Optional[bool] = ..., generates_content: _Optional[bool] = ..., safety_component: _Optional[bool] = ..., role: _Optional[_Union[_regulation_pb2.AiActRole, str]] = ..., regulated_sector: _Optional[_Union[_regulation_pb2.RegulatedSector, str]] = ...) -> None: ...

class ControlAssessment(_message.Message):
    __slots__ = ("control_id", "title", "kind", "met", "evidence", "missing")
    CONTROL_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MET_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    control_id: str
    title: str
    kind: ControlEvidenceKind
    met: bool
    evidence: _containers.RepeatedScalarFieldContainer[str]
    missing: str
    def __init__(self, control_id: _Optional[str] = ..., title: _Optional[str] = ..., kind: _Optional[_Union[ControlEvidenceKind, str]] = ..., met: _Optional[bool] = ..., evidence: _Optional[_Iterable[str]] = ..., missing: _Optional[str] = ...) -> None: ...
