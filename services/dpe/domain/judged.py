"""Which claims get a verdict (decision 12, ADR 0041)."""

from collections.abc import Iterable

from services.dpe.domain.alignment import NAMES
from services.dpe.domain.text_types import Claim, ClaimType


def judged_claims(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims that get a verdict, in order: FACTUAL ones, and PROCEDURAL ones that state facts."""
    return [
        claim
        for claim in claims
        if claim.claim_type is ClaimType.FACTUAL or (claim.claim_type is ClaimType.PROCEDURAL and states_facts(claim))
    ]


def states_facts(claim: Claim) -> bool:
    """Say whether a claim holds a value or a name: SPEC-005 §3.3 has PROCEDURAL claims checked against their source."""
    return bool(claim.values) or any(entity.kind in NAMES for entity in claim.entities)
