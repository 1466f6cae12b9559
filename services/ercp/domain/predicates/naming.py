"""What names are compared by: the stems of an attribute, an event, a condition, whatever their order and inflection.

``water.boiling_point``, "the boiling point of water" and "water boils at" are one attribute; "at sea level" and
``sea level`` are one condition, the standard one (ADR 0070).
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from services.common.grounding.words import stem
from services.ercp.domain.predicates.facts import Condition, Words
from services.ercp.domain.predicates.model import Operand, Path, Text

WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[°%]")
_LINKING: Final = frozenset(
    """a an the this that these those of for to in on at by with under from and or its it his her their our your my is
    are was were be been being has have had do does did will would shall should must can could may might very so then
    also when whenever if where long""".split()  # noqa: SIM905 - one word a line would be a page
)
_SAME: Final = {
    "max": "maximum", "maximal": "maximum", "min": "minimum", "minimal": "minimum", "temp": "temperatur",
    "greatest": "maximum", "highest": "maximum", "largest": "maximum", "biggest": "maximum", "smallest": "minimum",
    "lowest": "minimum", "least": "minimum", "avg": "averag", "mean": "averag",
    "pric": "cost", "mass": "weight",
}  # fmt: skip
_LIGHT: Final = frozenset(
    {
        "happen",
        "occur",
        "tak",
        "com",
        "mak",
        "don",
        "then",
        "dat",
        "event",
        "step",
        "you",
        "we",
        "i",
        "they",
        "he",
        "she",
    }
)
"""Words that say only that something is an event, and when it comes in a list."""
_STANDARD: Final = (
    "sea level", "standard pressure", "standard atmospheric pressure", "normal pressure", "normal atmospheric pressure",
    "atmospheric pressure", "standard conditions", "normal conditions", "one atmosphere", "1 atm", "1 atmosphere",
    "standard temperature and pressure", "sea level pressure", "altitude of sea level", "pressure of 1 atm",
    "pressure of one atmosphere", "pressure of 1 atmosphere",
)  # fmt: skip


_AT_HAND: Final = re.compile(
    r"(?:(?:on|in|under|with|for)\s+)?(?:this|your|our)\s+(?:policy|contract|agreement|plan|tariff|offer|quote|quotation|cover|insurance|"
    r"booking|order|account|lease|tenancy|loan)",
    re.IGNORECASE,
)
"""What the whole text is about limits nothing that it says: "the excess on this policy"."""


def words_of(text: str) -> Words:
    """Return the stems of a text's words in order; articles and linking words only when there is nothing else."""
    # A capital A that does not begin the text is a name and no article.
    found = tuple(
        "A" if word == "A" and place else stem_of(word)
        for place, word in enumerate(WORD.findall(text.replace("_", " ")))
    )
    telling = tuple(word for word in found if word not in _LINKING)
    return telling or found


@lru_cache(maxsize=4096)
def stem_of(word: str) -> str:
    """Return what a word is compared by; words that mean the same attribute share it."""
    low = word.lower()
    if low in _LINKING:
        return low
    stemmed = stem(low) if low not in {"%", "°"} else low
    return _SAME.get(stemmed, stemmed)


def event_words(text: str) -> Words:
    """Return the stems that name an event: "the signing of the contract took place" is ``sign contract``."""
    found = words_of(text.replace(".", " "))
    light = _LIGHT | ({"plac"} if "tak" in found else set())
    return tuple(word for word in found if word not in light) or found


@lru_cache(maxsize=4096)
def path_words(path: Path) -> Words:
    """Return the stems of a path, the entity's before the attribute's; ``opening.date`` is when the opening is."""
    segments = path.segments[:-1] if len(path.segments) > 1 and path.segments[-1] == "date" else path.segments
    return tuple(word for segment in segments for word in words_of(segment))


def operand_words(operand: Operand) -> Words:
    """Return the stems of an event or a claim."""
    assert isinstance(operand, Text)
    return event_words(operand.text)


def condition_of(texts: Iterable[str]) -> Condition:
    """Return the condition that some phrases make together; the standard one is no condition."""
    kept = [text.strip() for text in texts if text.strip() and not _AT_HAND.fullmatch(text.strip(" ,"))]
    words = frozenset(word for text in kept for word in words_of(text))
    if not words or words in _STANDARDWORDS:
        return Condition(frozenset(), ", ".join(kept))
    return Condition(words, ", ".join(kept))


_STANDARDWORDS: Final = frozenset(frozenset(words_of(text)) for text in _STANDARD)
