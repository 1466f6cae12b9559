"""``groundtrail keys create --namespace``: the credential that fills a shared namespace (CRP-SPEC-009)."""

import json

import pytest

from services.cli.commands.keys import create_for_namespace
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.composition import Adapters
from services.common.context import Role
from services.common.errors import InvalidRequestError
from services.common.rpc.authentication import open_authenticator
from services.common.settings import EnvelopeSettings, Settings, StoreSettings

NAMESPACE = "shared:regulations"


def settings_over(folder, grants):
    return Settings(
        store=StoreSettings(data_dir=folder, disk_reserve_bytes=0), envelope=EnvelopeSettings(shared_namespaces=grants)
    )


async def test_the_key_is_one_of_the_namespace(tmp_path, capsys):
    settings = settings_over(tmp_path, {NAMESPACE: ("*",)})
    done = await create_for_namespace(settings, Output(as_json=True), "regulations", ["writer"], NAMESPACE, 90)
    shown = json.loads(capsys.readouterr().out)
    assert (done, shown["namespace"]) == (Exit.OK, NAMESPACE)
    async with Adapters(settings) as adapters:
        authenticator = open_authenticator(settings.auth, await adapters.credentials(), adapters.clock)
        caller = await authenticator.authenticate(f"Bearer {shown['api_key']}")
    assert (caller.tenant_id, caller.roles) == (NAMESPACE, frozenset({Role.WRITER}))


@pytest.mark.parametrize(
    ("grants", "roles", "named"),
    [
        ({}, ["writer"], "none is set"),
        ({"shared:b": ("*",)}, ["writer"], "shared:b"),
        ({NAMESPACE: ("*",)}, ["king"], "king"),
    ],
)
async def test_what_no_setting_names_gets_no_key(tmp_path, grants, roles, named):
    with pytest.raises(InvalidRequestError, match=named):
        await create_for_namespace(
            settings_over(tmp_path, grants), Output(as_json=True), "regulations", roles, NAMESPACE, None
        )
