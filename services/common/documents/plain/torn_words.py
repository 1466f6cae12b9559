"""Words that a line's end has torn apart: ``writ-``, ``ten`` is ``written``; ``well-``, ``known`` is ``well-known``.

A soft hyphen is always one of a line's end. A hard one may belong to the word: what the same document writes elsewhere
decides, then whether the first part is one that compounds begin with.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

_TORN: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]++)([-\u2010\u00ad])\Z")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_WORDS: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_COMPOUNDS: Final = frozenset(
    {
        *("all", "cross", "four", "five", "full", "half", "high", "long", "low", "multi", "non", "one", "self", "semi"),
        *("short", "single", "six", "ten", "three", "two", "well", "wide", "year", "user", "time", "co", "vice"),
    }
)
_ENDINGS: Final = frozenset(
    {
        *("ly", "er", "ers", "est", "ing", "ings", "ness", "ity", "age", "ish", "ful", "fully", "s", "es", "ed", "en"),
        *("y", "th", "ted", "ting", "sion", "tion", "ment", "itude", "able", "ible", "al", "ally", "ence", "ance"),
    }
)
"""What follows a torn word and is never the second part of a compound."""


def known_words(lines: Iterable[str]) -> frozenset[str]:
    """Return the words of a text in lower case, compounds as such, but for those at a line's end that may be torn."""
    words: set[str] = set()
    for line in lines:
        whole = _TORN.sub("", line.rstrip())
        words.update(match.group().lower() for match in _WORDS.finditer(whole))
    return frozenset(words)


def join_lines(lines: Sequence[str], known: frozenset[str]) -> str:
    """Return lines as one text; white space is not collapsed."""
    parts: list[str] = []
    for index, line in enumerate(lines):
        text = line.strip()
        following = lines[index + 1].strip() if index + 1 < len(lines) else ""
        torn = _TORN.search(text)
        after = _LETTERS.match(following)
        if torn and after and following[0].islower():
            parts.append(_joined(text, torn, following, after.group(), known))
        else:
            parts.extend((text, " "))
    return "".join(parts).strip()


def _joined(text: str, torn: re.Match[str], following: str, after: str, known: frozenset[str]) -> str:
    """Return a line whose last word goes on in the next, without the hyphen where that is the line's alone."""
    whole = text[: torn.start(2)]
    if torn[2] == "\u00ad":
        return whole
    first = torn[1].lower()
    second = _WORDS.match(following)
    rest = second.group().lower() if second else after.lower()
    before = text[: torn.start()]
    if f"{first}{rest}" in known or f"{first}{after.lower()}" in known:
        return whole
    keeps = (
        f"{first}-{rest}" in known or (first in _COMPOUNDS and after.lower() not in _ENDINGS) or before.endswith("-")
    )
    return f"{whole}-" if keeps else whole
