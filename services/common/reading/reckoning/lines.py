"""What the rules of reckoning read: a sentence with its values, and what a slip is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.sentences import sentences
from services.common.reading.text_types import SentenceKind, Span, Value
from services.common.reading.values import scan_values

AMOUNTS: Final = frozenset({EntityKind.NUMBER, EntityKind.QUANTITY, EntityKind.MONEY})
_SKIPPED: Final = frozenset({SentenceKind.CODE, SentenceKind.HEADING})
_APART: Final = 2
"""Characters between two sentences of one paragraph."""
_MOST: Final = Decimal(10) ** 20
"""An amount beyond is written as it is: it has more digits than can be rounded."""
MOST_VALUES: Final = 60
"""A sentence with more values is a table in disguise and is left alone."""


@dataclass(frozen=True, slots=True)
class Slip:
    """A place where a text does not reckon right.

    Attributes:
        given: the words that the reckoning starts from, as offsets.
        wrong: the words that do not follow, as offsets; in the same sentence or the next.
        why: what comes out, and what the text says: "14 + 9 + 6 is 29, the text says 31".
    """

    given: Span
    wrong: Span
    why: str


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of ``text`` with its values, in text order."""

    text: str
    start: int
    end: int
    values: tuple[Value, ...]

    @property
    def words(self) -> str:
        """The sentence as it stands."""
        return self.text[self.start : self.end]

    def between(self, first: Value, second: Value) -> str:
        """Return what stands between two of its values."""
        return self.text[first.end : second.start]

    def behind(self, value: Value) -> str:
        """Return what stands behind a value."""
        return self.text[value.end : self.end]

    def before(self, value: Value) -> str:
        """Return what stands before a value."""
        return self.text[self.start : value.start]


def lines_of(text: str) -> list[Line]:
    """Return the sentences of a text that can be reckoned with."""
    values = scan_values(text)
    found, at = [], 0
    for sentence in sentences(text):
        while at < len(values) and values[at].start < sentence.start:
            at += 1
        first = at
        while at < len(values) and values[at].end <= sentence.end:
            at += 1
        own = values[first:at] if at - first <= MOST_VALUES and sentence.kind not in _SKIPPED else ()
        found.append(Line(text, sentence.start, sentence.end, own))
    return found


def amounts_of(line: Line) -> list[Value]:
    """Return the plain numbers, quantities and sums of money of a sentence."""
    return [each for each in line.values if each.kind in AMOUNTS and each.magnitude is not None]


def is_plain(value: Value) -> bool:
    """Say whether a value is meant as it stands: neither about, nor more than, nor so much a month."""
    return not (value.approximate or value.floor or value.per) and value.magnitude is not None


def magnitude(value: Value) -> Decimal:
    """Return the magnitude of a value that has one, in base units."""
    assert value.magnitude is not None
    return value.magnitude


def spell(number: Decimal) -> str:
    """Return a number as people write it: ``1200`` and not ``1.2E+3``."""
    return f"{number.normalize():f}" if number else "0"


def as_written(like: Value, amount: Decimal) -> str:
    """Return an amount in the unit that another is written in."""
    if like.number is None or not magnitude(like):
        return spell(amount)
    written = amount * like.number / magnitude(like)
    return spell(written.quantize(Decimal("0.01")) if abs(written) < _MOST else written)


def within(values: Sequence[Value]) -> Span:
    """Return the stretch from the first to the last of some values."""
    return Span(values[0].start, values[-1].end)


def neighbours(lines: Sequence[Line]) -> Iterator[tuple[Line, Line]]:
    """Yield each sentence with the next one, where that stands right behind it."""
    for first, second in pairwise(lines):
        if second.start - first.end <= _APART:
            yield first, second
