"""The EU AI Act table (SPEC-005 §14.2): which row applies to a registered system, and the class that follows.

The six domains and the override are §14.2's. Regulation (EU) 2024/1689 adds the rows that a domain alone cannot tell:
the practices of Art. 5(1), the areas of Annex III, products under Art. 6(1), the duties of Art. 50. Every row that
applies is reported; the gravest gives the class. Where §14.2 and the Regulation differ, §14.2 stands (ADR 0039).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from services.dpe.domain.regulation.system import AiSystem, AnnexIiiArea, Domain, ProhibitedPractice


@unique
class EuAiActClass(StrEnum):
    """The classes, the least grave first; UNKNOWN is for systems that are not registered."""

    UNKNOWN = "UNKNOWN"
    MINIMAL = "MINIMAL"
    LIMITED = "LIMITED"
    HIGH = "HIGH"
    UNACCEPTABLE = "UNACCEPTABLE"

    @property
    def rank(self) -> int:
        """Gravity, from 0."""
        return tuple(EuAiActClass).index(self)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: a stable token, where it comes from, and the class that it gives."""

    token: str
    provision: str
    eu_class: EuAiActClass


@dataclass(frozen=True, slots=True)
class Classification:
    """The rows that apply and the class.

    Attributes:
        eu_class: the gravest of the rows; ``None`` when a row that would be graver hangs on a stage that did not run.
        rows: in the order of the table; at least one.
        decisive: those that give the class; empty without one.
    """

    eu_class: EuAiActClass | None
    rows: tuple[Row, ...]

    @property
    def decisive(self) -> tuple[Row, ...]:
        """The rows that give the class."""
        return tuple(row for row in self.rows if row.eu_class is self.eu_class)


_SPEC: Final = "CRP-SPEC-005 §14.2"
_ACT: Final = "Regulation (EU) 2024/1689"

DOMAIN_ROWS: Final = {
    domain: Row(f"DOMAIN_{domain}", f"{_SPEC}{cited}", eu_class)
    for domain, eu_class, cited in (
        (Domain.BIOMETRIC_IDENTIFICATION, EuAiActClass.UNACCEPTABLE, ""),
        (Domain.EMPLOYMENT, EuAiActClass.HIGH, f"; {_ACT}, Annex III, point 4"),
        (Domain.EDUCATION_ACCESS, EuAiActClass.HIGH, f"; {_ACT}, Annex III, point 3"),
        (Domain.CRITICAL_INFRASTRUCTURE, EuAiActClass.HIGH, f"; {_ACT}, Annex III, point 2"),
        (Domain.GENERAL_INFORMATION, EuAiActClass.LIMITED, ""),
        (Domain.CREATIVE, EuAiActClass.MINIMAL, ""),
    )
}
"""SPEC-005 §14.2, registered domain to default class."""

PRACTICE_ROWS: Final = {
    practice: Row(f"PROHIBITED_PRACTICE_{practice}", f"{_ACT}, Art. 5(1)({letter})", EuAiActClass.UNACCEPTABLE)
    for practice, letter in zip(ProhibitedPractice, "abcdefgh", strict=True)
}
"""Art. 5(1): what it prohibits is UNACCEPTABLE."""

AREA_ROWS: Final = {
    area: Row(f"ANNEX_III_AREA_{area}", f"{_ACT}, Annex III, point {point}", EuAiActClass.HIGH)
    for point, area in enumerate(AnnexIiiArea, start=1)
}
"""Annex III: an area makes a system HIGH; the exemptions of Art. 6(3) are not applied."""

PRODUCT_ROW: Final = Row("SAFETY_COMPONENT", f"{_ACT}, Art. 6(1) and Annex I", EuAiActClass.HIGH)
PERSONAL_DECISION_ROW: Final = Row(
    "GENERAL_INFORMATION_PII_IN_DECISIONS", f"{_SPEC}, override conditions", EuAiActClass.HIGH
)
INTERACTION_ROW: Final = Row("INTERACTS_WITH_PEOPLE", f"{_ACT}, Art. 50(1)", EuAiActClass.LIMITED)
CONTENT_ROW: Final = Row("GENERATES_CONTENT", f"{_ACT}, Art. 50(2) and 50(4)", EuAiActClass.LIMITED)


def classify(system: AiSystem, *, pii_detected: bool | None) -> Classification:
    """Return the rows that apply to a registered system and its class.

    Args:
        system: what is registered.
        pii_detected: what stage 11 found in prompt or answer (§13.3); ``None`` when it did not say.
    """
    rows = tuple(_applying(system, pii_detected=pii_detected))
    gravest = max((row.eu_class for row in rows), key=lambda eu_class: eu_class.rank)
    undecided = pii_detected is None and _pii_matters(system) and gravest.rank < PERSONAL_DECISION_ROW.eu_class.rank
    return Classification(None if undecided else gravest, rows)


def _applying(system: AiSystem, *, pii_detected: bool | None) -> Iterator[Row]:
    yield from (row for practice, row in PRACTICE_ROWS.items() if practice in system.prohibited_practices)
    yield DOMAIN_ROWS[system.domain]
    yield from (row for area, row in AREA_ROWS.items() if area in system.annex_iii_areas)
    if system.safety_component:
        yield PRODUCT_ROW
    if pii_detected and _pii_matters(system):
        yield PERSONAL_DECISION_ROW
    if system.interacts_with_people:
        yield INTERACTION_ROW
    if system.generates_content:
        yield CONTENT_ROW


def _pii_matters(system: AiSystem) -> bool:
    # SPEC-005 §14.2: "Upgrades to HIGH if PII detected in decisions".
    return system.domain is Domain.GENERAL_INFORMATION and system.makes_decisions
