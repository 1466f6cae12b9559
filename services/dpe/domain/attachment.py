"""Which value of a clause belongs to what: "A within 14 days, B within 5 days" does not bear out "B within 14 days".

A clause that lists several values of one measure is cut into a stretch for each. A claim's value is misattached when it
equals the value of one stretch, while the nearest word that tells the stretches apart belongs to another, and its own
stretch is not named in full. Verbs do not tell apart: the later stretches leave them out. In doubt nothing is said.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from services.common.reading.labelled_rows import labelled_row
from services.common.reading.lexicon import BASE_VERBS, FINITE_VERBS, NEGATORS, STOPWORDS
from services.common.reading.places import cut_between
from services.common.reading.text_types import Span, Value
from services.common.reading.words import stem, words

_IN_TURN: Final = re.compile(r"\brespectively\b|\bin that order\b", re.IGNORECASE)
_MIN_STRETCHES: Final = 2


@dataclass(frozen=True, slots=True)
class Passage:
    """A clause or claim: its text, where it starts in what its values count from, its values.

    ``subject`` holds the stems of what a pronoun stands for; they count as the farthest of all.
    """

    text: str
    start: int
    values: tuple[Value, ...]
    subject: frozenset[str] = frozenset()

    def alike(self, value: Value) -> list[Value]:
        """Return the passage's values of the same kind and unit, in order."""
        return [other for other in self.values if (other.kind, other.unit) == (value.kind, value.unit)]


def rival(claimed: Value, claim: Passage, known: Value, clause: Passage) -> Value | None:
    """Return the clause's value that stands in the place of ``claimed``, which equals ``known``; mostly ``None``."""
    if _IN_TURN.search(claim.text) or _IN_TURN.search(clause.text) or _is_in_range(claimed, claim):
        return None
    alike = clause.alike(known)
    if len({value.normal for value in alike}) < _MIN_STRETCHES:
        return None
    stretches, own = _stretches(clause, alike), _stretches(claim, claim.alike(claimed))
    if stretches is None or own is None or claimed not in own:
        return None
    telling = _telling(clause, stretches)
    if any(not stems for stems in telling.values()):
        return None
    named = _named(claim, own[claimed], claimed)
    if telling[known] <= named.keys():
        return None
    nearest = min(
        ((named[part], value) for value, stems in telling.items() for part in stems & named.keys()),
        key=lambda item: item[0],
        default=None,
    )
    return nearest[1] if nearest is not None and nearest[1].normal != known.normal else None


_RANGE: Final = re.compile(r"\s(?:and|to|until|till)\s(?:the\s)?|\s?[-–—]\s?", re.IGNORECASE)  # noqa: RUF001


def _is_in_range(value: Value, claim: Passage) -> bool:
    """Say whether a value is an end of a range, of whose other end the same is said."""
    return any(
        value in {low, high} and _RANGE.fullmatch(claim.text[low.end - claim.start : high.start - claim.start])
        for low, high in pairwise(claim.alike(value))
    )


def _stretches(passage: Passage, values: Sequence[Value]) -> dict[Value, Span] | None:
    """Return each value's stretch, in the passage's own offsets; ``None`` when two values share one.

    In a row of named cells the first one's begins with its cell: the name of the row is said of all.
    """
    first = values[0].start - passage.start
    starts = [passage.text.rfind("; ", 0, first) + 1 if labelled_row(passage.text, 0) else 0]
    for value, following in pairwise(values):
        cut = cut_between(passage.text, value.end - passage.start, following.start - passage.start)
        if cut is None:
            return None
        starts.append(cut.end())
    ends = [*starts[1:], len(passage.text)]
    return {value: Span(start, end) for value, start, end in zip(values, starts, ends, strict=True)}


def _telling(clause: Passage, stretches: dict[Value, Span]) -> dict[Value, frozenset[str]]:
    """Return for each value the stems that stand in its stretch alone."""
    stems = {value: frozenset(_named(clause, span, value)) for value, span in stretches.items()}
    return {
        value: own - frozenset().union(*(others for other, others in stems.items() if other is not value))
        for value, own in stems.items()
    }


def _named(passage: Passage, span: Span, value: Value) -> dict[str, int]:
    """Return the stems of a stretch that may tell it apart, each with its least distance from the value."""
    found = dict.fromkeys(passage.subject, len(passage.text))
    taken = [(item.start - passage.start, item.end - passage.start) for item in passage.values]
    at = value.start - passage.start
    before = ""
    for word in words(passage.text):
        inside = span.start <= word.start < span.end
        tells, before = _tells(word.text, before), word.text
        if not inside or any(start <= word.start < end for start, end in taken) or not tells:
            continue
        key = stem(word.text)
        found[key] = min(abs(word.start - at), found.get(key, len(passage.text)))
    return found


def _tells(word: str, before: str) -> bool:
    if word in STOPWORDS | NEGATORS or word[0].isdigit():
        return False
    # "A leak" is a noun, whatever else the word may be.
    return before in _DETERMINERS or word not in _VERBS


_VERBS: Final = FINITE_VERBS | BASE_VERBS
_DETERMINERS: Final = frozenset(
    {
        "a",
        "an",
        "the",
        "this",
        "that",
        "these",
        "those",
        "its",
        "their",
        "your",
        "our",
        "his",
        "her",
        "any",
        "each",
        "every",
    }
    | {"no", "for", "of", "in", "by", "with", "on"}
)
