"""Stage 3, fidelity (SPEC-005 §5.5): one score from what 3a, 3b and 3c found, and the verdict on each claim.

The verdict is ADR 0041's. A constraint that the answer violates counts as one contradiction more (ADR 0078).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.constraints import contradicted_by, held_against, violated
from services.dpe.domain.findings import Attribution, Distortion, Judgement, Verdict
from services.dpe.domain.models import ModelRole, Requests
from services.dpe.domain.outcome import Reason, StageOutcome, worst
from services.dpe.domain.policy import CONTRADICTION_COST, DISTORTION_COST, FABRICATION_COST
from services.dpe.domain.results import FidelityResult
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import RiskSignal, StageKey
from services.dpe.domain.stages import (
    s01_claims,
    s02_attribution,
    s03a_fabrication,
    s03b_distortion,
    s03c_contradiction,
)
from services.dpe.domain.verdict_eligibility import judged_claims
from services.dpe.domain.verdicts import MAX_EVIDENCE, cases, judgements, named
from services.dpe.domain.why import explained
from services.dpe.domain.wording import worded

_SUB_STAGES: Final = (s03a_fabrication.STAGE, s03b_distortion.STAGE, s03c_contradiction.STAGE)


def ask_verdicts(analysis: Analysis) -> Requests:
    """Ask for what the claims are held against their facts with, and for nothing else."""
    former = analysis.of_former_facts()
    found = cases(analysis) + ([] if former is None else cases(former))
    judge = tuple(case.request for case in found if case.request is not None)
    if analysis.models.entailment_tokens is None:
        return Requests(judge=judge)
    return Requests(classify=tuple(case.pair for case in found if case.pair is not None), judge=judge)


def apply(analysis: Analysis) -> Analysis:
    """Score the fidelity from the sub-stages that ran, and give every claim its verdict."""
    distortions = _worded(analysis)
    given = judgements(analysis, distortions or ())
    former = superseded_judgements(analysis, given)
    if former:  # what an outdated source bears out departs from the present one, and is called SUPERSEDED instead
        given |= former
        distortions = None if distortions is None else tuple(one for one in distortions if one.claim_id not in former)
    analysis = analysis.with_results(
        replace(analysis.outputs.distortion, found=distortions),
        replace(analysis.outputs.attribution, by_claim=_attributions(analysis, former)),
    )
    outputs = analysis.outputs
    counts = [
        (outputs.fabrication.found, FABRICATION_COST),
        (outputs.distortion.found, DISTORTION_COST),
        (outputs.contradiction.found, CONTRADICTION_COST),
    ]
    outcomes = held_against(analysis.input.constraint_verdicts, outputs.text.claims)
    denied = violated(outcomes)
    cost = sum(len(items) * each for items, each in counts if items is not None)
    found = contradicted_by(outcomes, given)
    ended = [outcome for stage in _SUB_STAGES if (outcome := analysis.outcome(stage.key))]
    gravest = worst([*ended, StageOutcome(STAGE, *_verdict_status(analysis))])
    findings = sum(len(items) for items, _ in counts if items is not None) + denied
    return analysis.ended(
        StageOutcome(STAGE, gravest.status, gravest.reason, findings=findings),
        FidelityResult(
            score=_score(analysis, cost + denied * CONTRADICTION_COST),
            score_without=_score(analysis, cost),
            constraint_outcomes=outcomes,
            judgements=explained(analysis, found),
            verdicts=named(found),
        ),
    )


def superseded_judgements(analysis: Analysis, given: Mapping[str, Judgement]) -> dict[str, Judgement]:
    """Return SUPERSEDED for claims that no fact bears out which holds, and one does that holds no more (ADR 0109).

    The claims are held against the latter alone, by the same rules and models: neither is weighed against the other.
    """
    former = analysis.of_former_facts()
    if former is None:
        return {}
    former = s03b_distortion.apply(former)
    found: dict[str, Judgement] = {}
    for key, own in judgements(former, _worded(former) or ()).items():
        if own.verdict is Verdict.SUPPORTED and given[key].verdict is not Verdict.SUPPORTED:
            present = given[key].evidence  # of other facts: of those that hold
            evidence = (*own.evidence[: MAX_EVIDENCE - 1], *present)[:MAX_EVIDENCE]
            found[key] = replace(own, verdict=Verdict.SUPERSEDED, evidence=evidence)
    return found


def _attributions(analysis: Analysis, former: Mapping[str, Judgement]) -> Mapping[str, Attribution] | None:
    """Return what the claims rest on, SUPERSEDED ones on the facts that bear them out."""
    given, apart = analysis.outputs.attribution.by_claim, analysis.outputs.attribution.former
    if given is None or apart is None:
        return given
    return {key: apart.attributions.get(key, item) if key in former else item for key, item in given.items()}


def _worded(analysis: Analysis) -> tuple[Distortion, ...] | None:
    """Return the distortions with the words that show them (ADR 0097); ``None`` = stage 3b did not run."""
    found = analysis.outputs.distortion.found
    contents = {fact.fact_id: fact.content for fact in analysis.input.facts}
    return None if found is None else worded(analysis.input.answer, found, contents)


def _score(analysis: Analysis, cost: float) -> float:
    return min(1.0, max(0.0, 1.0 - cost / max(1, len(analysis.factual_claims))))  # SPEC-005 §5.5


def _verdict_status(analysis: Analysis) -> tuple[StageStatus, Reason]:
    """Say whether the verdicts had their model (ADR 0018)."""
    if not judged_claims(analysis.outputs.text.claims):
        return StageStatus.NOT_APPLICABLE, Reason.NO_FACTUAL_CLAIMS
    if not analysis.models.has(ModelRole.GROUNDING):
        return StageStatus.DEGRADED, Reason.GROUNDING_MODEL_NOT_CONFIGURED
    if analysis.models.judged is None:
        return StageStatus.DEGRADED, Reason.GROUNDING_MODEL_FAILED
    return StageStatus.COMPLETED, Reason.NONE


STAGE: Final = Stage(
    key=StageKey(3),
    name="Fidelity Verification",
    section="CRP-SPEC-005 §5",
    needs=(s01_claims.STAGE, s02_attribution.STAGE, *_SUB_STAGES),
    signals=frozenset({RiskSignal.FIDELITY}),
    always_runs=True,
    apply=apply,
    shares={Batch.PAIRS: ask_verdicts},
)
