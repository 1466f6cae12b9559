"""Values that follow from the rows of a table: a column added up, a rate times what it is counted in (ADR 0094, 0189).

"1,275 insulin cartridges" follows from two rows of five, those whose product is insulin cartridges; "£19,500 over three
years" from a cell "Amount per year: £6,500" beside one of "Length: 3 years". What follows is shown as evidence; about
a value that follows in no way nothing is said here. At most ``MOST_ROWS`` rows of a table are read.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.places import Place
from services.common.reading.terms import terms
from services.common.reading.text_types import Claim, Value
from services.common.reading.units import in_base_units
from services.common.reading.values import scan_values
from services.dpe.domain.placement import Wanted
from services.dpe.domain.reckoning import Derivation, is_worth, shown, worth

MOST_ROWS: Final = 40
_MIN_ROWS: Final = 2
_ALL: Final = re.compile(
    r"\b(?:total|totals|totalling|sum|altogether|overall|combined|together|across|all|both|each\sof)\b", re.IGNORECASE
)
_PER: Final = re.compile(
    r"\b(?:per|for\s(?:each|every)|each|every)\s(?:(?P<count>\d[\d,.]{0,20})\s?)?(?P<unit>[a-z]{2,30})?"
    r"|\b(?P<adverb>hourly|daily|weekly|monthly|quarterly|yearly|annual)\b",
    re.IGNORECASE,
)
_ADVERBS: Final = {"daily": "day", "annual": "year"}
_RATED: Final = re.compile(r"\b(?:hourly|daily|weekly|monthly|quarterly|yearly|annual)\b", re.IGNORECASE)
_ONE: Final = r"(?:an?|one|(?:a|the)\s(?:whole|full))\s(?P<{}>hour|day|week|month|quarter|year)"
_OVER: Final = re.compile(
    rf"\b{_ONE.format('of')}\s(?:of|costs?|comes?|is|would|will)\b|\b(?:over|for)\s{_ONE.format('over')}(?=\s?[,.]|\s?$)",
    re.IGNORECASE,
)
"""A length of one period, which is no value: "a year of Premium"."""
_LENGTHS: Final = frozenset({"month", "second"})
_ALSO: Final = {"annum": "year", "night": "day"}


def reckoned_in_rows(want: Wanted, claim: Claim, operands: Sequence[Place]) -> Derivation | None:
    """Return how a value follows from cells of a table, or ``None``.

    Args:
        want: the claim's value.
        claim: the claim.
        operands: places of values that measure the same, in whichever line.
    """
    in_rows = [one for one in operands if one.cell is not None]
    if not in_rows:
        return None
    return _added_up(want, claim, in_rows) or _multiplied(want, claim, in_rows)


def _added_up(want: Wanted, claim: Claim, operands: Sequence[Place]) -> Derivation | None:
    """Return the sum of a column over the rows that the claim names, or over all of them where it says so."""
    own, said = want.value, terms(claim.text)
    columns: dict[tuple[tuple[str, ...], int], dict[tuple[str, ...], Place]] = defaultdict(dict)
    for one in operands:
        if one.cell is not None:
            columns[one.cell.heads, one.cell.column].setdefault(one.cell.row, one)
    for column in columns.values():
        places = list(column.values())[:MOST_ROWS]
        for rows in _chosen(places, said, is_all=bool(_ALL.search(claim.text))):
            total = sum(map(worth, rows), Decimal(0))
            if is_worth(own, own.magnitude, total):
                text = " + ".join(one.value.text for one in rows) + f" = {shown(own, total)}"
                return Derivation(rows[0], equal=True, text=text, operands=tuple(rows))
    return None


def _chosen(places: Sequence[Place], said: frozenset[str], *, is_all: bool) -> Iterator[list[Place]]:
    """Yield sets of rows that a claim may speak of: with a cell that it says, with labels that it names, all."""
    holding: dict[tuple[int, str], list[Place]] = defaultdict(list)
    for one in places:
        if one.cell is not None:
            for column, text in enumerate(one.cell.row):
                if column != one.cell.column:
                    holding[column, text.casefold()].append(one)
    named = {key: rows for key, rows in holding.items() if (own := terms(key[1])) and own <= said}
    for rows in named.values():
        if len(rows) >= _MIN_ROWS:
            yield rows
    for column in sorted({column for column, _ in named}):
        joined = [one for (at, _), rows in named.items() if at == column for one in rows]
        if len(joined) >= _MIN_ROWS and len(joined) < len(places):
            yield joined
    if is_all and len(places) >= _MIN_ROWS:
        yield list(places)


def _multiplied(want: Wanted, claim: Claim, operands: Sequence[Place]) -> Derivation | None:
    """Return a cell's rate times how often it counts: by a value of the claim, or by a length in the same row."""
    own, said = want.value, terms(claim.text)
    lengths = [] if own.per or _RATED.search(claim.text) else _lengths_said(claim.text)
    for one in operands:
        cell = one.cell
        if cell is None:
            continue
        # The rate stands in the head and the row is named, or in the row's label and the column is named.
        for rated, naming in ((cell.head, cell.label), (cell.label, cell.head)):
            rate = _PER.search(rated)
            if rate is None or not terms(naming) & said:
                continue
            counts = (_times(counted, rate, terms(rated)) for counted in (*want.others, *_lengths(cell.row)))
            over = (periods(unit, _unit(rate)) for unit in lengths)
            for times in (periods(own.per, _unit(rate)), *over, *counts):
                if times is not None and times != 1 and is_worth(own, own.magnitude, times_worth(one, times)):
                    text = f"{how_often(one, times)} = {shown(own, times_worth(one, times))}"
                    return Derivation(one, equal=True, text=text)
    return None


def _lengths(row: Sequence[str]) -> Iterator[Value]:
    for said in row:
        yield from (value for value in scan_values(said) if value.unit in _LENGTHS and not value.per)


def periods(per: str, unit: str) -> Fraction | None:
    """Return how many of a rate's periods make the one that a claim speaks of: twelve months a year."""
    asked, rated = _length(per), _length(unit)
    if asked is None or rated is None or asked[1] != rated[1] or asked == rated:
        return None
    return asked[0] / rated[0]


def _length(word: str) -> tuple[Fraction, str] | None:
    """Return how long a period is, in months or seconds; ``None`` for a word that names none."""
    try:
        size, base = in_base_units(Decimal(1), _ALSO.get(word, word))
    except KeyError:
        return None
    return (Fraction(size), base) if base in _LENGTHS else None


def how_often(one: Place, times: Fraction) -> str:
    """Return how a rate is multiplied, as "12 x £79" or "£120 / 12"."""
    if times < 1:
        return f"{one.value.text} / {float(1 / times):g}"
    return f"{float(times):g} x {one.value.text}"


def times_worth(one: Place, times: Fraction) -> Decimal:
    """Return a place's worth so many times; exact where the result is."""
    return worth(one) * times.numerator / times.denominator


def _lengths_said(text: str) -> list[str]:
    """Return the periods that a claim gives a total for: "a year of Premium costs", "for a year."."""
    return [(told["of"] or told["over"]).lower() for told in _OVER.finditer(text)]


def _unit(rate: re.Match[str]) -> str:
    adverb = (rate["adverb"] or "").lower()
    return _ADVERBS.get(adverb, adverb.removesuffix("ly")) or (rate["unit"] or "").lower()


def _times(counted: Value, rate: re.Match[str], rated: frozenset[str]) -> Fraction | None:
    """Return how often a rate counts for a value: 36 months are three times "per year"."""
    if counted.magnitude is None:
        return None
    unit = _unit(rate)
    period = _length(unit)
    if period is not None and counted.unit == period[1]:
        return Fraction(counted.magnitude) / period[0]
    if counted.kind is not EntityKind.NUMBER or counted.unit or not terms(counted.counted) & (rated | terms(unit)):
        return None
    count = rate["count"]
    of = next((value.magnitude for value in scan_values(count) if value.magnitude), None) if count else Decimal(1)
    return Fraction(counted.magnitude) / Fraction(of) if of else None
