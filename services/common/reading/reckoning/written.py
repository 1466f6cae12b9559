"""Reckonings that a text writes out: "60% of €49.00 is €29.40, and €29.40 × 8 = €235.20" (ADR 0207).

Only what has its operators in figures or in the words for them is read, and only what comes out right is yielded. What
does not is a slip where it is written with a sign of equality (ADR 0204), and else nothing is said of it. Whether the
operands are right is asked of others.
"""  # noqa: RUF002 - the sign of a product

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
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
_EQUALS: Final = re.compile(rf"{_WORDS}\s?={_CODE}")
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
    """Yield products and sums that are written with a sign of equality and come out otherwise."""
    values, at = line.values, 0
    while at < len(values):
        operator, end = _run(line, at)
        operands = values[at : end + 1]
        if operator in {"×", "+"} and end + 1 < len(values) and all(map(is_plain, (*operands, values[end + 1]))):  # noqa: RUF001
            result = values[end + 1]
            is_whole = not _GOES_BEFORE.search(line.before(values[at])[-_BESIDE:])
            exact = (
                _exact(operator, operands, result)
                if is_whole and _is_result(line, operands[-1], result, _EQUALS)
                else None
            )
            if exact and abs(exact - magnitude(result)) > _NEAR * exact and _ENDS.match(line.behind(result)):
                sums = f" {operator} ".join(one.text for one in operands)
                why = f"{sums} is {as_written(result, exact)}, not {result.text}"
                yield Slip(Span(operands[0].start, operands[-1].end), Span(result.start, result.end), why)
        at = max(end, at + 1) if operator else at + 1


_ENDS: Final = re.compile(r"(?!\s?[x×*+/÷]|\s[-−–]\s?\d)")  # noqa: RUF001 - as above
"""Behind a result no further reckoning goes on."""


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
    if stated == exact or (result.approximate and rounds_to(stated, exact)):
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
