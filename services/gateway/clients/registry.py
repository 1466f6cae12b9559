"""``TenantRegistry`` over the gateway's own store."""

from services.common.ports.credentials import AiSystemRecord, CredentialStore


class StoredRegistry:
    """Reads what AdminService wrote."""

    def __init__(self, credentials: CredentialStore) -> None:
        self._credentials = credentials

    async def safety_policy(self, tenant_id: str) -> str:
        """Return the tenant's policy; empty when there is none."""
        policy = await self._credentials.get_policy(tenant_id)
        return "" if policy is None else policy.safety_policy

    async def sink_hosts(self, tenant_id: str) -> tuple[str, ...]:
        """Return the hosts on the tenant's allow-list."""
        policy = await self._credentials.get_policy(tenant_id)
        return () if policy is None else policy.allowed_sink_hosts

    async def ai_system(self, tenant_id: str, ai_system_id: str) -> AiSystemRecord | None:
        """Return a registered system or ``None``."""
        return await self._credentials.get_ai_system(tenant_id, ai_system_id)
