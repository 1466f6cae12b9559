"""Stage 13, report (SPEC-005 §15): settle the risk and the quality score; what is hashed is built from the result.

The HMAC is the dag service's at CommitWindow; the report's own hash is computed over its protobuf JSON form, which is
not the domain's to know.
"""

from typing import Final

from services.dpe.domain.analysis import Analysis
from services.dpe.domain.outcome import StageKey, StageOutcome, StageStatus
from services.dpe.domain.stages.s05_risk import settle

KEY: Final = StageKey(13)
_REPETITION_WEIGHT: Final = 0.25  # SPEC-005 §18.2
_COMPLETENESS_WEIGHT: Final = 0.35


def apply(analysis: Analysis) -> Analysis:
    """Settle what depends on several stages."""
    outcome = StageOutcome(KEY, StageStatus.COMPLETED)
    return analysis.ended(outcome, risk=settle(analysis), quality_score=_quality(analysis))


def _quality(analysis: Analysis) -> float | None:
    """Return the quality score of window 1, where flow and coherence are not applicable (decision 14).

    From window 2 on it needs stages 6 and 9; without them there is no score rather than a partial one.
    """
    outputs = analysis.outputs
    if analysis.input.window_number > 1 or outputs.repetition_overlap is None or outputs.completeness_score is None:
        return None
    total = (1.0 - outputs.repetition_overlap) * _REPETITION_WEIGHT + outputs.completeness_score * _COMPLETENESS_WEIGHT
    return total / (_REPETITION_WEIGHT + _COMPLETENESS_WEIGHT)
