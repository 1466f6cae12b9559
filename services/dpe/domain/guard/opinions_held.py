"""Answers that hold no claim with a verdict: what they say all the same is asked of the grounding model (ADR 0122).

Opinions get no verdict in a report, and a guard that passed whatever begins with "I believe" would be none. Asked is
only where nothing else of the answer is judged, so that a friendly word beside facts costs nothing; never about what
the answer says of its sources (a refusal asserts nothing, ADR 0096) and never about questions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.common.ports.grounding import GroundingRequest
from services.common.questions.refusals import refuses
from services.common.reading.text_types import Claim, ClaimType
from services.common.reading.words import content_stems, words
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.judged import judged_claims
from services.dpe.domain.passages import WINDOWS_READ, choose

MOST_HELD: Final = 50
"""Claims of one answer that are asked about."""
_LEAST_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class HeldOpinion:
    """A claim without a verdict, and what is asked about it; ``passages`` are facts by place."""

    claim: Claim
    passages: tuple[int, ...]
    request: GroundingRequest

    @property
    def is_opinion(self) -> bool:
        """It states something as the speaker's own view; otherwise it speaks of the conversation."""
        return self.claim.claim_type is ClaimType.OPINION


def held_opinions(analysis: Analysis) -> list[HeldOpinion]:
    """Return what is asked about; nothing where some claim gets a verdict, or there is no fact."""
    claims, facts = analysis.outputs.text.claims, analysis.input.facts
    if not facts or not claims or judged_claims(claims):
        return []
    stems = [content_stems(fact.content) for fact in facts]
    lengths = [len(fact.content) for fact in facts]
    found: list[HeldOpinion] = []
    for claim in [one for one in claims if _asserts(one)][:MOST_HELD]:
        passages = choose(_nearest(claim, stems), (), lengths)
        contents = tuple(facts[index].content for index in passages)
        request = GroundingRequest(claim.text, contents, analysis.input.query or None, WINDOWS_READ)
        found.append(HeldOpinion(claim, passages, request))
    return found


def _nearest(claim: Claim, stems: Sequence[frozenset[str]]) -> list[int]:
    own = content_stems(claim.text)
    return sorted(range(len(stems)), key=lambda index: (-len(own & stems[index]), index))


def _asserts(claim: Claim) -> bool:
    text = claim.text.strip()
    return not text.endswith("?") and not refuses(text) and len(words(text)) >= _LEAST_WORDS
