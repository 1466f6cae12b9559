"""The baselines' only tool: lower-case words."""

import re
from collections.abc import Iterable


def words(text: str) -> set[str]:
    """Return the distinct words and numbers of a text, lower-case."""
    return set(re.findall(r"[^\W_]+", text.lower()))


def token_recall(claim: str, context: Iterable[str]) -> float:
    """Return the share of the claim's distinct words that stand anywhere in the context; 0 without a word."""
    asked = words(claim)
    known = set().union(*map(words, context))
    return len(asked & known) / len(asked) if asked else 0.0
