"""Why a tier is not one that the caller accepts, and what may reach a better one (SPEC-003 §8.4; ADR 0064)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, unique

from services.common.taxonomy import QualityTier, worst_tier
from services.envelope.domain.quality_tier import (
    COVERAGE_SHARE,
    MIN_COVERAGE,
    RELEVANCE_SHARE,
    TierRule,
    TierVerdict,
    accepts,
    cap_of,
    saturation_floor,
    score_floor,
)

_DIGITS = 9


@unique
class QualitySignal(StrEnum):
    """The numbers that a tier rests on."""

    QUALITY_SCORE = "QUALITY_SCORE"
    SATURATION = "SATURATION"
    COVERAGE_SCORE = "COVERAGE_SCORE"
    RELEVANCE_MEAN = "RELEVANCE_MEAN"


@dataclass(frozen=True, slots=True)
class Shortfall:
    """One number below what the required tier needs; ``required`` may exceed 1 where it cannot close the gap alone."""

    signal: QualitySignal
    value: float
    required: float

    @property
    def shortfall(self) -> float:
        """By how much it fell short."""
        return round(self.required - self.value, _DIGITS)


@dataclass(frozen=True, slots=True)
class QualityGap:
    """What lies between the tier that was reached and the worst one that is accepted."""

    reached: QualityTier
    required: QualityTier
    shortfalls: tuple[Shortfall, ...]
    capping_rules: tuple[TierRule, ...]


def quality_gap(verdict: TierVerdict, accepted: Sequence[QualityTier]) -> QualityGap | None:
    """Return what keeps the verdict from the worst accepted tier, or ``None`` when it is accepted.

    What coverage and relevance would have to be is told with the other numbers as they are.
    """
    if accepts(accepted, verdict.tier):
        return None
    required = worst_tier(*accepted)
    missing = max(0.0, score_floor(required) - verdict.quality_score)
    coverage, relevance = verdict.coverage_score, verdict.relevance_mean
    needed = {
        QualitySignal.QUALITY_SCORE: (verdict.quality_score, score_floor(required)),
        QualitySignal.SATURATION: (verdict.saturation, saturation_floor(required)),
        QualitySignal.COVERAGE_SCORE: (coverage, max(MIN_COVERAGE, coverage + missing / COVERAGE_SHARE)),
    }
    if relevance is not None:  # an envelope without facts has no mean to fall short
        needed[QualitySignal.RELEVANCE_MEAN] = (relevance, relevance + missing / RELEVANCE_SHARE)
    return QualityGap(
        reached=verdict.tier,
        required=required,
        shortfalls=tuple(
            Shortfall(signal, value, round(floor, _DIGITS))
            for signal, (value, floor) in needed.items()
            if round(floor, _DIGITS) > round(value, _DIGITS)
        ),
        capping_rules=tuple(rule for rule in verdict.rules if cap_of(rule).rank > required.rank),
    )
