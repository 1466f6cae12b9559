"""Token counting: exact for known models, said to be approximate otherwise, never guessed."""

import pytest

from services.common.adapters.tokens.counter import TokenizerFileError, open_token_counter
from services.common.errors import ErrorReason, InvalidRequestError
from services.common.ports.tokens import ModelProfile
from services.common.resources import resource_path
from services.common.settings.inference import InferenceSettings, TokenizerSettings

TEXT = "How many tokens does this sentence have?"


async def counter(*tokenizers):
    return await open_token_counter(InferenceSettings(tokenizers=tokenizers))


@pytest.mark.parametrize(
    ("model", "text", "tokens"),
    [
        ("gpt-4o", "hello world", 2),
        ("gpt-4o", "", 0),
        ("gpt-4o", "日本語テキスト", 5),
        ("gpt-4", "日本語テキスト", 7),
        ("gpt-4o", "<|endoftext|>", 7),
        ("gpt-4o", TEXT, 8),
        ("groundtrail-extractive", TEXT, 8),
        ("gpt-4o", "a\ud800", 2),
        ("gpt-4o", "x" * 2_000_000, 250_000),
    ],
    ids=["two words", "empty", "o200k japanese", "cl100k japanese", "control token is text", "sentence", "built-in",
         "lone surrogate", "two million characters"],
)  # fmt: skip
async def test_count(model, text, tokens):
    assert (await counter()).count([text], model) == [tokens]


async def test_counts_keep_the_order():
    assert (await counter()).count(["a", "", "hello world"], "gpt-4") == [1, 0, 2]


@pytest.mark.parametrize(
    ("model", "tokenizer", "window"),
    [
        ("gpt-4o-mini", "o200k_base", 128_000),
        ("gpt-4o-2024-08-06", "o200k_base", 128_000),
        ("gpt-4-0613", "cl100k_base", 8_192),
        ("gpt-3.5-turbo", "cl100k_base", 16_385),
        ("groundtrail-extractive", "o200k_base", 8_192),
    ],
)
async def test_profile(model, tokenizer, window):
    assert (await counter()).profile(model) == ModelProfile(model, tokenizer, window)


@pytest.mark.parametrize("model", ["gpt-9", "", "gpt-4o-mini-", "llama-3"])
async def test_unknown_model_lists_the_known(model):
    known = await counter()
    for call in (lambda: known.profile(model), lambda: known.count(["x"], model)):
        with pytest.raises(InvalidRequestError) as caught:
            call()
        assert caught.value.reason is ErrorReason.UNKNOWN_MODEL
        assert caught.value.violations[0].field == "model"
        assert all(name in caught.value.message for name in known.models())


async def test_operator_tokenizer_is_exact():
    path = resource_path("model_repository/embedder/tokenizer.json")
    known = await counter(TokenizerSettings(model="bert", context_window_tokens=512, path=path))
    assert known.count(["hello world", TEXT], "bert") == [2, 9]
    assert known.profile("bert") == ModelProfile("bert", "tokenizer.json of bert", 512)
    assert "bert" in known.models()


async def test_stand_in_is_approximate_with_margin():
    stand_in = TokenizerSettings(
        model="llama", context_window_tokens=8192, encoding="o200k_base", safety_margin_ratio=0.2
    )
    known = await counter(stand_in)
    assert known.count([TEXT, ""], "llama") == [10, 0]  # 8 * 1.2 = 9.6, rounded up
    assert known.profile("llama") == ModelProfile(
        "llama", "o200k_base", 8192, approximate=True, safety_margin_ratio=0.2
    )


async def test_broken_tokenizer_file_stops(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(TokenizerFileError, match=r"tokenizer of m: .*tokenizer\.json cannot be loaded"):
        await counter(TokenizerSettings(model="m", context_window_tokens=1, path=path))


@pytest.mark.parametrize("given", [{}, {"path": "a.json", "encoding": "o200k_base"}], ids=["none", "both"])
def test_a_tokenizer_has_one_source(given):
    with pytest.raises(ValueError, match="set either path"):
        TokenizerSettings(model="m", context_window_tokens=1, **given)
