"""The registered AI system to domain, and what stage 12 found to the report (SPEC-005 §14)."""

from typing import Any, Final

from crp.common.v1 import regulation_pb2
from crp.dpe.v1 import regulatory_pb2, report_pb2

from services.common.errors import FieldViolation, InvalidRequestError
from services.dpe.convert.findings import enum_value
from services.dpe.domain.regulation.iso_42001 import Control
from services.dpe.domain.regulation.result import Regulatory
from services.dpe.domain.regulation.system import AiSystem, AnnexIiiArea, ProhibitedPractice, domain_of

_AREA: Final = "ANNEX_III_AREA_"
_PRACTICE: Final = "PROHIBITED_PRACTICE_"
_ROLE: Final = "AI_ACT_ROLE_"
_SECTOR: Final = "REGULATED_SECTOR_"


def ai_system(profile: regulatory_pb2.AiSystemProfile) -> AiSystem:
    """Return the domain's view of a validated profile.

    Raises:
        InvalidRequestError: INVALID_FIELD: the domain is none of §14.2; ``validate_analyze`` says so before.
    """
    domain = domain_of(profile.domain)
    if domain is None:
        raise InvalidRequestError.of(FieldViolation("ai_system.domain", "must be a domain of CRP-SPEC-005 §14.2"))
    return AiSystem(
        domain=domain,
        version=profile.version,
        sector=profile.sector,
        stated_sector=_token(regulation_pb2.RegulatedSector, profile.regulated_sector, _SECTOR),
        intended_purpose=profile.intended_purpose,
        annex_iii_areas=tuple(
            AnnexIiiArea(_token(regulation_pb2.AnnexIiiArea, area, _AREA)) for area in sorted(profile.annex_iii_areas)
        ),
        prohibited_practices=tuple(
            ProhibitedPractice(_token(regulation_pb2.ProhibitedPractice, practice, _PRACTICE))
            for practice in sorted(profile.prohibited_practices)
        ),
        interacts_with_people=profile.interacts_with_people,
        generates_content=profile.generates_content,
        safety_component=profile.safety_component,
        makes_decisions=profile.makes_decisions,
        role=_token(regulation_pb2.AiActRole, profile.role, _ROLE),
        evidence=tuple(sorted(profile.iso_42001_evidence.items())),
    )


def profile_message(system: AiSystem) -> regulatory_pb2.AiSystemProfile:
    """Return a registered system as a report states it; the sector as it was found."""
    return regulatory_pb2.AiSystemProfile(
        domain=str(system.domain),
        sector=system.sector,
        iso_42001_evidence=dict(system.evidence),
        makes_decisions=system.makes_decisions,
        version=system.version,
        intended_purpose=system.intended_purpose,
        annex_iii_areas=[enum_value(regulation_pb2.AnnexIiiArea, _AREA + area) for area in system.annex_iii_areas],
        prohibited_practices=[
            enum_value(regulation_pb2.ProhibitedPractice, _PRACTICE + practice)
            for practice in system.prohibited_practices
        ],
        interacts_with_people=system.interacts_with_people,
        generates_content=system.generates_content,
        safety_component=system.safety_component,
        role=enum_value(regulation_pb2.AiActRole, _ROLE + (system.role or "UNSPECIFIED")),
        regulated_sector=enum_value(
            regulation_pb2.RegulatedSector, _SECTOR + (system.regulated_sector or "UNSPECIFIED")
        ),
    )


def fill_regulatory(message: report_pb2.DpeReport, system: AiSystem | None, found: Regulatory | None) -> None:
    """State what was registered and what stage 12 found; UNKNOWN without a registration, nothing without a result."""
    if system is None:
        message.eu_ai_act_class = report_pb2.EU_AI_ACT_CLASS_UNKNOWN
        return
    message.ai_system.CopyFrom(profile_message(system))
    if found is None:
        return
    classification = found.classification
    if classification.eu_class is not None:
        message.eu_ai_act_class = _class(classification.eu_class)
    message.nist_tier = _tier(found.tier)
    message.iso_42001_controls.extend(found.controls_met)
    message.controls_met = len(found.controls_met)
    message.controls_total = len(found.controls)
    message.regulatory.rows.extend(
        report_pb2.RegulatoryRow(
            row=row.token,
            provision=row.provision,
            eu_ai_act_class=_class(row.eu_class),
            decisive=row in classification.decisive,
        )
        for row in classification.rows
    )
    message.regulatory.tier_by_class = _tier(found.tier_by_class)
    message.regulatory.tier_by_risk = _tier(found.tier_by_risk)
    message.regulatory.controls.extend(_control(control) for control in found.controls)


def _control(control: Control) -> regulatory_pb2.ControlAssessment:
    kind = "DISPATCH" if control.by_dispatch else "REGISTRATION"
    return regulatory_pb2.ControlAssessment(
        control_id=control.control_id,
        title=control.title,
        kind=enum_value(regulatory_pb2.ControlEvidenceKind, f"CONTROL_EVIDENCE_KIND_{kind}"),
        met=control.met,
        evidence=control.evidence,
        missing=control.missing,
    )


def _class(eu_class: str) -> report_pb2.EuAiActClass:
    value: report_pb2.EuAiActClass = enum_value(report_pb2.EuAiActClass, f"EU_AI_ACT_CLASS_{eu_class}")
    return value


def _tier(tier: int | None) -> report_pb2.NistTier:
    return report_pb2.NIST_TIER_UNSPECIFIED if tier is None else enum_value(report_pb2.NistTier, f"NIST_TIER_{tier}")


def _token(enum: Any, value: int, prefix: str) -> str:
    """Return a value's name without its prefix; empty for the unset value."""
    return enum.Name(value).removeprefix(prefix) if value else ""
