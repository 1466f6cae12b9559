"""How often something happens, as the time from one to the next: "twice a year", "every three months", "once a week".

"Every half year" is no interval of its own here. "A month" alone is none: it is what an amount is for.
"""

import re
from decimal import Decimal
from typing import Final

from services.common.reading.numerals import COUNT_WORDS, parse_words

APART: Final = "apart"
"""What ``Value.per`` says of an interval."""
EACH: Final = "per|an?|each|every"
"""Words before a length of time that an amount is for."""
OFTEN: Final = {
    "hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year",
    "annually": "year",
}  # fmt: skip
"""Words behind an amount that say the length of time by themselves."""
_UNITS: Final = "second|minute|hour|day|week|month|quarter|year"
PERIODS: Final = f"{_UNITS}|night"
"""Lengths of time that an amount may be for."""
_COUNT: Final = rf"(?:{COUNT_WORDS}|\d{{1,3}})"
_ORDINALS: Final = {"second": 2, "other": 2, "third": 3, "fourth": 4}
_TIMES: Final = {"once": 1, "twice": 2, "thrice": 3}

INTERVAL: Final = re.compile(
    rf"\b(?:(?P<times>once|twice|thrice|{_COUNT}\stimes)\s(?:an?|per|every|each|in\severy|in\seach)"
    r"|(?P<each>(?:after\s)?(?:every|each)))\s"
    rf"(?:(?P<gap>second|other|third|fourth|{_COUNT})\s(?:(?:operating|working|full|calendar)\s)?)?"
    rf"(?P<unit>{_UNITS})s?\b(?P<half>\sand\sa\shalf\b)?(?!\s(?:of\sthe|in\sthe|before|after)\b)",
    re.IGNORECASE,
)
"""A match whose ``gap`` is "second" may mean the unit: the longer reading comes first."""


def read_interval(match: re.Match[str]) -> tuple[Decimal, str] | None:
    """Return how many of which unit lie between one time and the next; ``None`` when the count is zero."""
    times, gap = match["times"], match["gap"]
    often = Decimal(1)
    if times:
        word = times.lower().removesuffix("times").strip()
        often = Decimal(_TIMES.get(word) or _number(word))
    length = Decimal(_ORDINALS.get(gap.lower()) or _number(gap)) if gap else Decimal(1)
    length += Decimal("0.5") if match["half"] else Decimal(0)
    return (length / often, match["unit"].lower()) if often and length else None


def _number(text: str) -> int:
    return int(text) if text.isdigit() else int(parse_words(text))
