"""Constraints that demand the same in other words, units or order: found and told, never refused (ADR 0115).

Attributes are compared by the stems of their words and events by theirs, amounts in base units, so that
``GreaterThan(tank.volume, 5 l)`` and ``GreaterThan(volume_of_tank, 5000 ml)`` are one demand. What merely follows from
another constraint is none.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from services.ercp.domain import readings
from services.ercp.domain.predicates import Operand, Path, Predicate, PredicateError, PredicateName, Text, canonical
from services.ercp.domain.predicates.naming import condition_of, event_words, path_words
from services.ercp.domain.predicates.values import text_key
from services.ercp.domain.records import Constraint

_EVENTS = frozenset({PredicateName.TEMPORAL_ORDER, PredicateName.HAS_JUSTIFICATION})


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Constraints with one demand, two at least, in the order in which they were given."""

    constraint_ids: tuple[str, ...]
    demand: str


def duplicates(constraints: Sequence[Constraint]) -> tuple[Duplicates, ...]:
    """Return the groups of constraints that demand the same, by their first members; one pass."""
    groups: defaultdict[Hashable, list[str]] = defaultdict(list)
    demands: dict[Hashable, str] = {}
    for constraint in constraints:
        try:
            predicate = readings.predicate_of(constraint)
        except PredicateError:  # of a newer version (§10)
            continue
        key = _demand_key(predicate)
        groups[key].append(constraint.constraint_id)
        demands.setdefault(key, readings.words_of(predicate))
    return tuple(Duplicates(tuple(ids), demands[key]) for key, ids in groups.items() if len(ids) > 1)


def _demand_key(predicate: Predicate) -> Hashable:
    """Return what two predicates share exactly when they demand the same, whatever their attributes are called."""
    named = replace(
        predicate,
        left=_renamed(predicate, predicate.left),
        right=None if predicate.right is None else _renamed(predicate, predicate.right),
        condition=" ".join(sorted(condition_of([predicate.condition]).words)),
    )
    return canonical(named)


def _renamed(predicate: Predicate, operand: Operand) -> Operand:
    """Return an operand called by the sorted stems of its words; amounts and dates are what they are."""
    if isinstance(operand, Path):
        return Path(tuple(sorted(path_words(operand))))
    if not isinstance(operand, Text):
        return operand
    words = event_words(operand.text) if predicate.name in _EVENTS else (text_key(operand.text),)
    return Text(" ".join(sorted(words)))
