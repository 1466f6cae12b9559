"""The OpenAI-compatible adapter against a real HTTP server on loopback."""

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from services.common.adapters.openai.language_model import OpenAiLanguageModel, open_language_model
from services.common.encoding import sha256_hex
from services.common.errors import DeadlineError, ErrorReason, UnavailableError
from services.common.ports.language_model import ChatMessage, ChatRole, EvidenceFact, LanguageRequest
from services.common.settings.llm import LlmSettings
from tests.patience import patient


@dataclass
class Reply:
    status: int = 200
    body: str = ""
    headers: dict = field(default_factory=dict)
    delay_s: float = 0.0
    drop: bool = False


class FakeProvider:
    """Answers with the scripted replies in order (the last one for ever) and keeps what it was sent."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []

    async def handle(self, reader, writer):
        try:
            while line := await reader.readline():
                method, path, _ = line.decode().split(" ", 2)
                headers = {}
                while (raw := await reader.readline()) != b"\r\n":
                    name, value = raw.decode().split(":", 1)
                    headers[name.lower()] = value.strip()
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self.requests.append((method, path, headers, json.loads(body) if body else None))
                reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
                await asyncio.sleep(reply.delay_s)
                if reply.drop:
                    break
                extra = "".join(f"{k}: {v}\r\n" for k, v in reply.headers.items())
                payload = reply.body.encode()
                writer.write(
                    f"HTTP/1.1 {reply.status} X\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(payload)}\r\n{extra}\r\n".encode()
                    + payload
                )
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


def completion(text="Up to 250 euros.", **changes):
    body = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-mini-2024-07-18",
        "system_fingerprint": "fp_7",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 21, "completion_tokens": 6, "total_tokens": 27},
    } | changes
    return Reply(body=json.dumps(body))


def error(status, code="x", **headers):
    return Reply(status, json.dumps({"error": {"message": "SECRET PROMPT", "code": code}}), headers)


def request(**changes):
    values: dict[str, Any] = {
        "query": "How high is the deductible?",
        "messages": (ChatMessage(ChatRole.SYSTEM, "Only facts."), ChatMessage(ChatRole.USER, "How high?")),
        "evidence": (EvidenceFact("fact-1", "private evidence", 0.9),),
        "model": "gpt-4o-mini",
        "max_tokens": 100,
        "temperature": 0.2,
    } | changes
    return LanguageRequest(**values)


@asynccontextmanager
async def served(*replies, **settings):
    provider = FakeProvider(*replies)
    server = await asyncio.start_server(provider.handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    values: dict[str, Any] = {
        "base_url": f"http://127.0.0.1:{port}/v1",
        "api_key": "sk-secret",
        "timeout_s": patient(5.0),
    } | settings
    model = await open_language_model(LlmSettings(**values))
    try:
        yield model, provider
    finally:
        await model.close()
        await model.close()
        server.close()
        await server.wait_closed()


async def test_reply_with_counts_and_fingerprint():
    async with served(completion()) as (model, _):
        reply = await model.complete(request())
    assert (reply.text, reply.finish_reason) == ("Up to 250 euros.", "stop")
    assert (reply.prompt_tokens, reply.completion_tokens) == (21, 6)
    assert reply.model_fingerprint == f"llm/gpt-4o-mini-2024-07-18@fp_7+sha256:{sha256_hex('Up to 250 euros.')}"


async def test_only_messages_and_sampling_leave_the_process(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-leak")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-leak")
    async with served(completion()) as (model, provider):
        await model.complete(request(seed=7))
    method, path, headers, body = provider.requests[0]
    assert (method, path) == ("POST", "/v1/chat/completions")
    assert body == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "system", "content": "Only facts."}, {"role": "user", "content": "How high?"}],
        "max_tokens": 100,
        "temperature": 0.2,
        "seed": 7,
    }
    assert headers["authorization"] == "Bearer sk-secret"
    assert headers["user-agent"] == "groundtrail"
    assert set(headers) == {
        "host", "accept", "accept-encoding", "connection", "content-type", "content-length", "authorization",
        "user-agent",
    }  # fmt: skip


async def test_no_key_no_authorization_header():
    async with served(completion(), api_key="") as (model, provider):
        await model.complete(request())
    assert "authorization" not in provider.requests[0][2]


async def test_reasoning_models_get_their_own_parameters():
    async with served(completion()) as (model, provider):
        await model.complete(request(model="o3-mini"))
    body = provider.requests[0][3]
    assert body["max_completion_tokens"] == 100
    assert "temperature" not in body
    assert "max_tokens" not in body


async def test_a_refusal_is_a_reply():
    message = {"role": "assistant", "content": None, "refusal": "I cannot help."}
    choices = [{"index": 0, "finish_reason": "content_filter", "message": message}]
    async with served(completion(choices=choices, usage=None)) as (model, _):
        reply = await model.complete(request())
    assert (reply.text, reply.finish_reason) == ("I cannot help.", "content_filter")
    assert reply.prompt_tokens is None


@pytest.mark.parametrize(
    "first",
    [error(500), error(503), error(429, **{"retry-after": "0.01"}), Reply(drop=True)],
    ids=["500", "503", "429", "connection dropped"],
)
async def test_failures_that_pass_are_tried_again(first):
    async with served(first, completion()) as (model, provider):
        reply = await model.complete(request())
    assert reply.text == "Up to 250 euros."
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    ("reply", "cause", "attempts", "retry_after_s"),
    [
        (error(400), "http_400", 1, None),
        (error(401), "http_401", 1, None),
        (error(404), "http_404", 1, None),
        (error(429, "insufficient_quota"), "http_429", 1, None),
        (error(429, **{"retry-after": "0"}), "http_429", 3, 0.0),
        (error(429, **{"retry-after": "99"}), "http_429", 1, 99.0),
        (error(500), "http_500", 3, 1.0),
        (Reply(body="{not json"), "malformed_reply", 1, None),
        (Reply(body='{"hello": 1}'), "malformed_reply", 1, None),
        (Reply(body='["a"]'), "malformed_reply", 1, None),
        (completion(choices=[]), "empty_choices", 1, None),
        (completion(text="  "), "empty_reply", 1, None),
        (completion(choices=[{"index": 0}]), "empty_reply", 1, None),
        (completion(text="word " * 1_000_000), "reply_too_large", 1, None),
        (Reply(body="x", headers={"Content-Encoding": "gzip"}), "compressed_reply", 1, None),
        (Reply(status=302, headers={"location": "http://127.0.0.1:9/elsewhere"}), "http_302", 1, None),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_failure_is_llm_unavailable_with_cause(reply, cause, attempts, retry_after_s, caplog):
    async with served(reply) as (model, provider):
        with pytest.raises(UnavailableError) as caught:
            await model.complete(request())
    assert caught.value.reason is ErrorReason.LLM_UNAVAILABLE
    assert caught.value.metadata["cause"] == cause
    assert caught.value.retry_after_s == retry_after_s
    assert len(provider.requests) == attempts
    told = f"{caught.value.message} {caught.value.metadata}"
    assert "SECRET" not in told
    assert "127.0.0.1" not in told  # where the model stands is for the log
    assert "127.0.0.1" in caplog.text


async def test_caller_deadline_wins_over_the_own_timeout():
    async with served(Reply(delay_s=5.0)) as (model, _):
        with pytest.raises(DeadlineError) as caught:
            await model.complete(request(timeout_s=0.1))
    assert caught.value.reason is ErrorReason.DEADLINE_EXCEEDED
    assert "127.0.0.1" not in f"{caught.value.message} {caught.value.metadata}"


async def test_the_fingerprint_names_the_provider_as_the_settings_do_and_no_host():
    async with served(completion(), provider="house-model") as (model, _):
        reply = await model.complete(request())
    assert reply.model_fingerprint.startswith("house-model/gpt-4o-mini-2024-07-18@fp_7+sha256:")


async def test_own_timeout_is_unavailability():
    async with served(Reply(delay_s=5.0), timeout_s=0.1) as (model, _):
        with pytest.raises(UnavailableError) as caught:
            await model.complete(request(timeout_s=30.0))
    assert caught.value.metadata["cause"] == "timeout"
    assert caught.value.retry_after_s == 1.0


async def test_nobody_listens():
    async with served(completion()) as (model, _):
        pass
    closed = OpenAiLanguageModel(LlmSettings(base_url="http://127.0.0.1:1/v1", max_attempts=2, timeout_s=5.0))
    with pytest.raises(UnavailableError) as caught:
        await closed.complete(request())
    await closed.close()
    assert caught.value.metadata["cause"] == "connection"
    assert model.default_model == "gpt-4o-mini"


@pytest.mark.parametrize(
    ("reply", "cause"),
    [(Reply(body='{"object": "list", "data": []}'), None), (error(404), None), (error(401), "http_401")],
    ids=["answers", "no such path", "wrong key"],
)
async def test_check(reply, cause):
    async with served(reply) as (model, provider):
        if cause is None:
            await model.check()
        else:
            with pytest.raises(UnavailableError, match="GROUNDTRAIL_LLM__API_KEY"):
                await model.check()
    assert provider.requests[0][:2] == ("GET", "/v1/models")


async def test_no_endpoint_no_model():
    with pytest.raises(ValueError, match="GROUNDTRAIL_LLM__BASE_URL"):
        await open_language_model(LlmSettings())
