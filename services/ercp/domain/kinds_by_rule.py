"""What a sentence is, where words say it without doubt (ADR 0118).

Each phrase below was right in nearly all training sentences that it occurs in; what is right only more often than not is
left to the heads. The readers of §8 are asked first: an order that they read is an order, a reason that they read a
reason.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.unit_vocabulary import UnitKind

_BEGINS: Final = r"^\W{0,4}(?:(?:and|but|so|then|also)\s+)?"
_PHRASES: Final = (
    (
        UnitKind.DEFINITION,
        r"\b(?:is|are) defined as\b|\b(?:refers to|stands for|is short for|is understood to mean)\b|[\"\u201d'\u2019`]\s+means\b|"
        r"\bby (?:an? |the )?[\"\u201c'\u2018`].{1,60} (?:we|i) (?:mean|understand)\b|\bwhat we (?:call|know as)\b|"
        r"\bmeans (?:any|an?|the) (?:\w+ ){1,4}(?:that|which|who|other than|of)\b",
    ),
    (
        UnitKind.ASSUMPTION,
        rf"{_BEGINS}(?:suppose|supposing|assume|assuming|imagine|let us (?:say|suppose|assume)|let's (?:say|suppose|assume))\b|"
        r"\b(?:we|i) (?:assume|suppose|presume|take it)\b|\b(?:is|are|was|were) (?:assumed|presumed|supposed) (?:to|that)\b|"
        r"\bfor the sake of argument\b|\btaken? for granted\b",
    ),
    (
        UnitKind.CONDITION,
        rf"{_BEGINS}(?:if (?!not the|only\b|anything)|unless|provided (?:that|the|you|it)|in the event (?:of|that)|in case of)\b|"
        r"\b(?:provided that|on condition that|only if|as long as the|so long as)\b|\bunless\b",
    ),
    (
        UnitKind.RESULT,
        rf"{_BEGINS}(?:hence|therefore|thus|consequently|as a (?:result|consequence)|it follows that|accordingly)\b",
    ),
    (UnitKind.JUSTIFICATION, r"\b(?:because|owing to|due to the|on the grounds that|for the reason that)\b"),
)
_EXACT: Final = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _PHRASES)
_READ_CHARS: Final = 2_000


def kinds_of(facts: TextFacts) -> list[frozenset[UnitKind]]:
    """Return what rules say of each of a text's sentences; linear in the text."""
    found = [
        set(_phrased(facts.text[span.start : min(span.end, span.start + _READ_CHARS)])) for span in facts.sentences
    ]
    for kind, at in _read(facts):
        place = bisect_right(facts.sentences, at, key=attrgetter("start")) - 1
        if place >= 0 and at < facts.sentences[place].end:
            found[place].add(kind)
    return [frozenset(kinds) for kinds in found]


def _phrased(sentence: str) -> Iterator[UnitKind]:
    for kind, pattern in _EXACT:
        if pattern.search(sentence):
            yield kind


def _read(facts: TextFacts) -> Iterator[tuple[UnitKind, int]]:
    """Yield what the readers of §8 found, with its place."""
    for order in facts.orders:
        yield UnitKind.ORDER, order.span.start
    for each in facts.justifications:
        if each.is_given:
            yield UnitKind.JUSTIFICATION, each.reason.start
