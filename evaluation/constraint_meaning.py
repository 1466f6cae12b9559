"""Whether a predicate says what is meant by a constraint: both as operator, side and value, the names left aside.

What is meant stands in a line: ``deposit <= 2 months``, ``count(options) = 3``, ``order: A before B``, ``plan in
{monthly, yearly}``, ``mentions side effects = yes``. A line of another form is not judged.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from services.common.reading.values import scan_values
from services.ercp.domain.predicates import Bounds, Options, Path, Predicate, PredicateName, Range, Steps, Text
from services.ercp.domain.predicates.aligning import Measure, demanded_measure, measure_of

_ORDER: Final = re.compile(r"order\s*:.*\b(?:before|after)\b.*", re.IGNORECASE)
_CHOICE: Final = re.compile(r".*\bin\s*\{(?P<options>[^}]+)\}.*")
_MATCH: Final = re.compile(
    r".*\b(?:match|matches|format|pattern)\b.*|(?P<cased>.+?)\s*==?\s*(?:lower|upper)\((?P=cased)\)", re.IGNORECASE
)
_FLAG: Final = re.compile(r"(?P<left>.+?)\s*(?:==?|is)\s*(?P<value>yes|no|true|false)", re.IGNORECASE)
_WITHIN: Final = re.compile(
    r"(?P<left>.+?)\s+(?:within|between)\s+(?P<low>\S+?)\s*(?:-|\u2013|\.\.|and|to)\s*(?P<high>\S.*)",
    re.IGNORECASE,
)
_DOUBLE: Final = re.compile(r"(?P<low>[^<>=]+?)\s*<=\s*(?P<left>[^<>=]+?)\s*<=\s*(?P<high>[^<>=]+)")
_COMPARED: Final = re.compile(r"(?P<left>.+?)\s*(?P<sign><=|>=|==|!=|=|<|>)\s*(?P<right>[^<>=]+)")
_FRACTION: Final = re.compile(r"(?P<over>\d+)\s*/\s*(?P<under>\d+)")
_NEAR: Final = Fraction(1, 100)
_SIGNS: Final = {PredicateName.EQUAL: "=", PredicateName.NOT_EQUAL: "!="}
_ORDERED: Final = {
    (PredicateName.LESS_THAN, False): "<",
    (PredicateName.LESS_THAN, True): "<=",
    (PredicateName.GREATER_THAN, False): ">",
    (PredicateName.GREATER_THAN, True): ">=",
}
_TOTAL: Final = re.compile(r"\s*(?:sum|total)\b|\s*\w+\s\+\s\w+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Meant:
    """A comparison that is meant: its sign, and both sides as written."""

    left: str
    sign: str
    right: str


def agrees(predicate: Predicate, formal: str) -> bool | None:
    """Say whether a predicate says what is meant; ``None`` when the line cannot be judged."""
    line = " ".join(formal.split())
    for pattern, judge in _FORMS:
        match = pattern.fullmatch(line)
        if match is not None:
            return judge(predicate, match)
    return None


def _is_order(predicate: Predicate, match: re.Match[str]) -> bool:
    relations = len(re.findall(r"\b(?:before|after)\b", match.group()))
    if isinstance(predicate.left, Steps):
        return len(predicate.left.texts) == relations + 1
    return predicate.name is PredicateName.TEMPORAL_ORDER and relations == 1


def _is_choice(predicate: Predicate, match: re.Match[str]) -> bool:
    if not isinstance(predicate.right, Options):
        return False
    meant = {_plain(option) for option in match["options"].split(",")}
    return {_plain(option) for option in predicate.right.texts} == meant


def _plain(option: str) -> str:
    bare = re.sub(r"\A(?:an?|the)\s+", "", option.strip(" '\"").casefold())
    return bare.removesuffix("s")


def _is_match(predicate: Predicate, _: re.Match[str]) -> bool:
    return predicate.name is PredicateName.MATCHES


def _is_flag(predicate: Predicate, match: re.Match[str]) -> bool:
    is_wanted = match["value"].lower() in {"yes", "true"}
    return predicate.name is (PredicateName.CONTAINS if is_wanted else PredicateName.NOT_CONTAINS)


def _is_range(predicate: Predicate, match: re.Match[str]) -> bool | None:
    if isinstance(predicate.right, Bounds):
        ends = [_measured(match[end]) for end in ("low", "high")]
        own = (predicate.right.low, predicate.right.high)
        return all(end is not None and end.amount == number for end, number in zip(ends, own, strict=True))
    if not isinstance(predicate.right, Range):
        return False
    pairs = ((predicate.right.low, match["low"]), (predicate.right.high, match["high"]))
    answers = [_same(demanded_measure(operand), _measured(written)) for operand, written in pairs]
    return None if None in answers else all(answers)


def _is_comparison(predicate: Predicate, match: re.Match[str]) -> bool | None:  # noqa: PLR0911 - one for each kind
    meant = _Meant(match["left"], match["sign"].replace("==", "="), match["right"].strip(" '\""))
    if isinstance(predicate.right, Bounds):
        return _is_count(predicate.right, meant)
    sign = _SIGNS.get(predicate.name) or _ORDERED.get((predicate.name, predicate.inclusive))
    wanted = _measured(meant.right)
    if sign is None:
        # A name that has to occur, or must not.
        return predicate.name is {"=": PredicateName.CONTAINS, "!=": PredicateName.NOT_CONTAINS}.get(meant.sign)
    if sign != meant.sign:
        return False
    if isinstance(predicate.right, Path):
        return wanted is None or "(" in meant.right  # memory(2.9) is an attribute
    if isinstance(predicate.right, Text):
        return wanted is None or predicate.right.text.casefold() == meant.right.casefold()
    if isinstance(predicate.left, Path) and bool(_TOTAL.match(meant.left)) != (predicate.left.segments[-1] == "total"):
        return False
    return _same(demanded_measure(predicate.right), wanted)


def _is_count(bounds: Bounds, meant: _Meant) -> bool | None:
    wanted = _measured(meant.right)
    if wanted is None or wanted.amount.denominator != 1:
        return None
    number = int(wanted.amount)
    ends = {
        "=": (number, number),
        "<=": (None, number),
        "<": (None, number - 1),
        ">=": (number, None),
        ">": (number + 1, None),
    }
    return ends.get(meant.sign) == (bounds.low, bounds.high)


def _measured(written: str) -> Measure | None:
    """Return what a written value is worth; ``None`` for a name."""
    text = written.strip(" '\"")
    fraction = _FRACTION.fullmatch(text)
    if fraction is not None:
        return Measure("%", Fraction(100 * int(fraction["over"]), int(fraction["under"])))
    values = [measure for value in scan_values(text) if (measure := measure_of(value)) is not None]
    return values[0] if len(values) == 1 else None


def _same(one: Measure | None, other: Measure | None) -> bool | None:
    if one is None or other is None:
        return None
    if one.kind != other.kind:
        return one.amount == other.amount and not (one.kind and other.kind)
    return abs(one.amount - other.amount) <= _NEAR * max(abs(one.amount), abs(other.amount))


_FORMS: Final = (
    (_ORDER, _is_order),
    (_CHOICE, _is_choice),
    (_MATCH, _is_match),
    (_FLAG, _is_flag),
    (_DOUBLE, _is_range),
    (_WITHIN, _is_range),
    (_COMPARED, _is_comparison),
)
