"""What stage 12 found about a registered system (SPEC-005 §14.3)."""

from dataclasses import dataclass

from services.dpe.domain.regulation.eu_ai_act import Classification, EuAiActClass
from services.dpe.domain.regulation.iso_42001 import Control


@dataclass(frozen=True, slots=True)
class Regulatory:
    """The classification of one answer's system.

    Attributes:
        classification: the class and the rows that give it.
        controls: all of ISO/IEC 42001 Annex A, in its order.
        in_amplified_sector: the system is registered as financial or medical (§17).
        tier_by_class, tier_by_risk, tier: NIST tiers, 1 to 4; ``None`` without a class.
    """

    classification: Classification
    controls: tuple[Control, ...]
    in_amplified_sector: bool
    tier_by_class: int | None = None
    tier_by_risk: int | None = None
    tier: int | None = None

    @property
    def is_high_risk(self) -> bool:
        """Say whether the class is HIGH or graver: a prohibited system is no lesser risk than a high-risk one."""
        eu_class = self.classification.eu_class
        return eu_class is not None and eu_class.rank >= EuAiActClass.HIGH.rank

    @property
    def controls_met(self) -> tuple[str, ...]:
        """Ids of the controls for which there is evidence."""
        return tuple(control.control_id for control in self.controls if control.met)
