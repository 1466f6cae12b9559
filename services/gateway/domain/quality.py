"""Whether the caller takes an envelope's tier, and what is told when not (SPEC-003 §8.4; ADR 0064)."""

from dataclasses import dataclass

from services.common.encoding import canonical_json
from services.common.taxonomy import DispatchStrategy, QualityTier


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A number below what the required tier needs; ``signal`` as the envelope service names it."""

    signal: str
    value: float
    required: float


@dataclass(frozen=True, slots=True)
class QualityGap:
    """Why a tier is not accepted.

    Attributes:
        capping_rules: rules that cap the tier below what is required, whatever the numbers.
    """

    reached: QualityTier
    required: QualityTier
    shortfalls: tuple[Shortfall, ...] = ()
    capping_rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QualityUpgrade:
    """An attempt to reach an accepted tier with another strategy.

    Attributes:
        kept: the envelope of the second strategy is the one that the answer was made from.
    """

    from_strategy: DispatchStrategy
    to_strategy: DispatchStrategy
    before: QualityTier
    after: QualityTier
    kept: bool


def tier_accepted(tier: QualityTier, accepted: tuple[QualityTier, ...]) -> bool:
    """Say whether the caller takes the tier: a listed one, or a better one than the worst listed (SPEC-003 §8.4)."""
    return not accepted or tier.rank <= max(each.rank for each in accepted)


def gap_json(gap: QualityGap) -> str:
    """Return the JSON object that a refusal explains the gap with (SPEC-003 §8.4, 3); fractions with six digits."""
    return canonical_json(
        {
            "best_tier": gap.reached.value,
            "required_tier": gap.required.value,
            "signals": [
                {
                    "signal": each.signal,
                    "value": round(each.value, 6),
                    "required": round(each.required, 6),
                    "shortfall": round(each.required - each.value, 6),
                }
                for each in gap.shortfalls
            ],
            "capping_rules": list(gap.capping_rules),
        }
    ).decode()
