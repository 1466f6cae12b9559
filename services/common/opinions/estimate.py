"""How many tokens a text takes, without the tokenizer of a model that the operator runs."""

from collections.abc import Iterable
from typing import Final

BYTES_A_TOKEN: Final = 3
"""Bytes of UTF-8; ordinary English has four to five, so that the estimate is seldom too low."""


def estimated_tokens(texts: Iterable[str]) -> int:
    """Return an estimate for some texts together."""
    return sum(len(text.encode("utf-8", errors="replace")) // BYTES_A_TOKEN + 1 for text in texts)
