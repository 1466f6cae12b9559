"""``groundtrail providers list | set | remove``: the tenant's own providers of language models (ADR 0163)."""

import sys
import uuid
from pathlib import Path
from typing import Final

import typer
from crp.gateway.v1 import admin_pb2
from crp.gateway.v1 import admin_service_pb2 as service

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.forms import ProviderWord
from services.common.settings import Settings

_MOST_KEY_BYTES: Final = 8_192
_FORMS: Final = {
    ProviderWord.OPENAI: admin_pb2.PROVIDER_FORM_OPENAI,
    ProviderWord.ANTHROPIC: admin_pb2.PROVIDER_FORM_ANTHROPIC,
}
_WORDS: Final = {number: word.value for word, number in _FORMS.items()}


async def list_providers(settings: Settings, output: Output) -> Exit:
    """List the providers."""
    kept: list[admin_pb2.TenantProvider] = []
    async with connect(settings, Part.SESSIONS, Part.ADMIN) as suite:
        token, more = "", True
        while more:
            request = service.ListTenantProvidersRequest(page_token=token)
            found: service.ListTenantProvidersResponse = await suite.call(suite.admin.ListTenantProviders, request)
            kept += found.providers
            token, more = found.next_page_token, bool(found.next_page_token)
    if kept:
        rows: list[tuple[str, ...]] = [
            (one.name, _WORDS[one.form], one.base_url, ", ".join(one.models), "kept" if one.has_api_key else "none")
            for one in kept
        ]
        output.table("The tenant's own providers", ("name", "form", "address", "models", "key"), rows)
    else:
        output.say("no providers of the tenant's own: the deployment's answer")
    output.result({"providers": [render.response_json(one) for one in kept]})
    return Exit.OK


async def set_provider(
    settings: Settings, output: Output, name: str, models: list[str], address: tuple[ProviderWord, str, Path | None]
) -> Exit:
    """Set a provider.

    Args:
        settings: of the command.
        output: told.
        name: of the provider.
        models: that are asked there.
        address: its form, its root, and the file that holds its key, which is never an argument.
    """
    form, base_url, key_file = address
    provider = admin_pb2.TenantProvider(name=name, form=_FORMS[form], base_url=base_url, models=models)
    request = service.SetTenantProviderRequest(request_id=str(uuid.uuid4()), provider=provider)
    if key_file is not None:
        request.api_key = _key(key_file)
    async with connect(settings, Part.SESSIONS, Part.ADMIN) as suite:
        kept: service.SetTenantProviderResponse = await suite.call(suite.admin.SetTenantProvider, request)
    key = "its key is kept, sealed" if kept.provider.has_api_key else "it wants no key"
    output.say(f"{name}: {', '.join(kept.provider.models)} at {kept.provider.base_url}; {key}")
    output.result(render.response_json(kept.provider))
    return Exit.OK


async def remove_provider(settings: Settings, output: Output, name: str) -> Exit:
    """Remove a provider."""
    request = service.RemoveTenantProviderRequest(request_id=str(uuid.uuid4()), name=name)
    async with connect(settings, Part.SESSIONS, Part.ADMIN) as suite:
        await suite.call(suite.admin.RemoveTenantProvider, request)
    output.say(f"{name} is removed, and its key with it")
    output.result({"name": name, "removed": True})
    return Exit.OK


def _key(path: Path) -> str:
    """Return the key that a file, or standard input, holds."""
    try:
        raw = sys.stdin.buffer.read(_MOST_KEY_BYTES) if str(path) == "-" else path.read_bytes()[:_MOST_KEY_BYTES]
        key = raw.decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        text = "cannot be read" if isinstance(error, OSError) else "holds no key: it is no ASCII text"
        raise typer.BadParameter(f"{path} {text}", param_hint="--key-file") from None
    if not key:
        text = f"{path} is empty; leave it out where the provider wants no key"
        raise typer.BadParameter(text, param_hint="--key-file")
    return key
