"""How far an answer answers a question: a number, from what its sentences name and which kind of answer they hold.

Unlike the answerer, which may choose and therefore asks for the very words, this judges what somebody else wrote: other
words for the same are let pass where the sentence is near to the question in meaning, and a bare "Within 7 days." takes
what it is about from the question.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.questions.kinds import CLOSED, Kind, holds
from services.common.questions.matching import fit
from services.common.questions.reading import Question
from services.common.questions.terms import MEASURES, STOP_WORDS, plain_words, stem, terms
from services.common.reading.values import scan_values

ANSWERED: Final = 0.50
"""From here on a question counts as answered."""
BESIDE: Final = 0.30
"""Below, nothing in the answer has to do with what was asked."""
MISSING_KIND: Final = 0.40
"""What is left of a sentence about the thing that holds no number, date, code or place where one is expected."""
SOFT_MISSING: Final = 0.70
"""The same for a name, a place or a reason, which are not read off a text as surely."""
UNREADABLE_FRAGMENT: Final = 0.75
"""A fragment where the kind cannot be read off a text."""
ECHO: Final = 0.20
"""A sentence that says nothing but the question's own words, and no "yes", "no" or value."""
DENIED_THING: Final = 0.50
_FRAGMENT_WORDS: Final = 6
MOST_BARE_CHARS: Final = 1_000
"""What is longer is no answer in short, and its values are not read for it."""

_SURE: Final = frozenset({Kind.NUMBER, Kind.TIME, Kind.CODE})
_FINITE: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|can|could|may|might|must|should|shall|will|would|pays?|costs?|says?"
    r"|needs?|gets?|makes?|takes?|goes|means?|\w{3,}ed)\b",
    re.IGNORECASE,
)
_YES_OR_NO: Final = re.compile(
    r"^\W*(?:yes|no|yeah|nope|correct|certainly|of course|not|never|only|it depends)\b", re.IGNORECASE
)
_DENIES: Final = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|nowhere|neither|without|cannot|\w+n['\u2019]t)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of an answer.

    Attributes:
        text: as it stands.
        before: the sentence before it and the heading above, for their words alone.
        nearness: calibrated similarity to the question, 0.0-1.0.
    """

    text: str
    before: tuple[str, ...] = ()
    nearness: float = 0.0


def answered(question: Question, said: Sequence[Said], tells: Mapping[str, float] | None = None) -> float:
    """Return how far the sentences answer the question: that of the best, 0.0-1.0; 0.0 for none.

    Args:
        question: as read.
        said: what is asserted; neither questions nor refusals.
        tells: how much each word of the question tells; all the same when not given.
    """
    return max((_one(question, each, tells) for each in said), default=0.0)


def _one(question: Question, said: Said, tells: Mapping[str, float] | None) -> float:
    if question.kind is Kind.YES_NO and _YES_OR_NO.match(said.text):
        return 1.0
    held = _holds(question, said.text)
    new = _new_words(question, said.text)
    if _is_fragment(said.text) and held and (question.kind in CLOSED or new):
        return 1.0 if question.kind in CLOSED else UNREADABLE_FRAGMENT
    found = fit(question, said.text, said.before, tells)
    lexical = (found.thing + found.own) / 2
    denies = bool(_DENIES.search(said.text)) and found.own >= DENIED_THING
    if not new and question.kind is not Kind.YES_NO and not denies and (question.kind not in CLOSED or not held):
        return min(ECHO, lexical)
    about = max(lexical, said.nearness)
    if held or denies:
        return about
    return about * (MISSING_KIND if question.kind in _SURE else SOFT_MISSING)


def is_bare_answer(question: Question, text: str) -> bool:
    """Say whether a text is an answer in short: "Within 7 days.", "Ingrid Solheim.", "No.", "The deposit is 9 EUR."."""
    if question.kind is Kind.YES_NO:
        return bool(_YES_OR_NO.match(text))
    if len(text) > MOST_BARE_CHARS:
        return False
    if _gives_value_of_it(question, text):
        return question.kind not in CLOSED or _holds(question, text)
    return question.kind in CLOSED and _is_fragment(text) and _holds(question, text)


def answers_kind(question: Question, text: str, following: str = "") -> bool:
    """Say whether a sentence that is about the thing says more than the question: the expected kind, or a denial.

    Args:
        question: as read.
        text: the sentence.
        following: what stands behind it, which may hold the value that a heading or lead-in announces.
    """
    if question.kind not in CLOSED:
        return True
    return _holds(question, text) or bool(_DENIES.search(text)) or _holds(question, following)


def _holds(question: Question, text: str) -> bool:
    return holds(question.kind, text, asked=question.weights.keys(), conditions_count=question.conditions_count)


def _new_words(question: Question, text: str) -> frozenset[str]:
    """Return what a sentence says beyond the words of the question."""
    return frozenset(terms(text)).difference(question.weights, _MEASURE_STEMS)


def _is_fragment(text: str) -> bool:
    """Say whether a text names an answer without saying of what: a few words and no finite verb."""
    return len(plain_words(text)) <= _FRAGMENT_WORDS and not _FINITE.search(text)


def _gives_value_of_it(question: Question, text: str) -> bool:
    """Say whether a sentence names nothing but what is asked about, and a value; what it leaves out is asked."""
    values = scan_values(text)
    rest = list(text)
    for value in values:
        rest[value.start : value.end] = " " * (value.end - value.start)
    own = frozenset(terms("".join(rest)))
    return bool(values and own) and own <= question.weights.keys()


_MEASURE_STEMS: Final = frozenset(stem(word) for word in MEASURES - STOP_WORDS)
