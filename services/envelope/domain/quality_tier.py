"""The quality tier: score, saturation, then capping rules (SPEC-003 §8, §9.3, §13.1; ADR 0002)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from services.common.taxonomy import QualityTier, worst_tier

COVERAGE_SHARE: Final = 0.35
SATURATION_SHARE: Final = 0.30
RELEVANCE_SHARE: Final = 0.35
CRITICAL_IMPORTANCE: Final = 0.90
MIN_COVERAGE: Final = 0.30
MAX_NEWEST_AGE_DAYS: Final = 90.0
SPARSE_SATURATION: Final = 0.70
STRICT_SATURATION: Final = 0.80


_SCORE_FLOORS: Final = ((QualityTier.S, 0.95), (QualityTier.A, 0.85), (QualityTier.B, 0.70), (QualityTier.C, 0.50))
_SATURATION_FLOORS: Final = ((QualityTier.S, 0.99), (QualityTier.A, 0.95), (QualityTier.B, 0.85))


@unique
class TierRule(StrEnum):
    """The rules that cap the tier."""

    CRITICAL_FACT_EXCLUDED = "CRITICAL_FACT_EXCLUDED"
    COVERAGE_LOW = "COVERAGE_LOW"
    PRIMARY_COMMUNITY_ABSENT = "PRIMARY_COMMUNITY_ABSENT"
    FRESHNESS_FAILED = "FRESHNESS_FAILED"
    SATURATION_LOW = "SATURATION_LOW"
    STRICT_SATURATION_LOW = "STRICT_SATURATION_LOW"


_CAPS: Final = {
    TierRule.CRITICAL_FACT_EXCLUDED: QualityTier.B,  # SPEC-003 §8.3
    TierRule.COVERAGE_LOW: QualityTier.D,
    TierRule.PRIMARY_COMMUNITY_ABSENT: QualityTier.C,
    TierRule.FRESHNESS_FAILED: QualityTier.C,
    TierRule.SATURATION_LOW: QualityTier.C,  # SPEC-003 §9.3
    TierRule.STRICT_SATURATION_LOW: QualityTier.C,  # SPEC-003 §13.1
}


@dataclass(frozen=True, slots=True)
class TierSignals:
    """What the tier is computed from.

    Attributes:
        relevance_scores: of the included facts.
        critical_fact_excluded: a fact with importance >= 0.90 did not fit the budget.
        primary_community_included: ``None`` when the candidates have no community at all.
        newest_age_days: of the newest included fact of the knowledge fabric; ``None`` when there is none.
    """

    total_facts_available: int
    total_facts_included: int
    saturation: float
    relevance_scores: Sequence[float]
    critical_fact_excluded: bool = False
    primary_community_included: bool | None = None
    time_sensitive: bool = False
    newest_age_days: float | None = None
    context_strict: bool = False


@dataclass(frozen=True, slots=True)
class TierVerdict:
    """The tier and how it came about; ``relevance_mean`` is ``None`` for an empty envelope, which counts as 0."""

    tier: QualityTier
    quality_score: float
    coverage_score: float
    saturation: float
    relevance_mean: float | None
    score_tier: QualityTier
    saturation_tier: QualityTier
    rules: tuple[TierRule, ...]


def classify(signals: TierSignals) -> TierVerdict:
    """Return the tier: the worse of score's and saturation's, then the lowest cap of the rules that apply."""
    available, included = signals.total_facts_available, signals.total_facts_included
    coverage = included / available if available else 0.0
    mean = sum(signals.relevance_scores) / included if included else None
    score = coverage * COVERAGE_SHARE + signals.saturation * SATURATION_SHARE + (mean or 0.0) * RELEVANCE_SHARE
    score = round(score, 9)  # 0.85 must not fail by the last bit of a sum
    score_tier = _tier(score, _SCORE_FLOORS, QualityTier.D)
    saturation_tier = _tier(signals.saturation, _SATURATION_FLOORS, QualityTier.C)
    rules = _rules(signals, coverage)
    tier = worst_tier(score_tier, saturation_tier, *(_CAPS[rule] for rule in rules))
    return TierVerdict(tier, score, coverage, signals.saturation, mean, score_tier, saturation_tier, rules)


def score_floor(tier: QualityTier) -> float:
    """Return the least quality score of a tier (SPEC-003 §8.2); 0 for D."""
    return dict(_SCORE_FLOORS).get(tier, 0.0)


def saturation_floor(tier: QualityTier) -> float:
    """Return the least saturation of a tier; 0 for C and D, which no saturation bars (ADR 0002)."""
    return dict(_SATURATION_FLOORS).get(tier, 0.0)


def cap_of(rule: TierRule) -> QualityTier:
    """Return the best tier that a rule leaves (SPEC-003 §8.3)."""
    return _CAPS[rule]


def accepts(accepted: Sequence[QualityTier], tier: QualityTier) -> bool:
    """Say whether a caller's list takes the tier: no list takes any, a list all from its worst up (SPEC-003 §8.4)."""
    return not accepted or tier.rank <= worst_tier(*accepted).rank


def _tier(value: float, floors: tuple[tuple[QualityTier, float], ...], otherwise: QualityTier) -> QualityTier:
    return next((tier for tier, floor in floors if value >= floor), otherwise)


def _rules(signals: TierSignals, coverage: float) -> tuple[TierRule, ...]:
    newest = signals.newest_age_days
    applies = {
        TierRule.CRITICAL_FACT_EXCLUDED: signals.critical_fact_excluded,
        TierRule.COVERAGE_LOW: coverage < MIN_COVERAGE,
        TierRule.PRIMARY_COMMUNITY_ABSENT: signals.primary_community_included is False,
        TierRule.FRESHNESS_FAILED: signals.time_sensitive and newest is not None and newest > MAX_NEWEST_AGE_DAYS,
        TierRule.SATURATION_LOW: signals.saturation < SPARSE_SATURATION,
        TierRule.STRICT_SATURATION_LOW: signals.context_strict and signals.saturation < STRICT_SATURATION,
    }
    return tuple(rule for rule in TierRule if applies[rule])
