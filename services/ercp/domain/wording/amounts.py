"""The values that a constraint names, as operands of a predicate: amounts, shares, dates, times of day, counts."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.intervals import APART
from services.common.reading.lexicon import STOPWORDS
from services.common.reading.numerals import may_be_thousands
from services.common.reading.text_types import Value
from services.common.reading.values import scan_values
from services.ercp.domain.predicates import Amount, Moment
from services.ercp.domain.predicates.aligning import with_symbol
from services.ercp.domain.predicates.meant import PERIOD_BEHIND
from services.ercp.domain.predicates.model import Hour, YearDay
from services.ercp.domain.predicates.units import CURRENCIES, dimension_of, unit_named
from services.ercp.domain.wording.model import NotUnderstoodError

_NUMBER_END: Final = re.compile(
    r"(?:\A.*?\d[\d.,]*(?:\s?(?:hundred|thousand|million|billion))?|\A[a-z-]+(?:\s(?:and\s)?[a-z-]+)*?)[\s-]?(?P<unit>[^\d\s.,-][^\d]*)\Z",
    re.IGNORECASE,
)
_NOUN: Final = re.compile(
    r"\s(?P<noun>(?:[a-z][a-z-]+\s){0,2}?(?:[a-z][a-z-]*[a-z]s|people|men|women|children|staff|mice|feet))\b"
)
_NOT_NOUNS: Final = frozenset(
    {"is", "was", "has", "does", "this", "its", "us", "as", "days", "less", "hours", "takes", "goes", "plus", "across"}
)
_ONE: Final = re.compile(
    r"\b(?:exactly|only|at\s+most|at\s+least|no\s+more\s+than|not\s+more\s+than|more\s+than|just|up\s+to|less\s+than)\s+(?P<one>one|a\s+single)\s+(?P<noun>[a-z][a-z-]+)",
    re.IGNORECASE,
)
_SECONDS: Final = (("day", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_DATE_CHARS: Final = len("2024-03-01")
_YEARLY_CHARS: Final = len("--03-01")
_INEXACT: Final = re.compile(
    r"\b(?:end|start|beginning|middle|mid|week|early|late|half)\s+(?:of\s+)?(?:the\s+)?\Z", re.IGNORECASE
)
_TIMES_MONEY: Final = re.compile(
    r"['\u2019]s?\s(?:[a-z-]+\s){0,2}?(?:rent|pay|wages?|salar(?:y|ies)|fees?|interest|charges?|premiums?|income|turnover|revenue|earnings"
    r"|takings|sales|dues|subscriptions?|instal?lments?|costs?|value|worth)\b",
    re.IGNORECASE,
)
"""Behind a length of time: "two months' rent" is money, and no two months."""
_DIGITS_ALONE: Final = re.compile(r"[\d.,]+|[a-z]+(?:-[a-z]+)?", re.IGNORECASE)
"""What a first end of a range is written as, where only the second has the unit."""
_FRACTION: Final = re.compile(r"0\.\d+")
_OF_THE: Final = re.compile(r"\s+of\s+(?:all\s+)?(?:the|my|our|your|its|his|her|their)\s+(?=[a-z])", re.IGNORECASE)
_NEAR: Final = re.compile(r"\b(?:within|inside|by|off|away)\s+(?:[a-z]+\s+){0,3}?\Z", re.IGNORECASE)
"""Before a number: it is how far something is from something else."""
_COUNTED: Final = re.compile(
    rf"\s+(?!(?:{'|'.join(sorted({*STOPWORDS, 'per', 'each', 'every', 'within', 'apart'}))})\b)[a-z]", re.IGNORECASE
)
"""A noun that stands behind what looks like a unit."""
_JOINED: Final = re.compile(r"\s*(?:and|to|-|\u2013)\s*", re.IGNORECASE)
_PLACED: Final = frozenset(
    {EntityKind.NUMBER, EntityKind.QUANTITY, EntityKind.MONEY, EntityKind.PERCENT, EntityKind.DATE, EntityKind.TIME}
)


@dataclass(frozen=True, slots=True)
class Named:
    """A value of a constraint.

    Attributes:
        operand: its amount, date or time of day; ``None`` for a kind that no operand holds.
        start: where it begins, and
        end: where it ends, its period and its noun left out.
        behind: where its period ends.
        noun: what a bare number counts; empty for none.
        is_number: it is a bare number.
        number: as it is written, where it is one.
    """

    operand: Amount | Moment | Hour | YearDay | None
    start: int
    end: int
    behind: int
    noun: str = ""
    is_number: bool = False
    number: Decimal | None = None


def read(text: str) -> list[Named]:
    """Return the values that a sentence names, in order."""
    found = [_of_whole(text, _named(text, value)) for value in _values(text)]
    taken = [(each.start, each.end) for each in found]
    for at, (first, second) in enumerate(pairwise(tuple(found))):
        # "Between 2 and 3 metres": the first end has the unit of the second.
        if first.operand is None and first.number is not None and isinstance(second.operand, Amount):
            found[at] = replace(first, operand=Amount(first.number, second.operand.unit))
        elif not second.is_number and _are_fractions(text, first, second):
            found[at] = _as_share(first)
    for match in _ONE.finditer(text):
        start, end = match.span("one")
        if all(end <= first or start >= last for first, last in taken):
            found.append(Named(Amount(Decimal(1)), start, end, end, match["noun"], is_number=True))
    return sorted(found, key=lambda each: each.start)


def _values(text: str) -> list[Value]:
    """Return the values of a sentence, bare numbers with the short symbol of a unit behind them: "at most 5 s".

    Not what stands for another word before a noun: "at most 5 t shirts", "10 m users".
    """
    scanned = [value for value in scan_values(text) if value.kind in _PLACED]
    symbols = [with_symbol(text, value) for value in scanned]
    found = [
        with_unit if _COUNTED.match(text, with_unit.end) is None else value
        for value, with_unit in zip(scanned, symbols, strict=True)
    ]
    for at, (first, second) in enumerate(pairwise(tuple(found))):
        is_bare = first.kind is EntityKind.NUMBER and not first.unit
        if is_bare and second is not scanned[at + 1] and _JOINED.fullmatch(text, first.end, second.start):
            # "Between 2 and 5 s", as the reader has it where the unit is a word.
            found[at] = replace(first, kind=EntityKind.QUANTITY, unit=second.unit)
    return found


def _is_fraction(text: str, named: Named) -> bool:
    return bool(_FRACTION.fullmatch(text, named.start, named.end))


def _are_fractions(text: str, first: Named, second: Named) -> bool:
    """Say whether "0.2 and 0.4" are two ends of which the second stands before its whole."""
    both = first.is_number and _is_fraction(text, first) and _is_fraction(text, second)
    return both and _JOINED.fullmatch(text, first.end, second.start) is not None


def _of_whole(text: str, named: Named) -> Named:
    """Return "0.4 of the budget" as the share that it is; "within 0.5 of the target" is a distance."""
    is_share = _is_fraction(text, named) and named.is_number and _OF_THE.match(text, named.end)
    return _as_share(named) if is_share and not _NEAR.search(text, 0, named.start) else named


def _as_share(named: Named) -> Named:
    assert named.number is not None
    return replace(named, operand=Amount(_plain(named.number * 100), "%"), noun="", is_number=False)


def _named(text: str, value: Value) -> Named:
    if value.kind is EntityKind.PERCENT or (value.unit in _LENGTHS and value.per != APART):
        value = replace(value, per="")  # no operand holds a share or a length of time for a length of time
    period = PERIOD_BEHIND.match(text, value.end) if value.per else None
    behind = period.end() if period is not None else value.end
    if value.kind is EntityKind.TIME:
        hour, minute = value.normal.split(":")[:2]
        return Named(Hour(int(hour) * 60 + int(minute)), value.start, value.end, behind)
    if value.kind is EntityKind.DATE:
        if re.search(r"\b(?:may|march|sat|sun)\b", value.text):
            raise NotUnderstoodError("what could be a date may be none: write months with a capital")
        inexact = _INEXACT.search(text, max(0, value.start - 24), value.start)
        return Named(None if inexact else _day(value.normal), value.start, value.end, behind)
    if value.kind is EntityKind.QUANTITY and _DIGITS_ALONE.fullmatch(value.text):
        # "2" of "between 2 and 5 years" has the unit of the second end, which ``read`` gives it.
        return Named(None, value.start, value.end, value.end, number=_as_written(value.text))
    if value.kind is EntityKind.MONEY and may_be_thousands(value.text):
        raise NotUnderstoodError("a point before three digits may part thousands: write 2,000 or 2.00")
    if _TIMES_MONEY.match(text, value.end):
        raise NotUnderstoodError("its value is what is paid for a length of time, which no operand holds")
    amount = _amount(value)
    is_number = value.kind is EntityKind.NUMBER and not value.unit
    noun = _NOUN.match(text, value.end) if is_number else None
    counted = "" if noun is None or noun["noun"].split()[-1] in _NOT_NOUNS else noun["noun"]
    number = _plain(value.number) if value.number is not None else None
    return Named(amount, value.start, value.end, behind, counted, is_number, number)


_LENGTHS: Final = frozenset({"second", "month", "working day"})


def _as_written(text: str) -> Decimal | None:
    """Return the number that stands there, without the unit that it shares; ``None`` for what is no plain number."""
    values = scan_values(text)
    number = values[0].number if len(values) == 1 else None
    return None if number is None else _plain(number)


def _day(normal: str) -> Moment | YearDay | None:
    if len(normal) == _YEARLY_CHARS and normal.startswith("--"):
        return YearDay(int(normal[2:4]), int(normal[5:7]))
    if len(normal) != _DATE_CHARS:
        return None
    return Moment(datetime.fromisoformat(normal).replace(tzinfo=UTC))


def _amount(value: Value) -> Amount | None:
    if value.number is None or value.magnitude is None:
        return None
    number = _plain(value.number)
    if value.kind is EntityKind.PERCENT:
        return Amount(number, "%")
    if value.kind is EntityKind.MONEY:
        return _per(Amount(number, value.unit), value.per) if value.unit in CURRENCIES else None
    if value.kind is EntityKind.NUMBER:
        return None if value.unit else Amount(number)
    match = _NUMBER_END.fullmatch(value.text)
    unit = unit_named(match["unit"]) if match is not None else None
    if unit is not None and dimension_of(unit):
        return _per(Amount(number, unit), value.per)
    return _of_base(value)


def _of_base(value: Value) -> Amount | None:
    """Return "an hour and a half" in the largest unit of which it is a whole number."""
    assert value.magnitude is not None
    if value.unit == "month":
        return Amount(_plain(value.magnitude), "month")
    if value.unit != "second":
        return None
    for unit, seconds in _SECONDS:
        if value.magnitude % seconds == 0:
            return Amount(_plain(value.magnitude / seconds), unit)
    return None


def _per(amount: Amount, period: str) -> Amount:
    unit = unit_named(f"{amount.unit}/{period}") if period else None
    return amount if unit is None else Amount(amount.number, unit)


def _plain(number: Decimal) -> Decimal:
    return number.quantize(Decimal(1)) if number == number.to_integral_value() else number.normalize()


def operand_of(named: Named) -> Amount | Moment | Hour | YearDay:
    """Return a value's operand.

    Raises:
        NotUnderstoodError: no operand can hold it.
    """
    if named.operand is None:
        raise NotUnderstoodError("its value is in no unit, or of no exact date, that a predicate can hold")
    return named.operand
