"""Days and times of day that an answer reaches from one of the asker's by a length of the facts (ADR 0207).

"At least three working days before the start, so by Monday 13 October" where the asker names Thursday 16 October; "for
another 60 minutes. If they finish at 3:15 pm, until 4:15 pm". Working days leave out Saturdays and Sundays: on which
day of the week one is, the year or the asker says, and a day of the week that the answer names has to be that one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.agreement import agrees, readings
from services.common.reading.calendar import WEEKDAYS, date_after, minutes_of, weekday_before
from services.common.reading.places import Place
from services.common.reading.reckoning.lines import Line
from services.common.reading.terms import terms_without
from services.common.reading.text_types import Value

_WORKING: Final = "working day"
_LENGTHS: Final = frozenset({"second", "month", _WORKING})
_BESIDE_CHARS: Final = 24
_NO_YEAR: Final = 2_001
"""Stands for a year that nobody names: most have no 29 February."""
_MOST_DAYS: Final = 400
_WEEK: Final = 7
_FRIDAY: Final = 4
_DAY_MIN: Final = 1_440
_SEVERAL: Final = 2
_MOST_LENGTHS: Final = 8
"""Lengths of one sentence that are counted with."""
_MOST_SECONDS: Final = 10_000_000_000
"""Some three centuries; of months and days more than a calendar has."""
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_NEXT: Final = re.compile(r"\b(?:next|following|year\safter|one\safter)\b", re.IGNORECASE)

Dated = tuple[Value, str, tuple[Place, ...]]
Said = tuple[Value, frozenset[str]]


def dated(lines: Sequence[Line], asked: Sequence[Value], places: Sequence[Place]) -> Iterator[Dated]:
    """Yield the days and times of an answer that lie a length of the facts from one of the asker's.

    The sentence names the length, and says whether it comes before or after; where it does not, nothing follows.
    """
    days = [one for one in asked if one.kind is EntityKind.DATE and not one.alternative and _day(one) is not None]
    saying = _saying(lines, days)
    known = [one for one in places if one.value.unit in _LENGTHS and not one.value.per and _is_countable(one.value)]
    for line in lines:
        ways = list(islice(_ways(line, known), _MOST_LENGTHS))
        ends = _ends(ways, days, saying)
        for value in line.values:
            if value.kind is EntityKind.TIME:
                yield from _times(value, asked, ways)
            elif _YEAR.fullmatch(value.text):
                yield from _years(line, value, asked)
            elif value.kind is EntityKind.DATE and not value.alternative:
                yield from _dates(line, value, ends)


Way = tuple[Place, int]
"""A length of the facts, and whether it is counted on (1) or back (-1)."""


def _ways(line: Line, places: Sequence[Place]) -> Iterator[Way]:
    """Yield the lengths that a sentence names, with the direction that it says."""
    for value in line.values:
        if value.unit not in _LENGTHS or value.per:
            continue
        factor = _direction(line, value)
        there = [one for one in places if one.value.unit == value.unit and agrees(value, one.value)] if factor else []
        yield from ((one, factor) for one in {one.value.normal: one for one in there}.values())


def _direction(line: Line, length: Value) -> int:
    """Return 1 where a length is counted on from a day, -1 where it is counted back, 0 where that is not clear."""
    before, behind = line.before(length)[-_BESIDE_CHARS:], line.behind(length)[:_BESIDE_CHARS]
    is_on = _ON_BEFORE.search(before) is not None or _ON_BEHIND.match(behind) is not None
    is_back = _BACK_BEHIND.match(behind) is not None
    return int(is_on) - int(is_back)


_ON_BEFORE: Final = re.compile(
    r"\b(?:within|after|another|you\shave(?:\s(?:only|just|exactly|up\sto))?)\s(?:(?:the|a|first|full|next|these|those)\s){0,2}$",
    re.IGNORECASE,
)
_ON_BEHIND: Final = re.compile(
    r"\s(?:after|later|from\s(?:the\s(?:moment|time)|then|when|that)|of\s[a-z]{3,20}ing)\b", re.IGNORECASE
)
_BACK_BEHIND: Final = re.compile(r"(?:\s(?:in|or|more)){0,2}\s(?:before|prior\sto|ahead)\b", re.IGNORECASE)
"""How English says to which side of a day a length lies."""


def _is_countable(length: Value) -> bool:
    """Say whether a length is one that a calendar has."""
    amount = length.magnitude
    return amount is not None and 0 < amount <= _MOST_SECONDS


def _times(value: Value, asked: Sequence[Value], ways: Sequence[Way]) -> Iterator[Dated]:
    for start in asked:
        if start.kind is not EntityKind.TIME or ":" not in value.normal:
            continue
        for place, factor in ways:
            length = place.value.magnitude
            if place.value.unit != "second" or length is None or length % 60:
                continue
            ends = [minutes_of(one) + factor * int(length // 60) for one in readings(start) if ":" in one]
            if minutes_of(value.normal) in [one % _DAY_MIN for one in ends]:
                yield value, _shown(start, (place, factor), value), (place,)


def _shown(start: Value, way: Way, value: Value) -> str:
    place, factor = way
    return f"{start.text} {'+' if factor > 0 else '-'} {place.value.text} = {value.text}"


def _ends(ways: Sequence[Way], days: Sequence[Value], saying: Sequence[Said]) -> list[tuple[Value, Way, date, date]]:
    """Return where each length of a sentence leads from each day that it may be counted from."""
    found: list[tuple[Value, Way, date, date]] = []
    for way in ways:
        for start in _starts(days, saying, way[0]):
            first = _day(start)
            end = _reached(first, _weekday(start, first), way[0].value, way[1]) if first is not None else None
            if first is not None and end is not None:
                found.append((start, way, first, end))
    return found


def _dates(line: Line, value: Value, ends: Sequence[tuple[Value, Way, date, date]]) -> Iterator[Dated]:
    for start, way, first, end in ends:
        if _day(value, first) != end or (start.normal.startswith("--") and not value.normal.startswith("--")):
            continue
        weekday = _weekday(start, first)
        told = weekday_before(line.text, line.start, value.start)
        if told and weekday is not None and WEEKDAYS[(weekday + (end - first).days) % _WEEK] != told["day"].lower():
            continue
        yield value, _shown(start, way, value), (way[0],)


def _saying(lines: Sequence[Line], days: Sequence[Value]) -> list[Said]:
    """Return the asker's days in the answer, each with the words of its sentence."""
    return [
        (value, terms_without(line.text, line.start, line.end, line.values))
        for line in (lines if len({one.normal for one in days}) >= _SEVERAL else ())
        for value in line.values
        if value.kind is EntityKind.DATE
    ]


def _starts(days: Sequence[Value], saying: Sequence[Said], length: Place) -> list[Value]:
    """Return the days that an answer may count a length from: the only one of the asker, or what it binds to it.

    "Your minimum term starts on the activation date, 10 October" has words of the sentence with the length; what the
    asker says happened on another day has none.
    """
    if len({one.normal for one in days}) < _SEVERAL:
        return list(days)
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
    return WEEKDAYS.index(value.counted) if value.counted in WEEKDAYS else None


def with_weekdays(text: str, values: Sequence[Value]) -> list[Value]:
    """Return values with the day of the week that stands before a date without a year, as what it counts."""
    told = ((value, weekday_before(text, 0, value.start)) for value in values)
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
    day = first.toordinal() + moved
    return date.fromordinal(day) if 1 <= day <= date.max.toordinal() else None
