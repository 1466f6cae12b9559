"""The values of a text that stand in the place which a predicate speaks of, by what they are said of (ADR 0116).

A draft seldom names an attribute as its constraint does. Every value of the draft is read with what it is said of by
the code that lines claims up with facts (SPEC-005 §5.3, ADR 0094), and the constraint's words are weighed against
that. FALSE needs the value that is nearest by far, or every value of its kind, to break the demand; TRUE that no value
of its kind breaks it, or one that hardly any word is missing of. Anything else stays open.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.bounds import Bound
from services.common.reading.nearness import said_of
from services.common.reading.numerals import may_be_thousands, plain
from services.common.reading.places import Place, read_places
from services.common.reading.terms import terms
from services.common.reading.text_types import Value
from services.common.reading.values import scan_values
from services.ercp.domain.predicates.describing import demand, said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Span, TextFacts
from services.ercp.domain.predicates.meant import is_difference, may_be_same_span, period_of, reckoned, said_otherwise
from services.ercp.domain.predicates.model import (
    Amount,
    Hour,
    Moment,
    Operand,
    Path,
    Predicate,
    PredicateName,
    Range,
    YearDay,
)
from services.ercp.domain.predicates.owners import is_of_another, is_told_elsewhere, named_in
from services.ercp.domain.predicates.units import CURRENCIES
from services.ercp.domain.predicates.values import CALENDAR, CLOCK, YEARLY

NEAR: Final = 0.5
"""Share of the demand's words that must be said of a value which alone breaks it."""
ALONE: Final = 0.0
"""The same where every value of a kind that is not just a number breaks the demand."""
LINKED: Final = 0.25
"""The same where all values of the kind agree in what they are to the demand."""
CLOSE: Final = 0.85
"""The same for a value that keeps the demand while another of its kind would break it."""
MARGIN: Final = 0.2
"""So much more must be said of the nearest value than of one that is otherwise to the demand, as a share."""
_MOST_DAYS: Final = 31
_MONTH_S: Final = 2_629_746
"""Seconds of a mean month, as pint has it."""
_LIGHT: Final = frozenset(
    terms("value amount number total length size date time price share level rate count duration")
)
_LIGHT_WEIGHT: Final = 0.5
SHARE_OF: Final = "share_of_"
"""How a last segment begins that names the whole of a share."""
_WHOLES: Final = frozenset({"total", "sum", "share", "date", "time"})
"""Last segments that say how an attribute is meant and not whose it is."""
_PERCENT: Final = "%"
_DOUBTED: Final = re.compile(
    r"\b(?:might|perhaps|possibly|probably|allegedly|reportedly|supposed?|imagine|wrong|false|untrue|incorrect|myth|"
    r"not\s+true|instead\s+of|used\s+to|in\s+the\s+past|formerly|previously)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Measure:
    """What a value is worth: its kind, the amount in the kind's base unit, and for which period it is."""

    kind: str
    amount: Fraction
    per: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value of the text with the share of the demand's words that is said of it, and whether all stand beside it.

    ``is_elsewhere``: it is told of something else, see ``owners.is_told_elsewhere``.
    """

    place: Place
    measure: Measure
    share: float
    is_named: bool = False
    is_elsewhere: bool = False
    holds: Holds = Holds.UNKNOWN

    @property
    def is_vague(self) -> bool:
        """True for a bare number, which may be of anything."""
        return not self.measure.kind

    @property
    def span(self) -> Span:
        """Where the value stands."""
        return Span(self.place.value.start, self.place.value.end)


def places_of(facts: TextFacts) -> Sequence[Place]:
    """Return the values of a text with what each is said of, read once; questions assert nothing.

    A text of which not every amount is read has none: which value is meant rests on all of them.
    """
    if not facts.is_complete:
        return ()
    found = facts.selected.get(Place)
    if not isinstance(found, tuple):
        read = read_places(0, facts.text, scan_values(facts.text))
        sentences = dict.fromkeys((place.span.start, place.span.end) for place in read)  # many values stand in one
        asserting = {span for span in sentences if _asserts(facts.text[slice(*span)])}
        found = tuple(place for place in read if (place.span.start, place.span.end) in asserting)
        facts.selected[Place] = found
    return found


def _asserts(sentence: str) -> bool:
    """Say whether a sentence says how things are: no question, nothing that is doubted or denied."""
    return not sentence.rstrip("\"') ").endswith("?") and _DOUBTED.search(sentence) is None


def measure_of(value: Value) -> Measure | None:
    """Return what a value is worth; ``None`` for what has no place on a scale."""
    if value.kind is EntityKind.TIME:
        return _clock(value)
    if value.kind is EntityKind.DATE:
        return _date(value.normal)
    if value.magnitude is None or value.kind not in _SCALED:
        return None
    amount = Fraction(value.magnitude)
    if value.kind is EntityKind.PERCENT:
        return Measure(_PERCENT, amount, value.per)
    if value.unit == "month":
        return Measure("second", amount * _MONTH_S, value.per)
    return Measure(value.unit, amount, value.per)


def _clock(value: Value) -> Measure | None:
    """Return minutes of the day; midnight ends one day and begins the next, and is worth nothing."""
    hour, _, minute = value.normal.partition(":")
    is_midnight = value.text.lower().endswith("midnight")
    return None if is_midnight else Measure(CLOCK, Fraction(int(hour) * 60 + int(minute[:2])))


_SCALED: Final = frozenset({EntityKind.NUMBER, EntityKind.QUANTITY, EntityKind.MONEY, EntityKind.PERCENT})
_DATE_CHARS: Final = len("2024-03-01")
_YEARLY_CHARS: Final = len("--03-01")


def _date(normal: str) -> Measure | None:
    """Return a day's number; a month or a year is many days."""
    if len(normal) == _YEARLY_CHARS and normal.startswith("--"):
        return Measure(YEARLY, Fraction(int(normal[2:4]) * _MOST_DAYS + int(normal[5:7])))
    if len(normal) != _DATE_CHARS:
        return None
    try:
        return Measure(CALENDAR, Fraction(date.fromisoformat(normal).toordinal()))
    except ValueError:
        return None


def demanded_measure(operand: Operand | None) -> Measure | None:
    """Return what the right side of a comparison is worth on the scale of the text's values."""
    match operand:
        case Hour():
            return Measure(CLOCK, Fraction(operand.minutes))
        case YearDay():
            return Measure(YEARLY, Fraction(operand.month * _MOST_DAYS + operand.day))
        case Moment():
            return None if operand.has_time else Measure(CALENDAR, Fraction(operand.at.toordinal()))
        case None | Path() | Range():
            return None
        case _:
            values = scan_values(_SYMBOL.sub(_spoken, said(operand)))
            return measure_of(values[0]) if len(values) == 1 else None


_SPOKEN: Final = {
    "ms": "milliseconds",
    "s": "seconds",
    "h": "hours",
    "m": "metres",
    "g": "grams",
    "l": "litres",
    "t": "tonnes",
}
_SYMBOL: Final = re.compile(rf"(?<=[\d\s])(?P<symbol>{'|'.join(_SPOKEN)})(?![\w/²³'\u2019-])")


def _spoken(match: re.Match[str]) -> str:
    return _SPOKEN[match["symbol"]]


def measure_as_written(text: str, value: Value) -> Measure | None:
    """Return what a value is worth with the short symbol of a unit that may stand behind it."""
    return measure_of(with_symbol(text, value))


def with_symbol(text: str, value: Value) -> Value:
    """Return a bare number with the short symbol of a unit behind it, such as 60 s; any other value as it is."""
    symbol = _SYMBOL.match(text, value.end + 1) if text[value.end : value.end + 1] == " " else None
    if value.kind is not EntityKind.NUMBER or value.unit or value.number is None or symbol is None:
        return value
    values = scan_values(f"{plain(value.number)} {_spoken(symbol)}")
    if len(values) != 1:
        return value
    end = symbol.end()
    return replace(values[0], text=text[value.start : end], start=value.start, end=end)


def on_scale(measure: Measure, wanted: Measure) -> Measure | None:
    """Return a measure on the scale of another one, or ``None`` when the two cannot be compared."""
    if wanted.per and measure.per and wanted.per != measure.per:
        return None
    if measure.kind == wanted.kind:
        return measure
    if wanted.kind == YEARLY and measure.kind == CALENDAR:
        day = date.fromordinal(int(measure.amount))
        return Measure(YEARLY, Fraction(day.month * _MOST_DAYS + day.day))
    if wanted.kind == _PERCENT and not measure.kind and 0 < measure.amount < 1:
        return Measure(_PERCENT, measure.amount * 100)  # a share of 0.4 beside 50 %
    return None


def weights_of(words: str) -> dict[str, float]:
    """Return the words by which a place is found, each with what it counts."""
    return {term: _LIGHT_WEIGHT if term in _LIGHT else 1.0 for term in sorted(terms(words.replace("_", " ")))}


def words_of_path(path: Path, condition: str = "") -> str:
    """Return the words of an attribute and its condition; what a share is of is not the share."""
    own = [segment.replace("_", " ") for segment in path.segments if not segment.startswith(SHARE_OF)]
    return " ".join([*own, condition]).strip()


def candidates(facts: TextFacts, words: str, wanted: Measure) -> list[Candidate]:
    """Return the values of a text that are of a kind with one, with the share of the words said of each."""
    weights = weights_of(words)
    total = sum(weights.values())
    found = []
    for place in places_of(facts):
        own = measure_as_written(facts.text, place.value)
        measure = None if own is None else on_scale(own, wanted) or as_money(place.value, own, wanted)
        is_denied = place.negated and not _lasts(facts.text, place)
        if measure is None or is_denied or place.label:
            continue
        share = said_of(weights, place) / total if total else 0.0
        counted = place.value.counted
        if not wanted.kind and counted and not (terms(counted) & weights.keys()):
            continue  # three nights count no flights
        if counted and terms(counted) & weights.keys() and total:
            share = min(1.0, share + 1.0 / total)
        elsewhere = is_told_elsewhere(facts, weights.keys(), place, telling=weights.keys() - _LIGHT)
        found.append(Candidate(place, measure, share, bool(weights) and weights.keys() <= place.stretch, elsewhere))
    return found


def _lasts(text: str, place: Place) -> bool:
    """Say whether a length of time says how long something is not so: "shall not work elsewhere for two years"."""
    start = max(place.span.start, place.value.start - _BEFORE_TIME)
    before = text[start : place.value.start]
    return place.value.unit in _TIMES and _FOR_SO_LONG.search(before) is not None and not _GOING_ON.search(before)


_TIMES: Final = frozenset({"second", "month"})
_BEFORE_TIME: Final = 60
_FOR_SO_LONG: Final = re.compile(r"\bfor\s(?:the\s|a\s|up\sto\s|at\sleast\s|at\smost\s|about\s)*\Z", re.IGNORECASE)
_GOING_ON: Final = re.compile(r"\b(?:last|run|stay|go\son|continue|take|valid)\b", re.IGNORECASE)


def as_money(value: Value, own: Measure, wanted: Measure) -> Measure | None:
    """Return a bare number of three digits or more as money beside money: "the house costs 900"."""
    is_bare = not own.kind and not value.counted and value.text[:1].isdigit() and own.amount >= _LEAST_MONEY
    return Measure(wanted.kind, own.amount) if is_bare and wanted.kind in CURRENCIES else None


_LEAST_MONEY: Final = 100


def judge(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Hold a comparison with a constant against the values that stand in its place."""
    assert isinstance(predicate.left, Path)
    check = check_of(predicate)
    wanted = _scale_of(predicate)
    if check is None or wanted is None:
        return _open(predicate)
    is_for_period = terms(predicate.condition) <= _PERIODS
    words = words_of_path(predicate.left, "" if is_for_period else predicate.condition)
    owner = _owner(predicate.left)
    edge = _EDGES.get(predicate.left.segments[-1].rpartition("_")[2]) if wanted.kind in _TIMED else None
    unsure = reckoned(facts, places_of(facts))
    found = [
        each
        if each.place.value.start in unsure
        or _is_unsure(predicate.left, each.place, facts.text)
        or _may_be_same(predicate.right, each.place.value)
        else replace(each, holds=check(each.measure.amount, None if edge else each.place.side))
        for each in candidates(facts, words, wanted)
        if (not owner or owner & (each.place.sentence | each.place.heading))
        and _is_under(predicate.condition, each.place, facts.text)
        and not _is_for_another_period(predicate, each)
        and not _is_of_another_size(each, wanted)
        and (edge is None or each.place.cue in edge)
        and not is_of_another(predicate.left, facts.text[each.place.span.start : each.place.span.end])
    ]
    kept = named_in(owner, [each.place.sentence for each in found])
    return decide(predicate, [each for each, is_kept in zip(found, kept, strict=True) if is_kept])


def _is_unsure(path: Path, place: Place, text: str) -> bool:
    """Say whether a value is by how much something changes, or is said by another verb than the demand's."""
    return is_difference(path, place, text) or said_otherwise(path, place, text)


def _may_be_same(right: Operand | None, value: Value) -> bool:
    """Say whether months and days may be one length, or EUR 2.000 be two thousand."""
    if value.kind is EntityKind.MONEY and may_be_thousands(value.text):
        return True
    if value.unit not in _TIMES or value.magnitude is None:
        return False
    return may_be_same_span(right, [Fraction(value.magnitude)], is_in_months=value.unit == "month")


def _is_under(condition: str, place: Place, text: str) -> bool:
    """Say whether a value is said under a condition; what is for each of something must be said to be."""
    if condition.startswith("per ") and terms(condition) <= _PERIODS:
        own = period_of(text, place.value.end)
        return terms(condition) == (terms(own) or place.sentence & _PERIODS or terms(condition))
    is_said = terms(condition) <= place.sentence | place.heading
    return is_said and (place.each or not condition.startswith("per "))


_EDGES: Final = {"until": frozenset({"until", "till", "to"}), "from": frozenset({"from", "since"})}
"""Last words of an attribute that is the end, or the beginning, of what lasts, with what stands before such a time."""
_TIMED: Final = frozenset({CALENDAR, CLOCK, YEARLY})


def _is_of_another_size(each: Candidate, wanted: Measure) -> bool:
    """Say whether a value is so much larger than the demanded one that only its words could make it the same thing."""
    sized = bool(wanted.kind) and wanted.kind not in _UNSIZED and bool(wanted.amount)
    return sized and each.share < NEAR and abs(each.measure.amount) > _SIZE * abs(wanted.amount)


_SIZE: Final = 10_000
_UNSIZED: Final = frozenset({CALENDAR, CLOCK, YEARLY, _PERCENT})


def _is_for_another_period(predicate: Predicate, each: Candidate) -> bool:
    """Say whether a value is for a month, and the demand for a year or exactly."""
    own, named = (
        each.place.value.per,
        _PERIODS & weights_of(words_of_path(predicate.left)).keys() if isinstance(predicate.left, Path) else _PERIODS,
    )
    is_demanded = isinstance(predicate.right, Amount) and "/" in predicate.right.unit
    if not own or is_demanded:
        return False
    return predicate.name is PredicateName.EQUAL or bool(named - terms(own))


_PERIODS: Final = frozenset(terms("hour day night week month quarter year"))


def _owner(path: Path) -> frozenset[str]:
    """Return the words of what has the attribute, one of which must stand with the value; empty when it is not named."""  # noqa: E501
    is_whole = path.segments[-1] in _WHOLES or path.segments[-1].startswith(SHARE_OF)
    return (
        terms(" ".join(path.segments[:-1]).replace("_", " "))
        if len(path.segments) > 1 and not is_whole
        else frozenset()
    )


def decide(predicate: Predicate, found: Sequence[Candidate]) -> Evaluation:
    """Join what single values say; see the module's own words."""
    wrong = [each for each in found if each.holds is Holds.FALSE]
    right = [each for each in found if each.holds is Holds.TRUE and not each.is_elsewhere]
    breaking = [each for each in wrong if not each.is_elsewhere]
    best_breaking, best_wrong, best_right = (
        max(own, key=lambda one: (one.is_named, one.share), default=None) for own in (breaking, wrong, right)
    )
    is_open = len(right) + len(wrong) < len(found)
    is_exacting = is_open or predicate.name in _EQUALITY
    if best_breaking is not None and _breaks(best_breaking, best_right, is_exacting=is_exacting):
        return _told(predicate, Holds.FALSE, best_breaking)
    if best_right is not None and _keeps(best_right, best_wrong, is_open=is_open):
        return _told(predicate, Holds.TRUE, best_right)
    return _open(predicate)


def _breaks(wrong: Candidate, right: Candidate | None, *, is_exacting: bool) -> bool:
    if right is None and is_exacting:
        return wrong.share >= NEAR
    if right is None:
        return wrong.share >= (LINKED if wrong.is_vague else ALONE)
    return wrong.share >= NEAR and _is_nearer(wrong, right, MARGIN)


_EQUALITY: Final = frozenset({PredicateName.EQUAL, PredicateName.NOT_EQUAL})


def _keeps(right: Candidate, wrong: Candidate | None, *, is_open: bool) -> bool:
    if wrong is None:
        return right.share >= (NEAR if is_open else LINKED)
    return right.share >= CLOSE and _is_nearer(right, wrong, 2 * MARGIN)


def _is_nearer(one: Candidate, other: Candidate, margin: float) -> bool:
    """Say whether one value is clearly the nearer: all words stand beside it alone, or many more are said of it."""
    return (one.is_named and not other.is_named) or one.share - other.share >= margin


def _scale_of(predicate: Predicate) -> Measure | None:
    right = predicate.right.low if isinstance(predicate.right, Range) else predicate.right
    return demanded_measure(right)


def check_of(predicate: Predicate) -> Callable[[Fraction, Bound | None], Holds] | None:  # noqa: PLR0911 - one for each kind
    """Return what says of one amount, with the side that the text names, whether it keeps the demand."""
    if isinstance(predicate.right, Range):
        low, high = demanded_measure(predicate.right.low), demanded_measure(predicate.right.high)
        if low is None or high is None or low.kind != high.kind:
            return None
        ends = (low.amount, high.amount)
        return lambda amount, side: _between(amount, side, *ends)
    limit = demanded_measure(predicate.right)
    if limit is None or predicate.tolerance is not None:
        return None
    bound = limit.amount
    if limit.kind == CLOCK and predicate.name is PredicateName.LESS_THAN and bound >= _EVENING:
        return lambda amount, side: (
            Holds.UNKNOWN  # the small hours may be of the next day
            if amount < _SMALL_HOURS
            else _below(amount, side, bound, inclusive=predicate.inclusive)
        )
    match predicate.name:
        case PredicateName.LESS_THAN:
            return lambda amount, side: _below(amount, side, bound, inclusive=predicate.inclusive)
        case PredicateName.GREATER_THAN:
            return lambda amount, side: _below(-amount, _turned(side), -bound, inclusive=predicate.inclusive)
        case PredicateName.EQUAL:
            return lambda amount, side: Holds.UNKNOWN if side else _truth(amount == bound)
        case PredicateName.NOT_EQUAL:
            return lambda amount, side: Holds.UNKNOWN if side else _truth(amount != bound)
        case _:
            return None


_EVENING: Final = 18 * 60
_SMALL_HOURS: Final = 5 * 60


def _below(amount: Fraction, side: Bound | None, limit: Fraction, *, inclusive: bool) -> Holds:
    """Say whether an amount lies below a limit; a limit that the text itself sets must not be the wider one."""
    is_below = amount < limit or (amount == limit and inclusive)
    if side is Bound.AT_LEAST:
        return Holds.FALSE if amount > limit else Holds.UNKNOWN
    return _truth(is_below)


def _between(amount: Fraction, side: Bound | None, low: Fraction, high: Fraction) -> Holds:
    if side is Bound.AT_LEAST and amount <= high:
        return Holds.FALSE if amount < low else Holds.UNKNOWN
    if side is Bound.AT_MOST and amount >= low:
        return Holds.FALSE if amount > high else Holds.UNKNOWN
    return _truth(low <= amount <= high)


def _turned(side: Bound | None) -> Bound | None:
    return None if side is None else side.other


def _truth(value: bool) -> Holds:
    return Holds.TRUE if value else Holds.FALSE


def _told(predicate: Predicate, holds: Holds, one: Candidate) -> Evaluation:
    why = f"of the {said(predicate.left)} the text says {one.place.value.text}, demanded is {demand(predicate)}"
    return Evaluation(holds, (one.span,), why)


def _open(predicate: Predicate) -> Evaluation:
    return Evaluation(Holds.UNKNOWN, (), f"no value of the text is plainly the {said(predicate.left)}")
