"""Whether a bound holds at its own value: "more than 5 nights" and "5 nights or more" (SPEC-005 §5.3, ADR 0213)."""

import re
from typing import Final

from services.common.reading.text_types import Value
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading
from services.dpe.domain.rules.rows import values_of

_UP: Final = "more|longer|later|higher|greater|larger|older|heavier|taller"
_DOWN: Final = "less|fewer|shorter|earlier|lower|younger|smaller|lighter"
_REACH: Final = 32
_NOT: Final = r"(?<!\bno\s)(?<!\bnot\s)(?<!\bnever\s)"
_MORE_BEFORE: Final = rf"{_NOT}\b(?:(?:{_UP})\sthan|over|above|exceed(?:s|ing)|in\sexcess\sof)\s$"
_LESS_BEFORE: Final = rf"{_NOT}\b(?:(?:{_DOWN})\sthan|under|below)\s$"
_LEAST_BEFORE: Final = rf"\b(?:at\sleast|minimum\sof|(?:no|not)\s(?:{_DOWN})\sthan)\s$"
_MOST_BEFORE: Final = rf"\b(?:at\smost|up\sto|maximum\sof|(?:no|not)\s(?:{_UP})\sthan|not\sexceed(?:ing)?)\s$"
_MORE_BEHIND: Final = rf"\s?(?:[a-z]{{1,20}}\s)?or\s(?:{_UP}|over|above)\b|\s?(?:and|or)\s(?:over|above)\b"
_LESS_BEHIND: Final = rf"\s?(?:[a-z]{{1,20}}\s)?or\s(?:{_DOWN}|under|below)\b"
_BEFORE: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), edge)
    for pattern, edge in (
        (_MORE_BEFORE, (True, False)),
        (_LESS_BEFORE, (False, False)),
        (_LEAST_BEFORE, (True, True)),
        (_MOST_BEFORE, (False, True)),
    )
)
_BEHIND: Final = (
    (re.compile(_MORE_BEHIND, re.IGNORECASE), (True, True)),
    (re.compile(_LESS_BEHIND, re.IGNORECASE), (False, True)),
)
"""Words before and behind a value, with what they say: a lower bound, and whether the value is within."""


def changed_edge(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the bound that a claim includes and its nearest source does not, or the other way round, or ``None``."""
    for key, (value, includes) in claim.once(_edges).items():
        alike = [(source.once(_edges)[key], source) for source in sources if key in source.once(_edges)]
        if not alike:
            continue
        (known, known_includes), source = max(alike, key=lambda one: len(claim.content & one[1].content))
        if known_includes != includes:
            span = claim.span(value.start, value.end)
            known_span = source.span(known.start, known.end)
            return Departure(DistortionType.CONDITION_ALTERED, Rule.LIMIT, span, source, known_span)
    return None


def _edges(reading: Reading) -> dict[tuple[str, bool], tuple[Value, bool]]:
    """Return the bounds of a sentence by value and side, each with whether the value is within."""
    found: dict[tuple[str, bool], tuple[Value, bool]] = {}
    for value in reading.once(values_of):
        edge = _edge(reading, value)
        if edge is not None:
            found.setdefault((value.normal, edge[0]), (value, edge[1]))
    return found


def _edge(reading: Reading, value: Value) -> tuple[bool, bool] | None:
    """Return whether a value is a lower bound, and whether it is within; ``None`` where it is no bound."""
    before = reading.text[max(0, value.start - _REACH) : value.start]
    found = [edge for pattern, edge in _BEFORE if pattern.search(before)]
    found += [edge for pattern, edge in _BEHIND if pattern.match(reading.text, value.end)]
    return found[0] if len(set(found)) == 1 else None
