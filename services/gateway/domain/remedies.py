"""Which remedies of a plan are due, and which of two answers is the better one (SPEC-005 §19; ADR 0042, ADR 0059).

The plan is the dpe's advice. Whether a step is taken depends on the mode, on the policy and on what only the gateway
knows; the rule by which one of two analysed answers is kept stands in ``AnalyzedAnswer.standing``.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from services.common.taxonomy import QualityTier, Remedy, RemedyCall, RemedyCondition, RemedyForce, RiskLevel
from services.gateway.domain.completion import Completion, ModelCall
from services.gateway.domain.directives import RISK_ABOVE_ACCEPTED
from services.gateway.domain.outcome import Verdict
from services.gateway.domain.remedy_plan import RemedyPlan, RemedyStep
from services.gateway.domain.vocabulary import RemedyMode
from services.gateway.domain.window import Analysis

REDISPATCH_TEMPERATURE: Final = 0.2  # SPEC-005 §19.2
PROMPT_AUGMENTED: Final = "prompt-augmented"
STITCHED: Final = "stitched"
"""Values of CRP-Quality-Flow's remediation (SPEC-005 §11.6)."""


@dataclass(frozen=True, slots=True)
class RemedyTerms:
    """What decides which steps are due.

    Attributes:
        mode: how much is carried out.
        upgrade_on_risk: the policy in force has the directive.
        prompt_augmentation: the deployment has it switched on (SPEC-005 §19.1, 4).
        over_budget: one more dispatch would take more than the rounds or the time that are left.
        reflexive: why the reflexive remedy is forced: by the circuit breaker (CRP-SPEC-012, ADR 0103), or because the
            caller asked for that strategy (CRP-SPEC-008, ADR 0160); empty = it is not.
    """

    mode: RemedyMode
    upgrade_on_risk: bool
    prompt_augmentation: bool = True
    over_budget: bool = False
    reflexive: str = ""

    @property
    def may_rewrite(self) -> bool:
        """Whether an answer that was judged may be written anew, or written on."""
        if self.mode is RemedyMode.POLICY:
            return self.upgrade_on_risk
        return self.mode is not RemedyMode.OFF

    def forced(self, why: str) -> "RemedyTerms":
        """Return the terms where the reflexive remedy is forced: as with ``upgrade-on-risk``, never off."""
        mode = RemedyMode.POLICY if self.mode is RemedyMode.OFF else self.mode
        return replace(self, mode=mode, upgrade_on_risk=True, reflexive=why)


def due(plan: RemedyPlan, call: RemedyCall, terms: RemedyTerms) -> tuple[RemedyStep, ...]:
    """Return the steps of a kind that are to be taken.

    POLICY takes required re-dispatches alone, and only under ``upgrade-on-risk``. A stitch stands in for another step
    (SPEC-005 §11.5, B): it is due when that step is of a force that the mode takes and cannot be taken.
    """
    if terms.mode is RemedyMode.OFF:
        return ()
    if terms.mode is RemedyMode.POLICY and (call is not RemedyCall.RE_DISPATCH or not terms.upgrade_on_risk):
        return ()
    forces = {RemedyForce.REQUIRED}
    if terms.mode is RemedyMode.RECOMMENDED:
        forces.add(RemedyForce.RECOMMENDED)
    if call is RemedyCall.STITCH and _stands_in(plan, forces):
        forces.add(RemedyForce.ALTERNATIVE)
    steps = (step for step in plan.steps if step.call is call and step.force in forces)
    return tuple(step for step in steps if _holds(step.conditions, terms))


def redispatch_steps(analysed: "AnalyzedAnswer", terms: RemedyTerms) -> tuple[RemedyStep, ...]:
    """Return the re-dispatch steps that are due for an answer; one of the gateway's own where the caller alone asks.

    A risk above what the caller accepts is upgraded under ``upgrade-on-risk`` (CRP-SPEC-002, CRP-Accept-Risk), also
    where it is one that the plan leaves alone. So is, where the circuit breaker or the strategy forces it, every risk
    that would cost safety budget.
    """
    steps = due(analysed.plan, RemedyCall.RE_DISPATCH, terms)
    if terms.reflexive and analysed.analysis.summary.risk_level is not RiskLevel.LOW:
        upgrades = any(step.remedy is Remedy.UPGRADE_STRATEGY for step in steps)
        return steps if upgrades else (replace(_LOWER_RISK, reason=terms.reflexive), *steps)
    if steps or terms.mode is RemedyMode.OFF or not terms.upgrade_on_risk:
        return steps
    findings = (violation.finding for violation in analysed.verdict.violations)
    return (_LOWER_RISK,) if any(each.violation_type == RISK_ABOVE_ACCEPTED for each in findings) else ()


BREAKER_NOT_CLOSED: Final = "CIRCUIT_BREAKER_NOT_CLOSED"
REFLEXIVE_ASKED: Final = "STRATEGY_REFLEXIVE"
"""Reasons of a re-dispatch that no plan and no policy asks for."""
_LOWER_RISK: Final = RemedyStep(
    remedy=Remedy.UPGRADE_STRATEGY,
    force=RemedyForce.REQUIRED,
    call=RemedyCall.RE_DISPATCH,
    stage_number=5,
    reason=RISK_ABOVE_ACCEPTED,
    instruction=(
        "An earlier attempt at this answer was not accepted. State only what the provided facts say, with their "
        "numbers, dates, names and conditions, and leave out what none of them bears out."
    ),
    conditions=(RemedyCondition.UPGRADE_ON_RISK,),
    audit_events=("RE_DISPATCH", "STRATEGY_UPGRADE"),
)


def _stands_in(plan: RemedyPlan, forces: set[RemedyForce]) -> bool:
    return any(step.remedy is Remedy.AUGMENT_FLOW and step.force in forces for step in plan.steps)


def _holds(conditions: Iterable[RemedyCondition], terms: RemedyTerms) -> bool:
    true = {
        RemedyCondition.UPGRADE_ON_RISK: terms.upgrade_on_risk,
        RemedyCondition.PROMPT_AUGMENTATION: terms.prompt_augmentation,
        RemedyCondition.REDISPATCH_OVER_BUDGET: terms.over_budget,
    }
    return all(true[condition] for condition in conditions)


@dataclass(frozen=True, slots=True)
class AnalyzedAnswer:
    """An answer with its analysis and what the policy makes of it.

    Attributes:
        tier: the envelope's tier lowered by the answer's quality (SPEC-005 §18.4).
    """

    written: Completion
    analysis: Analysis
    tier: QualityTier
    verdict: Verdict

    @property
    def plan(self) -> RemedyPlan:
        """What could be done about it."""
        return self.analysis.plan

    def standing(self) -> tuple[float, ...]:
        """Return how the answer stands beside another of the same window; the smaller is the better (ADR 0059).

        Compared in this order: withheld or not, risk level, stages 5-9 without a result, required steps left, quality
        tier, composite risk, quality score. A score that was not computed counts as the worst one.
        """
        report = self.analysis.summary
        required = sum(step.force is RemedyForce.REQUIRED for step in self.plan.steps)
        return (
            float(bool(self.verdict.halt_reason)),
            float(report.risk_level.rank),
            float(len(self.plan.stages_not_computed)),
            float(required),
            float(self.tier.rank),
            1.0 if report.composite_score is None else report.composite_score,
            -(report.quality_score or 0.0),
        )

    def better_than(self, other: "AnalyzedAnswer") -> bool:
        """Say whether this answer is kept instead of the other one, which came first and stays on a tie."""
        return self.standing() < other.standing()


@dataclass(frozen=True, slots=True)
class ReportRef:
    """A report by id and hash, with the risk that it found."""

    report_id: str
    report_hash: str
    risk_level: RiskLevel
    composite_score: float | None = None

    @classmethod
    def of(cls, analysed: AnalyzedAnswer) -> "ReportRef":
        """Return the reference to an answer's report."""
        report = analysed.analysis.summary
        return cls(report.report_id, report.report_hash, report.risk_level, report.composite_score)


@dataclass(frozen=True, slots=True)
class StepTaken:
    """A step that was carried out."""

    remedy: Remedy
    reason: str
    stage_number: int

    @classmethod
    def of(cls, step: RemedyStep) -> "StepTaken":
        """Return the step as it is recorded."""
        return cls(step.remedy, step.reason, step.stage_number)


@dataclass(frozen=True, slots=True)
class RemedyRound:
    """What was tried once for a window, and what it gave.

    Attributes:
        attempt: 1-based.
        steps: the steps of one call to the model, most urgent first.
        audit_events: names of the events that record the round, each once, in order.
        kept: what it gave was taken.
        before, after: the reports of the answer that led to it and of the one that it gave.
        call: the call to the model; ``None`` when the window's own answer is what the step asked for.
        window_id: whose analysis led to it.
    """

    attempt: int
    steps: tuple[StepTaken, ...]
    audit_events: tuple[str, ...]
    kept: bool
    window_id: str
    before: ReportRef
    after: ReportRef
    call: ModelCall | None = None

    @classmethod
    def of(
        cls, attempt: int, steps: tuple[RemedyStep, ...], sides: tuple[AnalyzedAnswer, AnalyzedAnswer], call: ModelCall
    ) -> "RemedyRound":
        """Return the round that led from the first of two answers to the second."""
        before, after = sides
        return cls(
            attempt=attempt,
            steps=tuple(StepTaken.of(step) for step in steps),
            audit_events=tuple(dict.fromkeys(event for step in steps for event in step.audit_events)),
            kept=after.better_than(before),
            window_id=call.window_id,
            before=ReportRef.of(before),
            after=ReportRef.of(after),
            call=call,
        )

    @classmethod
    def told(cls, step: RemedyStep, analysed: AnalyzedAnswer, window_id: str) -> "RemedyRound":
        """Return the round of a step that only tells the caller something."""
        ref = ReportRef.of(analysed)
        return cls(
            attempt=1,
            steps=(StepTaken.of(step),),
            audit_events=step.audit_events,
            kept=True,
            window_id=window_id,
            before=ref,
            after=ref,
        )


@dataclass(frozen=True, slots=True)
class Focus:
    """What a continuation by the gateway itself is about (SPEC-005 §10.3).

    Attributes:
        instruction: §10.3's addition to the system prompt.
        sub_queries: what is left to answer.
        step: the step that asked for it, as it is recorded.
        window_id: the window that is continued.
        before: its report.
    """

    instruction: str
    sub_queries: tuple[str, ...]
    step: StepTaken
    audit_events: tuple[str, ...]
    window_id: str
    before: ReportRef

    @classmethod
    def of(cls, step: RemedyStep, analysed: AnalyzedAnswer, window_id: str) -> "Focus":
        """Return what a continuation step asks for."""
        taken, before = StepTaken.of(step), ReportRef.of(analysed)
        return cls(step.instruction, step.sub_queries, taken, step.audit_events, window_id, before)

    def carried_out(self, analysed: AnalyzedAnswer) -> RemedyRound:
        """Return the round that the continuation with this answer is."""
        return RemedyRound(
            attempt=1,
            steps=(self.step,),
            audit_events=self.audit_events,
            kept=True,
            window_id=self.window_id,
            before=self.before,
            after=ReportRef.of(analysed),
        )

    @property
    def query(self) -> str:
        """What facts are selected for."""
        return "\n".join(self.sub_queries)
