"""What differs between two versions of a document, fact by fact (ADR 0113).

Equal texts are the same fact. Of the rest, a fact of the one side and a fact of the other that share most of their
words are one fact that changed. Pairs are looked for by their rarest words, so that the work grows with the facts and
not with their square. Of what both sides have, all that is not in the longest common order has moved. A heading that
was renamed moves and changes nothing below it, and is told once.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from services.common.documents.document import NOWHERE, Place
from services.common.grounding.words import shared_words, stems
from services.envelope.domain.renamed_headings import RenamedHeading, renamed_headings, renamed_in, told

MIN_SIMILARITY: Final = 0.5
"""Least share of common words by which two facts are one that changed."""
_RAREST: Final = 8
"""Words of a fact by which its partner is looked for."""
_MOST_ALIKE: Final = 30
"""Of the facts that have such a word, so many are looked at: one that more of them have tells none of them apart."""
_COMPARED: Final = 8
"""Facts that share most of those words; they are compared word by word."""
_MAX_CHARS: Final = 10_000


@dataclass(frozen=True, slots=True)
class DiffFact:
    """A fact of one side.

    Attributes:
        position: from 1 in reading order; 0 where the order is not known.
        section: the headings over it.
        location: where in the source, for people.
    """

    content: str = field(repr=False)
    section: str
    location: str = ""
    fact_id: str = ""
    place: Place = NOWHERE
    position: int = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """A fact of the first side and the one of the second that took its place."""

    before: DiffFact
    after: DiffFact
    similarity: float = 1.0


@dataclass(frozen=True, slots=True)
class SourceDiff:
    """What differs; each in the order of the second side, removed facts in that of the first."""

    added: tuple[DiffFact, ...]
    removed: tuple[DiffFact, ...]
    changed: tuple[Pair, ...]
    moved: tuple[Pair, ...]
    unchanged: int
    renamed: tuple[RenamedHeading, ...] = ()


def source_diff(before: Sequence[DiffFact], after: Sequence[DiffFact]) -> SourceDiff:
    """Compare two versions; each in reading order, or in any where that is not known."""
    renamed = renamed_headings([fact.section for fact in before], [fact.section for fact in after])
    called = [_called(fact, renamed) for fact in before]
    own = {id(new): fact for new, fact in zip(called, before, strict=True)}
    same, gone, new = _same(called, after)
    changed = _changed(gone, new)
    paired = {id(pair.before) for pair in changed} | {id(pair.after) for pair in changed}
    moved = tuple(_moved(same))
    return SourceDiff(
        added=tuple(fact for fact in new if id(fact) not in paired),
        removed=tuple(own[id(fact)] for fact in gone if id(fact) not in paired),
        changed=tuple(replace(pair, before=own[id(pair.before)]) for pair in changed),
        moved=tuple(replace(pair, before=own[id(pair.before)]) for pair in moved),
        unchanged=len(same) - len(moved),
        renamed=told(renamed),
    )


def _called(fact: DiffFact, renamed: Mapping[str, str]) -> DiffFact:
    """Return a fact under the headings as the second side calls them."""
    there = renamed.get(fact.section)
    if there is None:
        return fact
    return replace(fact, section=there, content=renamed_in(fact.content, fact.section, there))


def _same(before: Sequence[DiffFact], after: Sequence[DiffFact]) -> tuple[list[Pair], list[DiffFact], list[DiffFact]]:
    """Return the facts with equal texts, in the order of ``after``, and what is left of both sides.

    A text that stands several times meets its like under the same heading first.
    """
    waiting: dict[tuple[str, str], list[DiffFact]] = defaultdict(list)
    for fact in reversed(before):
        waiting[fact.content, fact.section].append(fact)
    found: dict[int, DiffFact] = {}
    for fact in after:
        if waiting.get((fact.content, fact.section)):
            found[id(fact)] = waiting[fact.content, fact.section].pop()
    anywhere: dict[str, list[DiffFact]] = defaultdict(list)
    for (content, _), facts in waiting.items():
        anywhere[content] += facts
    for fact in after:
        if id(fact) not in found and anywhere.get(fact.content):
            found[id(fact)] = anywhere[fact.content].pop()
    same = [Pair(found[id(fact)], fact) for fact in after if id(fact) in found]
    kept = {id(pair.before) for pair in same}
    return same, [one for one in before if id(one) not in kept], [one for one in after if id(one) not in found]


def _moved(same: Sequence[Pair]) -> Iterator[Pair]:
    """Yield what stands under another heading, and what is not in the longest row that kept its order."""
    ordered = [pair for pair in same if pair.before.position and pair.after.position]
    stayed = {id(ordered[place]) for place in _longest_rising([pair.before.position for pair in ordered])}
    for pair in same:
        has_order = pair.before.position and pair.after.position
        if pair.before.section != pair.after.section or (has_order and id(pair) not in stayed):
            yield pair


def _longest_rising(values: Sequence[int]) -> list[int]:
    """Return the places of a longest rising subsequence, by patience sorting."""
    tops: list[int] = []
    places: list[int] = []
    links: list[int] = []
    for place, value in enumerate(values):
        pile = bisect_left(tops, value)
        links.append(places[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(value)
            places.append(place)
        else:
            tops[pile], places[pile] = value, place
    found = []
    place = places[-1] if places else -1
    while place >= 0:
        found.append(place)
        place = links[place]
    return found[::-1]


def _changed(gone: Sequence[DiffFact], new: Sequence[DiffFact]) -> list[Pair]:
    """Pair what resembles one another, the most alike first, in the order of ``new``."""
    words_of_new = [Counter(stems(fact.content[:_MAX_CHARS])) for fact in new]
    having: dict[str, list[int]] = defaultdict(list)
    for place, found in enumerate(words_of_new):
        for word in found:
            having[word].append(place)
    ranked: list[tuple[float, int, int]] = []
    for number, fact in enumerate(gone):
        own = Counter(stems(fact.content[:_MAX_CHARS]))
        for place in _candidates(own, having):
            similarity = shared_words(own, words_of_new[place])
            if similarity >= MIN_SIMILARITY:
                ranked.append((-similarity, number, place))
    partner: dict[int, Pair] = {}
    taken: set[int] = set()
    for negative, number, place in sorted(ranked):
        if number not in taken and place not in partner:
            taken.add(number)
            partner[place] = Pair(gone[number], new[place], -negative)
    return [partner[place] for place in sorted(partner)]


def _candidates(own: Counter[str], having: Mapping[str, Sequence[int]]) -> list[int]:
    """Return the places that share most of the rarest words."""
    rarest = sorted((len(having[word]), word) for word in own if word in having)[:_RAREST]
    shared = Counter(place for _, word in rarest for place in having[word][:_MOST_ALIKE])
    return [place for place, _ in shared.most_common(_COMPARED)]
