"""A predicate in words: the ``nl_text`` of a constraint (ERCP 1.0 §2 constraint duality, §4.1)."""

from typing import Final

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
from services.ercp.domain.predicates.printing import plain

_SPOKEN: Final = {"degC": "°C", "in": "inches", "degF": "°F", "byte": "bytes", "bit": "bits"}
_COUNTED: Final = frozenset({"day", "week", "fortnight", "month", "year", "hectare", "acre", "gallon", "knot"})
_MONTHS: Final = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_ONLY_ONE: Final = frozenset({"text", "first line", "last line", "subject"})
_BETWEEN: Final = {
    (PredicateName.LESS_THAN, False): "less than",
    (PredicateName.LESS_THAN, True): "at most",
    (PredicateName.GREATER_THAN, False): "greater than",
    (PredicateName.GREATER_THAN, True): "at least",
}
_BETWEEN_MOMENTS: Final = {
    (PredicateName.LESS_THAN, False): "before",
    (PredicateName.LESS_THAN, True): "no later than",
    (PredicateName.GREATER_THAN, False): "after",
    (PredicateName.GREATER_THAN, True): "no earlier than",
}


def describe(predicate: Predicate) -> str:  # noqa: PLR0911 - one for each kind
    """Return one English sentence that says what the predicate demands."""
    left = said(predicate.left)
    match predicate.name:
        case PredicateName.NO_CONTRADICTION:
            return f"All statements about {left} must agree with one another."
        case PredicateName.IN_WORDS:
            return f"{left.rstrip('.')}."
        case PredicateName.SEQUENCE:
            return f"These must come in this order: {left}."
        case PredicateName.HAS_JUSTIFICATION:
            return f"A reason must be given for this claim: {left.rstrip('.')}."
        case PredicateName.TEMPORAL_ORDER:
            assert predicate.right is not None
            return f"{_event(predicate.left)} must come before {_event(predicate.right)}."
        case PredicateName.CONTAINS | PredicateName.NOT_CONTAINS | PredicateName.COUNT | PredicateName.MATCHES:
            return _of_text(predicate)
        case _:
            under = f" (condition: {predicate.condition})" if predicate.condition else ""
            return f"The {left} must be {demand(predicate)}{under}."


def _of_text(predicate: Predicate) -> str:
    """Return what is demanded of the text itself."""
    left = said(predicate.left)
    if isinstance(predicate.right, Bounds):
        each = f"Each {predicate.condition}" if predicate.condition else "The text"
        return f"{each} must have {said(predicate.right)} {left}."
    if predicate.name is PredicateName.MATCHES:
        assert predicate.right is not None
        part = said(predicate.right)
        whole = f"The {part}" if part in _ONLY_ONE else f"Every {part}"
        return f"{whole} must match the pattern {left}."
    must = "must" if predicate.name is PredicateName.CONTAINS else "must not"
    return f"The text {must} speak of: {left}." if predicate.is_topic else f'The text {must} contain "{left}".'


def demand(predicate: Predicate) -> str:
    """Return what a comparison demands of its left side: ``at most 30 days``, ``not 100 °C``."""
    assert predicate.right is not None
    words = _BETWEEN_MOMENTS if isinstance(predicate.right, (Moment, Hour, YearDay)) else _BETWEEN
    relation = words.get((predicate.name, predicate.inclusive), "")
    negation = "not" if predicate.name is PredicateName.NOT_EQUAL else ""
    parts = [negation, relation, said(predicate.right) + _leeway(predicate)]
    return " ".join(part for part in parts if part)


def said(operand: Operand) -> str:  # noqa: C901, PLR0911 - one for each kind
    """Return an operand as a reader would say it: ``boiling point of water``, ``100 °C``, ``1 March 2024``."""
    match operand:
        case Path():
            *entity, attribute = (segment.replace("_", " ") for segment in operand.segments)
            return f"{attribute} of {' '.join(entity)}" if entity else attribute
        case Amount():
            return _amount(operand)
        case Moment():
            day = f"{operand.at.day} {operand.at:%B %Y}"
            return f"{day} at {operand.at:%H:%M} UTC" if operand.has_time else day
        case Text():
            return operand.text
        case Hour():
            return str(operand)
        case YearDay():
            return f"{operand.day} {_MONTHS[operand.month - 1]}"
        case Range():
            return f"between {said(operand.low)} and {said(operand.high)}"
        case Options():
            return f"one of: {', '.join(operand.texts)}"
        case Steps():
            return ", then ".join(f'"{text}"' for text in operand.texts)
        case Bounds():
            return _how_many(operand)


def _how_many(bounds: Bounds) -> str:
    if bounds.low == bounds.high:
        return f"exactly {bounds.low}"
    if bounds.low is not None and bounds.high is not None:
        return f"{bounds.low} to {bounds.high}"
    return f"at most {bounds.high}" if bounds.low is None else f"at least {bounds.low}"


def _amount(amount: Amount) -> str:
    number, unit = plain(amount.number), _SPOKEN.get(amount.unit, amount.unit)
    if unit == "%":
        return f"{number} %"
    if unit in _COUNTED and amount.number != 1:
        unit += "s"
    return f"{number} {unit}".rstrip()


def _leeway(predicate: Predicate) -> str:
    return "" if predicate.tolerance is None else f", give or take {_amount(predicate.tolerance.amount)}"


def _event(operand: Operand) -> str:
    return said(operand) if isinstance(operand, Moment) else f'"{said(operand)}"'
