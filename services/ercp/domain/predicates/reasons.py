"""Whether a claim of a text stands with a reason (ERCP 1.0 §8 HasJustification, §4.2 missing_justification)."""

from typing import Final

from services.ercp.domain.predicates.describing import said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Span, TextFacts
from services.ercp.domain.predicates.model import Operand
from services.ercp.domain.predicates.naming import operand_words, words_of

_SHARE_FOUND: Final = 0.8
"""So many of a claim's words a sentence must hold to be the one that states it."""


def claim_is_justified(claim: Operand, facts: TextFacts) -> Evaluation:
    """Say whether the text states a claim and gives a reason for it."""
    wanted = frozenset(operand_words(claim))
    places = [span for span in facts.sentences if _states(facts.text, span, wanted)]
    if not places:
        return Evaluation(Holds.UNKNOWN, (), f'the text does not state the claim "{said(claim)}"')
    for justification in facts.justifications:
        if _states(facts.text, justification.claim, wanted):
            spans = tuple(sorted((justification.claim, justification.reason), key=lambda span: (span.start, span.end)))
            return Evaluation(Holds.TRUE, spans, f'the text gives a reason ("{justification.marker}")')
    return Evaluation(Holds.FALSE, (places[0],), "the text states the claim and gives no reason for it")


def _states(text: str, span: Span, wanted: frozenset[str]) -> bool:
    found = wanted & frozenset(words_of(text[span.start : span.end]))
    return bool(wanted) and len(found) >= _SHARE_FOUND * len(wanted)
