"""``groundtrail keys create | list | revoke``: one tenant's API keys at a server, all tenants' on a data directory."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from crp.gateway.v1 import admin_pb2 as admin
from crp.gateway.v1 import admin_service_pb2 as service

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.words import enum_text
from services.common.composition import Adapters
from services.common.context import FIRST_TENANT, Role
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.settings import Settings
from services.gateway.admin.app import NewKey, issue_namespace_key
from services.gateway.doors.local_keys import LocalKeys


@dataclass(frozen=True, slots=True)
class Wish:
    """What key is to be made.

    Attributes:
        days: until it expires; ``None`` = never.
        tenant: whose it is; empty = the server's own, or the first one.
        namespace: a shared namespace instead of a tenant; empty = none.
    """

    label: str
    roles: list[str]
    days: int | None = None
    tenant: str = ""
    namespace: str = ""


async def create(settings: Settings, output: Output, wish: Wish) -> Exit:
    """Create a key and show it, this once: at a server of its own tenant, on the data directory of any.

    Raises:
        InvalidRequestError: a tenant is named beside a server or a namespace, or as CreateApiKey.
    """
    if wish.namespace:
        if wish.tenant:
            raise InvalidRequestError.of(FieldViolation("--tenant", "a key is of a tenant or of a shared namespace"))
        return await create_for_namespace(settings, output, wish.label, wish.roles, wish.namespace, wish.days)
    request = service.CreateApiKeyRequest(
        request_id=str(uuid.uuid4()),
        label=wish.label,
        roles=[f"API_KEY_ROLE_{role.name}" for role in _roles(wish.roles)],
    )
    if wish.days is not None:
        request.expire_time.FromDatetime(datetime.now(tz=UTC) + timedelta(days=wish.days))
    if settings.client.server:
        _refuse_tenant(wish.tenant)
        async with connect(settings, Part.ADMIN) as suite:
            made = await suite.call(suite.admin.CreateApiKey, request)
    else:
        async with _local_keys(settings) as keys:
            made = await keys.create(request, wish.tenant or FIRST_TENANT)
    output.drawn([(made.api_key, "bold green")])  # not folded: people copy it
    output.say(f"It is a key of the tenant {made.key.tenant_id}, shown this once: it is stored hashed.", style="yellow")
    output.result(render.response_json(made))
    return Exit.OK


@asynccontextmanager
async def _local_keys(settings: Settings) -> AsyncIterator[LocalKeys]:
    """Give the keys of the installation whose data directory this is; beside a running server, too."""
    async with Adapters(settings) as adapters:
        store = await adapters.credentials()
        yield LocalKeys(store, adapters.clock, adapters.ids, settings.auth.environment)


def _refuse_tenant(tenant: str) -> None:
    if tenant:
        text = (
            "a server knows the keys of the credential's own tenant alone; unset GROUNDTRAIL_CLIENT__SERVER and run "
            "this on the data directory"
        )
        raise InvalidRequestError.of(FieldViolation("--tenant", text))


async def create_for_namespace(
    settings: Settings, output: Output, label: str, roles: list[str], namespace: str, days: int | None
) -> Exit:
    """Create a key of a shared namespace in the store itself, and show it, this once.

    Raises:
        InvalidRequestError: no setting names the namespace, or a role does not exist.
    """
    known = settings.envelope.shared_namespaces
    if namespace not in known:
        names = ", ".join(sorted(known)) or "none is set"
        text = f"{namespace} is not in GROUNDTRAIL_ENVELOPE__SHARED_NAMESPACES ({names})"
        raise InvalidRequestError.of(FieldViolation("--namespace", text))
    until = None if days is None else datetime.now(tz=UTC) + timedelta(days=days)
    new = NewKey(label=label, roles=_roles(roles), expires_at=until)
    async with Adapters(settings) as adapters:
        store, environment = await adapters.credentials(), settings.auth.environment
        key = await issue_namespace_key(store, adapters.clock, adapters.ids, environment, namespace, new)
    output.drawn([(key, "bold green")])  # not folded: people copy it
    output.say(f"It is a key of {namespace}, shown this once: it is stored hashed.", style="yellow")
    output.result({"api_key": key, "namespace": namespace})
    return Exit.OK


def _roles(names: list[str]) -> tuple[Role, ...]:
    unknown = sorted(set(names) - {role.value for role in Role})
    if unknown:
        text = f"{', '.join(unknown)} is none of {', '.join(Role)}"
        raise InvalidRequestError.of(FieldViolation("--role", text))
    return tuple(map(Role, dict.fromkeys(names)))


async def list_keys(settings: Settings, output: Output, tenant: str = "") -> Exit:
    """List keys by prefix, never the keys: of every tenant on the data directory, of the credential's at a server.

    Raises:
        InvalidRequestError: a tenant is named beside a server.
    """
    if settings.client.server:
        _refuse_tenant(tenant)
        keys = await _keys_of_the_server(settings)
    else:
        async with _local_keys(settings) as local:
            keys = await local.page_all(tenant)
    rows = [
        (
            f"{key.key_id}\n{key.prefix}…",
            f"{key.tenant_id}\n{key.label}",
            ", ".join(enum_text(admin.ApiKeyRole, role).lower() for role in key.roles),
            enum_text(admin.ApiKeyState, key.state).lower(),
            f"{key.expire_time.ToDatetime():%Y-%m-%d\n%H:%M} UTC" if key.HasField("expire_time") else "never",
        )
        for key in keys
    ]
    columns = ("id, prefix", "tenant, label", "roles", "state", "expires")
    output.table(f"API keys ({len(rows)})", columns, rows, whole="id, prefix")
    output.result({"keys": [render.response_json(key) for key in keys]})
    return Exit.OK


async def _keys_of_the_server(settings: Settings) -> list[admin.ApiKey]:
    keys: list[admin.ApiKey] = []
    token = ""
    async with connect(settings, Part.ADMIN) as suite:
        while True:
            page = await suite.call(
                suite.admin.ListApiKeys, service.ListApiKeysRequest(page_size=100, page_token=token)
            )
            keys.extend(page.keys)
            token = page.next_page_token
            if not token:
                return keys


async def revoke(settings: Settings, output: Output, key_id: str) -> Exit:
    """Revoke a key; services that cached it refuse it within their cache's lifetime."""
    request = service.RevokeApiKeyRequest(request_id=str(uuid.uuid4()), key_id=key_id)
    if settings.client.server:
        async with connect(settings, Part.ADMIN) as suite:
            revoked = await suite.call(suite.admin.RevokeApiKey, request)
    else:
        async with _local_keys(settings) as keys:
            revoked = await keys.revoke(request)
    output.say(f"revoked {revoked.key.prefix}…", style="green")
    output.result(render.response_json(revoked))
    return Exit.OK
