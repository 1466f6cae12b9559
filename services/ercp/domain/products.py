"""Totals that are not what their parts make: so many, each of so much, and another total (ADR 0179).

"Three cabinets with 40 sheets each" make 120 sheets; "each sack has 25 kg" makes 1,000 kg of 40 sacks. A total is
what a text marks as one.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from typing import Final

from services.ercp.domain.doubting.amounts import COUNT_OF, Given, amounts_of
from services.ercp.domain.predicates import Span, TextFacts
from services.ercp.domain.predicates.naming import stem_of

_TOTAL: Final = re.compile(
    r"\b(?:altogether|in total|in all|in sum|all told|therefore|makes?|adds? up to|total)\b",
    re.IGNORECASE,
)
_EACH_BEHIND: Final = re.compile(r"(?:[\s-]+[a-z]{2,20}){1,3}?\s+(?:each|apiece)\b", re.IGNORECASE)
_EACH: Final = re.compile(r"\b(?:each|every|a single)\s+(?P<what>[a-z]{2,20})\b", re.IGNORECASE)
_ROUNDED: Final = Fraction(2, 100)
_REACH: Final = 12
"""A total stands within so many sentences of its parts."""


def wrong_totals(facts: TextFacts) -> Iterator[tuple[Span, Span]]:
    """Yield the sentence with the parts and the one with a total that they do not make; linear in the text."""
    amounts = amounts_of(facts)
    for at, sentence in enumerate(facts.sentences):
        for whole, kind, counted in _products(facts.text, sentence, amounts[at]):
            for other in islice(range(len(amounts)), max(0, at - _REACH), at + _REACH + 1):
                stated = _only(amounts[other], kind) if other != at else None
                if stated is None or _TOTAL.search(facts.text, *_bounds(facts.sentences[other])) is None:
                    continue
                if _only(amounts[other], counted.kind) == _value(counted) and not _agree(whole, stated):
                    yield sentence, facts.sentences[other]
        yield from _each_of_many(facts, amounts, at)


def _products(text: str, sentence: Span, given: Sequence[Given]) -> Iterator[tuple[Fraction, str, Given]]:
    """Yield what "N of these with M of those each" make: the product, its kind, and what is counted."""
    for first, second in pairwise(given):
        number, part = _value(first), _value(second)
        if not first.kind.startswith(COUNT_OF) or number is None or part is None:
            continue
        if _EACH_BEHIND.match(text, second.mention.span.end, sentence.end):
            yield number * part, second.kind, first


def _each_of_many(facts: TextFacts, amounts: Sequence[Sequence[Given]], at: int) -> Iterator[tuple[Span, Span]]:
    """Yield a total of N things beside "each of them has V"."""
    sentence = facts.sentences[at]
    match = _EACH.search(facts.text, *_bounds(sentence))
    if match is None or len(amounts[at]) != 1:
        return
    part, counted = amounts[at][0], f"{COUNT_OF}{stem_of(match['what'] + 's')}"
    value = _value(part)
    for other in range(max(0, at - _REACH), min(len(amounts), at + _REACH + 1)):
        number, stated = _only(amounts[other], counted), _only(amounts[other], part.kind)
        if other == at or value is None or number is None or stated is None or part.kind == counted:
            continue
        if _TOTAL.search(facts.text, *_bounds(facts.sentences[other])) and not _agree(number * value, stated):
            yield sentence, facts.sentences[other]


def _only(given: Sequence[Given], kind: str) -> Fraction | None:
    found = [each for each in given if each.kind == kind]
    return _value(found[0]) if len(found) == 1 else None


def _value(given: Given) -> Fraction | None:
    interval = given.mention.interval
    return interval.low if interval.is_point and not given.is_about else None


def _agree(first: Fraction, second: Fraction) -> bool:
    return abs(first - second) <= _ROUNDED * max(abs(first), abs(second))


def _bounds(span: Span) -> tuple[int, int]:
    return span.start, span.end
