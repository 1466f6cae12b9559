"""Two facts of different sources that give different values for the same thing (ADR 0113).

They have the same content words but for their values, the same negations and bounds, the same names, and one value
each that the other lacks, of the same measure. Values are read as for duplicates (ADR 0063): with a unit, a currency, a
per cent sign, or as a date. A bare number may be a chapter's or a version's, so that it tells apart what is spoken of.
What is paraphrased is not found; what is found is meant to be right.
"""

import re
from typing import Final

from services.common.grounding.polarity import NEGATIONS
from services.common.grounding.words import STOP_WORDS, stem, words
from services.envelope.domain.duplicates import stated_values

_BOUNDS: Final = frozenset(
    "least most minimum maximum over under above below before after until from more less than up within".split()  # noqa: SIM905
)
_FEWEST_WORDS: Final = 2
_UNITS: Final = """second minute hour day week month quarter year millimetre centimetre metre kilometre meter kilometer
    milligram gram kilogram tonne byte kilobyte megabyte gigabyte terabyte percent euro euros dollar dollars pound
    pounds yen usd eur gbp cent sec min hr"""
_UNIT_WORDS: Final = frozenset(map(stem, _UNITS.split()))
_MAX_CHARS: Final = 2_000
_MONTHS: Final = re.compile(
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?",
    re.IGNORECASE,
)


def disagreement(first: str, second: str) -> tuple[str, str] | None:
    """Return the values that two facts give for the same thing where they differ, normalised; else ``None``."""
    return Disagreements().between(first, second)


class Disagreements:
    """Compares facts with one another; each is read once at most, and its values only where the words are the same.

    For one call: it holds what it has read.
    """

    def __init__(self) -> None:
        self._said: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self._values: dict[str, frozenset[str]] = {}

    def between(self, first: str, second: str) -> tuple[str, str] | None:
        """Return what ``disagreement`` does."""
        if max(len(first), len(second)) > _MAX_CHARS:
            return None
        said = self._words(first)
        if len(said[0]) < _FEWEST_WORDS or said != self._words(second):
            return None
        ours, theirs = self._stated(first), self._stated(second)
        only_ours, only_theirs = ours - theirs, theirs - ours
        if len(only_ours) != 1 or len(only_theirs) != 1:
            return None
        (one,), (other,) = only_ours, only_theirs
        return (one, other) if _measure(one) and _measure(one) == _measure(other) else None

    def _words(self, text: str) -> tuple[frozenset[str], frozenset[str]]:
        if text not in self._said:
            self._said[text] = _said(text)
        return self._said[text]

    def _stated(self, text: str) -> frozenset[str]:
        if text not in self._values:
            self._values[text] = stated_values(text)
        return self._values[text]


def _measure(value: str) -> str:
    """Return what a value is measured in: its unit, ``date``, or nothing for a bare number."""
    return "date" if value.startswith("date ") else value.partition(" ")[2]


def _said(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the content words outside of values, and the words that bound or deny."""
    content: set[str] = set()
    bounds: set[str] = set()
    for word in words(text):
        written = text[word.start : word.end]
        if word.stem in NEGATIONS or word.stem in _BOUNDS:
            bounds.add(word.stem)
        elif not (
            any(char.isdigit() for char in written)
            or word.stem in STOP_WORDS
            or word.stem in _UNIT_WORDS
            or _MONTHS.fullmatch(written)
        ):
            content.add(word.stem)
    return frozenset(content), frozenset(bounds)
