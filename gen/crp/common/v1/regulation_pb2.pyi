from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class AnnexIiiArea(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ANNEX_III_AREA_UNSPECIFIED: _ClassVar[AnnexIiiArea]
    ANNEX_III_AREA_BIOMETRICS: _ClassVar[AnnexIiiArea]
    ANNEX_III_AREA_CRITICAL_INFRASTRUCTURE: _ClassVar[AnnexIiiArea]
    ANNEX_III_AREA_EDUCATION: _ClassVar[AnnexIiiArea]
    ANNEX_III_AREA_EMPLOYMENT: _ClassVar[AnnexIiiArea]
    ANNEX_III_AREA_ESSENTIAL_SERVICES: _ClassVar[AnnexIiiArea]
    ANNEX_III_AREA_LAW_ENFORCEMENT: _ClassVar[AnnexIiiArea]
    ANNEX_III_AREA_MIGRATION: _ClassVar[AnnexIiiArea]
    ANNEX_III_AREA_JUSTICE_AND_DEMOCRACY: _ClassVar[AnnexIiiArea]

class ProhibitedPractice(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROHIBITED_PRACTICE_UNSPECIFIED: _ClassVar[ProhibitedPractice]
    PROHIBITED_PRACTICE_MANIPULATION: _ClassVar[ProhibitedPractice]
    PROHIBITED_PRACTICE_EXPLOITING_VULNERABILITY: _ClassVar[ProhibitedPractice]
    PROHIBITED_PRACTICE_SOCIAL_SCORING: _ClassVar[ProhibitedPractice]
    PROHIBITED_PRACTICE_CRIME_PREDICTION: _ClassVar[ProhibitedPractice]
    PROHIBITED_PRACTICE_FACE_SCRAPING: _ClassVar[ProhibitedPractice]
    PROHIBITED_PRACTICE_EMOTION_INFERENCE: _ClassVar[ProhibitedPractice]
    PROHIBITED_PRACTICE_BIOMETRIC_CATEGORISATION: _ClassVar[ProhibitedPractice]
    PROHIBITED_PRACTICE_REAL_TIME_BIOMETRIC_IDENTIFICATION: _ClassVar[ProhibitedPractice]

class AiActRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AI_ACT_ROLE_UNSPECIFIED: _ClassVar[AiActRole]
    AI_ACT_ROLE_PROVIDER: _ClassVar[AiActRole]
    AI_ACT_ROLE_DEPLOYER: _ClassVar[AiActRole]
    AI_ACT_ROLE_PROVIDER_AND_DEPLOYER: _ClassVar[AiActRole]

class RegulatedSector(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REGULATED_SECTOR_UNSPECIFIED: _ClassVar[RegulatedSector]
    REGULATED_SECTOR_FINANCIAL: _ClassVar[RegulatedSector]
    REGULATED_SECTOR_MEDICAL: _ClassVar[RegulatedSector]
    REGULATED_SECTOR_OTHER: _ClassVar[RegulatedSector]
ANNEX_III_AREA_UNSPECIFIED: AnnexIiiArea
ANNEX_III_AREA_BIOMETRICS: AnnexIiiArea
ANNEX_III_AREA_CRITICAL_INFRASTRUCTURE: AnnexIiiArea
ANNEX_III_AREA_EDUCATION: AnnexIiiArea
ANNEX_III_AREA_EMPLOYMENT: AnnexIiiArea
ANNEX_III_AREA_ESSENTIAL_SERVICES: AnnexIiiArea
ANNEX_III_AREA_LAW_ENFORCEMENT: AnnexIiiArea
ANNEX_III_AREA_MIGRATION: AnnexIiiArea
ANNEX_III_AREA_JUSTICE_AND_DEMOCRACY: AnnexIiiArea
PROHIBITED_PRACTICE_UNSPECIFIED: ProhibitedPractice
PROHIBITED_PRACTICE_MANIPULATION: ProhibitedPractice
PROHIBITED_PRACTICE_EXPLOITING_VULNERABILITY: ProhibitedPractice
PROHIBITED_PRACTICE_SOCIAL_SCORING: ProhibitedPractice
PROHIBITED_PRACTICE_CRIME_PREDICTION: ProhibitedPractice
PROHIBITED_PRACTICE_FACE_SCRAPING: ProhibitedPractice
PROHIBITED_PRACTICE_EMOTION_INFERENCE: ProhibitedPractice
PROHIBITED_PRACTICE_BIOMETRIC_CATEGORISATION: ProhibitedPractice
PROHIBITED_PRACTICE_REAL_TIME_BIOMETRIC_IDENTIFICATION: ProhibitedPractice
AI_ACT_ROLE_UNSPECIFIED: AiActRole
AI_ACT_ROLE_PROVIDER: AiActRole
AI_ACT_ROLE_DEPLOYER: AiActRole
AI_ACT_ROLE_PROVIDER_AND_DEPLOYER: AiActRole
REGULATED_SECTOR_UNSPECIFIED: RegulatedSector
REGULATED_SECTOR_FINANCIAL: RegulatedSector
REGULATED_SECTOR_MEDICAL: RegulatedSector
REGULATED_SECTOR_OTHER: RegulatedSector
