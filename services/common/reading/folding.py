"""A text as the scanners of values read it: other scripts and footnote marks blanked, offsets unchanged.

The scanners take a number to end where a word ends. Chinese, Japanese, Korean and Thai write numbers and words without
a blank between them, and a footnote mark follows a number without one: "500欧元" and "€500²" would go unread, and what
is unread is unchecked. Every character is replaced by exactly one, so that places in the folded text are places in the
text.
"""

import re
import unicodedata
from typing import Final

from services.common.letters import ascii_cased

_LAST_LATIN: Final = "\u024f"
_SEAMLESS: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3131-\u318e\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
"""Scripts that put no blank between a number and a word: Thai, Lao, Burmese, Khmer, kana, Han, Hangul."""
_FOOTNOTE: Final = re.compile(r"(?<=[\d%€£$.,;:)])[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
"""Raised digits after a number, a sign or punctuation; after a letter they belong to a unit such as m²."""


def is_plainly_spelled(text: str) -> bool:
    """Say whether all letters are Latin and nothing invisible stands between them: what is read is what is seen."""
    return text.isascii() or not any(
        unicodedata.category(character) == "Cf" or (character.isalpha() and character > _LAST_LATIN)
        for character in text
    )


def folded(text: str) -> str:
    """Return the text to scan, of the same length."""
    if text.isascii():
        return text
    bare = _SEAMLESS.sub(" ", ascii_cased(text))
    return _FOOTNOTE.sub(lambda match: " " * len(match.group()), bare)
