"""What speaks to a model taken out of a text, and what is told of it: rules, places, counts, never words (ADR 0145).

A match is a few words of an order; what is taken out is the whole sentence or line that holds it. The rest is searched
again, for a text may hold more than one search tells of, and both sides of a gap may be an order together. A text that
keeps giving orders is taken out whole. Pure, and linear in the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.common.injection.searching import Match, find_injections

MARK: Final = "[removed]"
"""Stands where something was taken out."""
ROUNDS: Final = 3
"""Searches after which a text that still gives orders is taken out whole."""
MAX_PLACES: Final = 20
"""Places of one text that are told of; their number is that of all."""
_BOUNDARY: Final = re.compile(
    r"[.!?\u2026][\"'\u201d\u2019)\]]{0,3}[ \t]{1,8}(?![a-z \t])|[\u3002\uff01\uff1f]"
    r"|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]"
)
_ENDS: Final = frozenset(".!?\u2026")
Stretch = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in one text.

    Attributes:
        tells: what it says to a model, for people; never its words.
        rules: ids of the rules that matched and how often, by id.
        places: where, in the text as it came, in its order; at most 20.
        count: how many places there are.
    """

    tells: tuple[str, ...]
    rules: tuple[tuple[str, int], ...]
    places: tuple[Stretch, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without what speaks to a model.

    Attributes:
        text: with ``MARK`` where something was taken out; the text as it came where nothing was.
        stretches: what was taken out of the text as it came, in order and apart from each other.
        finding: ``None`` where nothing was.
    """

    text: str = field(repr=False)
    stretches: tuple[Stretch, ...] = ()
    finding: Finding | None = None

    @property
    def is_empty(self) -> bool:
        """Say whether nothing is left that a reader could learn from."""
        return bool(self.stretches) and not any(map(str.isalnum, self.text.replace(MARK, "")))


def finding_of(text: str, least_weight: float) -> Finding | None:
    """Return what speaks to a model in a text, from a weight on; ``None`` for ordinary text."""
    return _finding([match for match in find_injections(text).matches if match.weight >= least_weight])


def masked(text: str, least_weight: float, *, keeps_length: bool = False) -> Masked:
    """Return a text without the sentences that speak to a model.

    Args:
        text: of any length and any characters.
        least_weight: of a match that counts, in (0, 1].
        keeps_length: blanks behind each mark, so that every other character stays where it stands; a stretch that is
            shorter than the mark becomes blanks alone.
    """
    read = text
    stretches: list[Stretch] = []
    matches: list[Match] = []
    edges: list[int] = []
    for _ in range(ROUNDS):
        found = [match for match in find_injections(read).matches if match.weight >= least_weight]
        if not found:
            break
        edges = edges or _edges(text)
        matches += found
        stretches = _united([*stretches, *(_sentence(text, edges, match) for match in found)])
        read = _blanked(text, stretches)
    else:
        if find_injections(read).score >= least_weight:
            stretches = [(0, len(text))]
    if not matches:
        return Masked(text)
    written = _written(text, stretches, keeps_length=keeps_length)
    return Masked(written, tuple(stretches), _finding(matches))


def _finding(matches: Sequence[Match]) -> Finding | None:
    if not matches:
        return None
    places = sorted({(match.start, match.end) for match in matches})
    rules = Counter(match.rule_id for match in matches)
    tells = tuple(dict.fromkeys(match.tells for match in matches))
    return Finding(tells, tuple(sorted(rules.items())), tuple(places[:MAX_PLACES]), len(places))


def _edges(text: str) -> list[int]:
    """Return where sentences and lines begin, and the end of the text."""
    return [0, *(found.end() for found in _BOUNDARY.finditer(text)), len(text)]


def _sentence(text: str, edges: Sequence[int], match: Match) -> Stretch:
    """Return the sentences that hold a match; blanks around it, and the end of a sentence before it, are none of it."""
    start, end = match.start, match.end
    while start < end and (text[start].isspace() or text[start] in _ENDS):
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    first = edges[bisect_right(edges, start) - 1]
    return first, max(end, edges[min(len(edges) - 1, bisect_left(edges, max(end, start + 1)))])


def _united(stretches: Iterable[Stretch]) -> list[Stretch]:
    united: list[Stretch] = []
    for start, end in sorted(stretches):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        elif end > start:
            united.append((start, end))
    return united


def _blanked(text: str, stretches: Sequence[Stretch]) -> str:
    return _joined(text, stretches, [" " * (end - start) for start, end in stretches])


def _written(text: str, stretches: Sequence[Stretch], *, keeps_length: bool) -> str:
    if keeps_length:
        marks = [
            MARK.ljust(end - start) if end - start >= len(MARK) else " " * (end - start) for start, end in stretches
        ]
    else:
        # What parts a sentence from the next one stays.
        marks = [MARK + _tail(text[start:end]) for start, end in stretches]
    return _joined(text, stretches, marks)


def _tail(taken: str) -> str:
    blanks = taken[len(taken.rstrip()) :]
    return "\n" if "\n" in blanks else blanks[:1]


def _joined(text: str, stretches: Sequence[Stretch], marks: Sequence[str]) -> str:
    parts: list[str] = []
    at = 0
    for (start, end), mark in zip(stretches, marks, strict=True):
        parts += (text[at:start], mark)
        at = end
    return "".join([*parts, text[at:]])
