"""API keys, AI systems, tenant policies and tenants' own providers.

Only writer: the gateway; every service reads keys to authenticate.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from services.common.ports.receipts import Receipt


@dataclass(frozen=True, slots=True)
class ApiKeyRecord:
    """An API key as it is stored: never the key itself.

    Attributes:
        key_id: UUID.
        prefix: ``crp_gw_<env>_`` and the first 8 of the 32 characters; unique; shown in lists and bound into tokens.
        key_hash: SHA-256 hex of the whole key (190 random bits, so a fast hash is enough).
        roles: of ``reader``, ``writer``, ``admin``.
    """

    tenant_id: str
    key_id: str
    prefix: str
    key_hash: str
    label: str
    roles: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AiSystemRecord:
    """One version of a registered AI system (SPEC-005 §14); enums are kept as their names without prefix.

    Attributes:
        registered_at: when version 1 was registered.
        role, regulated_sector: empty = not stated.
        version: 1 and up; each is kept.
        updated_at: when this version was registered; ``None`` = with version 1.
    """

    tenant_id: str
    ai_system_id: str
    name: str
    domain: str
    sector: str
    registered_at: datetime
    iso_42001_evidence: tuple[tuple[str, str], ...] = ()
    intended_purpose: str = ""
    annex_iii_areas: tuple[str, ...] = ()
    prohibited_practices: tuple[str, ...] = ()
    interacts_with_people: bool = False
    generates_content: bool = False
    safety_component: bool = False
    makes_decisions: bool = False
    role: str = ""
    regulated_sector: str = ""
    version: int = 1
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TenantPolicyRecord:
    """A tenant's default safety policy and its allow-listed sink hosts; ``version`` guards against races."""

    tenant_id: str
    safety_policy: str
    allowed_sink_hosts: tuple[str, ...]
    data_residency: str
    version: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class TenantProviderRecord:
    """A tenant's own provider of language models; its key is sealed.

    Attributes:
        name: unique in its tenant.
        form: ``openai`` or ``anthropic``.
        base_url: root of its API.
        models: names that it is asked for, ``*`` for any characters.
        sealed_key: the key, sealed by the gateway (ADR 0163); empty = it wants none.
        key_version: of the master key behind the seal; 0 without one.
    """

    tenant_id: str
    name: str
    form: str
    base_url: str
    models: tuple[str, ...]
    sealed_key: bytes = field(repr=False)
    key_version: int
    updated_at: datetime


class CredentialStore(Protocol):
    """Keys, AI systems, policies and tenants' own providers. Durability and errors as in ``FactStore``."""

    async def find_key(self, prefix: str) -> ApiKeyRecord | None:
        """Return the key with this prefix, of whatever tenant, revoked or not."""
        ...

    async def put_key(self, key: ApiKeyRecord, receipt: Receipt | None = None) -> None:
        """Insert or replace by ``key_id``."""
        ...

    async def get_key(self, tenant_id: str, key_id: str) -> ApiKeyRecord | None:
        """Return the key or ``None``."""
        ...

    async def page_keys(self, tenant_id: str, *, after: str, limit: int) -> list[ApiKeyRecord]:
        """Return up to ``limit`` keys with ``key_id > after``, ordered by id."""
        ...

    async def key_tenants(self) -> list[str]:
        """Return every tenant that has keys, revoked and expired ones included, in the order of their names."""
        ...

    async def count_keys(self) -> int:
        """Return the number of keys of all tenants (0 = a fresh installation)."""
        ...

    async def put_ai_system(self, system: AiSystemRecord, receipt: Receipt | None = None) -> None:
        """Add a version if the last one is ``system.version - 1``; raise ``ConflictError`` (ETAG_STALE) otherwise."""
        ...

    async def get_ai_system(self, tenant_id: str, ai_system_id: str) -> AiSystemRecord | None:
        """Return the system's last version or ``None``."""
        ...

    async def page_ai_systems(self, tenant_id: str, *, after: str, limit: int) -> list[AiSystemRecord]:
        """Return up to ``limit`` systems with ``ai_system_id > after``, each in its last version, ordered by id."""
        ...

    async def page_ai_system_versions(
        self, tenant_id: str, ai_system_id: str, *, after: int, limit: int
    ) -> list[AiSystemRecord]:
        """Return up to ``limit`` versions of one system with ``version > after``, ordered by version."""
        ...

    async def put_policy(self, policy: TenantPolicyRecord, receipt: Receipt | None = None) -> None:
        """Store if the present version is ``policy.version - 1``; raise ``ConflictError`` (ETAG_STALE) otherwise."""
        ...

    async def get_policy(self, tenant_id: str) -> TenantPolicyRecord | None:
        """Return the tenant's policy or ``None``."""
        ...

    async def put_provider(self, provider: TenantProviderRecord, receipt: Receipt | None = None) -> None:
        """Insert or replace by ``name``."""
        ...

    async def list_providers(self, tenant_id: str) -> list[TenantProviderRecord]:
        """Return all providers of a tenant, ordered by name."""
        ...

    async def remove_provider(self, tenant_id: str, name: str, receipt: Receipt | None = None) -> None:
        """Delete, so that nothing of the sealed key is left in the live file; nothing happens where there is none."""
        ...

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return what was answered to this request id, while it is kept."""
        ...

    async def put_receipt(self, receipt: Receipt) -> None:
        """Keep an answer that goes with no other write of this store, durably; the same receipt again is fine.

        Raises:
            ConflictError: COMMIT_RACE: another answer is kept under this request id; read it and return that.
        """
        ...

    async def check(self) -> None:
        """Return when the store can serve; raise ``UnavailableError`` otherwise."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
