"""From when to when something is open (SPEC-005 §5.3, DATE_SHIFTED, ADR 0225).

"Open from 9 am to 5 pm" opens at nine and closes at five: whoever says that it opens at five takes the other end,
though the time stands in the sentence; and "closes at 17:00" denies nothing of "open".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.agreement import agrees
from services.common.reading.text_types import Span, Value
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, roots
from services.dpe.domain.rules.rows import values_of

_BEGINS: Final = re.compile(r"\b(?:opens?|starts?|begins?)\s(?:\w+\s)?(?:at|from)\s$", re.IGNORECASE)
_ENDS: Final = re.compile(r"\b(?:closes?|shuts?|ends?|finish(?:es)?)\s(?:\w+\s)?at\s$", re.IGNORECASE)
_NAMES_END: Final = re.compile(r"\b(?:opens?|starts?|begins?|closes?|shuts?|ends?|finish(?:es)?)\s", re.IGNORECASE)
"""Without one of these no end of anything is said, and no value of the claim need be read."""
_RANGE: Final = re.compile(r"\s?(?:to|until|till|and|-|\u2013)\s?$", re.IGNORECASE)
_HELD: Final = re.compile(r"\b(?:open|opens|opening|hours|lasts?|runs?|held)\b", re.IGNORECASE)
HOUR_WORDS: Final = roots(
    "open opens opening close closes closing shut shuts start starts begin begins end ends finish finishes hours"
)
_REACH: Final = 24
_ENDS_OF_ONE: Final = 2
"""With a third time a sentence speaks of another day, or of another thing."""


@dataclass(frozen=True, slots=True)
class _Hours:
    source: Reading
    begins: Value
    ends: Value


def changed_hour(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says that something opens when it closes, or the other way round, or ``None``."""
    said = _said(claim)
    if said is None:
        return None
    value, is_begin = said
    listed = list(_hours(claim, sources))
    if any(agrees(value, one.begins if is_begin else one.ends) for one in listed):
        return None
    for one in listed:
        known, other = (one.begins, one.ends) if is_begin else (one.ends, one.begins)
        if agrees(value, other):
            own, there = claim.span(value.start, value.end), one.source.span(known.start, known.end)
            return Departure(DistortionType.DATE_SHIFTED, Rule.VALUE, own, one.source, there, is_same=True)
    return None


def told_hours(claim: Reading, sources: list[Reading]) -> tuple[Reading, ...]:
    """Return the sentences by whose hours all holds that a claim says of an end of them, or none."""
    said = _said(claim)
    if said is None:
        return ()
    value, is_begin = said
    listed = _hours(claim, sources)
    return tuple(one.source for one in listed if agrees(value, one.begins if is_begin else one.ends))


def _said(claim: Reading) -> tuple[Value, bool] | None:
    """Return the one time of a claim with whether something begins then; ``None`` where nothing begins or ends."""
    if _NAMES_END.search(claim.text) is None:
        return None
    times = [value for value in claim.once(values_of) if value.kind is EntityKind.TIME]
    if len(times) != 1:
        return None
    before = claim.text[max(0, times[0].start - _REACH) : times[0].start]
    if _BEGINS.search(before):
        return times[0], True
    return (times[0], False) if _ENDS.search(before) else None


def _hours(claim: Reading, sources: list[Reading]) -> Iterator[_Hours]:
    """Yield the range of times of sentences and their parts with no time besides, which hold what the claim says."""
    rest = claim.content - HOUR_WORDS - roots(" ".join(value.text for value in claim.once(values_of)))
    for source in sources:
        if not rest or not rest <= source.known or not _HELD.search(source.text):
            continue
        listed = [value for value in source.once(values_of) if value.kind is EntityKind.TIME]
        for span, known in _parts(source):
            times = [value for value in listed if span.start <= value.start < span.end]
            is_range = len(times) == _ENDS_OF_ONE and _RANGE.fullmatch(source.text[times[0].end : times[1].start])
            if is_range and rest <= known:
                yield _Hours(source, times[0], times[1])


def _parts(source: Reading) -> Iterator[tuple[Span, frozenset[str]]]:
    """Yield a sentence and its parts between semicolons, each with what it says under what stands before its colon."""
    text, at = source.text, 0
    yield Span(0, len(text)), source.known
    lead_in = source.context | roots(text[: max(0, text.find(": "))])
    for part in text.split(";"):
        yield Span(at, at + len(part)), roots(part) | lead_in
        at += len(part) + 1
