"""Times of day as people say them: ``half past six in the evening``, ``a quarter to seven``, ``eight o'clock``.

Without a part of the day both halves are kept: ``half past six`` is 06:30 or 18:30. Numerals alone are no time, and
"5 to 7" and "from ten to six" are ranges.
"""

import re
from typing import Final

from services.common.reading.dates import DateReading
from services.common.reading.numerals import parse_words

_HOUR_WORDS: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_HOUR: Final = rf"(?P<{{0}}>{_HOUR_WORDS}|1[0-2]|[1-9])"
_MINUTES: Final = r"(?P<minutes>half|(?:a\s+)?quarter|five|ten|twenty(?:[\s-]five)?|5|10|20|25)"
_PART: Final = r"\s+(?:in\s+the\s+(?P<{0}>morning|afternoon|evening)|at\s+(?P<{1}>night))\b"

SPOKEN_TIME: Final = re.compile(
    rf"\b(?!\d+\s+to\s+\d)(?!(?:(?<=\bfrom\s)|(?<=\bopen\s))(?:five|ten)\s+to\b)(?:{_MINUTES}(?:\s+minutes)?\s+(?P<side>past|to)\s+(?:{_HOUR.format('hour')}|(?P<named>midnight|noon))\b"
    rf"(?:{_PART.format('part', 'night')})?"
    rf"|{_HOUR.format('full')}\s?o['’]clock\b(?:{_PART.format('full_part', 'full_night')})?"  # noqa: RUF001
    rf"|{_HOUR.format('bare')}{_PART.format('bare_part', 'bare_night')})",
    re.IGNORECASE,
)
RANGE_START: Final = re.compile(
    r"(?<![\w.,:/$\u20ac\u00a3-])(?P<first>1[0-2]|[1-9])(?=(?:\s?[-\u2013\u2014]\s?|\s(?:to|until|till)\s|(?<=\bbetween\s\d)\sand\s"
    r"|(?<=\bbetween\s\d\d)\sand\s)(?P<last>1[0-2]|[1-9])(?:[:.][0-5]\d)?\s?(?P<half>[ap])\.?m\b)",
    re.IGNORECASE,
)
"""The hour at which "8 to 10 am" and "9-5 pm" begin."""
_MINUTE_WORDS: Final = {"half": 30, "quarter": 15}
_NOON: Final = 12
_DAY_HOURS: Final = 24


def read_spoken_time(match: re.Match[str]) -> DateReading:
    """Return the reading of a match of ``SPOKEN_TIME`` as ``HH:MM``, with the other half of the day when it is open."""
    part = {name: text.lower() for name, text in match.groupdict().items() if text}
    named = part.get("named")
    hour = 0 if named else _number(next(part[name] for name in ("hour", "full", "bare") if name in part)) % _NOON
    minutes = 0
    if "minutes" in part:
        word = part["minutes"].removeprefix("a").strip()
        minutes = _MINUTE_WORDS.get(word) or _number(word)
        if part["side"] == "to":
            hour, minutes = hour - 1, 60 - minutes
    if named:
        return DateReading(_clock(hour + (_NOON if named == "noon" else 0), minutes))
    of_day = next((text for name, text in part.items() if name.endswith(("part", "night"))), "")
    if not of_day:
        return DateReading(_clock(hour, minutes), _clock(hour + _NOON, minutes))
    is_late = of_day in {"afternoon", "evening"} or (of_day == "night" and hour % _NOON >= _NOON // 2)
    return DateReading(_clock(hour + _NOON if is_late else hour, minutes))


def read_range_start(match: re.Match[str]) -> str:
    """Return the beginning of a match of ``RANGE_START`` as ``HH:MM``: in its end's half where it lies before."""
    first, last = int(match["first"]) % _NOON, int(match["last"]) % _NOON
    is_late = (match["half"].lower() == "p") is (first < last)
    return _clock(first + _NOON if is_late else first, 0)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else int(parse_words(text))


def _clock(hour: int, minutes: int) -> str:
    return f"{hour % _DAY_HOURS:02d}:{minutes:02d}"
