"""Days that a constraint names in other words than a date: "before Christmas 2026", "by the end of June"."""

import re
from calendar import monthrange
from typing import Final

from services.ercp.domain.predicates import Path, Predicate, PredicateName, Text
from services.ercp.domain.predicates.model import Options
from services.ercp.domain.wording import clauses
from services.ercp.domain.wording.model import NotUnderstoodError

_MONTHS: Final = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_FEASTS: Final = {
    "christmas eve": "24 December", "christmas day": "25 December", "christmas": "25 December", "new year's eve": "31 December",
    "new year's day": "1 January", "halloween": "31 October", "valentine's day": "14 February",
}  # fmt: skip
_FEAST: Final = re.compile(rf"\b(?P<feast>{'|'.join(_FEASTS)})(?!\s+[a-z])", re.IGNORECASE)
_EDGE: Final = re.compile(
    rf"\b(?:the\s+)?(?P<edge>end|beginning|start)\s+of\s+(?P<month>{'|'.join(_MONTHS)})\b(?:\s+(?P<year>20\d\d)\b)?"
)
_EDGE_OF_YEAR: Final = re.compile(
    r"\b(?:the\s+)?(?P<edge>end|beginning|start)\s+of\s+(?:the\s+year\s+)?(?P<year>20\d\d)\b"
)
_OF_EVENT: Final = re.compile(
    r"\b(?P<when>before|after|by|until)\s+(?:the|our|your|his|her|their)\s+(?:[a-z-]+\s+){1,3}on\s+(?=(?:[A-Z][a-z]+\s+)?\d)"
)
"""Before "the exam on 12 June": the date alone counts."""
_ANY_YEAR: Final = 2023
"""A year of 365 days."""
_WEEK: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKDAY: Final = re.compile(
    rf"(?P<left>.+?)\s+(?:must|shall|should|has\s+to|have\s+to|needs?\s+to|may|can|is|are|will|(?=meets?\s|takes?\s+place|happens?\s|starts?\s|opens?\s))\s*(?P<neg>not|never|n't)?\s*"
    rf"(?:only\s+|always\s+)?(?:be|falls?|happens?|takes?\s+place|starts?|end|begin|arrive|leave|go\s+out|come\s+out|run|meets?|opens?)?"
    rf"(?:\s*held)?\s*(?P<only>only\s+)?(?:on|at)\s+(?:an?\s+|the\s+)?(?P<day>weekday|working\s+day|weekend|{'|'.join(_WEEK)})s?(?:\s+only|\s+and\s+(?:on\s+)?no\s+other\s+day)?",
    re.IGNORECASE,
)


def plainly_dated(sentence: str) -> str:
    """Return a sentence with the days that it names written as dates."""
    found = _FEAST.sub(lambda match: _FEASTS[match["feast"].lower()], sentence.replace("\u2019", "'"))
    found = _EDGE.sub(_month_edge, found)
    found = _EDGE_OF_YEAR.sub(lambda match: f"{_year_edge(match['edge'])} {match['year']}", found)
    return _OF_EVENT.sub(lambda match: f"{match['when']} ", found)


def _month_edge(match: re.Match[str]) -> str:
    month = _MONTHS.index(match["month"]) + 1
    year = int(match["year"] or _ANY_YEAR)
    if month == 2 and not match["year"]:  # noqa: PLR2004 - February ends on one of two days
        return match.group()
    day = monthrange(year, month)[1] if match["edge"] == "end" else 1
    return f"{day} {match['month']} {match['year'] or ''}".rstrip()


def _year_edge(edge: str) -> str:
    return "31 December" if edge == "end" else "1 January"


def read_weekday(sentence: str) -> tuple[Predicate, str] | None:
    """Read "must be on a Monday", "has to fall on a weekday", "never at weekends", or ``None``.

    Raises:
        NotUnderstoodError: what has to be on that day is not said.
    """
    match = _WEEKDAY.fullmatch(sentence)
    if match is None:
        return None
    words = clauses.names(match["left"])
    if not words:
        raise NotUnderstoodError("what has to be on that day is not said")
    path: Path = clauses.path_from(words)
    day = " ".join(match["day"].lower().split())
    is_free = day == "weekend"
    if day in {"weekday", "working day", "weekend"}:
        days = _WEEK[5:] if is_free != bool(match["neg"]) else _WEEK[:5]
        return Predicate(PredicateName.ONE_OF, path, Options(days)), "weekday"
    name = PredicateName.NOT_EQUAL if match["neg"] else PredicateName.EQUAL
    return Predicate(name, path, Text(day.capitalize())), "weekday"
