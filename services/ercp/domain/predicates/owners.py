"""Whose value it is: the thing that a demand names, and not another one that is called alike (ADR 0204).

"The night shift has more than two nurses" says nothing of "Late shift: two nurses on Sundays", and what "the van
itself" weighs is not what the crate does where a sentence says that too. "The excess is EUR 450" breaks no limit of
the rental car, of which the next sentence speaks (ADR 0221).
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.clauses import clauses
from services.common.reading.lexicon import STOPWORDS
from services.common.reading.places import Place
from services.common.reading.terms import terms
from services.ercp.domain.predicates.facts import TextFacts
from services.ercp.domain.predicates.model import Path

_PAIR: Final = re.compile(r"(?=\b(?P<first>[^\W\d_]{2,30})[\s-](?P<second>[^\W\d_]{2,30})\b)")
_COMPOUND: Final = 2


def head_of(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words before the last one of what has the attribute, and the last one; empty for a single word."""
    words = " ".join(path.segments[:-1]).replace("_", " ").split()
    if len(words) < _COMPOUND:
        return frozenset(), frozenset()
    return terms(" ".join(words[:-1])), terms(words[-1])


def is_of_another(path: Path, sentence: str) -> bool:
    """Say whether a sentence names another thing of the kind alone: a late shift, no night shift."""
    named, head = head_of(path)
    if not named or not head or named & terms(sentence):
        return False
    others = [
        match["first"]
        for match in _PAIR.finditer(sentence)
        if terms(match["second"]) == head and match["first"].lower() not in STOPWORDS
    ]
    return bool(others)


def named_in(owner: frozenset[str], sentences: Sequence[frozenset[str]]) -> list[bool]:
    """Say for each value's sentence whether it may be the owner's: where one names it wholly, no other."""
    if not owner or not any(owner <= each for each in sentences):
        return [True] * len(sentences)
    return [bool(owner & each) for each in sentences]


_IS: Final = re.compile(
    r"\W*(?:(?:and|but|while|so|the|our|your|an?|this)\s+)*(?!(?:it|this|that|they|we|you|i|he|she|there)\b)"
    r"(?P<noun>[^\W\d_]+(?:[\s-][^\W\d_]+){0,2}?)\s*"
    r"(?:\s(?:is|are|was|were|costs?|will\s+be|will\s+cost|amounts\s+to|comes\s+to)|:)\s+(?:(?:now|always|only|about|at\s+(?:most|least))\s+)?\Z",
    re.IGNORECASE,
)
"""The thing that is called by an amount of money, right before it: "The excess is"."""
_OF: Final = re.compile(
    r"\b(?P<noun>[^\W\d_]+)\s+of\s+(?:(?:about|only|up\s+to|at\s+(?:most|least))\s+)?\Z", re.IGNORECASE
)
"""The same in other words: "the invoice of"."""
_NO_THING: Final = terms(
    "amount sum total maximum minimum limit cap rate price cost fee charge payment level value average "
    "figure out instead"
)
"""Nouns that any amount may be called: "the daily rate is"."""
_REACH: Final = 48


def is_told_elsewhere(facts: TextFacts, wanted: AbstractSet[str], place: Place, *, telling: AbstractSet[str]) -> bool:
    """Say whether a value is of something else: none of the demand's words is near it.

    The text speaks of what is demanded, but not in the value's sentence or row, nor in the heading or sentence before;
    or the value is money, and the sentence gives it to another thing by name.

    Args:
        facts: of the text.
        wanted: terms of the demand.
        place: of the value.
        telling: those of the demand that are no mere "price" or "amount".
    """
    near = place.stretch | place.sentence | place.heading
    is_other = place.value.kind is EntityKind.MONEY and _is_of_other(facts, place, wanted, telling)
    return is_other or (not wanted & near and bool(wanted & place.whole))


def _is_of_other(facts: TextFacts, place: Place, wanted: AbstractSet[str], telling: AbstractSet[str]) -> bool:
    """Say whether a value's clause gives it to a thing that the demand does not name."""
    named = _IS.fullmatch(facts.text, _clause_start(facts, place), place.value.start) if telling else None
    if named is None and telling - place.stretch:
        start = max(place.span.start, place.value.start - _REACH)
        named = _OF.search(facts.text[start : place.value.start])
    return named is not None and not terms(named["noun"]) & (wanted | _NO_THING)


def _clause_start(facts: TextFacts, place: Place) -> int:
    """Return where a value's clause begins; a sentence is cut once, however many amounts stand in it."""
    key = (_clause_start, place.span)
    parts = facts.selected.get(key)
    if not isinstance(parts, list):
        parts = facts.selected[key] = clauses(facts.text, place.span.start, place.span.end)
    return parts[max(0, bisect_right(parts, place.value.start, key=lambda each: each.start) - 1)].start
