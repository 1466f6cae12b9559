"""The hours of another day than was asked about (SPEC-005 §5.3, DATE_SHIFTED, ADR 0225).

"Monday to Friday 9 am to 5 pm, Saturday 10 am to 2 pm": "it closes at 5 pm" is right of Friday, and wrong where
Saturday was asked about. Days stand before their times or behind them, all through one sentence. Question and sentence
both have to be of when one thing is open.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.agreement import agrees
from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Span, Value
from services.common.reading.values import scan_values
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.hours import HOUR_WORDS
from services.dpe.domain.rules.opening import DAY_WORDS, days_at, days_of
from services.dpe.domain.rules.reading import Reading, roots
from services.dpe.domain.rules.rows import values_of


@dataclass(frozen=True, slots=True)
class _Hours:
    source: Reading
    days: frozenset[str]
    times: tuple[Value, ...]


def changed_day_hours(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where an answer gives the times of a day that was not asked about, or ``None``.

    Nothing is said where the times of the day that was asked about hold one of the answer's, nor where a time was asked
    about: "5 pm is too late" gives that.
    """
    asked = days_of(claim.asked)
    times = [one for one in claim.once(values_of) if one.kind is EntityKind.TIME]
    if (
        not asked
        or not times
        or scan_values(claim.asked)
        or days_of(claim.text)
        or is_negated(claim.asked)
        or is_negated(claim.text)
    ):
        return None
    listed = [one for source in sources for one in source.once(_hours)]
    own = [one for one in listed if asked <= one.days]
    others = [one for one in listed if not asked & one.days and _is_of_event(claim, one.source)]
    if not own or not others or not all(asked <= one.days or not asked & one.days for one in listed):
        return None
    if any(_holds(one, time) for one in own for time in times) or _is_of_every_day(times, sources):
        return None
    own = [one for one in own if _is_of_event(claim, one.source)]
    if not own or not any(all(_holds(one, time) for time in times) for one in others):
        return None
    there = own[0].times[-1] if len(times) == 1 else own[0].times[0]
    span, known = claim.span(times[0].start, times[-1].end), own[0].source.span(there.start, there.end)
    return Departure(DistortionType.DATE_SHIFTED, Rule.VALUE, span, own[0].source, known, is_same=True, is_asked=True)


_EVENT: Final = re.compile(r"\b(?:open|opens|opening|close|closes|closing)\b", re.IGNORECASE)

_SHUT: Final = re.compile(r"\bclosed\s(?:on\s\w+\s)?(?:from|between|for|until|at|after|before)\b", re.IGNORECASE)
"""Of times when something is shut nobody knows when it opens."""


def _is_of_event(claim: Reading, source: Reading) -> bool:
    """Say whether a sentence and what was asked are both of when something is open, and neither names another thing."""
    if _EVENT.search(claim.asked) is None or _EVENT.search(source.text) is None or _SHUT.search(source.text):
        return False
    times = roots(" ".join(one.text for reading in (claim, source) for one in reading.once(values_of)))
    own, asked = DAY_WORDS | HOUR_WORDS | times, roots(claim.asked)
    return source.content - own <= claim.content | asked and claim.content - own <= source.content | asked


def _is_of_every_day(times: list[Value], sources: list[Reading]) -> bool:
    """Say whether a sentence that names no day gives one of the times."""
    return any(
        agrees(time, value)
        for source in sources
        if not days_of(source.text)
        for value in source.once(values_of)
        for time in times
        if value.kind is EntityKind.TIME
    )


def _holds(hours: _Hours, time: Value) -> bool:
    return any(agrees(time, other) for other in hours.times)


def _hours(source: Reading) -> tuple[_Hours, ...]:
    """Return the days of a sentence with the times that are said of them."""
    times = [one for one in source.once(values_of) if one.kind is EntityKind.TIME]
    marks: list[tuple[Span, frozenset[str] | Value]] = [(Span(one.start, one.end), one) for one in times]
    marks += days_at(source.text)
    runs = list(_runs([mark for _, mark in sorted(marks, key=lambda one: (one[0].start, one[0].end))]))
    if not runs or not times:
        return ()
    is_first = isinstance(runs[0], frozenset)
    pairs = zip(runs[::2], runs[1::2], strict=False)
    found: list[_Hours] = []
    for one, other in pairs:
        days, said = (one, other) if is_first else (other, one)
        if isinstance(days, frozenset) and isinstance(said, tuple):
            found.append(_Hours(source, days, said))
    return tuple(found)


def _runs(marks: list[frozenset[str] | Value]) -> Iterator[frozenset[str] | tuple[Value, ...]]:
    """Yield days that stand together as one set, and times that stand together as one run, in turn."""
    days, times = frozenset[str](), list[Value]()
    for mark in marks:
        if isinstance(mark, frozenset):
            if times:
                yield tuple(times)
                times = []
            days |= mark
        else:
            if days:
                yield days
                days = frozenset[str]()
            times.append(mark)
    if times:
        yield tuple(times)
    if days:
        yield days
