"""The target models that Groundtrail knows without being told: provider, encoding and context window of each.

Windows are those that the providers publish for input and output together. OpenAI's encodings are in the process, so
its models are counted exactly. Of other providers' families the window alone is known: they are counted with the
``tokenizer.json`` that the operator names, or approximately where the request asks for that. A name that is in neither
table is an error, never a guess; operators add their models with ``GROUNDTRAIL_INFERENCE__TOKENIZERS``.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.common.ports.tokens import ModelProfile

EXTRACTIVE_MODEL: Final = "groundtrail-extractive"
"""The built-in answerer (ADR 0020)."""

CL100K: Final = "cl100k_base"
O200K: Final = "o200k_base"

_WINDOWS: Final = {
    O200K: {
        EXTRACTIVE_MODEL: 8_192,
        "chatgpt-4o-latest": 128_000,
        "codex-mini-latest": 200_000,
        "gpt-4o": 128_000,
        "gpt-4o-audio-preview": 128_000,
        "gpt-4o-mini": 128_000,
        "gpt-4o-search-preview": 128_000,
        "gpt-4.1": 1_047_576,
        "gpt-4.1-mini": 1_047_576,
        "gpt-4.1-nano": 1_047_576,
        "gpt-4.5-preview": 128_000,
        "gpt-5": 400_000,
        "gpt-5-chat-latest": 128_000,
        "gpt-5-codex": 400_000,
        "gpt-5-mini": 400_000,
        "gpt-5-nano": 400_000,
        "gpt-5-pro": 400_000,
        "gpt-5.1": 400_000,
        "gpt-oss-20b": 131_072,
        "gpt-oss-120b": 131_072,
        "o1": 200_000,
        "o1-mini": 128_000,
        "o1-preview": 128_000,
        "o1-pro": 200_000,
        "o3": 200_000,
        "o3-deep-research": 200_000,
        "o3-mini": 200_000,
        "o3-pro": 200_000,
        "o4-mini": 200_000,
        "o4-mini-deep-research": 200_000,
    },
    CL100K: {
        "gpt-3.5-turbo": 16_385,
        "gpt-4": 8_192,
        "gpt-4-32k": 32_768,
        "gpt-4-turbo": 128_000,
        "gpt-4-turbo-preview": 128_000,
    },
}

MODELS: Final = {
    model: ModelProfile(model=model, tokenizer=encoding, context_window_tokens=window)
    for encoding, windows in _WINDOWS.items()
    for model, window in windows.items()
}

OPENAI_PREFIXES: Final = frozenset({"openai", "azure"})
"""What may stand before a slash and one of ``MODELS``, as routers write it: ``openai/gpt-4o``."""


@dataclass(frozen=True, slots=True)
class Family:
    """Models of one provider with one context window, whose tokenizer is not in the process.

    Attributes:
        prefixes: what may stand before a slash and the name, as routers and model hubs write it.
        pattern: matches whole names in lower case, dated releases included.
    """

    provider: str
    prefixes: frozenset[str]
    pattern: re.Pattern[str]
    context_window_tokens: int


_RELEASE: Final = r"(?:-preview)?(?:-(?:latest|preview|\d{2,4}-\d{2}(?:-\d{2})?|\d{3,4}|\d{8}))?"
"""Suffix of a dated release, e.g. ``-20250514``, ``-2411``, ``-002``, ``-preview-05-20``."""


def _families(provider: str, prefixes: str, *windows: tuple[str, int]) -> tuple[Family, ...]:
    names = frozenset(prefixes.split())
    return tuple(Family(provider, names, re.compile(f"(?:{pattern}){_RELEASE}"), window) for pattern, window in windows)


FAMILIES: Final = (
    *_families(
        "Anthropic",
        "anthropic",
        (r"claude-(?:2(?:\.1)|3(?:[.-][57])?-(?:haiku|sonnet|opus)|(?:haiku|sonnet|opus)-4(?:[.-][15])?)", 200_000),
    ),
    *_families(
        "Google",
        "google gemini vertex_ai",
        (r"gemini-1\.5-pro", 2_097_152),
        (r"gemini-(?:1\.5-flash(?:-8b)?|2\.0-flash(?:-lite)?|2\.5-(?:pro|flash|flash-lite))", 1_048_576),
        (r"gemma-2-\d+b(?:-it)?", 8_192),
        (r"gemma-3-(?:4|12|27)b(?:-it)?", 131_072),
    ),
    *_families(
        "Meta",
        "meta meta-llama",
        (r"llama-2-\d+b(?:-chat)?(?:-hf)?", 4_096),
        (r"(?:meta-)?llama-3-\d+b(?:-instruct)?", 8_192),
        (r"(?:meta-)?llama-3\.[123]-\d+b(?:-vision)?(?:-instruct)?", 131_072),
        (r"llama-4-scout(?:-17b-16e)?(?:-instruct)?", 10_485_760),
        (r"llama-4-maverick(?:-17b-128e)?(?:-instruct)?", 1_048_576),
    ),
    *_families(
        "Mistral",
        "mistral mistralai",
        (r"(?:open-)?mistral-7b(?:-instruct)?(?:-v0\.[23])?|mixtral-8x7b(?:-instruct)?(?:-v0\.1)?", 32_768),
        (r"(?:open-)?mixtral-8x22b(?:-instruct)?(?:-v0\.1)?", 65_536),
        (r"(?:open-)?mistral-(?:large|nemo)(?:-instruct)?", 131_072),
    ),
    *_families("Alibaba", "qwen", (r"qwen(?:2\.5|3)-\d+(?:\.\d+)?b(?:-a\d+b)?(?:-instruct)?", 32_768)),
    *_families("Microsoft", "microsoft", (r"phi-4", 16_384), (r"phi-3(?:\.5)?-mini-128k-instruct", 131_072)),
    *_families("Cohere", "cohere coherelabs cohereforai", (r"(?:c4ai-)?command-r(?:-plus|7b)?", 128_000)),
)
"""Known families besides OpenAI's; the first that matches holds. Native windows, without extensions that a server may
be started with."""


def family_of(model: str) -> Family | None:
    """Return the family that a model belongs to, or ``None``."""
    prefix, _, name = model.lower().rpartition("/")
    found = (family for family in FAMILIES if not prefix or prefix.rpartition("/")[2] in family.prefixes)
    return next((family for family in found if family.pattern.fullmatch(name)), None)
