"""Which end of a time or of dates a question asks for: "When does it close?" of "9:00-18:00" (ADR 0216).

A place that gives both ends bears out either; an answer of one value is held against the end that is asked for alone.
Of a time for which something is closed, blocked or off the ends are the other way round: such a place is left as it is.
"""

import re
from dataclasses import replace
from typing import Final

from services.common.ports.recognition import EntityKind
from services.dpe.domain.asked_places import ENDS, AskedPlace, joined, stems

_DO: Final = r"\b(?:when|what time|(?:what|which) (?:day|date)) (?:do|does|did|will) (?:[^\s?]{1,30} ){1,8}"
_VERB_ENDS: Final = r"(?![-\w])(?! (?:again|for lunch|date|time))"
_FIRST: Final = re.compile(
    rf"(?i:{_DO})(?:open|start|begin|commence){_VERB_ENDS}|(?i:\b(?:opening time|start date|how early|from when)\b)"
)
_LAST: Final = re.compile(
    rf"(?i:{_DO})(?:close|shut|end|finish){_VERB_ENDS}|(?i:\b(?:closing time|end date|how late|until when)\b)"
)
_AWAY: Final = re.compile(
    r"\b(?:clos\w{1,4}|shut\w{0,6}|block\w{0,3}|breaks?|outage|out of|off|maintenance|\w{0,8}works|suspen\w{1,6}|quiet"
    r"|holidays?|vacation|leave|no|not|never|without|lunch|unavailable|interrupt\w{0,4}|stop\w{0,4})\b",
    re.IGNORECASE,
)
"""With one of these, in its own words or its names, a place gives the time for which something is not."""
_TIMES: Final = frozenset({EntityKind.TIME, EntityKind.DATE})
_BEGINS: Final = frozenset(stems("open opening start begin commence"))
_FINISHES: Final = frozenset(stems("close closing shut end finish"))
"""What a question calls an end; a place that gives both is called by the one that is asked for."""


def asked_end(question: str) -> int | None:
    """Return 0 for a question that asks when something begins, -1 for when it ends, ``None`` for any other."""
    begins, ends = _FIRST.search(question) is not None, _LAST.search(question) is not None
    if begins is ends:
        return None
    return 0 if begins else -1


def at_end(place: AskedPlace, end: int) -> AskedPlace:
    """Return a place that gives both ends of one time with the one that is asked for, and called by it; else itself."""
    values = place.values
    names = place.text if place.cell is None else f"{place.cell.label} {place.cell.head}"
    if len(values) != ENDS or not all(value.kind in _TIMES for value in values) or _AWAY.search(names):
        return place
    if not joined(place.text, place.span.start, values):
        return place
    called = _FINISHES if end else _BEGINS
    return replace(place, values=(values[end],), own=place.own | called, names=place.names | called)
