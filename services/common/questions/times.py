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
    r"(?:(?:\b(?:starting|beginning|effective|as|valid)\s)?\b(?:from|of)|\b(?:after|since|onwards?\sfrom))"
    r"\s(?:the\s)?(?:(?:beginning|start)\sof\s)?$",
    re.IGNORECASE,
)
_UP_TO: Final = re.compile(r"\b(?:before|until|till|up\sto|by|prior\sto)\s(?:the\s)?(?:end\sof\s)?$", re.IGNORECASE)
_LEADS: Final = re.compile(
    r"(?:\b(?:in|on|during|for|at|within|starting|beginning|effective|as|from|of|after|since|the|year|start)\s)+$",
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
        behind = _ONWARDS.match(read, match.end())
        first, last = days
        open_ended = behind is not None or _OPEN_ENDED.search(before) is not None
        rest = _without(question, start, behind.end() if behind else match.end())
        return AskedTime(first, None if open_ended else last, rest)
    coming = _TO_COME.search(read)
    return AskedTime(None, None, _without(question, coming.start(), coming.end())) if coming else None


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
