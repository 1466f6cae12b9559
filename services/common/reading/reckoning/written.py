"""Reckonings that a text writes out: "60% of €49.00 is €29.40, and €29.40 × 8 = €235.20" (ADR 0207).

Only what has its operators in figures or in the words for them is read, and only what comes out right is yielded. What
does not is a slip where it is written with a sign of equality (ADR 0204), and else nothing is said of it. Whether the
operands are right is asked of others.
"""  # noqa: RUF002 - the sign of a product

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.numerals import rounds_to
from services.common.reading.ratios import SHARE
from services.common.reading.reckoning.lines import AMOUNTS, Line, Slip, as_written, is_plain, magnitude
from services.common.reading.text_types import Span, Value

_WORDS: Final = r"(?:\s[a-z][a-z'\u2019-]{0,19}){0,3}"
_CODE: Final = r"\s?(?:\*\*)?\s?(?:[A-Z]{2,4}\s)?"
"""What may stand right before a figure: emphasis, and letters that stand for a currency."""
_TIMES: Final = re.compile(rf"{_WORDS}\s?(?:[x×*]|times|multiplied\sby){_CODE}")  # noqa: RUF001 - as people write it
_PLUS: Final = re.compile(rf"{_WORDS}\s(?:\+|plus){_CODE}")
_MINUS: Final = re.compile(rf"{_WORDS}\s(?:[-−–]|minus|less)\s{_CODE}")  # noqa: RUF001 - as people write it
_OF: Final = re.compile(rf",?(?:\swhich)?\s(?:of|on)(?:\s(?:the|your|an?|its|this|that))?{_CODE}")
_AT: Final = re.compile(rf"{_WORDS}\sat{_CODE}")
_SAYS: Final = (
    r"(?:\s?=|\s?\||:|(?:,?\s(?:which|that|it|this))?\s(?:is|are|makes?|gives?|equals?|comes\sto|amounts\sto"
    r"|works\sout\s(?:at|as|to)|would\sbe|will\sbe)|,?\sthat's|,\sor|\s?\()"
)
_ROUGHLY: Final = r"(?:\san?\s[a-z]{1,20}\sof)?(?:\s(?:exactly|roughly|about|around|just|only))?"
_RESULT: Final = rf"(?:\s?\([^()|]{{1,40}}\))?{_SAYS}{_ROUGHLY}{_CODE}"
_IS: Final = re.compile(rf"{_WORDS}{_RESULT}")
_MOST_WORDS: Final = r"(?:\s[a-z][a-z'\u2019-]{0,19}){0,7}"
_ON_WHAT: Final = re.compile(rf"{_MOST_WORDS}{_RESULT}")
"""Behind a share that stands alone: "1.80% a year on the whole amount, which is roughly £180"."""
_OPERATORS: Final = (("×", _TIMES), ("+", _PLUS), ("-", _MINUS), ("of", _OF), ("at", _AT))  # noqa: RUF001 - as above
_GOES_BEFORE: Final = re.compile(
    r"(?:\s[x×*]\s|\d\s?[x×]\s?|[×+÷/]\s?|\d\s?[-−–]\s?)(?:[A-Z]{2,4}\s)?$"  # noqa: RUF001 - as above
)
"""Before the first operand: what stands there is reckoned with as well, and was not read."""
_EQUALS: Final = re.compile(rf"\s?={_CODE}")
_BESIDE: Final = 8
_NEAR: Final = Decimal("0.01")
"""A slip is more than a rounded figure makes."""
_MOST_CHARS: Final = 90
_HUNDRED: Final = Decimal(100)
_CENTS: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Equation:
    """A reckoning that comes out right.

    Attributes:
        operands: what is reckoned with, in text order.
        operator: "×", "+", "-" or "%".
        result: what comes out, as the text has it.
        exact: what comes out exactly, in the result's base units.
        text: the reckoning as it is shown.
    """  # noqa: RUF002 - the sign of a product

    operands: tuple[Value, ...]
    operator: str
    result: Value
    exact: Decimal
    text: str


@dataclass(frozen=True, slots=True)
class OpenShare:
    """A share and what it is said to come to, of something that stands elsewhere: "9.5% for pension (KM 1,045)"."""

    share: Value
    result: Value


def equations(line: Line) -> Iterator[Equation]:
    """Yield the reckonings of a sentence or row that come out right; linear in its values."""
    values, at = line.values, 0
    while at < len(values):
        operator, end = _run(line, at)
        is_whole = operator and not _GOES_BEFORE.search(line.before(values[at])[-_BESIDE:])
        if is_whole and end + 1 < len(values) and _is_result(line, values[end], values[end + 1], _IS):
            found = _worked(operator, values[at : end + 1], values[end + 1])
            if found is not None:
                yield found
        at = max(end, at + 1) if operator else at + 1


def wrong_equations(line: Line) -> Iterator[Slip]:
    """Yield plain products and sums that are written with a sign of equality and come out otherwise.

    Whatever might be read in two ways is left alone: a unit, a share, a decimal comma, a word between two operands, a
    figure before the first one that may be reckoned with as well.
    """
    values, at = line.values, 0
    while at < len(values):
        operator, end = _run(line, at)
        if operator in {"×", "+"} and end + 1 < len(values):  # noqa: RUF001 - the sign of a product
            operands, result = values[at : end + 1], values[end + 1]
            exact = _exact(operator, operands, result) if _is_all_written(line, at, end + 1) else None
            if exact is not None and _is_other(result, exact) and not _is_with_more(line, (at, end + 1), exact):
                sums = f" {operator} ".join(one.text for one in operands)
                why = f"{sums} is {as_written(result, exact)}, not {result.text}"
                yield Slip(Span(operands[0].start, operands[-1].end), Span(result.start, result.end), why)
        at = max(end, at + 1) if operator else at + 1


def _is_all_written(line: Line, first: int, last: int) -> bool:
    """Say whether an equation stands by itself, in plain figures and signs alone."""
    values = line.values[first : last + 1]
    if not all(is_plain(one) and _is_figure(one) for one in values):
        return False
    gaps = [line.between(one, other) for one, other in pairwise(values)]
    is_signs = all(_SIGN.fullmatch(gap) for gap in gaps[:-1]) and _EQUALS.fullmatch(gaps[-1])
    start = line.values[first - 1].end if first else line.start
    before = line.text[start : values[0].start]
    is_apart = _STARTS.fullmatch(before) if not first else _MARK.search(before)
    told = _WORD_BEFORE.search(before)
    is_begun = not first and _STARTS.fullmatch(before) is not None
    is_open = is_begun or (told is not None and told["word"].lower() not in _TAKES_PART)
    behind = _ENDS if values[-1].unit else _ENDS_BARE
    return bool(is_signs and (is_apart or not first) and is_open and behind.match(line.behind(values[-1])))


def _is_figure(value: Value) -> bool:
    """Say whether a value is a bare number or a sum of money in figures that can be read in one way alone."""
    is_kind = value.kind is EntityKind.MONEY or (value.kind is EntityKind.NUMBER and not value.unit)
    is_small = value.number is not None and abs(value.number) < _LARGE and abs(magnitude(value)) < _LARGE
    return is_kind and is_small and value.counted in {"", "x"} and _FIGURE.fullmatch(value.text) is not None


def _is_other(result: Value, exact: Decimal) -> bool:
    """Say whether a result is not what comes out, however that is rounded to the digits that are written."""
    apart = abs(exact - magnitude(result))
    if not 0 < exact < _MOST:
        return False
    exponent = (result.number or Decimal(0)).as_tuple().exponent
    last = Decimal(1).scaleb(min(exponent, 0)) if isinstance(exponent, int) else Decimal(0)
    is_rounded = exact % last != 0 and apart < last if last else False
    return apart > _NEAR * exact and not is_rounded


def _is_with_more(line: Line, own: tuple[int, int], exact: Decimal) -> bool:
    """Say whether a result comes out with another figure of the sentence: "3 packs, 12 × €2 = €72"."""  # noqa: RUF002
    first, last = own
    stated = magnitude(line.values[last])
    others = (one.number for one in (*line.values[:first], *line.values[last + 1 :]) if one.number)
    return any(
        stated in {exact * one, exact + one, exact - one, exact * one / _HUNDRED} or stated * one == exact
        for one in others
        if abs(one) < _LARGE
    )


_MOST: Final = Decimal(10) ** 20
_MOST_DIGITS: Final = 20
"""What is larger or has more digits is not rounded."""
_LARGE: Final = Decimal(10) ** 12
"""Nobody writes out a reckoning with more, but who tries what happens."""
_FIGURE: Final = re.compile(
    r"(?:[A-Z]{2,3}\s?|[^\w\s%]\s?)?(?:\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?:\.\d{1,2})?(?:\s?[A-Z]{3}|\s?[^\w\s%])?"
)
"""A figure with its currency: neither "0,5" nor "1.000", of which nobody knows whether they are a half and one."""
_SIGN: Final = re.compile(rf"\s?(?:[x×*]|\+){_CODE}")  # noqa: RUF001 - as people write it
_STARTS: Final = re.compile(r"(?:[-*•>|(]{1,2}\s?)?")
_MARK: Final = re.compile(r"[,;:(]\s")
_WORD_BEFORE: Final = re.compile(r"(?:^|\s|\()(?P<word>[A-Za-z'\u2019]{2,20})[,:]?\s\(?$")
_TAKES_PART: Final = frozenset(
    {"of", "on", "at", "times", "percent", "per", "plus", "minus", "less", "dozen", "hundred", "thousand", "million"}
    | {"half", "double", "twice", "by", "over"}
)
"""Words before a figure that are reckoned with as well, or may be."""
_ENDS: Final = re.compile(r"\*{0,2}(?:$|[.,;:!?)](?!\d)|\s(?!\s?(?:[-−–x×*+/÷·^=]|each\b|per\b)))")  # noqa: RUF001 - as above
"""Behind a result no further reckoning goes on."""
_ENDS_BARE: Final = re.compile(r"\*{0,2}(?:$|[.,;:!?)](?!\d)(?:\s|$))")
"""Behind a bare one no word stands either, which may be its unit: "3 × 4 = 1 dozen"."""  # noqa: RUF001 - as above


def open_shares(line: Line) -> Iterator[OpenShare]:
    """Yield shares with the amount behind them that they are said to come to."""
    for share, result in zip(line.values, line.values[1:], strict=False):
        if share.unit == SHARE and result.kind in AMOUNTS and _is_result(line, share, result, _ON_WHAT):
            yield OpenShare(share, result)


def share_of(share: Value, whole: Value, result: Value) -> Equation | None:
    """Return how an amount is a share of another one, or ``None`` where it is not."""
    return _worked("of", (share, whole), result)


def comes_to(result: Value, exact: Decimal) -> bool:
    """Say whether a stated amount is what comes out: exactly, rounded where it says so, or to the cent."""
    stated = magnitude(result)
    if stated == exact:
        return True
    if max(abs(stated), abs(exact)) >= _MOST or len(stated.as_tuple().digits) > _MOST_DIGITS:
        return False
    if result.approximate and rounds_to(stated, exact):
        return True
    exponent = stated.as_tuple().exponent
    return exponent == _CENTS.as_tuple().exponent and abs(stated - exact) <= _CENTS / 2


def _run(line: Line, at: int) -> tuple[str, int]:
    """Return the operator behind a value and where the values end that it joins."""
    operator, end = "", at
    while end + 1 < len(line.values):
        sign = _sign(line, line.values[end], line.values[end + 1])
        if not sign or (operator and (sign != operator or sign in {"of", "at"})):
            break
        operator, end = sign, end + 1
    return operator, end


def _sign(line: Line, one: Value, other: Value) -> str:
    if other.start - one.end > _MOST_CHARS:
        return ""
    gap = line.between(one, other)
    return next((sign for sign, pattern in _OPERATORS if pattern.fullmatch(gap)), "")


def _is_result(line: Line, last: Value, result: Value, pattern: re.Pattern[str]) -> bool:
    near = result.start - last.end <= _MOST_CHARS
    return near and result.kind in AMOUNTS and pattern.fullmatch(line.between(last, result)) is not None


def _worked(operator: str, operands: Sequence[Value], result: Value) -> Equation | None:
    """Return a reckoning if it comes out right."""
    if result.magnitude is None or any(one.magnitude is None for one in operands):
        return None
    exact = _exact(operator, operands, result)
    if exact is None or not comes_to(result, exact):
        return None
    sign = f" {operator} "
    return Equation(
        tuple(operands),
        "%" if operator in {"of", "at"} else operator,
        result,
        exact,
        f"{sign.join(one.text for one in operands)} = {_shown(result, exact)}",
    )


def _exact(operator: str, operands: Sequence[Value], result: Value) -> Decimal | None:
    """Return what comes out; ``None`` where the measures do not fit."""
    return _added(operator, operands, result) if operator in {"+", "-"} else _multiplied(operator, operands, result)


def _shown(result: Value, exact: Decimal) -> str:
    return (
        f"{as_written(result, exact)} {result.unit}" if result.kind is EntityKind.MONEY else as_written(result, exact)
    )


def _added(operator: str, operands: Sequence[Value], result: Value) -> Decimal | None:
    """Return a sum or a difference of what measures the same; bare numbers are taken to be in the result's unit."""
    is_bare = all(one.kind is EntityKind.NUMBER for one in operands)
    if not is_bare and any(measure(one) != measure(result) for one in operands):
        return None
    worth = [(one.number or Decimal(0)) * _scale(result) if is_bare else magnitude(one) for one in operands]
    return sum(worth, Decimal(0)) if operator == "+" else worth[0] - sum(worth[1:], Decimal(0))


def _scale(result: Value) -> Decimal:
    """Return how much one of the unit is worth that a value is written in."""
    return magnitude(result) / result.number if result.number else Decimal(1)


def _multiplied(operator: str, operands: Sequence[Value], result: Value) -> Decimal | None:
    """Return a product; one of its factors is in the result's unit, or none where that is a bare number."""
    measured = [one for one in operands if result.unit and measure(one) == measure(result)]
    shares = [one for one in operands if one.unit == SHARE]
    if len(measured) != (1 if result.unit else 0) or (operator in {"of", "at"} and len(shares) != 1):
        return None
    if not result.unit and any(one.kind is EntityKind.MONEY for one in operands):
        return None
    exact = Decimal(1)
    for one in operands:
        share = magnitude(one) / _HUNDRED if one in shares else one.number or Decimal(0)
        exact *= magnitude(one) if one in measured else share
    return exact


def measure(value: Value) -> tuple[EntityKind, str]:
    """Return what a value measures."""
    return value.kind, value.unit
