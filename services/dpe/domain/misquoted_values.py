"""Which values that may be of a case, or reckoned, are plainly misquoted (SPEC-005 §5.3, ADR 0215).

A value that differs may be one for an occasion of its own ("a month with 80,000 calls costs 49") or a sum. Where all
else that a claim gives stands in the sentence or row that it repeats, there is nothing that it could be reckoned from.
"""

import re
from typing import Final

from services.common.reading.agreement import agrees
from services.common.reading.bounds import bound_of
from services.common.reading.text_types import Claim, Span
from services.common.reading.values import scan_values
from services.dpe.domain.cases import is_reckoned
from services.dpe.domain.conditions import conditions
from services.dpe.domain.facts import FactView
from services.dpe.domain.findings import Distortion
from services.dpe.domain.worked_out import TOTAL

_NAME: Final = re.compile(r"\b[A-Z]\w{0,40}")
"""No word that reckons: the plan "Plus"."""
_FURTHER: Final = re.compile(r"\b(?:more|less|fewer|extra|further|another|additional(?:ly)?)\b", re.IGNORECASE)
"""Words by which a value is what comes on top of another, or is lacking from it."""

_OF_CASE: Final = re.compile(
    r"\bfor\s(?:an?|one|each|every|us|both|all|two|three|four|five|six|several|my|our)\b|\b(?:per|together|altogether|total|if)\b",
    re.IGNORECASE,
)


def is_misquoted(claim: Claim, item: Distortion, view: FactView, sentence: Span, asked: str = "") -> bool:
    """Say whether a value that differs has nothing in its claim that it could be reckoned from.

    Args:
        claim: "The Plus plan costs 9 euros".
        item: what differs in it.
        view: the fact.
        sentence: the fact's sentence or row, with offsets in the fact: "Plan: Plus; Price: 12 euros".
        asked: the question, which may give what it is reckoned from: "What does Plus cost for a year?".
    """
    if scan_values(asked) or _OF_CASE.search(asked):
        return False
    value = next((one for one in claim.values if one.start == item.answer_span.start), None)
    if value is None or TOTAL.search(claim.text) or _FURTHER.search(claim.text):
        return False
    at = value.start - claim.start
    is_condition = any(found.span.start <= at < found.span.end for found in conditions(claim.text))
    if is_condition or is_reckoned(_NAME.sub(" ", claim.text), value):
        return False
    known = [one for one in view.values if sentence.start <= one.start < sentence.end]
    limited = [bound_of(view.fact.content, 0, one) for one in known]
    if (side := bound_of(claim.text, claim.start, value)) is not None and side not in limited:
        return False
    stated = [any(agrees(one, there) for there in known) for one in claim.values if one is not value]
    return all(stated) and not any(agrees(value, there) for there in known)
