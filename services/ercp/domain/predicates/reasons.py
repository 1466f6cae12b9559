"""Whether a claim of a text stands with a reason (ERCP 1.0 §8 HasJustification, §4.2 missing_justification)."""

import re
from typing import Final

from services.ercp.domain.predicates.describing import said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Span, TextFacts
from services.ercp.domain.predicates.model import Operand, Path, Text
from services.ercp.domain.predicates.naming import words_of
from services.ercp.domain.predicates.selection import about_attribute

_SHARE_FOUND: Final = 0.8
"""So many of a claim's words a sentence must hold to be the one that states it."""
_PATH: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_NEGATION: Final = re.compile(r"\b(?:not|never|no|cannot|without)\b|n['\u2019]t\b", re.IGNORECASE)


def claim_is_justified(claim: Operand, facts: TextFacts) -> Evaluation:
    """Say whether the text states a claim and gives a reason for it.

    A claim in words is stated by a sentence with nearly all of them; a claim such as ``water.boiling_point`` by every
    value that the text gives it.
    """
    places = _places(claim, facts)
    if not places:
        return Evaluation(Holds.UNKNOWN, (), f'the text does not state the claim "{said(claim)}"')
    tied = [
        justification
        for justification in facts.justifications
        if any(_overlap(justification.claim, place) for place in places)
        and _is_claim(claim, justification.claim, facts)
    ]
    for justification in tied:
        if justification.is_given:
            spans = tuple(sorted((justification.claim, justification.reason), key=lambda span: (span.start, span.end)))
            return Evaluation(Holds.TRUE, spans, f'the text gives a reason ("{justification.marker}")')
    if tied:
        why = f'only the word "{tied[0].marker}" ties the claim to what stands before it'
        return Evaluation(Holds.UNKNOWN, (), why)
    return Evaluation(Holds.FALSE, (places[0],), "the text states the claim and gives no reason for it")


def _places(claim: Operand, facts: TextFacts) -> list[Span]:
    path = _path(claim)
    if path is not None:
        return [fact.span for fact in about_attribute(facts, path)]
    return [span for span in facts.sentences if _states(facts.text, span, said(claim))]


def _is_claim(claim: Operand, span: Span, facts: TextFacts) -> bool:
    return _path(claim) is not None or _states(facts.text, span, said(claim))


def _path(claim: Operand) -> Path | None:
    if not isinstance(claim, Text) or _PATH.fullmatch(claim.text) is None:
        return None
    return Path(tuple(claim.text.lower().split(".")))


def _states(text: str, span: Span, claim: str) -> bool:
    """Say whether a part of the text says what a claim says, and does not deny it."""
    part = text[span.start : span.end]
    wanted, found = frozenset(words_of(claim)), frozenset(words_of(part))
    is_same_side = len(_NEGATION.findall(claim)) % 2 == len(_NEGATION.findall(part)) % 2
    return bool(wanted) and is_same_side and len(wanted & found) >= _SHARE_FOUND * len(wanted)


def _overlap(first: Span, second: Span) -> bool:
    return first.start < second.end and second.start < first.end
