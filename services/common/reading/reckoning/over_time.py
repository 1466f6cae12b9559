"""What an amount comes to over a length of time: "at £55 a month, a year comes to £660" (ADR 0204)."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from services.common.reading.reckoning.lines import Line, Slip, as_written, is_plain, magnitude
from services.common.reading.text_types import Span, Value

_UNIT: Final = "minute|hour|day|week|month|quarter|year"
_MONTHS: Final = {"month": Decimal(1), "quarter": Decimal(3), "year": Decimal(12)}
_SECONDS: Final = {"minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
"""Units that make no other one here: a week has five days of work or seven."""
_PER: Final = rf"\s?(?:/\s?|per\s|an?\s|each\s|every\s)(?:{_UNIT})\b"
_MAKES: Final = (
    r"(?:comes?\s(?:up\s)?to|adds?\sup\sto|amounts?\sto|works?\sout\s(?:at|as|to)|is|are|costs?|makes?|totals?|would\s(?:be|cost)"
    r"|will\s(?:be|cost))\s(?:a\stotal\sof\s|exactly\s)?"
)
_COUNT: Final = r"(?:an?|one|(?:a|the)\s(?:whole|full)|[\w-]{1,12})"
_WORDS: Final = r"(?:\s(?:of|for|with|on)\s[^\d,.;:]{1,40}?)?"
_RATE_FIRST: Final = re.compile(
    rf"{_PER},?\s(?:so\s|that\smeans\s|then\s)?(?P<length>{_COUNT}\s(?P<unit>{_UNIT})s?){_WORDS}\s{_MAKES}",
    re.IGNORECASE,
)
_LENGTH_FIRST: Final = re.compile(
    rf"(?:^|[,;:]\s|\bfor\s)(?P<length>{_COUNT}\s(?P<unit>{_UNIT})s?){_WORDS}\s(?:at|[x×*])\s$",  # noqa: RUF001 - as people write it
    re.IGNORECASE,
)
_THEN: Final = re.compile(rf"{_PER},?\s(?:{_MAKES}|which\s{_MAKES})|{_PER}\s=\s", re.IGNORECASE)
_ONE: Final = re.compile(r"(?:an?|one|the)\s", re.IGNORECASE)
_FAR: Final = 120
_NEAR: Final = Decimal("0.01")
"""A rate is rounded: £8.33 a month are £100 a year."""
_REST: Final = re.compile(
    r"\b(?:plus|less|minus|discount\w*|free|extra|except|before|without|from|off|if|paid|sav(?:es?|ing)|half|each|people|persons?"
    r"|children|adults?|guests?|members?|students?|hours\sa|days\sa|working|weekdays?)\b",
    re.IGNORECASE,
)
"""A sentence with one of these reckons with more than the rate."""


def over_time(line: Line) -> Iterator[Slip]:
    """Yield totals that a rate of the same sentence does not come to over the length that it names."""
    if not any(value.per for value in line.values) or _REST.search(line.words):
        return
    for at, each in enumerate(line.values):
        if not each.per or each.magnitude is None or each.approximate or each.floor:
            continue
        for whole in line.values[at + 1 : at + 3]:
            times = _times(line, each, whole)
            if times is None or whole.unit != each.unit or not is_plain(whole):
                continue
            expected = magnitude(each) * times[0]
            if abs(expected - magnitude(whole)) > _NEAR * expected:
                why = f"{each.text} per {each.per} over {times[1]} is {as_written(whole, expected)}, not {whole.text}"
                yield Slip(Span(each.start, each.end), Span(whole.start, whole.end), why)
            break


def _times(line: Line, each: Value, whole: Value) -> tuple[Decimal, str] | None:
    """Return how many of a rate's periods a length has, with the length in words."""
    if whole.start - each.end > _FAR:
        return None
    told = _RATE_FIRST.fullmatch(line.text, each.end, whole.start)
    if told is None and _THEN.fullmatch(line.text, each.end, whole.start):
        told = _LENGTH_FIRST.search(line.text, max(line.start, each.start - _FAR), each.start)
    if told is None:
        return None
    start, end = told.span("length")
    count = next((one.magnitude for one in line.values if one.start >= start and one.end <= end), None)
    unit, per = told["unit"].lower(), each.per
    if unit in _MONTHS and per in _MONTHS:
        times = _MONTHS[unit] / _MONTHS[per] if count is None else count / _MONTHS[per]
    elif unit == per and unit in _SECONDS:
        times = Decimal(1) if count is None else count / _SECONDS[unit]
    else:
        return None
    return (times, told["length"]) if count is not None or _ONE.match(told["length"]) else None
