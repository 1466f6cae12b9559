"""The target models that Groundtrail knows without being told: encoding and context window of each.

Windows are those that OpenAI publishes for input and output together. A name that is not here is an error, never a
guess; operators add their models with ``GROUNDTRAIL_INFERENCE__TOKENIZERS``.
"""

from typing import Final

from services.common.ports.tokens import ModelProfile

EXTRACTIVE_MODEL: Final = "groundtrail-extractive"
"""The built-in answerer (architecture decision 20)."""

CL100K: Final = "cl100k_base"
O200K: Final = "o200k_base"

_WINDOWS: Final = {
    O200K: {
        EXTRACTIVE_MODEL: 8_192,
        "chatgpt-4o-latest": 128_000,
        "gpt-4o": 128_000,
        "gpt-4o-mini": 128_000,
        "gpt-4.1": 1_047_576,
        "gpt-4.1-mini": 1_047_576,
        "gpt-4.1-nano": 1_047_576,
        "gpt-4.5-preview": 128_000,
        "gpt-5": 400_000,
        "gpt-5-mini": 400_000,
        "gpt-5-nano": 400_000,
        "gpt-oss-20b": 131_072,
        "gpt-oss-120b": 131_072,
        "o1": 200_000,
        "o1-mini": 128_000,
        "o1-preview": 128_000,
        "o3": 200_000,
        "o3-mini": 200_000,
        "o4-mini": 200_000,
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
