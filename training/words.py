"""Words as the row makers see them: which carry content, which are numbers, how a text is compared with another."""

import re
from collections.abc import Iterable
from typing import Final

from services.common.grounding.words import sentences as sentence_offsets

_WORD: Final = re.compile(r"[^\W_]+(?:[-'’.,][^\W_]+)*")  # noqa: RUF001 - typographic apostrophe
_NUMBER: Final = re.compile(r"\d")
_FUNCTION_WORDS: Final = frozenset(
    _WORD.findall(
        """a about above after again against all almost also although am among an and any are as at be because been
        before
    being below between both but by can could did do does doing done down during each either else every few for from
    further get got had has have having he her here hers herself him himself his how i if in into is it its itself just
    least less let like made many may me might more most much must my near neither never no nor not now of off on once
    one only or other our out over own per said same she should since so some such than that the their theirs them then
    there these they this those though through to too under until up upon us very was we were what when where whether
    which while who whom whose why will with within without would yes yet you your"""
    )
)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, in order; numbers such as 1,000 and 3.5 are words."""
    found: list[str] = _WORD.findall(text.lower())
    return found


def content_words(text: str) -> list[str]:
    """Return the words that are not function words, in order, repetitions kept."""
    return [word for word in words(text) if word not in _FUNCTION_WORDS and (len(word) > 1 or word.isdigit())]


def word_count(text: str) -> int:
    """Return how many stretches without white space a text has."""
    return len(text.split())


def folded(text: str) -> str:
    """Return the form under which two texts count as the same: words in lower case, marks and spacing left out."""
    return " ".join(words(text))


def has_number(word: str) -> bool:
    """Whether a word holds a digit."""
    return _NUMBER.search(word) is not None


def coverage(claim_words: Iterable[str], premise_words: Iterable[str]) -> float:
    """Return the share of distinct claim words that occur in the premise, 0 to 1; 1 for a claim without any."""
    wanted, there = set(claim_words), set(premise_words)
    return len(wanted & there) / len(wanted) if wanted else 1.0


def is_function_word(word: str) -> bool:
    """Whether a word, in any case, carries grammar rather than content."""
    return word.lower() in _FUNCTION_WORDS


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, without the white space around them."""
    return [text[start:end].strip() for start, end in sentence_offsets(text)]
