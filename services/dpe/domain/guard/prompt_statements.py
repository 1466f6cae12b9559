"""What the prompt states, beside what the answer claims: pairs for the entailment model (Director-AI page, D3).

Stage 6 compares the two as it compares windows of a session, and finds what certainly contradicts. It asks only about
statements of the very same thing; P(contradiction) of an answer given its prompt has to be known of every claim that a
statement of the prompt speaks of. Each claim meets the statements that share most of its words (ADR 0122); linear in
the texts.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from services.common.reading.text_types import Claim, ClaimType
from services.common.reading.words import content_stems
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.models import Pair
from services.dpe.domain.verdict_eligibility import judged_claims
from services.dpe.domain.verdicts import STATED_WORDS

MAX_STATEMENTS: Final = 2
"""Statements of the prompt that a claim is held against, those that share most of its words."""
_COMMON: Final = 64
"""A word that more statements share brings no pair together by itself."""


def statements(analysis: Analysis) -> list[Claim]:
    """Return what the prompt states, in order."""
    return [
        claim
        for prior in analysis.outputs.text.prior_texts
        for claim in prior.claims
        if claim.claim_type is ClaimType.FACTUAL
    ]


def compared(analysis: Analysis) -> Iterator[tuple[Claim, Claim]]:
    """Yield each claim with the statements of the prompt that speak of what it speaks of."""
    stated = statements(analysis)
    by_stem: dict[str, list[int]] = defaultdict(list)
    for index, claim in enumerate(stated):
        for stem in content_stems(claim.text):
            by_stem[stem].append(index)
    for claim in judged_claims(analysis.outputs.text.claims):
        stems = content_stems(claim.text)
        shared = Counter(index for stem in stems for index in by_stem.get(stem, ())[:_COMMON])
        near = sorted(shared, key=lambda index: (-shared[index], index))[:MAX_STATEMENTS]
        for index in near:
            if shared[index] >= STATED_WORDS * len(stems):
                yield claim, stated[index]


def pairs(analysis: Analysis) -> list[Pair]:
    """Return what the entailment model is asked: (statement of the prompt, claim)."""
    return [(statement.text, claim.text) for claim, statement in compared(analysis)]
