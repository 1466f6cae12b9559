"""What many facts say of a comparison, without asking each: those whose values lie on one side of it answer alike.

A text can give one attribute thousands of values, and as many predicates can ask about it. The facts are put into rows
of one kind in which no value decreases. A comparison cuts a row in a few places, found by bisection; between two cuts
one fact answers for all. What is shown of an answer are the first few places, which a tree over the row knows of every
stretch. So a predicate costs the logarithm of the number of facts, not the number.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from services.ercp.domain.predicates.facts import Holds, ValueFact
from services.ercp.domain.predicates.model import Amount, Predicate
from services.ercp.domain.predicates.units import in_base
from services.ercp.domain.predicates.values import (
    TEXTUAL,
    Constant,
    agreeing_within,
    demanded,
    text_key,
    year_of,
)

MOST_SHOWN: Final = 8
"""So many places are shown for an answer."""
MANY: Final = 64
"""From so many facts on a sieve is worth its making."""
_Values = tuple[Any, ...]
"""What a fact's answer depends on beside its kind: text or ends of the interval, and the number in base units."""
_Least = tuple[tuple[int, int], ...]
"""Facts as (place of the span among all spans, number of the fact)."""


class Sieve:
    """Facts about one attribute, so that those which decide a comparison are found without asking all."""

    def __init__(self, facts: Sequence[ValueFact]) -> None:
        self._facts = facts
        spans = {span: at for at, span in enumerate(sorted({_span(fact) for fact in facts}))}
        kinds = defaultdict[tuple[object, ...], list[tuple[_Values, int]]](list)
        for number, fact in enumerate(facts):
            kinds[_kind(fact)].append((_values(fact), number))
        places = [spans[_span(fact)] for fact in facts]
        self._rows = [_row(row, places) for alike in kinds.values() for row in _rising(alike)]

    def telling(
        self, predicate: Predicate, right: Constant, holds_of: Callable[[ValueFact], Holds], *, ahead: int
    ) -> list[tuple[ValueFact, Holds]]:
        """Return what facts say that decides, in their order: the first facts and those of the first places.

        What fits decides nothing where something does not fit, and what leaves it open never does.

        Args:
            predicate: a comparison with a constant, which is
            right: in base units.
            holds_of: asks one fact.
            ahead: so many facts are told of in any case, the first ones.
        """
        stretches = defaultdict[Holds, list[tuple[_Row, int, int]]](list)
        for row in self._rows:
            for start, end in self._alike(row, predicate, right):
                stretches[holds_of(self._facts[row.numbers[start]])].append((row, start, end))
        told = {number: holds_of(fact) for number, fact in enumerate(self._facts[:ahead])}
        decisive = Holds.FALSE if stretches[Holds.FALSE] else Holds.TRUE
        for row, start, end in stretches[decisive]:
            told |= dict.fromkeys(row.least(start, end), decisive)
        return [(self._facts[number], told[number]) for number in sorted(told)]

    def _alike(self, row: "_Row", predicate: Predicate, right: Constant) -> Iterator[tuple[int, int]]:
        """Yield the stretches of a row whose facts answer alike; where they may not, every fact is one of its own."""
        sample = self._facts[row.numbers[0]]
        cuts, near = _cuts(predicate, right, sample)
        ends = {0, len(row.numbers)}
        for column in row.columns:
            for cut in cuts:
                ends |= {bisect_left(column, cut), bisect_right(column, cut)}
        single = range(0)
        if near is not None:
            single = range(bisect_left(row.columns[-1], near[0]), bisect_right(row.columns[-1], near[1]))
            ends |= {*single, single.stop}
        yield from pairwise(sorted(ends))


@dataclass(frozen=True, slots=True)
class _Row:
    """Facts of one kind in an order in which no value decreases.

    Attributes:
        numbers: of the facts.
        columns: their values.
        first: a tree over the row: the first facts of every stretch, and
        leading: those of the first places.
    """

    numbers: Sequence[int]
    columns: Sequence[Sequence[Any]]
    first: Sequence[_Least]
    leading: Sequence[_Least]

    def least(self, start: int, end: int) -> set[int]:
        """Return the numbers of the first facts of a stretch and of those that stand in the first places."""
        size = len(self.numbers)
        first: list[tuple[int, int]] = []
        leading: list[tuple[int, int]] = []
        low, high = start + size, end + size
        while low < high:
            for node in ([low] if low & 1 else []) + ([high - 1] if high & 1 else []):
                first += self.first[node]
                leading += self.leading[node]
            low, high = (low + 1) // 2, high // 2
        return {number for _, number in (*_least(first), *_least(leading))}


def _row(row: Sequence[tuple[_Values, int]], places: Sequence[int]) -> _Row:
    numbers = [number for _, number in row]
    columns = list(zip(*(values for values, _ in row), strict=True))
    first = _tree([(number, number) for number in numbers])
    leading = _tree([(places[number], number) for number in numbers])
    return _Row(numbers, columns, first, leading)


def _tree(leaves: Sequence[tuple[int, int]]) -> list[_Least]:
    nodes: list[_Least] = [()] * len(leaves) + [(leaf,) for leaf in leaves]
    for at in range(len(leaves) - 1, 0, -1):
        nodes[at] = _least((*nodes[2 * at], *nodes[2 * at + 1]))
    return nodes


def _least(facts: Sequence[tuple[int, int]]) -> _Least:
    """Return the least of some, one fact for each place."""
    by_place = dict(sorted(facts, reverse=True))
    return tuple(sorted(by_place.items())[:MOST_SHOWN])


def _span(fact: ValueFact) -> tuple[int, int]:
    return fact.span.start, fact.span.end


def _kind(fact: ValueFact) -> tuple[object, ...]:
    """Return what facts must share, beside where their values lie, to answer alike."""
    ends: tuple[object, ...] = ()
    if fact.interval is not None:
        each = fact.interval
        ends = (each.low is None, each.high is None, each.low_closed, each.high_closed, each.is_point, each.is_empty)
    return fact.dimension, fact.unit, bool(fact.number), fact.negated, fact.approximate, ends


def _values(fact: ValueFact) -> _Values:
    if fact.dimension == TEXTUAL:
        return (text_key(fact.text),)
    ends = () if fact.interval is None else (fact.interval.low, fact.interval.high)
    numbers = (_base(fact.number, fact.unit),) if fact.number else ()
    return (*(end for end in ends if end is not None), *numbers)


def _base(number: str, unit: str) -> Fraction:
    return in_base(Amount(Decimal(number), unit)).value


def _rising(rows: list[tuple[_Values, int]]) -> Iterator[list[tuple[_Values, int]]]:
    """Part facts of one kind into as few rows as nested intervals leave, in which no value decreases."""
    rows.sort()
    if len(rows[0][0]) < 2:  # noqa: PLR2004 - one value cannot be nested
        yield rows
        return
    parted: list[list[tuple[_Values, int]]] = []
    highest: list[Any] = []
    for row in rows:
        at = bisect_left(highest, -row[0][1])
        if at == len(parted):
            parted.append([])
            highest.append(None)
        parted[at].append(row)
        highest[at] = -row[0][1]
    for part in parted:
        start = 0
        for at in range(1, len(part)):
            if any(mine < before for mine, before in zip(part[at][0], part[at - 1][0], strict=True)):
                yield part[start:at]
                start = at
        yield part[start:]


def _cuts(
    predicate: Predicate, right: Constant, sample: ValueFact
) -> tuple[set[Any], tuple[Fraction, Fraction] | None]:
    """Return where a comparison changes its mind about facts of a kind, and where each may have a mind of its own."""
    if sample.dimension == TEXTUAL:
        return ({text_key(right.text)} if right.dimension == TEXTUAL else set()), None
    if sample.dimension != right.dimension:
        return _cuts_across(predicate, sample), None
    allowed = demanded(predicate, right)
    cuts = {end for end in (allowed.low, allowed.high) if end is not None}
    if not isinstance(predicate.right, Amount) or not sample.number:
        return cuts, None
    value = in_base(predicate.right).value
    if predicate.right.unit == sample.unit:
        return cuts | {value}, None
    reach = agreeing_within(predicate.right, sample.unit)
    return cuts, (value - reach, value + reach)


def _cuts_across(predicate: Predicate, sample: ValueFact) -> set[Any]:
    """Return the same where the dimensions differ: a bare number can be a year, or the number of any value."""
    if not isinstance(predicate.right, Amount) or predicate.right.unit:
        return set()
    year = year_of(predicate.right)
    cuts: set[Any] = set() if year is None else {year.low, year.high}
    if sample.number:
        cuts.add(in_base(Amount(predicate.right.number, sample.unit)).value)
    return cuts
