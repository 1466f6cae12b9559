"""Which derived constraints come into force: sure enough, not there yet, not relaxed before, and room for them (§7)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.ercp.domain.records import Constraint

Key = Callable[[Constraint], str]
"""Gives the same text for two constraints that demand the same."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What became of derived constraints.

    Attributes:
        constraints: those in force from now on, in the order in which they came.
        added: the new ones among them.
        candidates: those between the thresholds, best first.
        displaced: constraints of less priority that gave way.
        waived: those that were relaxed earlier in the run and are not taken again.
        overflowed: at least one found no room.
    """

    constraints: tuple[Constraint, ...]
    added: tuple[Constraint, ...] = ()
    candidates: tuple[Constraint, ...] = ()
    displaced: tuple[Constraint, ...] = ()
    waived: tuple[Constraint, ...] = ()
    overflowed: bool = False


def sorted_out(
    found: Sequence[Constraint], verify_threshold: float, candidate_threshold: float
) -> tuple[tuple[Constraint, ...], tuple[Constraint, ...]]:
    """Return the constraints to be added and the candidates, each best first (§7 confidence rule), without others."""
    ranked = sorted(found, key=lambda each: (-(each.confidence or 0.0), -each.priority.weight, each.constraint_id))
    sure = tuple(each for each in ranked if (each.confidence or 0.0) >= verify_threshold)
    maybe = tuple(each for each in ranked if candidate_threshold <= (each.confidence or 0.0) < verify_threshold)
    return sure, maybe


def admit(
    held: Sequence[Constraint], found: Sequence[Constraint], relaxed: Sequence[Constraint], most: int, key: Key
) -> Admission:
    """Take ``found`` into ``held``, which never holds more than ``most``.

    A constraint of higher priority takes the place of the lowest one that is neither immutable nor the caller's, so
    that the sum of priorities grows with every change (ADR 0072).

    Args:
        held: in force.
        found: sure enough, best first.
        relaxed: taken out of force earlier in this run.
        most: the run's max_constraints.
        key: tells constraints that demand the same.
    """
    kept, added, displaced, waived = list(held), list[Constraint](), list[Constraint](), list[Constraint]()
    known = {key(each) for each in held}
    gone = {key(each) for each in relaxed}
    overflowed = False
    for each in sorted(found, key=lambda one: -one.priority.weight):
        name = key(each)
        if name in gone:
            waived.append(each)
            continue
        if name in known:
            continue
        if len(kept) >= most:
            victim = _victim(kept, each)
            overflowed = True
            if victim is None:
                continue
            kept.remove(victim)
            known.discard(key(victim))
            displaced.append(victim)
            added = [one for one in added if one is not victim]
        kept.append(each)
        added.append(each)
        known.add(name)
    return Admission(tuple(kept), tuple(added), (), tuple(displaced), waived=tuple(waived), overflowed=overflowed)


def _victim(kept: Sequence[Constraint], newcomer: Constraint) -> Constraint | None:
    lower = [
        each
        for each in kept
        if not each.immutable and each.confidence is not None and each.priority.weight < newcomer.priority.weight
    ]
    return min(reversed(lower), key=lambda each: each.priority.weight, default=None)
