"""What could be done about the findings (SPEC-005 §19, §9.3); the caller's policy decides whether it is.

Instructions name what was found by kind and number, never by the answer's own words: an answer must not be able to
write into the next prompt.
"""

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from services.dpe.domain.analysis import Analysis
from services.dpe.domain.findings import AttributionType, RepetitionLevel, RiskLevel

REDISPATCH_TEMPERATURE: Final = 0.2  # SPEC-005 §19.2
MAX_REDISPATCHES: Final = 2


@unique
class Remedy(StrEnum):
    """Remedies that this version advises."""

    UPGRADE_STRATEGY = "UPGRADE_STRATEGY"
    ANTI_REPETITION = "ANTI_REPETITION"


@dataclass(frozen=True, slots=True)
class Step:
    """One advised remedy, and the stage whose finding asks for it."""

    remedy: Remedy
    stage_number: int
    reason: str
    instruction: str
    claim_ids: tuple[str, ...] = ()


def remedies(analysis: Analysis) -> list[Step]:
    """Return the advised remedies, most urgent first."""
    outputs = analysis.outputs
    steps: list[Step] = []
    if outputs.risk is not None and outputs.risk.level in {RiskLevel.HIGH, RiskLevel.CRITICAL}:
        steps.append(
            Step(
                Remedy.UPGRADE_STRATEGY,
                5,
                f"RISK_{outputs.risk.level}",
                "State only what the provided facts say. Copy numbers, dates and names exactly, keep every condition "
                "and every negation, and leave out what no fact bears out.",
                _concerned(analysis),
            )
        )
    if outputs.repetition_level is RepetitionLevel.SEVERE:
        steps.append(
            Step(
                Remedy.ANTI_REPETITION,
                7,
                "REPETITION_SEVERE",
                "The earlier answers have been given to the user. Do not repeat them: continue where they ended and "
                "give new information only.",
            )
        )
    return steps


def _concerned(analysis: Analysis) -> tuple[str, ...]:
    """Return the claims with findings, in order, each once."""
    outputs = analysis.outputs
    ids = {item.claim_id for item in outputs.fabrications or () if item.claim_id}
    ids |= {item.claim_id for item in outputs.distortions or ()}
    ids |= {item.first.claim_id for item in outputs.contradictions or ()}
    ids |= {key for key, item in (outputs.attributions or {}).items() if item.type is AttributionType.UNVERIFIABLE}
    return tuple(claim.claim_id for claim in outputs.claims if claim.claim_id in ids)
