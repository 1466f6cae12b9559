"""Finding all matches of a pattern piece by piece: the interpreter waits for one piece at a time, not for a whole text.

A search that finds nothing goes through all that is left in one instruction, and nobody else computes meanwhile. So a
long text is searched in windows, each with some text behind its end. Where a pattern can look ahead without bound, it
is through runs of digits, of number words and of blanks: a window ends where other words stand behind its end, and so
the same is found as in the whole text.
"""

import re
from collections.abc import Iterator
from typing import Final

from services.common.reading.numerals import NUMBER_WORDS

WINDOW: Final = 2_048
_BEYOND: Final = 1_024
"""Characters behind a window that a match may reach into; what a pattern bounds must be shorter."""
_WORD: Final = re.compile(r"(?<![A-Za-z])[A-Za-z]{4,24}(?![A-Za-z])")


def find_all(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield what ``pattern.finditer(text)`` yields, for a pattern whose matches are shorter than ``_BEYOND``."""
    if len(text) <= WINDOW + _BEYOND:
        yield from pattern.finditer(text)
        return
    at = start = 0
    while start < len(text):
        end = _end(text, start + WINDOW)
        for match in pattern.finditer(text, max(at, start), min(len(text), end + _BEYOND)):
            if match.start() >= end:
                break
            yield match
            at = match.end()
        start = end


def _end(text: str, end: int) -> int:
    """Return where a window that is to end there ends: no run goes on from there through what lies behind."""
    while end + _BEYOND < len(text):
        middle = end + _BEYOND // 2
        if _breaks(text, end, middle) and _breaks(text, middle, end + _BEYOND):
            return end
        end += WINDOW
    return len(text)


def _breaks(text: str, start: int, end: int) -> bool:
    """Say whether a word that is no number stands between."""
    return any(match.group().lower() not in NUMBER_WORDS for match in _WORD.finditer(text, start, end))
