"""The four rank weights and what changes them (SPEC-003 §6.2, §6.4, §13.1; ADR 0003)."""

from dataclasses import dataclass, replace
from typing import Final

from services.common.taxonomy import GroundingMode

TEMPORAL_RELEVANCE_WEIGHT: Final = 0.40
TEMPORAL_FRESHNESS_WEIGHT: Final = 0.25
STRICT_IMPORTANCE_FACTOR: Final = 0.35
OPEN_RELEVANCE_WEIGHT: Final = 0.35
OPEN_IMPORTANCE_FACTOR: Final = 0.15


@dataclass(frozen=True, slots=True)
class RankWeights:
    """Weights of the composite score; non-negative, not all zero."""

    relevance_weight: float = 0.50
    importance_factor: float = 0.25
    freshness_weight: float = 0.15
    diversity_weight: float = 0.10

    @property
    def total(self) -> float:
        """Return the sum of the four."""
        return self.relevance_weight + self.importance_factor + self.freshness_weight + self.diversity_weight


def effective_weights(defaults: RankWeights, *, time_sensitive: bool, mode: GroundingMode) -> RankWeights:
    """Return the weights for one build: temporal changes first, then the mode's, then divided by their sum.

    Raises:
        ValueError: the weights sum to nothing.
    """
    weights = defaults
    if time_sensitive:  # SPEC-003 §6.4
        weights = replace(
            weights, relevance_weight=TEMPORAL_RELEVANCE_WEIGHT, freshness_weight=TEMPORAL_FRESHNESS_WEIGHT
        )
    if mode is GroundingMode.CONTEXT_STRICT:  # SPEC-003 §13.1
        weights = replace(weights, importance_factor=STRICT_IMPORTANCE_FACTOR)
    elif mode is GroundingMode.OPEN:
        weights = replace(weights, relevance_weight=OPEN_RELEVANCE_WEIGHT, importance_factor=OPEN_IMPORTANCE_FACTOR)
    total = weights.total
    if total <= 0:
        raise ValueError("rank weights must not all be zero")
    return RankWeights(
        relevance_weight=weights.relevance_weight / total,
        importance_factor=weights.importance_factor / total,
        freshness_weight=weights.freshness_weight / total,
        diversity_weight=weights.diversity_weight / total,
    )
