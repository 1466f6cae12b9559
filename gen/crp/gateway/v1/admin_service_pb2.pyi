import datetime

from crp.gateway.v1 import admin_pb2 as _admin_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateApiKeyRequest(_message.Message):
    __slots__ = ("request_id", "label", "roles", "expire_time")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    label: str
    roles: _containers.RepeatedScalarFieldContainer[_admin_pb2.ApiKeyRole]
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, request_id: _Optional[str] = ..., label: _Optional[str] = ..., roles: _Optional[_Iterable[_Union[_admin_pb2.ApiKeyRole, str]]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateApiKeyResponse(_message.Message):
    __slots__ = ("key", "api_key", "secret_withheld")
    KEY_FIELD_NUMBER: _ClassVar[int]
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    SECRET_WITHHELD_FIELD_NUMBER: _ClassVar[int]
    key: _admin_pb2.ApiKey
    api_key: str
    secret_withheld: bool
    def __init__(self, key: _Optional[_Union[_admin_pb2.ApiKey, _Mapping]] = ..., api_key: _Optional[str] = ..., secret_withheld: _Optional[bool] = ...) -> None: ...

class ListApiKeysRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListApiKeysResponse(_message.Message):
    __slots__ = ("keys", "next_page_token")
    KEYS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedCompositeFieldContainer[_admin_pb2.ApiKey]
    next_page_token: str
    def __init__(self, keys: _Optional[_Iterable[_Union[_admin_pb2.ApiKey, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RevokeApiKeyRequest(_message.Message):
    __slots__ = ("request_id", "key_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    key_id: str
    def __init__(self, request_id: _Optional[str] = ..., key_id: _Optional[str] = ...) -> None: ...

class RevokeApiKeyResponse(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: _admin_pb2.ApiKey
    def __init__(self, key: _Optional[_Union[_admin_pb2.ApiKey, _Mapping]] = ...) -> None: ...

class RegisterAiSystemRequest(_message.Message):
    __slots__ = ("request_id", "ai_system", "expected_version")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AI_SYSTEM_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    ai_system: _admin_pb2.AiSystem
    expected_version: int
    def __init__(self, request_id: _Optional[str] = ..., ai_system: _Optional[_Union[_admin_pb2.AiSystem, _Mapping]] = ..., expected_version: _Optional[int] = ...) -> None: ...

class RegisterAiSystemResponse(_message.Message):
    __slots__ = ("ai_system",)
    AI_SYSTEM_FIELD_NUMBER: _ClassVar[int]
    ai_system: _admin_pb2.AiSystem
    def __init__(self, ai_system: _Optional[_Union[_admin_pb2.AiSystem, _Mapping]] = ...) -> None: ...

class ListAiSystemsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "versions_of")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_OF_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    versions_of: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., versions_of: _Optional[str] = ...) -> None: ...

class ListAiSystemsResponse(_message.Message):
    __slots__ = ("ai_systems", "next_page_token")
    AI_SYSTEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ai_systems: _containers.RepeatedCompositeFieldContainer[_admin_pb2.AiSystem]
    next_page_token: str
    def __init__(self, ai_systems: _Optional[_Iterable[_Union[_admin_pb2.AiSystem, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SetTenantPolicyRequest(_message.Message):
    __slots__ = ("request_id", "policy", "expected_version")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    policy: _admin_pb2.TenantPolicy
    expected_version: int
    def __init__(self, request_id: _Optional[str] = ..., policy: _Optional[_Union[_admin_pb2.TenantPolicy, _Mapping]] = ..., expected_version: _Optional[int] = ...) -> None: ...

class SetTenantPolicyResponse(_message.Message):
    __slots__ = ("policy",)
    POLICY_FIELD_NUMBER: _ClassVar[int]
    policy: _admin_pb2.TenantPolicy
    def __init__(self, policy: _Optional[_Union[_admin_pb2.TenantPolicy, _Mapping]] = ...) -> None: ...

class GetTenantPolicyRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetTenantPolicyResponse(_message.Message):
    __slots__ = ("policy",)
    POLICY_FIELD_NUMBER: _ClassVar[int]
    policy: _admin_pb2.TenantPolicy
    def __init__(self, policy: _Optional[_Union[_admin_pb2.TenantPolicy, _Mapping]] = ...) -> None: ...

class TryTenantPolicyRequest(_message.Message):
    __slots__ = ("safety_policy", "max_windows")
    SAFETY_POLICY_FIELD_NUMBER: _ClassVar[int]
    MAX_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    safety_policy: str
    max_windows: int
    def __init__(self, safety_policy: _Optional[str] = ..., max_windows: _Optional[int] = ...) -> None: ...

class TriedWindow(_message.Message):
    __slots__ = ("session_id", "window_id", "report_id", "halt_reason", "directives")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    REPORT_ID_FIELD_NUMBER: _ClassVar[int]
    HALT_REASON_FIELD_NUMBER: _ClassVar[int]
    DIRECTIVES_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    window_id: str
    report_id: str
    halt_reason: str
    directives: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., report_id: _Optional[str] = ..., halt_reason: _Optional[str] = ..., directives: _Optional[_Iterable[str]] = ...) -> None: ...

class TryTenantPolicyResponse(_message.Message):
    __slots__ = ("windows", "halted", "held", "warned", "unreadable", "withheld")
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    HALTED_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    WARNED_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    WITHHELD_FIELD_NUMBER: _ClassVar[int]
    windows: int
    halted: int
    held: int
    warned: int
    unreadable: int
    withheld: _containers.RepeatedCompositeFieldContainer[TriedWindow]
    def __init__(self, windows: _Optional[int] = ..., halted: _Optional[int] = ..., held: _Optional[int] = ..., warned: _Optional[int] = ..., unreadable: _Optional[int] = ..., withheld: _Optional[_Iterable[_Union[TriedWindow, _Mapping]]] = ...) -> None: ...

class SetTenantProviderRequest(_message.Message):
    __slots__ = ("request_id", "provider", "api_key")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    provider: _admin_pb2.TenantProvider
    api_key: str
    def __init__(self, request_id: _Optional[str] = ..., provider: _Optional[_Union[_admin_pb2.TenantProvider, _Mapping]] = ..., api_key: _Optional[str] = ...) -> None: ...

class SetTenantProviderResponse(_message.Message):
    __slots__ = ("provider",)
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    provider: _admin_pb2.TenantProvider
    def __init__(self, provider: _Optional[_Union[_admin_pb2.TenantProvider, _Mapping]] = ...) -> None: ...

class ListTenantProvidersRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListTenantProvidersResponse(_message.Message):
    __slots__ = ("providers", "next_page_token")
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    providers: _containers.RepeatedCompositeFieldContainer[_admin_pb2.TenantProvider]
    next_page_token: str
    def __init__(self, providers: _Optional[_Iterable[_Union[_admin_pb2.TenantProvider, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RemoveTenantProviderRequest(_message.Message):
    __slots__ = ("request_id", "name")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    name: str
    def __init__(self, request_id: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class RemoveTenantProviderResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
