"""A whole beside its parts: "31 tickets: 14 bugs, 9 requests and 6 chores" (ADR 0204)."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.reckoning.lines import Line, Slip, amounts_of, is_plain, magnitude, spell, within
from services.common.reading.text_types import Span, Value

_LEAST: Final = 2
_INTRODUCES: Final = re.compile(
    r"(?:\s[a-z\d'\u2019-]{1,20}){0,5}?(?:\s?\([^()]{1,30}\))?(?::|\s[–—-]|,?\s(?:made\sup\sof|consisting\sof|consists?\sof|comprises?|comprising|"  # noqa: RUF001
    r"(?:is\s|are\s)?(?:split|divided|broken\sdown)\sinto|composed\sof|namely))\s[^.;:|\d]{0,24}"
)
_JOINS: Final = re.compile(r",|;|\band\b|\bplus\b|&|\+", re.IGNORECASE)
_TOTALS: Final = re.compile(
    r"(?:,?\s(?:and\s)?(?:in\sall|in\stotal|altogether|together|makes?|making|give[s]?|giving|comes?\sto|coming\sto|"
    r"adds?\sup\sto|adding\sup\sto|add\sto|totals?|totall?ing|a\stotal\sof|for\sa\stotal\sof|sums?\sto|is\sa\stotal\sof|=)"
    r"\s{0,2}(?:to\s|of\s|exactly\s|just\s)?)$",
    re.IGNORECASE,
)
_TOTAL_BEHIND: Final = re.compile(
    r"(?:\s[\w-]{1,20}){0,2}\s(?:in\sall|in\stotal|altogether|all\stold)\b", re.IGNORECASE
)
_NO_PARTS: Final = re.compile(
    r"\b(?:or|up\sto|at\s(?:least|most)|about|around|roughly|nearly|almost|over|under|above|below|each|every|per|apiece|"
    r"including|includes?|among|of\s(?:which|them|these|whom|those)|respectively|maximum|minimum|from|between|than|if|"
    r"when|where|unless|then|another|extra|additional|further|after|before|without|not|except|times|by|instead|was|were|"
    r"previously|formerly|rather|both)\b|=",
    re.IGNORECASE,
)
_ROUGH: Final = re.compile(r"(?:million|billion|thousand|bn|mn|\d[mk])\b|\d[.]\d", re.IGNORECASE)
_ROUNDED: Final = Decimal("0.01")
_NEAR: Final = (Decimal("0.6"), Decimal("1.6"))
"""A slip is near: what is farther from the whole was hardly meant as its parts."""
_OF_TIME: Final = frozenset({"second", "month", "working day"})
"""Bare numbers are no parts of a length of time: "under 45 years: 10 in one group, 8 in the other"."""
_LEFT: Final = re.compile(r"\b(?:leaves?|leaving|remains?|remaining|(?:is|are)\sleft)\b", re.IGNORECASE)
_OF_WHOLE: Final = re.compile(r"\b(?:of|out\sof)\s(?:the\s|its\s|our\s|their\s|these\s|those\s|all\s)?$", re.IGNORECASE)


def wrong_parts(line: Line) -> Iterator[Slip]:
    """Yield the parts that do not make the whole that they stand behind or before, and a wrong remainder."""
    amounts = amounts_of(line)
    if len(amounts) <= _LEAST:
        return
    yield from _behind(line, amounts)
    yield from _before(line, amounts)
    yield from _left(line, amounts)


def _behind(line: Line, amounts: Sequence[Value]) -> Iterator[Slip]:
    for at, whole in enumerate(amounts[:-_LEAST]):
        if not is_plain(whole) or _INTRODUCES.fullmatch(line.between(whole, amounts[at + 1])) is None:
            continue
        parts = amounts[at + 1 :]
        if _are_parts(line, whole, parts) and _NO_PARTS.search(line.text, whole.end, line.end) is None:
            yield from _held(whole, parts, wrong=Span(whole.start, parts[-1].end))
        return


def _before(line: Line, amounts: Sequence[Value]) -> Iterator[Slip]:
    whole, parts = amounts[-1], amounts[:-1]
    gap = line.between(parts[-1], whole)
    is_total = _TOTALS.search(gap) is not None or _TOTAL_BEHIND.match(line.text, whole.end, line.end) is not None
    if not is_total or not is_plain(whole) or not _are_parts(line, whole, parts):
        return
    if _NO_PARTS.search(line.text, parts[0].start, parts[-1].end) is None:
        yield from _held(whole, parts, wrong=Span(whole.start, whole.end))


def _left(line: Line, amounts: Sequence[Value]) -> Iterator[Slip]:
    """Yield "of the 500 EUR, 300 EUR go to rent, which leaves 100 EUR"."""
    whole, spent, rest = amounts[0], amounts[1:-1], amounts[-1]
    told = line.text[spent[-1].end : line.end]
    if _OF_WHOLE.search(line.before(whole)) is None or _LEFT.search(told) is None:
        return
    if not _are_parts(line, whole, [*spent, rest], joined=False):
        return
    if _NO_PARTS.search(line.text, whole.end, line.end) is not None:
        return
    left = magnitude(whole) - sum(map(magnitude, spent), Decimal(0))
    if left > 0 and left != magnitude(rest) and not _rounded(left, magnitude(rest), amounts):
        sums = " - ".join(each.text for each in (whole, *spent))
        yield Slip(within(amounts[:-1]), Span(rest.start, rest.end), f"{sums} is {_said(left, rest)}, not {rest.text}")


def _are_parts(line: Line, whole: Value, parts: Sequence[Value], *, joined: bool = True) -> bool:
    """Say whether amounts can be the parts of another: of its kind, plain, one behind the other, and none above it."""
    if len(parts) < _LEAST or not all(map(is_plain, parts)):
        return False
    if any(each.kind not in {whole.kind, EntityKind.NUMBER} for each in parts):
        return False
    bare = {not each.unit for each in parts}
    units = {each.unit for each in parts if each.unit}
    if len(bare) > 1 or (units and units != {whole.unit}) or (bare == {True} and whole.unit in _OF_TIME):
        return False
    if not whole.unit and (not whole.counted or magnitude(whole) == len(parts)):
        return False
    if joined and not all(_JOINS.search(line.between(one, other)) for one, other in pairwise(parts)):
        return False
    return all(0 < magnitude(each) < _whole(whole, parts) for each in parts)


def _whole(whole: Value, parts: Sequence[Value]) -> Decimal:
    """Return a whole in the unit of its parts: bare numbers behind "42 km" are kilometres."""
    if whole.unit and not parts[0].unit:
        assert whole.number is not None
        return whole.number
    return magnitude(whole)


def _held(whole: Value, parts: Sequence[Value], *, wrong: Span) -> Iterator[Slip]:
    total, stated = sum(map(magnitude, parts), Decimal(0)), _whole(whole, parts)
    if total == stated or _rounded(total, stated, [whole, *parts]) or not _NEAR[0] * stated < total < _NEAR[1] * stated:
        return
    sums = " + ".join(each.text for each in parts)
    yield Slip(Span(whole.start, whole.end), wrong, f"{sums} is {_said(total, parts[0])}, not {whole.text}")


def _said(total: Decimal, like: Value) -> str:
    """Return a sum in the unit that a part is written in."""
    number = (
        total if like.magnitude in {None, Decimal(0)} or like.number is None else total * like.number / magnitude(like)
    )
    return spell(number)


def _rounded(first: Decimal, second: Decimal, values: Sequence[Value]) -> bool:
    """Say whether two totals differ by no more than rounded figures may."""
    is_rough = any(_ROUGH.search(each.text) for each in values)
    return is_rough and abs(first - second) <= _ROUNDED * max(abs(first), abs(second))
