"""Tenants' own providers: sealed for their place, found by model, read anew in time, closed by their last user."""

import contextlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from services.common.adapters.memory.credentials import MemoryCredentialStore
from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.errors import UnavailableError, UnreadableRecordError
from services.common.ports.chat_provider import ChatReply, ChatStream
from services.common.ports.credentials import TenantProviderRecord
from services.common.ports.language_model import ChatMessage, ChatRole, LanguageRequest
from services.common.settings import ProviderSettings
from services.gateway.providers.own import MOST_OPEN, OpenProvider, OwnProviders, TenantLanguageModel
from services.gateway.providers.sealing import ProviderKey, opened, sealed

KEY = ProviderKey(7, bytes(range(32)))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SETTINGS = ProviderSettings(allowed_hosts=("llm.example",))
ASKED = LanguageRequest("q", (ChatMessage(ChatRole.USER, "q"),), (), "gpt-4o", 10, 0.0)


def record(name="acme", **changes):
    plain = TenantProviderRecord("t", name, "openai", "https://llm.example/v1", ("gpt-*",), b"", 0, NOW)
    kept = replace(plain, **changes)
    return replace(kept, sealed_key=sealed("sk-secret", kept, KEY.key), key_version=7)


async def keys(version):
    assert version == 7
    return KEY


class Chats:
    """A provider that says its name."""

    def __init__(self, name):
        self.name, self.open = name, True

    async def ask(self, body, headers=None):
        assert self.open
        return ChatReply(200, self.name.encode())

    @contextlib.asynccontextmanager
    async def stream(self, body, headers=None):
        yield ChatStream(None, None)
        assert self.open


class Opening:
    """Opens providers, and remembers them and the keys that they were opened with."""

    def __init__(self):
        self.made, self.keys = [], []

    async def __call__(self, provider, api_key):
        chats = Chats(provider.name)
        self.made.append(chats)
        self.keys.append(api_key)

        async def close():
            chats.open = False

        return OpenProvider(cast("Any", chats), MemoryLanguageModel([f"from {provider.name}"]), close)


async def world(*records, settings=SETTINGS):
    store, opening, clock = MemoryCredentialStore(), Opening(), [0.0]
    for one in records:
        await store.put_provider(one)
    return OwnProviders(store, opening, settings, 5.0, lambda: clock[0]), store, opening, clock


def test_a_sealed_key_opens_in_its_place_alone():
    kept = record()
    assert b"sk-secret" not in kept.sealed_key
    assert "gtprov1" not in repr(kept)
    assert opened(kept, KEY.key) == "sk-secret"
    for moved in ({"tenant_id": "u"}, {"name": "b"}, {"form": "anthropic"}, {"base_url": "https://evil.example"}):
        with pytest.raises(UnreadableRecordError):
            opened(replace(kept, **moved), KEY.key)
    with pytest.raises(UnreadableRecordError):
        opened(kept, bytes(32))


async def test_the_first_of_the_tenant_that_has_the_name_answers():
    own, _, opening, _ = await world(record("b", models=("gpt-4*",)), record("a", models=("o*",), form="anthropic"))
    found = await own.find("t", "gpt-4o", keys)
    assert (found.name, opening.keys) == ("b", ["sk-secret"])
    assert (await found.ask(b"")).body == b"b"
    assert await own.find("t", "gpt-4o", keys) is found
    assert await own.find("t", "gpt-4o", keys, "anthropic") is None
    assert (await own.find("t", "o1", keys)).name == "a"
    assert await own.find("t", "claude", keys) is None
    assert await own.find("u", "gpt-4o", keys) is None


async def test_a_change_elsewhere_is_seen_in_time_and_one_here_at_once():
    own, store, opening, clock = await world(record())
    first = await own.find("t", "gpt-4o", keys)
    await store.put_provider(record(updated_at=NOW + timedelta(seconds=1)))
    assert await own.find("t", "gpt-4o", keys) is first
    clock[0] = 6.0
    second = await own.find("t", "gpt-4o", keys)
    assert second is not first
    assert [one.open for one in opening.made] == [False, True]
    await store.remove_provider("t", "acme")
    own.forget("t")
    assert await own.find("t", "gpt-4o", keys) is None
    assert not opening.made[1].open


async def test_what_runs_keeps_its_provider_open():
    own, store, opening, _ = await world(record())
    found = await own.find("t", "gpt-4o", keys)
    async with found.stream(b""):
        await store.remove_provider("t", "acme")
        own.forget("t")
        assert await own.find("t", "gpt-4o", keys) is None
        assert opening.made[0].open
    assert not opening.made[0].open


async def test_so_many_are_open_at_a_time_and_none_at_the_end():
    own, _, opening, _ = await world(*(record(tenant_id=f"t{number:03d}") for number in range(MOST_OPEN + 2)))
    for number in range(MOST_OPEN + 2):
        await own.find(f"t{number:03d}", "gpt-4o", keys)
    assert [one.open for one in opening.made[:3]] == [False, False, True]
    await own.close()
    assert not any(one.open for one in opening.made)


async def test_a_host_that_is_no_longer_allowed_is_not_asked_nor_is_anybody_else():
    own, _, opening, _ = await world(record(), settings=ProviderSettings())
    with pytest.raises(UnavailableError) as caught:
        await own.find("t", "gpt-4o", keys)
    assert caught.value.metadata["cause"] == "host_not_allowed"
    assert not opening.made


async def test_a_dispatch_is_written_by_the_tenants_own():
    own, _, _, _ = await world(record())
    tenant = ["t"]
    model = TenantLanguageModel(MemoryLanguageModel(["from the deployment"]), own, keys, lambda: tenant[0])
    assert (await model.complete(ASKED)).text == "from acme"
    async with model.stream(ASKED) as stream:
        assert "".join([piece async for piece in stream]) == "from acme"
    assert (await model.complete(replace(ASKED, model="other"))).text == "from the deployment"
    tenant[0] = "u"
    assert (await model.complete(ASKED)).text == "from the deployment"
    async with model.stream(ASKED) as stream:
        assert "".join([piece async for piece in stream]) == "from the deployment"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://other.example/v1", "providers.allowed_hosts of the deployment must hold its host, other.example"),
        ("http://llm.example/v1", "must be https"),
        ("https://u:p@llm.example/v1", "the key goes into api_key"),
        ("https://llm.example/v1?x=1", "must hold no query"),
        ("ftp://llm.example", "must be https://host/path"),
    ],
)
def test_addresses_that_tenants_may_not_name(url, said):
    with pytest.raises(ValueError, match=said.replace("?", ".")):
        SETTINGS.check_own("base_url", url)
    SETTINGS.check_own("base_url", "https://LLM.example/v1")


def test_settings_that_contradict_one_another():
    endpoint = {"base_url": "https://a.example/v1", "models": ["a"]}
    for given, said in (
        ({"api_keys": {"a": "k"}}, "endpoints must hold a too"),
        ({"private_hosts": ["h"]}, "allowed_hosts must hold h too"),
        ({"endpoints": {"a": endpoint | {"base_url": "https://u:p@a.example"}}}, "API_KEYS"),
        ({"endpoints": {"a": endpoint | {"models": []}}}, "at least 1"),
        ({"endpoints": {"a b": endpoint}}, "pattern"),
    ):
        with pytest.raises(ValueError, match=said):
            ProviderSettings.model_validate(given)
