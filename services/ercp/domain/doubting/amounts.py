"""The amounts of a sentence by what they are of: a dimension, or the noun that a bare number counts (ADR 0179)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.ercp.domain import readings
from services.ercp.domain.predicates import Span, TextFacts
from services.ercp.domain.predicates.mentions import Mention, is_bare
from services.ercp.domain.predicates.naming import stem_of
from services.ercp.domain.predicates.values import agree_as_written

_COUNTED: Final = re.compile(r"(?:[\s-]+[a-z]{2,20}){0,2}?[\s-]+(?P<noun>[a-z]{2,20}s)\b")
"""A plural at most three words behind a number."""
_NO_NOUN: Final = frozenset(
    """is was has does as this its his yes less plus minus times always across besides perhaps towards minutes
    hours""".split()  # noqa: SIM905 - one word a line would be half a page
)
_ABOUT: Final = re.compile(
    r"\b(?:about|around|roughly|approximately|nearly|almost|some|circa|ca\.|just (?:over|under))\s*$"
)
_NEAR_CHARS: Final = 16
COUNT_OF: Final = "count of "
"""Before the stem of what a bare number counts, in the kind of an amount."""
ABOUT_SHARE: Final = 10
"""What is said to be about a value is within a tenth of it."""


@dataclass(frozen=True, slots=True)
class Given:
    """An amount that a sentence gives; ``kind`` is the same for amounts that can be compared."""

    kind: str
    mention: Mention
    is_about: bool = False


def amounts_of(facts: TextFacts) -> Sequence[Sequence[Given]]:
    """Return the amounts of every sentence of a text, read once; bare numbers that count nothing are left out."""
    found = facts.selected.get(amounts_of)
    if not isinstance(found, tuple):
        found = facts.selected[amounts_of] = tuple(
            [each for mention in listed if (each := _given(facts.text, mention, sentence)) is not None]
            for listed, sentence in zip(readings.mentions_of(facts), facts.sentences, strict=True)
        )
    return found


def _given(text: str, mention: Mention, sentence: Span) -> Given | None:
    start = mention.span.start
    is_about = _ABOUT.search(text, max(sentence.start, start - _NEAR_CHARS), start) is not None
    if not is_bare(mention):
        return Given(mention.dimension, mention, is_about)
    counted = _COUNTED.match(text, mention.span.end, sentence.end)
    if counted is None or counted["noun"] in _NO_NOUN:
        return None
    return Given(f"{COUNT_OF}{stem_of(counted['noun'])}", mention, is_about)


def of_kind(given: Sequence[Given], kind: str) -> list[Given]:
    """Return the amounts of one kind."""
    return [each for each in given if each.kind == kind]


def agree(first: Sequence[Given], second: Sequence[Given]) -> bool:
    """Say whether an amount of one may be one of the other, rounding aside."""
    return any(_near(one, other) for one in first for other in second)


def _near(first: Given, second: Given) -> bool:
    one, other = first.mention, second.mention
    if one.interval.meets(other.interval):
        return True
    if one.amount is not None and other.amount is not None and agree_as_written(one.amount, other.amount):
        return True
    low, high = one.interval.low, other.interval.low
    if not (first.is_about or second.is_about) or low is None or high is None:
        return False
    return abs(low - high) * ABOUT_SHARE <= max(abs(low), abs(high))
