"""A tenant's safety policy at every door that applies one, in the suite as it is served (ADR 0219)."""

import contextlib
from typing import Any

import grpc
import httpx
import pytest
from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import provenance_service_pb2 as dpe
from crp.dpe.v1.provenance_service_pb2_grpc import ProvenanceServiceStub
from crp.gateway.v1 import admin_pb2
from crp.gateway.v1.admin_service_pb2 import CreateApiKeyRequest
from pydantic import SecretStr

from services.allinone.compose import build
from services.allinone.embedded import EmbeddedSystem
from services.common.rpc.main import running_server
from services.common.settings import AnthropicSettings, ChatSettings, ServerSettings, Settings, StoreSettings
from services.common.settings.http import HttpSettings
from services.common.settings.llm import LlmSettings
from services.gateway.doors.local_keys import LocalKeys
from tests.fakes.chat_door import CHAT, MESSAGES, events_of
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.scripted_chat import ScriptedChat
from tests.patience import patient
from tests.rpc.test_gateway_suite import MemoryAdapters

FEE = "The fee for late reports is 5 euros."
WRONG = "The fee for late reports is 6 euros."
ASKED = {"role": "user", "content": "What is the fee for late reports?"}
BODIES: dict[str, dict[str, Any]] = {
    CHAT: {"model": "any", "messages": [{"role": "system", "content": FEE}, ASKED]},
    MESSAGES: {"model": "any", "max_tokens": 50, "system": FEE, "messages": [ASKED]},
}
GUARDRAIL = "/beta/litellm_basic_guardrail_api"
TENANT = "halt-on HIGH; block-contradiction"
LAXER = "halt-on CRITICAL"
STRICTER = "halt-on MEDIUM"


class Doors:
    """The HTTP port of a suite whose provider says what is wrong, and an administrator's key."""

    def __init__(self, http, channel, key, provider, behind):
        self._adapters, self.server = behind
        self.http = http
        self.channel = channel
        self.key = key
        self.provider = provider

    async def policy(self, text):
        body = {"policy": {"safety_policy": text}, "expected_version": 0}
        response = await self.http.put("/v1/admin/policy", json=body)
        assert response.status_code == 200, response.text

    async def key_of(self, tenant_id):
        adapters = self._adapters
        keys = LocalKeys(await adapters.credentials(), adapters.clock, adapters.ids, "dev")
        request = CreateApiKeyRequest(request_id=fresh_uuid(), label="theirs", roles=[admin_pb2.API_KEY_ROLE_READER])
        return (await keys.create(request, tenant_id)).api_key

    async def checked(self, **more):
        return await self.http.post("/v1/check", json={"answer": WRONG, "facts": [FEE], "report": False, **more})

    async def chatted(self, path, ours=None, headers=None, **more):
        body = BODIES[path] | more | ({} if ours is None else {"groundtrail": ours})
        return await self.http.post(path, json=body, headers=headers or {})

    async def guarded(self, kind, options=None, **more):
        form = {"input_type": kind, "litellm_call_id": "call-1", "request_data": {}, "litellm_version": "1", **more}
        given = {} if options is None else {"additional_provider_specific_params": options}
        return await self.http.post(GUARDRAIL, json=form | given)

    async def shown(self):
        """Show a request to the guardrail, as LiteLLM's proxy does, and return the answer to its answer."""
        await self.guarded("request", structured_messages=BODIES[CHAT]["messages"])
        return await self.guarded("response", texts=[WRONG])


@contextlib.asynccontextmanager
async def served(tmp_path, model=None, **sections):
    provider = ScriptedChat(lambda _: WRONG)
    async with contextlib.AsyncExitStack() as stack:
        base = stack.enter_context(provider.running())
        settings = Settings(
            store=StoreSettings(data_dir=tmp_path),
            server=ServerSettings(port=0),
            http=HttpSettings(port=0),
            llm=LlmSettings(base_url=base, timeout_s=patient(5)),
            anthropic=AnthropicSettings(base_url=base, api_key=SecretStr("deployments"), timeout_s=patient(5)),
            **sections,
        )
        adapters = await stack.enter_async_context(MemoryAdapters(settings, model))
        server = await stack.enter_async_context(running_server("suite", build, settings, adapters=adapters))
        key = await EmbeddedSystem(server.address, settings, adapters).issue_key("test")
        url, headers = f"http://127.0.0.1:{server.http_port}", {"Authorization": f"Bearer {key}"}
        http = httpx.AsyncClient(base_url=url, headers=headers, timeout=patient(30))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(server.address))
        yield Doors(await stack.enter_async_context(http), channel, key, provider, (adapters, server))


@pytest.fixture
async def doors(tmp_path):
    async with served(tmp_path) as one:
        await one.policy(TENANT)
        yield one


def code_of(response):
    """Return the reason of a refusal in whatever form the door has."""
    error = response.json()["error"]
    return response.status_code, error.get("reason") or error["code"]


async def test_without_a_policy_of_the_tenant_the_deployments_default_holds(tmp_path):
    async with served(tmp_path) as doors:
        checked = (await doors.checked()).json()
        chatted = [await doors.chatted(path) for path in BODIES]
        assert not checked["withheld"]
        assert checked["policy"]["applied"] == "halt-on CRITICAL; warn-on HIGH; warn-on-contradiction"
        assert [response.status_code for response in chatted] == [200, 200]
        assert (await doors.shown()).json()["action"] == "NONE"
        assert (await doors.chatted(CHAT, {"mode": "observe"})).status_code == 200


class TestItHolds:
    """The request names no policy."""

    async def test_over_check(self, doors):
        found = (await doors.checked()).json()
        assert (found["withheld"], found["policy"]["applied"]) == (True, TENANT)
        assert found["policy"]["halt_reason"] == "halt-on HIGH"
        assert {one["directive"] for one in found["policy"]["findings"]} == {"halt-on HIGH", "block-contradiction"}

    @pytest.mark.parametrize("path", BODIES)
    async def test_over_a_chat(self, doors, path):
        response = await doors.chatted(path)
        assert code_of(response) == (451, "ANSWER_WITHHELD")
        assert response.headers["CRP-Safety-Policy-Applied"] == TENANT

    @pytest.mark.parametrize("path", BODIES)
    @pytest.mark.parametrize("headers", [{}, {"CRP-Stream-Safety-Mode": "pass-through"}], ids=["held", "passing"])
    async def test_over_a_stream_nothing_wrong_leaves(self, doors, path, headers):
        doors.provider.answer = lambda _: f"{FEE} {WRONG}"
        response = await doors.chatted(path, headers=headers, stream=True)
        events = events_of(response.text)
        said = "".join(
            (data.get("delta") or {}).get("text", "")
            + "".join(choice["delta"].get("content") or "" for choice in data.get("choices", []))
            for _, data in events
            if data != "[DONE]"
        )
        assert said.strip() == FEE
        assert response.headers["CRP-Safety-Policy-Applied"] == TENANT
        assert ("content_filter" in response.text) or ("refusal" in response.text)

    async def test_over_litellms_guardrail(self, doors):
        assert (await doors.shown()).json()["action"] == "BLOCKED"

    async def test_a_true_answer_goes_on(self, doors):
        doors.provider.answer = lambda _: FEE
        assert not (await doors.checked(answer=FEE)).json()["withheld"]
        assert [(await doors.chatted(path)).status_code for path in BODIES] == [200, 200]

    async def test_over_grpc_a_check_is_a_report_and_applies_no_policy(self, doors):
        request = dpe.CheckRequest(answer=WRONG, facts=[dpe.CheckFact(content=FEE)])
        metadata = (("authorization", f"Bearer {doors.key}"),)
        found = await ProvenanceServiceStub(doors.channel).Check(request, metadata=metadata, timeout=patient(30))
        assert found.report.risk_level == taxonomy_pb2.RISK_LEVEL_HIGH


class TestARequestMayNotRelaxIt:
    """``POLICY_RELAXED`` names the directive and both values, as it does over ``/v1/dispatch``."""

    async def test_over_dispatch(self, doors):
        response = await doors.http.post("/v1/dispatch", json={"query": "What is the fee?", "safety_policy": LAXER})
        assert code_of(response) == (403, "POLICY_RELAXED")

    async def test_over_check(self, doors):
        response = await doors.checked(policy=LAXER)
        assert code_of(response) == (403, "POLICY_RELAXED")
        assert response.json()["error"]["message"] == (
            "the request's policy is weaker than the tenant's: halt-on: halt-on CRITICAL is weaker than halt-on HIGH"
        )

    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize("path", BODIES)
    async def test_over_a_chat_by_field_header_or_mode(self, doors, path, stream):
        by_field = await doors.chatted(path, {"policy": LAXER}, stream=stream)
        by_header = await doors.chatted(path, headers={"crp-safety-policy": LAXER}, stream=stream)
        by_warning = await doors.chatted(path, headers={"crp-safety-mode": "warn"}, stream=stream)
        observed = await doors.chatted(path, {"mode": "observe"}, stream=stream)
        also = await doors.chatted(path, headers={"x-groundtrail-mode": "observe"}, stream=stream)
        for response in (by_field, by_header, by_warning, observed, also):
            assert code_of(response) == (403, "POLICY_RELAXED"), response.text
        assert not doors.provider.asked  # refused before it costs

    async def test_over_litellms_guardrail_at_the_request_already(self, doors):
        for kind in ("request", "response"):
            response = await doors.guarded(kind, {"policy": LAXER}, texts=[WRONG])
            assert code_of(response) == (403, "POLICY_RELAXED")

    async def test_but_tighten_it_and_say_what_is_beside_it(self, doors):
        stricter = (await doors.checked(policy=STRICTER)).json()
        beside = (await doors.checked(policy="warn-on LOW")).json()
        nothing = (await doors.checked(policy="")).json()
        assert stricter["policy"]["applied"] == f"{STRICTER}; block-contradiction"
        assert beside["policy"]["applied"] == "halt-on HIGH; warn-on LOW; block-contradiction"
        assert nothing["policy"]["applied"] == TENANT
        assert all(found["withheld"] for found in (stricter, beside, nothing))


async def test_what_the_deployment_observes_is_observed_under_the_tenants_policy(tmp_path):
    async with served(tmp_path, chat=ChatSettings(mode="observe")) as doors:
        await doors.policy(TENANT)
        response = await doors.chatted(CHAT)
        assert response.status_code == 200
        assert response.headers["CRP-Safety-Policy-Applied"] == TENANT
        assert code_of(await doors.chatted(CHAT, {"policy": LAXER})) == (403, "POLICY_RELAXED")


@pytest.mark.parametrize("policy", ["block-ungrounded", "require-grounding 0.5", "oversight human-review"])
async def test_an_answer_that_nothing_was_brought_for_is_withheld_where_the_tenant_wants_sources(tmp_path, policy):
    async with served(tmp_path) as doors:
        before = await doors.chatted(CHAT, messages=[ASKED])
        await doors.policy(policy)
        chatted = await doors.chatted(CHAT, messages=[ASKED])
        guarded = (await doors.guarded("response", texts=[WRONG])).json()
    assert before.status_code == 200
    assert code_of(chatted) == (451, "ANSWER_WITHHELD")
    assert (guarded["action"], guarded["groundtrail"]["reason"]) == ("BLOCKED", "NO_SOURCES")


async def test_another_tenants_policy_is_none_of_ones_own(doors):
    foreign = {"Authorization": f"Bearer {await doors.key_of('tenant-m')}"}
    body = {"answer": WRONG, "facts": [FEE], "report": False, "policy": LAXER}
    checked = (await doors.http.post("/v1/check", json=body, headers=foreign)).json()
    chatted = await doors.chatted(CHAT, {"policy": LAXER}, headers=foreign)
    assert (checked["withheld"], checked["policy"]["applied"]) == (False, LAXER)
    assert (chatted.status_code, chatted.headers["CRP-Safety-Policy-Applied"]) == (200, LAXER)
