"""Values that follow from values of the facts: sums, differences, shares, changes, products, dates (ADR 0094).

"In total 8" follows from "3 of one kind and 5 of another". What a claim calls a total, a difference or a share is
computed from the values that it names, or else from those of the sentence that says most of what it says. Where that
is one set and the claim's value follows from it in no way, the claim states it wrongly. Everything else is left open.
At most ``OPERANDS`` values are read, so that the work does not grow with the facts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.agreement import agrees
from services.common.reading.calendar import reached, span_between, time_after
from services.common.reading.numerals import plain
from services.common.reading.places import Place
from services.common.reading.ratios import SHARE
from services.common.reading.terms import terms
from services.common.reading.text_types import Claim, Value
from services.dpe.domain.placement import Wanted
from services.dpe.domain.reckoning import Derivation, is_worth, shown, worth
from services.dpe.domain.table_reckoning import how_often, periods, reckoned_in_rows, times_worth
from services.dpe.domain.worked_out import TOTAL, worked_out

OPERANDS: Final = 12
_PAID: Final = re.compile(
    r"\b(?:pay(?:s|ing|able)?|costs?|owes?|due|charged?|bills?|spends?|gets?|receives?|makes?|come[sd]?|is|are|be)\b",
    re.IGNORECASE,
)
_REACH: Final = 40
"""Characters before a value in which what is paid is said."""
_DIFFERENCE: Final = re.compile(
    r"\b(?:difference|gap|(?<!no\s)(?<!not\s)(?<!any\s)(?:more|less|fewer|lower|higher|longer|shorter|dearer|cheaper"
    r"|larger|smaller|older|younger|heavier|lighter|faster|slower|earlier|later)(?!\sthan\s\W{0,2}\d)"
    r"|saves?|saving|left|remain(?:s|ing|der)?|rest|shrank|grew|rose|fell|drop(?:ped)?|decreased?|increased?|gained|lost"
    r"|without|others?|exceed(?:s|ed|ing)?)\b|\bby\s(?:\w+\s)?\W{0,2}\d"
    r"|\d\s?(?:\S{1,20}\s){0,2}(?:above|below|over|under|beyond|ahead|behind)\b",
    re.IGNORECASE,
)
"""What says a difference; "under the plan", "over 65" and "no more than 500" do not."""
_CHANGE: Final = re.compile(
    r"\b(?:rose|rise|risen|grew|growth|increase[ds]?|higher|more|up|gain(?:ed)?|fell|fall(?:en)?|drop(?:ped)?|declined?"
    r"|decrease[ds]?|reduced|lower|less|fewer|down|shrank|cut|dearer|cheaper)\b",
    re.IGNORECASE,
)
_EXCLUDED: Final = re.compile(
    r"\b(?:without|excluding|except(?:ing)?|not\s(?:counting|including)|apart\sfrom|before|if\sno|no)\s[^,;.]{1,60}",
    re.IGNORECASE,
)
_INCLUDED: Final = re.compile(
    r"\b(?:together\swith|including|inclusive\sof|counting|plus)\s[^,;.]{1,60}", re.IGNORECASE
)
_HUNDRED: Final = Decimal(100)
_MIN_SHARE: Final = 0.3
"""Share of the claim's words that must be said of what is reckoned with."""


@dataclass(frozen=True, slots=True)
class _Result:
    value: Decimal
    places: tuple[Place, ...]
    text: str


def derive(want: Wanted, claim: Claim, places: Sequence[Place]) -> Derivation | None:
    """Return how the claim's value follows from values of the facts, or what should stand in its place."""
    value = want.value
    if value.kind in {EntityKind.DATE, EntityKind.TIME}:
        return _moved(want, places)
    if value.magnitude is None:
        return None
    if value.unit == SHARE:
        return _share(want, claim, places)
    alike = [one for one in places if _is_operand(one, value)]
    operands = sorted(alike, key=want.said_of, reverse=True)[:OPERANDS]
    elapsed = _elapsed(value, places)
    if elapsed is not None:
        return elapsed
    if not operands:
        return None
    return (
        worked_out(want, claim, operands, places)
        or _joined(want, claim, operands)
        or _added(want, claim, operands)
        or _by_period(want, operands)
        or reckoned_in_rows(want, claim, [one for one in alike if one.cell is not None])
        or _total(want, claim, operands, places)
        or _difference(want, claim, operands)
    )


def _by_period(want: Wanted, operands: Sequence[Place]) -> Derivation | None:
    """Return the amount for one period from that for another: £10 a month where £120 a year are due."""
    own = want.value
    for one in operands if own.per else ():
        times = periods(own.per, one.value.per)
        if times is not None and is_worth(own, own.magnitude, times_worth(one, times)):
            return Derivation(one, equal=True, text=f"{how_often(one, times)} = {own.text}")
    return None


def _added(want: Wanted, claim: Claim, operands: Sequence[Place]) -> Derivation | None:
    """Return the sum of the values that the claim itself names before what they come to: "with A and B you pay C"."""
    own = want.value
    addends = [one for one in want.others if one.kind is own.kind and one.unit == own.unit and one.start < own.start]
    if len(addends) < 2 or not _PAID.search(claim.text[: own.start - claim.start][-_REACH:]):  # noqa: PLR2004 - as above
        return None
    stated = [next((place for place in operands if agrees(one, place.value)), None) for one in addends]
    chosen = [place for place in stated if place is not None]
    if len(chosen) < len(addends):
        return None
    total = sum((worth(one) for one in chosen), Decimal(0))
    if not is_worth(own, own.magnitude, total):
        return None
    text = " + ".join(one.value.text for one in chosen) + f" = {shown(own, total)}"
    return Derivation(chosen[0], equal=True, text=text, operands=tuple(chosen))


def _joined(want: Wanted, claim: Claim, operands: Sequence[Place]) -> Derivation | None:
    """Return the sum of the values of what the claim joins: "114 were for shared ownership or for market sale"."""
    behind = claim.text[want.value.end - claim.start :]
    if not _JOINT.search(behind):
        return None
    said = terms(behind) - terms(want.value.counted)
    group = _group(operands)
    named = [one for one in _named(want, operands, said, frozenset()) if one in group]
    total = sum((worth(one) for one in named), Decimal(0))
    if len(named) < 2 or not is_worth(want.value, want.value.magnitude, total):  # noqa: PLR2004 - one value has no sum
        return None
    text = " + ".join(one.value.text for one in named) + f" = {shown(want.value, total)}"
    return Derivation(named[0], equal=True, text=text, operands=tuple(named))


_JOINT: Final = re.compile(r"\b(?:or|and|as\swell\sas)\b", re.IGNORECASE)


def _is_operand(one: Place, value: Value) -> bool:
    same = one.value.kind is value.kind and one.value.unit == value.unit
    return same and one.value.magnitude is not None and not one.label


def _total(want: Wanted, claim: Claim, operands: Sequence[Place], places: Sequence[Place]) -> Derivation | None:
    if not TOTAL.search(claim.text) or len(operands) < 2:  # noqa: PLR2004 - one value has no sum
        return _product(want, operands, places)
    excluded = frozenset().union(*(terms(match.group()) for match in _EXCLUDED.finditer(claim.text)))
    said = frozenset(want.weights) - excluded
    named = _named(want, operands, said, excluded)
    group = _group(operands)
    included = frozenset().union(*(terms(match.group()) for match in _INCLUDED.finditer(claim.text)))
    outside = [one for one in named if one not in group and included & one.stretch]
    if len(named) > 1 and not (group and set(group) & set(named)):
        chosen = named
    elif len(group) > 1:
        chosen = [*group, *outside] if outside and len(outside) < len(group) else group
        chosen = [one for one in chosen if not excluded & one.stretch - said]
    else:
        chosen = named
    if len(chosen) < 2:  # noqa: PLR2004 - as above
        return _product(want, operands, places)
    wanted = want.value.magnitude
    readings = [_sum(want, chosen, places)]
    if len(named) > 1:
        readings.append(_sum(want, named, places))
    readings.append(_remainder(group if len(group) > 1 else chosen))
    readings.append(_rest(want, group))
    for reading in readings:
        if reading is not None and is_worth(want.value, wanted, reading.value):
            return Derivation(reading.places[0], equal=True, text=reading.text, operands=reading.places)
    first = readings[0]
    if first is None or max(want.said_of(one) for one in chosen) < _MIN_SHARE * want.total:
        return None
    return Derivation(first.places[0], equal=False, text=first.text)


def _rest(want: Wanted, group: Sequence[Place]) -> _Result | None:
    """Return the sum of the values of a sentence without those that the claim names besides.

    "59 of the 84 members": 47 in person and 12 by proxy, out of 84.
    """
    left = [one for one in group if not any(agrees(other, one.value) for other in want.others)]
    if not 1 < len(left) < len(group):
        return None
    total = sum(map(worth, left), Decimal(0))
    return _Result(total, tuple(left), f"{' + '.join(one.value.text for one in left)} = {shown(want.value, total)}")


def _named(want: Wanted, operands: Sequence[Place], said: frozenset[str], excluded: frozenset[str]) -> list[Place]:
    """Return the places that the claim names by a word that not all of them share, the likeliest one for each word."""
    shared = frozenset.intersection(*(one.stretch for one in operands))
    best: dict[str, Place] = {}
    for one in operands:
        telling = (one.stretch & said) - shared
        if excluded & one.stretch and not telling - excluded:
            continue
        for term in telling:
            best.setdefault(term, one)
    chosen = {id(one) for one in best.values()}
    ranked = [one for one in operands if id(one) in chosen]
    bound = want.said_of(ranked[0]) * _NEARLY if ranked else 0.0
    return [one for one in ranked if want.said_of(one) >= bound]


_NEARLY: Final = 0.5


def _group(operands: Sequence[Place]) -> list[Place]:
    """Return the operands of the one sentence, or of sentences that follow one another with one each."""
    lines: dict[tuple[int, int], list[Place]] = {}
    for one in operands:
        lines.setdefault((one.fact_index, one.span.start), []).append(one)
    several = next((line for line in lines.values() if len(line) > 1), None)
    if several is not None:
        return sorted(several, key=lambda one: one.value.start)
    best = operands[0]
    ordered = sorted((one for one in operands if one.fact_index == best.fact_index), key=lambda one: one.value.start)
    at = next(number for number, one in enumerate(ordered) if one is best)
    run = [best]
    for step in (1, -1):
        number = at + step
        while 0 <= number < len(ordered) and _follow(ordered[number - step], ordered[number]):
            run.append(ordered[number])
            number += step
    return sorted(run, key=lambda one: one.value.start) if len(run) > 1 else []


def _follow(one: Place, other: Place) -> bool:
    gap = other.span.start - one.span.end if other.span.start > one.span.start else one.span.start - other.span.end
    return 0 <= gap <= _GAP_CHARS


_GAP_CHARS: Final = 4


def _sum(want: Wanted, chosen: Sequence[Place], places: Sequence[Place]) -> _Result | None:
    total, parts = Decimal(0), []
    for one in chosen:
        factor = _factor(want, one, places)
        total += factor * worth(one)
        parts.append(one.value.text if factor == 1 else f"{plain(factor)} x {one.value.text}")
    return _Result(total, tuple(chosen), f"{' + '.join(parts)} = {shown(want.value, total)}")


def _factor(want: Wanted, one: Place, places: Sequence[Place]) -> Decimal:
    """Return how often a rate counts: three nights at 85 a night, two adults at the price for an adult."""
    for other in want.others:
        if other.kind is EntityKind.NUMBER and other.counted and other.number is not None:
            counted = terms(other.counted)
            if counted & one.stretch or (one.value.per and one.value.per.startswith(other.counted)):
                return other.number
    if one.each:
        for beside in places:
            value = beside.value
            is_count = value.kind is EntityKind.NUMBER and value.counted and beside.fact_index == one.fact_index
            if is_count and value.number is not None and terms(value.counted) & one.stretch:
                return value.number
    return Decimal(1)


def _product(want: Wanted, operands: Sequence[Place], places: Sequence[Place]) -> Derivation | None:
    for one in operands:
        factor = _factor(want, one, places)
        if factor != 1 and factor * worth(one) == want.value.magnitude:
            text = f"{plain(factor)} x {one.value.text} = {want.value.text}"
            return Derivation(one, equal=True, text=text)
    return None


def _remainder(chosen: Sequence[Place]) -> _Result | None:
    if len(chosen) < 2:  # noqa: PLR2004 - nothing is left of one
        return None
    whole = max(chosen, key=worth)
    parts = [one for one in chosen if one is not whole]
    left = worth(whole) - sum((worth(one) for one in parts), Decimal(0))
    text = " - ".join([whole.value.text, *(one.value.text for one in parts)])
    return _Result(left, (whole, *parts), f"{text} = {plain(left)}")


def _difference(want: Wanted, claim: Claim, operands: Sequence[Place]) -> Derivation | None:
    parts = [one for one in operands if any(agrees(other, one.value) for other in want.others)]
    has_cue = bool(_DIFFERENCE.search(claim.text))
    if not has_cue and not parts:
        return None
    bound = want.said_of(operands[min(1, len(operands) - 1)]) - _STANDS_OUT
    for one, other in combinations([one for one in operands if want.said_of(one) >= bound or one in parts], 2):
        larger, smaller = (one, other) if worth(one) >= worth(other) else (other, one)
        left = worth(larger) - worth(smaller)
        text = f"{larger.value.text} - {smaller.value.text} = {shown(want.value, left)}"
        if (has_cue or one in parts or other in parts) and is_worth(want.value, want.value.magnitude, left):
            return Derivation(larger, equal=True, text=text, operands=(larger, smaller))
    for count in range(3, min(len(operands), 5) + 1):
        reading = _remainder(operands[:count])
        if reading is not None and is_worth(want.value, want.value.magnitude, reading.value):
            return Derivation(reading.places[0], equal=True, text=reading.text, operands=reading.places)
    return _wrong_difference(want, claim, operands)


def _wrong_difference(want: Wanted, claim: Claim, operands: Sequence[Place]) -> Derivation | None:
    """Return the difference of the two values that stand out, where the claim compares and states another."""
    if not _COMPARED.search(claim.text[want.value.end - claim.start :][:40]) and not _CHANGED.search(
        claim.text[: want.value.start - claim.start][-40:]
    ):
        return None
    first, second, *others = operands if len(operands) > 1 else [*operands, *operands]
    if first is second or (others and want.said_of(others[0]) > want.said_of(second) - _STANDS_OUT):
        return None
    larger, smaller = (first, second) if worth(first) >= worth(second) else (second, first)
    left = worth(larger) - worth(smaller)
    text = f"{larger.value.text} - {smaller.value.text} = {shown(want.value, left)}"
    return Derivation(larger, equal=False, text=text)


_STANDS_OUT: Final = 0.3
_COMPARED: Final = re.compile(
    r"^\s(?:\w+\s)?(?:more|less|fewer|lower|higher|longer|shorter|dearer|cheaper|larger|smaller)\b"
)
_CHANGED: Final = re.compile(r"\bby\s(?:about\s|some\s)?$|\bdifference\s(?:is|was|of)\s$")


def _share(want: Wanted, claim: Claim, places: Sequence[Place]) -> Derivation | None:
    """Return the share of two counts or amounts, or the change from one to the other."""
    counts = [one for one in places if one.value.kind in _COUNTS and one.value.magnitude and not one.label]
    counts = [one for one in counts if one.value.kind is not EntityKind.QUANTITY or one.value.unit not in _LENGTHS]
    ranked = sorted(counts, key=want.said_of, reverse=True)[:OPERANDS]
    if not ranked or want.said_of(ranked[0]) < _MIN_SHARE * want.total:
        return None
    best = [one for one in ranked if (one.fact_index, one.span) == (ranked[0].fact_index, ranked[0].span)]
    is_change = bool(_CHANGE.search(claim.text))
    for group in (best, ranked):
        for reading in _ratios(group, is_change=is_change):
            if _is_rounded(want.value, reading.value):
                return Derivation(reading.places[0], equal=True, text=reading.text, operands=reading.places)
        readings = list(_ratios(group, is_change=is_change)) if want.manner and group is best else []
        if readings:
            return Derivation(readings[0].places[0], equal=False, text=readings[0].text)
    return None


_COUNTS: Final = frozenset({EntityKind.NUMBER, EntityKind.MONEY, EntityKind.QUANTITY})


def _ratios(group: Sequence[Place], *, is_change: bool) -> Iterator[_Result]:
    for one, other in combinations(sorted(group, key=lambda place: (place.fact_index, place.value.start)), 2):
        if one.value.kind is not other.value.kind or one.value.unit != other.value.unit:
            continue
        larger, smaller = (one, other) if worth(one) >= worth(other) else (other, one)
        if not worth(smaller):
            continue
        if not is_change and larger is not max(group, key=worth):
            continue
        if not is_change:
            share = _HUNDRED * worth(smaller) / worth(larger)
            yield _Result(share, (smaller, larger), f"{smaller.value.text} of {larger.value.text} = {_percent(share)}")
            continue
        for base, result in ((one, other), (other, one)):
            change = abs(_HUNDRED * (worth(result) - worth(base)) / worth(base))
            text = f"({result.value.text} - {base.value.text}) / {base.value.text} = {_percent(change)}"
            yield _Result(change, (base, result), text)


def _percent(number: Decimal) -> str:
    return f"{plain(number.quantize(Decimal('0.1')))} %"


def _is_rounded(value: Value, exact: Decimal) -> bool:
    """Say whether a share is the exact one, rounded to the digits that it is written with."""
    wanted = value.magnitude
    if wanted is None:
        return False
    if value.floor:
        return wanted < exact <= 2 * wanted
    exponent = wanted.normalize().as_tuple().exponent
    last = Decimal(1).scaleb(min(0, exponent)) if isinstance(exponent, int) else Decimal(1)
    return abs(wanted - exact) <= (_APPROXIMATE if value.approximate else last / 2)


_APPROXIMATE: Final = Decimal(2)
"""Percentage points by which "about a third" may miss."""


def _moved(want: Wanted, places: Sequence[Place]) -> Derivation | None:
    """Return the date or time that lies a length of time before or behind another of the facts."""
    starts = sorted((one for one in places if one.value.kind is want.value.kind), key=want.said_of, reverse=True)
    lengths = sorted((one for one in places if one.value.unit in _LENGTHS), key=want.said_of, reverse=True)
    for start in starts[:OPERANDS]:
        for length in lengths[:OPERANDS]:
            move = reached if want.value.kind is EntityKind.DATE else time_after
            for sign, result in move(start.value, length.value):
                if agrees(want.value, result) and _is_of_one_thing(want, start, length):
                    text = f"{start.value.text} {sign} {length.value.text} = {result.normal}"
                    return Derivation(start, equal=True, text=text, operands=(start, length))
    return None


def _is_of_one_thing(want: Wanted, start: Place, length: Place) -> bool:
    """Say whether a length is said of what a date is said of: in one sentence, or of what the claim says besides.

    "Switched off on 31 January 2025" and "free for twelve months" of something else make no date.
    """
    if (length.fact_index, length.span) == (start.fact_index, start.span) or length.value in want.others:
        return True
    return any(agrees(other, length.value) for other in want.others) or bool(
        (length.sentence | length.heading) & want.weights.keys() - start.sentence
    )


_LENGTHS: Final = frozenset({"month", "second"})


def _elapsed(value: Value, places: Sequence[Place]) -> Derivation | None:
    """Return the two dates that a length of time lies between."""
    if value.unit not in _LENGTHS or value.per:
        return None
    dates = [one for one in places if one.value.kind in {EntityKind.DATE, EntityKind.TIME}][:OPERANDS]
    for one, other in combinations(dates, 2):
        if one.value.kind is other.value.kind and span_between(one.value, other.value, value):
            text = f"{one.value.text} to {other.value.text} = {value.text}"
            return Derivation(one, equal=True, text=text)
    return None
