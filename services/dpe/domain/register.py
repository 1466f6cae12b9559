"""The register of a text (SPEC-005 §11.3, signal 9c): how long its sentences are, how hard its words, who speaks.

Four measures over its sentences, and how well two texts agree in them (ADR 0014). Counts over closed lists; no
model. English; the passive is read from a form of "be" with a participle behind it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from services.common.reading.words import words

LENGTH_LIMIT: Final = 0.20  # SPEC-005 §11.3: sentence_length_mean within 20%
VOCABULARY_LIMIT: Final = 0.15  # SPEC-005 §11.3: vocabulary_complexity within 15%
PASSIVE_LIMIT: Final = 0.10  # SPEC-005 §11.3: passive_voice_ratio within 10%
_DIGITS: Final = 12
_FIRST: Final = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"})
_SECOND: Final = frozenset({"you", "your", "yours", "yourself", "yourselves"})
_PARTICIPLES: Final = (
    "became|begun|bought|broken|brought|built|caught|chosen|come|cut|dealt|done|drawn|driven|fallen|felt|found|forbidden"
    "|forgotten|given|gone|grown|held|heard|hidden|hit|kept|known|laid|led|left|lent|lost|made|meant|met|overseen|paid"
    "|put|read|run|said|seen|sent|set|shown|shut|sold|spent|split|spoken|stated|stolen|sought|taken|taught|told|thought"
    "|understood|undertaken|withdrawn|won|worn|written"
)
_ADVERBS: Final = r"(?:(?:not|also|only|then|often|never|always|still|now|already|\w{2,20}ly)\s+){0,2}"
_PASSIVE: Final = re.compile(
    r"\b(?:am|is|are|was|were|be|been|being|gets?|got|isn't|aren't|wasn't|weren't)\s+"
    rf"{_ADVERBS}(?:(?!(?:need|seed|feed|speed|indeed|hundred|sacred|naked)\b)[a-z]{{2,30}}ed|{_PARTICIPLES})\b",
    re.IGNORECASE,
)


@unique
class Person(StrEnum):
    """Who a text speaks of; third also when it holds no personal pronoun."""

    FIRST = "FIRST"
    SECOND = "SECOND"
    THIRD = "THIRD"


@dataclass(frozen=True, slots=True)
class Register:
    """The four measures of a text.

    Attributes:
        sentence_words: mean number of words of a sentence; more than 0.
        word_letters: mean number of letters and digits of a word; more than 0.
        passive_ratio: share of sentences in the passive, 0.0-1.0.
        person: the person that is named most: "I" and "we", "you", or neither.
    """

    sentence_words: float
    word_letters: float
    passive_ratio: float
    person: Person


def register_of(sentences: Sequence[str]) -> Register | None:
    """Return the register of sentences; ``None`` when they hold no word."""
    tokens = [[word.text for word in words(sentence)] for sentence in sentences]
    tokens = [each for each in tokens if each]
    if not tokens:
        return None
    flat = [word for each in tokens for word in each]
    passive = sum(1 for sentence in sentences if _PASSIVE.search(sentence))
    letters = sum(sum(1 for char in word if char.isalnum()) for word in flat)
    return Register(len(flat) / len(tokens), letters / len(flat), passive / len(tokens), _person(flat))


def _person(tokens: Sequence[str]) -> Person:
    first = sum(1 for word in tokens if word.split("'")[0] in _FIRST)
    second = sum(1 for word in tokens if word.split("'")[0] in _SECOND)
    if not first and not second:
        return Person.THIRD
    return Person.FIRST if first >= second else Person.SECOND


def consistency(current: Register, prior: Register) -> float:
    """Return the mean of four terms, 0.0-1.0, each max(0, 1 - relative difference / limit) (ADR 0014).

    The person's term is 1 when it is the same and 0 when not.
    """
    terms = (
        _agreement(current.sentence_words, prior.sentence_words, LENGTH_LIMIT),
        _agreement(current.word_letters, prior.word_letters, VOCABULARY_LIMIT),
        _agreement(current.passive_ratio, prior.passive_ratio, PASSIVE_LIMIT),
        1.0 if current.person is prior.person else 0.0,
    )
    return round(sum(terms) / len(terms), _DIGITS)


def _agreement(current: float, prior: float, limit: float) -> float:
    if current == prior:
        return 1.0
    if prior == 0.0:
        return 0.0
    return max(0.0, 1.0 - abs(current - prior) / prior / limit)
