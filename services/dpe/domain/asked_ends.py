"""Which end of a time or of dates a question asks for: "When does it close?" of "9:00-18:00" (ADR 0216).

A place that gives both ends bears out either; an answer of one value is held against the end that is asked for alone.
"""

import re
from dataclasses import replace
from typing import Final

from services.common.ports.recognition import EntityKind
from services.dpe.domain.asked_places import AskedPlace, stems

_ASKS_WHEN: Final = re.compile(
    r"\b(?:when|(?:what|which) (?:time|date|day)|how late|how early|(?:opening|closing) time|(?:start|end) date)\b",
    re.IGNORECASE,
)
_FIRST: Final = re.compile(
    r"\b(?:(?:do|does|did|will)\b[^?]{0,80}\b(?:open|start|begin|commence)|opens|starts|begins|commences|how early"
    r"|opening time|start date|from when|from what time)\b",
    re.IGNORECASE,
)
_LAST: Final = re.compile(
    r"\b(?:(?:do|does|did|will)\b[^?]{0,80}\b(?:close|shut|end|finish|stop|expire)|closes|shuts|ends|finishes|stops"
    r"|expires|how late|closing time|end date|(?:until|till|by) (?:when|what time|what date))\b",
    re.IGNORECASE,
)
_JOINED: Final = re.compile(r"\s?(?:to|until|till|[-–—])\s?(?:the\s)?", re.IGNORECASE)  # noqa: RUF001 - dashes of ranges
_TIMES: Final = frozenset({EntityKind.TIME, EntityKind.DATE})
_ENDS: Final = 2
_WORDS: Final = frozenset(stems("open opening start begin commence close closing shut end finish stop expire"))
"""What a question calls an end; the place that gives both is called so, too."""


def asked_end(question: str) -> int | None:
    """Return 0 for a question that asks when something begins, -1 for when it ends, ``None`` for any other."""
    if not _ASKS_WHEN.search(question):
        return None
    begins, ends = _FIRST.search(question) is not None, _LAST.search(question) is not None
    if begins is ends:
        return None
    return 0 if begins else -1


def at_end(place: AskedPlace, end: int) -> AskedPlace:
    """Return a place that gives both ends of one time with the one that is asked for, called so; any other as it is."""
    values = place.values
    if len(values) != _ENDS or not all(value.kind in _TIMES for value in values):
        return place
    between = place.text[values[0].end - place.span.start : values[1].start - place.span.start]
    if not _JOINED.fullmatch(between):
        return place
    return replace(place, values=(values[end],), own=place.own | _WORDS, names=place.names | _WORDS)
