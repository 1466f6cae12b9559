"""Whether two statements speak of the same thing (SPEC-005 §5.4, §8.2; ADR 0095).

What is said of one product, customer group, year or version, or under one condition, and what is said of another can
both be true. Two statements speak of the same thing when their subjects are the same, what names a thing among its kind
("version 5.1", "the 5 mg patch", "for tax year 2025") is the same, neither has a name that the other replaces, what
limits them differs on one side at most, and both hold under the same condition.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.clauses import finite_verb_at
from services.common.reading.lexicon import STOPWORDS
from services.common.reading.text_types import Claim, Value
from services.common.reading.words import content_stems, words
from services.dpe.domain.alignment import NAMES
from services.dpe.domain.conditions import governed_conditions
from services.dpe.domain.names import name_key

_LABELLED: Final = re.compile(
    r"\b(?:version|release|edition|model|class|level|group|plan|section|article|paragraph|zone|type|category|tier|stage"
    r"|phase|step|item|number|chapter|annex|appendix|rule|year|season|quarter|week|day|block|building|room|floor|line"
    r"|route|tariff|grade|size|series|format|gate|platform|unit|module|lot|batch|district|region|area|table|option"
    r"|scenario|case|part|volume|schedule|form|window)\s+(?P<label>[A-Z]?\d[\w.-]*|[A-Z]\b)",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    r"^(?:in|for|on|at|with|under|as of|since|from|until|after|before|during)\s[^,]{1,80},", re.IGNORECASE
)
_PREPOSITION: Final = re.compile(
    r"\b(?:for|in|on|at|of|with|without|under|from|during|by|within|outside|among|between|per|via|through|across|against)\s",
    re.IGNORECASE,
)
_CAPITAL: Final = re.compile(r"(?<=[^.!?:\s]\s)(?P<word>[A-Z][\w&-]*)")
_PRONOUNS: Final = frozenset({"it", "they", "he", "she", "this", "these", "those", "its", "their", "his", "her"})
_ANYBODY: Final = frozenset({"nobody", "everybody", "everyone", "anyone", "anybody", "none", "nothing", "there"})
_REACH_WORDS: Final = 6
"""A limit behind a preposition is read for so many words."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What a statement is about.

    Attributes:
        subject: stems before the finite verb, an opening phrase left out; ``None`` = it opens with a pronoun that
            nothing resolves, or has no subject that could be compared.
        labels: what names the thing among its kind.
        names: names, and what only its capitals show as one.
        limits: stems behind prepositions.
        conditions: stems of what it holds under; empty = it is said without a condition.
    """

    subject: frozenset[str] | None
    labels: frozenset[str]
    names: frozenset[str]
    limits: frozenset[str]
    conditions: frozenset[str]


def topic(claim: Claim, antecedent: frozenset[str] = frozenset()) -> Topic:
    """Read what a claim is about; ``antecedent`` holds the stems that a pronoun at its beginning stands for."""
    opening = _OPENING.match(claim.text)
    body_at = opening.end() if opening else 0
    tokens = words(claim.text[body_at:])
    verb = finite_verb_at(tokens)
    first = tokens[0].text if tokens else ""
    verb_at = body_at + tokens[verb].start if verb else len(claim.text)
    condition = frozenset[str]().union(*(content_stems(text) for text in governed_conditions(claim.text)))
    subject: frozenset[str] | None = content_stems(claim.text[body_at:verb_at]) if verb else None
    if first in _PRONOUNS:
        subject = antecedent or None
    elif first in _ANYBODY:
        subject = frozenset()
    head = claim.text[:body_at]
    names = {name_key(entity.text) for entity in claim.entities if entity.kind in NAMES}
    names |= {match["word"].casefold() for match in _CAPITAL.finditer(claim.text)} - STOPWORDS
    return Topic(
        subject,
        _labels(claim, body_at, verb_at if verb else 0),
        frozenset(names),
        (content_stems(head) | _limits(claim.text[verb_at:])) - condition,
        condition,
    )


def apart(left: Topic, right: Topic) -> bool:
    """Say whether two statements speak of different things, or nobody can say that they speak of the same."""
    if left.labels != right.labels or _each_has_its_own(left.names, right.names):
        return True
    if _each_has_its_own(left.limits, right.limits) or _differently_conditioned(left, right):
        return True
    if left.subject is None or right.subject is None:
        return True
    # "Nobody may" and "members may" are held against each other: one of them speaks of all.
    return bool(left.subject and right.subject) and left.subject != right.subject


def labels_differ(left: Topic, right: Topic) -> bool:
    """Say whether two statements name different things of a kind, or hold under different conditions."""
    return left.labels != right.labels or _differently_conditioned(left, right)


def _each_has_its_own(left: frozenset[str], right: frozenset[str]) -> bool:
    return bool(left - right) and bool(right - left)


def _differently_conditioned(left: Topic, right: Topic) -> bool:
    return bool(left.conditions ^ right.conditions) and (
        not left.conditions or not right.conditions or _each_has_its_own(left.conditions, right.conditions)
    )


def _labels(claim: Claim, body_at: int, verb_at: int) -> frozenset[str]:
    """Return what names a thing: labelled numbers and letters, and dates and measures before the verb."""
    found = {match["label"].casefold() for match in _LABELLED.finditer(claim.text)}
    for value in claim.values:
        start, end = value.start - claim.start, value.end - claim.start
        opens = _OPENS.match(claim.text, 0, start) is not None and value.kind in {EntityKind.DATE, EntityKind.NUMBER}
        before_verb = start < max(verb_at, body_at)
        # "Protocol 1 allows": a number between a noun and the verb names, one before its noun counts.
        is_name = before_verb and start > 0 and 0 <= verb_at - end <= 1 and value.kind is EntityKind.NUMBER
        if opens or is_name or (before_verb and _names_a_thing(value)):
            found.add(value.normal)
    return frozenset(found)


_OPENS: Final = re.compile(r"(?:in|for|until|since|from|by|during|before|after|as of|on)\s(?:the\s)?$", re.IGNORECASE)


def _names_a_thing(value: Value) -> bool:
    """Say whether a value before the verb tells things apart; a bare number there counts them."""
    return value.kind in {EntityKind.DATE, EntityKind.TIME} or bool(value.unit)


def _limits(text: str) -> frozenset[str]:
    found: set[str] = set()
    for match in _PREPOSITION.finditer(text):
        following = words(text[match.end() : match.end() + _REACH_WORDS * 16])[:_REACH_WORDS]
        if following:
            end = match.end() + following[-1].end
            piece = _PREPOSITION.split(text[match.end() : end], maxsplit=1)[0]
            found |= content_stems(piece.split(",")[0])
    return frozenset(found)
