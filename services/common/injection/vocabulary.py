"""Words by which a disguise is recognised: a spelling is only undone where it gives one of these (ADR 0125)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_MIN_CIPHERED: Final = 5
_MIN_SCRAMBLED: Final = 6
_MIN_SHORTENED: Final = 7


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words, and what they look like in disguise.

    Attributes:
        words: that speak to a model: ``ignore``, ``instructions``.
        small: that stand between them: ``all``, ``your``; only to part words that were written as one.
        ciphers: for each ciphered word the ciphers that give it: ``rot13``, ``reversed``.
        misspelt: for each signature of letters in disorder, or with one missing, the word.
    """

    words: frozenset[str]
    small: frozenset[str]
    ciphers: dict[str, tuple[str, ...]]
    misspelt: dict[str, str]


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """Return the words of the data file."""
    text = files("services.common.injection").joinpath("data/vocabulary.json").read_text("utf-8")
    listed = json.loads(text)
    words = frozenset(" ".join(listed["words"]).split())
    small = frozenset(" ".join(listed["small"]).split())
    ordinary = words | small | frozenset(" ".join(listed["look_like_misspellings"]).split())
    ciphers: dict[str, list[str]] = {}
    for word in words:
        if len(word) >= _MIN_CIPHERED:
            for name, table in CIPHERS.items():
                ciphers.setdefault(enciphered(word, table), []).append(name)
    misspelt = {key: word for word in sorted(words) for key in _misspellings(word) if key not in ordinary}
    return Vocabulary(
        words, small, {key: tuple(names) for key, names in ciphers.items() if key not in ordinary}, misspelt
    )


def scrambled(word: str) -> str:
    """Return the signature of a word whose inner letters are in any order, which people and models still read."""
    return f"{word[0]}{''.join(sorted(word[1:-1]))}{word[-1]}!"


def _misspellings(word: str) -> Iterator[str]:
    if len(word) >= _MIN_SCRAMBLED:
        yield scrambled(word)
    if len(word) >= _MIN_SHORTENED:
        for at in range(1, len(word)):
            yield word[:at] + word[at + 1 :]


def _shifted(by: int) -> str:
    return _ALPHABET[by:] + _ALPHABET[:by]


CIPHERS: Final[dict[str, str]] = {
    "reversed": "",
    "atbash": _ALPHABET[::-1],
    **{f"rot{by}": _shifted(by) for by in range(1, 26)},
}
"""Name of a cipher and the alphabet that it writes; empty for words written backwards."""


def enciphered(text: str, alphabet: str) -> str:
    """Return a text in a cipher."""
    return text.translate(str.maketrans(_ALPHABET, alphabet)) if alphabet else text[::-1]


def deciphered(text: str, name: str) -> str:
    """Return what a text in a cipher says."""
    alphabet = CIPHERS[name]
    return text.translate(str.maketrans(alphabet, _ALPHABET)) if alphabet else text[::-1]
