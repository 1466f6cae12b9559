"""Every type of personal data that is looked for, with its category (SPEC-005 §13.2, ADR 0038)."""

from typing import Final

from services.common.ports.personal_data import PersonalDataCategory

_DIRECT: Final = (
    "PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER", "PASSPORT", "US_PASSPORT", "UK_PASSPORT", "DRIVER_LICENSE",
    "US_DRIVER_LICENSE", "NATIONAL_ID", "US_SSN", "US_ITIN", "US_MBI", "UK_NINO", "UK_NHS", "DE_TAX_ID", "FR_NIR",
    "ES_NIF", "ES_NIE", "IT_FISCAL_CODE", "PL_PESEL", "FI_PERSONAL_IDENTITY_CODE", "SE_PERSONNUMMER", "NL_BSN",
    "BE_NRN", "CH_AHV", "IE_PPS", "CA_SIN", "AU_TFN", "AU_MEDICARE", "IN_AADHAAR", "IN_PAN", "SG_NRIC_FIN", "KR_RRN",
    "TH_TNIN", "NG_NIN",
)  # fmt: skip
_QUASI: Final = ("DATE_OF_BIRTH", "AGE", "STREET_ADDRESS", "ZIP_CODE", "EMPLOYEE_ID", "IP_ADDRESS")
_SENSITIVE: Final = (
    "HEALTH_DATA", "POLITICAL_OPINION", "RELIGION_OR_BELIEF", "ETHNIC_ORIGIN", "TRADE_UNION_MEMBERSHIP", "SEX_LIFE",
    "GENETIC_OR_BIOMETRIC_DATA",
)  # fmt: skip
_FINANCIAL: Final = ("CREDIT_CARD", "IBAN_CODE", "BANK_ACCOUNT", "SALARY")

CATEGORIES: Final[dict[str, PersonalDataCategory]] = (
    dict.fromkeys(_DIRECT, PersonalDataCategory.DIRECT_IDENTIFIER)
    | dict.fromkeys(_QUASI, PersonalDataCategory.QUASI_IDENTIFIER)
    | dict.fromkeys(_SENSITIVE, PersonalDataCategory.SENSITIVE)
    | dict.fromkeys(_FINANCIAL, PersonalDataCategory.FINANCIAL)
)
"""The category of each type."""
