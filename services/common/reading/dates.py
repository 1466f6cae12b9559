"""Calendar dates in the formats that business prose uses, each with the precision that it states.

The formats are spelled out here rather than handed to a lenient parser: one that fills a missing day from today, or
reads "may" as a month, would invent evidence. ``03/04/2024`` is ambiguous, so both readings are kept.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH: Final = (
    r"(?P<{0}>jan(?:uary|\.)?|feb(?:ruary|\.)?|mar(?:ch|\.)?|apr(?:il|\.)?|may|june?|july?|aug(?:ust|\.)?"
    r"|sept?(?:ember|\.)?|oct(?:ober|\.)?|nov(?:ember|\.)?|dec(?:ember|\.)?)"
)
_YEAR: Final = r"(?P<{0}>(?:19|20)\d\d)"
_DAY: Final = r"(?P<{0}>[0-3]?\d)(?:st|nd|rd|th)?"
_PATTERNS: Final = (
    r"(?P<iso>(?P<y1>\d{4})-(?P<m1>[01]\d)-(?P<d1>[0-3]\d))(?:T[\d:.]+Z?)?",
    _DAY.format("d2") + r"\s+(?:of\s+)?" + _MONTH.format("m2") + r",?\s+" + _YEAR.format("y2"),
    _MONTH.format("m3") + r"\s+" + _DAY.format("d3") + r",?\s+" + _YEAR.format("y3"),
    r"(?P<a4>[0-3]?\d)[./](?P<b4>[0-3]?\d)[./]" + _YEAR.format("y4"),
    _MONTH.format("m5") + r",?\s+(?:of\s+)?" + _YEAR.format("y5"),
    r"(?P<q6>Q[1-4])\s+(?:of\s+)?" + _YEAR.format("y6"),
    _DAY.format("d7") + r"\s+(?:of\s+)?" + _MONTH.format("m7"),
    _MONTH.format("m8") + r"\s+" + _DAY.format("d8"),
    _YEAR.format("y9") + r"-(?P<m9>[01]\d)(?!\d)",
    r"(?P<y0>\d{4})/(?P<m0>[01]\d)/(?P<d0>[0-3]\d)",
)
DATE: Final = re.compile(r"(?<![\w.,/-])(?:" + "|".join(_PATTERNS) + r")(?![\w/]|[.,]\d)", re.IGNORECASE)
YEAR: Final = re.compile(
    r"(?=[12]\d)"  # seen before what stands in front is looked at: at most places there is no such digit
    r"(?:(?:(?<=\bin )|(?<=\bsince )|(?<=\bby )|(?<=\bfrom )|(?<=\buntil )|(?<=\bof )|(?<=\byear )|(?<=\bduring )"
    r"|(?<=\bafter )|(?<=\bbefore )|(?<=\bfor )|(?<=\()|(?<=\bto )|(?<=\band )|(?<=\bthrough )|(?<=\btill )"
    r"|(?<=\bbetween )|(?<=\baround )|(?<=\bcirca )|(?<=\bthe ))"
    r"(?P<y>(?:19|20)\d\d)(?=[)\s.,;:!?]|$)(?!\s+(?:[a-z]+s\b|people|percent|%)|[.,]\d)"
    # Earlier years are numbers as often: only where little else can stand.
    r"|(?:(?<=\bin )|(?<=\bsince )|(?<=\buntil )|(?<=\byear )|(?<=\bduring )|(?<=\bcirca )|(?<=\()"
    r"|(?<=\b1\d\d\d and )|(?<=\b1\d\d\d to )|(?<=\bfrom )(?=1\d\d\d to 1)|(?<=\bbetween )(?=1\d\d\d and 1))"
    r"(?P<old>1[0-8]\d\d)(?=[)\s.,;:!?]|$)(?!\s+[a-z]+s\b|\s+(?:people|percent|%)|[.,]\d))",
    re.IGNORECASE,
)
"""A year alone: after a preposition, and not before something that is counted."""


@dataclass(frozen=True, slots=True)
class DateReading:
    """One reading: ``YYYY-MM-DD``, ``YYYY-MM``, ``YYYY-Qn``, ``YYYY`` or ``--MM-DD``; ``periods`` has further forms."""

    normal: str
    alternative: str = ""


def read_date(match: re.Match[str]) -> DateReading | None:
    """Return the reading of a match of ``DATE``, or ``None`` when no calendar has that day."""
    part = {name: text for name, text in match.groupdict().items() if text}
    if part.get("m7") == "may" and _ALLOWS.match(match.string, match.end()):
        return None  # "nobody under 18 may take part"
    if "a4" in part:
        return _ambiguous(part["y4"], int(part["a4"]), int(part["b4"]))
    if "q6" in part:
        return DateReading(f"{part['y6']}-{part['q6'].upper()}")
    year, month, day = (_part(part, name) for name in "ymd")
    number = int(month) if month.isdigit() else _month(month)
    if not day:
        return DateReading(f"{year}-{number:02d}") if 1 <= number <= len(MONTHS) else None
    # A leap year stands in for a missing one, so that 29 February is a day.
    reading = _full(year or "2000", number, int(day))
    return reading if reading is None or year else DateReading(f"-{reading.normal[4:]}")


_ALLOWS: Final = re.compile(
    r"\s(?!(?:and|or|to|at|in|on|of|for|until|till|is|was|are|were|the|each|every|by|from|if|when|as|with|but|through)\b)"
    r"[a-z]{2,}"
)
"""Behind "may", written small: what may be done."""


def dates_agree(left: str, right: str) -> bool:
    """Say whether ``left`` states nothing beyond ``right``: the same, or the same with less precision."""
    if left == right or (right.startswith(left + "-") and left[:4].isdigit()):
        return True
    if left.startswith("--"):
        # "12 June" and "June" say less than "12 June 2024" and "12 June".
        return not left.startswith("---") and (right + "-").startswith((f"{right[:4]}{left[1:]}-", left + "-"))
    if left.startswith("Q"):
        return right.endswith(f"-{left}")
    has_month = right[:4].isdigit() and right[4:5] == "-" and right[5:7].isdigit()
    if has_month and left[4:5] == "-" and left[5:6] in {"Q", "H"}:
        length = 3 if left[5] == "Q" else 6
        return left[:4] == right[:4] and int(left[6:]) == (int(right[5:7]) + length - 1) // length
    return _holds_year(left, right[:4]) if right[:4].isdigit() else _holds_decade(left, right)


def _holds_year(period: str, year: str) -> bool:
    if period.endswith("s") and period[:4].isdigit():
        return period[:3] == year[:3] or (period[2:4] == "00" and period[:2] == year[:2])
    return period.startswith("C") and int(period[1:]) == (int(year) + 99) // 100


def _holds_decade(period: str, other: str) -> bool:
    return other.endswith("s") and other[:4].isdigit() and period.startswith("C") and _holds_year(period, other[:4])


def _part(parts: dict[str, str], letter: str) -> str:
    """Return the year, month or day of whichever format matched, or nothing."""
    return next((text for name, text in parts.items() if name[0] == letter and name[1:].isdigit()), "")


def _month(text: str) -> int:
    prefix = text.lower()[:3]
    return next(number for number, name in enumerate(MONTHS, start=1) if name.startswith(prefix))


def _full(year: str, month: int, day: int) -> DateReading | None:
    try:
        return DateReading(date(int(year), month, day).isoformat())
    except ValueError:
        return None


def _ambiguous(year: str, first: int, second: int) -> DateReading | None:
    readings = [reading for reading in (_full(year, second, first), _full(year, first, second)) if reading]
    if not readings:
        return None
    other = readings[-1].normal
    return DateReading(readings[0].normal, other if other != readings[0].normal else "")
