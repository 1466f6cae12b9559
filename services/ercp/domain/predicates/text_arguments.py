"""The arguments of the operators for texts and choices: Contains, Count, Matches, OneOf, Between (§10, ADR 0116)."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from services.ercp.domain.predicates.model import (
    MAX_CLAIM_CHARS,
    MAX_NAME_CHARS,
    Amount,
    Bounds,
    Hour,
    Moment,
    Operand,
    Options,
    Predicate,
    PredicateError,
    PredicateName,
    Range,
    Steps,
    Text,
    YearDay,
)
from services.ercp.domain.predicates.patterns import check_pattern
from services.ercp.domain.predicates.units import dimension_of, in_base

MOST_OPTIONS: Final = 40
MOST_STEPS: Final = 12
_LEAST_STEPS: Final = 3
_ALLOWED_STEPS: Final = f"3 to {MOST_STEPS} different texts, as a list or with | between them"
MAX_COUNT: Final = 1_000_000
COUNTED_PARTS: Final = ("words", "characters", "sentences", "paragraphs", "lines", "items")
"""What Count finds in any text; of anything else it counts what the text says or lists."""
MATCHED_PARTS: Final = (
    "text", "line", "first line", "last line", "subject", "sentence", "heading", "item", "step", "date", "time", "amount",  # noqa: E501
    "contact", "path", "field", "version",
)  # fmt: skip
"""What Matches holds its pattern against: every one of these that a text has."""
_COUNTS: Final = ("at_least", "at_most", "exactly")
_CLOCK: Final = re.compile(r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s?(?:(?P<half>[ap])\.?m\.?)?", re.IGNORECASE)
_SINGULAR: Final = {f"{part.removesuffix('s')}": part for part in COUNTED_PARTS}


def read_hour(text: str, field: str) -> Hour:
    """Read ``20:00``, ``8 pm``.

    Raises:
        PredicateError: it is no time of day.
    """
    match = _CLOCK.fullmatch(text.strip())
    hour, minute = (int(match["hour"]), int(match["minute"] or 0)) if match else (-1, 0)
    if match is not None and match["half"]:
        hour = hour % 12 + 12 * (match["half"].lower() == "p") if 1 <= hour <= 12 else -1  # noqa: PLR2004 - a dial
    if not (0 <= hour <= 24 and minute < 60 and hour * 60 + minute <= 1_440):  # noqa: PLR2004 - a day
        raise PredicateError(field, f"{text[:20]!r} is no time of day", "a time such as 09:00 or 9 am")
    return Hour(hour * 60 + minute)


def read_year_day(text: str, field: str) -> YearDay:
    """Read ``--12-15``.

    Raises:
        PredicateError: no year has this day.
    """
    month, day = int(text[2:4]), int(text[5:7])
    most = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not (1 <= month <= 12 and 1 <= day <= most[month - 1]):  # noqa: PLR2004 - a calendar
        raise PredicateError(field, f"{text!r} is no day of a year", "a day such as --12-15")
    return YearDay(month, day)


def _words(value: object, field: str) -> Text:
    """Read what is to occur: any printable characters, one sign at least that is no white space."""
    if not isinstance(value, str):
        raise PredicateError(field, "is no text", f"a text of 1 to {MAX_NAME_CHARS} characters")
    text = _unquoted(value.strip(), field)
    single = " ".join(text.split())
    if not 0 < len(single) <= MAX_NAME_CHARS or not single.isprintable():
        raise PredicateError(field, "is empty, too long or not printable", f"1 to {MAX_NAME_CHARS} characters")
    return Text(single)


def _unquoted(text: str, field: str) -> str:
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':  # noqa: PLR2004 - two quotes
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        raise PredicateError(field, "has a broken escape between its quotes", 'a text in "quotes" as in JSON') from None


def contains(operator: PredicateName, args: Mapping[str, object]) -> Predicate:
    """Read Contains and NotContains: ``text``, and ``topic`` for what is meant and not how it is worded."""
    return Predicate(operator, _words(args["text"], "args.text"), is_topic=_flag(args.get("topic"), "args.topic"))


def _flag(value: object, field: str) -> bool:
    if value in (None, ""):
        return False
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise PredicateError(field, "is no truth value", "true or false")
    return value


def count(operator: PredicateName, args: Mapping[str, object]) -> Predicate:
    """Read Count: what is counted, ``at_least``, ``at_most`` or ``exactly`` how many, and in ``each`` of what."""
    what = _words(args["of"], "args.of")
    plain = what.text.lower()
    what = Text(_SINGULAR.get(plain, plain))
    given = {name: _whole(args[name], f"args.{name}") for name in _COUNTS if args.get(name) not in (None, "")}
    if not given or ("exactly" in given and len(given) > 1):
        raise PredicateError("args.at_most", "leaves open how many", "at_least, at_most or both, or exactly")
    exactly = given.get("exactly")
    low, high = (exactly, exactly) if exactly is not None else (given.get("at_least"), given.get("at_most"))
    if low is not None and high is not None and low > high:
        raise PredicateError("args.at_least", f"{low} is above at_most, {high}", "at_least not above at_most")
    each = _words(args["each"], "args.each").text.lower() if args.get("each") not in (None, "") else ""
    return Predicate(operator, what, Bounds(low, high), condition=each)


def _whole(value: object, field: str) -> int:
    allowed = f"a whole number from 0 to {MAX_COUNT:,}"
    if isinstance(value, str) and re.fullmatch(r"\d{1,7}", value.strip()):
        value = int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_COUNT:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
        raise PredicateError(field, "is no such number", allowed)
    return value


def match(operator: PredicateName, args: Mapping[str, object]) -> Predicate:
    """Read Matches: ``pattern``, and ``of`` what every part has to match it; the whole text unless told."""
    pattern = args["pattern"]
    if not isinstance(pattern, str):
        raise PredicateError("args.pattern", "is no text", "a regular expression in RE2's syntax")
    pattern = _unquoted(pattern, "args.pattern")
    check_pattern(pattern, "args.pattern")
    part = _words(args["of"], "args.of").text.lower() if args.get("of") not in (None, "") else "text"
    if part not in MATCHED_PARTS:
        raise PredicateError("args.of", f"{part[:40]!r} is no part of a text", ", ".join(MATCHED_PARTS))
    return Predicate(operator, Text(pattern), Text(part))


def read_options(value: object) -> Options:
    """Read ``options``: a list of texts, or one text with ``|`` between them.

    Raises:
        PredicateError: fewer than two, too many, or one that is empty.
    """
    allowed = f"2 to {MOST_OPTIONS} different texts, as a list or with | between them"
    listed: Sequence[object] = value if isinstance(value, (list, tuple)) else []
    if isinstance(value, str):
        listed = _unquoted(value.strip(), "args.options").split("|")
    if not all(isinstance(each, (str, int, float)) and not isinstance(each, bool) for each in listed):
        raise PredicateError("args.options", "has an option that is no text", allowed)
    texts = tuple(dict.fromkeys(" ".join(str(each).split()) for each in listed))
    fits = all(0 < len(text) <= MAX_NAME_CHARS and text.isprintable() and "|" not in text for text in texts)
    if not fits or not 2 <= len(texts) <= MOST_OPTIONS:  # noqa: PLR2004 - one is no choice
        raise PredicateError("args.options", f"has {len(texts)} options that can be told apart", allowed)
    return Options(texts)


def read_range(low: Operand, high: Operand) -> Range:
    """Return the two ends of Between.

    Raises:
        PredicateError: they are of two kinds, or the first lies above the second.
    """
    allowed = "two amounts of one dimension, two dates or two times of day, the lower one first"
    if isinstance(low, Amount) and isinstance(high, Amount):
        if not low.unit and high.unit:
            low = Amount(low.number, high.unit)  # between 5 and 10 km
        if _dimension(low) == _dimension(high):
            if in_base(low).value > in_base(high).value:
                raise PredicateError("args.low", "lies above args.high, and nothing lies between", allowed)
            return Range(low, high)
        raise PredicateError("args.high", f"{high.unit or 'no unit'} does not go with {low.unit or 'none'}", allowed)
    for kind in (Moment, Hour, YearDay):
        if isinstance(low, kind) and isinstance(high, kind):
            return Range(low, high)
    raise PredicateError("args.high", "is of another kind than args.low", allowed)


def _dimension(amount: Amount) -> str:
    return dimension_of(amount.unit) if amount.unit else ""


def in_words(operator: PredicateName, args: Mapping[str, object]) -> Predicate:
    """Read InWords: ``words`` that no operator says and only the second detector holds against a text (ADR 0117)."""
    words = args["words"]
    text = " ".join(_unquoted(words.strip(), "args.words").split()) if isinstance(words, str) else ""
    if not 0 < len(text) <= MAX_CLAIM_CHARS or not text.isprintable():
        fault = "is no text, empty, too long or not printable"
        raise PredicateError("args.words", fault, f"a text of 1 to {MAX_CLAIM_CHARS:,} characters")
    return Predicate(operator, Text(text))


def sequence(operator: PredicateName, args: Mapping[str, object]) -> Predicate:
    """Read Sequence: ``steps`` as ``options`` of OneOf are read, three at least."""
    try:
        steps = read_options(args["steps"]).texts
    except PredicateError as error:
        raise PredicateError("args.steps", error.fault.replace("option", "step"), _ALLOWED_STEPS) from None
    if not _LEAST_STEPS <= len(steps) <= MOST_STEPS:
        raise PredicateError("args.steps", f"has {len(steps)} steps that can be told apart", _ALLOWED_STEPS)
    return Predicate(operator, Steps(steps))


READERS: Final[Mapping[PredicateName, Callable[[PredicateName, Mapping[str, object]], Predicate]]] = {
    PredicateName.CONTAINS: contains,
    PredicateName.NOT_CONTAINS: contains,
    PredicateName.COUNT: count,
    PredicateName.MATCHES: match,
    PredicateName.IN_WORDS: in_words,
    PredicateName.SEQUENCE: sequence,
}
"""How the operators are read whose arguments are texts and numbers alone."""
