"""Which of a tenant's own providers answers for a model's name; opened on first use, closed when nobody uses it."""

import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Final, Protocol

from services.common.errors import ErrorReason, UnavailableError
from services.common.ports.chat_provider import NO_HEADERS, ChatProvider, ChatReply, ChatStream
from services.common.ports.credentials import TenantProviderRecord
from services.common.ports.language_model import LanguageReply, LanguageRequest, LanguageStream, StreamingLanguageModel
from services.common.settings import ProviderSettings
from services.gateway.providers.sealing import KeySource, opened

MOST_OPEN: Final = 256
"""Providers with connections of their own at a time; the longest unused is closed first."""
MOST_TENANTS: Final = 10_000
"""Tenants whose providers are remembered."""


@dataclass(frozen=True, slots=True)
class OpenProvider:
    """A provider with its connections: as bodies go through, and as what writes answers."""

    chats: ChatProvider
    writer: StreamingLanguageModel
    close: Callable[[], Awaitable[None]]


class ProviderOpener(Protocol):
    """Makes what speaks to a provider; nothing is sent."""

    async def __call__(self, provider: TenantProviderRecord, api_key: str) -> OpenProvider:
        """Return it."""
        ...


class ProviderRecords(Protocol):
    """Where they are kept."""

    async def list_providers(self, tenant_id: str) -> list[TenantProviderRecord]:
        """Return all of a tenant, by name."""
        ...


class OwnProvider:
    """A tenant's own provider while it is open; what runs over it keeps it open.

    Args:
        name: of the provider.
        open_: its connections.
    """

    def __init__(self, name: str, open_: OpenProvider) -> None:
        self.name = name
        self._open = open_
        self._users = 0
        self._dropped = False

    async def drop(self) -> None:
        """Close it, at once or when its last user has left."""
        self._dropped = True
        if not self._users:
            await self._open.close()

    @asynccontextmanager
    async def _used(self) -> AsyncIterator[OpenProvider]:
        self._users += 1
        try:
            yield self._open
        finally:
            self._users -= 1
            if self._dropped and not self._users:
                await self._open.close()

    async def ask(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> ChatReply:
        """Pass a body through."""
        async with self._used() as kept:
            return await kept.chats.ask(body, headers)

    @asynccontextmanager
    async def stream(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> AsyncIterator[ChatStream]:
        """Pass a body through, and open the streamed answer."""
        async with self._used() as kept, kept.chats.stream(body, headers) as stream:
            yield stream

    async def models(self) -> ChatReply:
        """Ask for the list of models."""
        async with self._used() as kept:
            return await kept.chats.models()

    async def close(self) -> None:
        """Leave it to ``drop``."""

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Have one reply written."""
        async with self._used() as kept:
            return await kept.writer.complete(request)

    @asynccontextmanager
    async def write(self, request: LanguageRequest) -> AsyncIterator[LanguageStream]:
        """Have one reply written piece by piece."""
        async with self._used() as kept, kept.writer.stream(request) as stream:
            yield stream


class OwnProviders:
    """The tenants' own providers of this process.

    Args:
        records: where they are kept.
        opener: makes what speaks to them.
        settings: which hosts may be spoken to.
        ttl_s: how long what was read is trusted, in seconds; other processes change it, too.
        now: a clock that never goes back, in seconds.
    """

    def __init__(
        self,
        records: ProviderRecords,
        opener: ProviderOpener,
        settings: ProviderSettings,
        ttl_s: float,
        now: Callable[[], float],
    ) -> None:
        self._records = records
        self._opener = opener
        self._settings = settings
        self._ttl_s = ttl_s
        self._now = now
        self._read: OrderedDict[str, tuple[float, tuple[TenantProviderRecord, ...]]] = OrderedDict()
        self._open: OrderedDict[tuple[str, str], tuple[datetime, OwnProvider]] = OrderedDict()

    async def listed(self, tenant_id: str) -> tuple[TenantProviderRecord, ...]:
        """Return a tenant's providers by name, at most ``ttl_s`` old."""
        known = self._read.get(tenant_id)
        if known is not None and self._now() - known[0] < self._ttl_s:
            return known[1]
        return await self._fresh(tenant_id)

    async def find(self, tenant_id: str, model: str, keys: KeySource, form: str | None = None) -> OwnProvider | None:
        """Return the tenant's own provider that answers for a model, ``None`` when none does.

        Args:
            tenant_id: whose.
            model: as the caller spells it.
            keys: gives the key that credentials are sealed with.
            form: that it has to speak; ``None`` = any.

        Raises:
            UnavailableError: LLM_UNAVAILABLE: its host is no longer allowed; SERVICE_UNAVAILABLE: its key cannot be
                opened now.
            UnreadableRecordError: its key does not open.
        """
        for record in await self.listed(tenant_id):
            if form in {None, record.form} and any(fnmatchcase(model, pattern) for pattern in record.models):
                return await self._opened(record, keys)
        return None

    async def answer_for(self, tenant_id: str, model: str) -> bool:
        """Say whether one of the tenant's own providers answers for a model; nothing is opened."""
        return any(fnmatchcase(model, pattern) for one in await self.listed(tenant_id) for pattern in one.models)

    def forget(self, tenant_id: str) -> None:
        """Read a tenant's providers anew: they were changed here."""
        self._read.pop(tenant_id, None)

    async def close(self) -> None:
        """Close all of them."""
        for _, provider in self._open.values():
            await provider.drop()
        self._open.clear()

    async def _fresh(self, tenant_id: str) -> tuple[TenantProviderRecord, ...]:
        found = tuple(await self._records.list_providers(tenant_id))
        self._read[tenant_id] = (self._now(), found)
        self._read.move_to_end(tenant_id)
        if len(self._read) > MOST_TENANTS:
            self._read.popitem(last=False)
        names = {record.name for record in found}
        for place in [place for place in self._open if place[0] == tenant_id and place[1] not in names]:
            await self._open.pop(place)[1].drop()
        return found

    async def _opened(self, record: TenantProviderRecord, keys: KeySource) -> OwnProvider:
        self._check_host(record)
        place = (record.tenant_id, record.name)
        updated_at, known = self._open.get(place, (None, None))
        if known is not None and updated_at == record.updated_at:
            self._open.move_to_end(place)
            return known
        api_key = ""
        if record.sealed_key:
            api_key = opened(record, (await keys(record.key_version)).key)
        provider = OwnProvider(record.name, await self._opener(record, api_key))
        replaced = self._open.pop(place, None)
        self._open[place] = (record.updated_at, provider)
        dropped = [replaced] if replaced else []
        if len(self._open) > MOST_OPEN:
            dropped.append(self._open.popitem(last=False)[1])
        for _, old in dropped:
            await old.drop()
        return provider

    def _check_host(self, record: TenantProviderRecord) -> None:
        try:
            self._settings.check_own("base_url", record.base_url)
        except ValueError:
            text = f"The tenant's provider {record.name} has a host that this deployment does not allow any more."
            raise UnavailableError(
                ErrorReason.LLM_UNAVAILABLE, text, cause="host_not_allowed", provider=record.name
            ) from None


class TenantLanguageModel:
    """A ``StreamingLanguageModel`` that asks the running call's tenant's own provider where it has one for the model.

    Args:
        default: answers for everything else.
        own: the tenants' providers.
        keys: gives the key of the running call's tenant.
        tenant: of the running call.
    """

    def __init__(
        self, default: StreamingLanguageModel, own: OwnProviders, keys: KeySource, tenant: Callable[[], str]
    ) -> None:
        self._default = default
        self._own = own
        self._keys = keys
        self._tenant = tenant

    @property
    def default_model(self) -> str:
        """The deployment's."""
        return self._default.default_model

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Return one reply of whoever answers for the tenant and the name."""
        own = await self._own.find(self._tenant(), request.model, self._keys)
        return await (self._default if own is None else own).complete(request)

    def stream(self, request: LanguageRequest) -> AbstractAsyncContextManager[LanguageStream]:
        """Open one reply of whoever answers for the tenant and the name."""
        return self._streamed(request)

    @asynccontextmanager
    async def _streamed(self, request: LanguageRequest) -> AsyncIterator[LanguageStream]:
        own = await self._own.find(self._tenant(), request.model, self._keys)
        streaming = self._default.stream(request) if own is None else own.write(request)
        async with contextlib.AsyncExitStack() as entered:
            yield await entered.enter_async_context(streaming)

    async def check(self) -> None:
        """Return when the deployment's can be reached: a tenant's provider is the tenant's concern."""
        await self._default.check()

    async def close(self) -> None:
        """Close the deployment's; the tenants' are closed by whoever made them."""
        await self._default.close()
