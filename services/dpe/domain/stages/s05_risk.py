"""Stage 5, risk classification (SPEC-005 §7): the base score from the four signals, and the level.

Amplifiers rest on stages 6, 7, 11 and 12, which end later; stage 13 settles them with ``settle``. The request's loop
depth is known here, and so is everything the base score needs. The level is the worst of the floors (ADR
0093) and of what §7.4 makes of the signals with SUPPORTED claims counted as borne out (ADR 0121, 0188).
"""

from dataclasses import replace
from typing import Final

from services.common.taxonomy import RepetitionLevel, RiskLevel, StageStatus
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.findings import AttributionType
from services.dpe.domain.floors import cut_short, floors_of
from services.dpe.domain.judged_risk import DOUBT_AT_MOST, Signals, is_warning_at_most, judged_signals
from services.dpe.domain.outcome import UNSOUND, Reason, StageOutcome
from services.dpe.domain.relevance import refused
from services.dpe.domain.results import Risk
from services.dpe.domain.risk import amplified, base_score, classified, level_of
from services.dpe.domain.stage import Stage
from services.dpe.domain.stage_row import RiskSignal, StageKey
from services.dpe.domain.stages import s01_claims, s02_attribution, s03_fidelity, s03a_fabrication, s04_entailment
from services.dpe.domain.unsupported_language import mostly_unread

_WORST: Final = 1.0


def apply(analysis: Analysis) -> Analysis:
    """Compute the base score and the level that it gives."""
    signals = _signals(analysis)
    # A text in a language that is not checked is undecided: no number stands beside it (ADR 0096).
    unread = mostly_unread(analysis.outputs.text.sentences)
    base = None if unread else base_score(signals, analysis.policy.weights)
    degraded = base is None or any(outcome.status in UNSOUND for outcome in analysis.outcomes if outcome.stage.signals)
    status = StageStatus.DEGRADED if degraded else StageStatus.COMPLETED
    reason = Reason.UPSTREAM_NOT_COMPLETED if degraded else Reason.NONE
    risk = _levelled(analysis, Risk(signals, base, base, RiskLevel.MEDIUM, degraded))
    return analysis.ended(StageOutcome(STAGE, status, reason), risk)


def settle(analysis: Analysis) -> Risk | None:
    """Return the risk with the amplifiers that apply (SPEC-005 §17), in its order."""
    risk = analysis.outputs.risk
    if risk is None:
        return None
    applied: list[str] = []
    if analysis.outputs.personal_data.gdpr_detected:
        applied.append("gdpr_pii")  # SPEC-005 §17: the uplift follows the header, once
    regulatory = analysis.outputs.regulatory
    if regulatory is not None and regulatory.is_high_risk:
        applied.append("eu_high_risk")
    if regulatory is not None and regulatory.in_amplified_sector:
        applied.append("sector")
    if analysis.input.loop_depth > analysis.policy.loop_depth_threshold:
        applied.append("loop_depth")
    if analysis.outputs.coherence.found:
        applied.append("cross_window_contradiction")  # once, though §16.1 names it twice (ADR 0017)
    if analysis.outputs.repetition.level is RepetitionLevel.SEVERE:
        applied.append("severe_repetition")
    composite = amplified(risk.base_score, applied, analysis.policy.amplifiers)
    # An amplifier that the deadline left no time to look for, or that hangs on personal data that was not searched for,
    # may be missing: as ADR 0018 has it for stages 1-5.
    degraded = risk.degraded or any(
        outcome.reason in {Reason.DEADLINE_TOO_SHORT, Reason.PII_NOT_SEARCHED}
        for outcome in analysis.outcomes
        if outcome.stage.amplifiers
    )
    return _levelled(analysis, replace(risk, composite_score=composite, degraded=degraded, amplifiers=tuple(applied)))


def _levelled(analysis: Analysis, risk: Risk) -> Risk:
    """Return the risk with its floors and the level that follows (ADR 0093, ADR 0121)."""
    floors = floors_of(analysis.with_results(risk), _worst_level(analysis, risk))
    judged, judged_score = risk.signals, risk.composite_score
    if analysis.policy.level_floors and risk.composite_score is not None:
        judged = judged_signals(analysis, risk.signals)
        base = base_score(judged, analysis.policy.weights)
        if base is not None and is_warning_at_most(analysis, base):
            base = min(base, DOUBT_AT_MOST)
        judged_score = amplified(base, risk.amplifiers, analysis.policy.amplifiers)
    # A refusal asserts nothing, so that nothing of it can be wrong (ADR 0096).
    found = level_of(classified(judged_score), (floor.level for floor in floors))
    return replace(
        risk,
        composite_level=classified(risk.composite_score),
        judged_signals=judged,
        judged_score=judged_score,
        floors=floors,
        level=RiskLevel.LOW if refused(analysis) else found,
    )


def _worst_level(analysis: Analysis, risk: Risk) -> RiskLevel | None:
    """Return the level if everything that the deadline left out were as bad as can be; ``None`` if it left nothing out.

    So no deadline, and no length that a deadline cuts, lowers a level (ADR 0093): what was not looked at might be
    all wrong.
    """
    cut = [outcome.stage for outcome in analysis.outcomes if cut_short(outcome)]
    if not cut:
        return None
    lost = {signal for stage in cut for signal in stage.signals}
    signals = [_WORST if kind in lost else value for kind, value in zip(RiskSignal, risk.signals, strict=True)]
    possible = [name for stage in cut for name in stage.amplifiers]
    if analysis.input.ai_system is None:  # nothing is registered that could be HIGH
        possible = [name for name in possible if name != "eu_high_risk"]
    applied = tuple(dict.fromkeys((*risk.amplifiers, *possible)))
    worst = amplified(base_score(signals, analysis.policy.weights), applied, analysis.policy.amplifiers)
    return level_of(classified(worst), (RiskLevel.MEDIUM,))


def _signals(analysis: Analysis) -> Signals:
    """Return attribution, fidelity, entailment and specificity (SPEC-005 §7.2); ``None`` where there is no score."""
    outputs = analysis.outputs
    unverifiable: float | None = None
    if outputs.attribution.by_claim is not None:
        items = outputs.attribution.by_claim.values()
        count = sum(1 for item in items if item.type is AttributionType.UNVERIFIABLE)
        unverifiable = count / max(1, len(items))
    return (
        None if outputs.attribution.grounding_pct is None else 1.0 - outputs.attribution.grounding_pct,
        None if outputs.fidelity.score is None else 1.0 - outputs.fidelity.score,
        None if outputs.entailment is None else 1.0 - outputs.entailment.score,
        unverifiable,
    )


STAGE: Final = Stage(
    key=StageKey(5),
    name="Risk Classification",
    section="CRP-SPEC-005 §7",
    needs=(s01_claims.STAGE, s02_attribution.STAGE, s03a_fabrication.STAGE, s03_fidelity.STAGE, s04_entailment.STAGE),
    has_remedies=True,
    always_runs=True,
    apply=apply,
)
