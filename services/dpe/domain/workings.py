"""Values that an answer works out in so many words, and those that follow from them elsewhere in it (ADR 0207).

"The exit fee would be €235.20. ... 60% of €49.00 is €29.40, and €29.40 × 8 = €235.20": each operand stands in the
documents or in the question, or was worked out so itself, and each result is right. Then a result is given wherever in
the answer it stands. What has one operand of unknown origin follows from nothing, however right the arithmetic is.
"""  # noqa: RUF002 - the sign of a product

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.numerals import plain
from services.common.reading.places import Place
from services.common.reading.ratios import SHARE
from services.common.reading.reckoning.lines import AMOUNTS, Line, as_written
from services.common.reading.reckoning.shares import PARTS
from services.common.reading.reckoning.written import Equation, comes_to, equations, measure, open_shares, share_of
from services.common.reading.terms import terms, terms_without
from services.common.reading.text_types import Claim, SentenceKind, Value
from services.common.reading.units import in_base_units
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.dated_workings import dated
from services.dpe.domain.findings import AlignedValue
from services.dpe.domain.givens import Given, Working, asked_values, is_count, same
from services.dpe.domain.table_reckoning import periods
from services.dpe.domain.worked_out import TOTAL

_MOST_ROUNDS: Final = 5
"""Results that rest on results: a total of products of a share."""
_MOST_VALUES: Final = 120
"""Values of an answer that are read: what has more is a table of data."""
_MOST_WORKINGS: Final = 200
_MOST_NAMED: Final = 60
"""Amounts of one measure that the answer has of the facts, from which something is left."""
Measure = tuple[EntityKind, str]
Named = tuple[Value, Place]
_LEAST_ITEMS: Final = 2
_ITEMS: Final = frozenset({SentenceKind.LIST_ITEM, SentenceKind.TABLE_ROW})
_LABEL_CHARS: Final = 80
_REST: Final = re.compile(
    r"\b(?:remaining|remainder|rest|leav(?:es|ing)(?:\syou)?|left)\s(?:of\s)?(?:[A-Z]{2,4}\s)?$",
    re.IGNORECASE,
)
_REST_BEHIND: Final = re.compile(
    r"\s(?:[a-z]{2,12}\s)?(?:left|remaining|short|above\s(?:the|your|that|it)|too\smuch)\b", re.IGNORECASE
)
_CURRENCY: Final = re.compile(r"(?:^|\s)(?P<code>[A-Z]{2,4})\s$")
"""Letters right before a figure that stand for a currency, and are no word that is said of it."""
_LESS: Final = re.compile(r"\b(?:off|discount|reduc\w+|cut|less|relief|rebate|deduct\w*|minus)\b", re.IGNORECASE)
_MORE: Final = re.compile(
    r"\b(?:increase[ds]?|rise[ns]?|up|added|adds|plus|on\stop|surcharge|extra|more)\b", re.IGNORECASE
)
_CAPPED: Final = re.compile(
    r"\b(?:caps?|capped|max(?:imum)?|at\smost|up\sto|never\smore|(?:no|not)\smore\sthan|limit(?:ed)?)\b", re.IGNORECASE
)


def answer_workings(analysis: Analysis, aligned: Sequence[AlignedValue], among: frozenset[int]) -> list[Working]:
    """Return what an answer works out from some of the facts and from the question.

    Args:
        analysis: the answer, read.
        aligned: its values in their places; one that stands where a fact has another is reckoned with by nobody.
        among: the facts that may be reckoned with.
    """
    text = analysis.outputs.text
    values = sorted(
        {(one.start, one.end): one for claim in text.claims for one in claim.values}.values(), key=lambda one: one.start
    )
    if len(values) > _MOST_VALUES:
        return []
    lines = [
        Line(analysis.input.answer, each.start, each.end, tuple(v for v in values if each.start <= v.start < each.end))
        for each in text.sentences
    ]
    wrong = {(pair.claimed.start, pair.claimed.end) for pair in aligned if not pair.equal}
    places = [one for index, view in enumerate(text.fact_views) if index in among for one in view.places]
    given = Given(
        analysis.input.answer,
        places,
        asked_values(analysis.input.query),
        lambda value: (value.start, value.end) in wrong,
    )
    return workings(lines, [each.kind for each in text.sentences], given)


def workings(lines: Sequence[Line], kinds: Sequence[SentenceKind], given: Given) -> list[Working]:
    """Return what the sentences and rows of an answer work out, in the order in which it follows."""
    reading = _Reading(tuple(lines), tuple(kinds), given, tuple(one for line in lines for one in equations(line)))
    found = islice(dated(lines, given.asked, given.places), _MOST_WORKINGS)
    first = [Working(value, Decimal(0), text, places) for value, text, places in found]
    known = _with(first, reading.standing())
    for _ in range(_MOST_ROUNDS):
        more = _with(known, reading.following(known))
        if len(more) == len(known):
            break
        known = more
    return known


def _with(known: Sequence[Working], more: Iterable[Working]) -> list[Working]:
    """Return workings with further ones, each once and no more of them than are reckoned with."""
    found = {one.key: one for one in known}
    for one in islice(more, _MOST_WORKINGS):
        found.setdefault(one.key, one)
    return list(found.values())[:_MOST_WORKINGS]


def with_workings(
    aligned: Sequence[AlignedValue],
    values: Sequence[Value],
    known: Sequence[Working],
    near: Sequence[int],
    is_chance: Callable[[AlignedValue], bool],
) -> list[AlignedValue]:
    """Return a claim's pairs of values with those that the answer works out, where the facts have nothing to say.

    A value that is held against one of the facts stays so: any two amounts of a document make a sum.

    Args:
        aligned: the pairs.
        values: the claim's values.
        known: what the answer works out.
        near: the facts that are shown beside the claim; one of them is named where something follows from it.
        is_chance: says of what is held against a value that the claim speaks of something else.
    """
    kept = {pair.claimed: pair for pair in aligned}
    open_ones = {value for value in values if value not in kept or (not kept[value].equal and is_chance(kept[value]))}
    for value in values:
        working = next((one for one in known if one.gives(value)), None) if value in open_ones else None
        if working is not None:
            kept[value] = _pair(value, working, near)
    return list(kept.values())


def is_of_something_else(analysis: Analysis, claim: Claim, pair: AlignedValue) -> bool:
    """Say whether no word of a claim is at the place of what is held against it: "Total: KM 14,780" beside a band."""
    answer = analysis.input.answer
    code = _CURRENCY.search(answer[claim.start : pair.claimed.start])
    said = terms_without(answer, claim.start, claim.end, claim.values) - (terms(code["code"]) if code else frozenset())
    if pair.fact_index is None or not said:
        return False
    places = analysis.outputs.text.fact_views[pair.fact_index].places
    there = [one for one in places if (one.value.start, one.value.end) == (pair.known.start, pair.known.end)]
    return bool(there) and not any(said & (one.sentence | one.stretch | one.heading) for one in there)


def _pair(value: Value, working: Working, near: Sequence[int]) -> AlignedValue:
    places = sorted(working.places, key=lambda one: one.fact_index not in near)
    homes = tuple(dict.fromkeys(one.fact_index for one in places))
    there = places[0].value if places else working.value
    return AlignedValue(value, there, equal=True, fact_index=homes[0] if homes else None,
                        derivation=working.text, derived_from=homes, is_own=True)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Reading:
    """An answer's sentences with what it may reckon with."""

    lines: tuple[Line, ...]
    kinds: tuple[SentenceKind, ...]
    given: Given
    written: tuple[Equation, ...]

    def standing(self) -> Iterator[Working]:
        """Yield what follows from what is given alone."""
        named = self._named()
        for line in self.lines:
            yield from self._remainders(line, named)
            yield from self._rated(line)
            yield from self._parts(line)

    def following(self, known: Sequence[Working]) -> Iterator[Working]:
        """Yield what follows from what is given and from what is known to follow."""
        for equation in (*self.written, *(one for line in self.lines for one in self._shares(line))):
            places = self._origin(equation, known)
            if places is not None:
                yield Working(equation.result, equation.exact, equation.text, places)
                yield from self._taken_off(equation, places)
        yield from self._totals(known)

    def _origin(self, equation: Equation, known: Sequence[Working]) -> tuple[Place, ...] | None:
        """Return the places from which all operands come, or ``None`` where one comes from nowhere."""
        found: list[Place] = []
        counts: list[Value] = []
        for value in equation.operands:
            working = next((one for one in known if one.gives(value)), None)
            there = self.given.stating(value)
            if working is not None:
                found += working.places
            elif self.given.in_question(value):
                continue
            elif not there:
                return None
            elif equation.operator == "×" and is_count(value):  # noqa: RUF001 - the sign of a product
                counts.append(value)
            else:
                found.append(there[0])
        homes = {one.fact_index for one in found}
        for value in counts:
            beside = [one for one in self.given.stating(value) if one.fact_index in homes or not homes]
            if not beside:
                return None
            found.append(beside[0])
            homes.add(beside[0].fact_index)
        return None if self._is_one_of_several(equation) else tuple(dict.fromkeys(found))

    def _is_one_of_several(self, equation: Equation) -> bool:
        """Say whether a rate for each of what the asker counts was not multiplied by how many these are."""
        counts = [one for one in self.given.asked if one.counted and one.number is not None and one.number > 1]
        for value in equation.operands if equation.operator == "×" else ():  # noqa: RUF001 - as above
            each = [one for one in self.given.stating(value) if one.each and value.unit]
            for count in counts:
                is_used = any(one.number == count.number for one in equation.operands)
                if each and not is_used and all(terms(count.counted) & one.stretch for one in each):
                    return True
        return False

    def _shares(self, line: Line) -> Iterator[Equation]:
        """Yield shares of an amount that the asker gives: "9.5% for pension (KM 1,045)"."""
        for one in open_shares(line):
            wholes = [value for value in self.given.asked if measure(value) == measure(one.result)]
            found = (share_of(one.share, whole, one.result) for whole in wholes if whole.magnitude)
            yield from (equation for equation in found if equation is not None)

    def _taken_off(self, equation: Equation, places: tuple[Place, ...]) -> Iterator[Working]:
        """Yield what an amount comes to without or with its share, which a limit of the share's sentence keeps down."""
        whole = next((one for one in equation.operands if one.unit != SHARE), None)
        if equation.operator != "%" or whole is None:
            return
        said = " ".join(line.words for line in self.lines)
        limits = self._limits(equation, whole)
        later = [one for line in self.lines for one in line.values if one.start > equation.result.start]
        named = [
            one
            for one in limits
            if any(one.value.number == value.number for line in self.lines for value in line.values)
        ]
        if limits and not (named and _CAPPED.search(said)):
            return
        changes: list[tuple[Decimal, str, tuple[Place, ...]]] = [
            (one.value.magnitude or Decimal(0), one.value.text, (one,)) for one in named
        ]
        changes = changes or [(equation.exact, as_written(equation.result, equation.exact), ())]
        for sign, cue, factor in (("-", _LESS, -1), ("+", _MORE, 1)):
            for amount, text, there in changes if cue.search(said) else ():
                exact = (whole.magnitude or Decimal(0)) + factor * amount
                for value in later:
                    if measure(value) == measure(whole) and value.magnitude is not None and comes_to(value, exact):
                        yield Working(value, exact, f"{whole.text} {sign} {text} = {value.text}", (*there, *places))

    def _limits(self, equation: Equation, whole: Value) -> list[Place]:
        """Return smaller amounts that the sentence of a share has besides: no more than these can be taken off."""
        shares = [place for one in equation.operands if one.unit == SHARE for place in self.given.stating(one)]
        lines = {(one.fact_index, one.span) for one in shares}
        return [
            one
            for one in self.given.places
            if (one.fact_index, one.span) in lines
            and measure(one.value) == measure(whole)
            and 0 < (one.value.magnitude or Decimal(0)) < equation.exact
        ][:_MOST_NAMED]

    def _remainders(self, line: Line, named: Mapping[Measure, Sequence[Named]]) -> Iterator[Working]:
        """Yield what is left of an amount of the asker's behind a named one of the facts: "the remaining 10,000"."""
        for value in line.values:
            is_rest = _REST.search(line.before(value)[-_LABEL_CHARS:]) or _REST_BEHIND.match(
                line.behind(value)[:_LABEL_CHARS]
            )
            if value.kind not in AMOUNTS or value.magnitude is None or not is_rest:
                continue
            for whole in (one for one in self.given.asked if measure(one) == measure(value)):
                for own, one in named.get(measure(value), ()):
                    amount, part = whole.magnitude, one.value.magnitude
                    if amount is None or part is None or own is value:
                        continue
                    left = abs(amount - part)
                    if left and comes_to(value, left):
                        first, second = (whole, one.value) if amount > part else (one.value, whole)
                        yield Working(value, left, f"{first.text} - {second.text} = {value.text}", (one,))

    def _named(self) -> Mapping[Measure, Sequence[Named]]:
        """Return the amounts of the answer that the facts have, each with one of its places, by what they measure."""
        found: defaultdict[Measure, list[Named]] = defaultdict(list)
        for value in {one.normal: one for line in self.lines for one in line.values if one.kind in AMOUNTS}.values():
            there = next((one for one in self.given.alike(value) if not one.label and same(value, one.value)), None)
            if there is not None and len(found[measure(value)]) < _MOST_NAMED:
                found[measure(value)].append((value, there))
        return found

    def _rated(self, line: Line) -> Iterator[Working]:
        """Yield what a rate of a sentence comes to for as many as it or the asker names: "10 for each week, so 30"."""
        for at, rate in enumerate(line.values):
            there = [one for one in self.given.stating(rate) if one.value.per] if rate.per and rate.magnitude else []
            counts = [*line.values, *self.given.asked] if there else []
            often = {times for count in counts if (times := _how_often(rate, count)) is not None and times > 1}
            for value in line.values[at + 1 :] if there else ():
                if measure(value) != measure(rate) or not value.magnitude:
                    continue
                over = periods(value.per, rate.per)
                for times in sorted(often | ({Decimal(over.numerator) / over.denominator} if over else set())):
                    exact = times * (rate.magnitude or Decimal(0))
                    if comes_to(value, exact):
                        yield Working(value, exact, f"{plain(times)} x {rate.text} = {value.text}", (there[0],))

    def _parts(self, line: Line) -> Iterator[Working]:
        """Yield one of the equal parts of an amount of the asker's: "in equal parts over four years", "a quarter"."""
        for before, value in zip([None, *line.values], line.values, strict=False):
            gap = line.text[before.end if before is not None else line.start : value.start]
            told = _PART.search(gap[-_LABEL_CHARS:]) if value.kind in AMOUNTS and value.magnitude else None
            if told is None:
                continue
            number = Decimal(PARTS[told["part"].lower()])
            there = [one for one in self.given.places if one.value.number == number and one.sentence & _EQUALLY]
            for whole in self.given.asked if there else ():
                exact = (whole.magnitude or Decimal(0)) / number
                if measure(whole) == measure(value) and exact and comes_to(value, exact):
                    yield Working(value, exact, f"{whole.text} / {plain(number)} = {value.text}", (there[0],))

    def _totals(self, known: Sequence[Working]) -> Iterator[Working]:
        """Yield the total of a list or table of the answer, each of whose items is given or follows."""
        for first, last in self._blocks():
            rows = self.lines[first:last]
            is_total = bool(_TOTAL_ROW.search(rows[-1].words)) if rows else False
            amounts = (_last_amount(row) for row in (rows[:-1] if is_total else rows))
            items = [item for item in amounts if item is not None]
            ends = [*self.lines[max(0, first - 2) : first], *(rows[-1:] if is_total else self.lines[last : last + 2])]
            for line in ends:
                whole = _whole_of(line, items, is_before=line.start < self.lines[first].start)
                origin = self._items_origin(items, known) if whole is not None else None
                if whole is not None and origin is not None:
                    total = sum((item.magnitude or Decimal(0) for item in items), Decimal(0))
                    text = " + ".join(item.text for item in items) + f" = {whole.text}"
                    yield Working(whole, total, text, origin)

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Yield where lists and tables begin and end."""
        at = 0
        while at < len(self.lines):
            end = at
            while end < len(self.lines) and self.kinds[end] in _ITEMS and self.kinds[end] is self.kinds[at]:
                end += 1
            if end - at >= _LEAST_ITEMS:
                yield at, end
            at = max(end, at + 1)

    def _items_origin(self, items: Sequence[Value], known: Sequence[Working]) -> tuple[Place, ...] | None:
        found: list[Place] = []
        for item in items:
            working = next((one for one in known if one.gives(item)), None)
            there = self.given.stating(item)
            if not item.magnitude:
                continue
            if working is None and not there and not self.given.in_question(item):
                return None
            found += working.places if working is not None else there[:1]
        return tuple(dict.fromkeys(found))


_TOTAL_ROW: Final = re.compile(
    r"^\W{0,6}(?:in\s|grand\s|overall\s)?(?:total|sum|altogether|together|all)\b", re.IGNORECASE
)


_PART: Final = re.compile(rf"\b(?:an?|one)\s(?P<part>{'|'.join(PARTS)})\b(?!-)", re.IGNORECASE)
_EQUALLY: Final = frozenset().union(*(terms(word) for word in ("equal", "equally", "evenly", "spread", "instalments")))


def _how_often(rate: Value, count: Value) -> Decimal | None:
    """Return how many of a rate's periods a length of time has."""
    if count.per or count.magnitude is None or count.unit not in {"second", "month"}:
        return None
    try:
        size, unit = in_base_units(Decimal(1), rate.per)
    except KeyError:
        return None
    times = count.magnitude / size if size and unit == count.unit else None
    return times if times is not None and times == int(times) else None


def _last_amount(row: Line) -> Value | None:
    """Return what an item of a list comes to: its last amount."""
    return next((one for one in reversed(row.values) if one.kind in AMOUNTS and one.magnitude is not None), None)


def _whole_of(line: Line, items: Sequence[Value], *, is_before: bool) -> Value | None:
    """Return the value of a sentence that is the sum of some items; behind them it has to be called one."""
    if len(items) < _LEAST_ITEMS or len({measure(item) for item in items}) > 1:
        return None
    total = sum((item.magnitude or Decimal(0) for item in items), Decimal(0))
    if not is_before and not TOTAL.search(line.words):
        return None
    alike = [one for one in line.values if measure(one) == measure(items[0]) and one.magnitude is not None]
    return next((one for one in alike if comes_to(one, total)), None)
