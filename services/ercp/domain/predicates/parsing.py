"""From a predicate's JSON or text form to its parts, and which argument was wrong when there is no way (§8, §10).

An argument of a newer minor version is kept and ignored (§10). Everything else is checked: names, arity, types, units,
sizes. The rules of reading stand in ADR 0070.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Final

from services.ercp.domain.predicates import text_arguments
from services.ercp.domain.predicates.grammar import parse_call, parse_value
from services.ercp.domain.predicates.model import (
    MAX_CLAIM_CHARS,
    MAX_DIGITS,
    MAX_NAME_CHARS,
    MAX_NUMBER,
    MAX_PATH_SEGMENTS,
    Amount,
    Hour,
    Moment,
    Operand,
    Path,
    Predicate,
    PredicateError,
    PredicateName,
    Text,
    Tolerance,
    YearDay,
)
from services.ercp.domain.predicates.units import DIMENSIONLESS, dimension_of, read_unit
from services.ercp.domain.predicates.values import ABOUT_TOLERANCE

MAX_ARGS: Final = 16
MAX_EXTRA_CHARS: Final = 4_096
"""All arguments of a newer version together, as JSON."""
ARGUMENTS: Final[Mapping[PredicateName, tuple[str, ...]]] = {
    PredicateName.EQUAL: ("left", "right"),
    PredicateName.NOT_EQUAL: ("left", "right"),
    PredicateName.LESS_THAN: ("left", "right"),
    PredicateName.GREATER_THAN: ("left", "right"),
    PredicateName.NO_CONTRADICTION: ("entity",),
    PredicateName.TEMPORAL_ORDER: ("before", "after"),
    PredicateName.HAS_JUSTIFICATION: ("claim",),
    PredicateName.BETWEEN: ("left", "low", "high"),
    PredicateName.ONE_OF: ("left", "options"),
    PredicateName.CONTAINS: ("text",),
    PredicateName.NOT_CONTAINS: ("text",),
    PredicateName.COUNT: ("of",),
    PredicateName.MATCHES: ("pattern",),
    PredicateName.IN_WORDS: ("words",),
    PredicateName.SEQUENCE: ("steps",),
}
"""The arguments that each operator needs, in the order of its text form."""
_EQUALITY: Final = frozenset({PredicateName.EQUAL, PredicateName.NOT_EQUAL})
_ORDERING: Final = frozenset({PredicateName.LESS_THAN, PredicateName.GREATER_THAN})
_CHOOSING: Final = frozenset({PredicateName.BETWEEN, PredicateName.ONE_OF})
_OPTIONAL: Final = {
    **dict.fromkeys(_EQUALITY, ("unit", "tolerance", "condition")),
    **dict.fromkeys(_ORDERING, ("unit", "inclusive", "condition")),
    PredicateName.BETWEEN: ("unit", "condition"),
    PredicateName.ONE_OF: ("condition",),
    PredicateName.CONTAINS: ("topic",),
    PredicateName.NOT_CONTAINS: ("topic",),
    PredicateName.COUNT: ("at_least", "at_most", "exactly", "each"),
    PredicateName.MATCHES: ("of",),
    PredicateName.IN_WORDS: (),
    PredicateName.SEQUENCE: (),
}
_INFIX: Final[Mapping[str, tuple[PredicateName, Mapping[str, object]]]] = {
    "=": (PredicateName.EQUAL, {}),
    "==": (PredicateName.EQUAL, {}),
    "≈": (PredicateName.EQUAL, {"tolerance": ABOUT_TOLERANCE}),
    "~=": (PredicateName.EQUAL, {"tolerance": ABOUT_TOLERANCE}),
    "≠": (PredicateName.NOT_EQUAL, {}),
    "!=": (PredicateName.NOT_EQUAL, {}),
    "<": (PredicateName.LESS_THAN, {}),
    "≤": (PredicateName.LESS_THAN, {"inclusive": True}),
    "<=": (PredicateName.LESS_THAN, {"inclusive": True}),
    ">": (PredicateName.GREATER_THAN, {}),
    "≥": (PredicateName.GREATER_THAN, {"inclusive": True}),
    ">=": (PredicateName.GREATER_THAN, {"inclusive": True}),
}
_ISO_PARTS: Final = re.compile(
    r"P(?:(?P<year>\d+)Y)?(?:(?P<month>\d+)M)?(?:(?P<week>\d+)W)?(?:(?P<day>\d+)D)?"
    r"(?:T(?:(?P<h>\d+)H)?(?:(?P<min>\d+)M)?(?:(?P<s>\d+)S)?)?"
)
_SECONDS: Final = {"week": 604_800, "day": 86_400, "h": 3_600, "min": 60, "s": 1}
_PHRASE: Final = re.compile(r"[\w\s'\u2019-]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AT: Final = re.compile(r"(?P<name>\w+?)_at_(?P<condition>\w+)")
_ALLOWED_VALUE: Final = (
    "a number with or without a unit, a date, a time of day, a text, or an attribute such as water.boiling_point"
)
_ALLOWED_BOUND: Final = (
    "a number with or without a unit, a date, a time of day, or an attribute such as water.boiling_point"
)
_ALLOWED_PATH: Final = "an attribute such as water.boiling_point"
_ALLOWED_NAME: Final = f"a text of 1 to {MAX_NAME_CHARS} characters"


def parse_predicate(name: str, args: Mapping[str, object]) -> Predicate:
    """Read the JSON form of a predicate (ERCP 1.0 §8).

    Args:
        name: ``predicate_name``.
        args: its arguments: strings, numbers and booleans; others only where a newer version brings them (§10).

    Raises:
        PredicateError: names the first argument that is wrong, what is wrong with it and what is allowed.
    """
    operator = _operator(name)
    if len(args) > MAX_ARGS:
        raise PredicateError("args", f"has {len(args):,} arguments", f"at most {MAX_ARGS}")
    needed = ARGUMENTS[operator]
    missing = [argument for argument in needed if args.get(argument) in (None, "")]
    if missing:
        raise PredicateError(f"args.{missing[0]}", "is missing", f"{operator} needs {' and '.join(needed)}")
    extra = _extra(operator, args)
    reader = text_arguments.READERS.get(operator)
    if reader is not None:
        return replace(reader(operator, args), extra=extra)
    if operator is PredicateName.HAS_JUSTIFICATION:
        claim = _free_text(args["claim"], "args.claim", MAX_CLAIM_CHARS)
        return Predicate(operator, claim, extra=extra)
    if operator is PredicateName.NO_CONTRADICTION:
        return Predicate(operator, _path(args["entity"], "args.entity"), extra=extra)
    if operator is PredicateName.TEMPORAL_ORDER:
        before, after = (_event(args[argument], f"args.{argument}") for argument in needed)
        if before == after:
            raise PredicateError("args.after", "is the same as args.before", "two different events")
        return Predicate(operator, before, after, extra=extra)
    if operator in _CHOOSING:
        return _choice(operator, args, extra)
    return _comparison(operator, args, extra)


def parse_text(text: str) -> Predicate:
    """Read the text form: ``Equal(water.boiling_point, 100 degC)`` or ``water.boiling_point ≈ 100 °C``.

    Raises:
        PredicateError: as ``parse_predicate``; ``field`` is ``text`` where the form itself does not parse.
    """
    call = parse_call(text)
    if call.sign:
        name, more = _INFIX[call.sign]
        return parse_predicate(name, {"left": call.head, "right": call.arguments[0][1], **more})
    name = _operator(call.head)
    args: dict[str, object] = {}
    needed = ARGUMENTS[name]
    for place, (written, value) in enumerate(call.arguments):
        if not written and place >= len(needed):
            raise PredicateError("text", f"has {place + 1} arguments without a name", f"{name}({', '.join(needed)})")
        key = written or needed[place]
        if key in args:
            raise PredicateError(f"args.{key}", "is given twice", "each argument once")
        # Where a text can stand, quotes make it one.
        is_text = key in needed or key == "condition"
        args[key] = value if is_text or not value.startswith('"') else _inside(value, f"args.{key}")
    return parse_predicate(name, args)


def _inside(quoted: str, field: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        raise PredicateError(field, "has a broken escape between its quotes", 'a text in "quotes" as in JSON') from None


def _operator(name: str) -> PredicateName:
    try:
        return PredicateName(name)
    except ValueError:
        raise PredicateError("predicate_name", f"{name[:40]!r} is unknown", ", ".join(PredicateName)) from None


def _extra(operator: PredicateName, args: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Keep the arguments that this version does not know, as JSON (§10)."""
    known = {*ARGUMENTS[operator], *_OPTIONAL.get(operator, ())}
    try:
        kept = tuple(
            (name, json.dumps(args[name], sort_keys=True, ensure_ascii=False, allow_nan=False))
            for name in sorted(args)
            if name not in known
        )
    except (TypeError, ValueError, RecursionError):
        raise PredicateError("args", "has an argument that is no JSON value", "JSON without NaN and Infinity") from None
    size = sum(len(name) + len(value) for name, value in kept)
    if size > MAX_EXTRA_CHARS:
        raise PredicateError("args", f"has {size:,} characters in unknown arguments", f"at most {MAX_EXTRA_CHARS:,}")
    return kept


def _choice(operator: PredicateName, args: Mapping[str, object], extra: tuple[tuple[str, str], ...]) -> Predicate:
    """Read Between and OneOf."""
    left = _path(args["left"], "args.left")
    condition = _free_text(args["condition"], "args.condition", MAX_NAME_CHARS).text if args.get("condition") else ""
    if operator is PredicateName.ONE_OF:
        return Predicate(operator, left, text_arguments.read_options(args["options"]), condition=condition, extra=extra)
    ends = [_end(args[name], f"args.{name}", args.get("unit")) for name in ("low", "high")]
    return Predicate(operator, left, text_arguments.read_range(*ends), condition=condition, extra=extra)


def _end(value: object, field: str, unit: object) -> Operand:
    operand = _value(value, is_equality=False, field=field)
    if isinstance(operand, Path):
        raise PredicateError(field, "is an attribute", "a number with or without a unit, a date, or a time of day")
    return _with_unit(operand, unit)


def _comparison(operator: PredicateName, args: Mapping[str, object], extra: tuple[tuple[str, str], ...]) -> Predicate:
    left = _path(args["left"], "args.left")
    right = _value(args["right"], is_equality=operator in _EQUALITY)
    right = _with_unit(right, args.get("unit"))
    condition = _free_text(args["condition"], "args.condition", MAX_NAME_CHARS).text if args.get("condition") else ""
    tail = _AT.fullmatch(left.segments[-1])
    if not condition and tail is not None:
        # BoilingPointAtSeaLevel (§12) is a boiling point under a condition.
        left = Path((*left.segments[:-1], tail["name"]))
        condition = tail["condition"].replace("_", " ")
    if left == right:
        raise PredicateError("args.right", "is the same as args.left", "something else to compare with")
    return Predicate(
        operator,
        left,
        right,
        tolerance=_tolerance(args.get("tolerance"), right) if operator in _EQUALITY else None,
        inclusive=_flag(args.get("inclusive")) if operator in _ORDERING else False,
        condition=condition,
        extra=extra,
    )


def _path(value: object, field: str) -> Path:
    if not isinstance(value, str):
        raise PredicateError(field, f"is {_kind(value)}", _ALLOWED_PATH)
    if len(value) > MAX_NAME_CHARS:
        raise PredicateError(field, f"is {len(value):,} characters long", f"{_ALLOWED_PATH}, {MAX_NAME_CHARS} at most")
    kind, tokens = parse_value(value, field)
    if kind == "words" and _PHRASE.fullmatch(tokens[0]):
        tokens = ("_".join(re.findall(r"\w+", tokens[0])),)
    elif kind not in {"path", "name"}:
        raise PredicateError(field, f"is no attribute: {value[:40]!r}", _ALLOWED_PATH)
    segments = tuple(
        _CAMEL.sub("_", segment).lower().replace("-", "_").strip("_") for segment in tokens[0].strip().split(".")
    )
    if segments[-1] == "value" and len(segments) > 1:
        segments = segments[:-1]
    if len(segments) > MAX_PATH_SEGMENTS or not all(segments):
        raise PredicateError(field, f"has {len(segments)} parts", f"{_ALLOWED_PATH}, 1 to {MAX_PATH_SEGMENTS} parts")
    return Path(segments)


def _value(value: object, *, is_equality: bool, field: str = "args.right") -> Operand:
    """Read the right side: a bare word is a text for Equal and NotEqual, and an attribute for the orderings."""
    allowed = _ALLOWED_VALUE if is_equality else _ALLOWED_BOUND
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise PredicateError(field, f"is {_kind(value)}", allowed)
    if not isinstance(value, str):
        return Amount(_number(_written(value), field))
    if len(value) > MAX_NAME_CHARS:
        raise PredicateError(field, f"is {len(value):,} characters long", f"at most {MAX_NAME_CHARS} characters")
    if value.strip().lower().lstrip("+-") in {"nan", "inf", "infinity"}:
        raise PredicateError(field, f"{value!r} is no number", allowed)
    kind, tokens = parse_value(value, field)
    if kind == "path" or (kind == "name" and not is_equality):
        return _path(value, field)
    operand = _READERS[kind](tokens, field)
    if isinstance(operand, Text) and not is_equality:
        raise PredicateError(field, f"{value[:40]!r} has no order", allowed)
    return operand


def _amount(tokens: tuple[str, ...], field: str) -> Amount:
    number, *unit = tokens
    return Amount(_number(number, field), read_unit(unit[0], field) if unit else "")


def _money(tokens: tuple[str, ...], field: str) -> Amount:
    sign, number = tokens
    return Amount(_number(number, field), read_unit(sign, field))


def _duration(tokens: tuple[str, ...], field: str) -> Amount:
    """Read an ISO 8601 duration; months and years are not mixed with days, for a month is no number of days."""
    match = _ISO_PARTS.fullmatch(tokens[0])
    parts = {name: int(number) for name, number in match.groupdict().items() if number} if match else {}
    months = {name: parts.pop(name) for name in ("year", "month") if name in parts}
    if bool(months) == bool(parts):
        raise PredicateError(field, f"{tokens[0]!r} is no single length of time", "months, or days and less: P3M, P30D")
    if months:
        years, rest = months.get("year", 0), months.get("month")
        total, unit = (years, "year") if rest is None else (12 * years + rest, "month")
    else:
        unit = [name for name in _SECONDS if name in parts][-1]
        total = sum(number * _SECONDS[name] for name, number in parts.items()) // _SECONDS[unit]
    return Amount(_number(str(total), field), unit)


def _moment(tokens: tuple[str, ...], field: str) -> Moment:
    text = tokens[0]
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise PredicateError(field, f"{text!r} is no day of the calendar", "a date such as 2024-03-01") from None
    has_time = len(text) > len("2024-03-01")
    return Moment(at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC), has_time)


def _quoted(tokens: tuple[str, ...], field: str) -> Text:
    return _text(_inside(tokens[0], field), field, MAX_NAME_CHARS)


def _words(tokens: tuple[str, ...], field: str) -> Text:
    return _text(tokens[0], field, MAX_NAME_CHARS)


def _hour(tokens: tuple[str, ...], field: str) -> Hour:
    return text_arguments.read_hour(tokens[0], field)


def _year_day(tokens: tuple[str, ...], field: str) -> YearDay:
    return text_arguments.read_year_day(tokens[0], field)


_READERS: Final[Mapping[str, Callable[[tuple[str, ...], str], Operand]]] = {
    "amount": _amount,
    "money": _money,
    "duration": _duration,
    "moment": _moment,
    "hour": _hour,
    "year_day": _year_day,
    "quoted": _quoted,
    "name": _words,
    "words": _words,
}


def _with_unit(right: Operand, unit: object) -> Operand:
    """Give the right side the unit of its own argument, as in the document's example (§8)."""
    if unit in (None, ""):
        return right
    if not isinstance(unit, str):
        raise PredicateError("args.unit", f"is {_kind(unit)}", "the name of a unit, such as degC")
    named = read_unit(unit, "args.unit")
    if not isinstance(right, Amount):
        raise PredicateError("args.unit", "stands beside a right side that is no number", "a unit only with a number")
    if right.unit and right.unit != named:
        raise PredicateError("args.unit", f"{named} is not the right side's own {right.unit}", f"{right.unit}, or none")
    return replace(right, unit=named)


def _tolerance(value: object, right: Operand) -> Tolerance | None:
    """Read how far Equal may be off: ``2%`` of the right side, or a distance in its own dimension."""
    if value in (None, ""):
        return None
    field, allowed = "args.tolerance", "a share such as 2%, or a distance in the right side's unit such as 0.5 degC"
    if not isinstance(right, Amount):
        raise PredicateError(field, "stands beside a right side that is no number", "a tolerance only with a number")
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise PredicateError(field, f"is {_kind(value)}", allowed)
    kind, tokens = parse_value(value if isinstance(value, str) else _written(value), field)
    if kind not in {"amount", "money", "duration"}:
        raise PredicateError(field, f"{value!r} is no number", allowed)
    amount = _READERS[kind](tokens, field)
    assert isinstance(amount, Amount)
    if amount.number < 0 or (amount.unit == "%" and amount.number > 100):  # noqa: PLR2004 - per cent
        raise PredicateError(field, f"{value!r} is out of range", "0 % to 100 %, or a distance from 0 on")
    if not amount.unit:
        amount = replace(amount, unit=right.unit if right.unit != "%" else "")
    elif amount.unit != "%" and dimension_of(amount.unit) != _dimension(right):
        raise PredicateError(field, f"{amount.unit} does not go with {right.unit or 'a bare number'}", allowed)
    return Tolerance(amount)


def _dimension(amount: Amount) -> str:
    return dimension_of(amount.unit) if amount.unit else DIMENSIONLESS


def _flag(value: object) -> bool:
    if value in (None, ""):
        return False
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise PredicateError("args.inclusive", f"is {_kind(value)}", "true or false")
    return value


def _event(value: object, field: str) -> Text | Moment:
    """Read an event: a name, a path or a text; a date stands for itself."""
    text = _free_text(value, field, MAX_NAME_CHARS)
    if re.fullmatch(r"\d{4}-\d\d-\d\d(?:T[\d:.Z+-]*)?", text.text):
        return _moment((text.text,), field)
    return text


def _free_text(value: object, field: str, most: int) -> Text:
    if not isinstance(value, str):
        raise PredicateError(field, f"is {_kind(value)}", f"a text of 1 to {most:,} characters")
    text = value.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        # Not every text between quotes is one quoted text: "yes" means "no".
        with suppress(PredicateError):
            text = _inside(text, field)
    return _text(text, field, most)


def _text(text: str, field: str, most: int) -> Text:
    single = " ".join(text.split())
    if not any(char.isalnum() for char in single):
        raise PredicateError(field, "has no letter and no digit", f"a text of 1 to {most:,} characters")
    if not single.isprintable():
        raise PredicateError(field, "holds control characters", "printable text")
    if len(single) > most:
        raise PredicateError(field, f"is {len(single):,} characters long", f"at most {most:,} characters")
    return Text(single)


def _written(value: int | float) -> str:  # noqa: PYI041 - both come in JSON
    """Return a JSON number as text; a whole float is written without its point, as Struct sends every number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_NUMBER:
        return str(int(value))
    return str(value)


def _number(text: str, field: str) -> Decimal:
    allowed = f"0, or a number from 1e-30 to 1e30 either way, with at most {MAX_DIGITS} digits"
    try:
        number = Decimal(text.replace(",", "").replace("−", "-"))  # noqa: RUF001 - minus sign
    except InvalidOperation:
        raise PredicateError(field, f"{text[:40]!r} is no number", allowed) from None
    if not number.is_finite() or len(number.as_tuple().digits) > MAX_DIGITS:
        raise PredicateError(field, f"{text[:40]!r} is no number of a sensible size", allowed)
    if number and not 1 / MAX_NUMBER <= abs(number) <= MAX_NUMBER:
        raise PredicateError(field, f"{text[:40]!r} is no number of a sensible size", allowed)
    return number


def _kind(value: object) -> str:
    if isinstance(value, float) and not isfinite(value):
        return "no finite number"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a text", type(None): "null"}
    return names.get(type(value), "a list" if isinstance(value, (list, tuple)) else "an object")
