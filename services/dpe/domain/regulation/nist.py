"""The NIST tier (SPEC-005 §14.3): the AI RMF 1.0 has functions but no tiers, so the rule is ours (ADR 0039).

The higher of two: what the system is for (function MAP, by its EU AI Act class) and what was measured in this answer
(function MEASURE, by its risk level). TIER-1 asks for the least oversight, TIER-4 for the most.
"""

from typing import Final

from services.common.taxonomy import RiskLevel
from services.dpe.domain.regulation.eu_ai_act import EuAiActClass

TIER_BY_CLASS: Final = {
    EuAiActClass.MINIMAL: 1,
    EuAiActClass.LIMITED: 2,
    EuAiActClass.HIGH: 3,
    EuAiActClass.UNACCEPTABLE: 4,
}
TIER_BY_RISK: Final = {RiskLevel.LOW: 1, RiskLevel.MEDIUM: 2, RiskLevel.HIGH: 3, RiskLevel.CRITICAL: 4}


def nist_tier(eu_class: EuAiActClass | None, risk: RiskLevel) -> int | None:
    """Return the tier, 1 to 4, or ``None`` for a system whose class is not known.

    Args:
        eu_class: from the table; UNKNOWN and ``None`` give no tier.
        risk: the level after all amplifiers.
    """
    by_class = None if eu_class is None else TIER_BY_CLASS.get(eu_class)
    return None if by_class is None else max(by_class, TIER_BY_RISK[risk])
