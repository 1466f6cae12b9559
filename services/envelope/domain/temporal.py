"""Whether a query asks for what is true now (SPEC-003 §6.4)."""

import re
from typing import Final

_INDICATORS: Final = re.compile(
    r"\b(?:current|currently|latest|newest|most recent|recent|recently|today|nowadays|presently|at present|as of now"
    r"|right now|up[- ]to[- ]date|this (?:year|month|week|quarter))\b",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(r"\b(20\d\d)\b")
_FIRST_NAMED_YEAR: Final = 2026
"""The year that the specification gives as an example; later years are the same case."""


def is_time_sensitive(query: str, present_year: int) -> bool:
    """Say whether the query holds a temporal indicator: a word such as "current", or a year that is not past.

    Args:
        query: the user's query.
        present_year: years from this one on count, and from 2026 on in any case.
    """
    if _INDICATORS.search(query):
        return True
    earliest = min(present_year, _FIRST_NAMED_YEAR)
    return any(int(year) >= earliest for year in _YEAR.findall(query))
