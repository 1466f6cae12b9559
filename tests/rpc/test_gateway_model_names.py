"""Models without a tokenizer here: what the deployment or the tenant set up is counted by a stand-in (ADR 0217)."""

import pytest

from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.settings import AnthropicSettings, GatewaySettings, LlmSettings
from tests.fakes.gateway_world import ANSWER, QUESTION
from tests.rpc.test_gateway_envelope import refusal
from tests.rpc.test_gateway_suite import HANDBOOK, PAGES, suite

OWN = "qwen-of-ours:7b"
LLM = LlmSettings(base_url="http://127.0.0.1:9/v1", model=OWN)
ANTHROPIC = AnthropicSettings(base_url="http://127.0.0.1:9/v1", models=("claude-*",))


def warned(response):
    return "TOKENS_APPROXIMATE" in [warning.code for warning in response.warnings]


async def test_the_deployments_own_models_answer_at_once_and_a_warning_says_how_they_were_counted(tmp_path):
    model = MemoryLanguageModel([ANSWER], default_model=OWN)
    async with suite(tmp_path, model, llm=LLM, anthropic=ANTHROPIC) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        default = await caller.ask(QUESTION)
        named = await caller.ask(QUESTION, model=OWN)
        claude = await caller.ask(QUESTION, model="claude-sonnet-4-20250514")
        strange = await refusal(caller.ask(QUESTION, model="acme-7b"))
        allowed = await caller.ask(QUESTION, model="acme-7b", approximate_tokens=True)
    assert [each.answer.text for each in (default, named, claude, allowed)] == [ANSWER] * 4
    assert all(warned(each) for each in (default, named, claude, allowed))
    assert [request.model for request in model.requests] == [OWN, OWN, "claude-sonnet-4-20250514", "acme-7b"]
    assert strange.reason == "UNKNOWN_MODEL"
    budgets = [each.answer.envelope.token_budget for each in (default, named, claude)]
    assert budgets[0] == budgets[1] < 8192 - 2048 - 512
    assert budgets[2] > 190_000  # its family's window


@pytest.mark.parametrize("window", [4096, 32_768])
async def test_the_window_that_is_assumed_is_the_settings(tmp_path, window):
    model = MemoryLanguageModel([ANSWER], default_model=OWN)
    async with suite(tmp_path, model, llm=LLM, gateway=GatewaySettings(assumed_window_tokens=window)) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        response = await caller.ask(QUESTION)
    assert window - 2048 - 512 - 500 < response.answer.envelope.token_budget < window - 2048 - 512


async def test_a_known_model_is_counted_exactly_as_ever(tmp_path):
    async with suite(tmp_path, MemoryLanguageModel([ANSWER]), llm=LlmSettings(base_url=LLM.base_url)) as caller:
        await caller.ingest(HANDBOOK / PAGES[0])
        response = await caller.ask(QUESTION)
    assert not warned(response)
