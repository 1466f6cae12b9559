"""AdminService messages to and from the app's values; nothing is decided here."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crp.gateway.v1 import admin_pb2, admin_service_pb2
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.context import Role
from services.common.ports.credentials import AiSystemRecord, ApiKeyRecord, TenantPolicyRecord, TenantProviderRecord
from services.gateway import wire
from services.gateway.admin.app import CreatedKey, NewKey, NewPolicy
from services.gateway.admin.providers import NewProvider
from services.gateway.domain.api_keys import KeyState, state_of

if TYPE_CHECKING:
    from services.gateway.admin.trial import Trial

_ROLES = {
    admin_pb2.API_KEY_ROLE_READER: Role.READER,
    admin_pb2.API_KEY_ROLE_WRITER: Role.WRITER,
    admin_pb2.API_KEY_ROLE_REVIEWER: Role.REVIEWER,
    admin_pb2.API_KEY_ROLE_ADMIN: Role.ADMIN,
}
_ROLE_VALUES = {role: value for value, role in _ROLES.items()}
_STATES = {
    KeyState.ACTIVE: admin_pb2.API_KEY_STATE_ACTIVE,
    KeyState.EXPIRED: admin_pb2.API_KEY_STATE_EXPIRED,
    KeyState.REVOKED: admin_pb2.API_KEY_STATE_REVOKED,
}
_FORMS = {admin_pb2.PROVIDER_FORM_OPENAI: "openai", admin_pb2.PROVIDER_FORM_ANTHROPIC: "anthropic"}
_DOMAIN_PREFIX = "AI_SYSTEM_DOMAIN_"
_AREA_VALUES = wire.inverse(wire.ANNEX_III_AREAS)
_PRACTICE_VALUES = wire.inverse(wire.PROHIBITED_PRACTICES)
_ROLE_OF_TENANT_VALUES = wire.inverse(wire.AI_ACT_ROLES)
_SECTOR_VALUES = wire.inverse(wire.REGULATED_SECTORS)


def new_key(request: admin_service_pb2.CreateApiKeyRequest) -> NewKey:
    """Read what the key is to be."""
    expires_at = _moment(request.expire_time) if request.HasField("expire_time") else None
    return NewKey(request.label, tuple(_ROLES[role] for role in request.roles), expires_at)


def api_key(record: ApiKeyRecord, now: datetime) -> admin_pb2.ApiKey:
    """Describe a key as it is at ``now``."""
    return admin_pb2.ApiKey(
        key_id=record.key_id,
        prefix=record.prefix,
        label=record.label,
        roles=[_ROLE_VALUES[Role(role)] for role in record.roles],
        state=_STATES[state_of(record.expires_at, record.revoked_at, now)],
        create_time=_timestamp(record.created_at),
        expire_time=_timestamp(record.expires_at),
        revoke_time=_timestamp(record.revoked_at),
        tenant_id=record.tenant_id,
    )


def created_key(created: CreatedKey, now: datetime, *, withhold: bool) -> admin_service_pb2.CreateApiKeyResponse:
    """Answer CreateApiKey; ``withhold`` leaves the secret out, for the answer that a replay gets."""
    return admin_service_pb2.CreateApiKeyResponse(
        key=api_key(created.record, now), api_key="" if withhold else created.key, secret_withheld=withhold
    )


def new_ai_system(message: admin_pb2.AiSystem) -> AiSystemRecord:
    """Read an AI system; tenant and time of registration are filled in by the app."""
    return AiSystemRecord(
        tenant_id="",
        ai_system_id=message.ai_system_id,
        name=message.name,
        domain=admin_pb2.AiSystemDomain.Name(message.domain).removeprefix(_DOMAIN_PREFIX),
        sector=message.sector,
        registered_at=datetime.min.replace(tzinfo=UTC),
        iso_42001_evidence=tuple(sorted(message.iso_42001_evidence.items())),
        intended_purpose=message.intended_purpose,
        annex_iii_areas=tuple(wire.ANNEX_III_AREAS[area] for area in sorted(message.annex_iii_areas)),
        prohibited_practices=tuple(wire.PROHIBITED_PRACTICES[each] for each in sorted(message.prohibited_practices)),
        interacts_with_people=message.interacts_with_people,
        generates_content=message.generates_content,
        safety_component=message.safety_component,
        makes_decisions=message.makes_decisions,
        role=wire.AI_ACT_ROLES.get(message.role, ""),
        regulated_sector=wire.REGULATED_SECTORS.get(message.regulated_sector, ""),
    )


def ai_system(record: AiSystemRecord) -> admin_pb2.AiSystem:
    """Describe an AI system."""
    return admin_pb2.AiSystem(
        ai_system_id=record.ai_system_id,
        name=record.name,
        domain=_DOMAIN_PREFIX + record.domain,
        sector=record.sector,
        iso_42001_evidence=dict(record.iso_42001_evidence),
        register_time=_timestamp(record.registered_at),
        intended_purpose=record.intended_purpose,
        annex_iii_areas=[_AREA_VALUES[area] for area in record.annex_iii_areas],
        prohibited_practices=[_PRACTICE_VALUES[practice] for practice in record.prohibited_practices],
        interacts_with_people=record.interacts_with_people,
        generates_content=record.generates_content,
        safety_component=record.safety_component,
        makes_decisions=record.makes_decisions,
        role=_ROLE_OF_TENANT_VALUES.get(record.role),
        regulated_sector=_SECTOR_VALUES.get(record.regulated_sector),
        version=record.version,
        update_time=_timestamp(record.updated_at or record.registered_at),
    )


def new_policy(request: admin_service_pb2.SetTenantPolicyRequest) -> NewPolicy:
    """Read the policy to set."""
    policy = request.policy
    hosts = tuple(policy.allowed_sink_hosts)
    return NewPolicy(policy.safety_policy, hosts, policy.data_residency, request.expected_version)


def tenant_policy(record: TenantPolicyRecord | None) -> admin_pb2.TenantPolicy:
    """Describe a tenant's policy; one that was never set is empty, with version 0."""
    if record is None:
        return admin_pb2.TenantPolicy()
    return admin_pb2.TenantPolicy(
        safety_policy=record.safety_policy,
        allowed_sink_hosts=record.allowed_sink_hosts,
        data_residency=record.data_residency,
        version=record.version,
        update_time=_timestamp(record.updated_at),
    )


def new_provider(request: admin_service_pb2.SetTenantProviderRequest) -> NewProvider:
    """Read the provider to set."""
    provider = request.provider
    return NewProvider(
        name=provider.name,
        form=_FORMS[provider.form],
        base_url=provider.base_url,
        models=tuple(provider.models),
        api_key=request.api_key if request.HasField("api_key") else None,
    )


def tenant_provider(record: TenantProviderRecord) -> admin_pb2.TenantProvider:
    """Describe a tenant's own provider; nothing of its key."""
    return admin_pb2.TenantProvider(
        name=record.name,
        form=next(form for form, name in _FORMS.items() if name == record.form),
        base_url=record.base_url,
        models=record.models,
        has_api_key=bool(record.sealed_key),
        update_time=_timestamp(record.updated_at),
    )


def _timestamp(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    out = Timestamp()
    out.FromDatetime(moment)
    return out


def _moment(timestamp: Timestamp) -> datetime:
    return timestamp.ToDatetime(tzinfo=UTC)


def tried_policy(trial: "Trial") -> admin_service_pb2.TryTenantPolicyResponse:
    """Return what a policy would have done."""
    return admin_service_pb2.TryTenantPolicyResponse(
        windows=trial.windows,
        halted=trial.halted,
        held=trial.held,
        warned=trial.warned,
        unreadable=trial.unreadable,
        withheld=[
            admin_service_pb2.TriedWindow(
                session_id=one.window.session_id,
                window_id=one.window.window_id,
                report_id=one.window.report_id,
                halt_reason=one.halt_reason,
                directives=one.directives,
            )
            for one in trial.withheld
        ],
    )
