"""Days of the week, beginnings with a length and an end, and steps in order: what a calendar says (ADR 0204)."""

import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.calendar import WEEKDAY, WEEKDAYS, date_after, minutes_of, weekday_before
from services.common.reading.reckoning.lines import Line, Slip, magnitude, neighbours
from services.common.reading.text_types import Span, Value

_BEHIND: Final = re.compile(rf"\s?(?:,\s|\(\s?|,\swhich\sis\s(?:a\s)?|\sis\sa\s|,\sa\s){WEEKDAY}\b", re.IGNORECASE)
_NTH: Final = re.compile(r"(?P<n>\d{1,2})(?:st|nd|rd|th)")
_FROM: Final = re.compile(
    r"\b(?:from|starting|beginning|starts?|begins?|as\sof|commencing|effective)\s(?:on\s|from\s)?$", re.IGNORECASE
)
_UNTIL: Final = re.compile(
    r"\b(?:until|till|to|through|ends?\son|ending\son|expires?\son|up\sto|runs\sout\son|over\son)\s(?:and\sincluding\s)?$",
    re.IGNORECASE,
)
_LASTS: Final = re.compile(
    r"\b(?:for|lasts?|lasting|runs?(?:\sfor)?|term\s(?:of|is)|takes?|of)\s(?:a\s(?:term|period)\sof\s)?$", re.IGNORECASE
)
_SO: Final = re.compile(r"(?:so|that\sis|thus|hence|therefore|it|this|you|the\slast\sday)\b", re.IGNORECASE)
_RANGE_LENGTH: Final = re.compile(
    r"\s?[,(–—:]?\s?(?:(?:that\sis|that's|which\sis|which\smakes|i\.e\.,?|so|or|a\stotal\sof|in\sall|for|lasting)\s)?"  # noqa: RUF001
    r"(?:a\s(?:period|span|total)\sof\s)?"
)
_THAT_MAKES: Final = re.compile(
    r"(?:that|this|which|it)\s(?:makes|is|means|gives)\s(?:a\stotal\sof\s|us\s)?$", re.IGNORECASE
)
_LATER: Final = re.compile(
    r"\b(?:follows?|followed|then(?!-)|afterwards|after\sthat|later|subsequently|finally|thereafter)\b", re.IGNORECASE
)
_NO_ORDER: Final = re.compile(
    r"\b(?:before|earlier|until|by|if|unless|since|from|valid|between|than|ago|instead|previous\w*|originally|was|were|"
    r"had|last|back|dated|ended|ending|regarding|of\sthe)\b",
    re.IGNORECASE,
)
_DAY_S: Final = 86_400
_SLACK_DAYS: Final = 3
_WEEK_DAYS: Final = 7
_WORKING_WEEK: Final = 2
"""A week may end with the day before its first day's, or on a Friday."""
_BOTH: Final = 2
_COUNTED_DAYS: Final = frozenset({"night", "day"})
LEAP_YEAR: Final = 2000
"""Stands for the year that a text does not name: it has every day."""
_REACH: Final = 4
"""A day without a month is of the month of a date so many sentences back at most."""


@dataclass(frozen=True, slots=True)
class Day:
    """A value that names a day; ``day`` is that of a leap year where the text names no year."""

    value: Value
    day: date
    has_year: bool


def wrong_days(lines: Sequence[Line]) -> Iterator[Slip]:
    """Yield what the calendar denies, over all sentences of a text."""
    named = named_days(lines)
    for at, line in enumerate(lines):
        yield from _weekdays(line, named[at])
        yield from _ranges(line, named[at])
        yield from _order(line, named[at])
    by_start = {line.start: named[at] for at, line in enumerate(lines)}
    for first, second in neighbours(lines):
        yield from _terms(first, second, by_start)
        yield from _nights(first, second, by_start[first.start])


def named_days(lines: Sequence[Line]) -> dict[int, list[Day]]:
    """Return the days that each sentence names, by its number; one without a month takes that of a date before it."""
    found: dict[int, list[Day]] = {}
    last: tuple[int, Day] | None = None
    for at, line in enumerate(lines):
        days = found[at] = []
        for value in line.values:
            day = _day(value)
            if day is None and last is not None and at - last[0] <= _REACH:
                day = _inherited(line, value, last[1])
            if day is not None:
                days.append(day)
                last = (at, day)
    return found


def _day(value: Value) -> Day | None:
    if value.kind is not EntityKind.DATE or value.alternative:
        return None
    has_year = not value.normal.startswith("--")
    try:
        return Day(value, date.fromisoformat(value.normal if has_year else f"{LEAP_YEAR}-{value.normal[2:]}"), has_year)
    except ValueError:
        return None


def _inherited(line: Line, value: Value, last: Day) -> Day | None:
    """Return the day of "the 14th" behind "8 June 2027"; of the next month where it would lie before."""
    nth = _NTH.fullmatch(value.text)
    if nth is None or not line.before(value).lower().endswith("the "):
        return None
    month = last.day.replace(day=1)
    if int(nth["n"]) < last.day.day:
        return None
    try:
        return Day(value, month.replace(day=int(nth["n"])), last.has_year)
    except ValueError:
        return None


def _weekdays(line: Line, days: Sequence[Day]) -> Iterator[Slip]:
    for each in days:
        value = each.value
        if not each.has_year or value.kind is not EntityKind.DATE:
            continue
        told = weekday_before(line.text, line.start, value.start)
        told = told or _BEHIND.match(line.text, value.end, line.end)
        if told is not None and WEEKDAYS[each.day.weekday()] != told["day"].lower():
            right = calendar.day_name[each.day.weekday()]
            place = Span(min(told.start(), value.start), max(told.end(), value.end))
            yield Slip(
                Span(value.start, value.end), _trimmed(line.text, place), f"{value.text} is a {right}, no {told['day']}"
            )


def _trimmed(text: str, span: Span) -> Span:
    stretch = text[span.start : span.end]
    return Span(span.start + len(stretch) - len(stretch.lstrip(" ,(")), span.start + len(stretch.rstrip()))


def _ranges(line: Line, days: Sequence[Day]) -> Iterator[Slip]:
    """Yield a length behind a range that is another: "from 02:10 to 03:40, two and a half hours"."""
    by_value = {id(each.value): each for each in days}
    for start, end, length in zip(line.values, line.values[1:], line.values[2:], strict=False):
        if length.kind not in {EntityKind.QUANTITY, EntityKind.NUMBER} or length.approximate or length.floor:
            continue
        if _FROM.search(line.before(start)) is None or _UNTIL.fullmatch(line.between(start, end).strip() + " ") is None:
            continue
        if _RANGE_LENGTH.fullmatch(line.between(end, length)) is None:
            continue
        why = _clock_why(start, end, length)
        one, other = by_value.get(id(start)), by_value.get(id(end))
        if one is not None and other is not None:
            why = _days_why((other.day - one.day).days, length)
        if why:
            yield Slip(Span(start.start, end.end), Span(length.start, length.end), why)


def _clock_why(start: Value, end: Value, length: Value) -> str:
    if start.kind is not EntityKind.TIME or end.kind is not EntityKind.TIME or start.alternative or end.alternative:
        return ""
    if length.unit != "second":
        return ""
    minutes = (minutes_of(end.normal) - minutes_of(start.normal)) % (24 * 60)
    if magnitude(length) == minutes * 60:
        return ""
    return f"from {start.text} to {end.text} is {minutes // 60} h {minutes % 60} min, not {length.text}"


def _days_why(days: int, length: Value) -> str:
    """Say why a number of days, first to last, is not a length; empty where it may be."""
    if days <= 0:
        return ""
    if length.counted in _COUNTED_DAYS and length.number is not None:
        fits = length.number == days or (length.counted == "day" and length.number == days + 1)
    elif length.unit == "second" and magnitude(length) % _DAY_S == 0:
        told = int(magnitude(length) // _DAY_S)
        fits = told in {days, days + 1} or (told % _WEEK_DAYS == 0 and abs(told - days) <= _WORKING_WEEK)
    elif length.unit == "month":
        fits = abs(magnitude(length) * Decimal("30.4375") - days) <= _SLACK_DAYS + magnitude(length) / 4
    else:
        return ""
    return "" if fits else f"it is {days} days from the first to the last, not {length.text}"


def _terms(first: Line, second: Line, by_start: Mapping[int, Sequence[Day]]) -> Iterator[Slip]:
    """Yield an end that does not lie so long behind the beginning as both sentences say.

    Args:
        first: says when something begins and how long it lasts.
        second: says when it ends.
        by_start: the days that each sentence names, by where it begins.
    """
    if _SO.match(second.words) is None:
        return
    start, length = _begun(first, by_start[first.start]), _lasting(first)
    ends = [each for each in by_start[second.start] if _UNTIL.search(second.before(each.value))]
    if start is None or length is None or len(ends) != 1 or start.has_year != ends[0].has_year:
        return
    reached = _after(start, length)
    if reached is not None and abs((ends[0].day - reached).days) > _SLACK_DAYS:
        why = f"{length.text} from {start.value.text} end on {reached.isoformat()}, not on {ends[0].value.text}"
        value = ends[0].value
        yield Slip(Span(first.start, first.end), Span(value.start, value.end), why)


def _begun(line: Line, days: Sequence[Day]) -> Day | None:
    return days[0] if len(days) == 1 and _FROM.search(line.before(days[0].value)) else None


def _lasting(line: Line) -> Value | None:
    found = [each for each in line.values if each.unit in {"second", "month"} and not each.per]
    if len(found) != 1 or found[0].approximate or found[0].floor or _LASTS.search(line.before(found[0])) is None:
        return None
    return found[0]


def _after(start: Day, length: Value) -> date | None:
    amount = magnitude(length)
    if amount != int(amount) or amount <= 0:
        return None
    return date_after(start.day.isoformat(), int(amount), in_months=length.unit == "month")


def _nights(first: Line, second: Line, days: Sequence[Day]) -> Iterator[Slip]:
    """Yield "out on 8 June, back on the 14th. That makes five nights in Porto and two in Lisbon"; days of the first."""
    counts = [each for each in second.values if each.kind is EntityKind.NUMBER and not each.unit]
    if len(days) != _BOTH or days[0].has_year != days[1].has_year or not counts or len(counts) != len(second.values):
        return
    if _THAT_MAKES.fullmatch(second.before(counts[0])) is None or counts[0].counted != "night":
        return
    if any(each.counted not in {"", "night"} or each.approximate or each.number is None for each in counts):
        return
    nights = sum(int(each.number or 0) for each in counts)
    apart = (days[1].day - days[0].day).days
    if apart > 0 and nights != apart:
        why = f"from {days[0].value.text} to {days[1].value.text} there are {apart} nights, not {nights}"
        yield Slip(Span(first.start, first.end), Span(counts[0].start, counts[-1].end), why)


def _order(line: Line, days: Sequence[Day]) -> Iterator[Slip]:
    """Yield a step that follows another and has an earlier day."""
    for first, second in pairwise(days):
        between = line.between(first.value, second.value)
        if first.has_year != second.has_year or second.day >= first.day or _LATER.search(between) is None:
            continue
        if _NO_ORDER.search(line.words) is None:
            value = second.value
            why = f"{value.text} is before {first.value.text}, and the text puts it after"
            yield Slip(Span(first.value.start, first.value.end), Span(value.start, value.end), why)
