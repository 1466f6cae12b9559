"""Whether the facts bear a claim out by its words and their relations (ADR 0095).

A claim is restated when one sentence of the facts, with what stands over it, holds most of its words and all of its
figures and names, with the same polarity, in the wording of a sentence, and no rule finds a departure. Overlap alone
restates nothing: what the words say of each other must be the same as far as rules can tell.
"""

from typing import Final

from services.dpe.domain.polarity import compared, is_negated
from services.dpe.domain.rules.frequency import keeps_frequency
from services.dpe.domain.rules.members import keeps_members
from services.dpe.domain.rules.parties import keeps_parties
from services.dpe.domain.rules.provisos import keeps_condition
from services.dpe.domain.rules.reading import Reading, nearest, share
from services.dpe.domain.rules.sequence import keeps_order
from services.dpe.domain.rules.wording import is_worded

RESTATED: Final = 0.7
"""Share of the claim's words that the sentence itself must hold."""
KEPT: Final = 0.5
"""The same share where a rule finds the relation that the claim states kept: order, parties, members, frequency."""
_MIN_WORDS: Final = 3


def restating(claim: Reading, sources: list[Reading]) -> Reading | None:
    """Return the sentence that a claim restates, or ``None``; the claim is known to depart from nothing."""
    if len(claim.content) < _MIN_WORDS or not is_worded(claim, sources):
        return None
    for _, source in nearest(claim.content, sources, claim.names)[:1]:
        figures = {word for word in claim.content if word[:1].isdigit()} | (claim.names & claim.content)
        least = KEPT if _keeps_relation(claim, sources) else RESTATED
        if share(claim.content, source.content) < least or not figures <= source.known:
            return None
        same = is_negated(claim.text) == is_negated(source.text) or not compared(claim.text, source.text).turned
        return source if same else None
    return None


def _keeps_relation(claim: Reading, sources: list[Reading]) -> bool:
    return (
        keeps_order(claim, sources)
        or keeps_members(claim, sources)
        or keeps_frequency(claim, sources)
        or keeps_parties(claim, sources)
        or keeps_condition(claim, sources)
    )
