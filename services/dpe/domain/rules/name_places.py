"""Whether two names stand in the same place of a statement (SPEC-005 §5.3, ENTITY_SUBSTITUTED).

A name stands in another one's stead only where the same is said of both: what stands next to the one stands next to
the other, on whichever side, for "decided by the desk" says what "the desk decides" says. What labels a cell, or stands
over a row or a sentence, is no name of the statement under it.
"""

from typing import Final

from services.common.reading.clauses import finite_verb_at
from services.common.reading.labelled_rows import labelled_row
from services.common.reading.lexicon import BASE_VERBS, IMPERATIVES
from services.common.reading.words import Word, words
from services.dpe.domain.rules.reading import is_content, root

_REACH: Final = 3
"""Words of content beside a name that say what is said of it."""
_READ_CHARS: Final = 120
_ARTICLES: Final = frozenset({"the", "a", "an", "your", "our", "its", "their", "his", "her", "my", "this", "any"})
_BREAKS: Final = (";", "|", "\n")


def in_one_place(text: str, own: tuple[int, int], other_text: str, other: tuple[int, int]) -> bool:
    """Say whether a word beside the one name stands beside the other; numbers tell nothing of a name."""
    return bool(_beside(text, *own) & _beside(other_text, *other))


def _beside(text: str, start: int, end: int) -> frozenset[str]:
    """Return the roots of the nearest words of content on either side of a name, within its part of the sentence."""
    left = text[max(0, start - _READ_CHARS) : start]
    left = left[max(left.rfind(mark) for mark in _BREAKS) + 1 :]
    right = text[end : end + _READ_CHARS]
    right = right[: min((at for mark in _BREAKS if (at := right.find(mark)) >= 0), default=len(right))]
    return frozenset([*_content(left)[-_REACH:], *_content(right)[:_REACH]])


def _content(text: str) -> list[str]:
    return [root(word.text) for word in words(text) if is_content(word, text) and word.text.isalpha()]


def is_over_it(text: str, start: int, end: int) -> bool:
    """Say whether words stand over what is said: a heading, a lead-in without a verb, the head of a column."""
    cells = labelled_row(text)
    if cells:
        return not any(cell.start < end and start < cell.end for cell in cells)
    at = text.find(": ")
    return at >= 0 and end <= at and finite_verb_at(words(text[:at])) is None


def is_its_label(text: str, start: int, end: int) -> bool:
    """Say whether words are all that stands before the colon of a sentence: "Kourou: the probe was launched"."""
    return text[end:].lstrip("*_").startswith(": ") and not text[:start].strip(" *_#>-")


def is_bidding(text: str, start: int, end: int) -> bool:
    """Say whether a word that opens a sentence bids somebody do something: "Call the desk", not "Mark leads sales"."""
    if text[:start].strip(" *_#>-"):
        return False
    first = words(text[start:end])[:1]
    behind: list[Word] = words(text[end : end + _READ_CHARS])[:1]
    if not behind or not first:
        return False
    if behind[0].text in _ARTICLES:
        return True
    return first[0].text in IMPERATIVES | BASE_VERBS and finite_verb_at(behind) is None
