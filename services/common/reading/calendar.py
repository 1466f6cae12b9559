"""Reckoning with dates and times: a date and a period make a date, two dates a period."""

import calendar
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from services.common.reading.text_types import Value
from services.common.reading.units import same_span

WEEKDAYS: Final = tuple(day.lower() for day in calendar.day_name)
WEEKDAY: Final = rf"(?P<day>{'|'.join(WEEKDAYS)})"
_WEEKDAY_BEFORE: Final = re.compile(rf"\b{WEEKDAY},?\s(?:the\s|on\s)?$", re.IGNORECASE)
_WEEKDAY_CHARS: Final = 24
_DAY_S: Final = 86_400
_DAY_MIN: Final = 1_440
_MONTHS: Final = 12
_MAX_MONTHS: Final = 12_000


def weekday_before(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return the day of the week that stands right before ``end``, as ``day``, no further back than ``start``."""
    return _WEEKDAY_BEFORE.search(text, max(start, end - _WEEKDAY_CHARS), end)


def reached(start: Value, length: Value) -> Iterator[tuple[str, Value]]:
    """Yield the dates so long after and before a date, each with its sign; none for what is no full date or year."""
    if length.magnitude is None or length.magnitude != int(length.magnitude):
        return
    amount = int(length.magnitude)
    for sign, factor in (("+", 1), ("-", -1)):
        found = date_after(start.normal, factor * amount, in_months=length.unit == "month")
        if found is not None:
            yield sign, replace(start, normal=found.isoformat(), alternative="", text=found.isoformat())


def date_after(normal: str, amount: int, *, in_months: bool) -> date | None:
    """Return the day so many months or seconds after one; ``None`` for no whole days, and beyond any calendar.

    Args:
        normal: the day, ``YYYY-MM-DD``.
        amount: months, or seconds of whole days; negative is before.
        in_months: what ``amount`` counts.
    """
    try:
        day = date.fromisoformat(normal)
        if not in_months:
            return day + timedelta(seconds=amount) if amount % _DAY_S == 0 else None
        if abs(amount) > _MAX_MONTHS:
            return None
        month = day.year * _MONTHS + day.month - 1 + amount
        year, month = divmod(month, _MONTHS)
        last = calendar.monthrange(year, month + 1)[1]
        return date(year, month + 1, min(day.day, last))
    except (ValueError, OverflowError):
        return None


def time_after(start: Value, length: Value) -> Iterator[tuple[str, Value]]:
    """Yield the times of day so long after and before a time, each with its sign."""
    if length.unit != "second" or length.magnitude is None or length.magnitude % 60 or ":" not in start.normal:
        return
    hours, minutes = start.normal.split(":")
    for sign, factor in (("+", 1), ("-", -1)):
        at = int(hours) * 60 + int(minutes) + factor * int(length.magnitude // 60)
        if 0 <= at < _DAY_MIN:
            written = f"{at // 60:02d}:{at % 60:02d}"
            yield sign, replace(start, normal=written, alternative="", text=written)


def span_between(one: Value, other: Value, length: Value) -> bool:
    """Say whether a length of time is what lies between two dates, two years or two times of day."""
    if length.magnitude is None:
        return False
    if one.normal.isdigit() and other.normal.isdigit():
        return length.unit == "month" and abs(int(one.normal) - int(other.normal)) * _MONTHS == length.magnitude
    if ":" in one.normal and ":" in other.normal:
        apart = abs(minutes_of(one.normal) - minutes_of(other.normal))
        return length.unit == "second" and apart * 60 == length.magnitude
    try:
        days = abs((date.fromisoformat(one.normal) - date.fromisoformat(other.normal)).days)
    except ValueError:
        return False
    seconds = type(length.magnitude)(days * _DAY_S)
    if not days:
        return False
    return same_span(length.magnitude, seconds) if length.unit == "month" else length.magnitude == seconds


def minutes_of(normal: str) -> int:
    """Return the minute of the day of ``HH:MM``, 0 to 1439."""
    hours, minutes = normal.split(":")
    return int(hours) * 60 + int(minutes)
