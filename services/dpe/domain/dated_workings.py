"""Days and times of day that an answer reaches from one of the asker's by a length of the facts (ADR 0207).

"At least three working days before the start, so by Monday 13 October" where the asker names Thursday 16 October; "for
another 60 minutes. If they finish at 3:15 pm, until 4:15 pm". Working days leave out Saturdays and Sundays: on which
day of the week one is, the year or the asker says, and a day of the week that the answer names has to be that one.
"""

import calendar
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.agreement import agrees, readings
from services.common.reading.calendar import date_after, minutes_of
from services.common.reading.places import Place
from services.common.reading.reckoning.lines import Line
from services.common.reading.terms import terms_without
from services.common.reading.text_types import Value

_WORKING: Final = "working day"
_LENGTHS: Final = frozenset({"second", "month", _WORKING})
_DAYS: Final = tuple(day.lower() for day in calendar.day_name)
_DAY: Final = re.compile(rf"\b(?P<day>{'|'.join(_DAYS)}),?\s(?:the\s|on\s)?$", re.IGNORECASE)
_DAY_CHARS: Final = 24
_NO_YEAR: Final = 2_001
"""Stands for a year that nobody names: most have no 29 February."""
_MOST_DAYS: Final = 400
_WEEK: Final = 7
_FRIDAY: Final = 4
_DAY_MIN: Final = 1_440
_SEVERAL: Final = 2
_MOST_LENGTHS: Final = 60
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_NEXT: Final = re.compile(r"\b(?:next|following|year\safter|one\safter)\b", re.IGNORECASE)

Dated = tuple[Value, str, tuple[Place, ...]]


def dated(lines: Sequence[Line], asked: Sequence[Value], places: Sequence[Place]) -> Iterator[Dated]:
    """Yield the days and times of an answer that lie a length of the facts, which it names, from one of the asker's."""
    values = [(line, value) for line in lines for value in line.values]
    lengths = [
        place
        for place in places
        if place.value.unit in _LENGTHS
        and not place.value.per
        and any(value.unit == place.value.unit and agrees(value, place.value) for _, value in values)
    ]
    lengths = lengths[:_MOST_LENGTHS]
    starts = [(start, place) for place in lengths for start in _starts(lines, asked, place)]
    for line, value in values:
        if value.kind is EntityKind.TIME:
            yield from _times(value, asked, lengths)
        elif _YEAR.fullmatch(value.text):
            yield from _years(line, value, asked)
        elif value.kind is EntityKind.DATE and not value.alternative:
            yield from _dates(line, value, starts)


def _times(value: Value, asked: Sequence[Value], lengths: Sequence[Place]) -> Iterator[Dated]:
    for start in asked:
        if start.kind is not EntityKind.TIME:
            continue
        for place in lengths:
            length = place.value.magnitude
            if place.value.unit != "second" or length is None or length % 60:
                continue
            for sign, factor in (("+", 1), ("-", -1)):
                ends = [minutes_of(one) + factor * int(length // 60) for one in readings(start) if ":" in one]
                if ":" in value.normal and minutes_of(value.normal) in [one % _DAY_MIN for one in ends]:
                    yield value, f"{start.text} {sign} {place.value.text} = {value.text}", (place,)


def _dates(line: Line, value: Value, starts: Sequence[tuple[Value, Place]]) -> Iterator[Dated]:
    for start, place in starts:
        first = _day(start)
        own = _day(value, first)
        if first is None or own is None or (start.normal.startswith("--") and not value.normal.startswith("--")):
            continue
        weekday = _weekday(start, first)
        told = _DAY.search(line.text, max(line.start, value.start - _DAY_CHARS), value.start)
        if told and weekday is not None and _DAYS[(weekday + (own - first).days) % _WEEK] != told["day"].lower():
            continue
        for sign, factor in (("+", 1), ("-", -1)):
            if own == _reached(first, weekday, place.value, factor):
                yield value, f"{start.text} {sign} {place.value.text} = {value.text}", (place,)


def _starts(lines: Sequence[Line], asked: Sequence[Value], length: Place) -> list[Value]:
    """Return the days that an answer may count a length from: the only one of the asker, or what it binds to it.

    "Your minimum term starts on the activation date, 10 October" has words of the sentence with the length; what the
    asker says happened on another day has none.
    """
    days = [one for one in asked if one.kind is EntityKind.DATE and not one.alternative and _day(one) is not None]
    if len({one.normal for one in days}) < _SEVERAL:
        return days
    saying = [
        (value, terms_without(line.text, line.start, line.end, line.values)) for line in lines for value in line.values
    ]
    return [one for one in days if any(agrees(value, one) and words & length.sentence for value, words in saying)]


def _years(line: Line, value: Value, asked: Sequence[Value]) -> Iterator[Dated]:
    """Yield the year of a day or month of the asker's, and where it is called so the next one."""
    for start in asked:
        year = start.normal[:4]
        if start.kind is not EntityKind.DATE or not year.isdigit() or start.normal == year:
            continue
        is_next = _NEXT.search(line.words) is not None and value.text == str(int(year) + 1)
        if value.text == year or is_next:
            yield value, f"{start.text}{' + 1 year' if is_next else ''}: {value.text}", ()


def _day(value: Value, like: date | None = None) -> date | None:
    """Return the day that a date names; without a year it is of that of another day."""
    text = value.normal
    try:
        return date.fromisoformat(f"{like.year if like else _NO_YEAR}-{text[2:]}" if text.startswith("--") else text)
    except ValueError:
        return None


def _weekday(value: Value, day: date) -> int | None:
    """Return on which day of the week a day is: by its year, or by what stands before it."""
    if not value.normal.startswith("--"):
        return day.weekday()
    return _DAYS.index(value.counted) if value.counted in _DAYS else None


def with_weekdays(text: str, values: Sequence[Value]) -> list[Value]:
    """Return values with the day of the week that stands before a date without a year, as what it counts."""
    told = ((value, _DAY.search(text, max(0, value.start - _DAY_CHARS), value.start)) for value in values)
    return [
        replace(value, counted=found["day"].lower()) if found and value.kind is EntityKind.DATE else value
        for value, found in told
    ]


def _reached(first: date, weekday: int | None, length: Value, factor: int) -> date | None:
    amount = length.magnitude
    if amount is None or amount != int(amount):
        return None
    if length.unit != _WORKING:
        return date_after(first.isoformat(), factor * int(amount), in_months=length.unit == "month")
    if weekday is None or not 0 < amount <= _MOST_DAYS:
        return None
    left, moved = int(amount), 0
    while left:
        moved += factor
        left -= (weekday + moved) % _WEEK <= _FRIDAY
    return first + timedelta(days=moved)
