"""Current facts that give different values for the same thing, so that nobody takes one for the only truth (ADR 0109).

Two sentences speak of the same thing when they have the same content words once their values are left out, the same
negations and bounds, the same measures in the same order, and stand under the same heading below their documents'
titles. They disagree when exactly one of the values differs: where two do, they speak of two cases ("up to 2 kg 5
euros, up to 5 kg 9 euros"). Values are read as for duplicates (ADR 0063). A paraphrase in other words is not found;
what is found is meant to be right. Linear in the text: sentences meet by what they speak of, none is compared with
every other.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from services.common.grounding.polarity import NEGATIONS
from services.common.grounding.words import STOP_WORDS, sentences, stem, words
from services.envelope.domain.duplicates import PlacedValue, placed_values

MAX_CONFLICTS: Final = 20
MAX_SUBJECT_CHARS: Final = 120
_FEWEST_WORDS: Final = 2
"""Content words that a sentence must have beside its values: "Price: 10 euros" says nothing of whose price."""
_MOST_VALUES: Final = 6
_MOST_SAID: Final = 3
"""Different values for one thing up to which sources disagree; more of them are a series: chapters, rows, examples."""
_SENTENCE_CHARS: Final = 600
_BOUNDS: Final = frozenset(
    {"least", "most", "minimum", "maximum", "over", "under", "above", "below", "before", "after", "until", "from"}
    | {"more", "less", "than", "up", "within"}
)
_SAYING_ONLY: Final = frozenset(
    map(
        stem, ("amount", "cost", "charge", "set", "total", "stand", "come", "equal", "currently", "now", "today")
    )
)
"""Words by which a value is said of a thing, and which do not tell things apart."""
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


def _read(fact: Stated) -> Iterator[tuple[_Key, _Said]]:
    heading = _heading(fact.location)
    for start, end in sentences(fact.text):
        sentence = fact.text[start : min(end, start + _SENTENCE_CHARS)]
        if not any(char.isdigit() for char in sentence) or end - start > _SENTENCE_CHARS:
            continue
        values = placed_values(sentence)
        if not 0 < len(values) <= _MOST_VALUES:
            continue
        content, bounds = _words(sentence, values)
        if len(content) >= _FEWEST_WORDS:
            key = (content, bounds, tuple(value.measure for value in values), heading)
            yield key, _Said(fact, sentence, start, tuple(values))


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
            if 1 < len(by_value) <= _MOST_SAID and len({said.fact.fact_id for said in by_value.values()}) > 1:
                sides = tuple(_side(said, said.values[place]) for said in by_value.values())
                yield Conflict(_subject(next(iter(by_value.values())), place), sides)


def _side(said: _Said, value: PlacedValue) -> Side:
    start, end = said.offset + value.start, said.offset + value.end
    return Side(said.fact.fact_id, said.fact.source_id, said.fact.text[start:end].strip(), start, end)


def _subject(said: _Said, place: int) -> str:
    value = said.values[place]
    text = " ".join(f"{said.sentence[: value.start]}\u2026{said.sentence[value.end :]}".split())
    return text if len(text) <= MAX_SUBJECT_CHARS else f"{text[: MAX_SUBJECT_CHARS - 1]}\u2026"
