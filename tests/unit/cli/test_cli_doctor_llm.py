"""``groundtrail doctor`` tells the operator where the language model was looked for; errors to callers do not."""

import pytest

from services.cli.commands import doctor
from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.composition import Adapters
from services.common.settings import LlmSettings, Settings


async def test_doctor_names_the_host_of_a_model_that_does_not_answer():
    settings = Settings(llm=LlmSettings(base_url="http://127.0.0.1:1/v1", max_attempts=1))
    (found,) = await doctor._language_model(settings)
    assert found.level is doctor.Level.PROBLEM
    assert found.detail.startswith("127.0.0.1:1: The language model is not available (connection)")


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("gpt-4o", None),
        ("qwen-of-ours:7b", ("8,192 tokens", "ASSUMED_WINDOW_TOKENS")),
        ("claude-sonnet-4-5", ("200,000 tokens", "TOKENIZERS")),
    ],
)
async def test_doctor_says_so_where_tokens_are_counted_by_a_stand_in(model, told, monkeypatch):
    async def answering(self):
        return MemoryLanguageModel(["yes"])

    monkeypatch.setattr(Adapters, "language_model", answering)
    settings = Settings(llm=LlmSettings(base_url="http://127.0.0.1:1/v1", model=model))
    first, *rest = await doctor._language_model(settings)
    assert (first.level, first.detail) == (doctor.Level.OK, f"{model} answers at 127.0.0.1:1")
    assert [(one.check, one.level) for one in rest] == ([] if told is None else [("tokens", doctor.Level.WARNING)])
    if told:
        assert told[0] in rest[0].detail
        assert told[1] in rest[0].advice
