"""A failing provider from outside: a clear error in the caller's dialect, the window FAILED, nothing half-written."""

import asyncio
import contextlib
from typing import Any

import pytest

from services.common.adapters.http.chat_provider import HttpChatProvider, anthropic_endpoint, openai_endpoint
from services.common.adapters.http.language_models import AnthropicLanguageModel
from services.common.adapters.openai.language_model import open_language_model
from services.common.settings import AnthropicSettings, ChatSettings, LlmSettings
from tests.fakes.chat_door import CHAT, MESSAGES, Behind, chat_door
from tests.fakes.dag_world import SubjectAuthenticator
from tests.fakes.faulty_provider import TEXT, FaultyProvider
from tests.fakes.gateway_world import QUESTION, GatewayWorld
from tests.patience import patient

ASKED: dict[str, Any] = {
    "model": "scripted",
    "max_tokens": 50,
    "messages": [{"role": "user", "content": QUESTION}],
}
FAULTS = ("refused", "slow", "hanging", "limited", "broken", "truncated", "cut", "html", "huge")
HURRIED: dict[str, Any] = {"timeout_s": 0.3, "first_token_s": 0.3, "between_tokens_s": 0.3, "max_attempts": 1}


@contextlib.asynccontextmanager
async def failing(fault, mode, path=CHAT, **more):
    provider = FaultyProvider(fault)
    async with provider.running() as base:
        patience = HURRIED | ({"timeout_s": patient(10)} if fault == "huge" else {}) | more
        llm, anthropic = LlmSettings(base_url=base, **patience), AnthropicSettings(base_url=base, **patience)
        messages = HttpChatProvider(anthropic_endpoint(anthropic))
        model = AnthropicLanguageModel(messages, anthropic) if path == MESSAGES else await open_language_model(llm)
        chats = HttpChatProvider(openai_endpoint(llm))
        world = GatewayWorld(model=model)
        behind: dict[str, Any] = {"openai": chats, "anthropic": messages, "chat": ChatSettings(mode=mode)}
        async with (
            world.serving() as client,
            chat_door(Behind(SubjectAuthenticator(), client.channel, **behind), "alice") as door,
        ):
            yield door, world, provider
        for one in (model, messages, chats):
            await one.close()


def code_of(response):
    return response.json()["error"]["code"]


@pytest.mark.tenth
@pytest.mark.parametrize("path", [CHAT, MESSAGES])
@pytest.mark.parametrize("fault", FAULTS)
class TestGround:
    async def test_plain_it_is_503_and_the_window_failed(self, fault, path):
        async with failing(fault, "ground", path) as (door, world, _):
            response = await door.ask(ASKED, path)
        assert (response.status_code, code_of(response)) == (503, "LLM_UNAVAILABLE"), response.text
        assert "secret" not in response.text
        assert TEXT not in response.text
        assert world.statuses() == ["FAILED"]

    async def test_streamed_it_is_503_or_ends_the_stream_with_an_error(self, fault, path):
        async with failing(fault, "ground", path) as (door, world, _):
            response = await door.ask(ASKED | {"stream": True}, path)
        assert "LLM_UNAVAILABLE" in response.text
        assert "secret" not in response.text
        assert response.status_code == (200 if "event-stream" in response.headers["content-type"] else 503)
        assert '"stop_reason":"end_turn"' not in response.text
        assert '"finish_reason":"stop"' not in response.text
        assert world.statuses() == ["FAILED"]


@pytest.mark.tenth
@pytest.mark.parametrize("path", [CHAT, MESSAGES])
@pytest.mark.parametrize("fault", FAULTS)
class TestCheck:
    async def test_plain_it_has_its_status(self, fault, path):
        async with failing(fault, "check", path) as (door, _, _provider):
            response = await door.ask(ASKED, path)
        expected = {"limited": (429, "slow")}.get(fault, (503, "LLM_UNAVAILABLE"))
        assert (response.status_code, code_of(response)) == expected, response.text
        assert "secret" not in response.text
        assert (response.headers.get("retry-after") == "7") is (fault == "limited")

    async def test_streamed_it_has_its_status_or_ends_with_an_error(self, fault, path):
        async with failing(fault, "check", path) as (door, _, _provider):
            response = await door.ask(ASKED | {"stream": True}, path)
        if "event-stream" in response.headers["content-type"]:
            assert "LLM_UNAVAILABLE" in response.text
            assert fault in {"hanging", "truncated", "cut", "huge"}
        else:
            expected = {"limited": 429}.get(fault, 503)
            assert response.status_code == expected, response.text


async def test_a_sentence_that_passed_has_left_when_the_provider_hangs():
    patience = {"first_token_s": patient(20), "between_tokens_s": 1.0}
    async with failing("hanging", "ground", **patience) as (door, world, provider):
        response = await door.ask(ASKED | {"stream": True})
        await asyncio.wait_for(provider.left.wait(), patient(10))
    assert response.status_code == 200
    assert TEXT in response.text
    assert '"code":"LLM_UNAVAILABLE"' in response.text
    assert world.statuses() == ["FAILED"]


async def test_a_client_that_leaves_ends_the_providers_call():
    async with failing("hanging", "ground", first_token_s=60.0, between_tokens_s=60.0) as (door, world, provider):
        asking = asyncio.ensure_future(door.ask(ASKED | {"stream": True}))
        await asyncio.wait_for(provider.hangs.wait(), patient(20))
        asking.cancel()
        await asyncio.wait_for(provider.left.wait(), patient(10))
    assert world.statuses() == ["FAILED"]


async def test_a_provider_that_keeps_failing_is_left_alone():
    async with failing("broken", "ground", circuit_failures=2, circuit_open_s=60.0) as (door, _, provider):
        answers = [await door.ask(ASKED) for _ in range(4)]
    assert provider.calls == 2
    assert [one.status_code for one in answers] == [503] * 4
    assert "failed 2 times in a row" in answers[-1].json()["error"]["message"]
    assert 50 <= int(answers[-1].headers["retry-after"]) <= 60


async def test_what_was_overloaded_is_asked_again():
    class Passing(FaultyProvider):
        async def _once(self, path, streams, reader, writer):
            if self.calls > 1:
                await self._cut(path, streams, reader, writer)
                return
            writer.write(b"HTTP/1.1 503 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")

    provider = Passing("once")
    async with provider.running() as base:
        chats = HttpChatProvider(openai_endpoint(LlmSettings(base_url=base, max_attempts=2)))
        async with chats.stream(b'{"stream": true}') as opened:
            assert opened.refusal is None
            assert await anext(opened.events)
        await chats.close()
    assert provider.calls == 2
