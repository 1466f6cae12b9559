"""The OpenAI-compatible adapter against the endpoint that GROUNDTRAIL_TEST_LLM_BASE_URL names.

GROUNDTRAIL_TEST_LLM_API_KEY and GROUNDTRAIL_TEST_LLM_MODEL are optional. Unset: skipped. Set, and nobody
answers: failed.
"""

import os

import pytest

from services.common.adapters.openai.language_model import open_language_model
from services.common.encoding import sha256_hex
from services.common.errors import UnavailableError
from services.common.ports.language_model import ChatMessage, ChatRole, LanguageRequest
from services.common.settings.llm import LlmSettings

VARIABLE = "GROUNDTRAIL_TEST_LLM_BASE_URL"

pytestmark = [pytest.mark.needs_llm, pytest.mark.timeout(180)]


@pytest.fixture
async def model():
    """Yield the adapter once the endpoint has answered its readiness check, which waits five seconds."""
    base_url = os.environ.get(VARIABLE, "")
    if not base_url:
        pytest.skip(f"set {VARIABLE} to an OpenAI-compatible endpoint, e.g. http://127.0.0.1:8000/v1")
    given = {
        "api_key": os.environ.get("GROUNDTRAIL_TEST_LLM_API_KEY"),
        "model": os.environ.get("GROUNDTRAIL_TEST_LLM_MODEL"),
    }
    settings = LlmSettings(base_url=base_url, **{name: value for name, value in given.items() if value})
    adapter = await open_language_model(settings)
    try:
        try:
            await adapter.check()
        except UnavailableError as error:
            pytest.fail(f"{VARIABLE} is set, and the endpoint cannot be reached: {error}")
        yield adapter
    finally:
        await adapter.close()


def asked(model, **fields) -> LanguageRequest:
    question = "In one word: which colour has the sky on a clear day?"
    messages = (ChatMessage(ChatRole.SYSTEM, "Answer briefly."), ChatMessage(ChatRole.USER, question))
    return LanguageRequest(
        query=question, messages=messages, evidence=(), model=model.default_model, max_tokens=256, **fields
    )


async def test_a_reply_has_text_a_finish_reason_and_a_fingerprint_over_its_bytes(model):
    reply = await model.complete(asked(model))
    assert reply.text.strip()
    assert reply.finish_reason
    assert reply.model_fingerprint.endswith(f"+sha256:{sha256_hex(reply.text)}")


async def test_seed_and_temperature_0_are_accepted(model):
    reply = await model.complete(asked(model, seed=7, temperature=0.0))
    assert reply.text.strip()
    assert reply.completion_tokens is None or 0 < reply.completion_tokens <= 256
