"""A tenant's own providers end to end: set, listed, used by dispatches and chats, removed; and limits of a minute."""

import asyncio
import contextlib
import dataclasses
import uuid
from typing import Any, cast

import httpx
import pytest
from crp.dag.v1.session_service_pb2_grpc import SessionServiceStub
from crp.gateway.v1 import admin_pb2
from crp.gateway.v1 import admin_service_pb2 as pb
from crp.gateway.v1.admin_service_pb2_grpc import AdminServiceStub

from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.clock import SystemClock
from services.common.context import current_call
from services.common.ports.chat_provider import ChatReply
from services.common.rpc.client import Peer, PeerChannel
from services.common.rpc.rate_limits import RateLimits
from services.common.settings import ChatSettings, GatewaySettings, LimitSettings, ProviderSettings
from services.common.settings.http import HttpSettings
from services.gateway.admin.app import AdminApp
from services.gateway.admin.providers import ProviderAdmin
from services.gateway.clients.sessions import GrpcSessionClient
from services.gateway.doors.grpc.admin import admin_service
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.chat.backlog import Backlog
from services.gateway.doors.http.chat_doors import ChatBehind, ChatBounds, chat_routes
from services.gateway.doors.http.provider_routes import PROVIDERS, ProviderRoutes
from services.gateway.providers.own import OpenProvider, OwnProviders, TenantLanguageModel
from tests.fakes.dag_world import ALICE, WRITER, SubjectAuthenticator
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.gateway_world import ANSWER, GatewayWorld
from tests.fakes.open_gate import open_gate
from tests.fakes.tenant_policies import check_policies
from tests.patience import patient
from tests.rpc.test_gateway_policy_trial import refused

SETTINGS = ProviderSettings(allowed_hosts=("llm.example",), max_per_tenant=2)
SECRET = "sk-the-tenants-own"
URL = "https://llm.example/v1"
OWN = "A motor accident must be reported within 7 days."
LIMITS = LimitSettings.model_validate({"of_keys": {WRITER.scope: {"requests_per_minute": 1}}})


class Chats:
    """What stands at the tenant's provider."""

    async def ask(self, body, headers=None):
        choice = {"index": 0, "message": {"role": "assistant", "content": OWN}, "finish_reason": "stop"}
        return ChatReply(200, httpx.Response(200, json={"model": "m", "choices": [choice]}).content)


class ProvidedWorld(GatewayWorld):
    """A world whose tenants have providers of their own."""

    def __post_init__(self):
        super().__post_init__()
        self.deployment, self.opened = cast("Any", self.model), []

        async def opening(provider, api_key):
            self.opened.append((provider.name, api_key))
            return OpenProvider(cast("Any", Chats()), MemoryLanguageModel([OWN]), lambda: asyncio.sleep(0))

        now = asyncio.get_running_loop().time
        self.own = OwnProviders(self.credentials, opening, SETTINGS, 5.0, now)
        self.limits = RateLimits(LIMITS, now)

    async def answers_for(self, tenant_id, model):
        return await self.own.answer_for(tenant_id, model)

    def _app(self, channels):
        keys = GrpcSessionClient(channels.to("dag")).provider_key
        self.model = TenantLanguageModel(self.deployment, self.own, keys, lambda: current_call().caller.tenant_id)
        return super()._app(channels)

    def _services(self, app, channels):
        admin = AdminApp(self.credentials, self.dag.clock, self.dag.ids, "test")
        keys = GrpcSessionClient(channels.to("dag")).provider_key
        providers = ProviderAdmin(admin, self.credentials, SETTINGS, keys, self.dag.clock, self.own.forget)
        dispatch, *rest = super()._services(app, channels)
        limited = dataclasses.replace(dispatch, limits=self.limits)
        return [limited, *rest, admin_service(admin, self.dag.clock, None, providers)]


@contextlib.asynccontextmanager
async def served():
    """A world, its client, and an HTTP client of a door before it."""
    world = ProvidedWorld()
    async with world.serving() as client:
        channel = PeerChannel(client.channel, Peer("here", "here"), patient(20.0))
        gate, http = open_gate(SubjectAuthenticator()), HttpSettings(port=0)
        behind = ChatBehind(
            cast("Any", None),
            cast("Any", None),
            check_policies(GatewaySettings()),
            None,
            None,
            own=world.own,
            sessions=SessionServiceStub(channel),
            limits=world.limits,
        )
        bounds = ChatBounds(http, ChatSettings(), GatewaySettings())
        routes = [
            *chat_routes(behind, gate, bounds, Backlog(bounds.chat)),
            ProviderRoutes(AdminServiceStub(channel), gate, http, SystemClock()),
        ]
        app = create_app(cast("Any", ErcpStub()), gate, http, SystemClock(), "0.1.0", routes)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as door:
            yield world, client, door


def provider(name="acme", **fields):
    given: dict[str, Any] = {"form": admin_pb2.PROVIDER_FORM_OPENAI, "base_url": URL, "models": ["gpt-*"]} | fields
    return admin_pb2.TenantProvider(name=name, **given)


def setting(given=None, **fields):
    return pb.SetTenantProviderRequest(request_id=str(uuid.uuid4()), provider=given or provider(), **fields)


async def call(client, rpc, request, subject="alice"):
    stub = AdminServiceStub(client.channel)
    return await getattr(stub, rpc)(request, metadata=(("authorization", subject),), timeout=patient(60))


async def test_a_dispatch_goes_to_the_tenants_own_until_it_is_removed():
    async with served() as (world, client, _):
        request = setting(api_key=SECRET)
        kept = await call(client, "SetTenantProvider", request)
        again = await call(client, "SetTenantProvider", request)
        listed = await call(client, "ListTenantProviders", pb.ListTenantProvidersRequest())
        others = await call(client, "ListTenantProviders", pb.ListTenantProvidersRequest(), "mallory")
        own = (await client.dispatch(model="gpt-4o-mini")).answer
        elsewhere = (await client.dispatch(model="o1")).answer
        removal = pb.RemoveTenantProviderRequest(request_id=str(uuid.uuid4()), name="acme")
        for _ in range(2):
            await call(client, "RemoveTenantProvider", removal)
        gone = await refused(
            call(client, "RemoveTenantProvider", pb.RemoveTenantProviderRequest(request_id=str(uuid.uuid4()), name="x"))
        )
        after = (await client.dispatch(model="gpt-4o-mini")).answer
    assert kept == again
    assert list(listed.providers) == [kept.provider]
    assert kept.provider.has_api_key
    assert (len(others.providers), gone.reason) == (0, "PROVIDER_NOT_FOUND")
    assert (own.text, elsewhere.text, after.text) == (OWN, ANSWER, ANSWER)
    assert world.opened == [("acme", SECRET)]
    stored = repr(vars(world.credentials)) + repr(vars(world.credentials._receipts)) + repr(listed)
    assert SECRET not in stored


async def test_a_dispatch_may_name_what_a_provider_of_the_tenant_has_whatever_its_tokenizer():
    async with served() as (_, client, _door):
        await call(client, "SetTenantProvider", setting(provider(models=["unknown-*"]), api_key=SECRET))
        own = (await client.dispatch(model="unknown-7b")).answer
        strange = await refused(client.dispatch(model="unknown"))
    assert (own.text, strange.reason) == (OWN, "UNKNOWN_MODEL")


async def test_a_kept_key_stays_for_its_address_alone():
    async with served() as (world, client, _):
        await call(client, "SetTenantProvider", setting(api_key=SECRET))
        await call(client, "SetTenantProvider", setting(provider(models=["gpt-4*"])))
        (kept,) = await world.credentials.list_providers("tenant-a")
        await client.dispatch(model="gpt-4o-mini")
        moved = await refused(call(client, "SetTenantProvider", setting(provider(base_url=f"{URL}/x"))))
        await call(client, "SetTenantProvider", setting(provider(base_url=f"{URL}/x"), api_key=""))
        bare = await call(client, "ListTenantProviders", pb.ListTenantProvidersRequest())
    assert (kept.models, kept.key_version) == (("gpt-4*",), 1)
    assert world.opened == [("acme", SECRET)]
    assert list(moved.fields) == ["api_key"]
    assert not bare.providers[0].has_api_key


async def test_what_is_refused_is_named_all_at_once():
    async with served() as (_, client, _door):
        wrong = pb.SetTenantProviderRequest(
            request_id="x", provider=provider("-", form=9, base_url="", models=["\n"]), api_key="sk 1"
        )
        found = await refused(call(client, "SetTenantProvider", wrong))
        host = await refused(call(client, "SetTenantProvider", setting(provider(base_url="https://169.254.169.254/"))))
        for name in ("a", "b"):
            await call(client, "SetTenantProvider", setting(provider(name)))
        many = await refused(call(client, "SetTenantProvider", setting(provider("c"))))
        writer = await refused(call(client, "SetTenantProvider", setting(), "writer"))
    assert set(found.fields) == {
        *("request_id", "provider.name", "provider.form", "provider.base_url", "provider.models[0]", "api_key")
    }
    assert (list(host.fields), list(many.fields)) == (["provider.base_url"], ["provider.name"])
    assert writer.reason == "ROLE_MISSING"


async def test_a_chat_goes_to_the_tenants_own_over_http():
    async with served() as (world, _, door):
        headers = {"Authorization": ALICE.subject}
        chat = {"model": "gpt-4o", "messages": [{"role": "user", "content": "How long?"}]}
        check = chat | {"groundtrail": {"mode": "check"}}
        before = await door.post("/v1/chat/completions", json=check, headers=headers)
        body = {"provider": {"form": "openai", "base_url": URL, "models": ["gpt-4o"]}, "api_key": SECRET}
        kept = await door.put(f"{PROVIDERS}/acme", json=body, headers=headers)
        stray = await door.put(f"{PROVIDERS}/b", json={"provider": {"name": "c", "form": "openai"}}, headers=headers)
        found = await door.post("/v1/chat/completions", json=chat, headers=headers)
        models = await door.get("/v1/models", headers=headers)
        listed = await door.get(PROVIDERS, headers=headers)
        removed = await door.post(f"{PROVIDERS}/acme:remove", json={}, headers=headers)
        after = await door.get(PROVIDERS, headers=headers)
    assert before.status_code == 400
    assert kept.status_code == 200, kept.text
    assert kept.json()["provider"]["has_api_key"]
    assert stray.json()["error"]["fields"][0]["field"] == "provider.name"
    assert found.json()["choices"][0]["message"]["content"] == OWN, found.text
    assert found.json()["groundtrail"]["mode"] == "check"  # the tenant has a provider, so nothing has to say so
    assert [one["id"] for one in models.json()["data"]] == ["groundtrail", "gpt-4o"]
    assert [one["name"] for one in listed.json()["providers"]] == ["acme"]
    assert (removed.status_code, after.json()["providers"]) == (200, [])
    assert SECRET not in kept.text + listed.text
    assert world.opened == [("acme", SECRET)]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
async def test_a_chat_beyond_the_limit_is_told_when_to_come_again(path):
    async with served() as (_, client, door):
        form = admin_pb2.PROVIDER_FORM_OPENAI if "chat" in path else admin_pb2.PROVIDER_FORM_ANTHROPIC
        await call(client, "SetTenantProvider", setting(provider(form=form)))
        chat = {"model": "gpt-4o", "messages": [{"role": "user", "content": "x"}], "max_tokens": 9}
        first, second = [await door.post(path, json=chat, headers={"Authorization": WRITER.subject}) for _ in range(2)]
        error = second.json()["error"]
    assert first.status_code != 429
    assert second.status_code == 429
    assert 50 <= int(second.headers["Retry-After"]) <= 60
    assert "RATE_LIMIT" in str(error)
    assert error["type"] in {"rate_limit_error", "rate_limit_exceeded", "requests"}


async def test_a_dispatch_beyond_the_limit_is_exhausted_with_the_time_to_wait():
    async with served() as (_, client, _door):
        await client.dispatch(subject=WRITER.subject)
        late = await client.fails(subject=WRITER.subject)
        other = await client.dispatch()
    assert (late.code.name, late.reason, late.metadata["limit"]) == ("RESOURCE_EXHAUSTED", "RATE_LIMIT", "requests")
    assert other.answer.text == ANSWER
