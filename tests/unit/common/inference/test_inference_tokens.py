"""Token counting: exact for known models, said to be approximate otherwise, never guessed."""

import asyncio
import re
import threading
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from services.common.adapters.tokens import counter as counting
from services.common.adapters.tokens.counter import TokenizerFileError, open_token_counter
from services.common.adapters.tokens.table import FAMILIES, MODELS, family_of
from services.common.errors import ErrorReason, InvalidRequestError
from services.common.ports.tokens import ModelProfile
from services.common.resources import resource_path
from services.common.settings.inference import InferenceSettings, TokenizerSettings
from tests.each import each

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


@pytest.mark.parametrize("model", ["gpt-4o", "approximate"])
async def test_an_encoding_is_opened_beside_the_event_loop_and_once(monkeypatch, model):
    threads, opening = [], counting._compiled_core

    def opened():
        threads.append(threading.current_thread())
        return opening()

    monkeypatch.setattr(counting, "_compiled_core", opened)
    tokens = await counter()
    await asyncio.gather(tokens.opened(model), tokens.opened(model))
    await tokens.opened(model)
    assert tokens.count([TEXT], model)[0] >= 8
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


async def test_nothing_is_opened_for_a_model_that_is_not_known():
    with pytest.raises(InvalidRequestError) as error:
        await (await counter()).opened("unheard-of")
    assert error.value.reason is ErrorReason.UNKNOWN_MODEL


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


@pytest.mark.parametrize(
    ("model", "tokenizer", "window"),
    [
        ("openai/gpt-4o", "o200k_base", 128_000),
        ("openrouter/openai/gpt-4.1", "o200k_base", 1_047_576),
        ("azure/gpt-4-turbo-2024-04-09", "cl100k_base", 128_000),
        ("ft:gpt-4o-mini-2024-07-18:acme::abc123", "o200k_base", 128_000),
        ("gpt-5-2025-08-07", "o200k_base", 400_000),
        ("o3-mini-2025-01-31", "o200k_base", 200_000),
    ],
)
async def test_a_router_s_or_a_fine_tuned_name_is_its_models(model, tokenizer, window):
    known = await counter()
    assert known.profile(model) == ModelProfile(model, tokenizer, window)
    assert known.count(["hello world"], model) == [2]


@pytest.mark.parametrize("model", ["acme/gpt-4o", "gpt-4o/acme", "ft:gpt-9:acme::x", "openai/", "openai/gpt-9"])
async def test_a_name_that_only_looks_like_a_known_one_is_unknown(model):
    known = await counter()
    with pytest.raises(InvalidRequestError) as caught:
        known.profile(model)
    assert caught.value.reason is ErrorReason.UNKNOWN_MODEL


@each(
    ("model", "provider", "window"),
    [
        ("claude-sonnet-4-20250514", "Anthropic", 200_000),
        ("anthropic/claude-3.5-sonnet", "Anthropic", 200_000),
        ("claude-3-7-sonnet-latest", "Anthropic", 200_000),
        ("gemini-1.5-pro-002", "Google", 2_097_152),
        ("google/gemini-2.5-flash-preview-05-20", "Google", 1_048_576),
        ("gemini-2.5-flash", "Google", 1_048_576),
        ("google/gemma-3-27b-it", "Google", 131_072),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "Meta", 8_192),
        ("meta-llama/Llama-3.1-70B-Instruct", "Meta", 131_072),
        ("mistral-large-2411", "Mistral", 131_072),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "Mistral", 32_768),
        ("Qwen/Qwen2.5-7B-Instruct", "Alibaba", 32_768),
        ("microsoft/phi-4", "Microsoft", 16_384),
        ("command-r-plus", "Cohere", 128_000),
        ("acme/llama-3.1-8b", "", None),
        ("llama-9-8b", "", None),
    ],
)
def test_families_are_known_by_name_and_window(model, provider, window):
    family = family_of(model)
    if window is None:
        assert family is None
    else:
        assert family is not None
        assert (family.provider, family.context_window_tokens) == (provider, window)


async def test_a_family_without_its_tokenizer_is_refused_by_name_and_told_what_to_do():
    known = await counter()
    with pytest.raises(InvalidRequestError, match=r"Anthropic, 200000 tokens.*GROUNDTRAIL_INFERENCE__TOKENIZERS.*appr"):
        known.profile("claude-sonnet-4-20250514")


async def test_a_stand_in_has_the_familys_window_or_the_one_that_is_given_and_adds_its_margin():
    known = await counter()
    claude = known.stand_in("claude-sonnet-4-20250514", 1_000)
    assert (claude.approximate, claude.safety_margin_ratio, claude.context_window_tokens) == (True, 0.25, 200_000)
    own = known.stand_in("acme-7b", 4_096)
    assert (own.model, own.tokenizer, own.context_window_tokens) == ("acme-7b", "o200k_base", 4_096)
    assert known.count([TEXT, ""], own.counting_name) == [10, 0]  # 8 * 1.25
    exact = known.stand_in("gpt-4o", None)
    assert (exact.approximate, exact.counting_name) == (False, "gpt-4o")


async def test_a_stand_in_for_a_model_of_no_table_needs_a_window():
    known = await counter()
    with pytest.raises(InvalidRequestError) as caught:
        known.stand_in("acme-7b", None)
    assert [violation.field for violation in caught.value.violations] == ["context_window_tokens"]


async def test_the_name_of_the_stand_in_is_no_model():
    known = await counter()
    with pytest.raises(InvalidRequestError):
        known.profile("approximate")
    assert "approximate" not in known.models()


async def test_an_operators_pattern_serves_a_family_and_a_whole_name_goes_before_it():
    path = resource_path("model_repository/embedder/tokenizer.json")
    known = await counter(
        TokenizerSettings(model="acme/*", context_window_tokens=100, path=path),
        TokenizerSettings(model="acme/large-*", context_window_tokens=200, path=path),
        TokenizerSettings(model="acme/large-1", context_window_tokens=300, encoding="cl100k_base"),
    )
    windows = {name: known.profile(f"acme/{name}").context_window_tokens for name in ("x", "large-2", "large-1")}
    assert windows == {"x": 100, "large-2": 200, "large-1": 300}
    assert known.count([TEXT], "acme/large-2") == [9]


async def test_a_sentencepiece_model_is_counted_by_its_tokenizer_file(tmp_path):
    pieces = [("<unk>", 0.0), ("▁How", -1.0), ("▁many", -1.0), ("▁tok", -2.0), ("ens", -2.0), ("▁", -5.0), ("?", -3.0)]
    unigram = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    unigram.pre_tokenizer = pre_tokenizers.Metaspace()
    unigram.save(str(tmp_path / "tokenizer.json"))
    known = await counter(TokenizerSettings(model="sp", context_window_tokens=64, path=tmp_path / "tokenizer.json"))
    assert known.count(["How many tokens?", "How many"], "sp") == [5, 2]
    assert not known.profile("sp").approximate


def page_rows(width):
    """The rows of the how-to page's tables with as many cells."""
    page = (Path(__file__).resolve().parents[4] / "docs/how-to/count-tokens.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]
    return [row for row in rows if len(row) == width and row[0] not in {"encoding", "for instance", "---"}]


def test_the_page_lists_every_model_that_is_counted_exactly():
    listed = {
        model: (row[0], int(row[1].replace(",", "")))
        for row in page_rows(3)
        if row[0].endswith("_base")
        for model in re.findall("`([^`]+)`", row[2])
    }
    assert listed == {name: (profile.tokenizer, profile.context_window_tokens) for name, profile in MODELS.items()}


def test_the_page_names_a_model_of_every_family():
    rows = [row for row in page_rows(3) if row[0].startswith("`")]
    found = [family_of(row[0].strip("`")) for row in rows]
    told = [(row[1], int(row[2].replace(",", ""))) for row in rows]
    assert [(family.provider, family.context_window_tokens) for family in found] == told
    assert set(found) == set(FAMILIES)
