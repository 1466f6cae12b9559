"""Lines that belong together as one text."""

from collections.abc import Sequence
from typing import Final

_CLOSED: Final = (".", "!", "?", ":", ";", ",", "…")


def joined_lines(texts: Sequence[str]) -> str:
    """Return the lines of a small box as one text: a first line without a full stop names what the others say."""
    if not texts:
        return ""
    first, *others = texts
    if not others:
        return first
    lead = first if first.endswith(_CLOSED) else f"{first}:"
    closed = [text if text.endswith(_CLOSED) else f"{text}." for text in others[:-1]]
    return " ".join([lead, *closed, others[-1]])
