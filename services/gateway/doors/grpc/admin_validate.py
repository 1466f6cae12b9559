"""Checking AdminService requests; every violation of a request is reported at once."""

import re
from typing import Final

from crp.common.v1 import regulation_pb2
from crp.gateway.v1 import admin_pb2, admin_service_pb2

from services.common.regulation import (
    ISO_42001_CONTROLS,
    MAX_EVIDENCE_CHARS,
    MAX_PURPOSE_CHARS,
    MAX_SECTOR_CHARS,
)
from services.common.rpc.validation import Violations, require_member, require_members
from services.common.settings.providers import MAX_MODELS

MAX_LABEL_CHARS: Final = 100
MAX_NAME_CHARS: Final = 200
MAX_POLICY_CHARS: Final = 4096
MAX_SINK_HOSTS: Final = 100
MAX_TRIED: Final = 100_000
MAX_VERSION: Final = 2**63
MAX_URL_CHARS: Final = 500
MAX_KEY_CHARS: Final = 4096
_PROVIDER_NAME: Final = "must be 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or digit"
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SYSTEM_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HOST: Final = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+")
_REGION: Final = re.compile(r"[A-Za-z0-9-]{0,32}")
_MAX_NANOS: Final = 999_999_999
_YEAR_1_S: Final = -62_135_596_800
_YEAR_9999_S: Final = 253_402_300_799


def create_api_key(request: admin_service_pb2.CreateApiKeyRequest) -> None:
    """Check a CreateApiKey request."""
    found = Violations()
    found.require_request_id(request.request_id)
    _require_text(found, "label", request.label, MAX_LABEL_CHARS)
    known = set(admin_pb2.ApiKeyRole.values()) - {admin_pb2.API_KEY_ROLE_UNSPECIFIED}
    found.require(request.roles, "roles", "must name at least one role")
    found.require(set(request.roles) <= known, "roles", "may be READER, WRITER, REVIEWER and ADMIN")
    found.require(len(set(request.roles)) == len(request.roles), "roles", "must not name a role twice")
    if request.HasField("expire_time"):
        time = request.expire_time
        sound = _YEAR_1_S <= time.seconds <= _YEAR_9999_S and 0 <= time.nanos <= _MAX_NANOS
        found.require(sound, "expire_time", "must be a time between the years 1 and 9999")
    found.raise_if_any()


def revoke_api_key(request: admin_service_pb2.RevokeApiKeyRequest) -> None:
    """Check a RevokeApiKey request."""
    found = Violations()
    found.require_request_id(request.request_id)
    found.require(_UUID.fullmatch(request.key_id), "key_id", "must be a UUID in lower case")
    found.raise_if_any()


def register_ai_system(request: admin_service_pb2.RegisterAiSystemRequest) -> None:
    """Check a RegisterAiSystem request."""
    found = Violations()
    found.require_request_id(request.request_id)
    system = request.ai_system
    found.require(
        _SYSTEM_ID.fullmatch(system.ai_system_id),
        "ai_system.ai_system_id",
        "must be 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or digit",
    )
    _require_text(found, "ai_system.name", system.name, MAX_NAME_CHARS)
    known = set(admin_pb2.AiSystemDomain.values()) - {admin_pb2.AI_SYSTEM_DOMAIN_UNSPECIFIED}
    domains = ", ".join(name for name, value in admin_pb2.AiSystemDomain.items() if value)
    found.require(system.domain in known, "ai_system.domain", f"must be one of {domains} (CRP-SPEC-005 §14.2)")
    _require_text(found, "ai_system.sector", system.sector, MAX_SECTOR_CHARS, least=0)
    purpose = system.intended_purpose.replace("\n", " ")  # paragraphs are fine
    _require_text(found, "ai_system.intended_purpose", purpose, MAX_PURPOSE_CHARS, least=0)
    require_members(found, "ai_system.annex_iii_areas", system.annex_iii_areas, regulation_pb2.AnnexIiiArea)
    require_members(
        found, "ai_system.prohibited_practices", system.prohibited_practices, regulation_pb2.ProhibitedPractice
    )
    require_member(found, "ai_system.role", system.role, regulation_pb2.AiActRole)
    require_member(found, "ai_system.regulated_sector", system.regulated_sector, regulation_pb2.RegulatedSector)
    found.require(request.expected_version < MAX_VERSION, "expected_version", "must be below 2^63")
    _require_evidence(found, system)
    found.raise_if_any()


def try_tenant_policy(request: admin_service_pb2.TryTenantPolicyRequest) -> None:
    """Check a TryTenantPolicy request; the directives themselves are checked by the app."""
    found = Violations()
    sound = len(request.safety_policy.strip()) > 0 and len(request.safety_policy) <= MAX_POLICY_CHARS
    found.require(sound, "safety_policy", f"must have 1 to {MAX_POLICY_CHARS} characters")
    found.require(request.max_windows <= MAX_TRIED, "max_windows", f"must be at most {MAX_TRIED}")
    found.raise_if_any()


def set_tenant_policy(request: admin_service_pb2.SetTenantPolicyRequest) -> None:
    """Check a SetTenantPolicy request; the directives themselves are checked by the app."""
    found = Violations()
    found.require_request_id(request.request_id)
    found.require(request.HasField("policy"), "policy", "must be set")
    policy = request.policy
    found.require(
        len(policy.safety_policy) <= MAX_POLICY_CHARS,
        "policy.safety_policy",
        f"must have at most {MAX_POLICY_CHARS} characters",
    )
    hosts = policy.allowed_sink_hosts
    found.require(
        len(hosts) <= MAX_SINK_HOSTS, "policy.allowed_sink_hosts", f"must hold at most {MAX_SINK_HOSTS} hosts"
    )
    for index, host in enumerate(hosts[:MAX_SINK_HOSTS]):
        found.require(
            _HOST.fullmatch(host),
            f"policy.allowed_sink_hosts[{index}]",
            "must be a host name with a dot, in lower case, without scheme, port or path",
        )
    found.require(_REGION.fullmatch(policy.data_residency), "policy.data_residency", "must be 0 to 32 of A-Z a-z 0-9 -")
    found.require(request.expected_version < MAX_VERSION, "expected_version", "must be below 2^63")
    found.raise_if_any()


def set_tenant_provider(request: admin_service_pb2.SetTenantProviderRequest) -> None:
    """Check a SetTenantProvider request; whether its host is allowed is checked by the app."""
    found = Violations()
    found.require_request_id(request.request_id)
    provider = request.provider
    found.require(_SYSTEM_ID.fullmatch(provider.name), "provider.name", _PROVIDER_NAME)
    require_member(found, "provider.form", provider.form, admin_pb2.ProviderForm)
    found.require(provider.form, "provider.form", "must be set")
    _require_text(found, "provider.base_url", provider.base_url, MAX_URL_CHARS)
    most = MAX_MODELS
    found.require(1 <= len(provider.models) <= most, "provider.models", f"must hold 1 to {most} names")
    for index, model in enumerate(provider.models[:most]):
        _require_text(found, f"provider.models[{index}]", model, MAX_NAME_CHARS)
    sound = len(request.api_key) <= MAX_KEY_CHARS and all("!" <= one <= "~" for one in request.api_key)
    found.require(sound, "api_key", f"must have at most {MAX_KEY_CHARS} characters, printable ASCII without spaces")
    found.raise_if_any()


def remove_tenant_provider(request: admin_service_pb2.RemoveTenantProviderRequest) -> None:
    """Check a RemoveTenantProvider request."""
    found = Violations()
    found.require_request_id(request.request_id)
    found.require(_SYSTEM_ID.fullmatch(request.name), "name", _PROVIDER_NAME)
    found.raise_if_any()


def list_ai_systems(request: admin_service_pb2.ListAiSystemsRequest) -> None:
    """Check what of a ListAiSystems request its paging does not check."""
    found = Violations()
    sound = not request.versions_of or _SYSTEM_ID.fullmatch(request.versions_of)
    found.require(sound, "versions_of", "must be empty or an ai_system_id: 1 to 64 of A-Z a-z 0-9 . _ -")
    found.raise_if_any()


def _require_text(found: Violations, field: str, text: str, most: int, least: int = 1) -> None:
    found.require(least <= len(text) <= most, field, f"must have {least} to {most} characters")
    found.require(text.isprintable(), field, "must not hold control characters")


def _require_evidence(found: Violations, system: admin_pb2.AiSystem) -> None:
    field = "ai_system.iso_42001_evidence"
    evidence = dict(system.iso_42001_evidence)
    known = f"keys must be controls of ISO/IEC 42001:2023, Annex A: {', '.join(ISO_42001_CONTROLS)}"
    found.require(evidence.keys() <= ISO_42001_CONTROLS.keys(), field, known)
    short = all(0 < len(value) <= MAX_EVIDENCE_CHARS for value in evidence.values())
    found.require(short, field, f"values must have 1 to {MAX_EVIDENCE_CHARS} characters")
