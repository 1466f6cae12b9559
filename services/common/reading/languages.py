"""Whether a text is in another language than English, the only one that the rules and encoders were made for.

By function words, which no running text does without, and by script; no model, so that the same text is judged alike
with whatever is installed. Unsure means English: what is read is checked. A text in another language is never scored
as false: stage 1 says LANGUAGE_NOT_SUPPORTED (SPEC-005 §3; ADR 0040).
"""

import unicodedata
from collections.abc import Sequence
from typing import Final

from services.common.function_words import FUNCTION_WORDS
from services.common.reading.lexicon import AUXILIARIES, NEGATORS, STOPWORDS
from services.common.reading.words import word_texts

_ENGLISH: Final = STOPWORDS | NEGATORS | AUXILIARIES
_LISTS: Final = tuple(frozenset(listed.split()) - _ENGLISH for listed in FUNCTION_WORDS.values())
_LISTED_IN: Final = {
    word: tuple(number for number, listed in enumerate(_LISTS) if word in listed) for word in frozenset().union(*_LISTS)
}
"""The languages of each foreign function word, so that an English word costs one look."""
_MIN_WORDS: Final = 3
_MIN_HITS: Final = 2
_SENTENCE_HITS: Final = 3
"""A sentence of an English text needs more evidence than a whole text: names hold foreign function words."""


def is_other_language(text: str, *, within_english: bool = False) -> bool:
    """Say whether a text is in another language than English.

    Args:
        text: a sentence, a paragraph or a whole answer.
        within_english: what stands around it is English, so more evidence is asked for.
    """
    accented = False
    if not text.isascii():
        letters = [char for char in text if char.isalpha()]
        beyond = [char for char in letters if not char.isascii()]
        if 2 * sum(1 for char in beyond if not _is_latin(char)) > len(letters):
            return True
        accented = bool(beyond)
    tokens = word_texts(text)
    if len(tokens) < _MIN_WORDS:
        return False
    english = sum(1 for token in tokens if token in _ENGLISH)
    other = _most_listed(tokens)
    if within_english:
        return other >= _SENTENCE_HITS and other > 2 * english
    return other > english and (other >= _MIN_HITS or (accented and english == 0))


def has_english(text: str) -> bool:
    """Say whether a text holds more English function words than others."""
    tokens = word_texts(text)
    english = sum(1 for token in tokens if token in _ENGLISH)
    return english > _most_listed(tokens)


def _most_listed(tokens: Sequence[str]) -> int:
    """Return how many different words the language that knows most of them knows: "per", again and again, is one."""
    counts = [0] * len(_LISTS)
    for token in frozenset(tokens):
        for number in _LISTED_IN.get(token, ()):
            counts[number] += 1
    return max(counts)


def _is_latin(char: str) -> bool:
    return unicodedata.name(char, "").startswith("LATIN")
