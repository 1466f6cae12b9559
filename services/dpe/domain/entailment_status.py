"""How a stage ends that has rules and should have an entailment model as well (ADR 0018)."""

from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.outcome import Reason


def entailment_status(analysis: Analysis) -> tuple[StageStatus, Reason]:
    """Say how a stage ends that has rules and should have an entailment model as well."""
    if analysis.models.entailment_tokens is None:
        return StageStatus.DEGRADED, Reason.ENTAILMENT_MODEL_NOT_CONFIGURED
    if analysis.models.classified is None:
        return StageStatus.DEGRADED, Reason.ENTAILMENT_MODEL_FAILED
    return StageStatus.COMPLETED, Reason.NONE
