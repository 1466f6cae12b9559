"""``CredentialStore`` in dictionaries, for tests and as the reference of the contract suite."""

from services.common.adapters.memory.receipts import MemoryReceipts
from services.common.errors import ConflictError, ErrorReason
from services.common.ports.credentials import (
    AiSystemRecord,
    ApiKeyRecord,
    TenantPolicyRecord,
    TenantProviderRecord,
)
from services.common.ports.receipts import Receipt


class MemoryCredentialStore:
    """Keys, AI systems and policies in one process's memory."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str], ApiKeyRecord] = {}
        self._systems: dict[tuple[str, str], list[AiSystemRecord]] = {}
        self._policies: dict[str, TenantPolicyRecord] = {}
        self._providers: dict[tuple[str, str], TenantProviderRecord] = {}
        self._receipts = MemoryReceipts()

    async def find_key(self, prefix: str) -> ApiKeyRecord | None:
        """Return the key with this prefix."""
        return next((key for key in self._keys.values() if key.prefix == prefix), None)

    async def put_key(self, key: ApiKeyRecord, receipt: Receipt | None = None) -> None:
        """Insert or replace; a prefix that another key has is a conflict."""
        self._receipts.check(receipt)
        holder = await self.find_key(key.prefix)
        if holder is not None and (holder.tenant_id, holder.key_id) != (key.tenant_id, key.key_id):
            raise ConflictError(ErrorReason.COMMIT_RACE, "another key has this prefix; make a new key")
        self._keys[key.tenant_id, key.key_id] = key
        self._receipts.put(receipt)

    async def get_key(self, tenant_id: str, key_id: str) -> ApiKeyRecord | None:
        """Return the key or ``None``."""
        return self._keys.get((tenant_id, key_id))

    async def page_keys(self, tenant_id: str, *, after: str, limit: int) -> list[ApiKeyRecord]:
        """Return the next keys by id."""
        ids = sorted(key_id for tenant, key_id in self._keys if tenant == tenant_id and key_id > after)
        return [self._keys[tenant_id, key_id] for key_id in ids[:limit]]

    async def key_tenants(self) -> list[str]:
        """Return the tenants of all keys."""
        return sorted({tenant_id for tenant_id, _ in self._keys})

    async def count_keys(self) -> int:
        """Count the keys of all tenants."""
        return len(self._keys)

    async def put_ai_system(self, system: AiSystemRecord, receipt: Receipt | None = None) -> None:
        """Add a version."""
        self._receipts.check(receipt)
        versions = self._systems.setdefault((system.tenant_id, system.ai_system_id), [])
        if system.version != len(versions) + 1:
            message = "the AI system was described anew meanwhile; read it again"
            raise ConflictError(ErrorReason.ETAG_STALE, message)
        versions.append(system)
        self._receipts.put(receipt)

    async def get_ai_system(self, tenant_id: str, ai_system_id: str) -> AiSystemRecord | None:
        """Return the last version or ``None``."""
        versions = self._systems.get((tenant_id, ai_system_id))
        return versions[-1] if versions else None

    async def page_ai_systems(self, tenant_id: str, *, after: str, limit: int) -> list[AiSystemRecord]:
        """Return the next systems by id."""
        known = (place for place, versions in self._systems.items() if versions)
        ids = sorted(system_id for tenant, system_id in known if tenant == tenant_id and system_id > after)
        return [self._systems[tenant_id, system_id][-1] for system_id in ids[:limit]]

    async def page_ai_system_versions(
        self, tenant_id: str, ai_system_id: str, *, after: int, limit: int
    ) -> list[AiSystemRecord]:
        """Return the next versions of one system."""
        return self._systems.get((tenant_id, ai_system_id), [])[after:][:limit]

    async def put_policy(self, policy: TenantPolicyRecord, receipt: Receipt | None = None) -> None:
        """Store the next version."""
        self._receipts.check(receipt)
        present = self._policies.get(policy.tenant_id)
        if policy.version != (present.version if present else 0) + 1:
            raise ConflictError(ErrorReason.ETAG_STALE, "the policy was changed meanwhile; read it again")
        self._policies[policy.tenant_id] = policy
        self._receipts.put(receipt)

    async def get_policy(self, tenant_id: str) -> TenantPolicyRecord | None:
        """Return the tenant's policy or ``None``."""
        return self._policies.get(tenant_id)

    async def put_provider(self, provider: TenantProviderRecord, receipt: Receipt | None = None) -> None:
        """Insert or replace by name."""
        self._receipts.check(receipt)
        self._providers[provider.tenant_id, provider.name] = provider
        self._receipts.put(receipt)

    async def list_providers(self, tenant_id: str) -> list[TenantProviderRecord]:
        """Return a tenant's providers by name."""
        return [self._providers[place] for place in sorted(self._providers) if place[0] == tenant_id]

    async def remove_provider(self, tenant_id: str, name: str, receipt: Receipt | None = None) -> None:
        """Delete."""
        self._receipts.check(receipt)
        self._providers.pop((tenant_id, name), None)
        self._receipts.put(receipt)

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return a remembered answer."""
        return self._receipts.get(tenant_id, rpc, request_id)

    async def put_receipt(self, receipt: Receipt) -> None:
        """Remember an answer that stands alone."""
        self._receipts.check(receipt)
        self._receipts.put(receipt)

    async def check(self) -> None:
        """Memory can always serve."""

    async def close(self) -> None:
        """Nothing to release."""
