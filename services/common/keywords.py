"""The words of a text as keyword search counts them, for every store alike (ADR 0082).

A store keeps what ``keywords`` returned, so that what is stored and what is asked come from one place. Invariant: what
becomes of a word depends on that word alone, so that two texts that share a word as written share it here too.
"""

import threading
import unicodedata
from enum import StrEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from snowballstemmer.english_stemmer import EnglishStemmer

_EDITION: Final = 2
"""To be raised with any change of what ``keywords`` returns, or of which texts of a fact are indexed: stores
then build their indexes anew. From 2 on the headings over a fact are indexed with it (ADR 0110)."""
_WITH_HEADINGS: Final = 2
_SHORTEST_STEM: Final = 3
_LONGEST_STEMMED: Final = 64
_REMEMBERED: Final = 65_536
_OPTIONAL_MARKS: Final = (10, 35)
"""Canonical combining classes of Hebrew points and Arabic vowel signs, which are written or left out."""
_ACCENTS: Final = 200
"""From this class on: what stands above or below a letter of Latin, Greek, Cyrillic and Arabic."""
_SHORT_I: Final = (("и\u0306", "й"), ("И\u0306", "й"))
"""A letter of its own; without its mark it would be another one."""


class Stemming(StrEnum):
    """What becomes of a word's endings: ``english`` cuts those of English off, ``none`` keeps words as written."""

    ENGLISH = "english"
    NONE = "none"


def keywords(text: str, stemming: Stemming) -> list[str]:
    """Return the words of ``text`` in its order: runs of letters, digits and their marks, folded and stemmed.

    Folding takes away case, accents and optional vowel signs. Stemming leaves alone what may be part of a code: words
    with a digit, words of which fewer than three letters would be left, and (the stemmer does so by itself) words
    without a vowel.
    """
    words = _folded(text).split()
    return [_stem(word) for word in words] if stemming is Stemming.ENGLISH else words


def edition(stemming: Stemming) -> str:
    """Return what an index must have been built with to be searched with the words of this program.

    It names the version of Unicode too: letters that Python learns of are separators until then.
    """
    return f"{stemming}/{_EDITION}/{unicodedata.unidata_version}"


def stemming_of(built_with: str) -> Stemming:
    """Return the stemming of an ``edition``.

    Raises:
        ValueError: it names none that this program knows.
    """
    return Stemming(built_with.partition("/")[0])


def holds_headings(built_with: str) -> bool:
    """Say whether an index of this ``edition`` holds the words of headings beside those of facts."""
    number = built_with.split("/")[1:2]
    return bool(number) and number[0].isdecimal() and int(number[0]) >= _WITH_HEADINGS


class _Folding(dict[int, str | None]):
    """What ``str.translate`` makes of each code point; filled as they are met."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        kind, combining = unicodedata.category(char)[0], unicodedata.combining(char)
        dropped = kind == "M" and (combining >= _ACCENTS or _OPTIONAL_MARKS[0] <= combining <= _OPTIONAL_MARKS[1])
        self[code] = None if dropped else char.casefold() if kind in "LNM" else " "
        return self[code]


_FOLDING: Final = _Folding()


def _folded(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFD", text)
        for decomposed, letter in _SHORT_I:
            text = text.replace(decomposed, letter)
    return text.translate(_FOLDING)


_ONE_AT_A_TIME: Final = threading.Lock()
"""The stemmer holds the word that it works on."""


def _stem(word: str) -> str:
    if not (word.isascii() and word.isalpha()) or not _SHORTEST_STEM < len(word) <= _LONGEST_STEMMED:
        return word
    return _stem_of(word)


@lru_cache(maxsize=_REMEMBERED)
def _stem_of(word: str) -> str:
    with _ONE_AT_A_TIME:
        stem: str = _stemmer().stemWord(word)
    return stem if len(stem) >= _SHORTEST_STEM else word


@cache
def _stemmer() -> "EnglishStemmer":
    from snowballstemmer.english_stemmer import EnglishStemmer  # its package loads the stemmers of all languages

    return EnglishStemmer()
