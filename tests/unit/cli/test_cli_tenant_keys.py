"""``groundtrail keys`` on a data directory: keys of any tenant, for whoever holds the files; a server gives its own."""

import json

import pytest
from pydantic import SecretStr

from services.cli.commands import keys
from services.cli.commands.keys import Wish
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.composition import Adapters
from services.common.context import Role
from services.common.errors import InvalidRequestError, NotFoundError, UnauthenticatedError
from services.common.rpc.authentication import open_authenticator
from services.common.settings import ClientSettings, Settings, StoreSettings


@pytest.fixture
def settings(tmp_path):
    return Settings(store=StoreSettings(data_dir=tmp_path, disk_reserve_bytes=0))


async def run(capsys, command, *arguments):
    assert await command(arguments[0], Output(as_json=True), *arguments[1:]) is Exit.OK
    out = capsys.readouterr().out
    return json.loads(out[out.index("{") :])  # behind what structlog, which nobody configured here, says


async def opens(settings, key):
    async with Adapters(settings) as adapters:
        return await open_authenticator(settings.auth, await adapters.credentials(), adapters.clock).authenticate(
            f"Bearer {key}"
        )


async def test_a_key_opens_the_tenant_that_it_was_made_for(settings, capsys):
    made = await run(capsys, keys.create, settings, Wish("claims team", ["reader", "writer"], 30, "claims"))
    assert made["key"]["tenant_id"] == "claims"
    caller = await opens(settings, made["api_key"])
    assert (caller.tenant_id, caller.roles) == ("claims", frozenset({Role.READER, Role.WRITER}))


async def test_without_a_tenant_it_is_the_first_one(settings, capsys):
    made = await run(capsys, keys.create, settings, Wish("mine", ["admin"]))
    assert (await opens(settings, made["api_key"])).tenant_id == "default"


async def test_the_list_names_tenants_and_can_be_of_one(settings, capsys):
    for tenant, label in (("claims", "a"), ("motor", "b"), ("claims", "c")):
        await run(capsys, keys.create, settings, Wish(label, ["reader"], None, tenant))
    listed = (await run(capsys, keys.list_keys, settings))["keys"]
    assert [(key["tenant_id"], key["state"]) for key in listed] == [
        ("claims", "API_KEY_STATE_ACTIVE"),
        ("claims", "API_KEY_STATE_ACTIVE"),
        ("motor", "API_KEY_STATE_ACTIVE"),
    ]
    assert {key["label"] for key in (await run(capsys, keys.list_keys, settings, "motor"))["keys"]} == {"b"}
    await keys.list_keys(settings, Output(as_json=False))
    shown = capsys.readouterr().out
    assert "tenant," in shown
    assert "motor" in shown


async def test_a_key_of_any_tenant_is_revoked(settings, capsys):
    made = await run(capsys, keys.create, settings, Wish("b", ["reader"], None, "motor"))
    revoked = await run(capsys, keys.revoke, settings, made["key"]["key_id"])
    assert revoked["key"]["state"] == "API_KEY_STATE_REVOKED"
    with pytest.raises(UnauthenticatedError):
        await opens(settings, made["api_key"])
    with pytest.raises(NotFoundError, match="in this installation"):
        await keys.revoke(settings, Output(as_json=True), "00000000-0000-4000-8000-000000000000")


@pytest.mark.parametrize("tenant", ["shared:laws", " claims", "claims\n", "\x1b[2J", "x" * 129, "a\u202eb"])
async def test_a_name_that_can_be_no_tenants_is_refused(settings, tenant):
    with pytest.raises(InvalidRequestError, match="--tenant"):
        await keys.create(settings, Output(as_json=True), Wish("x", ["reader"], None, tenant))


async def test_a_tenant_beside_a_namespace_is_refused(settings):
    with pytest.raises(InvalidRequestError, match="a tenant or of a shared namespace"):
        await keys.create(settings, Output(as_json=True), Wish("x", ["reader"], None, "claims", "shared:laws"))


async def test_a_server_is_not_asked_for_another_tenants_keys(tmp_path):
    there = Settings(
        store=StoreSettings(data_dir=tmp_path),
        client=ClientSettings(server="127.0.0.1:1", api_key=SecretStr("crp_gw_dev_x")),
    )
    with pytest.raises(InvalidRequestError, match="GROUNDTRAIL_CLIENT__SERVER"):
        await keys.create(there, Output(as_json=True), Wish("x", ["reader"], None, "claims"))
    with pytest.raises(InvalidRequestError, match="GROUNDTRAIL_CLIENT__SERVER"):
        await keys.list_keys(there, Output(as_json=True), "claims")


async def test_keys_are_made_beside_a_server_that_has_the_stores(settings, capsys):
    async with Adapters(settings, serving=True) as server:
        await server.session_store()
        store = await server.credentials()
        made = await run(capsys, keys.create, settings, Wish("beside", ["reader"], None, "claims"))
        authenticator = open_authenticator(settings.auth, store, server.clock)
        assert (await authenticator.authenticate(f"Bearer {made['api_key']}")).tenant_id == "claims"
