"""``groundtrail keys create | list | revoke``: the API keys of the tenant."""

import uuid
from datetime import UTC, datetime, timedelta

from crp.gateway.v1 import admin_pb2 as admin
from crp.gateway.v1 import admin_service_pb2 as service

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.composition import Adapters
from services.common.context import Role
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.settings import Settings
from services.gateway.admin_app import NewKey, issue_namespace_key


async def create(settings: Settings, output: Output, label: str, roles: list[str], days: int | None) -> Exit:
    """Create a key and show it, this once."""
    request = service.CreateApiKeyRequest(
        request_id=str(uuid.uuid4()),
        label=label,
        roles=[f"API_KEY_ROLE_{role.name}" for role in _roles(roles)],
    )
    if days is not None:
        request.expire_time.FromDatetime(datetime.now(tz=UTC) + timedelta(days=days))
    async with connect(settings, Part.ADMIN) as suite:
        made = await suite.call(suite.admin.CreateApiKey, request)
    output.say(made.api_key, style="bold green")
    output.say("This is the only time that the key is shown: it is stored hashed.", style="yellow")
    output.result(render.response_json(made))
    return Exit.OK


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
    output.say(key, style="bold green")
    output.say(f"It is a key of {namespace}, shown this once: it is stored hashed.", style="yellow")
    output.result({"api_key": key, "namespace": namespace})
    return Exit.OK


def _roles(names: list[str]) -> tuple[Role, ...]:
    unknown = sorted(set(names) - {role.value for role in Role})
    if unknown:
        raise InvalidRequestError.of(FieldViolation("--role", f"{', '.join(unknown)} is none of reader, writer, admin"))
    return tuple(map(Role, dict.fromkeys(names)))


async def list_keys(settings: Settings, output: Output) -> Exit:
    """List the tenant's keys by prefix; never the keys."""
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
                break
    rows = [
        (
            f"{key.key_id}\n{key.prefix}…",
            key.label,
            ", ".join(render.enum_text(admin.ApiKeyRole, role).lower() for role in key.roles),
            render.enum_text(admin.ApiKeyState, key.state).lower(),
            f"{key.expire_time.ToDatetime():%Y-%m-%d\n%H:%M} UTC" if key.HasField("expire_time") else "never",
        )
        for key in keys
    ]
    output.table(
        f"API keys ({len(rows)})", ("id, prefix", "label", "roles", "state", "expires"), rows, whole="id, prefix"
    )
    output.result({"keys": [render.response_json(key) for key in keys]})
    return Exit.OK


async def revoke(settings: Settings, output: Output, key_id: str) -> Exit:
    """Revoke a key; services that cached it refuse it within their cache's lifetime."""
    async with connect(settings, Part.ADMIN) as suite:
        revoked = await suite.call(
            suite.admin.RevokeApiKey, service.RevokeApiKeyRequest(request_id=str(uuid.uuid4()), key_id=key_id)
        )
    output.say(f"revoked {revoked.key.prefix}…", style="green")
    output.result(render.response_json(revoked))
    return Exit.OK
