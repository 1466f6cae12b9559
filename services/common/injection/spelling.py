"""Words in disguise: figures for letters, letters apart, words as one, letters in disorder, ciphers. Linear.

Nothing here says that a text is an attack; it only says how the text can also be read. A reading is made where it gives
words of the vocabulary, so that part numbers, abbreviations and foreign words stay what they are.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import re2

from services.common.injection.views import Edit, View
from services.common.injection.vocabulary import Vocabulary, deciphered, scrambled, vocabulary

_TOKEN: Final = re.compile(r"[a-z0-9@$!|+\u20ac]{3,40}")
_LETTERS: Final = re.compile(r"[a-z]+")
_LEET: Final = tuple(str.maketrans("03457@$!|+1\u20ac8", f"oeastas{one}{one}t{one}eb") for one in ("i", "l"))
"""What figures stand for; 1, ! and | are an i or an l."""
_FIGURE: Final = re.compile(r"[0-9@$!|+\u20ac]")
_SPELT: Final = re.compile(r"(?<![a-z0-9])[a-z0-9@$!](?:[^a-z0-9\n]{1,4}[a-z0-9@$!]){4,}(?![a-z0-9])")
_TORN: Final = re.compile(r"(?<![a-z])[a-z]{1,4}(?:[ \-_.]{1,2}[a-z]{1,4}){4,}(?![a-z])")
_JOINED: Final = re.compile(r"(?<![a-z])[a-z]{14,400}(?![a-z])")
_BOUND: Final = re.compile(r"(?<![a-z])[a-z]+(?:[_\-.:|/~*\\]{1,3}[a-z]+)+")
_INNER: Final = re.compile(r"[^a-z]+")
_WIDE: Final = re.compile(r"[^a-z0-9@$!]{3,}")
_MARKED_INSIDE: Final = re.compile(r"(?<=[a-z])(?:[*`~]{1,3}|<[^<>]{0,80}>){1,4}(?=[a-z])")
_RUNS: Final = ((_SPELT, 1), (_TORN, 2), (_JOINED, 2), (_BOUND, 2))
"""What can be words in disguise, and how many long words of the vocabulary it must give."""
_MAY_BE_RUN: Final = re2.compile(
    r"[a-z0-9@$!][^a-z0-9\n]{1,4}[a-z0-9@$!][^a-z0-9\n]{1,4}[a-z0-9@$!][^a-z0-9\n]{1,4}[a-z0-9@$!][^a-z0-9\n]"
    r"|(?:[a-z]{1,4}[ \-_.]{1,2}){4}[a-z]|[a-z]{14}|[a-z][_\-.:|/~*\\]{1,3}[a-z]"
)
"""Without one of these there is no run; most texts have none, and pay for one search."""
_LONGEST_WORD: Final = 14
_MIN_LONG_WORD: Final = 5
_MIN_CIPHERED: Final = 2
_MIN_MISSPELT: Final = 6


def respelt(view: View) -> View:
    """Return the view with words in disguise as they are meant; itself where none is."""
    known = vocabulary()
    plain = view.rewritten(_without_marks(view.text), "marks inside words")
    plain = plain.rewritten(_together(plain.text, known), "split words")
    return plain.rewritten(_words(plain.text), "spelling")


def _without_marks(text: str) -> Iterator[Edit]:
    if "*" in text or "`" in text or "~" in text or "<" in text:
        for found in _MARKED_INSIDE.finditer(text):
            yield found.start(), found.end(), ""


def _together(text: str, known: Vocabulary) -> Iterator[Edit]:
    """Yield runs of single letters, of torn words, and words written as one, parted into words of the vocabulary."""
    if _MAY_BE_RUN.search(text) is None:
        return
    kept: list[Edit] = []
    for pattern, least in _RUNS:
        said = ((one.start(), one.end(), _said(one.group(), known, least)) for one in pattern.finditer(text))
        kept = _apart(kept, [edit for edit in said if edit[2]])
    yield from kept


def _apart(kept: list[Edit], more: list[Edit]) -> list[Edit]:
    """Return both in order, without those of ``more`` that overlap what is kept."""
    ends = [edit[1] for edit in kept]
    free: list[Edit] = []
    for edit in more:
        following = bisect_right(ends, edit[0])
        if following == len(kept) or kept[following][0] >= edit[1]:
            free.append(edit)
    return sorted(kept + free)


def _said(run: str, known: Vocabulary, least: int) -> str:
    letters = "".join(part.translate(_LEET[0]) if _FIGURE.search(part) else part for part in run)
    wide = _WIDE.split(letters)
    parts = wide if len(wide) > 1 else _INNER.split(letters)
    if len(wide) > 1:
        parts = [_INNER.sub("", part) for part in wide]
    direct = " ".join(parts)
    if _long_words(direct, known) >= least:
        return direct
    joined = _INNER.sub("", letters)
    if len(_any_long_word().findall(joined)) < least:  # cheap; what follows is not
        return ""
    parted = parted_words(joined, known)
    return parted if _long_words(parted, known) >= least else ""


@lru_cache(maxsize=1)
def _any_long_word() -> "re2._Regexp[str]":
    longest_first = sorted((word for word in vocabulary().words if len(word) >= _MIN_LONG_WORD), key=len, reverse=True)
    return re2.compile("|".join(longest_first))


def _long_words(text: str, known: Vocabulary) -> int:
    return sum(len(word) >= _MIN_LONG_WORD and word in known.words for word in text.split())


def parted_words(letters: str, known: Vocabulary) -> str:
    """Return letters without spaces parted into words, as many letters as can be in words of the vocabulary."""
    best = [0] * (len(letters) + 1)
    back = [1] * (len(letters) + 1)
    for end in range(1, len(letters) + 1):
        best[end] = best[end - 1]
        for size in range(1, min(_LONGEST_WORD, end) + 1):
            word = letters[end - size : end]
            if (word in known.words or word in known.small) and best[end - size] + size * size > best[end]:
                best[end], back[end] = best[end - size] + size * size, size
    words: list[str] = []
    at = len(letters)
    while at:
        words.append(letters[at - back[at] : at])
        at -= back[at]
    return " ".join(reversed(words))


def _words(text: str) -> Iterator[Edit]:
    tokens = _TOKEN.findall(text)
    if all(meant_by(token) == token for token in set(tokens)):
        return
    for found in _TOKEN.finditer(text):
        token = found.group()
        meant = meant_by(token)
        if meant != token:
            yield found.start(), found.end(), meant


@lru_cache(maxsize=65_536)
def meant_by(token: str) -> str:
    """Return the word of the vocabulary that a token is a disguise of, or the token."""
    known = vocabulary()
    if token in known.words or token in known.small:
        return token
    if not token.isalpha():
        if _LETTERS.search(token) is None or _FIGURE.search(token) is None:
            return token
        words = (token.translate(table) for table in _LEET)
        return next((word for word in words if word in known.words or word in known.small), token)
    if len(token) < _MIN_MISSPELT:
        return token
    return known.misspelt.get(token) or known.misspelt.get(scrambled(token), token)


def deciphered_views(view: View) -> Iterator[View]:
    """Yield the view in each cipher that makes two words of the vocabulary out of it."""
    known = vocabulary()
    names: Counter[str] = Counter()
    for word in known.ciphers.keys() & set(_LETTERS.findall(view.text)):
        names.update(known.ciphers[word])
    for name, count in sorted(names.items()):
        if count >= _MIN_CIPHERED:
            text = deciphered(view.text, name)
            inside, layers = view.span(0, len(view.text)), (*view.layers, name)
            yield View(text, inside=inside, layers=layers)
            if name == "reversed":
                turned = _LETTERS.sub(lambda found: found.group()[::-1], view.text)
                yield View(turned, inside=inside, layers=layers)
