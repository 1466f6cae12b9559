"""Stage 3, fidelity (SPEC-005 §5.5): one score from what 3a, 3b and 3c found; one batch of pairs for all of them."""

from typing import Final

from services.dpe.domain.analysis import Analysis, Requests
from services.dpe.domain.outcome import StageKey, StageOutcome, worst
from services.dpe.domain.policy import CONTRADICTION_COST, DISTORTION_COST, FABRICATION_COST
from services.dpe.domain.stages import s03b_distortion, s03c_contradiction, s04_entailment, s06_coherence

KEY: Final = StageKey(3)
_SUB_STAGES: Final = (StageKey(3, "a"), StageKey(3, "b"), StageKey(3, "c"))


def plan(analysis: Analysis) -> Requests:
    """Ask for every pair that stages 3b, 3c, 4 and 6 need; none without an entailment model.

    Pairs of claims need no attribution: they are asked for when the embedding model failed, too.
    """
    if analysis.models.entailment_tokens is None:
        return Requests()
    wanted = s03b_distortion.pairs(analysis) + s03c_contradiction.pairs(analysis) + s04_entailment.pairs(analysis)
    wanted += s06_coherence.pairs(analysis)
    return Requests(classify=tuple(dict.fromkeys(wanted)))


def apply(analysis: Analysis) -> Analysis:
    """Score the fidelity from the sub-stages that ran."""
    outputs = analysis.outputs
    counts = [
        (outputs.fabrications, FABRICATION_COST),
        (outputs.distortions, DISTORTION_COST),
        (outputs.contradictions, CONTRADICTION_COST),
    ]
    cost = sum(len(items) * each for items, each in counts if items is not None)
    score = 1.0 - cost / max(1, len(analysis.factual_claims))
    gravest = worst([outcome for key in _SUB_STAGES if (outcome := analysis.outcome(key))])
    findings = sum(len(items) for items, _ in counts if items is not None)
    return analysis.ended(
        StageOutcome(KEY, gravest.status, gravest.reason, findings=findings),
        fidelity_score=min(1.0, max(0.0, score)),
    )
