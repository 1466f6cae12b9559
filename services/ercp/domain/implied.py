"""What several constraints demand together: chains of comparisons, of equalities and of events (ERCP 1.0 §7, ADR 0080).

``west < harbour`` and ``harbour < east`` demand ``west < east``; with ``east = 38 MW`` they demand ``west < 38 MW``. A
text that obeys each of them can deny this. The solver says whether a set can hold at all; here each consequence becomes
a predicate, so that a text is held against it like against any other.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from services.ercp.domain import readings
from services.ercp.domain.predicates import (
    Amount,
    Moment,
    Operand,
    Path,
    Predicate,
    PredicateError,
    PredicateName,
    Text,
)
from services.ercp.domain.predicates.naming import event_words
from services.ercp.domain.records import Constraint

MAX_IMPLIED: Final = 500
"""So many consequences are drawn; of a set that gives more the rest is left to the solver."""
_Node = frozenset[str]
_ORDERING: Final = {PredicateName.LESS_THAN: False, PredicateName.GREATER_THAN: True}


@dataclass(frozen=True, slots=True)
class Implied:
    """A predicate and the constraints that demand it together, two at least."""

    predicate: Predicate
    because: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """Something lies below ``goal``, or at it unless ``strict``."""

    goal: _Node
    strict: bool
    because: Constraint


@dataclass(slots=True)
class _Web:
    """What lies below what, and the constants that constraints hold against each."""

    above: defaultdict[_Node, list[_Step]] = field(default_factory=lambda: defaultdict(list))
    constants: defaultdict[_Node, list[tuple[Predicate, Constraint]]] = field(default_factory=lambda: defaultdict(list))
    differing: list[tuple[Path, Path, Constraint]] = field(default_factory=list)
    named: dict[_Node, Operand] = field(default_factory=dict)


def implied(constraints: Sequence[Constraint]) -> Iterator[Implied]:
    """Yield what the constraints demand together and none of them demands alone, at most ``MAX_IMPLIED``.

    Those that speak under a condition are left out.
    """
    web = _Web()
    for constraint in constraints:
        try:
            predicate = readings.predicate_of(constraint)
        except PredicateError:
            continue
        _enter(web, predicate, constraint)
    yield from islice(_consequences(web), MAX_IMPLIED)


def _enter(web: _Web, predicate: Predicate, constraint: Constraint) -> None:
    if predicate.condition or predicate.right is None:
        return
    left, right = predicate.left, predicate.right
    if predicate.name is PredicateName.TEMPORAL_ORDER:
        if isinstance(left, Text) and isinstance(right, Text):
            _below(web, left, right, constraint, strict=True)
        return
    if not isinstance(left, Path):
        return
    if not isinstance(right, Path):
        node = _node(left)
        web.named[node] = left
        web.constants[node].append((predicate, constraint))
    elif predicate.name is PredicateName.NOT_EQUAL:
        web.differing += [(left, right, constraint), (right, left, constraint)]
    elif predicate.name is PredicateName.EQUAL:
        _below(web, left, right, constraint, strict=False)
        _below(web, right, left, constraint, strict=False)
    elif predicate.name in _ORDERING:
        lower, upper = (right, left) if _ORDERING[predicate.name] else (left, right)
        _below(web, lower, upper, constraint, strict=not predicate.inclusive)


def _below(web: _Web, lower: Operand, upper: Operand, constraint: Constraint, *, strict: bool) -> None:
    low, high = _node(lower), _node(upper)
    if low == high:
        return
    for node, operand in ((low, lower), (high, upper)):
        if not isinstance(web.named.get(node), Path):
            web.named[node] = operand
    web.above[low].append(_Step(high, strict, constraint))


def _node(operand: Operand) -> _Node:
    """Return what an attribute or an event is known by: ``opening.date`` is when the opening is."""
    words = (
        " ".join(operand.segments) if isinstance(operand, Path) else operand.text if isinstance(operand, Text) else ""
    )
    return frozenset(event_words(words.replace("_", " ")))


def _consequences(web: _Web) -> Iterator[Implied]:
    for start in list(web.above):
        for goal, strict, because in _reached(web, start):
            if len(because) > 1:
                yield from _compared(web, start, goal, because, strict=strict)
            for predicate, constraint in web.constants.get(goal, ()):
                yield from _bounded(web.named[start], predicate, (*because, constraint), strict=strict, upper=True)
            for predicate, constraint in web.constants.get(start, ()):
                yield from _bounded(web.named[goal], predicate, (*because, constraint), strict=strict, upper=False)
    for path, other, because_of in web.differing:
        for predicate, constraint in web.constants.get(_node(other), ()):
            if predicate.name is PredicateName.EQUAL:
                differs = replace(predicate, name=PredicateName.NOT_EQUAL, left=path, extra=())
                yield Implied(differs, (because_of, constraint))


def _reached(web: _Web, start: _Node) -> Iterator[tuple[_Node, bool, tuple[Constraint, ...]]]:
    """Yield everything at or above a node, whether strictly so, and by which constraints; the shortest ways."""
    seen = {start}
    queue: deque[tuple[_Node, bool, tuple[Constraint, ...]]] = deque([(start, False, ())])
    while queue:
        node, strict, because = queue.popleft()
        for step in web.above.get(node, ()):
            if step.goal not in seen:
                seen.add(step.goal)
                reached = (step.goal, strict or step.strict, (*because, step.because))
                queue.append(reached)
                yield reached


def _compared(
    web: _Web, start: _Node, goal: _Node, because: tuple[Constraint, ...], *, strict: bool
) -> Iterator[Implied]:
    lower, upper = web.named[start], web.named[goal]
    if isinstance(lower, Path) and isinstance(upper, Path):
        yield Implied(Predicate(PredicateName.LESS_THAN, lower, upper, inclusive=not strict), because)
    elif isinstance(lower, Text) and isinstance(upper, Text) and strict:
        yield Implied(Predicate(PredicateName.TEMPORAL_ORDER, lower, upper), because)


def _bounded(
    operand: Operand, predicate: Predicate, because: tuple[Constraint, ...], *, strict: bool, upper: bool
) -> Iterator[Implied]:
    """Yield the bound that a constant sets to what lies below (``upper``) or above the attribute with that value."""
    right = predicate.right
    if predicate.tolerance is not None or not isinstance(right, (Amount, Moment)):
        return
    wanted = PredicateName.LESS_THAN if upper else PredicateName.GREATER_THAN
    if predicate.name is PredicateName.EQUAL:
        inclusive = not strict
    elif predicate.name is wanted:
        inclusive = not strict and predicate.inclusive
    else:
        return
    if isinstance(operand, Path):
        bound = replace(predicate, name=wanted, left=operand, inclusive=inclusive, extra=())
        yield Implied(bound, because)
    elif isinstance(right, Moment):
        sides = (operand, right) if upper else (right, operand)
        yield Implied(Predicate(PredicateName.TEMPORAL_ORDER, *sides), because)
