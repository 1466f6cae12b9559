"""One amount told in two ways: other units, other periods, products, units that a word rules out (ADR 0204)."""

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.reckoning.lines import Line, Slip, as_written, is_plain, magnitude, spell
from services.common.reading.reckoning.shares import IS
from services.common.reading.text_types import Span, Value
from services.common.reading.units import UNIT_WORDS, in_base_units

_NEAR: Final = Decimal("0.06")
"""Converted amounts are rounded: 5 miles are 8 km."""
_ROUGH: Final = Decimal("0.3")
"""What stands in brackets beside an amount is rounded to a whole number even where that is small: 3 ft (1 m)."""
_DEGREE: Final = "°c"
_FIFTHS: Final = Decimal("1.8")
_OR: Final = re.compile(r",\s(?:or|i\.e\.,?|meaning)\s|\s?\(\s?(?:=\s?)?", re.IGNORECASE)
_CLOSES: Final = re.compile(r"\s?[.,;)]|\s?$")
_IN_SECONDS: Final = {
    "second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800, "month": 2_629_800, "quarter": 7_889_400,
    "year": 31_557_600,
}  # fmt: skip
_PERIOD: Final = {name: Decimal(seconds) for name, seconds in _IN_SECONDS.items()}
_PER_THEN: Final = re.compile(
    r"\s?(?:[^\W\d_]{1,20}\s){0,3}?(?:/|per\s|an?\s|each\s|every\s)\s?(?:second|minute|hour|day|week|month|quarter|year)",
    re.IGNORECASE,
)
_TIMES: Final = re.compile(
    r"\s(?:[a-z]{2,20}\s){1,2}(?:of|at|with)\s|\s?[x×*]\s?",  # noqa: RUF001 - as people write it
    re.IGNORECASE,
)
_SIGN: Final = re.compile(r"^\s?[x×*]", re.IGNORECASE)  # noqa: RUF001 - as people write it
_MAKE: Final = re.compile(
    r"(?:\s(?:each|apiece|a\shead))?(?:,?\s(?:that\sis|i\.e\.,?|which\sis|which\smakes|makes?|making|comes?\sto|in\sall|"
    r"in\stotal|altogether|a\stotal\sof|for\sa\stotal\sof|totall?ing)|\s=)\s(?:a\stotal\sof\s|in\sall\s)?",
    re.IGNORECASE,
)
_IN_ALL: Final = re.compile(r"\s(?:in\sall|in\stotal|altogether|all\stold)\b", re.IGNORECASE)
_MOST_COUNTED: Final = 1_000
_LENGTH_UNITS: Final = frozenset({"meter"})
_TIME_UNITS: Final = frozenset({"second", "month", "working day"})
_DIMENSIONS: Final = frozenset(
    {
        "meter",
        "meter ** 2",
        "meter ** 3",
        "kilogram",
        "bit",
        "kilogram * meter ** 2 / second ** 3",
        "second",
        "month",
        "°c",
    }
)
"""Units that surely are of one dimension; what else a value may be of is not judged."""
_BEHIND: Final = re.compile(
    r"\s(?:in\s)?(?P<word>long|tall|wide|deep|thick|in\s(?:length|width|height|depth))\b", re.IGNORECASE
)
_WEIGHS: Final = re.compile(r"\bweigh(?:s|ed|ing|t\sof|t\sis)?\s(?:about\s|only\s|just\s|exactly\s)?$", re.IGNORECASE)
_AREA: Final = re.compile(r"\b(?:an?|the|floor)\sarea\s(?:of|is)\s$", re.IGNORECASE)
_VOLUME: Final = re.compile(r"\ba\svolume\sof\s$", re.IGNORECASE)
_SPELLED: Final = 3
_UNIT_WORD: Final = "|".join(re.escape(word) for word in UNIT_WORDS if len(word) >= _SPELLED and word.isalpha())
_IN_UNIT: Final = re.compile(
    rf"\W?in\s(?P<unit>{_UNIT_WORD}),?\s(?:that|this|it)(?:\s(?:is|makes|comes\sto)|'s|\u2019s)\s$", re.IGNORECASE
)
_LAST: Final = 24
_BESIDE: Final = 6


def unequal(line: Line, before: Line | None) -> Iterator[Slip]:
    """Yield amounts that are called equal and are not, and units that cannot be; ``before`` precedes the sentence."""
    yield from _told_twice(line)
    yield from _rates(line)
    yield from _products(line)
    yield from _in_pieces(line)
    yield from _impossible_units(line)
    if before is not None:
        yield from _converted(before, line)


def _told_twice(line: Line) -> Iterator[Slip]:
    """Yield "34 kg, or 3,400 g": one amount in two units."""
    for at, (first, second) in enumerate(pairwise(line.values)):
        if first.kind is not EntityKind.QUANTITY or first.unit != second.unit or not first.unit:
            continue
        if at and line.values[at - 1].unit == first.unit and first.start - line.values[at - 1].end <= _BESIDE:
            continue  # one of several, or the inches behind the feet
        if not is_plain(first) or not is_plain(second) or _unit_word(first) == _unit_word(second):
            continue
        gap = line.between(first, second)
        if ":" in gap or not (IS.fullmatch(gap) or _OR.fullmatch(gap)) or _CLOSES.match(line.text, second.end) is None:
            continue
        if "(" in gap and line.text[second.end : second.end + 1] != ")":
            continue
        if first.unit == _DEGREE and _is_difference(first, second):
            continue
        if not _near(magnitude(first), magnitude(second), _ROUGH if "(" in gap else _NEAR):
            why = f"{first.text} is {as_written(second, magnitude(first))}, not {second.text}"
            yield Slip(Span(first.start, first.end), Span(second.start, second.end), why)


def _rates(line: Line) -> Iterator[Slip]:
    """Yield "600 calls an hour, that is ten a second": one rate for two periods."""
    for first, second in pairwise(line.values):
        if not first.per or not second.per or first.per == second.per or first.number is None or second.number is None:
            continue
        if first.approximate or second.approximate or first.floor or second.floor or first.unit != second.unit:
            continue
        if first.per not in _PERIOD or second.per not in _PERIOD:
            continue
        told = _PER_THEN.match(line.text, first.end, second.start)
        if told is None or IS.fullmatch(line.text, told.end(), second.start) is None:
            continue
        expected = magnitude(first) * _PERIOD[second.per] / _PERIOD[first.per]
        if not _near(expected, magnitude(second)):
            why = f"{first.text} a {first.per} is {as_written(second, expected)} a {second.per}, not {second.text}"
            yield Slip(Span(first.start, first.end), Span(second.start, second.end), why)


def _products(line: Line) -> Iterator[Slip]:
    """Yield "4 payments of 250 EUR, 900 EUR in all"."""
    for count, each, whole in zip(line.values, line.values[1:], line.values[2:], strict=False):
        if (
            count.kind is not EntityKind.NUMBER
            or each.unit != whole.unit
            or not all(map(is_plain, (count, each, whole)))
        ):
            continue
        if _TIMES.fullmatch(line.between(count, each)) is None or magnitude(count) > _MOST_COUNTED:
            continue
        gap = line.between(each, whole)
        if gap.strip() == "=" and _SIGN.search(line.between(count, each)):
            continue  # what is written in signs alone is read as a whole, see ``written.wrong_equations``
        is_total = gap.strip() == "," and _IN_ALL.match(line.text, whole.end, line.end) is not None
        if not is_total and _MAKE.fullmatch(gap) is None:
            continue
        expected = magnitude(count) * magnitude(each)
        if expected != magnitude(whole) and not (whole.approximate and _near(expected, magnitude(whole))):
            why = f"{count.text} × {each.text} is {as_written(whole, expected)}, not {whole.text}"  # noqa: RUF001
            yield Slip(Span(count.start, each.end), Span(whole.start, whole.end), why)


def _in_pieces(line: Line) -> Iterator[Slip]:
    """Yield "600 mg, which comes to four 200 mg tablets"."""
    for whole, count, each in zip(line.values, line.values[1:], line.values[2:], strict=False):
        if (
            count.kind is not EntityKind.NUMBER
            or not each.unit
            or each.unit != whole.unit
            or not all(map(is_plain, (whole, count, each)))
        ):
            continue
        is_of = _PIECES.fullmatch(line.between(count, each)) is not None
        gap = line.between(whole, count)
        is_same = IS.fullmatch(gap) is not None and gap.strip(" ,").lower() not in {"so", "hence"}
        if not is_of or not is_same or magnitude(count) > _MOST_COUNTED:
            continue
        expected = magnitude(count) * magnitude(each)
        if expected != magnitude(whole):
            why = f"{count.text} × {each.text} is {as_written(whole, expected)}, not {whole.text}"  # noqa: RUF001
            yield Slip(Span(whole.start, whole.end), Span(count.start, each.end), why)


_PIECES: Final = re.compile(r"\s(?:(?:[a-z]{2,20}\s){1,2}(?:of|at)\s)?|\s?[x×]\s?", re.IGNORECASE)  # noqa: RUF001


def _impossible_units(line: Line) -> Iterator[Slip]:
    for value in line.values:
        if value.kind is not EntityKind.QUANTITY or value.unit not in _DIMENSIONS:
            continue
        behind = _BEHIND.match(line.text, value.end, line.end)
        before = line.text[max(line.start, value.start - _LAST) : value.start]
        why = _unfit(value, behind["word"].lower() if behind is not None else "", before)
        if why:
            yield Slip(Span(value.start, value.end), Span(value.start, value.end), why)


def _unfit(value: Value, dimension: str, before: str) -> str:
    """Say what an amount is not: what the word behind it or the words before it call it."""
    fits = (
        _LENGTH_UNITS | _TIME_UNITS
        if dimension == "long"
        else _LENGTH_UNITS | ({"second"} if "in" in dimension else set())
    )
    if dimension and value.unit not in fits:
        return f"{value.text} is no length"
    named = next((name for name, (words, _) in _CALLED.items() if words.search(before)), "")
    return f"{value.text} is no {named}" if named and value.unit != _CALLED[named][1] else ""


_CALLED: Final = {
    "weight": (_WEIGHS, "kilogram"),
    "area": (_AREA, "meter ** 2"),
    "volume": (_VOLUME, "meter ** 3"),
}


def _converted(before: Line, line: Line) -> Iterator[Slip]:
    """Yield "We need 6 m3. In litres that is 600."."""
    for value in line.values[:1]:
        told = _IN_UNIT.search(line.before(value))
        if told is None or value.kind is not EntityKind.NUMBER or value.number is None or value.approximate:
            continue
        amount, unit = in_base_units(value.number, told["unit"])
        same = [each for each in before.values if each.unit == unit and is_plain(each)]
        if len({magnitude(each) for each in same}) == 1 and not _near(magnitude(same[0]), amount):
            right = spell(magnitude(same[0]) / (amount / value.number))
            why = f"{same[0].text} is {right} {told['unit']}, not {value.text}"
            yield Slip(Span(same[0].start, same[0].end), Span(value.start, value.end), why)


def _unit_word(value: Value) -> str:
    return value.text.split()[-1].lstrip("0123456789.,'\u2019").casefold().rstrip("s")


def _is_difference(first: Value, second: Value) -> bool:
    """Say whether two temperatures are one difference: warmer by 1.5 °C is warmer by 2.7 °F."""
    one, other = first.number or Decimal(0), second.number or Decimal(0)
    return any(_near(a * _FIFTHS, b) for a, b in ((one, other), (other, one)))


def _near(first: Decimal, second: Decimal, share: Decimal = _NEAR) -> bool:
    return abs(first - second) <= share * max(abs(first), abs(second))
