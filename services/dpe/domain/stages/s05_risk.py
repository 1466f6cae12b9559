"""Stage 5, risk classification (SPEC-005 §7): the base score from the four signals.

Amplifiers rest on stages 6, 7, 11 and 12, which end later; stage 13 settles them with ``settle``. The request's loop
depth is known here, and so is everything the base score needs.
"""

from dataclasses import replace
from typing import Final

from services.dpe.domain.analysis import Analysis, Risk
from services.dpe.domain.findings import AttributionType, RepetitionLevel, RiskLevel
from services.dpe.domain.outcome import UNSOUND, Reason, StageKey, StageOutcome, StageStatus
from services.dpe.domain.relevance import refused
from services.dpe.domain.risk import amplified, base_score, level_of
from services.dpe.domain.unread import mostly_unread

KEY: Final = StageKey(5)
_FEEDING_STAGES: Final = frozenset({1, 2, 3, 4})
RISK_STAGES: Final = frozenset({6, 7, 11, 12})
"""They feed amplifiers (SPEC-005 §17)."""


def apply(analysis: Analysis) -> Analysis:
    """Compute the base score and the level that it gives."""
    signals = _signals(analysis)
    # A text in a language that is not checked is undecided: no number stands beside it (ADR 0096).
    unread = mostly_unread(analysis.outputs.sentences)
    base = None if unread else base_score(signals, analysis.policy.weights)
    degraded = base is None or any(
        outcome.status in UNSOUND for outcome in analysis.outcomes if outcome.key.number in _FEEDING_STAGES
    )
    risk = Risk(signals, base, base, level_of(base, degraded=degraded), degraded)
    status = StageStatus.DEGRADED if degraded else StageStatus.COMPLETED
    reason = Reason.UPSTREAM_NOT_COMPLETED if degraded else Reason.NONE
    return analysis.ended(StageOutcome(KEY, status, reason), risk=risk)


def settle(analysis: Analysis) -> Risk | None:
    """Return the risk with the amplifiers that apply (SPEC-005 §17), in its order."""
    risk = analysis.outputs.risk
    if risk is None:
        return None
    applied: list[str] = []
    if analysis.outputs.gdpr_pii_detected:
        applied.append("gdpr_pii")  # SPEC-005 §17: the uplift follows the header, once
    regulatory = analysis.outputs.regulatory
    if regulatory is not None and regulatory.is_high_risk:
        applied.append("eu_high_risk")
    if regulatory is not None and regulatory.in_amplified_sector:
        applied.append("sector")
    if analysis.input.loop_depth > analysis.policy.loop_depth_threshold:
        applied.append("loop_depth")
    if analysis.outputs.cross_window_contradictions:
        applied.append("cross_window_contradiction")  # once, though §16.1 names it twice (decision 17)
    if analysis.outputs.repetition_level is RepetitionLevel.SEVERE:
        applied.append("severe_repetition")
    composite = amplified(risk.base_score, applied, analysis.policy.amplifiers)
    # An amplifier that the deadline left no time to look for, or that hangs on personal data that was not searched for,
    # may be missing: as decision 18 has it for stages 1-5.
    degraded = risk.degraded or any(
        outcome.reason in {Reason.DEADLINE_TOO_SHORT, Reason.PII_NOT_SEARCHED}
        for outcome in analysis.outcomes
        if outcome.key.number in RISK_STAGES
    )
    level = level_of(composite, degraded=degraded)
    if refused(analysis):
        level = RiskLevel.LOW  # architecture decision 28: a refusal asserts nothing
    return replace(risk, composite_score=composite, level=level, degraded=degraded, amplifiers=tuple(applied))


def _signals(analysis: Analysis) -> tuple[float | None, float | None, float | None, float | None]:
    """Return attribution, fidelity, entailment and specificity (SPEC-005 §7.2); ``None`` where there is no score."""
    outputs = analysis.outputs
    unverifiable: float | None = None
    if outputs.attributions is not None:
        items = outputs.attributions.values()
        count = sum(1 for item in items if item.type is AttributionType.UNVERIFIABLE)
        unverifiable = count / max(1, len(items))
    return (
        None if outputs.grounding_pct is None else 1.0 - outputs.grounding_pct,
        None if outputs.fidelity_score is None else 1.0 - outputs.fidelity_score,
        None if outputs.entailment is None else 1.0 - outputs.entailment.score,
        unverifiable,
    )
