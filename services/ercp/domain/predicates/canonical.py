"""One form for predicates that say the same: base units, one direction, sorted sides (ADR 0070)."""

from dataclasses import replace
from fractions import Fraction

from services.ercp.domain.predicates.model import (
    Amount,
    Bounds,
    Hour,
    Moment,
    Operand,
    Options,
    Path,
    Predicate,
    PredicateName,
    Range,
    Steps,
    Text,
    YearDay,
)
from services.ercp.domain.predicates.units import distance_in_base, in_base

Canonical = tuple[object, ...]


def canonical(predicate: Predicate) -> Canonical:
    """Return a hashable value that two predicates share exactly when they demand the same.

    ``Equal(a, 1 km)`` and ``Equal(a, 1000 m)`` share it, ``LessThan(a, b)`` and ``GreaterThan(b, a)`` do, and what a
    newer version added (§10) keeps them apart.
    """
    turned = _turned(predicate)
    if turned.name is PredicateName.MATCHES:
        return (turned.name, turned.left, turned.right, turned.extra)  # patterns tell upper from lower case
    left, right = _key(turned.left), None if turned.right is None else _key(turned.right)
    tolerance: object = None
    if turned.tolerance is not None:
        amount = turned.tolerance.amount
        tolerance = (
            ("share", Fraction(amount.number) / 100)
            if turned.tolerance.is_share
            else ("distance", distance_in_base(amount).value)
        )
        tolerance = None if not amount.number else tolerance
    return (
        turned.name,
        left,
        right,
        tolerance,
        turned.inclusive,
        " ".join(turned.condition.lower().split()),
        turned.is_topic,
        turned.extra,
    )


def _turned(predicate: Predicate) -> Predicate:
    """Bring two attributes into one order."""
    right = predicate.right
    if not isinstance(right, Path) or not isinstance(predicate.left, Path):
        return predicate
    if predicate.name is PredicateName.GREATER_THAN:
        return replace(predicate, name=PredicateName.LESS_THAN, left=right, right=predicate.left)
    if predicate.name in {PredicateName.EQUAL, PredicateName.NOT_EQUAL} and right.segments < predicate.left.segments:
        return replace(predicate, left=right, right=predicate.left)
    return predicate


def _key(operand: Operand) -> tuple[object, ...]:  # noqa: C901, PLR0911 - one for each kind
    match operand:
        case Amount():
            base = in_base(operand)
            return ("amount", base.value, base.dimension)
        case Path():
            return ("path", operand.segments)
        case Moment():
            return ("moment", operand.at)
        case Text():
            return ("text", operand.text.casefold())
        case Hour():
            return ("hour", operand.minutes)
        case YearDay():
            return ("day", operand.month, operand.day)
        case Range():
            return ("range", _key(operand.low), _key(operand.high))
        case Steps():
            return ("steps", *(text.casefold() for text in operand.texts))
        case Options():
            return ("options", *sorted(text.casefold() for text in operand.texts))
        case Bounds():
            return ("bounds", operand.low, operand.high)
