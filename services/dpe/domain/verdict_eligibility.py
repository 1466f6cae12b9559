"""Which claims get a verdict, and which assert what an entailment model can be asked about (ADR 0041, 0045)."""

from collections.abc import Iterable

from services.common.reading.text_types import Claim, ClaimType
from services.dpe.domain.alignment import NAMES
from services.dpe.domain.findings import Judgement, Verdict


def judged_claims(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims that get a verdict, in order: FACTUAL and PROCEDURAL ones.

    An instruction that no source gives can do as much harm as a statement that none bears out: SPEC-005 §3.3 has
    PROCEDURAL claims checked against source procedures.
    """
    return [claim for claim in claims if claim.claim_type in {ClaimType.FACTUAL, ClaimType.PROCEDURAL}]


def asserting_claims(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims that stage 4 scores, in order: FACTUAL ones, and PROCEDURAL ones that state facts.

    Nothing entails "Please read the form"; one such sentence would be the weakest link of every answer.
    """
    return [
        claim
        for claim in claims
        if claim.claim_type is ClaimType.FACTUAL or (claim.claim_type is ClaimType.PROCEDURAL and states_facts(claim))
    ]


def states_facts(claim: Claim) -> bool:
    """Say whether a claim holds a value or a name."""
    return bool(claim.values) or any(entity.kind in NAMES for entity in claim.entities)


def is_borne_out(judgement: Judgement | None) -> bool:
    """Say whether facts that hold now bear a claim out: its verdict is SUPPORTED (ADR 0121)."""
    return judgement is not None and judgement.verdict is Verdict.SUPPORTED
