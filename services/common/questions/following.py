"""Follow-ups: a question that leans on the one before it, and the question that it is with it (ADR 0096).

"And when a person was injured?" says what is new and leaves the rest to the conversation. What is searched for is
both together. Rules over the words: a question leans when it opens like a continuation, names things by pronouns that
nothing in it explains, or has hardly a content word of its own.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.common.questions.kinds import asked_kind
from services.common.questions.terms import MEASURES, plain_words, terms

MOST_EARLIER: Final = 3
"""So many questions back a chain of follow-ups is read."""
_LONGEST_CHARS: Final = 400
"""A longer text is no elliptical question, and no earlier question that one could lean on."""
_FEW_TERMS: Final = 1

_CONTINUES: Final = re.compile(
    r"^\W*(?:and|but|or|also|plus|what about|how about|what if|what else|then|so|otherwise|in (?:that|this|which) case"
    r"|same|for (?:that|this|those|these))\b",
    re.IGNORECASE,
)
_POINTS: Final = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|that|this|these|those|there|then|such|one|ones|both|same"
    r"|former|latter|else|instead|afterwards?|too)\b",
    re.IGNORECASE,
)
_STANDS_BY_ITSELF: Final = re.compile(
    r"\b(?:that|those) (?:is|are|was|were|has|have|had|can|must|may|cost|costs|do|does|did|belong|starts?|ends?)\b"
    r"|\b(?:one|this|that|these|those|such) (?:of|year|month|week|day)\b|\bis there\b|\bare there\b|\bwas there\b"
    r"|\bwere there\b|\bthere (?:is|are|was|were)\b|\bif (?:it|they|he|she)\b",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(r"^\W*(?:and|but|or|also|plus|then|so)\b[\s,]*(?:(?:what|how) about\s+)?", re.IGNORECASE)
_ABOUT: Final = re.compile(r"^\W*(?:what|how) about\s+", re.IGNORECASE)


def leans(question: str) -> bool:
    """Say whether a question cannot be understood without the one before it."""
    if len(question) > _LONGEST_CHARS:
        return False
    own = [word for word in terms(question) if word not in MEASURES]
    if len(own) <= _FEW_TERMS:
        return True
    if _CONTINUES.match(question) and (asked_kind(question) is None or len(own) <= 2 * _FEW_TERMS + 1):
        return True
    return bool(_POINTS.search(_STANDS_BY_ITSELF.sub(" ", question))) and not _explained(question)


def _explained(question: str) -> bool:
    """Say whether a pronoun's noun stands before it in the same question: two clauses, the second with the pronoun."""
    match = _POINTS.search(_STANDS_BY_ITSELF.sub(" ", question))
    if match is None:
        return True
    before = question[: match.start()]
    return len(terms(before)) > 2 * _FEW_TERMS + 1 and len(plain_words(before)) > 5  # noqa: PLR2004 - a clause


def leaned_on(question: str, earlier: Sequence[str]) -> tuple[str, ...]:
    """Return the questions that this one leans on, nearest first; empty for one that stands alone.

    Args:
        question: the question alone.
        earlier: the questions before it in the conversation, oldest first.
    """
    chain: list[str] = []
    current = question
    for before in reversed(earlier):
        if len(chain) == MOST_EARLIER or not leans(current) or len(before) > _LONGEST_CHARS:
            break
        chain.append(before)
        current = before
    return tuple(chain)


def joined(question: str, earlier: Sequence[str]) -> str:
    """Return what is searched for: the question with those that it leans on, nearest first, in one sentence.

    The questions before come first, without their marks, so that no rule takes the text for several questions.
    """
    if not earlier:
        return question
    own = _ABOUT.sub("", _OPENING.sub("", question)).strip()
    said = [" ".join(each.split()).rstrip("?!. ") for each in reversed(earlier)]
    return f"{': '.join(said)}: {own}"
