"""Numbers of a workbook as a person sees them: number formats (ISO/IEC 29500-1 §18.8.31) in English.

A format has up to four sections: positive, negative, zero, text. What a section cannot be read as shows the number
plainly, never wrongly. Dates whose format follows the reader's own country are written as ISO 8601: no two countries
read ``3/4/2025`` alike.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache
from typing import Final, TypeAlias

_TOKEN: Final = re.compile(
    r"\"([^\"]*)\"|\\(.)|_(.)|\*(.)|\[([^\[\]]*+)\]|(General)|([#0?][#0?,.]*(?:[#0?]|,+)?|[.][#0?]+)|(E[+-]0+)|(%)"
    r"|(AM/PM|A/P)|(y+|m+|d+|h+|s+(?:\.0+)?)|(@)|(/)|(.)",
    re.IGNORECASE | re.DOTALL,
)
(
    _STRING,
    _ESCAPED,
    _SPACE,
    _FILL,
    _BRACKET,
    _GENERAL,
    _DIGITS,
    _EXPONENT,
    _PERCENT,
    _NOON,
    _DATE,
    _TEXT,
    _SLASH,
    _OTHER,
) = range(1, 15)
_CONDITION: Final = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[\d.]+)")
_CURRENCY: Final = re.compile(r"\$([^-\]]*)(?:-[0-9A-Fa-f]+)?")
_ELAPSED: Final = re.compile(r"([hms])\1*", re.IGNORECASE)
_OF_THE_COUNTRY: Final = frozenset({14, 15, 16, 17, 22})
"""Built-in formats that every country shows in its own way."""
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November"),
    "December",
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SECTIONS: Final = 4
_MAX_FORMAT_CHARS: Final = 255
_MAX_PLAIN: Final = 1e15
Token: TypeAlias = tuple[int, str]


def shown(value: object, code: str, format_id: int = 0) -> str:
    """Return a cell's value as its number format shows it.

    Args:
        value: as the library gives it: a number, a date, a truth value, text.
        code: the format, as ``#,##0.00``.
        format_id: of a built-in format; 0 when it is none.
    """
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case datetime() | date() | time():
            return _moment(value, code, format_id)
        case timedelta():
            return _elapsed(value, code)
        case int() | float():
            return _number(value, code)
        case _:
            return _text(str(value), code)


def plain_number(value: float) -> str:
    """Return a number as the format General shows it: at most 11 significant digits."""
    if not float(value).is_integer():
        return f"{value:.10g}"
    return str(int(value)) if abs(value) < _MAX_PLAIN else f"{value:.10g}"


@lru_cache(maxsize=1_024)
def _sections(code: str) -> tuple[tuple[Token, ...], ...]:
    sections: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(code[:_MAX_FORMAT_CHARS]):
        kind = match.lastindex or _OTHER
        if kind == _OTHER and match[_OTHER] == ";":
            sections.append([])
        else:
            sections[-1].append((kind, match[kind]))
    return tuple(tuple(section) for section in sections[:_SECTIONS])


def hides(value: object, code: str) -> bool:
    """Say whether a format shows nothing of a value that is there: ``;;;``."""
    return value not in {None, ""} and ";" in code and shown(value, code) == ""


def _text(value: str, code: str) -> str:
    sections = _sections(code)
    section = (
        sections[3] if len(sections) == _SECTIONS else next((one for one in sections if (_TEXT, "@") in one), None)
    )
    if section is None:
        return value
    return "".join(value if kind == _TEXT else _literal(kind, text) for kind, text in section)


def _number(value: float, code: str) -> str:
    sections = _sections(code)
    section, signed = _chosen(sections, value)
    if not section:
        return plain_number(value) if not any(sections) and ";" not in code else ""
    if any(kind == _TEXT for kind, _ in section) or any(kind == _DATE for kind, _ in section):
        return plain_number(value)
    try:
        return _written(section, abs(value), negative=value < 0 and signed).strip()
    except (InvalidOperation, OverflowError, ValueError):
        return plain_number(value)


def _chosen(sections: tuple[tuple[Token, ...], ...], value: float) -> tuple[tuple[Token, ...], bool]:
    """Return the section for a value, and whether a minus is to be written before it."""
    numeric = sections[:3]
    conditions = [_condition(section) for section in numeric]
    if any(conditions):
        for section, condition in zip(numeric, conditions, strict=True):
            if condition is None or _holds(value, *condition):
                return section, True
        return (), True
    if value < 0 and len(numeric) > 1:
        return numeric[1], False
    if value == 0 and len(numeric) > 2:  # noqa: PLR2004 - positive, negative, zero
        return numeric[2], False
    return numeric[0], True


def _condition(section: tuple[Token, ...]) -> tuple[str, float] | None:
    for kind, text in section:
        match = _CONDITION.fullmatch(text) if kind == _BRACKET else None
        if match:
            return match[1], float(match[2])
    return None


def _holds(value: float, sign: str, bound: float) -> bool:
    return {
        "<": value < bound,
        ">": value > bound,
        "<=": value <= bound,
        ">=": value >= bound,
        "=": value == bound,
        "<>": value != bound,
    }[sign]


def _literal(kind: int, text: str) -> str:
    if kind == _BRACKET:
        currency = _CURRENCY.fullmatch(text)
        return currency[1] if currency else ""
    if kind == _SPACE:
        return " " if text == " " else ""
    return text if kind in {_STRING, _ESCAPED, _OTHER, _SLASH} else ""


def _written(section: tuple[Token, ...], value: float, *, negative: bool) -> str:
    kinds = [kind for kind, _ in section]
    if _SLASH in kinds and kinds.count(_DIGITS) > 1:
        raise ValueError  # a fraction: the plain number says as much
    pattern = "".join(text for kind, text in section if kind == _DIGITS)
    number = Decimal(repr(value))
    number *= Decimal(100) ** kinds.count(_PERCENT)
    number /= Decimal(1000) ** (len(pattern) - len(pattern.rstrip(",")))
    exponent = next((text for kind, text in section if kind == _EXPONENT), "")
    digits = _scientific(number, pattern, exponent) if exponent else _fixed(number, pattern)
    parts, done = [], False
    if negative and any(character in "123456789" for character in digits):
        parts.append("-")
    for kind, text in section:
        if kind == _DIGITS:
            parts.append("" if done else digits)
            done = True
        elif kind == _GENERAL:
            parts.append(plain_number(value))
        else:
            parts.append("%" if kind == _PERCENT else _literal(kind, text))
    return "".join(parts)


def _fixed(number: Decimal, pattern: str) -> str:
    if not pattern:
        return ""
    whole, _, decimals = pattern.rstrip(",").partition(".")
    places = sum(character in "0#?" for character in decimals)
    rounded = number.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    digits = f"{rounded:f}"
    before, _, after = digits.partition(".")
    kept = sum(character == "0" for character in decimals)
    while len(after) > kept and after.endswith("0"):
        after = after[:-1]
    before = before.lstrip("0").rjust(whole.count("0"), "0")
    if "," in whole:
        before = f"{int(before or 0):,}" if whole.count("0") <= len(before.lstrip("0") or "0") or before else before
        before = "" if before == "0" and "0" not in whole else before
    return f"{before}.{after}" if after else before


def _scientific(number: Decimal, pattern: str, exponent: str) -> str:
    places = sum(character in "0#?" for character in pattern.partition(".")[2])
    mantissa, _, power = f"{number:.{places}E}".partition("E")
    sign = "-" if power.startswith("-") else "+" if exponent[1] == "+" else ""
    return f"{mantissa}E{sign}{power.lstrip('+-').rjust(len(exponent) - 2, '0')}"


def _moment(value: datetime | date | time, code: str, format_id: int) -> str:
    if format_id in _OF_THE_COUNTRY or "*" in code.partition(";")[0][:1]:
        return _iso(value, timed=format_id == 22)  # noqa: PLR2004 - the built-in date with time
    section = _sections(code)[0] if code else ()
    if not any(kind in {_DATE, _NOON} for kind, _ in section):
        return _iso(value, timed=True)
    if isinstance(value, time):
        moment = datetime.combine(date(1899, 12, 31), value)
    else:
        moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    twelve = any(kind == _NOON for kind, _ in section)
    return "".join(_date_parts(section, moment, twelve=twelve)).strip()


def _iso(value: datetime | date | time, *, timed: bool) -> str:
    if isinstance(value, datetime):
        whole_day = value.time() == time()
        return value.date().isoformat() if whole_day or not timed else value.isoformat(" ", "minutes")
    return value.isoformat()


def _date_parts(section: tuple[Token, ...], moment: datetime, *, twelve: bool) -> Iterator[str]:
    before = ""
    for index, (kind, text) in enumerate(section):
        letter = text[:1].lower() if kind == _DATE else ""
        if letter == "m" and (before == "h" or _next_letter(section, index) == "s"):
            letter = "minute"
        if letter:
            yield _date_part(letter, text, moment, twelve=twelve)
            before = letter
        elif kind == _NOON:
            yield "AM" if moment.hour < 12 else "PM"  # noqa: PLR2004 - noon
        else:
            yield _literal(kind, text)


def _next_letter(section: tuple[Token, ...], index: int) -> str:
    return next((text[:1].lower() for kind, text in section[index + 1 :] if kind == _DATE), "")


def _date_part(letter: str, text: str, moment: datetime, *, twelve: bool) -> str:
    width = len(text)
    match letter:
        case "y":
            return f"{moment.year:04}" if width > 2 else f"{moment.year % 100:02}"  # noqa: PLR2004 - yy
        case "m":
            name = _MONTHS[moment.month - 1]
            return (str(moment.month), f"{moment.month:02}", name[:3], name, name[:1])[min(width, 5) - 1]
        case "d":
            name = _DAYS[moment.weekday()]
            return (str(moment.day), f"{moment.day:02}", name[:3], name)[min(width, 4) - 1]
        case "h":
            hour = (moment.hour % 12 or 12) if twelve else moment.hour
            return f"{hour:02}" if width > 1 else str(hour)
        case "minute":
            return f"{moment.minute:02}" if width > 1 else str(moment.minute)
        case _:
            seconds, _, fraction = text.partition(".")
            shown_seconds = f"{moment.second:02}" if len(seconds) > 1 else str(moment.second)
            return shown_seconds + (f".{moment.microsecond:06}"[: len(fraction) + 1] if fraction else "")


def _elapsed(value: timedelta, code: str) -> str:
    """Return a span of time as ``[h]:mm:ss`` shows it; minutes and seconds as the format has them."""
    seconds = round(abs(value).total_seconds())
    minus = "-" if value < timedelta() else ""
    hours, rest = divmod(seconds, 3_600)
    minutes, left = divmod(rest, 60)
    lead = next((text for kind, text in _sections(code)[0] if kind == _BRACKET and _ELAPSED.fullmatch(text)), "h")
    if lead[:1].lower() == "m":
        return f"{minus}{seconds // 60}:{left:02}"
    if lead[:1].lower() == "s":
        return f"{minus}{seconds}"
    with_seconds = "s" in code.lower()
    return f"{minus}{hours}:{minutes:02}" + (f":{left:02}" if with_seconds else "")
