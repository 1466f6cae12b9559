"""What a registered AI system states about itself; the gateway keeps it, dpe reads it (SPEC-005 §14)."""

from dataclasses import dataclass, field
from enum import StrEnum, unique

from services.common.regulation import AMPLIFIED_SECTORS, regulated_sector


@unique
class Domain(StrEnum):
    """The registered domains of SPEC-005 §14.2."""

    BIOMETRIC_IDENTIFICATION = "BIOMETRIC_IDENTIFICATION"
    EMPLOYMENT = "EMPLOYMENT"
    EDUCATION_ACCESS = "EDUCATION_ACCESS"
    CRITICAL_INFRASTRUCTURE = "CRITICAL_INFRASTRUCTURE"
    GENERAL_INFORMATION = "GENERAL_INFORMATION"
    CREATIVE = "CREATIVE"


DOMAIN_NAMES = {
    "Biometric identification": Domain.BIOMETRIC_IDENTIFICATION,
    "Employment/recruitment": Domain.EMPLOYMENT,
    "Education access": Domain.EDUCATION_ACCESS,
    "Critical infrastructure": Domain.CRITICAL_INFRASTRUCTURE,
    "General information": Domain.GENERAL_INFORMATION,
    "Creative/entertainment": Domain.CREATIVE,
}
"""The domains as the table of §14.2 prints them."""


def domain_of(text: str) -> Domain | None:
    """Return the domain that a token, or the table's own wording, names; ``None`` for any other text."""
    return Domain(text) if text in Domain.__members__ else DOMAIN_NAMES.get(text)


@unique
class AnnexIiiArea(StrEnum):
    """Annex III of Regulation (EU) 2024/1689, in the order of its points."""

    BIOMETRICS = "BIOMETRICS"
    CRITICAL_INFRASTRUCTURE = "CRITICAL_INFRASTRUCTURE"
    EDUCATION = "EDUCATION"
    EMPLOYMENT = "EMPLOYMENT"
    ESSENTIAL_SERVICES = "ESSENTIAL_SERVICES"
    LAW_ENFORCEMENT = "LAW_ENFORCEMENT"
    MIGRATION = "MIGRATION"
    JUSTICE_AND_DEMOCRACY = "JUSTICE_AND_DEMOCRACY"


@unique
class ProhibitedPractice(StrEnum):
    """Art. 5(1) of Regulation (EU) 2024/1689, in the order of its letters."""

    MANIPULATION = "MANIPULATION"
    EXPLOITING_VULNERABILITY = "EXPLOITING_VULNERABILITY"
    SOCIAL_SCORING = "SOCIAL_SCORING"
    CRIME_PREDICTION = "CRIME_PREDICTION"
    FACE_SCRAPING = "FACE_SCRAPING"
    EMOTION_INFERENCE = "EMOTION_INFERENCE"
    BIOMETRIC_CATEGORISATION = "BIOMETRIC_CATEGORISATION"
    REAL_TIME_BIOMETRIC_IDENTIFICATION = "REAL_TIME_BIOMETRIC_IDENTIFICATION"


@dataclass(frozen=True, slots=True)
class AiSystem:
    """A registered system as it stood when the answer was analysed.

    Attributes:
        version: of the registration, 1 and up; 0 = not stated.
        sector: in the tenant's own word; read only when ``stated_sector`` is empty, and then looked up.
        stated_sector: FINANCIAL, MEDICAL, OTHER or empty.
        evidence: where the operator keeps the evidence of a control, by control id.
        makes_decisions: its answers take part in decisions about persons (§14.2).
        safety_component: Art. 6(1), Annex I.
    """

    domain: Domain
    version: int = 0
    sector: str = ""
    stated_sector: str = ""
    intended_purpose: str = field(default="", repr=False)
    annex_iii_areas: tuple[AnnexIiiArea, ...] = ()
    prohibited_practices: tuple[ProhibitedPractice, ...] = ()
    interacts_with_people: bool = False
    generates_content: bool = False
    safety_component: bool = False
    makes_decisions: bool = False
    role: str = ""
    evidence: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def regulated_sector(self) -> str:
        """FINANCIAL, MEDICAL, OTHER, or empty when no sector is stated."""
        return self.stated_sector or regulated_sector(self.sector)

    @property
    def in_amplified_sector(self) -> bool:
        """Say whether SPEC-005 §17's sector amplifier applies."""
        return self.regulated_sector in AMPLIFIED_SECTORS
