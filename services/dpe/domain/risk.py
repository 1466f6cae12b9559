"""The composite hallucination risk (SPEC-005 §7, §16, §17; ADR 0017, 0018).

Four signals, weighted; a signal that could not be computed is left out and the weights of the others are divided by
their sum. No default stands in for a missing score. The level is the worst of the composite's own (§7.4) and the floors
(``floors``; ADR 0093).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from services.common.taxonomy import RiskLevel
from services.dpe.domain.policy import CRITICAL_RISK, HIGH_RISK, MEDIUM_RISK, Amplifiers, Weights

_DIGITS: Final = 12
"""Scores are rounded so far that 0.2 summed from four parts is 0.2, on the right side of its threshold."""


def base_score(signals: Sequence[float | None], weights: Weights) -> float | None:
    """Return the weighted mean of the signals that are there, or ``None`` when none is.

    Args:
        signals: attribution, fidelity, entailment, specificity; 0.0 best, 1.0 worst.
        weights: sum to 1.0.
    """
    each = (weights.attribution, weights.fidelity, weights.entailment, weights.specificity)
    present = [(value, weight) for value, weight in zip(signals, each, strict=True) if value is not None]
    total = sum(weight for _, weight in present)
    if total <= 0.0:
        return None
    score = sum(value * weight for value, weight in present) / total
    return min(1.0, max(0.0, round(score, _DIGITS)))


def amplified(base: float | None, applied: Sequence[str], amplifiers: Amplifiers) -> float | None:
    """Return the base score times the factors that apply, at most 1.0 (SPEC-005 §16.1)."""
    if base is None:
        return None
    for name in applied:
        base *= getattr(amplifiers, name)
    return min(1.0, round(base, _DIGITS))


def classified(composite: float | None) -> RiskLevel | None:
    """Return the level of SPEC-005 §7.4; ``None`` without a score."""
    if composite is None:
        return None
    if composite >= CRITICAL_RISK:
        return RiskLevel.CRITICAL
    if composite >= HIGH_RISK:
        return RiskLevel.HIGH
    return RiskLevel.MEDIUM if composite >= MEDIUM_RISK else RiskLevel.LOW


def level_of(composite_level: RiskLevel | None, floors: Iterable[RiskLevel]) -> RiskLevel:
    """Return the worst of the composite's level and the floors (ADR 0093); without any of them MEDIUM."""
    present = [level for level in (composite_level, *floors) if level is not None]
    return max(present, key=lambda level: level.rank, default=RiskLevel.MEDIUM)
