"""Stage 3, fidelity (SPEC-005 §5.5): one score from what 3a, 3b and 3c found, and the verdict on each claim.

One batch of pairs serves all of them, stage 4 and stage 6; the verdict is ADR 0041's. A constraint that
the answer violates counts as one contradiction more (ADR 0078).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis, Requests
from services.dpe.domain.constraints import contradicted_by, held_against, violated
from services.dpe.domain.findings import Attribution, Distortion, Judgement, Verdict
from services.dpe.domain.judged import judged_claims
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome, worst
from services.dpe.domain.policy import CONTRADICTION_COST, DISTORTION_COST, FABRICATION_COST
from services.dpe.domain.stages import s03b_distortion, s03c_contradiction, s04_entailment, s06_coherence
from services.dpe.domain.verdicts import MAX_EVIDENCE, cases, judgements, named
from services.dpe.domain.why import explained
from services.dpe.domain.wording import worded

KEY: Final = StageKey(3)
_SUB_STAGES: Final = (StageKey(3, "a"), StageKey(3, "b"), StageKey(3, "c"))


def plan(analysis: Analysis) -> Requests:
    """Ask for all that stages 3b, 3c, 4 and 6 and the verdicts need first: one batch for each model.

    Pairs of claims need no attribution: they are asked for when the embedding model failed, too.
    """
    wanted = plan_verdicts(analysis)
    if analysis.models.entailment_tokens is None:
        return wanted
    return replace(wanted, classify=tuple(dict.fromkeys([*wanted.classify, *s04_entailment.pairs(analysis)])))


def plan_verdicts(analysis: Analysis) -> Requests:
    """Ask for what ``plan`` asks for, but for stage 4: where only verdicts and contradictions are wanted."""
    found = plan_support(analysis)
    if analysis.models.entailment_tokens is None:
        return found
    wanted = s03c_contradiction.pairs(analysis) + s06_coherence.pairs(analysis)
    return replace(found, classify=tuple(dict.fromkeys([*found.classify, *wanted])))


def plan_support(analysis: Analysis) -> Requests:
    """Ask for what the claims are held against their facts with, and for nothing else."""
    former = analysis.of_former_facts()
    found = cases(analysis) + ([] if former is None else cases(former))
    judge = tuple(case.request for case in found if case.request is not None)
    if analysis.models.entailment_tokens is None:
        return Requests(judge=judge)
    return Requests(classify=tuple(dict.fromkeys(case.pair for case in found if case.pair is not None)), judge=judge)


def apply(analysis: Analysis) -> Analysis:
    """Score the fidelity from the sub-stages that ran, and give every claim its verdict."""
    distortions = _worded(analysis)
    given = judgements(analysis, distortions or ())
    former = superseded_judgements(analysis, given)
    if former:  # what an outdated source bears out departs from the present one, and is called SUPERSEDED instead
        given |= former
        distortions = None if distortions is None else tuple(one for one in distortions if one.claim_id not in former)
    outputs = replace(analysis.outputs, distortions=distortions, attributions=_attributions(analysis, former))
    counts = [
        (outputs.fabrications, FABRICATION_COST),
        (outputs.distortions, DISTORTION_COST),
        (outputs.contradictions, CONTRADICTION_COST),
    ]
    outcomes = held_against(analysis.input.constraint_verdicts, outputs.claims)
    denied = violated(outcomes)
    cost = sum(len(items) * each for items, each in counts if items is not None)
    found = contradicted_by(outcomes, given)
    analysis = replace(analysis, outputs=outputs)
    ended = [outcome for key in _SUB_STAGES if (outcome := analysis.outcome(key))]
    gravest = worst([*ended, StageOutcome(KEY, *_verdict_status(analysis))])
    findings = sum(len(items) for items, _ in counts if items is not None) + denied
    return analysis.ended(
        StageOutcome(KEY, gravest.status, gravest.reason, findings=findings),
        fidelity_score=_score(analysis, cost + denied * CONTRADICTION_COST),
        fidelity_score_without=_score(analysis, cost),
        constraint_outcomes=outcomes,
        judgements=explained(analysis, found),
        verdicts=named(found),
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
    given, apart = analysis.outputs.attributions, analysis.outputs.former
    if given is None or apart is None:
        return given
    return {key: apart.attributions.get(key, item) if key in former else item for key, item in given.items()}


def _worded(analysis: Analysis) -> tuple[Distortion, ...] | None:
    """Return the distortions with the words that show them (ADR 0097); ``None`` = stage 3b did not run."""
    found = analysis.outputs.distortions
    contents = {fact.fact_id: fact.content for fact in analysis.input.facts}
    return None if found is None else worded(analysis.input.answer, found, contents)


def _score(analysis: Analysis, cost: float) -> float:
    return min(1.0, max(0.0, 1.0 - cost / max(1, len(analysis.factual_claims))))  # SPEC-005 §5.5


def _verdict_status(analysis: Analysis) -> tuple[StageStatus, Reason]:
    """Say whether the verdicts had their model (ADR 0018)."""
    if not judged_claims(analysis.outputs.claims):
        return StageStatus.NOT_APPLICABLE, Reason.NO_FACTUAL_CLAIMS
    if not analysis.models.grounding_configured:
        return StageStatus.DEGRADED, Reason.GROUNDING_MODEL_NOT_CONFIGURED
    if analysis.models.judged is None:
        return StageStatus.DEGRADED, Reason.GROUNDING_MODEL_FAILED
    return StageStatus.COMPLETED, Reason.NONE
