"""What administrators do to their tenant's own providers: set, list, remove (ADR 0163)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import structlog

from services.common.clock import Clock
from services.common.context import Caller
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, NotFoundError
from services.common.ports.credentials import CredentialStore, TenantProviderRecord
from services.common.ports.receipts import Receipt
from services.common.settings import ProviderSettings
from services.gateway.admin.app import AdminApp, Replay, Write
from services.gateway.providers.sealing import KeySource, sealed


@dataclass(frozen=True, slots=True)
class NewProvider:
    """The provider to set; ``api_key`` is ``None`` where a kept one stays, empty for none."""

    name: str
    form: str
    base_url: str
    models: tuple[str, ...]
    api_key: str | None = field(repr=False)


class ProviderAdmin:
    """The operations, each confined to the caller's tenant.

    Args:
        admin: does each write once.
        store: where providers are kept.
        settings: which hosts may be named, and how many providers a tenant may have.
        keys: gives the key that credentials are sealed with.
        clock: the time.
        changed: told which tenant's providers were changed.
    """

    def __init__(
        self,
        admin: AdminApp,
        store: CredentialStore,
        settings: ProviderSettings,
        keys: KeySource,
        clock: Clock,
        changed: Callable[[str], None],
    ) -> None:
        self._admin = admin
        self._store = store
        self._settings = settings
        self._keys = keys
        self._clock = clock
        self._changed = changed
        self._log = structlog.get_logger("groundtrail.admin")

    async def put(
        self, caller: Caller, write: Write[TenantProviderRecord], new: NewProvider
    ) -> TenantProviderRecord | Replay:
        """Set a provider.

        Raises:
            InvalidRequestError: INVALID_FIELD: its host is not allowed, the tenant has too many, or a key is to stay
                that is not there or belongs to another address.
            PreconditionError: REQUEST_ID_REUSED.
            UnavailableError: SERVICE_UNAVAILABLE: the key to seal with cannot be had.
        """
        replayed = await self._admin.replay(caller, write)
        if replayed is not None:
            return replayed
        kept = await self._store.list_providers(caller.tenant_id)
        self._check(new, kept)
        present = next((one for one in kept if one.name == new.name), None)
        record = TenantProviderRecord(
            tenant_id=caller.tenant_id,
            name=new.name,
            form=new.form,
            base_url=new.base_url,
            models=new.models,
            sealed_key=b"",
            key_version=0,
            updated_at=self._clock.now(),
        )
        if new.api_key:
            sealing = await self._keys(0)
            record = replace(record, sealed_key=sealed(new.api_key, record, sealing.key), key_version=sealing.version)
        elif new.api_key is None and present is not None:
            record = replace(record, sealed_key=present.sealed_key, key_version=present.key_version)

        async def store(receipt: Receipt) -> None:
            await self._store.put_provider(record, receipt)
            self._log.info("tenant provider set", name=record.name, form=record.form)

        done = await self._admin.once(caller, write, record, store)
        self._changed(caller.tenant_id)
        return done

    async def page(self, caller: Caller, *, after: str, limit: int) -> list[TenantProviderRecord]:
        """Return up to ``limit`` providers with ``name > after``, ordered by name."""
        found = await self._store.list_providers(caller.tenant_id)
        return [one for one in found if one.name > after][:limit]

    async def remove(self, caller: Caller, write: Write[None], name: str) -> Replay | None:
        """Remove a provider, and its key with it.

        Raises:
            NotFoundError: PROVIDER_NOT_FOUND.
            PreconditionError: REQUEST_ID_REUSED.
        """
        replayed = await self._admin.replay(caller, write)
        if replayed is not None:
            return replayed
        if all(one.name != name for one in await self._store.list_providers(caller.tenant_id)):
            text = f"there is no provider {name}; `groundtrail providers list` shows those that there are"
            raise NotFoundError(ErrorReason.PROVIDER_NOT_FOUND, text, name=name)

        async def store(receipt: Receipt) -> None:
            await self._store.remove_provider(caller.tenant_id, name, receipt)
            self._log.info("tenant provider removed", name=name)

        done = await self._admin.once(caller, write, None, store)
        self._changed(caller.tenant_id)
        return done

    def _check(self, new: NewProvider, kept: list[TenantProviderRecord]) -> None:
        found: list[FieldViolation] = []
        try:
            self._settings.check_own("provider.base_url", new.base_url)
        except ValueError as error:
            found.append(FieldViolation("provider.base_url", str(error).removeprefix("provider.base_url").lstrip(": ")))
        present = next((one for one in kept if one.name == new.name), None)
        most = self._settings.max_per_tenant
        if present is None and len(kept) >= most:
            found.append(
                FieldViolation("provider.name", f"must be one of the {most} that there are; a tenant has no more")
            )
        moved = present is not None and (present.form, present.base_url) != (new.form, new.base_url)
        if new.api_key is None and moved and present is not None and present.sealed_key:
            text = "must be given with another form or address: a key that is kept goes nowhere else; empty = none"
            found.append(FieldViolation("api_key", text))
        if found:
            raise InvalidRequestError.of(*found)
