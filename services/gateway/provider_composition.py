"""The composition of tenants' own providers: where they are kept, and what speaks to them (ADR 0163)."""

import asyncio

from services.common.composition import Adapters
from services.common.ports.credentials import TenantProviderRecord
from services.common.provider_composition import open_own_provider
from services.common.settings import Settings
from services.gateway.admin.app import AdminApp
from services.gateway.admin.providers import ProviderAdmin
from services.gateway.clients.sessions import GrpcSessionClient
from services.gateway.providers.own import OpenProvider, OwnProviders


async def open_own_providers(settings: Settings, adapters: Adapters) -> OwnProviders:
    """Return the tenants' own providers; those that are open are closed with the adapters."""

    async def opened(provider: TenantProviderRecord, api_key: str) -> OpenProvider:
        chats, writer = await open_own_provider(provider, api_key, settings, adapters.model_calls)

        async def close() -> None:
            await chats.close()
            await writer.close()

        return OpenProvider(chats, writer, close)

    now = asyncio.get_running_loop().time
    own = OwnProviders(await adapters.credentials(), opened, settings.providers, settings.auth.cache_ttl_s, now)
    adapters.closing(own.close)
    return own


async def provider_admin(
    admin: AdminApp,
    settings: Settings,
    adapters: Adapters,
    sessions: GrpcSessionClient,
    own: OwnProviders | None = None,
) -> ProviderAdmin:
    """Return what sets and removes tenants' own providers; ``own`` are those of this process, told what changed."""
    changed = _ignored if own is None else own.forget
    store = await adapters.credentials()
    return ProviderAdmin(admin, store, settings.providers, sessions.provider_key, adapters.clock, changed)


def _ignored(tenant_id: str) -> None:
    """Do nothing."""
