"""What an answer may reckon with, and what it has worked out so (ADR 0207).

An operand is given where the facts have it, or the asker. A number of the facts that stands for something else, as
seven for seven days, gives nothing.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import islice
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.agreement import agrees
from services.common.reading.places import Place, label_of
from services.common.reading.reckoning.written import comes_to, measure
from services.common.reading.text_types import Value
from services.common.reading.values import scan_values
from services.dpe.domain.dated_workings import with_weekdays

MOST_PLACES: Final = 1_500
"""Values of the facts that are reckoned with, the first ones."""
MOST_ASKED: Final = 24
"""Values of a question that are reckoned with, the first ones."""
_MOST_OF_ONE: Final = 50
_LEAST_BARE: Final = 10
"""A smaller bare number says too little to be known again elsewhere."""
_LEAST_LARGE: Final = 100
"""A number from which on it is known again without its unit: "8,320" of a column "Tax (KM)"."""
_NEAR_CHARS: Final = 200
"""Within so many characters a small number that was worked out is reckoned with."""


@dataclass(frozen=True, slots=True)
class Working:
    """A value of the answer that follows from given ones.

    Attributes:
        value: as the answer has it where it is worked out.
        exact: what comes out exactly, in base units; 0 for a date or a time.
        text: how it follows.
        places: of the facts, from which it follows; none where all is the asker's.
    """

    value: Value
    exact: Decimal
    text: str
    places: tuple[Place, ...] = ()

    @property
    def key(self) -> tuple[int, int, Decimal, str]:
        """What it is known again by."""
        return self.value.start, self.value.end, self.exact, self.text

    def gives(self, value: Value) -> bool:
        """Say whether a value of the answer is the one that was worked out."""
        own = self.value
        if (value.start, value.end) == (own.start, own.end):
            return True
        if value.kind in {EntityKind.DATE, EntityKind.TIME}:
            return value.kind is own.kind and value.normal == own.normal
        if value.magnitude is None or measure(value) != measure(own) or (value.per and value.per != own.per):
            return False
        if not value.unit and abs(value.magnitude) < _LEAST_BARE and abs(value.start - own.end) > _NEAR_CHARS:
            return False
        return value.magnitude == own.magnitude or comes_to(value, self.exact)


@dataclass(frozen=True, slots=True)
class Given:
    """What an answer may reckon with.

    Attributes:
        answer: its text.
        places: values of the facts.
        asked: values of the question.
        is_misplaced: says of a value of the answer that it stands where the facts have another.
    """

    answer: str
    places: Sequence[Place]
    asked: Sequence[Value]
    is_misplaced: Callable[[Value], bool]
    _found: dict[tuple[int, int], list[Place]] = field(default_factory=dict, compare=False)
    _alike: dict[tuple[EntityKind, str], list[Place]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        """Keep to as many values as are looked through for each one of the answer."""
        object.__setattr__(self, "places", self.places[:MOST_PLACES])
        object.__setattr__(self, "asked", self.asked[:MOST_ASKED])
        for one in self.places:
            self._alike.setdefault(measure(one.value), []).append(one)

    def alike(self, value: Value) -> Sequence[Place]:
        """Return the places of the facts that measure the same."""
        return self._alike.get(measure(value), ())

    def in_question(self, value: Value) -> bool:
        """Say whether the asker gives a value; a bare number also by how many of a thing they speak."""
        return any(same(value, one) or (is_count(value) and one.number == value.number) for one in self.asked)

    def stating(self, value: Value) -> list[Place]:
        """Return the places of the facts that have a value."""
        key = value.start, value.end
        if key not in self._found:
            self._found[key] = [] if self.is_misplaced(value) else self._stating(value)
        return self._found[key]

    def _stating(self, value: Value) -> list[Place]:
        label = label_of(self.answer, 0, value)
        found = (one for one in self.places if one.label in {"", label} and _states(value, one.value))
        return list(islice(found, _MOST_OF_ONE))


def asked_values(query: str) -> list[Value]:
    """Return the values of a question; "about 3:15" may be in the afternoon."""
    return [_either_half(value) for value in with_weekdays(query, scan_values(query))]


def _either_half(value: Value) -> Value:
    hour, _, minute = value.normal.partition(":")
    if value.kind is not EntityKind.TIME or value.alternative or not _HALF_OF_DAY.fullmatch(value.text):
        return value
    return replace(value, alternative=f"{int(hour) + 12:02d}:{minute}")


_HALF_OF_DAY: Final = re.compile(r"(?:1[01]|[1-9])[:.]\d\d")


def same(value: Value, known: Value) -> bool:
    """Say whether two values are one, of one measure: 7 is not seven days."""
    return value.kind is known.kind and value.unit == known.unit and agrees(value, known)


def _states(value: Value, known: Value) -> bool:
    """Say whether a value of the facts is one of the answer, which may leave out the unit of a large number."""
    is_bare = is_count(value) and not value.counted and (value.number or Decimal(0)) >= _LEAST_LARGE
    return same(value, known) or (is_bare and value.number == known.number and not known.counted)


def is_count(value: Value) -> bool:
    """Say whether a value is a bare number."""
    return value.kind is EntityKind.NUMBER and not value.unit
