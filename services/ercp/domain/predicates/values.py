"""Values beside one another: as sets in base units, and whether two agree as far as they are written (ADR 0070)."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Final

from services.ercp.domain.predicates.facts import Interval
from services.ercp.domain.predicates.model import (
    Amount,
    Hour,
    Moment,
    Operand,
    Predicate,
    PredicateName,
    Range,
    Text,
    Tolerance,
    YearDay,
)
from services.ercp.domain.predicates.units import converted, distance_in_base, in_base

CALENDAR: Final = "calendar"
"""The dimension of moments: seconds since 1970 in UTC."""
CLOCK: Final = "clock"
"""The dimension of times of day: minutes since midnight."""
YEARLY: Final = "day of the year"
"""The dimension of days of any year: a number that grows with them."""
TEXTUAL: Final = "text"
"""The dimension of values that are no numbers."""
ABOUT: Final = Fraction(2, 100)
"""How far "about 30" reaches to either side, as a share: where a text says it, where ≈ demands it, and where what one
text says is demanded of another."""
ABOUT_TOLERANCE: Final = f"{100 * ABOUT}%"
"""The same as an argument of Equal."""
_ROUNDING: Final = Fraction(2, 100)
"""The most that rounding after a conversion of units may change."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = Fraction(86_400)
_MOST_DAYS: Final = 31
_MONTHS: Final = frozenset({"month", "year", "century"})
_CALENDAR_REACH: Final = Fraction(2, 100)
_WEEK_S: Final = 7 * _DAY
_FIRST_YEAR: Final = 1000
_LAST_YEAR: Final = 2999


@dataclass(frozen=True, slots=True)
class Constant:
    """A value in base units: its set, its dimension, and a text when it is one."""

    interval: Interval
    dimension: str
    text: str = ""


def constant_of(operand: Operand) -> Constant | None:  # noqa: PLR0911 - one for each kind
    """Return the value of an operand; ``None`` for an attribute, whose value the predicate does not know."""
    match operand:
        case Amount():
            base = in_base(operand)
            return Constant(Interval.point(base.value), base.dimension)
        case Moment():
            return Constant(moment_interval(operand), CALENDAR)
        case Hour():
            return Constant(Interval.point(Fraction(operand.minutes)), CLOCK)
        case YearDay():
            return Constant(Interval.point(Fraction(operand.month * _MOST_DAYS + operand.day)), YEARLY)
        case Range():
            low, high = constant_of(operand.low), constant_of(operand.high)
            assert low is not None
            assert high is not None
            return Constant(replace(high.interval, low=low.interval.low, low_closed=True), low.dimension)
        case Text():
            return Constant(Interval(), TEXTUAL, operand.text.casefold())
        case _:
            return None


def moment_interval(moment: Moment) -> Interval:
    """Return the seconds that a moment covers: a date its whole day, the end excluded."""
    start = seconds(moment.at)
    return Interval.point(start) if moment.has_time else Interval(start, start + _DAY, high_closed=False)


def seconds(at: datetime) -> Fraction:
    """Return the seconds since 1970, exactly."""
    return Fraction((at - _EPOCH) // timedelta(microseconds=1), 1_000_000)


def leeway(amount: Amount, tolerance: Tolerance | None) -> Fraction:
    """Return how far a value may lie from an amount and still be Equal, in base units."""
    if tolerance is None:
        return Fraction(0)
    if tolerance.is_share:
        share = Fraction(tolerance.amount.number) / 100
        return abs(share * distance_in_base(amount).value)
    return distance_in_base(tolerance.amount).value


def around(amount: Amount, reach: Fraction) -> Interval:
    """Return the values within a reach of an amount, in base units."""
    value = in_base(amount).value
    return Interval(value - reach, value + reach)


def about(amount: Amount) -> Interval:
    """Return the values that "about" an amount leaves open."""
    return around(amount, abs(ABOUT * distance_in_base(amount).value))


def demanded(predicate: Predicate, right: Constant) -> Interval:  # noqa: PLR0911 - one for each kind
    """Return the values that a comparison with a constant allows; for NotEqual those that it forbids."""
    value = right.interval
    if predicate.name is PredicateName.BETWEEN:
        return value
    if predicate.name in {PredicateName.EQUAL, PredicateName.NOT_EQUAL}:
        if not isinstance(predicate.right, Amount):
            return value
        return around(predicate.right, leeway(predicate.right, predicate.tolerance))
    if predicate.name is PredicateName.LESS_THAN:
        if predicate.inclusive:
            return Interval(high=value.high, high_closed=value.high_closed)
        return Interval(high=value.low, high_closed=False)
    if predicate.inclusive:
        return Interval(low=value.low)
    # After a day is from the next one on.
    return Interval(low=value.high, low_closed=not value.is_point)


def agree_as_written(first: Amount, second: Amount) -> bool:
    """Say whether two amounts in different units are one value that was converted and rounded.

    1 mile and 1.6 km are; 1 day and 30 hours are not, nor are two amounts in one unit that differ.
    """
    if first.unit == second.unit:
        return first.number == second.number
    left, right = in_base(first), in_base(second)
    if left.dimension != right.dimension:
        return False
    if left.value == right.value:
        return True
    scale = max(abs(left.value), abs(right.value))
    if abs(left.value - right.value) > _ROUNDING * scale:
        return False
    return _rounds_to(converted(left, second.unit), second.number) or _rounds_to(
        converted(right, first.unit), first.number
    )


def _rounds_to(exact: Fraction, written: Decimal) -> bool:
    """Say whether a value rounded to the last written place of a number is that number."""
    exponent = written.as_tuple().exponent
    assert isinstance(exponent, int)
    place = Fraction(10) ** min(exponent, 0)
    return abs(exact - Fraction(written)) * 2 <= place


def agreeing_within(amount: Amount, unit: str) -> Fraction:
    """Return how far from an amount, in base units, one in another unit may lie and still agree as it is written.

    What is rounded to a whole number changes by half a unit at most, and by no more than the share of the greater.
    """
    if (amount.unit in _MONTHS) != (unit in _MONTHS):
        return _CALENDAR_REACH * abs(in_base(amount).value) + _WEEK_S  # of so many days no month is
    half = max(distance_in_base(Amount(Decimal(1), each)).value for each in (amount.unit, unit)) / 2
    return min(half, abs(in_base(amount).value) * _ROUNDING / (1 - _ROUNDING))


def year_of(right: Operand | None) -> Interval | None:
    """Return the seconds of a year that is written as a bare number; ``None`` for any other number."""
    if not isinstance(right, Amount) or right.unit or right.number != int(right.number):
        return None
    year = int(right.number)
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    start, end = (seconds(datetime(each, 1, 1, tzinfo=UTC)) for each in (year, year + 1))
    return Interval(start, end, high_closed=False)


def text_key(text: str) -> str:
    """Return what text values have in common that are one, articles and case apart."""
    return text.casefold().removeprefix("the ").strip(" .")


def same_text(first: str, second: str) -> bool:
    """Say whether two text values are one, articles and case apart."""
    return text_key(first) == text_key(second)
