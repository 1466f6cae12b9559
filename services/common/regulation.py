"""What gateway and dpe must agree on about regulated systems: the controls of ISO/IEC 42001 and the words for sectors.

Both are closed tables: nothing is read out of a text (SPEC-005 §14.2, §14.3, §17; ADR 0039).
"""

from typing import Final

ISO_42001_CONTROLS: Final = {
    "A.2.2": "AI policy",
    "A.2.3": "alignment with other policies of the organisation",
    "A.2.4": "review of the AI policy",
    "A.3.2": "roles and responsibilities",
    "A.3.3": "reporting of concerns",
    "A.4.2": "documentation of resources",
    "A.4.3": "data resources",
    "A.4.4": "tooling resources",
    "A.4.5": "system and computing resources",
    "A.4.6": "human resources",
    "A.5.2": "process for assessing impacts",
    "A.5.3": "documentation of impact assessments",
    "A.5.4": "impact on individuals and groups",
    "A.5.5": "impact on society",
    "A.6.1.2": "objectives for responsible development",
    "A.6.1.3": "processes for responsible design and development",
    "A.6.2.2": "requirements and specification",
    "A.6.2.3": "documentation of design and development",
    "A.6.2.4": "verification and validation",
    "A.6.2.5": "deployment",
    "A.6.2.6": "operation and monitoring",
    "A.6.2.7": "technical documentation",
    "A.6.2.8": "recording of event logs",
    "A.7.2": "data for development and enhancement",
    "A.7.3": "acquisition of data",
    "A.7.4": "quality of data",
    "A.7.5": "provenance of data",
    "A.7.6": "preparation of data",
    "A.8.2": "documentation and information for users",
    "A.8.3": "external reporting",
    "A.8.4": "communication of incidents",
    "A.8.5": "information for interested parties",
    "A.9.2": "processes for responsible use",
    "A.9.3": "objectives for responsible use",
    "A.9.4": "intended use",
    "A.10.2": "allocation of responsibilities",
    "A.10.3": "suppliers",
    "A.10.4": "customers",
}
"""Annex A of ISO/IEC 42001:2023: every control with its subject, in the Annex's order (38)."""

MAX_SECTOR_CHARS: Final = 100
MAX_PURPOSE_CHARS: Final = 2000
MAX_EVIDENCE: Final = 64
MAX_EVIDENCE_CHARS: Final = 500
"""Sizes of what an AI system states in words (entries, code points): a report repeats them."""

FINANCIAL: Final = "FINANCIAL"
MEDICAL: Final = "MEDICAL"
OTHER: Final = "OTHER"
AMPLIFIED_SECTORS: Final = frozenset({FINANCIAL, MEDICAL})  # SPEC-005 §17: MiFID II, MDR

SECTOR_WORDS: Final = {
    **dict.fromkeys(
        (
            "finance",
            "financial",
            "financial services",
            "banking",
            "bank",
            "insurance",
            "investment",
            "asset management",
            "credit",
            "payments",
            "pensions",
            "accounting",
        ),
        FINANCIAL,
    ),
    **dict.fromkeys(
        (
            "medical",
            "medicine",
            "health",
            "healthcare",
            "health care",
            "hospital",
            "pharma",
            "pharmaceutical",
            "pharmacy",
            "medical devices",
            "nursing",
            "dental",
        ),
        MEDICAL,
    ),
}
"""Words for a regulated sector, as a whole and in lower case; every other word is OTHER."""


def regulated_sector(word: str) -> str:
    """Return FINANCIAL, MEDICAL or OTHER for a sector in the tenant's word; empty for none.

    Letter case and spaces around the word do not count; nothing else is interpreted.
    """
    plain = " ".join(word.split()).casefold()
    return SECTOR_WORDS.get(plain, OTHER) if plain else ""
