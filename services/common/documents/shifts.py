"""Raised and lowered text in one line: ``10^6``, never ``106``; ``2nd`` and ``CO2`` as everybody writes them.

Whether raised text is the mark of a note is not asked here: Office formats and reStructuredText say so, and of pages
``html.raised`` judges it.
"""

import re
from typing import Final

ENDINGS: Final = frozenset({"o", "e", "r", "t"})
"""Of shortened words: n^o, M^r."""
ORDINALS: Final = frozenset(
    {"st", "nd", "rd", "th", "er", "re", "e", "o", "\u00e8re", "\u00e8me", "eme", "nde", "ers", "es"}
)
_SHORTENED: Final = frozenset({"os", "as", "me", "mes", "lle", "mlle", "gr", "ts", "te", "ter", "ve"})
_TRADE: Final = {"tm": "\u2122", "sm": "\u2120", "(r)": "\u00ae"}
_AS_THEY_ARE: Final = re.compile("[\u00ae\u2122\u2120\u00a9\u00b0\u00ba\u00aa*\u2020\u2021\u00a7\u00b6#]+")
_POWER: Final = re.compile(r"[-+\u2212\u2013]\s*[\w.]+|\d*[+\u2212-]|[\w.]+")
_SHORT_POWER: Final = 12
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_LAST_WORD: Final = re.compile(r"[^\W\d_]+$")


def sign_of(text: str) -> str:
    """Return the sign that raised text is, as ``™`` for TM; empty where it is none."""
    return _TRADE.get(text.lower(), text if _AS_THEY_ARE.fullmatch(text) else "")


def raised(before: str, text: str) -> str:
    """Return raised text as it stands after ``before``; blanks at its ends stay."""
    mark = text.strip()
    if not mark:
        return text
    lead, _, tail = text.partition(mark)
    return f"{lead}{sign_of(mark) or _as_power(mark, before)}{tail}"


def lowered(before: str, text: str) -> str:
    """Return lowered text as it stands after ``before``: H2O and Vmax as they are.

    A figure after a figure, ``10_2``, would be another number, and a letter after a single letter, ``a_n``, a word.
    """
    mark = text.strip()
    number = mark[:1].isdigit() and before[-1:].isdigit()
    index = len(mark) == 1 and mark.isalpha() and _is_letter(before)
    return f"_{mark}" if number or index else text


def _as_power(text: str, before: str) -> str:
    lower = text.lower().removesuffix(".")
    after_letter = before[-1:].isalpha()
    if (lower in ORDINALS and before[-1:].isdigit()) or (lower in _SHORTENED and after_letter):
        return text
    if lower in ENDINGS and after_letter and (before[-1] in "nN" or not _is_letter(before)):
        return text
    if _POWER.fullmatch(text):
        return f"^{text.replace(' ', '')}"
    return f"^({text})" if len(text) <= _SHORT_POWER or not _WORD.search(text) else f" ({text})"


def _is_letter(before: str) -> bool:
    """Say whether a text ends with a letter that stands alone, as the name of a quantity does."""
    word = _LAST_WORD.search(before)
    return word is not None and len(word[0]) == 1
