"""Parts of the calendar that are no dates: quarters, halves, fiscal years, decades, centuries, months, days of a month.

``the second quarter of 2024`` and ``Q2 2024`` are ``2024-Q2``; ``the 1930s`` is ``1930s``; ``the twelfth century`` is
``C12``; ``in June`` is ``--06``; ``the 5th of each month`` is ``---05``.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from services.common.reading.dates import MONTHS

_YEAR: Final = r"(?:19|20)\d\d"
_ORDINALS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first",
)  # fmt: skip
_ORDINAL: Final = r"(?:\d{1,2}(?:st|nd|rd|th)|" + "|".join(sorted(_ORDINALS, key=len, reverse=True)) + ")"
_MONTH: Final = "(?-i:" + "|".join(name.capitalize() for name in MONTHS) + ")"
_FEW: Final = r"(?:[1-4](?:st|nd|rd|th)|first|second|third|fourth)"

PERIOD: Final = re.compile(
    rf"\b(?P<quarter>{_FEW})[\s-]quarter\b(?:\s+(?:of\s+)?(?P<quarter_year>{_YEAR})\b)?"
    rf"|\bQ(?P<q>[1-4])\b(?!\s+(?:of\s+)?{_YEAR})"
    rf"|\b(?:H(?P<h>[12])|(?P<half>first|second)\s+half)\s+(?:of\s+)?(?P<half_year>{_YEAR})\b"
    r"|\b(?:FY\s?|(?:fiscal|financial)\s+year\s+)(?P<fiscal>(?:19|20)?\d\d)\b(?!/)"
    rf"|\b(?P<century>{_ORDINAL})[\s-]century\b(?P<before>\s+(?:BC|BCE|B\.C\.))?"
    r"|(?<![\w$€£.,])(?P<decade>1\d\d0|20\d0)s\b"
    rf"|\b(?P<day>{_ORDINAL})\s+(?:day\s+)?of\s+(?:each|every|the|that|a)\s+(?:following\s+|next\s+|calendar\s+)?month\b"
    r"|(?=(?-i:[JFMASOND]))(?:(?<=\bin )|(?<=\bsince )|(?<=\buntil )|(?<=\bby )|(?<=\bfrom )|(?<=\bof )"
    r"|(?<=\blast )|(?<=\bnext )"
    r"|(?<=\bduring )|(?<=\bbefore )|(?<=\bafter )|(?<=\bearly )|(?<=\blate )|(?<=\bmid-)|(?<=\bend of ))"
    rf"(?P<month>{_MONTH})\b(?!\s+\d)",
    re.IGNORECASE,
)


def read_period(match: re.Match[str]) -> str:
    """Return the normal form of a match of ``PERIOD``."""
    part = {name: text.lower() for name, text in match.groupdict().items() if text}
    return next(form(part) for name, form in _FORMS.items() if name in part)


def _ordinal(text: str) -> int:
    return int(text[:-2]) if text[0].isdigit() else _ORDINALS.index(text) + 1


def _quarter(part: Mapping[str, str]) -> str:
    name = f"Q{_ordinal(part['quarter'])}"
    return f"{part['quarter_year']}-{name}" if "quarter_year" in part else name


def _half(part: Mapping[str, str]) -> str:
    number = part.get("h") or _ordinal(part["half"])
    return f"{part['half_year']}-H{number}"


def _century(part: Mapping[str, str]) -> str:
    return f"{'-' if 'before' in part else ''}C{_ordinal(part['century']):02d}"


_FORMS: Final[dict[str, Callable[[Mapping[str, str]], str]]] = {
    "quarter": _quarter,
    "q": lambda part: f"Q{part['q']}",
    "half_year": _half,
    "fiscal": lambda part: f"FY{part['fiscal'] if len(part['fiscal']) == len('2024') else '20' + part['fiscal']}",
    "century": _century,
    "decade": lambda part: f"{part['decade']}s",
    "day": lambda part: f"---{_ordinal(part['day']):02d}",
    "month": lambda part: f"--{MONTHS.index(part['month']) + 1:02d}",
}
