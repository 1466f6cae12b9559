"""How many of something a text lists, where a predicate limits a number and the text states none (ADR 0117)."""

from fractions import Fraction
from typing import Final

from services.ercp.domain.predicates import aligning, texts
from services.ercp.domain.predicates.facts import Evaluation, Holds, TextFacts
from services.ercp.domain.predicates.model import Amount, Bounds, Path, Predicate, PredicateName, Range, Text

_MOST: Final = 1_000


def judge(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Hold a comparison with a constant against the values in its place, else against the only list of such things."""
    answer = aligning.judge(predicate, facts)
    if answer.holds is not Holds.UNKNOWN or predicate.condition:
        return answer
    counted = _as_count(predicate)
    listed = None if counted is None else texts.judge(counted, facts)
    return answer if listed is None or listed.holds is Holds.UNKNOWN else listed


def _as_count(predicate: Predicate) -> Predicate | None:
    """Return a limit of a bare number of things, such as ``order_fields <= 6``, as a count of them."""
    bounds = _bounds(predicate)
    if bounds is None or not isinstance(predicate.left, Path) or len(predicate.left.segments) > 1:
        return None
    words = predicate.left.segments[0].replace("_", " ")
    is_many = words.endswith("s") and not words.endswith(("ss", "us", "is"))
    return Predicate(PredicateName.COUNT, Text(words), bounds) if is_many else None


def _bounds(predicate: Predicate) -> Bounds | None:
    right = predicate.right
    if isinstance(right, Range):
        ends = [_whole(end) for end in (right.low, right.high)]
        return None if None in ends else Bounds(*ends)
    number = _whole(right)
    if number is None or predicate.tolerance is not None:
        return None
    step = 0 if predicate.inclusive else 1
    match predicate.name:
        case PredicateName.EQUAL:
            return Bounds(number, number)
        case PredicateName.LESS_THAN:
            return Bounds(None, number - step)
        case PredicateName.GREATER_THAN:
            return Bounds(number + step, None)
        case _:
            return None


def _whole(operand: object) -> int | None:
    if not isinstance(operand, Amount) or operand.unit or operand.number != operand.number.to_integral_value():
        return None
    return int(operand.number) if 0 <= Fraction(operand.number) <= _MOST else None
