"""The parts of a predicate: operators over paths, amounts, moments, hours and texts (ERCP 1.0 §8, ADR 0070, 0116).

All values are immutable and hashable. Two predicates that say the same in other units or in the other direction have
the same ``canonical`` form (``canonical.py``); ``==`` compares what was written.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum, unique
from typing import Final

MAX_NAME_CHARS: Final = 200
"""Longest path, text value, event or condition, in characters."""
MAX_CLAIM_CHARS: Final = 2_000
"""Longest claim of HasJustification, in characters: as long as a constraint's nl_text (§4.1)."""
MAX_PATH_SEGMENTS: Final = 8
MAX_NUMBER: Final = Decimal("1e30")
"""Numbers beyond this, and other than 0 below its reciprocal, are refused as absurd."""
MAX_DIGITS: Final = 30


@unique
class PredicateName(StrEnum):
    """The seven operators of §8, by the document's own names, and eight more that §10 allows (ADR 0116, 0117)."""

    EQUAL = "Equal"
    NOT_EQUAL = "NotEqual"
    LESS_THAN = "LessThan"
    GREATER_THAN = "GreaterThan"
    NO_CONTRADICTION = "NoContradiction"
    TEMPORAL_ORDER = "TemporalOrder"
    HAS_JUSTIFICATION = "HasJustification"
    BETWEEN = "Between"
    ONE_OF = "OneOf"
    CONTAINS = "Contains"
    NOT_CONTAINS = "NotContains"
    COUNT = "Count"
    MATCHES = "Matches"
    IN_WORDS = "InWords"
    SEQUENCE = "Sequence"


OF_TEXT: Final = frozenset(
    {
        PredicateName.CONTAINS,
        PredicateName.NOT_CONTAINS,
        PredicateName.COUNT,
        PredicateName.MATCHES,
        PredicateName.IN_WORDS,
    }
)
"""Those that demand something of a text itself: their left side is words or a pattern, and no solver can deny it."""


class PredicateError(ValueError):
    """A predicate that cannot be read.

    Args:
        field: the path of the argument inside the predicate, such as ``args.right`` or ``predicate_name``.
        fault: what is wrong with it, with the column where that is known.
        allowed: what would be accepted in its place.
    """

    def __init__(self, field: str, fault: str, allowed: str) -> None:
        super().__init__(f"{field}: {fault}; allowed: {allowed}")
        self.field = field
        self.fault = fault
        self.allowed = allowed


@dataclass(frozen=True, slots=True)
class Path:
    """An entity and its attribute, such as ``water.boiling_point``: lower-case segments, at least one."""

    segments: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.segments)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number and its unit as it was written; ``unit`` is pint's short name, empty for a bare number."""

    number: Decimal
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """A calendar date, or a date and time in UTC; ``has_time`` says which."""

    at: datetime
    has_time: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A value that is no number (``Paris``), an event, or a claim; white space is single, case is kept."""

    text: str


@dataclass(frozen=True, slots=True)
class Hour:
    """A time of day, in minutes since midnight."""

    minutes: int

    def __str__(self) -> str:
        return f"{self.minutes // 60:02d}:{self.minutes % 60:02d}"


@dataclass(frozen=True, slots=True)
class YearDay:
    """A day of any year, such as 15 December; written ``--12-15`` as in ISO 8601."""

    month: int
    day: int

    def __str__(self) -> str:
        return f"--{self.month:02d}-{self.day:02d}"


@dataclass(frozen=True, slots=True)
class Range:
    """The two ends of Between, both included: amounts of one dimension, dates, or times of day."""

    low: "Amount | Moment | Hour | YearDay"
    high: "Amount | Moment | Hour | YearDay"


@dataclass(frozen=True, slots=True)
class Options:
    """What OneOf leaves to choose from, two at least, as they were written."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many Count allows, both ends included; ``None`` is no bound."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """What Sequence puts one after another, three at least, as they were written."""

    texts: tuple[str, ...]


Operand = Path | Amount | Moment | Hour | YearDay | Text | Range | Options | Bounds | Steps


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two values may lie apart and still be Equal: a share of the right side, or an amount with a unit."""

    amount: Amount

    @property
    def is_share(self) -> bool:
        """True for ``2%``, or a bare number read as a share: a ratio of the right side and not a distance."""
        return self.amount.unit in {"", "%"}


@dataclass(frozen=True, slots=True)
class Predicate:
    """One predicate.

    Attributes:
        name: the operator.
        left: the value's path; the entity of NoContradiction, the earlier event of TemporalOrder, the claim of
            HasJustification, the words of Contains and InWords, what Count counts, the pattern of Matches, the steps of
            Sequence.
        right: what it is held against, or the later event, or what Matches holds its pattern against; ``None`` for the
            operators with one argument.
        tolerance: of Equal and NotEqual; ``None`` is exact after conversion of units (ADR 0070).
        inclusive: True when LessThan means at most and GreaterThan at least.
        condition: under which the predicate speaks, such as ``sea level``, or in each of which Count counts; empty for
            none.
        is_topic: True when Contains and NotContains mean what the words are about and not the words.
        extra: arguments that this version does not know, as sorted (name, canonical JSON), kept for §10.
    """

    name: PredicateName
    left: Operand
    right: Operand | None = None
    tolerance: Tolerance | None = None
    inclusive: bool = False
    condition: str = ""
    is_topic: bool = False
    extra: tuple[tuple[str, str], ...] = ()
