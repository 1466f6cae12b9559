"""Is this text supported by these passages? Claims are judged once, and every column is read from the same verdicts.

Thresholds come from the fold ``calibrate``, figures from the fold ``report``; a file without folds is reported whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.progress import Progress

from evaluation.data import EvaluationDataError
from evaluation.grounding_scores import BOTH, GroundingResult, Judged, System, score
from evaluation.labelled import LabelledClaim, first_of_each
from services.common.ports.grounding import GroundingModel, GroundingRequest, GroundingVerdict

CALIBRATE: Final = "calibrate"
REPORT: Final = "report"
_BLOCK: Final = 32


@dataclass(frozen=True, slots=True)
class GroundingMeasurement:
    """The result, the mistakes of ``both`` (most confident first), and the reported claims with their verdicts."""

    result: GroundingResult
    mistakes: tuple[dict[str, Any], ...]
    judged: tuple[Judged, ...]


def reported(claims: Sequence[LabelledClaim]) -> list[LabelledClaim]:
    """Return the claims whose figures are reported: fold ``report``, and claims without a fold."""
    return [claim for claim in claims if claim.fold in {None, REPORT}]


async def judge(
    claims: Sequence[LabelledClaim], model: GroundingModel, progress: Progress, label: str
) -> list[GroundingVerdict]:
    """Return a verdict for each claim, in order."""
    task = progress.add_task(label, total=len(claims))
    verdicts: list[GroundingVerdict] = []
    for start in range(0, len(claims), _BLOCK):
        block = claims[start : start + _BLOCK]
        verdicts += await model.judge([GroundingRequest(one.claim, one.passages, one.query) for one in block])
        progress.advance(task, len(block))
    return verdicts


async def measure(
    claims: Sequence[LabelledClaim],
    model: GroundingModel,
    systems: Sequence[System[GroundingVerdict]],
    progress: Progress,
    limit: int | None,
) -> GroundingMeasurement:
    """Judge once and score each system; the claims of fold ``calibrate`` only when a system lacks a threshold.

    Raises:
        EvaluationDataError: no claim is there to report on.
    """
    if not reported(claims):
        raise EvaluationDataError(f"no claim of fold {REPORT}, and none without a fold: there is nothing to report on")
    chosen = first_of_each(reported(claims), lambda claim: claim.dataset, limit)
    verdicts = await judge(chosen, model, progress, "claims")
    tuning: list[Judged] = []
    if any(system.threshold is None for system in systems):
        fold = [claim for claim in claims if claim.fold == CALIBRATE]
        known = first_of_each(fold, lambda claim: claim.dataset, limit)
        tuning = list(zip(known, await judge(known, model, progress, "claims of fold calibrate"), strict=True))
    judged = tuple(zip(chosen, verdicts, strict=True))
    result = score(judged, tuning, systems)
    whole = next(system for system in systems if system.name == BOTH)
    return GroundingMeasurement(result, _mistakes(judged, whole, result.thresholds[BOTH]), judged)


def _mistakes(judged: Sequence[Judged], system: System[Any], threshold: float | None) -> tuple[dict[str, Any], ...]:
    if threshold is None:
        return ()
    distance = [system.score(verdict) - threshold for _, verdict in judged]
    wrong = [row for row, (claim, _) in enumerate(judged) if (distance[row] >= 0) != claim.supported]
    wrong.sort(key=lambda row: (-abs(distance[row]), row))
    return tuple(_mistake(*judged[row], distance[row] + threshold) for row in wrong)


def _mistake(claim: LabelledClaim, verdict: GroundingVerdict, support: float) -> dict[str, Any]:
    return {
        "task": "grounding",
        "set": claim.dataset,
        "id": claim.id,
        "query": claim.query,
        "claim": claim.claim,
        "passages_read": [claim.passages[index] for index in verdict.evidence],
        "label": "supported" if claim.supported else "not supported",
        "support": round(support, 4),
        "encoder_support": None if verdict.encoder_support is None else round(verdict.encoder_support, 4),
        "signals": {name: round(value, 4) for name, value in verdict.signals},
    }
