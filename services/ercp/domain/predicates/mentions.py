"""Amounts and dates in a text: where they stand and what they are worth (ADR 0070).

A number with its unit, a range of two, a date of whatever precision. Each pattern reads its own characters once, so
that time grows linearly with the text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Final

from services.common.grounding.words import NUMBER_WORDS
from services.common.letters import ascii_cased
from services.common.reading.numerals import SHARED_SCALE, SIGNED_SCALE, scale_factor
from services.ercp.domain.predicates.facts import Interval, Span
from services.ercp.domain.predicates.model import MAX_DIGITS, Amount
from services.ercp.domain.predicates.units import DIMENSIONLESS, EXACT_WORDS, in_base, unit_named
from services.ercp.domain.predicates.values import CALENDAR, seconds

MAX_MENTIONS: Final = 4_000
"""So many amounts and dates of a text are read."""
_MONTHS: Final = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_MONTH: Final = "|".join(sorted((*_MONTHS, *(name[:3] for name in _MONTHS), "sept"), key=len, reverse=True))
_SYMBOL_CHARS: Final = 3
"""A unit word this short or shorter is a symbol: mW and MW differ."""
_SHORT: Final = sorted((word for word in EXACT_WORDS if len(word) <= _SYMBOL_CHARS), key=len, reverse=True)
_LONG: Final = sorted((word for word in EXACT_WORDS if len(word) > _SYMBOL_CHARS), key=len, reverse=True)
_PREFIXED: Final = frozenset({"$", "US$", "A$", "C$", "€", "£", "¥", "₹"})


def _any(words: Sequence[str]) -> str:
    return "|".join(re.escape(word).replace("_", r"[\s_-]") for word in words)


# "5 m customers" are millions; a single m after a number is metres otherwise.
_UNIT: Final = rf"(?:(?i:{_any(_LONG)})|(?!m\s+[a-z]+s\b)(?:{_any([w for w in _SHORT if w not in _PREFIXED])}))(?!\w)"
_PER: Final = r"(?:\s?/\s?|\sper\s)"
_DIGITS: Final = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,31})(?:\.\d{1,31})?(?:[eE][+-]?\d{1,2}(?!\w))?"
_TENS: Final = "|".join(word for word in NUMBER_WORDS if word.endswith("ty"))
_SMALL: Final = "|".join(
    sorted((*(word for word in NUMBER_WORDS if not word.endswith("ty")), "one"), key=len, reverse=True)
)
_SPELLED: Final = rf"(?i:(?:{_TENS})(?:-(?:{_SMALL}))?|{_SMALL}|an?(?=\s(?:hundred|thousand|million|billion)))\b"
_SCALE: Final = r"(?:\s?(?P<scale{0}>(?i:hundred|thousand|million|billion|trillion))\b)"
_MENTION: Final = re.compile(
    r"(?P<iso>(?<![\w.-])\d{4}-\d\d-\d\d(?![\w-]))"
    rf"|(?P<dmy>(?<![\w.,])(?P<d1>[0-3]?\d)(?:st|nd|rd|th)?\s(?:of\s)?(?P<m1>(?i:{_MONTH}))\.?,?\s(?P<y1>\d{{4}})\b)"
    rf"|(?P<mdy>\b(?P<m2>(?i:{_MONTH}))\.?\s(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?,?\s(?P<y2>\d{{4}})\b)"
    rf"|(?P<my>\b(?P<m3>(?i:{_MONTH}))\.?,?\s(?P<y3>\d{{4}})\b)"
    r"|(?P<year>(?:(?<=\bin )|(?<=\bby )|(?<=\bsince )|(?<=\buntil )|(?<=\bbefore )|(?<=\bafter )|(?<=\bduring ))"
    r"(?:1[0-9]|20)\d\d(?=[)\s.,;:!?]|\Z)(?!\s(?!was\b|is\b|has\b|as\b|this\b|its\b)[a-z]+s\b|\s?[°%]|\s(?:people|percent|men|women|children)\b|[.,]\d))"
    rf"|(?P<money>(?<![\w$])(?P<sign>US\$|[AC]\$|[$€£¥₹])\s?(?!\d{{1,2}}(?:\.\d+)?{SHARED_SCALE})(?P<n1>{_DIGITS})(?![.,]?\d|\s\d{{3}}(?!\d))(?:(?P<scale1>{SIGNED_SCALE})|(?![^\W_])))"
    rf"|(?P<amount>(?<![\w.,:$€£¥₹])(?!\d+(?:\.\d+){{2}}|\d\d?:\d\d|\d\d?\s?[ap]\.?m\b)(?P<minus>[-−](?=\d)|\bminus\s(?=\d))?(?P<n2>{_DIGITS}|{_SPELLED})(?![.,]?\d){_SCALE.format(2)}?"  # noqa: RUF001
    rf"(?:[\s\u00a0\u202f-]?(?P<unit>{_UNIT}(?:{_PER}{_UNIT})?|[a-z]{{4,20}}s\sper\s{_UNIT}))?(?!\w))"
)
_BETWEEN: Final = re.compile(r"\s*(?:(?P<to>to|–|—|-)|(?P<and>and))\s*")  # noqa: RUF001 - dashes of ranges
_AND: Final = re.compile(r"\s(?:and\s)?")
_SUMMED: Final = frozenset({"[time]^1", "[length]^1", "[mass]^1"})
_OPENING: Final = re.compile(r"(?:^|\s)between\s*$", re.IGNORECASE)
_LABEL: Final = re.compile(
    r"(?:section|step|figure|fig\.|table|chapter|article|page|option|item|rule|phase|version|no\.|part|level|#)\s?$",
    re.IGNORECASE,
)
_HUNDRED: Final = 100


@dataclass(frozen=True, slots=True)
class Mention:
    """An amount or a date of a text.

    Attributes:
        span: where it stands.
        interval: what it is worth, in base units or seconds since 1970.
        dimension: of the interval.
        amount: number and unit when it is one amount; ``None`` for a range and for a date.
    """

    span: Span
    interval: Interval
    dimension: str
    amount: Amount | None = None


def read_all(text: str, sentences: Sequence[Span]) -> tuple[list[list[Mention]], bool]:
    """Return the amounts and dates of every sentence, and whether all were read: after ``MAX_MENTIONS`` no more are."""
    found: list[list[Mention]] = []
    count = 0
    for sentence in sentences:
        mentions = read_mentions(text, sentence, MAX_MENTIONS + 1 - count)
        count += len(mentions)
        found.append(mentions)
    return found, count <= MAX_MENTIONS


def read_mentions(text: str, sentence: Span, most: int) -> list[Mention]:
    """Return the amounts and dates of a sentence in order, at most so many; they do not overlap."""
    found: list[Mention] = []
    for match in _MENTION.finditer(text, sentence.start, sentence.end):
        if len(found) >= most:
            break
        mention = _mention(text, match)
        if mention is None:
            continue
        previous = found[-1] if found else None
        joined = None
        if previous is not None:
            joined = _range(text, sentence.start, previous, mention) or _sum(text, previous, mention)
        if joined is not None:
            found[-1] = joined
        else:
            found.append(mention)
    return found


def _mention(text: str, match: re.Match[str]) -> Mention | None:
    if match["money"] or match["amount"]:
        return _amount(text, match)
    interval = _calendar(match)
    return None if interval is None else Mention(Span(*match.span()), interval, CALENDAR)


def _amount(text: str, match: re.Match[str]) -> Mention | None:
    written = ascii_cased(match["n1"] or match["n2"]).lower()
    scale = ascii_cased(match["scale1"] or match["scale2"] or "").lower()
    if not match["unit"] and not match["money"]:
        if written in {"one", "a", "an"} and not scale:
            return None
        if _LABEL.search(text, max(0, match.start() - 10), match.start()):
            return None
    number = _number(written)
    if number is None:
        return None
    number = number * _factor(scale) if scale else number
    unit = unit_named(ascii_cased(match["sign"] or match["unit"] or "")) or ""
    amount = Amount(-number if match["minus"] else number, unit)
    base = in_base(amount)
    return Mention(Span(*match.span()), Interval.point(base.value), base.dimension, amount)


def _factor(scale: str) -> int:
    return _HUNDRED if scale == "hundred" else scale_factor(scale)


def _number(written: str) -> Decimal | None:
    if written[0].isdigit():
        number = Decimal(written.replace(",", ""))
        return number if len(number.as_tuple().digits) <= MAX_DIGITS else None
    if written in {"a", "an", "one"}:
        return Decimal(1)
    tens, _, small = written.partition("-")
    values = [Decimal(1) if word == "one" else Decimal(NUMBER_WORDS[word]) for word in (tens, small) if word]
    return sum(values, Decimal(0))


def _calendar(match: re.Match[str]) -> Interval | None:
    """Return the seconds that a date covers: a day, a month or a year."""
    if match["iso"]:
        year, month, day = (int(part) for part in match["iso"].split("-"))
        return _days(year, month, day)
    if match["year"]:
        return _days(int(match["year"]), None, None)
    day_text, month_text, year_text = next(
        (match[f"d{form}"] if form in "12" else None, match[f"m{form}"], match[f"y{form}"])
        for form in "123"
        if match[f"m{form}"]
    )
    written = ascii_cased(month_text).lower()[:3]
    month = next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(written))
    return _days(int(year_text), month, int(day_text) if day_text else None)


def _days(year: int, month: int | None, day: int | None) -> Interval | None:
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=UTC)
        if month is None:
            end = datetime(year + 1, 1, 1, tzinfo=UTC)
        elif day is None:
            end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        else:
            return Interval(seconds(start), seconds(start) + Fraction(86_400), high_closed=False)
    except ValueError:
        return None  # no day of the calendar
    return Interval(seconds(start), seconds(end), high_closed=False)


def _range(text: str, start: int, first: Mention, second: Mention) -> Mention | None:
    """Join "5 to 10 km", "5-10 km" and "between 5 and 10 km"; the first takes the second's unit when it has none."""
    gap = _BETWEEN.fullmatch(text, first.span.end, second.span.start)
    if gap is None or (gap["and"] and not _OPENING.search(text, max(start, first.span.start - 12), first.span.start)):
        return None
    if first.amount is None or second.amount is None:
        if first.dimension != second.dimension or first.amount or second.amount:
            return None
    elif not first.amount.unit and second.amount.unit:
        base = in_base(replace(first.amount, unit=second.amount.unit))
        first = replace(first, interval=Interval.point(base.value), dimension=base.dimension)
    low, high = first.interval.low, second.interval.high
    if first.dimension != second.dimension or low is None or high is None or low > high:
        return None
    start_at = first.span.start - (len("between ") if gap["and"] else 0)
    return Mention(Span(start_at, second.span.end), replace(second.interval, low=low), second.dimension)


def _sum(text: str, first: Mention, second: Mention) -> Mention | None:
    """Join "one hour and 45 minutes", "2 m 40 cm": whole units, and less than one more in a smaller unit."""
    if first.amount is None or second.amount is None or first.dimension not in _SUMMED:
        return None
    is_near = _AND.fullmatch(text, first.span.end, second.span.start) is not None
    if not is_near or first.dimension != second.dimension or first.amount.unit == second.amount.unit:
        return None
    one = in_base(Amount(Decimal(1), first.amount.unit)).value
    ratio = one / in_base(Amount(Decimal(1), second.amount.unit)).value
    low, high = first.interval.low, second.interval.high
    if ratio.denominator != 1 or low is None or high is None or not 0 < high < one or (low / one).denominator != 1:
        return None
    amount = Amount(first.amount.number * int(ratio) + second.amount.number, second.amount.unit)
    return Mention(Span(first.span.start, second.span.end), Interval.point(low + high), first.dimension, amount)


def is_bare(mention: Mention) -> bool:
    """Say whether a mention is a number without a unit."""
    return mention.dimension == DIMENSIONLESS and mention.amount is not None and not mention.amount.unit
