"""From what the stages found to the steps that the text asks for, section by section (SPEC-005 §18.5, §19.1; ADR 0042).

A result that was not computed asks for nothing, and the plan lists its stage: silence is not an all-clear.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from services.common.taxonomy import Remedy, RemedyCondition, RemedyForce, RepetitionLevel, RiskLevel, StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.findings import ContradictionSeverity
from services.dpe.domain.pipeline import STAGES
from services.dpe.domain.remediation import prompts
from services.dpe.domain.remediation.excerpts import passages, prior_contents, prior_end, repeated_windows
from services.dpe.domain.remediation.naming import named_findings, unverifiable
from services.dpe.domain.remediation.plan import Plan, Step, ordered
from services.dpe.domain.stage import Stage

COMPLETE: Final = 0.90  # SPEC-005 §10.2
MOSTLY_COMPLETE: Final = 0.70
PARTIAL: Final = 0.40
WEAK_FLOW: Final = 0.50  # SPEC-005 §11.5
BROKEN_FLOW: Final = 0.30  # SPEC-005 §19.1, 4
_UNKNOWN: Final = frozenset({StageStatus.SKIPPED, StageStatus.FAILED})


def plan_of(analysis: Analysis) -> Plan:
    """Return what could be done about a finished analysis, most urgent first."""
    steps = [*_risk(analysis), *_coherence(analysis), *_repetition(analysis), *_completeness(analysis)]
    steps += _flow(analysis)
    considered = [stage for stage in STAGES if stage.has_remedies]
    return Plan(ordered(steps), tuple(stage.key.number for stage in considered if not _is_computed(analysis, stage)))


def _is_computed(analysis: Analysis, stage: Stage) -> bool:
    ended = analysis.outcome(stage.key)
    if ended is None or ended.status in _UNKNOWN:
        return False
    nothing_to_do = ended.status is StageStatus.NOT_APPLICABLE
    return nothing_to_do or stage.score is None or stage.score(analysis) is not None


def _risk(analysis: Analysis) -> list[Step]:
    """SPEC-005 §7.4, §19.1, 1: from HIGH on a stronger strategy, where the policy says so."""
    risk = analysis.outputs.risk
    if risk is None or risk.level not in {RiskLevel.HIGH, RiskLevel.CRITICAL}:
        return []
    return [
        Step(
            Remedy.UPGRADE_STRATEGY,
            RemedyForce.REQUIRED,
            5,
            f"RISK_{risk.level}",
            prompts.keep_to_facts(named_findings(analysis.outputs)),
            claim_ids=_concerned(analysis),
            conditions=(RemedyCondition.UPGRADE_ON_RISK,),
            fact_ids=_facts(analysis),
        )
    ]


def _coherence(analysis: Analysis) -> list[Step]:
    """SPEC-005 §8.3: a CRITICAL contradiction whatever the score; §18.5: HIGH and MEDIUM are considered, LOW is not."""
    found = [item for item in analysis.outputs.coherence.found or () if item.severity is not ContradictionSeverity.LOW]
    if not found:
        return []
    severities = Counter(item.severity for item in found)
    gravest = max(severities, key=list(ContradictionSeverity).index)
    named = [f"{severities[each]} {each}" for each in reversed(ContradictionSeverity) if severities[each]]
    windows = _priors_of(analysis, {item.window_id for item in found})
    concerned = {item.claim.claim_id for item in found}
    return [
        Step(
            Remedy.CORRECT_CONTRADICTION,
            RemedyForce.REQUIRED if gravest is ContradictionSeverity.CRITICAL else RemedyForce.RECOMMENDED,
            6,
            f"CROSS_WINDOW_CONTRADICTION_{gravest}",
            prompts.correct_contradictions(named, [number for number, _ in windows]),
            claim_ids=_in_answer_order(analysis, concerned),
            window_ids=tuple(window_id for _, window_id in windows),
        )
    ]


def _priors_of(analysis: Analysis, window_ids: Iterable[str]) -> list[tuple[int, str]]:
    wanted = set(window_ids)
    return [
        (prior.window_number, prior.window_id) for prior in analysis.input.prior_windows if prior.window_id in wanted
    ]


def _repetition(analysis: Analysis) -> list[Step]:
    """SPEC-005 §9.2, §9.3: SEVERE where the policy has upgrade-on-risk; SIGNIFICANT is recommended."""
    level = analysis.outputs.repetition.level
    if level not in {RepetitionLevel.SEVERE, RepetitionLevel.SIGNIFICANT}:
        return []
    severe = level is RepetitionLevel.SEVERE
    return [
        Step(
            Remedy.ANTI_REPETITION,
            RemedyForce.REQUIRED if severe else RemedyForce.RECOMMENDED,
            7,
            f"REPETITION_{level}",
            prompts.ANTI_REPETITION,
            conditions=(RemedyCondition.UPGRADE_ON_RISK,) if severe else (),
            excerpts=prior_contents(analysis),
            window_ids=repeated_windows(analysis),
        )
    ]


def _completeness(analysis: Analysis) -> list[Step]:
    """SPEC-005 §10.2, §10.3: continue while a window is left and no-cache does not forbid it; else tell the client."""
    score, given = analysis.outputs.completeness.score, analysis.input
    if score is None or score >= COMPLETE:
        return []
    level = "MOSTLY_COMPLETE" if score >= MOSTLY_COMPLETE else "PARTIAL" if score >= PARTIAL else "INCOMPLETE"
    uncovered = analysis.outputs.completeness.uncovered_sub_queries
    reason = f"COMPLETENESS_{level}"
    if given.windows_remaining and not given.cache_no_cache:
        covered = [part for part in analysis.input.questions if part not in set(uncovered)]
        force = RemedyForce.RECOMMENDED if level == "MOSTLY_COMPLETE" else RemedyForce.REQUIRED
        instruction = prompts.continue_with(covered, uncovered)
        return [Step(Remedy.AUTO_CONTINUE, force, 8, reason, instruction, sub_queries=uncovered)]
    why = "NO_CACHE" if given.windows_remaining else "NO_WINDOW_LEFT"
    force = RemedyForce.REQUIRED if level == "INCOMPLETE" else RemedyForce.RECOMMENDED
    return [Step(Remedy.WARN_CLIENT, force, 8, f"{reason}_{why}", sub_queries=uncovered)]


def _flow(analysis: Analysis) -> list[Step]:
    """SPEC-005 §11.5 from 0.50 down, §19.1, 4 from 0.30 down; the stitch stands in for a re-dispatch."""
    score = analysis.outputs.flow.score
    if score is None or score >= WEAK_FLOW or analysis.input.is_first:
        return []
    broken = score < BROKEN_FLOW
    reason = "FLOW_BROKEN" if broken else "FLOW_WEAK"
    end, both = prior_end(analysis), passages(analysis)
    steps = []
    if end:
        steps.append(
            Step(
                Remedy.AUGMENT_FLOW,
                RemedyForce.REQUIRED if broken else RemedyForce.RECOMMENDED,
                9,
                reason,
                prompts.CONTINUATION_FLOW,
                conditions=(RemedyCondition.PROMPT_AUGMENTATION,),
                excerpts=end,
                window_ids=(end[0].window_id,),
            )
        )
    if both:
        steps.append(
            Step(
                Remedy.STITCH_FLOW,
                RemedyForce.ALTERNATIVE,
                9,
                reason,
                prompts.STITCH,
                conditions=(RemedyCondition.REDISPATCH_OVER_BUDGET,),
                excerpts=both,
                window_ids=(both[0].window_id,),
            )
        )
    return steps


def _concerned(analysis: Analysis) -> tuple[str, ...]:
    """Return the claims with findings, in order, each once."""
    outputs = analysis.outputs
    ids = {item.claim_id for item in outputs.fabrication.found or () if item.claim_id}
    ids |= {item.claim_id for item in outputs.distortion.found or ()}
    ids |= {claim.claim_id for item in outputs.contradiction.found or () for claim in (item.first, item.second)}
    ids |= {claim_id for outcome in outputs.fidelity.constraint_outcomes for claim_id in outcome.claim_ids}
    return _in_answer_order(analysis, ids | set(unverifiable(outputs)))


def _in_answer_order(analysis: Analysis, ids: Iterable[str]) -> tuple[str, ...]:
    wanted = set(ids)
    return tuple(claim.claim_id for claim in analysis.outputs.text.claims if claim.claim_id in wanted)


def _facts(analysis: Analysis) -> tuple[str, ...]:
    """Return the facts that are misrepresented or important and not used, in envelope order."""
    ids = {item.fact_id for item in analysis.outputs.distortion.found or ()}
    ids |= {item.fact_id for item in analysis.outputs.omission.found or () if item.asked}
    return tuple(fact.fact_id for fact in analysis.input.facts if fact.fact_id in ids)
