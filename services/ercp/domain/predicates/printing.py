"""A predicate back into its JSON and text form; reading either again gives the same predicate (ADR 0070)."""

import json
from decimal import Decimal
from typing import Any, Final

from services.ercp.domain.predicates.model import (
    OF_TEXT,
    Amount,
    Bounds,
    Hour,
    Moment,
    Operand,
    Options,
    Path,
    Predicate,
    PredicateError,
    PredicateName,
    Range,
    Steps,
    Text,
    YearDay,
)
from services.ercp.domain.predicates.parsing import ARGUMENTS, parse_predicate

_EQUALITY: Final = frozenset({PredicateName.EQUAL, PredicateName.NOT_EQUAL})
_WORDED: Final = frozenset({"condition", "each", "of"})
"""Options whose value is written in quotes."""
_COMPARISONS: Final = frozenset(
    {PredicateName.EQUAL, PredicateName.NOT_EQUAL, PredicateName.LESS_THAN, PredicateName.GREATER_THAN}
)


def to_document(predicate: Predicate) -> dict[str, Any]:
    """Return the JSON form of §8: ``predicate_name`` and ``args``, with the arguments of newer versions (§10)."""
    args: dict[str, Any] = {}
    names = ARGUMENTS[predicate.name]
    operands: tuple[Operand | None, ...] = (predicate.left, predicate.right)
    if isinstance(predicate.left, Steps):
        args, operands = {names[0]: list(predicate.left.texts)}, ()
    match predicate.right:
        case Range():
            operands = (predicate.left, predicate.right.low, predicate.right.high)
            if _in_two_units(predicate.right):  # one "unit" cannot say both
                ends = (predicate.right.low, predicate.right.high)
                args = {name: amount_text(end) for name, end in zip(names[1:], ends, strict=True)}  # type: ignore[arg-type]
                operands = (predicate.left,)
        case Options():
            args = {"left": str(predicate.left), "options": list(predicate.right.texts)}
            operands = ()
    for name, operand in zip(names, operands, strict=False):
        assert operand is not None
        if predicate.name in OF_TEXT:
            assert isinstance(operand, Text)
            args[name] = _unless_quoted(operand.text)
        elif isinstance(operand, Amount):
            args[name] = plain(operand.number)
            if operand.unit:
                args["unit"] = operand.unit
        else:
            args[name] = _written(operand, predicate.name, names.index(name))
    args |= dict(_options(predicate))
    if predicate.condition:
        args["each" if predicate.name is PredicateName.COUNT else "condition"] = _unless_quoted(predicate.condition)
    args |= {key: json.loads(value) for key, value in predicate.extra}
    return {"predicate_name": str(predicate.name), "args": args}


def _in_two_units(ends: Range) -> bool:
    """Say whether the ends of a range are amounts with a unit of their own each: 90 min and 3 h."""
    low, high = ends.low, ends.high
    return isinstance(low, Amount) and isinstance(high, Amount) and low.unit != high.unit


def to_text(predicate: Predicate) -> str:
    """Return the text form, such as ``Equal(water.boiling_point, 100 degC)``; unknown arguments are left out."""
    parts = [
        written
        for place, operand in enumerate((predicate.left, predicate.right))
        for written in _written_operand(operand, predicate.name, place)
    ]
    for key, value in _options(predicate):
        written = str(value).lower() if isinstance(value, bool) else str(value)
        parts.append(f"{key}={json.dumps(written, ensure_ascii=False) if key in _WORDED else written}")
    return f"{predicate.name}({', '.join(parts)})"


def amount_text(amount: Amount) -> str:
    """Return number and unit: ``100 degC``, ``50%``, ``30``."""
    if amount.unit == "%":
        return f"{plain(amount.number)}%"
    return f"{plain(amount.number)} {amount.unit}".rstrip()


def plain(number: Decimal) -> str:
    """Return a number without exponent, its trailing zeros kept."""
    return format(number, "f")


def _options(predicate: Predicate) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    if predicate.tolerance is not None:
        found.append(("tolerance", amount_text(predicate.tolerance.amount)))
    if predicate.inclusive:
        found.append(("inclusive", True))
    if predicate.is_topic:
        found.append(("topic", True))
    if isinstance(predicate.right, Bounds):
        found += _counts(predicate.right)
    if predicate.name is PredicateName.MATCHES and isinstance(predicate.right, Text):
        found.append(("of", predicate.right.text))
    if predicate.condition:
        found.append(("each" if predicate.name is PredicateName.COUNT else "condition", predicate.condition))
    return found


def _counts(bounds: Bounds) -> list[tuple[str, object]]:
    if bounds.low == bounds.high:
        return [("exactly", bounds.low)]
    named = (("at_least", bounds.low), ("at_most", bounds.high))
    return [(name, number) for name, number in named if number is not None]


def _written_operand(operand: Operand | None, name: PredicateName, place: int) -> list[str]:
    """Return the arguments without a name that an operand makes in the text form."""
    match operand:
        case None | Bounds():
            return []
        case Range():
            return [_in_call(end, name, 1) for end in (operand.low, operand.high)]
        case Options() | Steps():
            return [json.dumps(" | ".join(operand.texts), ensure_ascii=False)]
        case Text() if name in OF_TEXT:
            return [] if place else [json.dumps(operand.text, ensure_ascii=False)]
        case _:
            return [_in_call(operand, name, place)]


def _in_call(operand: Operand, name: PredicateName, place: int) -> str:
    if isinstance(operand, Amount):
        return amount_text(operand)
    written = _written(operand, name, place)
    if isinstance(operand, Text) and not written.startswith('"') and not set(written).isdisjoint(',()"=<>≈≠!≤≥~\\'):
        return json.dumps(written, ensure_ascii=False)
    return written


def _written(operand: Operand, name: PredicateName, place: int) -> str:
    if isinstance(operand, Path):
        # Beside Equal a bare word is a text, so that an attribute of one word is written with its default part.
        is_word = name in _EQUALITY and place == 1 and len(operand.segments) == 1
        return f"{operand}.value" if is_word else str(operand)
    if isinstance(operand, (Hour, YearDay)):
        return str(operand)
    if isinstance(operand, Moment):
        text = operand.at.isoformat()
        return text.replace("+00:00", "Z") if operand.has_time else text[:10]
    assert isinstance(operand, Text)
    if name not in _COMPARISONS:
        return _unless_quoted(operand.text)
    return operand.text if _reads_back(operand, name) else json.dumps(operand.text, ensure_ascii=False)


def _unless_quoted(text: str) -> str:
    """Return a free text; one that looks quoted is quoted once more, so that its own quotes stay."""
    return json.dumps(text, ensure_ascii=False) if len(text) > 1 and text[0] == text[-1] == '"' else text


def _reads_back(operand: Text, name: PredicateName) -> bool:
    """Say whether a bare text would be read as this text, and not as a number, a date or an attribute."""
    try:
        return parse_predicate(name, {"left": "an.attribute", "right": operand.text}).right == operand
    except PredicateError:
        return False
