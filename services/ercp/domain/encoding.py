"""Predicates as formulas of linear real arithmetic, each behind a switch of its own (ADR 0071).

Every attribute under every condition is one real number in base units; an event is one too, its time. A predicate is a
formula over them that holds when its switch is on, so that an unsatisfiable set of switches is a set of predicates.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from services.ercp.domain.predicates.facts import Comparison, Interval, OrderFact, TextFacts, ValueFact
from services.ercp.domain.predicates.model import (
    OF_TEXT,
    Amount,
    Bounds,
    Moment,
    Operand,
    Options,
    Path,
    Predicate,
    PredicateName,
    Range,
    Steps,
    Text,
)
from services.ercp.domain.predicates.naming import condition_of, operand_words, path_words, words_of
from services.ercp.domain.predicates.selection import subject_words
from services.ercp.domain.predicates.units import DIMENSIONLESS, dimension_of
from services.ercp.domain.predicates.values import (
    TEXTUAL,
    Constant,
    agree_as_written,
    constant_of,
    demanded,
    moment_interval,
)

Key = tuple[frozenset[str], frozenset[str]]
"""An attribute's words and its condition's."""
_BARE: Final = "bare"
_MAIN: Final = "main"
"""A bare number says nothing of kilograms: it has a variable of its own beside the one with units."""
_COMPARISONS: Final = frozenset(
    {
        PredicateName.EQUAL,
        PredicateName.NOT_EQUAL,
        PredicateName.LESS_THAN,
        PredicateName.GREATER_THAN,
        PredicateName.BETWEEN,
        PredicateName.ONE_OF,
    }
)
_DATE: Final = frozenset(words_of("date"))
"""The date of the opening is when the opening is, as ``path_words`` has it."""
_MAX_FACTS: Final = 500
"""So many values and orders of a text enter as assumptions, the first ones."""


@dataclass(slots=True)
class System:
    """Formulas under construction, in one Z3 context.

    Attributes:
        z3: the z3 module, imported when a solver first needs it.
        context: owns every expression.
        formulas: for each id its formula; holds when the id's switch is on.
    """

    z3: Any
    context: Any
    formulas: dict[str, Any] = field(default_factory=dict)
    _shares: frozenset[Key] = frozenset()
    _dated: set[Key] = field(default_factory=set)
    _reals: dict[tuple[object, ...], Any] = field(default_factory=dict)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _stated: dict[Key, list[tuple[str, Any, ValueFact]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, predicates: Sequence[tuple[str, Predicate]], facts: TextFacts | None) -> None:
        """Translate predicates, and what a text asserts as assumptions."""
        self._dated = {
            _key(predicate.left, predicate.condition)
            for _, predicate in predicates
            if isinstance(predicate.left, Path) and isinstance(predicate.right, Moment)
        }
        self._shares = _shares_in(predicates)
        if facts is not None:
            self._add_facts(facts)
        amounts = _amounts_of(predicates)
        for name, predicate in predicates:
            self.formulas[name] = self._formula(predicate, amounts)

    def _formula(self, predicate: Predicate, amounts: Mapping[Key, Sequence[Amount]]) -> Any:
        if predicate.name in _COMPARISONS:
            return self._comparison(predicate, amounts)
        if predicate.name is PredicateName.TEMPORAL_ORDER:
            assert predicate.right is not None
            return self._sooner(predicate.left, predicate.right)
        if isinstance(predicate.left, Steps):
            steps = [Text(text) for text in predicate.left.texts]
            return self.z3.And(*(self._sooner(one, other) for one, other in pairwise(steps)))
        if predicate.name in OF_TEXT:
            return self._of_text(predicate)
        if predicate.name is PredicateName.HAS_JUSTIFICATION:
            return self.z3.Bool(f"justified {sorted(operand_words(predicate.left))}", self.context)
        return self._agreement(predicate)

    def _of_text(self, predicate: Predicate) -> Any:
        """Say what the text itself must be: words that it holds, patterns that it follows, how many it has."""
        if isinstance(predicate.right, Bounds):
            words = frozenset(operand_words(predicate.left))
            real = self._real("count", words, predicate.condition)
            low, high = (None if end is None else Fraction(end) for end in (predicate.right.low, predicate.right.high))
            return self.z3.And(real >= 0, self._inside(real, Interval(low, high)))
        if isinstance(predicate.right, Text):
            return self.z3.Bool(f"matches {predicate.right.text} {predicate.left}", self.context)
        assert isinstance(predicate.left, Text)
        if predicate.name is PredicateName.IN_WORDS:
            return self.z3.Bool(f"in words {predicate.left.text.casefold()}", self.context)
        holds = self.z3.Bool(f"contains {predicate.left.text.casefold()}", self.context)
        return self.z3.Not(holds) if predicate.name is PredicateName.NOT_CONTAINS else holds

    def _choice(self, key: Key, options: Options) -> Any:
        real = self._real("value", key, _MAIN)
        is_text = self._real("dimension", key) == self._number("dimension", TEXTUAL)
        return self.z3.And(
            is_text, self.z3.Or(*(real == self._number("text", text.casefold()) for text in options.texts))
        )

    def _comparison(self, predicate: Predicate, amounts: Mapping[Key, Sequence[Amount]]) -> Any:
        assert isinstance(predicate.left, Path)
        key = _key(predicate.left, predicate.condition)
        if isinstance(predicate.right, Options):
            return self._choice(key, predicate.right)
        if isinstance(predicate.right, Path):
            other = _key(predicate.right, predicate.condition)
            parts = [
                self._related(predicate, self._real("value", key, kind), self._real("value", other, kind))
                for kind in (_MAIN, _BARE)
            ]
            if predicate.name is not PredicateName.NOT_EQUAL:
                parts.append(self._real("dimension", key) == self._real("dimension", other))
            return self.z3.And(*parts)
        right = constant_of(predicate.right) if predicate.right is not None else None
        assert right is not None
        kind = self._kind(key, right.interval.low) if _is_bare(predicate.right) else _MAIN
        holders = [self._real("value", key, kind)]
        holders += [real for _, real, fact in self._stated.get(key, ()) if kind == self._kind_of(key, fact)]
        parts = [self._allowed(predicate, right, holder, amounts.get(key, ())) for holder in holders]
        if kind == _BARE:
            return self.z3.And(*parts)
        same_dimension = self._real("dimension", key) == self._number("dimension", right.dimension)
        if predicate.name is PredicateName.NOT_EQUAL:
            return self.z3.Implies(same_dimension, self.z3.And(*parts))
        return self.z3.And(same_dimension, *parts)

    def _related(self, predicate: Predicate, left: Any, right: Any) -> Any:
        match predicate.name:
            case PredicateName.EQUAL:
                return left == right
            case PredicateName.NOT_EQUAL:
                return left != right
            case PredicateName.LESS_THAN:
                return left <= right if predicate.inclusive else left < right
            case _:
                return left >= right if predicate.inclusive else left > right

    def _allowed(self, predicate: Predicate, right: Constant, real: Any, amounts: Sequence[Amount]) -> Any:
        """Say that a value is one of those that a comparison allows."""
        if right.dimension == TEXTUAL:
            inside = real == self._number("text", right.text)
        else:
            inside = self._inside(real, demanded(predicate, right))
        if predicate.name not in {PredicateName.EQUAL, PredicateName.NOT_EQUAL}:
            return inside
        if isinstance(predicate.right, Amount):
            # 1 mile is also 1.6 km, as long as somebody writes 1.6 km.
            others = [other for other in amounts if other.unit != predicate.right.unit]
            same = [_base(other) for other in others if agree_as_written(predicate.right, other)]
            inside = self.z3.Or(inside, *(real == self._constant(value) for value in same))
        return self.z3.Not(inside) if predicate.name is PredicateName.NOT_EQUAL else inside

    def _inside(self, real: Any, interval: Interval) -> Any:
        parts = [self.z3.BoolVal(True, self.context)]  # noqa: FBT003 - Z3's own signature
        if interval.low is not None:
            low = self._constant(interval.low)
            parts.append(real >= low if interval.low_closed else real > low)
        if interval.high is not None:
            high = self._constant(interval.high)
            parts.append(real <= high if interval.high_closed else real < high)
        return self.z3.And(*parts)

    def _sooner(self, before: Operand, after: Operand) -> Any:
        """Say that one event comes before another; a date is its whole day, which ends where the next one starts."""
        first, is_day = self._moment(before, end=True)
        second, _ = self._moment(after, end=False)
        return first <= second if is_day else first < second

    def _moment(self, operand: Operand, *, end: bool) -> tuple[Any, bool]:
        """Return when an event is, for a date when it starts or ends, and whether it is a day."""
        if not isinstance(operand, Moment):
            key: Key = (frozenset(operand_words(operand)), frozenset())
            return self._time(key), False
        interval = moment_interval(operand)
        place = interval.high if end else interval.low
        assert place is not None
        return self._constant(place), not interval.is_point

    def _time(self, key: Key) -> Any:
        """Return when an event is; an attribute of the same words whose value is a date is that event."""
        return self._real("value", key, _MAIN) if key in self._dated else self._real("time", key)

    def _agreement(self, predicate: Predicate) -> Any:
        """Say that everything that the text asserts of an entity is true of one state of things."""
        assert isinstance(predicate.left, Path)
        wanted = frozenset(path_words(predicate.left))
        parts = [self.z3.BoolVal(True, self.context)]  # noqa: FBT003 - Z3's own signature
        for key, stated in self._stated.items():
            if wanted <= key[0]:
                for _, real, fact in stated:
                    kind = self._kind_of(key, fact)
                    parts.append(real == self._real("value", key, kind))
                    if kind == _MAIN:
                        number = self._number("dimension", fact.dimension)
                        parts.append(self._real("dimension", key) == number)
        return self.z3.And(*parts)

    def _add_facts(self, facts: TextFacts) -> None:
        for fact in facts.values[:_MAX_FACTS]:
            words = frozenset(subject_words(fact))
            key = (words - _DATE or words, fact.condition.words)
            name = f"text:{fact.value_span.start}-{fact.value_span.end}"
            real = self._real("stated", key, name)
            if fact.interval is None:
                inside = real == self._number("text", fact.text)
            else:
                inside = self._inside(real, fact.interval)
            self.formulas[name] = self.z3.Not(inside) if fact.negated else inside
            self._stated[key].append((name, real, fact))
        for order in facts.orders[:_MAX_FACTS]:
            self.formulas[f"text:{order.span.start}-{order.span.end}:order"] = self._stated_order(order)

        for comparison in facts.comparisons[:_MAX_FACTS]:
            span = comparison.span
            self.formulas[f"text:{span.start}-{span.end}:comparison"] = self._stated_comparison(comparison)

    def _stated_comparison(self, comparison: Comparison) -> Any:
        left, right = (
            self._real("value", (frozenset((*side.entity, *side.attribute)), frozenset()), _MAIN)
            for side in (comparison.left, comparison.right)
        )
        return {
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
            "=": left == right,
            "!=": left != right,
        }[comparison.relation]

    def _stated_order(self, order: OrderFact) -> Any:
        first, second = (self._time((frozenset(words), frozenset())) for words in (order.before, order.after))
        return first < second

    def _kind(self, key: Key, number: Fraction | None) -> str:
        """Say which of an attribute's two values a bare number is: .4 of what has a percentage is 40 % (ADR 0115)."""
        is_fraction = key in self._shares and number is not None and abs(number) < 1
        return _MAIN if is_fraction else _BARE

    def _kind_of(self, key: Key, fact: ValueFact) -> str:
        if not _is_bare_fact(fact):
            return _MAIN
        interval = fact.interval or Interval()
        return self._kind(key, interval.low if interval.high is None else interval.high)

    def _real(self, *name: object) -> Any:
        found = self._reals.get(name)
        if found is None:
            found = self._reals[name] = self.z3.Real(f"v{len(self._reals)}", self.context)
        return found

    def _number(self, kind: str, text: str) -> Any:
        """Return the number that stands for a word: equal words, equal numbers."""
        number = self._numbers.setdefault((kind, text), len(self._numbers))
        return self._constant(Fraction(number))

    def _constant(self, value: Fraction) -> Any:
        return self.z3.RealVal(f"{value.numerator}/{value.denominator}", self.context)


def _key(path: Path, condition: str) -> Key:
    return frozenset(path_words(path)), condition_of([condition]).words


def _shares_in(predicates: Sequence[tuple[str, Predicate]]) -> frozenset[Key]:
    """Return the attributes that a predicate gives a percentage, and those that are compared with one of them."""
    found, near = set[Key](), defaultdict[Key, list[Key]](list)
    for _, predicate in predicates:
        if predicate.name not in _COMPARISONS or not isinstance(predicate.left, Path):
            continue
        key = _key(predicate.left, predicate.condition)
        if isinstance(predicate.right, Path):
            other = _key(predicate.right, predicate.condition)
            near[key].append(other)
            near[other].append(key)
        elif isinstance(predicate.right, Amount) and predicate.right.unit and _is_share(predicate.right):
            found.add(key)
    waiting = list(found)
    while waiting:
        for other in near.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return frozenset(found)


def _is_share(amount: Amount) -> bool:
    return dimension_of(amount.unit) == DIMENSIONLESS


def _is_bare(operand: Operand | None) -> bool:
    amount = operand.low if isinstance(operand, Range) else operand
    return isinstance(amount, Amount) and not amount.unit


def _is_bare_fact(fact: ValueFact) -> bool:
    return fact.dimension == DIMENSIONLESS and not fact.unit


def _base(amount: Amount) -> Fraction:
    constant = constant_of(amount)
    assert constant is not None
    assert constant.interval.low is not None
    return constant.interval.low


def _amounts_of(predicates: Sequence[tuple[str, Predicate]]) -> Mapping[Key, Sequence[Amount]]:
    """Return the amounts that predicates name for each attribute, once each."""
    found: defaultdict[Key, dict[Amount, None]] = defaultdict(dict)
    for _, predicate in predicates:
        if predicate.name is PredicateName.EQUAL and isinstance(predicate.right, Amount):
            assert isinstance(predicate.left, Path)
            found[_key(predicate.left, predicate.condition)][predicate.right] = None
    return {key: tuple(amounts) for key, amounts in found.items()}
