"""Whose place a claim's value takes: of all values that measure the same, the one of which most of the claim is said.

Every value of the facts is weighed by how near to it the claim's words stand: in its own stretch, in its sentence or
row, in a heading, elsewhere in its fact (ADR 0094). Where another value is said of the claim's words clearly more
than any that agrees, the claim's value stands in its place. In doubt nothing is said.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from operator import eq
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.agreement import agrees, comparable
from services.common.reading.bounds import Bound, out_of_bounds
from services.common.reading.intervals import APART
from services.common.reading.nearness import said_of
from services.common.reading.places import (
    APART_BY,
    APPOSED,
    NUMBERED,
    PART_OF,
    PLACED,
    Beside,
    Place,
    label_of,
    manner,
    negated,
    side_and_cue,
    stretches,
)
from services.common.reading.polarity import is_negated
from services.common.reading.ratios import SHARE, TIMES
from services.common.reading.terms import terms, terms_without, value_terms
from services.common.reading.text_types import Claim, Value
from services.dpe.domain.conditions import Kind, conditions, without_conditions

_OF_ANOTHER: Final = 0.4
"""Weight of a claim's word that stands in the stretch of another of its values."""
_TELLING: Final = 1.5
"""Weight of a name or of an identifier: it tells apart where other words are shared."""
_SAME_SIDE: Final = 0.9
_SAME_CUE: Final = 0.2
_COVERED: Final = 0.2
"""What a place gains whose whole stretch the claim says."""
MARGIN: Final = 0.3
"""So much more must be said of one value than of another for one to be taken for the other."""
MARGIN_NAMED: Final = 1.2
"""The same where a word of the claim stands beside the one that agrees alone."""
SAID: Final = 0.65
"""Share of the claim's words, weighed, that must be said of a value for a claim that agrees with none to differ."""
SAID_ALIKE: Final = 0.4
"""The same share where the two look alike: 90 minutes and 90 seconds, 2 May 2023 and 2 May 2022."""
MUTUAL: Final = 0.55
"""Share of the place's own words in the claim from which on a paraphrase may leave out as much as one that is alike."""
REPEATED: Final = 0.75
"""Share of the claim's words said of a place from which on a claim repeats its fact."""
LEAST_SAID: Final = 1.5
"""Of words, weighed, that must be said of a value before another is held against it; of fewer words nearly all."""
_ALL: Final = 0.95
DEPENDS: Final = 0.6
"""Share of what holds under a condition that the fact's sentence must say for its other side to be a departure."""
_NAMED: Final = re.compile(r"(?<=[\w,;] )[A-Z][\w-]*|\b[A-Za-z]*-?\d[\w-]*")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A claim's value with the words it is said of, each with its weight.

    Attributes:
        others: the claim's other values, with offsets in the claim.
        beside: values of the other claims of its sentence, with offsets in the answer, as the value's own.
        main: of a value in a condition, the words of what holds under it; else empty.
        beyond: the limit that it is said to break: AT_LEAST of what is too little, AT_MOST of what is too much.
    """

    value: Value
    weights: dict[str, float]
    side: Bound | None
    cue: str
    manner: str
    label: str = ""
    others: tuple[Value, ...] = ()
    negated: bool = False
    beyond: Bound | None = None
    beside: tuple[Value, ...] = ()
    main: frozenset[str] = frozenset()

    @property
    def total(self) -> float:
        """What a place has of which everything is said."""
        return sum(self.weights.values())

    def said_of(self, place: Place) -> float:
        """Return how much of the claim is said of a place."""
        return said_of(self.weights, place)

    def score(self, place: Place) -> float:
        """Return how likely the value stands in this place: what is said, and how, and what else the place says."""
        found = self.said_of(place)
        found += _SAME_SIDE if self.side is not None and self.side is place.side else 0.0
        found += _SAME_CUE if self.cue and self.cue == place.cue else 0.0
        found += self._kept(place)
        own = place.stretch
        return found + (_COVERED * len(own & self.weights.keys()) / len(own) if own else 0.0)

    def _kept(self, place: Place) -> float:
        """Return what it counts that other values of the claim keep to conditions beside the place."""
        found = 0.0
        for other in self.others:
            kept = [one for one in place.beside if _keeps(other, one)]
            found += max((_TELLING if one.in_stretch else _TELLING / 2 for one in kept), default=0.0)
        return found


def _keeps(value: Value, beside: Beside) -> bool:
    known, upper = beside.value.magnitude, beside.upper.magnitude if beside.upper is not None else None
    if value.magnitude is None or known is None or value.unit != beside.value.unit or value.kind is EntityKind.DATE:
        return False
    if upper is not None:
        return known <= value.magnitude <= upper
    if beside.side is Bound.AT_LEAST:
        return known <= value.magnitude <= known * _FAR
    return beside.side is Bound.AT_MOST and known / _FAR <= value.magnitude <= known


_FAR: Final = 5
"""A value that is smaller or larger than a limit by this factor hardly speaks of it."""


def wanted(claim: Claim, antecedent: frozenset[str] = frozenset(), beside: Sequence[Value] = ()) -> list[Wanted]:
    """Return the claim's values that can be placed, each with its words.

    Args:
        claim: the claim.
        antecedent: words for which a pronoun at its beginning stands.
        beside: values of the other claims of its sentence.
    """
    text, offset = claim.text, claim.start
    values = [_shifted(value, offset) for value in claim.values]
    placed = [value for value in values if value.kind in PLACED]
    telling = frozenset().union(*(terms(match.group()) for match in _NAMED.finditer(text)))
    everything = terms_without(text, 0, len(text), values) | frozenset().union(*(terms(word) for word in antecedent))
    # "Even for less than 25 euros" sets no limit.
    held_under = list(conditions(text))
    denied = [condition.span for condition in held_under if condition.kind is Kind.DENIED]
    main = terms(without_conditions(text)) if len(held_under) > len(denied) else frozenset[str]()
    found: list[Wanted] = []
    for original, value in zip([one for one in claim.values if one.kind in PLACED], placed, strict=True):
        alike = [other for other in placed if (other.kind, other.unit) == (value.kind, value.unit)]
        span = stretches(text, 0, len(text), alike, apart=True)[alike.index(value)]
        inside = [other for other in values if span.start <= other.start < span.end]
        own = terms_without(text, span.start, span.end, inside)
        weights = {
            term: (1.0 if term in own or len(alike) == 1 else _OF_ANOTHER) * (_TELLING if term in telling else 1.0)
            for term in sorted(everything)
        }
        weights |= dict.fromkeys(sorted(value_terms(other for other in values if other is not value)), 1.0)
        side, cue = side_and_cue(text, 0, value)
        if any(span.start <= value.start < span.end for span in denied):
            side = None
        found.append(
            Wanted(
                original,
                weights,
                side,
                cue,
                manner(text, value),
                label_of(text, 0, value),
                tuple(other for other in values if other is not value),
                negated(text, span, value),
                out_of_bounds(text, 0, value),
                tuple(beside),
                main if any(one.span.start <= value.start < one.span.end for one in held_under) else frozenset(),
            )
        )
    return found


def _shifted(value: Value, offset: int) -> Value:
    return replace(value, start=value.start - offset, end=value.end - offset)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place with how likely a value stands in it."""

    score: float
    place: Place


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a claim's value stands.

    Attributes:
        agreeing: the likeliest place whose value agrees with it, or ``None``.
        rival: the likeliest place of another value, or ``None``.
        said: share of the claim's words that is said of the rival's place.
    """

    wanted: Wanted
    agreeing: Ranked | None
    rival: Ranked | None
    said: float

    @property
    def is_firm(self) -> bool:
        """The value stands there and in no other place: much more is said of it than of any rival."""
        if self.agreeing is None:
            return False
        return self.rival is None or self.agreeing.score - self.rival.score >= MARGIN

    @property
    def is_turned(self) -> bool:
        """It stands there, and claim and fact lie on opposite sides of it."""
        if self.agreeing is None or self.agreeing.place.side is None or self.wanted.side is None:
            return False
        there, own = self.agreeing.place, self.wanted.value
        # "At least two weeks" beside "up to two nights".
        counts_alike = own.counted == there.value.counted or terms(there.value.counted) & self.wanted.weights.keys()
        if own.counted and there.value.counted and not counts_alike:
            return False
        if self.wanted.side is there.side or self.wanted.negated != there.negated:
            return False
        # A bonus is earned "if you don't make more than four", and lost "if you make more than four".
        main = self.wanted.main
        return len(main & there.sentence) >= DEPENDS * len(main)

    @property
    def is_beyond(self) -> bool:
        """It breaks the limit that another value sets, as it says: two months are too short for three."""
        if self.rival is None or self.wanted.beyond is None or self.wanted.beyond is not self.rival.place.side:
            return False
        own, limit = self.wanted.value.magnitude, self.rival.place.value.magnitude
        if own is None or limit is None or self.wanted.value.unit != self.rival.place.value.unit:
            return False
        return own < limit if self.wanted.beyond is Bound.AT_LEAST else own > limit

    @property
    def is_displaced(self) -> bool:
        """Another value stands in the place that the claim speaks of."""
        if self.agreeing is None and self.rival is not None and self.wanted.beyond is not None:
            return self.wanted.beyond is self.rival.place.side and self.said >= SAID_ALIKE and not self.is_beyond
        if self.rival is None or self.said * self.wanted.total < min(LEAST_SAID, _ALL * self.wanted.total):
            return False
        if self.agreeing is None:
            return self.said >= self._needed(self.rival.place)
        # A word of the claim that stands beside the agreeing value alone speaks for it.
        named = self.agreeing.place.stretch - self.rival.place.sentence - self.rival.place.heading
        value = self.wanted.value
        is_year = value.kind is EntityKind.DATE and (value.number is not None or value.normal.startswith("--"))
        margin = MARGIN_NAMED if is_year or named & self.wanted.weights.keys() else MARGIN
        return self.rival.score - self.agreeing.score >= margin

    @property
    def is_repeated(self) -> bool:
        """The claim says of its value what the fact says of the other, nearly word for word."""
        return self.rival is not None and self.said >= REPEATED and self._mutual(self.rival.place) >= MUTUAL

    def _mutual(self, there: Place) -> float:
        own = there.stretch
        return len(own & self.wanted.weights.keys()) / len(own) if own else 0.0

    def _needed(self, there: Place) -> float:
        """Return which share of the claim must be said of a place whose value is held against it."""
        is_alike = _resembles(self.wanted.value, there.value)
        is_same_limit = self.wanted.side is not None and self.wanted.side is there.side
        is_mutual = self._mutual(there) >= MUTUAL or is_same_limit
        return SAID_ALIKE if is_alike or is_mutual else SAID


def place(want: Wanted, claim: Claim, places: Sequence[Place]) -> Placed:
    """Place a value among the values of the facts."""
    value = want.value
    same = [one for one in places if comparable(value, one.value)]
    # The number of a paragraph bears nothing out.
    counting = [one for one in same if want.label or one.label != NUMBERED]
    agreeing = [one for one in counting if agrees(value, one.value) or _lies_above(one.value, value)]
    others = [other for other in claim.values if other is not value]
    rivals = [
        one
        for one in same
        if _measures_alike(want, one, agreeing=bool(agreeing))
        and not agrees(value, one.value)
        and not agrees(one.value, value)
        and not _lies_above(one.value, value)
        and _in_one_place(want, one)
        and not any(agrees(other, one.value) for other in others)
    ]
    if not agreeing:
        rivals = [one for one in rivals if one.value.kind is value.kind] or rivals
    if is_negated(claim.text) and _ranges_beside(value, same):
        rivals = []  # "must not be run at 45 degrees" keeps to "5 to 40 degrees"
    around = _ranges_around(value, rivals)
    if around:  # it says what a range does, unless another place is said of more of the claim
        least = max(want.score(one) for one in around)
        rivals = [one for one in rivals if one not in around and want.score(one) > least]
    best, rival = _best(want, agreeing), _best(want, rivals)
    if best is None and rival is not None and _holds(value, want, rival.place):
        rival = None
    return Placed(want, best, rival, _share_said(want, rival.place) if rival is not None else 0.0)


def _share_said(want: Wanted, one: Place) -> float:
    """Return the share of the claim's words that is said of a place.

    "A year" beside "per month" is no word that an equal amount has to be said of: it is what the two differ in.
    Another value of the claim is said of a place that stands beside the range that it lies in.
    """
    total, per = want.total, {want.value.per, one.value.per}
    if want.value.magnitude == one.value.magnitude and len(per - {"", APART}) > 1:
        total -= sum(want.weights.get(term, 0.0) for term in terms(want.value.per))
    ranges = [beside for beside in one.beside if beside.upper is not None]
    kept = [other for other in want.others if other.unit and any(_keeps(other, beside) for beside in ranges)]
    said = want.said_of(one) + sum(want.weights.get(term, 0.0) for term in value_terms(kept) - one.sentence)
    return said / total if total else 0.0


def _best(want: Wanted, places: Sequence[Place]) -> Ranked | None:
    ranked = [Ranked(want.score(one), one) for one in places]
    return max(ranked, key=lambda one: one.score, default=None)


def _resembles(value: Value, known: Value) -> bool:
    """Say whether two values share their number, or two of the three parts of a date."""
    if value.kind is EntityKind.DATE and known.kind is EntityKind.DATE:
        parts = value.normal.split("-"), known.normal.split("-")
        return len(parts[0]) == len(parts[1]) == _DATE_PARTS and sum(map(eq, *parts)) == _DATE_PARTS - 1
    return value.number is not None and value.number == known.number


_DATE_PARTS: Final = 3


def _measures_alike(want: Wanted, one: Place, *, agreeing: bool) -> bool:
    """Say whether one value can stand for the other: both counted or both measured, and none of them a name.

    A bare number that counts nothing stands for a measured one only where no value agrees.
    """
    if want.label or (one.label and one.label not in {want.value.counted, *want.weights}) or one.label == NUMBERED:
        return False
    units = {want.value.unit, one.value.unit}
    bare = next((value for value in (want.value, one.value) if not value.unit), None)
    if bool(want.value.unit) != bool(one.value.unit) and (
        bare is None or bare.counted or one.label or units & {TIMES, SHARE} or agreeing
    ):
        return False
    if (want.value.per == APART) != (one.value.per == APART) or (agreeing and want.value.per != one.value.per):
        return False
    if not (want.value.unit or want.value.counted or one.value.unit) and one.value.counted:
        return one.value.counted in want.weights  # "At 22 you may ..." counts no seats
    # "Four technologies" beside a column "Output 2023".
    one_is_year = _is_year_shaped(one.value) != _is_year_shaped(want.value) and not (want.value.unit or one.value.unit)
    if one_is_year or (
        want.value.kind is EntityKind.DATE
        and (len(want.value.normal) < len(one.value.normal) or _is_year_alone(want.value) != _is_year_alone(one.value))
    ):
        return False  # a year or a month is a time at which something holds, not the day that a fact names
    return _is_ordinal(want.value) == _is_ordinal(one.value)


def _is_year_alone(value: Value) -> bool:
    return value.normal.isdigit()


def _is_year_shaped(value: Value) -> bool:
    """Say whether a number is written as a year is, and counts nothing."""
    return value.kind is EntityKind.NUMBER and not value.counted and bool(_YEAR.fullmatch(value.text))


_YEAR: Final = re.compile(r"(?:19|20)\d\d")


def _is_ordinal(value: Value) -> bool:
    return value.kind is EntityKind.NUMBER and value.text[-2:].lower() in {"st", "nd", "rd", "th"}


def _in_one_place(want: Wanted, one: Place) -> bool:
    """Say whether two values can stand in one place.

    An age behind a name ("Mr Hill, 28, was ...") counts nothing, a difference ("1.5 kg less") is no weight, and a share
    of something ("60 % of all cases") is no change that a multiplier ("doubled") could be set against.
    """
    if {APPOSED, APART_BY} & {want.manner, one.manner}:
        return want.manner == one.manner
    return not (PART_OF in {want.manner, one.manner} and TIMES in {want.value.unit, one.value.unit})


def _lies_above(known: Value, value: Value) -> bool:
    """Say whether a known value that stands alone lies above a claimed floor, and not far above it."""
    if not value.floor or known.floor or known.magnitude is None or value.magnitude is None or known.unit != value.unit:
        return False
    return value.magnitude < known.magnitude <= 2 * value.magnitude


def _holds(value: Value, want: Wanted, one: Place) -> bool:
    """Say whether a value without a limit keeps to the limit of a place: 14 years are more than ten."""
    known = one.value.magnitude
    if value.kind is EntityKind.DATE:
        return want.side is None and one.side is not None
    if want.side is not None or want.beyond is not None or one.side is None or known is None or value.magnitude is None:
        return False
    if value.unit != one.value.unit and value.unit and one.value.unit:
        return False
    return value.magnitude > known if one.side is Bound.AT_LEAST else value.magnitude < known


def _ranges_around(value: Value, places: Sequence[Place]) -> list[Place]:
    """Return the two places of each range that a value lies in, such as "16 to 22 kg"."""
    return [one for pair, is_inside in _ranges(value, places) if is_inside for one in pair]


def _ranges_beside(value: Value, places: Sequence[Place]) -> list[Place]:
    """Return the two places of each range that a value does not lie in."""
    return [one for pair, is_inside in _ranges(value, places) if not is_inside for one in pair]


def _ranges(value: Value, places: Sequence[Place]) -> Iterator[tuple[tuple[Place, Place], bool]]:
    for low, high in pairwise(places):
        bounds = (low.value.magnitude, *_days_in(value, low.value), high.value.magnitude)
        is_joined = high.cue == "to" or (high.cue == "and" and low.cue == "between")
        is_range = is_joined and low.span == high.span and low.fact_index == high.fact_index
        if is_range and None not in bounds:
            yield (low, high), bounds[0] <= bounds[1] and bounds[2] <= bounds[3]  # type: ignore[operator]


def _days_in(value: Value, known: Value) -> tuple[Decimal | None, Decimal | None]:
    """Return the most and the least that a value is in the unit of another: four days may be two working days."""
    days = value.magnitude
    if days is None or {value.unit, known.unit} != {"working day", "second"}:
        return days, days
    if value.unit == "second":
        days /= _DAY
        return days, days - 2 * (days // 7 + 1)
    return (days + 2 * (days // 5 + 1)) * _DAY, days * _DAY


_DAY: Final = Decimal(86_400)
