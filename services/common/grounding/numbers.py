"""Quantities in a text, by value: ``$5 million`` is ``5,000,000 dollars``, ``five per cent`` is ``5%``.

Only what can be read off the figures is read: thousands separators, scale words, ordinals, per cent, currency signs,
the day beside a month. Years are numbers like others.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from services.common.grounding.words import NUMBER_WORDS
from services.common.letters import ascii_cased

PERCENT: Final = "%"
CURRENCY: Final = "$"
NO_UNIT: Final = ""

_SCALES: Final = {
    "hundred": 1e2,
    "thousand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "mn": 1e6,
    "m": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "b": 1e9,
    "trillion": 1e12,
}
_QUANTITY: Final = re.compile(  # (?a:…): a word that is looked up has no other script's letters
    r"(?P<currency>[$\u20ac\u00a3\u00a5]\s?)?"
    rf"(?:(?P<digits>\d[\d,]*(?:\.\d+)?)|\b(?P<word>(?a:{'|'.join(NUMBER_WORDS)}))\b)"
    r"(?:\s?-?(?P<scale>hundred|thousand|million|billion|trillion|bn|mn|m|k|b)\b)?"
    r"(?P<percent>\s?(?:%|per\s?cent\b|percentage\b))?"
    r"(?P<money>\s(?:dollars|euros|pounds|yen|usd|eur|gbp)\b)?",
    re.IGNORECASE,
)
_NO_WORD: Final = re.compile(r"[$\u20ac\u00a3\u00a5\d]")
"""Where a quantity begins that is not written in words."""
_RUN: Final = re.compile(r"\w+")
_SHORT_SCALES: Final = frozenset({"m", "k", "b"})
_MONTHS: Final = "January February March April May June July August September October November December".split()  # noqa: SIM905
_MONTH: Final = "|".join(f"{month[:3]}(?:{month[3:]})?" if month != "May" else month for month in _MONTHS)
_DAY: Final = re.compile(
    rf"\b(?:(?P<month>{_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d|[:.,]\d)"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{_MONTH})\b)",
    re.IGNORECASE,
)
ROUND_FROM: Final = 1000.0
"""From here on a claim may give a figure rounded, as in "some 30,000" for 29,876."""
_MOST_ROUNDED_DIGITS: Final = 2


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure of a text."""

    value: float
    unit: str
    """``PERCENT``, ``CURRENCY`` or ``NO_UNIT``."""
    start: int
    """Where it begins, in Unicode code points."""
    end: int
    """Where it ends, its scale and its sign included; exclusive."""


def quantities(text: str) -> list[Quantity]:
    """Return the figures of a text in order."""
    found = []
    for match in _written(text):
        digits = match["digits"] or NUMBER_WORDS[match["word"].lower()]
        scale = (match["scale"] or "").lower()
        if scale in _SHORT_SCALES and not match["currency"]:
            scale = ""  # "5 m" may be metres
        unit = PERCENT if match["percent"] else CURRENCY if match["currency"] or match["money"] else NO_UNIT
        value = float(digits.replace(",", "")) * _SCALES.get(scale, 1.0)
        found.append(Quantity(value, unit, match.start(), match.end()))
    return found


def _written(text: str) -> Iterator[re.Match[str]]:
    """Yield where quantities are written; without a number word only the places that can be one are looked at."""
    if not NUMBER_WORDS.keys().isdisjoint(_RUN.findall(text.lower())):
        yield from _QUANTITY.finditer(text)
        return
    place = _NO_WORD.search(text)
    while place is not None:
        match = _QUANTITY.match(text, place.start())
        if match is not None:
            yield match
        place = _NO_WORD.search(text, place.end() if match is None else match.end())


def days(text: str) -> set[tuple[str, int]]:
    """Return the days of the year that a text names, as (first three letters of the month, day)."""
    return {
        ((match["month"] or match["month2"]).lower()[:3], int(match["day"] or match["day2"]))
        for match in _DAY.finditer(ascii_cased(text))
    }


def states(known: Iterable[float], value: float) -> bool:
    """Say whether one of the known values is this one, or what it is rounded from."""
    if value < ROUND_FROM:
        return any(other == value for other in known)
    digits = len(f"{value:.0f}".rstrip("0"))
    if digits > _MOST_ROUNDED_DIGITS:
        return any(other == value for other in known)
    return any(float(f"{other:.{digits - 1}e}") == value for other in known)
