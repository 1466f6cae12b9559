"""Stage 13, report (SPEC-005 §15): settle the risk and the quality score; what is hashed is built from the result.

The HMAC is the dag service's at CommitWindow; the report's own hash is computed over its protobuf JSON form, which is
not the domain's to know.
"""

from typing import Final

from services.common.taxonomy import QualityTier, StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.outcome import UNSOUND, StageOutcome
from services.dpe.domain.results import QualityResult
from services.dpe.domain.stage import Stage
from services.dpe.domain.stage_row import StageKey
from services.dpe.domain.stages import s12_regulatory
from services.dpe.domain.stages.s05_risk import settle

# SPEC-005 §18.2, by the stage that gives the term.
REPETITION_WEIGHT: Final = 0.25
COMPLETENESS_WEIGHT: Final = 0.35
FLOW_WEIGHT: Final = 0.25
COHERENCE_WEIGHT: Final = 0.15
_FIRST_WINDOW_WEIGHT: Final = REPETITION_WEIGHT + COMPLETENESS_WEIGHT
_LEAST_SHARE: Final = 0.5
"""Share of the weights in force that must have been measured for a score to be given (ADR 0037)."""
_TIERS: Final = tuple(zip((0.85, 0.70, 0.50, 0.30, 0.0), QualityTier, strict=True))
"""SPEC-005 §18.4: the best tier from each score on."""
_DIGITS: Final = 12


def apply(analysis: Analysis) -> Analysis:
    """Settle what depends on several stages."""
    quality = quality_score(analysis)
    # As ADR 0018 has it for the risk: a score that rests on what ran says so.
    degraded = any(outcome.status in UNSOUND for outcome in analysis.outcomes if outcome.stage.counts_in_quality)
    risk, result = settle(analysis), QualityResult(quality, degraded)
    outcome = StageOutcome(STAGE, StageStatus.COMPLETED)
    return analysis.ended(outcome, result) if risk is None else analysis.ended(outcome, result, risk)


def quality_score(analysis: Analysis) -> float | None:
    """Return the score of SPEC-005 §18.2 from the terms that there are, their weights divided by their sum.

    In window 1 flow and coherence are not applicable (ADR 0014). ``None`` when less than half of the weight that
    applies was measured: a number over the rest would look like a score of the whole.
    """
    outputs = analysis.outputs
    in_first = analysis.input.is_first
    terms = [
        (None if outputs.repetition.overlap is None else 1.0 - outputs.repetition.overlap, REPETITION_WEIGHT),
        (outputs.completeness.score, COMPLETENESS_WEIGHT),
        (None if in_first else outputs.flow.score, FLOW_WEIGHT),
        (None if in_first else outputs.coherence.score, COHERENCE_WEIGHT),
    ]
    present = [(value, weight) for value, weight in terms if value is not None]
    total = sum(weight for _, weight in present)
    if total < _LEAST_SHARE * (_FIRST_WINDOW_WEIGHT if in_first else 1.0):
        return None
    return round(sum(value * weight for value, weight in present) / total, _DIGITS)


def maximum_tier(score: float, *, degraded: bool) -> QualityTier:
    """Return the best quality tier that a score allows (SPEC-005 §18.4).

    With a stage that gave no result, or one that rests on less than it should, never better than A (ADR 0037).
    """
    tier = next(tier for bound, tier in _TIERS if score >= bound)
    return QualityTier.A if degraded and tier is QualityTier.S else tier


STAGE: Final = Stage(
    key=StageKey(13),
    name="Report Generation",
    section="CRP-SPEC-005 §15",
    needs=(*s12_regulatory.STAGE.needs, s12_regulatory.STAGE),
    always_runs=True,
    apply=apply,
)
