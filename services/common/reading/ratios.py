"""Shares and multipliers in words: "half of", "two thirds", "nine out of ten", "twice", "tenfold", "doubled".

A share is a percentage (``50 %``), a multiplier a number of times (``2 x``); so "a quarter of" agrees with "25 %" and
"doubled" with "rose by 100 %". Words that mean something else in other places ("the second half of 2024", "a third
party", "a double room", "a quarter past") are left alone.
"""

import re
from decimal import Decimal
from typing import Final

from services.common.reading.numerals import COUNT_WORDS, DIGITS, parse_digits, parse_words

TIMES: Final = "x"
"""The unit of a multiplier."""
SHARE: Final = "%"
"""The unit of a share."""
_HUNDRED: Final = Decimal(100)
_SHARE_DIGITS: Final = Decimal("0.01")
_SMALL_SHARE_DIGITS: Final = Decimal("0.000001")
"""Of shares below one percent: side effects are told as 1 in 100,000."""

_PARTS: Final = {
    "half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "twelfth": 12, "twentieth": 20, "hundredth": 100, "thousandth": 1_000,
}  # fmt: skip
_PART: Final = "(?:" + "|".join(part for part in _PARTS if part not in {"half", "halve", "quarter"}) + ")"
_COUNT: Final = rf"(?:{COUNT_WORDS}|\d{{1,4}})"
_MANY: Final = rf"(?:\d{{1,3}}(?:,\d{{3}}){{1,2}}|\d{{5,6}}|{_COUNT})"
_NUMBER: Final = rf"(?>(?:{DIGITS})|{COUNT_WORDS}(?:-{COUNT_WORDS})?)"
_OF: Final = r"(?=\s+(?:of|as|more|less|lower|higher|fewer|larger|smaller|longer)\b|\s*[.,;:!?)]|\s*$)"
_FACTORS: Final = {
    "once": Decimal(1), "twice": Decimal(2), "thrice": Decimal(3), "doubl": Decimal(2), "tripl": Decimal(3),
    "trebl": Decimal(3), "quadrupl": Decimal(4), "quintupl": Decimal(5), "halv": Decimal("0.5"),
}  # fmt: skip

RATIO: Final = re.compile(
    # Several parts need no "of": "two thirds voted". One part does: "a third party" is none.
    rf"(?<![\w.,-])(?P<count>{_COUNT})[\s-](?P<parts>{_PART}(?=s\b)|quarter(?=s\s+of\b))s"
    rf"|\b(?:an?|one)[\s-](?P<part>{_PART}|quarter|half)\b{_OF}"
    r"|(?<=\bby )(?P<by>half)\b|(?<=\bin )(?P<in>half)\b(?!-|\s+an?\b)"
    r"|\b(?P<half>half)(?=\s+(?:of|the|its|their|his|her|our|your|all|as)\b)(?!\s+of\s+(?:the\s+)?(?:year|month|day|game)\b)"
    rf"|(?<![\w.,/-])(?P<over>\d{{1,3}})/(?P<under>[1-9]\d{{0,2}})(?=\s+of\b)"
    rf"|(?<![\w.,-])(?P<hits>{_COUNT})\s+(?P<of>out\s+of|in|of(?=\s+every\b))\s+(?:every\s+)?(?P<tries>{_MANY})\b(?![\w/-]|[.,:]\d|\s?%|\sper\s?cent)"
    rf"|(?<![\w.,-])(?P<times>{_NUMBER})(?:\s+times\b(?!\s+(?:zone|table)s?\b)|[\s-]?fold\b|x\b(?!\s?\d))"
    rf"|\bby\s+a\s+factor\s+of\s+(?P<factor>{_NUMBER})(?![\w])"
    r"|\b(?P<word>twice|thrice|once(?=\s+(?:an?|per|every|each|daily|weekly|monthly|yearly|annually)\b)"
    r"|(?:doubl|tripl|trebl|quadrupl|quintupl|halv)(?:ed|ing)"
    r"|(?:doubl|tripl|quadrupl|halv)es?(?=\s+(?:the|that|its|their|in|every|as)\b))",
    re.IGNORECASE,
)
"""A share or a multiplier; which one, ``read_ratio`` says."""
HALF_A: Final = re.compile(r"\bhalf\s+an?\s+(?P<what>[a-z]+)\b", re.IGNORECASE)
"""Half of one unit or scale: "half an hour", "half a million", "half a percent"."""

AND_A_HALF: Final = re.compile(r"\b(?:(?:an?|one)\s)?(?P<what>[a-z]{1,12})\sand\sa\shalf\b", re.IGNORECASE)
"""One and a half of a unit: "a year and a half"."""
_TIME_PARTS: Final = rf"(?P<less>{_NUMBER})[\s-](?P<part>hours?|minutes?|mins?|seconds?)"
TIME_AND_TIME: Final = re.compile(
    rf"(?<![\w.,-])(?:(?P<n>{_NUMBER})[\s-]|(?:an?|one)\s)(?P<what>weeks?|days?|hours?|minutes?)\s(?:and\s)?{_TIME_PARTS}\b"
    r"(?!\s(?:are|is|was|were|go|goes|each|later|before|after)\b)",
    re.IGNORECASE,
)
"""A length of time in two units: "an hour and ten minutes", "2 hours 30 minutes"."""
QUARTERS_OF: Final = re.compile(
    r"\b(?:(?P<three>three)\squarters|a\squarter)\sof\san?\s(?P<what>[a-z]{1,12})\b", re.IGNORECASE
)
"""Quarters of a unit: "a quarter of an hour"."""


def read_ratio(match: re.Match[str]) -> tuple[Decimal, str] | None:
    """Return the number and its unit, ``%`` or ``x``; ``None`` for what is no ratio, such as "5 in 2024"."""
    part = {name: text.lower() for name, text in match.groupdict().items() if text}
    if "parts" in part:
        return _share(_count(part["count"]), _PARTS[part["parts"]])
    if "part" in part or part.keys() & {"by", "in", "half"}:
        return _share(1, _PARTS[part.get("part", "half")])
    if "over" in part:
        return _share(int(part["over"]), int(part["under"]))
    if "hits" in part:
        return _odds(part)
    if "word" in part:
        word = part["word"]
        return next(factor for name, factor in _FACTORS.items() if word.startswith(name)), TIMES
    number = _number(part.get("times") or part["factor"])
    return None if number is None else (number, TIMES)


def same_ratio(share: Decimal, times: Decimal) -> bool:
    """Say whether a percentage and a multiplier go together: 50 % and halved, 100 % and 200 % and doubled."""
    of_it = times * _HUNDRED
    return share in {of_it, of_it - _HUNDRED, _HUNDRED - of_it}


def _odds(part: dict[str, str]) -> tuple[Decimal, str] | None:
    hits, tries = _count(part["hits"]), _count(part["tries"])
    is_round = part["tries"] == "1000"
    digits_of_a_year = part["of"] == "in" and part["tries"].isdigit() and len(part["tries"]) == len("2024")
    return None if hits >= tries or (digits_of_a_year and not is_round) else _share(hits, tries)


def _share(count: int, parts: int) -> tuple[Decimal, str]:
    share = _HUNDRED * count / parts
    if share < 1:
        return share.quantize(_SMALL_SHARE_DIGITS).normalize(), SHARE
    exact = share == share.quantize(_SHARE_DIGITS)
    return share.quantize(_SHARE_DIGITS).normalize() if exact else share.quantize(_SHARE_DIGITS), SHARE


def _count(text: str) -> int:
    return int(text.replace(",", "")) if text[0].isdigit() else int(parse_words(text))


def _number(text: str) -> Decimal | None:
    return parse_digits(text) if text[-1].isdigit() or text[0].isdigit() else parse_words(text)
