"""Spans and histograms of calls of language models, by the conventions; content in none unless it is allowed."""

import contextlib
import json

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from prometheus_client import CollectorRegistry, generate_latest
from pydantic import SecretStr

from services.common.composition import Adapters
from services.common.errors import UnavailableError
from services.common.ports.language_model import ChatMessage, ChatRole, LanguageRequest
from services.common.rpc.main import running_server
from services.common.settings import (
    AnthropicSettings,
    LlmSettings,
    ServerSettings,
    Settings,
    StoreSettings,
    TelemetrySettings,
)
from services.common.telemetry import span
from services.common.telemetry.model_calls import MOST_MODELS, AskedModel, ModelCalls
from services.common.telemetry.traces import begin_server_span
from tests.fakes.chat_door import CHAT, MESSAGES, Behind, chat_door
from tests.fakes.dpe_world import OneCaller
from tests.fakes.scripted_chat import ScriptedChat

KEY = "sk-live-0123456789abcdef"
SECRET_QUESTION = "What did Marguerite say about the merger?"
SECRET_ANSWER = "Marguerite said the merger closes in April."
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
REQUEST = LanguageRequest(
    query=SECRET_QUESTION,
    messages=(ChatMessage(ChatRole.SYSTEM, "Be brief."), ChatMessage(ChatRole.USER, SECRET_QUESTION)),
    evidence=(),
    model="scripted-large",
    max_tokens=64,
    temperature=0.5,
    top_p=0.9,
)
BODY = {
    "model": "scripted-large",
    "messages": [{"role": "user", "content": SECRET_QUESTION}],
    "max_tokens": 64,
    "temperature": 0.5,
    "top_p": 0.9,
}
ASKED = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "scripted-large",
    "gen_ai.request.max_tokens": 64,
    "gen_ai.request.temperature": 0.5,
    "gen_ai.request.top_p": 0.9,
}


class Traced:
    """Adapters before a scripted provider, with their spans and what a scraper reads."""

    def __init__(self, adapters, script):
        self.adapters = adapters
        self.script = script
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = provider.get_tracer("test")
        adapters.model_calls.tracer = self.tracer
        self._registry = CollectorRegistry()
        self._registry.register(adapters.model_calls)

    @property
    def spans(self):
        return self._exporter.get_finished_spans()

    @property
    def told(self):
        """The one span's attributes."""
        (only,) = self.spans
        return dict(only.attributes)

    @property
    def everything(self):
        return "".join(one.to_json() for one in self.spans) + generate_latest(self._registry).decode()

    def value(self, name, **labels):
        named = {f"gen_ai_{key}" if key not in {"error_type", "le"} else key: text for key, text in labels.items()}
        return self._registry.get_sample_value(name, {"gen_ai_operation_name": "chat", **named})


@contextlib.asynccontextmanager
async def traced(tmp_path, *, shows_content=False):
    script = ScriptedChat(lambda _: SECRET_ANSWER)
    with script.running() as base:
        settings = Settings(
            llm=LlmSettings(
                base_url=base, api_key=SecretStr(KEY), provider="desk", model="scripted-large", max_attempts=1
            ),
            anthropic=AnthropicSettings(base_url=base, api_key=SecretStr(KEY)),
            store=StoreSettings(data_dir=tmp_path),
            telemetry=TelemetrySettings(log_content=shows_content),
        )
        async with Adapters(settings) as adapters:
            yield Traced(adapters, script)


async def test_a_whole_reply_of_a_dispatch(tmp_path):
    async with traced(tmp_path) as t:
        model = await t.adapters.language_model()
        assert (await model.complete(REQUEST)).text == SECRET_ANSWER
        (only,) = t.spans
        assert (only.name, only.kind, only.status.status_code) == (
            "chat scripted-large",
            SpanKind.CLIENT,
            StatusCode.UNSET,
        )
        assert t.told == ASKED | {
            "gen_ai.provider.name": "desk",
            "gen_ai.response.model": "scripted",
            "gen_ai.response.id": "x",
            "gen_ai.response.finish_reasons": ("stop",),
            "gen_ai.usage.input_tokens": 1,
            "gen_ai.usage.output_tokens": 1,
        }
        who = {"provider_name": "desk", "request_model": "scripted-large"}
        assert t.value("gen_ai_client_operation_duration_seconds_count", error_type="", **who) == 1
        assert t.value("gen_ai_client_token_usage_sum", token_type="input", **who) == 1
        assert t.value("gen_ai_client_token_usage_bucket", token_type="output", le="1", **who) == 1
        assert t.value("gen_ai_client_operation_time_to_first_chunk_seconds_count", **who) is None


async def test_a_stream_of_a_dispatch_tells_when_its_first_piece_came(tmp_path):
    async with traced(tmp_path) as t:
        model = await t.adapters.language_model()
        async with model.stream(REQUEST) as stream:
            text = "".join([piece async for piece in stream])
        assert text.strip() == SECRET_ANSWER
        told = t.told
        assert told["gen_ai.request.stream"] is True
        assert told["gen_ai.response.finish_reasons"] == ("stop",)
        assert 0 < told["gen_ai.response.time_to_first_chunk"] < 60
        who = {"provider_name": "desk", "request_model": "scripted-large"}
        assert t.value("gen_ai_client_operation_time_to_first_chunk_seconds_count", **who) == 1


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("path", "name", "answer_id"), [(CHAT, "desk", "x"), (MESSAGES, "anthropic", "msg_x")])
async def test_a_chat_in_mode_check_is_part_of_the_callers_trace(tmp_path, path, name, answer_id, streamed):
    async with traced(tmp_path) as t:
        behind = Behind(
            OneCaller(),
            openai=await t.adapters.chat_provider(),
            anthropic=await t.adapters.messages_provider(),
        )
        async with chat_door(behind, "Bearer reader") as door:
            asked = BODY | {"stream": streamed}
            response = await door.ask(asked, path, traceparent=f"00-{TRACE_ID}-b7ad6b7169203331-01")
        assert response.status_code == 200
        (only,) = t.spans
        assert f"{only.context.trace_id:032x}" == TRACE_ID
        told = t.told
        assert told.items() >= (ASKED | {"gen_ai.provider.name": name, "gen_ai.response.model": "scripted"}).items()
        assert told["gen_ai.response.id"] == answer_id
        assert told["gen_ai.response.finish_reasons"] == ("stop",)
        assert ("gen_ai.response.time_to_first_chunk" in told) == streamed
        if path == MESSAGES:
            assert told["gen_ai.usage.output_tokens"] == (5 if streamed else 1)


async def test_neither_content_nor_key_nor_address_is_told(tmp_path):
    async with traced(tmp_path) as t:
        model, chats = await t.adapters.language_model(), await t.adapters.chat_provider()
        await model.complete(REQUEST)
        await chats.ask(json.dumps(BODY).encode())
        async with model.stream(REQUEST) as stream:
            _ = [piece async for piece in stream]
        async with chats.stream(json.dumps(BODY | {"stream": True}).encode()) as opened:
            _ = [event async for event in opened.events]
        assert len(t.spans) == 4
        for secret in ("Marguerite", "merger", "Be brief", KEY, KEY[-8:], "127.0.0.1"):
            assert secret not in t.everything
        assert not [name for one in t.spans for name in one.attributes if "messages" in name]


async def test_content_is_told_where_the_setting_allows_it_without_credentials(tmp_path):
    jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl"
    async with traced(tmp_path, shows_content=True) as t:
        chats = await t.adapters.chat_provider()
        parts = [{"type": "text", "text": f"{SECRET_QUESTION} {jwt}"}, {"type": "image_url", "image_url": {"url": "x"}}]
        body = json.dumps(BODY | {"messages": [{"role": "user", "content": parts}]}).encode()
        await chats.ask(body)
        async with chats.stream(body.replace(b'"model"', b'"stream": true, "model"')) as opened:
            _ = [event async for event in opened.events]
        for one in t.spans:
            (asked,) = json.loads(one.attributes["gen_ai.input.messages"])
            assert asked["parts"][0] == {"type": "text", "content": f"{SECRET_QUESTION} [hidden]"}
            assert asked["parts"][1] == {"type": "image_url"}
            (said,) = json.loads(one.attributes["gen_ai.output.messages"])
            assert (said["role"], said["finish_reason"]) == ("assistant", "stop")
            assert said["parts"][0]["content"].strip() == SECRET_ANSWER


@pytest.mark.parametrize(("refusal", "error"), [(429, "429"), (401, "401")])
async def test_a_refusal_is_an_error_by_its_status(tmp_path, refusal, error):
    async with traced(tmp_path) as t:
        t.script.refusal = refusal
        model, chats = await t.adapters.language_model(), await t.adapters.chat_provider()
        with pytest.raises(UnavailableError):
            await model.complete(REQUEST)
        assert (await chats.ask(json.dumps(BODY).encode())).status == refusal
        async with chats.stream(json.dumps(BODY | {"stream": True}).encode()) as opened:
            assert opened.refusal.status == refusal
        assert [one.attributes["error.type"] for one in t.spans] == [error] * 3
        assert {one.status.status_code for one in t.spans} == {StatusCode.ERROR}
        who = {"provider_name": "desk", "request_model": "_OTHER"}  # a name that nothing has answered to
        assert t.value("gen_ai_client_operation_duration_seconds_count", error_type=error, **who) == 3


async def test_a_stream_that_breaks_off_is_an_error_though_its_reader_goes_on(tmp_path):
    async with traced(tmp_path) as t:
        t.script.cut = True
        model = await t.adapters.language_model()
        async with model.stream(REQUEST) as stream:
            with contextlib.suppress(UnavailableError):
                _ = [piece async for piece in stream]
        assert t.told["error.type"] == "cut_off"


async def test_a_stream_that_is_left_early_is_none(tmp_path):
    async with traced(tmp_path) as t:
        model = await t.adapters.language_model()
        async with model.stream(REQUEST) as stream:
            async for _ in stream:
                break
        assert "error.type" not in t.told
        assert "gen_ai.response.finish_reasons" not in t.told


async def test_a_call_within_an_rpc_is_its_child(tmp_path):
    async with traced(tmp_path) as t:
        server = begin_server_span(t.tracer, "/crp.gateway.v1.DispatchService/Dispatch", {})
        with span("writing"):
            await (await t.adapters.language_model()).complete(REQUEST)
        call, stage = t.spans
        assert call.parent.span_id == stage.context.span_id
        assert call.context.trace_id == server.get_span_context().trace_id


async def test_callers_cannot_make_any_number_of_series():
    calls = ModelCalls()
    for number in range(MOST_MODELS + 10):
        with calls.call(AskedModel("desk", f"model-{number}")):
            pass
    with calls.call(AskedModel("desk", "a name with\nbreaks")):
        pass
    registry = CollectorRegistry()
    registry.register(calls)
    lines = generate_latest(registry).decode().splitlines()
    counts = [line for line in lines if line.startswith("gen_ai_client_operation_duration_seconds_count")]
    assert len(counts) == MOST_MODELS + 1
    assert [line.rpartition(" ")[2] for line in counts if '"_OTHER"' in line] == ["11.0"]


async def test_a_process_gives_its_tracer_and_its_registry(tmp_path):
    settings = Settings(
        server=ServerSettings(port=0, insecure_local=True),
        store=StoreSettings(data_dir=tmp_path),
        telemetry=TelemetrySettings(otlp_endpoint="127.0.0.1:1", otlp_insecure=True, http_port=0, trace_ratio=0),
    )

    async def nothing(*_):
        return []

    async with (
        Adapters(settings) as adapters,
        running_server("gateway", nothing, settings, adapters=adapters) as server,
    ):
        assert adapters.model_calls.tracer is not None
        import httpx

        async with httpx.AsyncClient() as http:
            page = (await http.get(f"http://127.0.0.1:{server.telemetry_port}/metrics")).text
    assert "gen_ai_client_token_usage" in page
