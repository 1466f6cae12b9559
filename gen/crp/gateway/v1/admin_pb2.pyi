import datetime

from crp.common.v1 import regulation_pb2 as _regulation_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ApiKeyRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    API_KEY_ROLE_UNSPECIFIED: _ClassVar[ApiKeyRole]
    API_KEY_ROLE_READER: _ClassVar[ApiKeyRole]
    API_KEY_ROLE_WRITER: _ClassVar[ApiKeyRole]
    API_KEY_ROLE_ADMIN: _ClassVar[ApiKeyRole]
    API_KEY_ROLE_REVIEWER: _ClassVar[ApiKeyRole]

class ApiKeyState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    API_KEY_STATE_UNSPECIFIED: _ClassVar[ApiKeyState]
    API_KEY_STATE_ACTIVE: _ClassVar[ApiKeyState]
    API_KEY_STATE_EXPIRED: _ClassVar[ApiKeyState]
    API_KEY_STATE_REVOKED: _ClassVar[ApiKeyState]

class AiSystemDomain(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AI_SYSTEM_DOMAIN_UNSPECIFIED: _ClassVar[AiSystemDomain]
    AI_SYSTEM_DOMAIN_BIOMETRIC_IDENTIFICATION: _ClassVar[AiSystemDomain]
    AI_SYSTEM_DOMAIN_EMPLOYMENT: _ClassVar[AiSystemDomain]
    AI_SYSTEM_DOMAIN_EDUCATION_ACCESS: _ClassVar[AiSystemDomain]
    AI_SYSTEM_DOMAIN_CRITICAL_INFRASTRUCTURE: _ClassVar[AiSystemDomain]
    AI_SYSTEM_DOMAIN_GENERAL_INFORMATION: _ClassVar[AiSystemDomain]
    AI_SYSTEM_DOMAIN_CREATIVE: _ClassVar[AiSystemDomain]

class ProviderForm(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROVIDER_FORM_UNSPECIFIED: _ClassVar[ProviderForm]
    PROVIDER_FORM_OPENAI: _ClassVar[ProviderForm]
    PROVIDER_FORM_ANTHROPIC: _ClassVar[ProviderForm]
API_KEY_ROLE_UNSPECIFIED: ApiKeyRole
API_KEY_ROLE_READER: ApiKeyRole
API_KEY_ROLE_WRITER: ApiKeyRole
API_KEY_ROLE_ADMIN: ApiKeyRole
API_KEY_ROLE_REVIEWER: ApiKeyRole
API_KEY_STATE_UNSPECIFIED: ApiKeyState
API_KEY_STATE_ACTIVE: ApiKeyState
API_KEY_STATE_EXPIRED: ApiKeyState
API_KEY_STATE_REVOKED: ApiKeyState
AI_SYSTEM_DOMAIN_UNSPECIFIED: AiSystemDomain
AI_SYSTEM_DOMAIN_BIOMETRIC_IDENTIFICATION: AiSystemDomain
AI_SYSTEM_DOMAIN_EMPLOYMENT: AiSystemDomain
AI_SYSTEM_DOMAIN_EDUCATION_ACCESS: AiSystemDomain
AI_SYSTEM_DOMAIN_CRITICAL_INFRASTRUCTURE: AiSystemDomain
AI_SYSTEM_DOMAIN_GENERAL_INFORMATION: AiSystemDomain
AI_SYSTEM_DOMAIN_CREATIVE: AiSystemDomain
PROVIDER_FORM_UNSPECIFIED: ProviderForm
PROVIDER_FORM_OPENAI: ProviderForm
PROVIDER_FORM_ANTHROPIC: ProviderForm

class ApiKey(_message.Message):
    __slots__ = ("key_id", "prefix", "label", "roles", "state", "create_time", "expire_time", "revoke_time", "tenant_id")
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    REVOKE_TIME_FIELD_NUMBER: _ClassVar[int]
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    key_id: str
    prefix: str
    label: str
    roles: _containers.RepeatedScalarFieldContainer[ApiKeyRole]
    state: ApiKeyState
    create_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    revoke_time: _timestamp_pb2.Timestamp
    tenant_id: str
    def __init__(self, key_id: _Optional[str] = ..., prefix: _Optional[str] = ..., label: _Optional[str] = ..., roles: _Optional[_Iterable[_Union[ApiKeyRole, str]]] = ..., state: _Optional[_Union[ApiKeyState, str]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revoke_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tenant_id: _Optional[str] = ...) -> None: ...

class AiSystem(_message.Message):
    __slots__ = ("ai_system_id", "name", "domain", "sector", "iso_42001_evidence", "register_time", "intended_purpose", "annex_iii_areas", "prohibited_practices", "interacts_with_people", "generates_content", "safety_component", "makes_decisions", "role", "regulated_sector", "version", "update_time")
    class Iso42001EvidenceEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AI_SYSTEM_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    SECTOR_FIELD_NUMBER: _ClassVar[int]
    ISO_42001_EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    REGISTER_TIME_FIELD_NUMBER: _ClassVar[int]
    INTENDED_PURPOSE_FIELD_NUMBER: _ClassVar[int]
    ANNEX_III_AREAS_FIELD_NUMBER: _ClassVar[int]
    PROHIBITED_PRACTICES_FIELD_NUMBER: _ClassVar[int]
    INTERACTS_WITH_PEOPLE_FIELD_NUMBER: _ClassVar[int]
    GENERATES_CONTENT_FIELD_NUMBER: _ClassVar[int]
    SAFETY_COMPONENT_FIELD_NUMBER: _ClassVar[int]
    MAKES_DECISIONS_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    REGULATED_SECTOR_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ai_system_id: str
    name: str
    domain: AiSystemDomain
    sector: str
    iso_42001_evidence: _containers.ScalarMap[str, str]
    register_time: _timestamp_pb2.Timestamp
    intended_purpose: str
    annex_iii_areas: _containers.RepeatedScalarFieldContainer[_regulation_pb2.AnnexIiiArea]
    prohibited_practices: _containers.RepeatedScalarFieldContainer[_regulation_pb2.ProhibitedPractice]
    interacts_with_people: bool
    generates_content: bool
    safety_component: bool
    makes_decisions: bool
    role: _regulation_pb2.AiActRole
    regulated_sector: _regulation_pb2.RegulatedSector
    version: int
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, ai_system_id: _Optional[str] = ..., name: _Optional[str] = ..., domain: _Optional[_Union[AiSystemDomain, str]] = ..., sector: _Optional[str] = ..., iso_42001_evidence: _Optional[_Mapping[str, str]] = ..., register_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., intended_purpose: _Optional[str] = ..., annex_iii_areas: _Optional[_Iterable[_Union[_regulation_pb2.AnnexIiiArea, str]]] = ..., prohibited_practices: _Optional[_Iterable[_Union[_regulation_pb2.ProhibitedPractice, str]]] = ..., interacts_with_people: _Optional[bool] = ..., generates_content: _Optional[bool] = ..., safety_component: _Optional[bool] = ..., makes_decisions: _Optional[bool] = ..., role: _Optional[_Union[_regulation_pb2.AiActRole, str]] = ..., regulated_sector: _Optional[_Union[_regulation_pb2.RegulatedSector, str]] = ..., version: _Optional[int] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class TenantPolicy(_message.Message):
    __slots__ = ("safety_policy", "allowed_sink_hosts", "data_residency", "version", "update_time")
    SAFETY_POLICY_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_SINK_HOSTS_FIELD_NUMBER: _ClassVar[int]
    DATA_RESIDENCY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    safety_policy: str
    allowed_sink_hosts: _containers.RepeatedScalarFieldContainer[str]
    data_residency: str
    version: int
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, safety_policy: _Optional[str] = ..., allowed_sink_hosts: _Optional[_Iterable[str]] = ..., data_residency: _Optional[str] = ..., version: _Optional[int] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class TenantProvider(_message.Message):
    __slots__ = ("name", "form", "base_url", "models", "has_api_key", "update_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    BASE_URL_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    HAS_API_KEY_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    form: ProviderForm
    base_url: str
    models: _containers.RepeatedScalarFieldContainer[str]
    has_api_key: bool
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., form: _Optional[_Union[ProviderForm, str]] = ..., base_url: _Optional[str] = ..., models: _Optional[_Iterable[str]] = ..., has_api_key: _Optional[bool] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
