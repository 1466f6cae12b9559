"""Letters as they look: one case, no accents, full width, marks nobody sees, no look-alikes of other scripts.

A word of another script stays as it is, or no rule for its language could match: only a word that mixes ASCII's letters
with look-alikes, or a word of look-alikes alone in a text that is otherwise ASCII, is read as what it looks like.
"""

import json
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Final

import regex

from services.common.injection.views import Edit, View

UNSEEN: Final = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef"  # noqa: E501 - one class
"""Characters that have no width, as the inside of a class."""
_NOT_ASCII: Final = regex.compile(r"[^\x00-\x7f]+")
_DROPPED: Final = regex.compile(f"[{UNSEEN}\\p{{M}}]")
_ASCII_LETTER: Final = regex.compile("[A-Za-z]")
_QUOTES: Final = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02\u300c\u300d\u300e\u300f", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d", "-"),
    "\u2026": "...",
    "\u2044": "/",
    "\u2215": "/",
}
_WORD: Final = regex.compile(f"[{''.join(_QUOTES)}]|[\\p{{L}}\\p{{M}}\\p{{N}}\\p{{So}}{UNSEEN}]+")
_MOSTLY: Final = 0.5
_SAMPLE: Final = 2_000
_MOST_EXPANDED: Final = 4
"""A ligature that stands for a whole phrase is not spelt out: what is read stays about as long as what was written."""
_OF_NO_LANGUAGE: Final = regex.compile(r"[\p{Script=Latin}\p{Script=Common}]")
"""Small capitals, squared letters, regional indicators: no language writes whole words with them."""


@lru_cache(maxsize=1)
def look_alikes() -> dict[str, str]:
    """Return for each letter that looks like one of ASCII that one."""
    text = files("services.common.injection").joinpath("data/confusables.json").read_text("utf-8")
    return {char: letter for letter, chars in json.loads(text)["looks_like"].items() for char in chars}


@lru_cache(maxsize=1)
def _always_alike() -> frozenset[str]:
    return frozenset(char for char in look_alikes() if _OF_NO_LANGUAGE.match(char))


def folded(view: View) -> View:
    """Return the view in lower case, with each character as it looks."""
    if view.text.isascii():
        return view.with_text(view.text.lower())
    seen = view.rewritten(_edits(view.text))
    lowered = seen.text.lower()
    return seen.with_text(lowered) if len(lowered) == len(seen.text) else seen


def _edits(text: str) -> Iterator[Edit]:
    sample = text[:_SAMPLE]
    latin = len(_ASCII_LETTER.findall(sample)) >= _MOSTLY * max(1, sum(map(str.isalpha, sample)))
    for found in _WORD.finditer(text):
        word = found.group()
        if word.isascii():
            continue
        alike = _is_disguised(word, latin=latin)
        for run in _NOT_ASCII.finditer(word):
            for at, char in enumerate(run.group(), found.start() + run.start()):
                seen = as_seen(char, alike)
                if seen != char:
                    yield at, at + 1, seen


def _is_disguised(word: str, *, latin: bool) -> bool:
    bare = _DROPPED.sub("", word)
    if _ASCII_LETTER.search(bare):
        return True
    table = look_alikes()
    return latin and all(char in table or unicodedata.normalize("NFKD", char).isascii() for char in bare)


@lru_cache(maxsize=65_536)
def as_seen(char: str, alike: bool) -> str:
    """Return what a character looks like; ``alike`` where its script is taken for a disguise."""
    if char in _QUOTES:
        return _QUOTES[char]
    if char in _always_alike() or (alike and char in look_alikes()):
        return look_alikes()[char]
    if _DROPPED.fullmatch(char):
        return ""
    plain = unicodedata.normalize("NFC", _DROPPED.sub("", unicodedata.normalize("NFKD", char))).lower()
    if alike and not plain.isascii():
        plain = "".join(look_alikes().get(one, one) for one in plain)
    return plain if plain and len(plain) <= _MOST_EXPANDED else char
