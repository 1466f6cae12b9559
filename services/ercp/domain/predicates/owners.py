"""Whose value it is: the thing that a demand names, and not another one that is called alike (ADR 0204).

"The night shift has more than two nurses" says nothing of "Late shift: two nurses on Sundays", and what "the van
itself" weighs is not what the crate does where a sentence says that too.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.common.reading.lexicon import STOPWORDS
from services.common.reading.terms import terms
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
