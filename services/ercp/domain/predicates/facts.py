"""What a text asserts, as far as rules can tell: values, order of events, justifications, statements; with offsets.

Offsets are Unicode code points of the whole text. What no rule reads is absent, never guessed (ADR 0070).
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique
from fractions import Fraction
from operator import itemgetter

Words = tuple[str, ...]
"""Stems of the words that carry meaning, in text order."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text: ``text[start:end]``, in code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Interval:
    """The values that an assertion leaves open, in base units; ``None`` is unbounded.

    Attributes:
        low: least value.
        high: greatest value.
        low_closed: True when ``low`` itself belongs to it.
        high_closed: True when ``high`` itself belongs to it.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    low_closed: bool = True
    high_closed: bool = True

    @classmethod
    def point(cls, value: Fraction) -> "Interval":
        """Return the interval of one value."""
        return cls(value, value)

    @property
    def is_point(self) -> bool:
        """True when it holds exactly one value."""
        return self.low is not None and self.low == self.high

    @property
    def is_empty(self) -> bool:
        """True when it holds no value."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and not (self.low_closed and self.high_closed))

    def meets(self, other: "Interval") -> bool:
        """Say whether some value lies in both."""
        if self.is_point and other.is_point:  # most values are, and many are held against many
            return self.low == other.low and not (self.is_empty or other.is_empty)
        return not self.intersection(other).is_empty

    def intersection(self, other: "Interval") -> "Interval":
        """Return the values that lie in both."""
        low, low_closed = _bound(self.low, self.low_closed, other.low, other.low_closed, upper=False)
        high, high_closed = _bound(self.high, self.high_closed, other.high, other.high_closed, upper=True)
        return Interval(low, high, low_closed, high_closed)

    def within(self, other: "Interval") -> bool:
        """Say whether every value of this one lies in the other."""
        return self.intersection(other) == self


def _bound(
    first: Fraction | None, first_closed: bool, second: Fraction | None, second_closed: bool, *, upper: bool
) -> tuple[Fraction | None, bool]:
    """Return the tighter of two bounds."""
    if first is None or second is None:
        return (second, second_closed) if first is None else (first, first_closed)
    if first == second:
        return first, first_closed and second_closed
    return (first, first_closed) if (first < second) == upper else (second, second_closed)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a value belongs to.

    Attributes:
        entity: ``water``; empty when the text names none.
        attribute: ``boil point``; empty when the entity itself has the value, as in "the deadline is 30 days".
    """

    entity: Words
    attribute: Words = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """Under which circumstances an assertion holds: its words, order apart, and as they were written."""

    words: frozenset[str] = frozenset()
    text: str = ""


@dataclass(frozen=True, slots=True)
class ValueFact:
    """A value that the text gives to an attribute.

    Attributes:
        subject: entity and attribute.
        interval: the values it leaves open; ``None`` for a text value.
        dimension: of the interval, as ``units.dimension_of`` names it, or ``calendar``.
        text: the text value, lower case; empty for numbers.
        written: the value as it stands in the text.
        number: the number as written, and
        unit: its unit, when the assertion gives one value or one bound; empty otherwise.
        bound: the number of "at most 30 days", as written; empty otherwise.
        condition: under which it holds.
        negated: True when the text says that the value is not this.
        approximate: True for "about 30".
        span: the clause that asserts it.
        value_span: the value alone.
    """

    subject: Subject
    interval: Interval | None
    dimension: str
    text: str
    written: str
    number: str
    unit: str
    condition: Condition
    negated: bool
    approximate: bool
    span: Span
    value_span: Span
    bound: str = ""


@dataclass(frozen=True, slots=True)
class OrderFact:
    """One event stands before another: what is said of either, by stems and as written."""

    before: Words
    after: Words
    before_text: str
    after_text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Justification:
    """A claim and the reason that the text gives for it."""

    claim: Span
    reason: Span
    marker: str
    is_given: bool = True
    """False when only a word such as "therefore" ties the claim to a sentence that shares no word with it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A plain statement: who, what, and whether it is denied; for contradictions without numbers."""

    subject: Words
    predicate: Words
    negated: bool
    condition: Condition
    span: Span


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two attributes that the text compares: ``<``, ``<=``, ``>``, ``>=``, ``=`` or ``!=``."""

    left: Subject
    right: Subject
    relation: str
    span: Span


@dataclass(frozen=True, slots=True)
class TextFacts:
    """Everything that was read in a text, each kind in text order.

    ``is_complete`` is False when the text holds more amounts and dates than are read.
    """

    text: str
    sentences: tuple[Span, ...]
    values: tuple[ValueFact, ...] = ()
    orders: tuple[OrderFact, ...] = ()
    justifications: tuple[Justification, ...] = ()
    statements: tuple[Statement, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    is_complete: bool = True
    selected: dict[object, object] = field(default_factory=dict, init=False, compare=False, repr=False)
    """What was chosen before: many predicates ask about one attribute."""

    def values_in(self, start: int, end: int) -> list[ValueFact]:
        """Return the values of the assertions that begin in a stretch."""
        places = self.selected.get("places")
        if not isinstance(places, list):
            places = self.selected["places"] = sorted((each.span.start, at) for at, each in enumerate(self.values))
        within = places[bisect_left(places, (start, 0)) : bisect_left(places, (end, 0))]
        return [self.values[at] for _, at in sorted(within, key=itemgetter(1))]


@dataclass(frozen=True, slots=True)
class Selection:
    """Facts that speak about an attribute under a condition.

    Attributes:
        facts: in the order of their values.
        is_stated: they were stated for the condition, or for none.
        in_order: their spans stand in the same order.
    """

    facts: Sequence[ValueFact]
    is_stated: bool
    in_order: bool
    made: dict[object, object] = field(default_factory=dict, init=False, compare=False, repr=False)
    """What was made of the facts before: many predicates ask about them."""


@unique
class Holds(StrEnum):
    """What a text says of a predicate."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Whether a text obeys a predicate.

    Attributes:
        holds: TRUE and FALSE rest on the evidence; UNKNOWN says that the text does not tell.
        evidence: the parts of the text it rests on, in text order; empty with UNKNOWN unless the text is at odds
            with itself.
        why: one sentence for people.
    """

    holds: Holds
    evidence: tuple[Span, ...]
    why: str
