"""The places of facts that a question may ask about, and how far each is what is asked (ADR 0216).

A place is a clause of a sentence, or a cell of a table with the names of its row and its column. "What does Basic
cost?" asks about the cell of Basic and Price; "£12" stands in another one, and answers another question. Linear in the
text.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from services.common.questions.matching import rarity
from services.common.questions.reading import read_question
from services.common.questions.terms import terms
from services.common.reading.agreement import agrees, comparable
from services.common.reading.bounds import Bound, bound_of
from services.common.reading.labelled_rows import LabelledCell, labelled_row
from services.common.reading.places import PLACED, stretches
from services.common.reading.text_types import Span, Value
from services.common.reading.values import scan_values
from services.dpe.domain.facts import FactClause, FactView, within

NEARBY: Final = 0.5
"""What a word counts that stands in the rest of the sentence, or over it."""
_LINE: Final = re.compile(r"[^\n]+")
_NOTHING: Final = re.compile(
    r"(?:none|nil|no|never|closed|excluded|unpaid|n/?a|[–—-]"  # noqa: RUF001
    r"|not\s(?:available|included|covered|offered|allowed|provided|permitted|possible|applicable))\.?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AskedPlace:
    """A clause or a cell.

    Attributes:
        span: in the fact's content; ``text`` are its words.
        own: stems of its words; of a cell with those of its row's and its column's names.
        names: stems of the names alone; of a clause the same as ``own``.
        around: stems of its sentence and of what stands over it; of a cell what stands over its table, and how its
            rows are called.
        values: those in it; of a cell with the unit of its column.
        limits: values that say for which amounts the place holds: those of the row's name, of a clause its own.
        cell: ``None`` for a clause.
        within: equal for the cells of one table, and for the parts of one sentence.
    """

    fact_index: int
    span: Span
    text: str
    within: Hashable
    own: frozenset[str]
    names: frozenset[str]
    around: frozenset[str]
    values: tuple[Value, ...]
    limits: tuple["Limit", ...] = ()
    cell: LabelledCell | None = None

    @property
    def says_nothing(self) -> bool:
        """It is a cell that says that there is nothing: "none", "closed"."""
        return self.cell is not None and _NOTHING.fullmatch(self.text.strip()) is not None


@dataclass(frozen=True, slots=True)
class Limit:
    """The amounts for which a place holds: "6 months to under 2 years", "above 50 euros"; ends are its."""

    value: Value
    least: Decimal | None
    most: Decimal | None

    def holds(self, asked: Value) -> bool | None:
        """Say whether an amount lies in it; ``None`` where it measures something else."""
        if asked.magnitude is None or not comparable(asked, self.value) or not (asked.unit or not self.value.unit):
            return None
        amount = asked.magnitude
        if asked.unit and self.value.unit and asked.unit != self.value.unit:
            factor = _SPANS.get((asked.unit, self.value.unit))
            if factor is None:
                return None
            amount *= factor
        above = self.least is None or amount >= self.least
        return above and (self.most is None or amount <= self.most)


_MONTH_S: Final = Decimal("30.4375") * 86_400
_SPANS: Final = {("month", "second"): _MONTH_S, ("second", "month"): 1 / _MONTH_S}
"""By which a span in one unit becomes one in another, about (ADR 0040)."""


def read_asked_places(views: Iterable[FactView]) -> Iterator[AskedPlace]:
    """Yield the places of facts that hold now, in their order."""
    tables: dict[tuple[str, tuple[str, ...]], int] = {}
    for index, view in enumerate(views):
        content = view.fact.content
        if view.fact.superseded:
            continue
        lines = [(line.start(), labelled_row(line.group(), line.start())) for line in _LINE.finditer(content)]
        for start, row in lines:
            if row:
                over = content[start : row[0].start][:_HEAD_CHARS]
                yield from _cells(index, content, row, over, tables.setdefault((over, row[0].heads), len(tables)))
        if not any(row for _, row in lines):
            yield from _clauses(index, view)


def _clauses(index: int, view: FactView) -> Iterator[AskedPlace]:
    content, whole, last = view.fact.content, frozenset[str](), None
    for clause in view.clauses:
        sentence = clause.sentence
        over = content[: min(sentence.start, _HEAD_CHARS)].partition(": ")[0]
        if sentence != last:
            whole, last = frozenset((*stems(content[sentence.start : sentence.end]), *stems(over))), sentence
        for span in _stretches(content, clause):
            text, values = content[span.start : span.end], within(clause.values, span)
            own = frozenset(stems(text))
            yield AskedPlace(
                index,
                span,
                text,
                (index, sentence),
                own,
                own,
                whole,
                values,
                tuple(limits_in(text, span.start, values)),
            )


def _stretches(content: str, clause: FactClause) -> list[Span]:
    """Return the parts of a clause that give a value each; all of it where it gives one or none."""
    placed = [value for value in clause.values if value.kind in PLACED]
    if len(placed) < ENDS:
        return [clause.span]
    return list(dict.fromkeys(stretches(content, clause.span.start, clause.span.end, placed)))


def stems(text: str) -> tuple[str, ...]:
    """Return the stems of the words of content of a text, and the letters that name one of several: "Bay B"."""
    return (*terms(text), *(letter.lower() for letter in _LETTER.findall(text)))


_LETTER: Final = re.compile(r"(?<=[a-z]\s)(?!I\b)[A-Z]\b")
_HEAD_CHARS: Final = 120
_PERIOD_OF: Final = {terms("daily")[0]: terms("day")[0], terms("annual")[0]: terms("year")[0]}
_PER_PERIOD: Final = 0.75
"""What "daily" counts of a place that says "per day"."""


def _cells(index: int, content: str, row: Sequence[LabelledCell], lead: str, table: int) -> Iterator[AskedPlace]:
    first = row[0]
    label, over = stems(first.label), frozenset(stems(f"{lead} {first.head}"))
    limits = tuple(limits_in(first.label, 0, scan_values(first.label), exact=True))
    for cell in row[1:]:
        said, lead = content[cell.start : cell.end], f"{cell.head}: "
        shift = cell.start - len(lead)
        values = tuple(
            replace(one, start=one.start + shift, end=one.end + shift)
            for one in scan_values(f"{lead}{said}")
            if one.start >= len(lead)
        )
        names = frozenset((*label, *stems(cell.head)))
        own = names.union(stems(said))
        yield AskedPlace(index, Span(cell.start, cell.end), said, table, own, names, over, values, limits, cell)


def limits_in(text: str, offset: int, values: Sequence[Value], *, exact: bool = False) -> Iterator[Limit]:
    """Yield the amounts that a text limits: two ends, one end, and where asked for each other one by itself."""
    measured = [one for one in values if one.magnitude is not None]
    bounds = [bound_of(text, offset, one) for one in measured]
    if (
        len(measured) == ENDS
        and bounds[0] is not Bound.AT_MOST
        and (bounds[1] is Bound.AT_MOST or joined(text, offset, measured))
    ):
        low, high = measured
        least = low.magnitude if low.unit or not high.unit else _scaled(low, high)
        yield Limit(high, least, high.magnitude)
        return
    for one, bound in zip(measured, bounds, strict=True):
        if bound is not None or exact:
            least = None if bound is Bound.AT_MOST else one.magnitude
            yield Limit(one, least, None if bound is Bound.AT_LEAST else one.magnitude)


ENDS: Final = 2
_TO: Final = re.compile(r"\s?(?:to|until|till|[-–—])\s?(?:the\s)?", re.IGNORECASE)  # noqa: RUF001 - dashes of ranges


def joined(text: str, offset: int, ends: Sequence[Value]) -> bool:
    """Say whether two values of a text, whose offsets count from ``offset``, are the ends of one range."""
    return _TO.fullmatch(text[ends[0].end - offset : ends[1].start - offset]) is not None


def _scaled(low: Value, high: Value) -> Decimal | None:
    """Return the lower end in the unit of the upper: "2 to under 5 years"."""
    if low.number is None or not high.number or high.magnitude is None:
        return low.magnitude
    return low.number * high.magnitude / high.number


_MOST_VALUES: Final = 8
"""Amounts of a question that are held against every place, the first ones."""
_PERIODS: Final = frozenset(terms("hour day night week fortnight month quarter year"))


class Asked:
    """What one question asks about: how far each place of the facts is it, in [0, 1].

    Args:
        question: one.
        places: of the facts.
        earlier: questions that it leans on, nearest first.

    Attributes:
        values: amounts of the question.
        stems: of its words, ``periods`` those of lengths of time, ``known`` those that some place has.
        vocabulary: stems of all places.
    """

    def __init__(self, question: str, places: Sequence[AskedPlace], earlier: tuple[str, ...] = ()) -> None:
        self.text = question
        self.places = tuple(places)
        read = read_question(question, earlier)
        self.kind = read.kind
        asked = dict(read.weights) | {stem: 1.0 for stem in stems(question) if stem not in read.weights}
        self.values = scan_values(question)[:_MOST_VALUES]
        named = frozenset(stem for value in self.values for stem in terms(_with_tail(question, value)))
        self.stems = frozenset(asked)
        self.periods = self.stems & _PERIODS
        named_here = ([stem for stem in asked if stem in place.own or stem in place.around] for place in places)
        told = rarity(named_here, asked)
        weights = {stem: told[stem] * weight for stem, weight in asked.items() if stem not in named}
        heaviest = max(weights.values(), default=1.0)
        self._weights, self._per_value = weights, heaviest
        self._whole = sum(weights.values()) + heaviest * len(self.values)
        self.vocabulary = frozenset().union(*(place.own for place in places)) if places else frozenset()
        self.known = self.stems & self.vocabulary

    def of(self, places: Sequence[AskedPlace]) -> "Asked":
        """Return the same question of the same places with other values."""
        other = copy(self)
        other.places = tuple(places)
        return other

    def share(self, place: AskedPlace, *, by_name: bool = False) -> float:
        """Return how much of what is asked a place names: words by their rarity, and the amounts that it is for.

        Args:
            place: one of them.
            by_name: a cell is named by its row and column alone, and not by what it says.
        """
        if not self._whole:
            return 0.0
        own = place.names if by_name else place.own
        named = sum(weight * _named(stem, own, place.around) for stem, weight in self._weights.items())
        held = sum(_fits(value, place, by_name=by_name) for value in self.values)
        return (named + self._per_value * held) / self._whole

    def fits(self, place: AskedPlace, *, by_name: bool = False) -> bool:
        """Say whether a place is for every amount that is asked about."""
        return all(_fits(value, place, by_name=by_name) > 0 for value in self.values)


def _named(stem: str, own: frozenset[str], around: frozenset[str]) -> float:
    """Return how far a place names a word: itself, as a period that it says, or near it."""
    if stem in own:
        return 1.0
    if _PERIOD_OF.get(stem) in own:
        return _PER_PERIOD
    return NEARBY if stem in around else 0.0


def _with_tail(text: str, value: Value) -> str:
    """Return the words of a value to the end of the last: "70-year-old"."""
    tail = _TAIL.match(text, value.end)
    return value.text if tail is None else f"{value.text}{tail.group()} {value.text}"


_TAIL: Final = re.compile(r"[\w-]+")


def _fits(asked: Value, place: AskedPlace, *, by_name: bool) -> float:
    """Return 1 for a place that is for an amount that is asked about, -1 for one for others, and 0 else."""
    held = [limit.holds(asked) for limit in place.limits]
    is_said = place.cell is None or not by_name
    if any(held) or (is_said and any(agrees(asked, value) for value in place.values)):
        return 1.0
    return -1.0 if False in held else 0.0
