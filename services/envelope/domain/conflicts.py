"""Current facts that give different values for the same thing, so that nobody takes one for the only truth (ADR 0109).

Two sentences speak of the same thing when they have the same content words once their values are left out, the same
negations and bounds, the same measures in the same order, and stand under the same heading below their documents'
titles. They disagree when exactly one of the values differs: where two do, they speak of two cases ("up to 2 kg 5
euros, up to 5 kg 9 euros"). Values are read as for duplicates (ADR 0063). A paraphrase in other words is not found;
what is found is meant to be right. Linear in the text: sentences meet by what they speak of, none is compared with
every other. Which facts are read at all their vectors decide: what is like no other fact disagrees with none.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.grounding.polarity import NEGATIONS
from services.common.grounding.words import STOP_WORDS, sentences, stem, words
from services.envelope.domain.duplicates import PlacedValue, placed_values

MAX_CONFLICTS: Final = 20
MAX_SUBJECT_CHARS: Final = 120
ALIKE_COSINE: Final = 0.7
"""Far below what two sentences have that differ in a value alone; most facts of an envelope have no other so near."""
_CELLS_AT_ONCE: Final = 1 << 20
_FEWEST_WORDS: Final = 2
"""Content words and further values that a sentence must have: "Price: 10 euros" says nothing of whose price."""
_MOST_VALUES: Final = 6
_MOST_SAID: Final = 3
"""Different values for one thing up to which sources disagree; more of them are a series: chapters, rows, examples."""
_SENTENCE_CHARS: Final = 600
_JOINING: Final = frozenset("-_/#.:§")
_DIGIT: Final = re.compile(r"\d")
_SAID: Final = re.compile(
    r"\b(?:is|are|was|were|be|equals?|than|least|most|to|at|from|exceeds?|over|under|about)\s$", re.IGNORECASE
)
_COUNTS: Final = re.compile(r"\s[a-z]{3,}")
_ROW: Final = re.compile(r"^[^.]{0,200}?\w: [^;]{1,200}; ")
_BOUNDS: Final = frozenset(
    {"least", "most", "minimum", "maximum", "over", "under", "above", "below", "before", "after", "until", "from"}
    | {"more", "less", "than", "up", "within"}
)
_SAYING_ONLY: Final = frozenset(
    map(stem, ("amount", "cost", "charge", "set", "total", "stand", "come", "equal", "currently", "now", "today"))
)
"""Words by which a value is said of a thing, and which do not tell things apart."""
Vectors: TypeAlias = NDArray[np.float32]
_Key: TypeAlias = tuple[frozenset[str], frozenset[str], tuple[str, ...], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact that holds now; ``location`` are the headings over it, outermost first."""

    fact_id: str
    source_id: str
    text: str
    location: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """What one fact says: the value as it writes it, with offsets in its content."""

    fact_id: str
    source_id: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """Facts that give different values for the same thing, one side for each value, in the order of the facts.

    Attributes:
        subject: the sentence of the first, its value left out.
    """

    subject: str
    sides: tuple[Side, ...]

    @property
    def is_between_sources(self) -> bool:
        """Say whether two documents disagree, rather than one with itself."""
        return len({side.source_id for side in self.sides}) > 1


@dataclass(frozen=True, slots=True)
class _Said:
    fact: Stated
    sentence: str
    offset: int
    values: tuple[PlacedValue, ...]

    @property
    def normals(self) -> tuple[str, ...]:
        return tuple(value.normal for value in self.values)


def find_conflicts(facts: Sequence[Stated]) -> tuple[Conflict, ...]:
    """Return what the facts disagree on, between documents first, else in their order; at most ``MAX_CONFLICTS``."""
    groups: dict[_Key, list[_Said]] = defaultdict(list)
    for fact in facts:
        for key, said in _read(fact):
            groups[key].append(said)
    found = [conflict for group in groups.values() if len(group) > 1 for conflict in _disagreeing(group)]
    return tuple(sorted(found, key=lambda conflict: not conflict.is_between_sources)[:MAX_CONFLICTS])


class SubjectIndex:
    """What facts speak of, remembered as numbers: of most facts nothing has to be read twice, and no word is kept.

    A fact's content never changes under its id. Safe for concurrent calls: what is lost is read again.
    """

    def __init__(self, capacity: int = 100_000) -> None:
        self._capacity = capacity
        self._known: dict[str, tuple[int, ...]] = {}

    def sharing(self, facts: Sequence[Stated]) -> list[Stated]:
        """Return the facts that may speak of the same thing as another of them, in their order."""
        subjects = [self._of(fact) for fact in facts]
        counted = Counter(number for numbers in subjects for number in set(numbers))
        return [
            fact
            for fact, numbers in zip(facts, subjects, strict=True)
            if any(counted[number] > 1 for number in numbers)
        ]

    def _of(self, fact: Stated) -> tuple[int, ...]:
        known = self._known.get(fact.fact_id)
        if known is None:
            known = tuple(hash(key) for key, _ in _read(fact))
            if len(self._known) >= self._capacity:
                self._known.clear()
            self._known[fact.fact_id] = known
        return known


def near_another(vectors: Vectors) -> NDArray[np.bool_]:
    """Say of each fact whether another one's vector is near enough that both may speak of the same thing.

    Args:
        vectors: unit vectors, one a row; compared some rows at a time, so that memory is bounded.
    """
    near = np.zeros(len(vectors), dtype=np.bool_)
    rows = max(1, _CELLS_AT_ONCE // max(1, len(vectors)))
    for start in range(0, len(vectors), rows):
        alike = vectors[start : start + rows] @ vectors.T > ALIKE_COSINE
        near[start : start + rows] = np.count_nonzero(alike, axis=1) > 1  # each is like itself
    return near


def _read(fact: Stated) -> Iterator[tuple[_Key, _Said]]:
    heading = _heading(fact.location)
    for start, end in sentences(fact.text):
        sentence = fact.text[start : min(end, start + _SENTENCE_CHARS)]
        if end - start > _SENTENCE_CHARS or not _DIGIT.search(sentence):
            continue
        values = [value for value in placed_values(sentence) if not _is_named(sentence, value)]
        if not 0 < len(values) <= _MOST_VALUES:
            continue
        content, bounds = _words(sentence, values)
        if len(content) + len(values) > _FEWEST_WORDS:
            key = (content, bounds, tuple(value.measure for value in values), heading)
            yield key, _Said(fact, sentence, start, tuple(values))


def _is_named(sentence: str, value: PlacedValue) -> bool:
    """Say whether a number names a thing and measures none: part of an identifier ("MM-02-old"), or a bare label."""
    before, behind = sentence[value.start - 1 : value.start], sentence[value.end : value.end + 2]
    if before.isalnum() or before in _JOINING or (behind[:1] in _JOINING and behind[1:].isalnum()):
        return True
    if value.measure:
        return False
    # A bare number measures where something is said to be so much, or so many ("is 500", "25 guests").
    return not _SAID.search(sentence, 0, value.start) and not _COUNTS.match(sentence, value.end)


def _words(sentence: str, values: Sequence[PlacedValue]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the content words of a sentence outside of its values, and the words that bound or deny."""
    content: set[str] = set()
    bounds: set[str] = set()
    for word in words(sentence):
        if any(value.start <= word.start < value.end for value in values):
            continue
        if word.stem in NEGATIONS or word.stem in _BOUNDS:
            bounds.add(word.stem)
        elif word.stem not in STOP_WORDS and word.stem not in _SAYING_ONLY:
            content.add(word.stem)
    return frozenset(content), frozenset(bounds)


def _heading(location: str) -> frozenset[str]:
    """Return the words of the last heading below the document's title."""
    _, below, last = location.rpartition(" > ")
    return frozenset(word.stem for word in words(last) if word.stem not in STOP_WORDS) if below else frozenset()


def _disagreeing(group: Sequence[_Said]) -> Iterator[Conflict]:
    """Yield what sentences on one thing disagree on: one place, all other values the same."""
    for place in range(len(group[0].values)):
        alike: dict[tuple[str, ...], dict[str, _Said]] = defaultdict(dict)
        for said in group:
            others = (*said.normals[:place], "", *said.normals[place + 1 :])
            alike[others].setdefault(said.normals[place], said)
        for by_value in alike.values():
            facts = [said.fact for said in by_value.values()]
            if not 1 < len(facts) <= _MOST_SAID or len({fact.fact_id for fact in facts}) == 1:
                continue
            # Rows of one document with the same labels stand in two tables rather than against each other.
            if len({fact.source_id for fact in facts}) > 1 or not _ROW.match(group[0].sentence):
                sides = tuple(_side(said, said.values[place]) for said in by_value.values())
                yield Conflict(_subject(next(iter(by_value.values())), place), sides)


def _side(said: _Said, value: PlacedValue) -> Side:
    start, end = said.offset + value.start, said.offset + value.end
    return Side(said.fact.fact_id, said.fact.source_id, said.fact.text[start:end].strip(), start, end)


def _subject(said: _Said, place: int) -> str:
    value = said.values[place]
    text = " ".join(f"{said.sentence[: value.start]}\u2026{said.sentence[value.end :]}".split())
    return text if len(text) <= MAX_SUBJECT_CHARS else f"{text[: MAX_SUBJECT_CHARS - 1]}\u2026"
