"""A question as it is read: the kind of answer that it expects, and the thing that it is about."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Final

from services.common.questions.following import leans
from services.common.questions.kinds import Kind, asked_kind, asks_condition
from services.common.questions.terms import MEASURES, listed, plain_words, stem, terms

MEASURE_WEIGHT: Final = 0.10
"""What the noun counts that only says which kind of answer is asked for."""
EARLIER_WEIGHT: Final = 0.45
"""What a word of the question before counts beside one of the question itself; of the one before that, its square."""
_FOCUS: Final = re.compile(
    r"\b(?:what|which|how (?:many|much)|whose)\s+(?:(?:is|are|was|were)\s+(?:the|a|an|its|their|his|her)\s+)?"
    r"(?P<noun>[\w'\u2019 -]{2,60})",
    re.IGNORECASE,
)
_WHO_DOES: Final = re.compile(r"\bwho (?P<verb>[a-z]{3,30})\b", re.IGNORECASE)
_DEGREES: Final = listed(
    """
    working calendar business full whole total exact highest lowest shortest longest greatest smallest first last
    average usual percentage general normal
    """
)
_SHARE: Final = re.compile(r"\b(?:share|percentage|percent|proportion|fraction)s?\b", re.IGNORECASE)
_HOW_OLD: Final = re.compile(r"\bhow old\b", re.IGNORECASE)
_BE: Final = re.compile(r"\b(?:is|are|was|were|be|been|being)\b", re.IGNORECASE)
_PASSIVE_CHARS: Final = 120
_PARTICIPLES: Final = listed(
    """
    built kept paid sold sent held told written given taken shown known made bought found lost left met led begun
    chosen drawn driven hidden laid put read set cut spent taught understood won withdrawn stolen born broken
    brought lent hit hurt
    """
)
_BOUND: Final = re.compile(
    r"\b(?:over|above|below|under|more than|less than|fewer than|at least|at most|from)"
    r"\s+[€$£]?(?P<number>\d[\d.,]*\d|\d)\b"
    r"(?! (?:January|February|March|April|May|June|July|August|September|October|November|December))",
    re.IGNORECASE,
)
_MODAL: Final = re.compile(r"\b(?:must|may|can|should|shall|need|needs|allowed)\b", re.IGNORECASE)
_PAST: Final = re.compile(r"\b(?:was|were|did|had|has|have|used to)\b", re.IGNORECASE)
_ENDS_NOUN: Final = listed(
    """
    is are was were am do does did can could may might must should shall will would has have had of for to in on
    at by with when if that which who whose and or from under as per after before during about between without a
    an the i you we he she it they member someone
    """
)


@unique
class Tense(StrEnum):
    """Whether a question asks what shall be, what is, or what was."""

    RULE = "RULE"
    PRESENT = "PRESENT"
    PAST = "PAST"


@dataclass(frozen=True, slots=True)
class Question:
    """What one question asks.

    Attributes:
        text: its own words.
        kind: what is expected.
        weights: how much each content stem counts; own words 1.0, those of questions before it less.
        focus: stems of the noun that is asked for ("salary" in "what is the salary of a handler"), or of what is done
            ("who founded …"); a text that names none of them does not answer. Empty where the noun only says the kind
            ("how many days").
        done: stem of what is done in the passive ("when was it built?"); empty when there is none.
        bounds: numbers that limit what is asked about ("drivers over 75").
        bound_phrases: the same with the words before them.
        share: a part of a whole is asked for, as "percent" or a fraction.
        tense: whether what shall be is asked for, what is, or what was.
        own: stems of its own words.
        conditions_count: a condition answers "when".
    """

    text: str
    kind: Kind
    weights: Mapping[str, float]
    focus: frozenset[str] = frozenset()
    own: frozenset[str] = field(default_factory=frozenset)
    conditions_count: bool = False
    done: str = ""
    bounds: frozenset[str] = frozenset()
    tense: Tense = Tense.PRESENT
    share: bool = False
    bound_phrases: tuple[str, ...] = ()


def read_question(text: str, earlier: tuple[str, ...] = ()) -> Question:
    """Read a question.

    Args:
        text: the question alone.
        earlier: the questions that it leans on, nearest first; what it leaves out is taken from them.
    """
    kinds = (asked_kind(each) for each in (text, *earlier))
    kind_text = next((each for each in (text, *earlier) if asked_kind(each) is not None), text)
    kind = next((found for found in kinds if found is not None), Kind.OPEN)
    weights: dict[str, float] = {}
    for distance, each in enumerate((text, *earlier)):
        for word in terms(each):
            weight = EARLIER_WEIGHT**distance * (MEASURE_WEIGHT if word in _MEASURE_STEMS else 1.0)
            weights[word] = max(weight, weights.get(word, 0.0))
    own = frozenset(terms(text))
    return Question(
        text=text,
        kind=kind,
        weights=weights,
        focus=_focus(kind_text),
        own=own,
        conditions_count=kind is Kind.TIME and asks_condition(kind_text),
        done=_done(text),
        bounds=frozenset(match.group("number") for match in _BOUND.finditer(text)),
        share=kind is Kind.NUMBER and _SHARE.search(kind_text) is not None,
        bound_phrases=tuple(match.group().lower() for match in _BOUND.finditer(text)),
        tense=_tense(" ".join((text, *earlier[:1]))),
    )


def _focus(text: str) -> frozenset[str]:
    doing = _WHO_DOES.search(text)
    if doing is not None and doing.group("verb").lower() not in _ENDS_NOUN:
        return frozenset(terms(doing.group("verb")))
    if _HOW_OLD.search(text):
        return frozenset({stem("age")})
    match = _FOCUS.search(text)
    if match is None:
        return frozenset()
    noun: list[str] = []
    for word in plain_words(match.group("noun")):
        if word in _ENDS_NOUN:
            break
        noun.append(word)
    if noun and noun[-1] in MEASURES:  # "opening hours" asks for hours of opening, "how many days" for days alone
        noun = [word for word in noun[:-1] if word not in MEASURES and word not in _DEGREES]
    return frozenset(terms(" ".join(noun)))


def _tense(text: str) -> Tense:
    if _PAST.search(text):
        return Tense.PAST
    return Tense.RULE if _MODAL.search(text) else Tense.PRESENT


def _done(text: str) -> str:
    """Return the stem of the participle after a form of "be", where the question has one."""
    for be in _BE.finditer(text):
        for word in plain_words(text[be.end() : be.end() + _PASSIVE_CHARS]):
            if word in _PARTICIPLES or (word.endswith("ed") and len(word) > 4):  # noqa: PLR2004 - "red", "bed"
                return stem(word)
    return ""


_MEASURE_STEMS: Final = frozenset(stem(word) for word in MEASURES)


_NEXT_NEED: Final = re.compile(
    r"(?:[,;]? and|[,;]|(?<=\?))\s+(?=(?:(?:up to|by|to|from|in|at|for|since|until|with|of|on|within|after|under) )?"
    r"(?:how|what|whom|whose|why|who|(?:when|where) (?:is|are|was|were|do|does|did|can|must|may|should|will|has|have)"
    r"|which \w+ (?:is|are|must|may|can|does|do))\b)",
    re.IGNORECASE,
)
MOST_NEEDS: Final = 4


def needs(text: str) -> tuple[str, ...]:
    """Return the questions that a text asks, each once: one for a plain question."""
    plain = " ".join(text.split())
    if asked_kind(plain) is None:
        return (plain,)
    parts = [part.strip(" ,;") for part in _NEXT_NEED.split(plain, maxsplit=MOST_NEEDS - 1)]
    asking = [part for part in parts if part]
    if len(asking) < 2 or asked_kind(asking[0]) is None:  # noqa: PLR2004 - what stands before is no question
        return (plain,)
    return tuple(dict.fromkeys(asking))


def read_needs(text: str, earlier: tuple[str, ...] = ()) -> tuple[Question, ...]:
    """Read every question of a text; one that leans takes what it leaves out from the one before it."""
    read: list[Question] = []
    before: tuple[str, ...] = earlier
    for need in needs(text):
        read.append(read_question(need, before if not read or leans(need) else earlier))
        before = (need, *before)
    return tuple(read)
