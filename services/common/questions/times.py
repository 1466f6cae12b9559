"""The time that a question is about: "from March 2027", "in April 2027", "next year" (ADR 0224).

Only what is to come matters here: facts that are not valid yet are held against it. No clock: a time that is reckoned
from today ("next year") has no days, and whatever is to come may be meant.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from services.common.reading.calendar import date_after
from services.common.reading.dates import DATE, YEAR, read_date

_READ_CHARS: Final = 2_000
_BEFORE_CHARS: Final = 40
_OPEN_ENDED: Final = re.compile(
    r"\b(?:from|(?:as|effective|valid)\sof|after|since)"
    r"\s(?:the\s)?(?:(?:beginning|start)\sof\s)?$",
    re.IGNORECASE,
)
_UP_TO: Final = re.compile(r"\b(?:before|until|till|up\sto|by|prior\sto)\s(?:the\s)?(?:end\sof\s)?$", re.IGNORECASE)
_SPAN: Final = re.compile(
    r"\s(?:to|until|till|through|and|up\sto|[\u2013-])\s(?:the\s)?(?:end\sof\s)?(?=(?P<year>(?:19|20)\d\d\b)?)",
    re.IGNORECASE,
)
"""What leads from the first end of a time to its last one."""
_LEADS: Final = re.compile(
    r"(?:\b(?:in|on|during|between|for|at|within|starting|beginning|effective|as|from|of|after|since|the|year|start)\s)+$",
    re.IGNORECASE,
)
_ONWARDS: Final = re.compile(r"\s*\b(?:onwards?|on)\b(?=\s*[,?.!]|\s*$)", re.IGNORECASE)
_TO_COME: Final = re.compile(
    r"\b(?:in|from|as\sof|starting)?\s?(?:the\s)?next\s(?:calendar\s|financial\s|fiscal\s)?"
    r"(?:year|quarter|month|week|spring|summer|autumn|winter)\b"
    r"|\bin\s(?:the\s)?(?:near\s)?future\b|\bin\sthe\syears?\sto\scome\b|\bonce\sthe\snew\s\w+\sapplies\b",
    re.IGNORECASE,
)
_MONTH_CHARS: Final = 7
_YEAR_CHARS: Final = 4
_QUARTER_MONTHS: Final = 3


@dataclass(frozen=True, slots=True)
class AskedTime:
    """A time that a question names.

    Attributes:
        first: its first day; ``None`` where it is reckoned from today.
        last: its last day; ``None`` where it has no end.
        rest: the question without the words of the time.
    """

    first: date | None
    last: date | None
    rest: str


def asked_time(question: str) -> AskedTime | None:
    """Return the time that a question is about, the first that it names; ``None`` where it names none, or an end."""
    read = question[:_READ_CHARS]
    for match in sorted((*DATE.finditer(read), *YEAR.finditer(read)), key=lambda one: (one.start(), -one.end())):
        days = _days(match)
        before = read[max(0, match.start() - _BEFORE_CHARS) : match.start()]
        if days is None or _UP_TO.search(before):
            continue
        leads = _LEADS.search(before)
        start = match.start() - (len(leads.group()) if leads else 0)
        first, last, end = _whole(read, match, days)
        behind = _ONWARDS.match(read, end)
        is_open = behind is not None or (end == match.end() and _OPEN_ENDED.search(before) is not None)
        return AskedTime(first, None if is_open else last, _without(question, start, behind.end() if behind else end))
    coming = _TO_COME.search(read)
    return AskedTime(None, None, _without(question, coming.start(), coming.end())) if coming else None


def _whole(read: str, match: re.Match[str], days: tuple[date, date]) -> tuple[date, date, int]:
    """Return the days of a time and where its words end, with the later one that it goes on to: "from 2020 to 2022"."""
    to = _SPAN.match(read, match.end())
    if to is None:
        return (*days, match.end())
    other = DATE.match(read, to.end())
    end = _days(other) if other else None
    if end is None and to["year"]:
        end = date(int(to["year"]), 1, 1), date(int(to["year"]), 12, 31)
    until = other.end() if other else to.end("year")
    return (days[0], end[1], until) if end is not None and end[1] >= days[1] else (*days, match.end())


def _without(question: str, start: int, end: int) -> str:
    text = f"{question[:start].rstrip(' ,')} {question[end:].lstrip()}"
    return re.sub(r"\s+(?=[?.!,])", "", text).strip(" ,")


def _days(match: re.Match[str]) -> tuple[date, date] | None:
    """Return the first and the last day of a date, month, quarter or year; ``None`` for what lacks a year."""
    if match.re is YEAR:
        year = match["y"]
        return (date(int(year), 1, 1), date(int(year), 12, 31)) if year else None
    reading = read_date(match)
    normal = reading.normal if reading is not None else ""
    if not normal[:_YEAR_CHARS].isdigit():
        return None
    if "Q" in normal:
        month = (int(normal[-1]) - 1) * _QUARTER_MONTHS + 1
        return _span(f"{normal[:_YEAR_CHARS]}-{month:02d}-01", _QUARTER_MONTHS)
    if len(normal) == _MONTH_CHARS:
        return _span(f"{normal}-01", 1)
    day = date.fromisoformat(normal)
    return day, day


def _span(first: str, months: int) -> tuple[date, date] | None:
    end = date_after(first, months, in_months=True)
    return (date.fromisoformat(first), date.fromordinal(end.toordinal() - 1)) if end is not None else None
