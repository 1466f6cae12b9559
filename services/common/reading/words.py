"""Words with their places, their stems and the polarity of a text; what every comparison of texts is made of.

Linear in the text. The stemmer is deliberately shallow: it joins ``claims`` with ``claim`` and ``applied`` with
``apply`` and never joins words of different meaning for the sake of recall.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from services.common.reading.lexicon import NEGATORS, STOPWORDS

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")  # noqa: RUF001 - the typographic apostrophe is meant
_MIN_STEM: Final = 3
_ENDINGS: Final = (
    ("ies", "y"), ("ied", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("ed", ""), ("s", ""),
)  # fmt: skip


class Word(NamedTuple):
    """A word as it stands: lower case, apostrophes made straight, offsets in the text. Made for every word read."""

    text: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """Return the words of a text, in order."""
    found = [Word(match.group().lower(), *match.span()) for match in _WORD.finditer(text)]
    if "’" in text:  # noqa: RUF001 - as above
        return [word._replace(text=word.text.replace("’", "'")) for word in found]  # noqa: RUF001 - as above
    return found


def word_texts(text: str) -> list[str]:
    """Return the texts of the words alone, for whoever needs no places: a third of the time."""
    found = [word.lower() for word in _WORD.findall(text)]
    return [word.replace("’", "'") for word in found] if "’" in text else found  # noqa: RUF001 - as above


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return a shallow stem: plural, third person, past and possessive endings are taken off."""
    bare = word.removesuffix("'s").removesuffix("'")
    for ending, replacement in _ENDINGS:
        if bare.endswith(ending) and len(bare) - len(ending) >= _MIN_STEM and not bare.endswith("ss"):
            bare = bare[: -len(ending)] + replacement
            break
    return bare.removesuffix("e") if len(bare) > _MIN_STEM else bare


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry content: no stop words, no negators, no numerals."""
    return frozenset(
        stem(word)
        for word in word_texts(text)
        if word not in STOPWORDS and word not in NEGATORS and not word[0].isdigit()
    )


def normal_text(text: str) -> str:
    """Return the text in one case, with single blanks and without closing punctuation: layout does not count."""
    return " ".join(text.split()).casefold().strip(".;:,!?*-\"' ")


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the share of common members, 0.0 for two empty sets."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0


def containment(inner: frozenset[str], outer: frozenset[str]) -> float:
    """Return the share of ``inner`` that is in ``outer``, 0.0 for an empty ``inner``."""
    return len(inner & outer) / len(inner) if inner else 0.0
