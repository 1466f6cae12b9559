"""From when a length of time counts (SPEC-005 §5.3, CONDITION_ALTERED, ADR 0213).

"Within 30 days of the end of your trip" beside "within 30 days of the date of the expense": the length is right, the
event is another one. Many words name one event, so that a difference alone decides nothing: it keeps a claim from being
borne out.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from services.common.reading.agreement import agrees
from services.common.reading.text_types import Value
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, roots
from services.dpe.domain.rules.rows import values_of

_TIMES: Final = frozenset({"second", "month", "working day"})
_ANCHOR: Final = re.compile(
    r"\s(?P<way>of|after|from|following|before|prior\sto|ahead\sof)\s"
    r"(?P<event>(?:(?!(?:and|or|but|if|when|which|that|unless|to|you)\b)[\w'\u2019-]{1,40}\s?){1,8})",
    re.IGNORECASE,
)
_IN_TIME: Final = re.compile(r"\b(?:within|in|after|inside|later\sthan|at\s(?:most|least))\s$", re.IGNORECASE)
_REACH: Final = 16
_BEFORE: Final = frozenset({"before", "prior to", "ahead of"})
_PLAIN: Final = frozenset(
    roots("date day end start beginning time moment point first last next day of the your its their our my this that")
)
"""Words that name no event."""


class _Counted(NamedTuple):
    value: Value
    is_back: bool
    event: frozenset[str]
    start: int
    end: int


def changed_anchor(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the event from which a claim counts a length that its source counts from another one, or ``None``."""
    for own in claim.once(_counted):
        alike = [
            (known, source)
            for source in sources
            for known in source.once(_counted)
            if agrees(own.value, known.value) and own.is_back == known.is_back
        ]
        # Any sentence that counts from this event, or names it beside the same length, clears the claim.
        beside = (one for one in sources if any(agrees(own.value, value) for value in one.once(values_of)))
        if (
            not alike
            or any(own.event & known.event for known, _ in alike)
            or any(own.event & one.known for one in beside)
        ):
            continue
        known, source = max(alike, key=lambda one: len(claim.content & one[1].content))
        return Departure(
            DistortionType.CONDITION_ALTERED,
            Rule.LIMIT,
            claim.span(own.start, own.end),
            source,
            source.span(known.start, known.end),
        )
    return None


def _counted(reading: Reading) -> tuple[_Counted, ...]:
    """Return the lengths of a sentence that are counted from an event, with the words of the event."""
    return tuple(_read(reading))


def _read(reading: Reading) -> Iterator[_Counted]:
    for value in reading.once(values_of):
        match = _ANCHOR.match(reading.text, value.end) if value.unit in _TIMES else None
        if match is None:
            continue
        before = reading.text[max(0, value.start - _REACH) : value.start]
        if match["way"].lower() == "of" and not _IN_TIME.search(before):
            continue  # "25 days of leave"
        event = roots(match["event"]) - _PLAIN
        if event:
            yield _Counted(value, match["way"].lower() in _BEFORE, event, *match.span("event"))
