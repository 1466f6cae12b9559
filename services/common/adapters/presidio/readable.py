"""A text as its reader sees it: look-alike digits and signs made plain, invisible characters left out.

Pure. "4111\u200b1111…" and a number in full-width digits are read by people and by what comes after us; an answer that
hides data in this way is searched all the same (SPEC-005 §21.2).
"""

import unicodedata
from bisect import bisect_left
from typing import Final

_INVISIBLE: Final = "".join(
    map(chr, (0xAD, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF))
)
_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d"
_BLANKS: Final = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


def _table() -> dict[int, str]:
    table = {ord(char): "-" for char in _DASHES} | {ord(char): " " for char in _BLANKS}
    for code in (*range(0xFF01, 0xFF5F), *range(0x0660, 0x066A), *range(0x06F0, 0x06FA), *range(0x0966, 0x0970)):
        digit = unicodedata.decimal(chr(code), None)
        plain = str(digit) if digit is not None else unicodedata.normalize("NFKC", chr(code))
        table[code] = plain
    return table | {0x2019: "'"}


_PLAIN: Final = _table()


class Readable:
    """The plain form of a text, and where each of its characters came from."""

    def __init__(self, source: str) -> None:
        self._origins: list[int] | None = None
        if source.isascii():
            self.text = source
            return
        plain = source.translate(_PLAIN)
        if any(char in plain for char in _INVISIBLE):
            self._origins = [at for at, char in enumerate(plain) if char not in _INVISIBLE]
            plain = "".join(plain[at] for at in self._origins)
        self.text = plain

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return the stretch of the source that a non-empty stretch of the plain text came from."""
        if self._origins is None:
            return start, end
        return self._origins[start], self._origins[end - 1] + 1

    def place(self, at: int) -> int:
        """Return where a place of the source stands in the plain text."""
        return at if self._origins is None else bisect_left(self._origins, at)
