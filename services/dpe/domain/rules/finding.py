"""What a rule finds: where a claim departs from its source, in words of both (ADR 0095)."""

from dataclasses import dataclass

from services.common.reading.text_types import Span
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.reading import Reading


@dataclass(frozen=True, slots=True)
class Departure:
    """A claim says something else than its source.

    Attributes:
        claimed: the words of the answer that are wrong, with offsets in it.
        source: the sentence that they depart from.
        known: the words that they should have followed, with offsets in the fact.
        is_same: the rule itself has made sure that both speak of the same, in whatever words.
        is_guess: it counts only where the entailment model contradicts the claim, for the words may say the same.
        is_asked: the claim departs from what was asked about, though it be quoted from a sentence about something else.
    """

    type: DistortionType
    rule: Rule
    claimed: Span
    source: Reading
    known: Span
    is_guess: bool = False
    is_same: bool = False
    is_asked: bool = False
