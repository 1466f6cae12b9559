"""What a noun phrase names: an entity, its attribute, and the condition that stands with it (ADR 0070).

"The boiling point of water at sea level" is water's boiling point at sea level; "the project deadline" has no entity of
its own; a phrase with "and", or with more words than a name has, is not read.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.ercp.domain.predicates.facts import Subject, Words
from services.ercp.domain.predicates.naming import words_of
from services.ercp.domain.predicates.phrases import CONNECTIVES

_MOST_WORDS: Final = 8
_BRACKETS: Final = re.compile(r"\([^()]{0,200}\)")
_POSSESSIVE: Final = re.compile(r"(?P<entity>.+?)['\u2019]s?\s+(?P<attribute>.+)", re.DOTALL)
_PRONOUN: Final = re.compile(r"(?P<pronoun>its?|they|their|his|her)\b\s*(?P<attribute>.*)", re.IGNORECASE | re.DOTALL)
_OF: Final = re.compile(r"\s+of\s+", re.IGNORECASE)
_LIMIT: Final = re.compile(
    r"\s+(?=(?:at|in|on|under|during|when|for|with|without|near|above|below|between|to|from|inside|per|next|beside|behind)\s)",
    re.IGNORECASE,
)
_UNCLEAR: Final = re.compile(
    r"\b(?:and|or|most|some|many|few|several|nor|than|not|no|none|neither|would|could|there|what|who|how|why|whether|if|them|us)\b|\A\s*(?:that|this|these|those|the|an?)\s*\Z",
    re.IGNORECASE,
)
_DETERMINER: Final = re.compile(
    r"(?:(?:the|an?|this|that|these|those|each|every|all|our|your|my|any|such|pure|both)\s+)+", re.IGNORECASE
)
_AHEAD: Final = re.compile(
    r"(?P<phrase>(?:at|in|on|under|during|for|with|without|near|above|below|after|before)\s\S+(?:\s\S+){0,5}?)"
    r"\s(?P<rest>(?:it|its|the|they|their)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A condition without a comma behind it: "in Denver it"."""
_COUNTS: Final = (words_of("number"), words_of("total number"), words_of("count"))
_TRAILING: Final = re.compile(
    r"[\s,]+(?:always|also|usually|typically|normally|generally|now|then|currently|still|only|itself|alone|themselves|that|which)\s*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun phrase: what it names, and the words of its condition."""

    subject: Subject
    condition: str = ""


def read_noun_phrase(text: str, known: Words) -> NounPhrase | None:
    """Return what a phrase names, or ``None`` when that is not plain.

    Args:
        text: the phrase, connectives and articles included.
        known: the entity that "it" and "its" mean here; empty when none does.
    """
    text = _BRACKETS.sub(" ", text)
    start = CONNECTIVES.match(text)
    text = text[start.end() if start else 0 :].strip(" \t\n,:-*_\"'`")
    text = _TRAILING.sub("", text)
    pronoun = _PRONOUN.fullmatch(text)
    if pronoun is not None:
        return _of_pronoun(pronoun, known)
    ahead = _AHEAD.fullmatch(text)
    if ahead is not None:
        inner = read_noun_phrase(ahead["rest"], known)
        return None if inner is None else NounPhrase(inner.subject, f"{ahead['phrase']}, {inner.condition}")
    head, _, limit = _split(f" {text}")
    if not head or _UNCLEAR.search(head):
        return None
    subject = _named(head)
    return None if subject is None else NounPhrase(subject, limit)


def _of_pronoun(match: re.Match[str], known: Words) -> NounPhrase | None:
    head, _, limit = _split(match["attribute"])
    attribute = words_of(head) if head else ()
    is_owner = match["pronoun"].lower() in {"its", "their", "his", "her"}
    if not known or is_owner != bool(attribute) or _UNCLEAR.search(head) or len(attribute) > _MOST_WORDS:
        return None
    return NounPhrase(Subject(known, attribute), limit)


def _split(text: str) -> tuple[str, str, str]:
    """Split a phrase at its first limiting preposition: "boiling point of water" and "at sea level"."""
    limit = _LIMIT.search(text)
    if limit is None:
        return text, "", ""
    return text[: limit.start()], " ", text[limit.end() :]


def _named(head: str) -> Subject | None:
    owner = _POSSESSIVE.fullmatch(head)
    if owner is not None:
        return _subject(owner["entity"], owner["attribute"])
    parts = _OF.split(head)
    if len(parts) == 1:
        return _subject("", head)
    return _subject(" of ".join(parts[1:]), parts[0])


def _subject(entity: str, attribute: str) -> Subject | None:
    owner, owned = (
        words_of(_DETERMINER.sub("", text.strip(), count=1)) if text.strip() else () for text in (entity, attribute)
    )
    if owner and owned in _COUNTS:
        # The number of players is what the players are counted by.
        owner, owned = (), owner
    if not owned or len(owner) > _MOST_WORDS or len(owned) > _MOST_WORDS:
        return None
    return Subject(owner, owned)
