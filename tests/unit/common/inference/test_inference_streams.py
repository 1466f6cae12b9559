"""Language models of both forms against a scripted provider: plain, streamed, routed by name; the circuit."""

import contextlib
import json
from typing import Any

import pytest
from pydantic import SecretStr

from services.common.adapters.http.chat_provider import HttpChatProvider, anthropic_endpoint
from services.common.adapters.http.language_models import AnthropicLanguageModel, RoutedLanguageModel
from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.adapters.openai.language_model import open_language_model
from services.common.encoding import sha256_hex
from services.common.errors import DeadlineError, UnavailableError
from services.common.ports.language_model import ChatMessage, ChatRole, LanguageRequest
from services.common.provider_circuit import ProviderCircuit
from services.common.provider_composition import has_language_model, open_language_models
from services.common.settings import AnthropicSettings, LlmSettings, Settings
from services.common.telemetry.model_calls import ModelCalls
from tests.fakes.scripted_chat import ScriptedChat
from tests.patience import patient

TEXT = "The deductible is 250 euros."


def request(**changes):
    values: dict[str, Any] = {
        "query": "How high is the deductible?",
        "messages": (ChatMessage(ChatRole.SYSTEM, "Only facts."), ChatMessage(ChatRole.USER, "How high?")),
        "evidence": (),
        "model": "scripted",
        "max_tokens": 100,
        "temperature": 1.5,
    } | changes
    return LanguageRequest(**values)


@contextlib.asynccontextmanager
async def models():
    """Both forms of one scripted provider."""
    script = ScriptedChat(lambda _messages: TEXT)
    with script.running() as base:
        openai = await open_language_model(LlmSettings(base_url=base, timeout_s=patient(5), max_attempts=1))
        settings = AnthropicSettings(base_url=base, api_key=SecretStr("key"), timeout_s=patient(5), max_attempts=1)
        claude = AnthropicLanguageModel(HttpChatProvider(anthropic_endpoint(settings)), settings)
        yield {"openai": openai, "anthropic": claude}, script
        await openai.close()
        await claude.close()


async def read(model, asked):
    async with model.stream(asked) as stream:
        pieces = [piece async for piece in stream]
        return pieces, stream.reply(), stream.reply(3)


@pytest.mark.parametrize("form", ["openai", "anthropic"])
class TestForms:
    async def test_a_stream_is_the_reply_piece_by_piece(self, form):
        async with models() as (found, script):
            pieces, reply, beginning = await read(found[form], request())
        said = "".join(pieces)
        assert len(pieces) > 3
        assert (reply.text, said.strip()) == (said, TEXT)
        assert reply.finish_reason == "stop"
        name = "llm" if form == "openai" else "anthropic"
        assert reply.model_fingerprint == f"{name}/scripted+sha256:{sha256_hex(said)}"
        assert beginning.text == "The"
        assert script.asked[0][1]["stream"] is True

    async def test_a_stream_that_is_cut_is_no_reply(self, form):
        async with models() as (found, script):
            script.cut = True
            with pytest.raises(UnavailableError) as caught:
                await read(found[form], request())
        assert caught.value.metadata["cause"] == "cut_off"

    async def test_an_error_among_the_events_is_no_reply(self, form):
        async with models() as (found, script):
            script.events = [b'data: {"type": "error", "error": {"message": "SECRET"}}\n\n', b"data: [DONE]\n\n"]
            with pytest.raises(UnavailableError) as caught:
                await read(found[form], request())
        assert caught.value.metadata["cause"] == "malformed_reply"
        assert "SECRET" not in str(caught.value)

    async def test_a_refusal_says_its_cause_and_nothing_of_its_body(self, form):
        async with models() as (found, script):
            script.refusal = 429
            with pytest.raises(UnavailableError) as caught:
                await read(found[form], request())
        assert (caught.value.metadata["cause"], caught.value.retry_after_s) == ("http_429", 7.0)

    async def test_a_caller_without_time_is_told_so(self, form):
        async with models() as (found, _):
            with pytest.raises(DeadlineError):
                await read(found[form], request(timeout_s=0.0))

    async def test_a_character_that_is_cut_in_two_is_whole(self, form):
        async with models() as (found, script):
            halves = ("\\ud83d", "\\ude00 yes")
            if form == "openai":
                made = [f'{{"choices": [{{"index": 0, "delta": {{"content": "{half}"}}}}]}}' for half in halves]
                end = "[DONE]"
            else:
                kind = '"type": "content_block_delta", "index": 0'
                made = [f'{{{kind}, "delta": {{"type": "text_delta", "text": "{half}"}}}}' for half in halves]
                end = '{"type": "message_stop"}'
            script.events = [f"data: {one}\n\n".encode() for one in (*made, end)]
            pieces, _, _ = await read(found[form], request())
        assert "".join(pieces) == "😀 yes"


class TestAnthropic:
    async def test_only_messages_and_sampling_leave_in_the_form(self):
        async with models() as (found, script):
            reply = await found["anthropic"].complete(request(top_p=0.5, seed=7))
        headers, body = script.asked[0]
        assert body == {
            "model": "scripted",
            "max_tokens": 100,
            "temperature": 1.0,
            "top_p": 0.5,
            "system": "Only facts.",
            "messages": [{"role": "user", "content": "How high?"}],
        }
        named = {name.lower(): value for name, value in headers.items()}
        assert (named["x-api-key"], named["anthropic-version"]) == ("key", "2023-06-01")
        assert (reply.text, reply.finish_reason, reply.prompt_tokens) == (TEXT, "stop", 1)

    async def test_what_is_no_message_is_no_reply(self):
        async with models() as (found, script):
            for body in ({"hello": 1}, "{not json", {"content": [{"type": "text", "text": " "}]}):
                script.body = body if isinstance(body, str) else json.dumps(body)
                with pytest.raises(UnavailableError):
                    await found["anthropic"].complete(request())

    async def test_it_is_ready_when_it_answers(self):
        async with models() as (found, _):
            await found["anthropic"].check()


class TestRoutes:
    async def test_the_name_says_who_answers(self):
        first, second = MemoryLanguageModel(["first"], default_model="gpt-4o"), MemoryLanguageModel(["second"])
        model = RoutedLanguageModel(first, [(("claude-*", "own"), second)])
        names = ["gpt-4o", "claude-sonnet-4-5", "own", "owner"]
        assert [(await model.complete(request(model=name))).text for name in names] == [
            "first",
            "second",
            "second",
            "first",
        ]
        assert (await read(model, request(model="own")))[0] == ["second"]
        assert model.default_model == "gpt-4o"
        await model.check()
        await model.close()
        assert first.closed
        assert second.closed

    async def test_the_settings_say_which_there_are(self):
        llm = LlmSettings(base_url="http://127.0.0.1:1/v1")
        claude = AnthropicSettings(base_url="http://127.0.0.1:1/v1", models=("claude-*",))
        checking = AnthropicSettings(base_url="http://127.0.0.1:1/v1")
        assert not has_language_model(Settings(anthropic=checking))
        opened = [
            await open_language_models(Settings(llm=one, anthropic=other), ModelCalls())
            for one, other in ((llm, checking), (llm, claude), (LlmSettings(), claude))
        ]
        kinds = [type(getattr(model, "_model", model)).__name__ for model in opened]  # a told one holds the model
        assert kinds == ["OpenAiLanguageModel", "RoutedLanguageModel", "AnthropicLanguageModel"]


class TestCircuit:
    async def test_it_opens_after_failures_in_a_row_lets_one_try_and_closes(self, monkeypatch):
        circuit = ProviderCircuit(2, 10.0)
        now = 100.0
        loop = type("Loop", (), {"time": staticmethod(lambda: now)})
        monkeypatch.setattr("services.common.provider_circuit.asyncio.get_running_loop", lambda: loop)
        circuit.failed()
        circuit.succeeded()
        circuit.failed()
        circuit.admit()
        circuit.failed()
        with pytest.raises(UnavailableError) as caught:
            circuit.admit()
        assert (caught.value.metadata["cause"], caught.value.retry_after_s) == ("circuit_open", 10.0)
        now = 111.0
        circuit.admit()  # tries
        with pytest.raises(UnavailableError):
            circuit.admit()
        circuit.succeeded()
        circuit.admit()

    async def test_none_opens_without_a_limit(self):
        circuit = ProviderCircuit(0, 10.0)
        for _ in range(20):
            circuit.failed()
        circuit.admit()
