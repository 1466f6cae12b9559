"""The days and months that a text names, as stretches of the calendar (ADR 0204).

A day without a month is of the month named before it, a month without a year of the only year that the text names.
"""

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from services.common.reading.reckoning.days import LEAP_YEAR, named_days
from services.common.reading.reckoning.lines import lines_of
from services.common.reading.text_types import Span

_MONTHS: Final = {name.lower(): at for at, name in enumerate(calendar.month_name) if name}
_IN_MONTH: Final = re.compile(
    rf"\b(?:in|during)\s(?:early\s|late\s|mid-)?(?P<month>{'|'.join(_MONTHS)})\b(?!\s\d)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A day or month that words name: ``first`` and ``last`` are days, of a leap year where no year is named."""

    span: Span
    first: date
    last: date
    has_year: bool

    def before(self, other: "Stretch") -> bool | None:
        """Say whether all of it lies before another one; ``None`` when they meet or only one has a year."""
        if self.has_year != other.has_year or (self.first <= other.last and other.first <= self.last):
            return None
        return self.last < other.first


def stretches(text: str) -> Sequence[Stretch]:
    """Return the days and months that a text names, in text order; linear in the text."""
    found = [
        Stretch(Span(each.value.start, each.value.end), each.day, each.day, each.has_year)
        for days in named_days(lines_of(text)).values()
        for each in days
    ]
    year = {each.first.year for each in found if each.has_year}
    for match in _IN_MONTH.finditer(text):
        month = _MONTHS[match["month"].lower()]
        of = next(iter(year)) if len(year) == 1 else LEAP_YEAR
        last = calendar.monthrange(of, month)[1]
        span = Span(match.start("month"), match.end("month"))
        found.append(Stretch(span, date(of, month, 1), date(of, month, last), len(year) == 1))
    return sorted(found, key=lambda each: each.span.start)
