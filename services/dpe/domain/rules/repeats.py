"""A claim beside a sentence of its facts, unit by unit (ADR 0193): what is the same in the same order, what differs.

A unit is a word, or all words of one value. Values agree in whatever notation, so that "two years" stands where "24
months" stands; words agree by their root, and a hyphen parts no word ("opt-in").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, cast

from services.common.reading.agreement import agrees
from services.common.reading.clauses import finite_verb_at
from services.common.reading.lexicon import PREPOSITIONS
from services.common.reading.text_types import Value
from services.common.reading.words import Word
from services.dpe.domain.rules.reading import Reading, is_content, nearest, root, statements
from services.dpe.domain.rules.rows import values_of

_READ: Final = 3
"""So many statements, the nearest ones, are compared unit by unit."""
_WHOEVER: Final = frozenset({"someone", "somebody", "people", "something", "them", "those", "these"})
"""Words that name nobody and nothing in particular."""
_ALL: Final = frozenset({"everyone", "everybody", "anyone", "anybody", "everything", "anything"})
"""Words that name all there are: where who asks is bidden, all of theirs."""
MOST_UNITS: Final = 120
"""Of a claim and of a sentence: bounded work."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A word or a value: what it is compared by, its place in the text, and whether it carries content."""

    key: str
    word: Word
    is_content: bool
    value: Value | None = None

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands in its text."""
        return self.word.start, self.word.end


@dataclass(frozen=True, slots=True)
class Difference:
    """Units of the claim in the place of units of the sentence; one of both may be empty.

    Attributes:
        said_at, known_at: place of the first unit of each in its text.
    """

    said: tuple[Unit, ...]
    known: tuple[Unit, ...]
    said_at: int
    known_at: int

    @property
    def told(self) -> frozenset[str]:
        """What is compared of the claim's words of content."""
        return content_of(self.said)

    @property
    def there(self) -> frozenset[str]:
        """What is compared of the sentence's words of content."""
        return content_of(self.known)


@dataclass(frozen=True, slots=True)
class Alignment:
    """A sentence beside a claim.

    Attributes:
        copied: share of the claim's units that the sentence has in the same order.
        differences: in order; what either side has beyond the other, too.
        said, known: all units.
    """

    source: Reading
    copied: float
    differences: tuple[Difference, ...]
    said: tuple[Unit, ...]
    known: tuple[Unit, ...]

    @property
    def gaps(self) -> int:
        """How often the sentence has something between two units of the claim."""
        return sum(0 < one.said_at < len(self.said) for one in self.differences)


def content_of(units: Sequence[Unit]) -> frozenset[str]:
    """Return what units of content are compared by."""
    return frozenset(unit.key for unit in units if unit.is_content)


def units_of(reading: Reading) -> tuple[Unit, ...]:
    """Return the units of a sentence; numbers that are part of a name or a code stay words."""
    values = reading.once(values_of)
    found, at = list[Unit](), 0
    for word in reading.tokens:
        while at < len(values) and values[at].end <= word.start:
            at += 1
        value = values[at] if at < len(values) and values[at].start <= word.start else None
        if value is not None and found and found[-1].value is value:
            continue
        whole = word if value is None else Word(value.text.lower(), value.start, value.end)
        found.append(Unit(_key(word, value), whole, value is not None or is_content(word, reading.text), value))
    return tuple(found[:MOST_UNITS])


def _key(word: Word, value: Value | None) -> str:
    return root(word.text) if value is None else f"{value.kind} {value.normal}"


def values_agree(claim: Reading, source: Reading) -> bool:
    """Say whether a sentence has every value of a claim."""
    there = source.once(values_of)
    return all(any(agrees(value, other) for other in there) for value in claim.once(values_of))


def aligned(claim: Reading, source: Reading) -> Alignment:
    """Line a claim up with a sentence."""
    known = source.once(units_of)
    said = _in_notation(claim.once(units_of), known)
    matcher = SequenceMatcher(None, [unit.key for unit in known], [unit.key for unit in said], autojunk=False)
    copied, differences = 0, list[Difference]()
    for tag, known_from, known_to, said_from, said_to in matcher.get_opcodes():
        if tag == "equal":
            copied += said_to - said_from
        else:
            differences.append(Difference(said[said_from:said_to], known[known_from:known_to], said_from, known_from))
    return Alignment(source, copied / len(said) if said else 0.0, tuple(differences), said, known)


def nearest_parts(claim: Reading, sources: list[Reading]) -> list[Alignment]:
    """Return the claim beside the statements of its facts that hold most of its words, the nearest first.

    Computed once for all rules that are given the same list.
    """
    kept = claim.compared.get(("parts", id(sources)))
    if kept is None or kept[0] is not sources:
        parts = [part for source in sources for part in source.once(statements)]
        found = [aligned(claim, part) for _, part in nearest(claim.content, parts, claim.names)[:_READ]]
        kept = claim.compared["parts", id(sources)] = (sources, found)
    return cast("list[Alignment]", kept[1])


def _in_notation(said: Sequence[Unit], known: Sequence[Unit]) -> tuple[Unit, ...]:
    """Return the claim's units with the key of the sentence's value for each value that agrees with it."""
    values = [unit for unit in known if unit.value is not None]
    found: list[Unit] = []
    for unit in said:
        value = unit.value
        same = (
            None
            if value is None
            else next((one for one in values if one.value is not None and agrees(value, one.value)), None)
        )
        found.append(unit if same is None else Unit(same.key, unit.word, unit.is_content, value))
    return tuple(found)


def is_whoever(claim: Reading, said: Sequence[Word]) -> bool:
    """Say whether words stand for whoever the sentence names: "register everyone" for "registers visitors".

    As a subject, and behind a preposition, they widen what is said: "open to everyone" is not "open to members". So
    does "registers everyone" for "registers members"; bidden to do so, one registers all of one's own.
    """
    if not said or any(word.text not in _WHOEVER | _ALL for word in said):
        return False
    if any(word.text in _ALL for word in said) and said[0] not in claim.tokens[1:2]:
        return False
    before = next((word for word in reversed(claim.tokens) if word.end <= said[0].start), None)
    behind = next((word for word in claim.tokens if word.start >= said[-1].end), None)
    is_object = before is not None and before.text not in PREPOSITIONS
    return is_object and (behind is None or finite_verb_at([behind]) is None)
