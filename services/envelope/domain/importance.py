"""Intrinsic importance of facts by the kind of their source (CRP-SPEC-009), and by what they are (ADR 0106)."""

from enum import StrEnum, unique
from types import MappingProxyType
from typing import Final


@unique
class SourceType(StrEnum):
    """What kind of document a source is."""

    REGULATION = "REGULATION"
    OFFICIAL_DOCUMENT = "OFFICIAL_DOCUMENT"
    RESEARCH = "RESEARCH"
    INTERNAL = "INTERNAL"
    USER = "USER"
    WEB = "WEB"


IMPORTANCE_BY_SOURCE_TYPE: Final = MappingProxyType(
    {
        SourceType.REGULATION: 0.90,
        SourceType.OFFICIAL_DOCUMENT: 0.80,
        SourceType.RESEARCH: 0.75,
        SourceType.INTERNAL: 0.70,
        SourceType.USER: 0.60,
        SourceType.WEB: 0.50,
    }
)
IMPORTANCE_BY_KIND: Final = MappingProxyType(
    {
        "RULE": 0.05,
        "DEFINITION": 0.05,
        "TABLE_ROW": 0.02,
        "STEP": 0.0,
        "STATEMENT": 0.0,
        "LIST_ITEM": 0.0,
        "FOOTNOTE": -0.05,
        "CODE": -0.10,
        "CAPTION": -0.10,
        "EXAMPLE": -0.10,
        "BOILERPLATE": -0.30,
    }
)
"""Added to the source's: what a fact is counts, not where it stands."""


def importance_of(source_type: SourceType, kind: str) -> float:
    """Return a fact's importance, unless the caller says otherwise: its source's, raised or lowered by what it is."""
    raised = IMPORTANCE_BY_SOURCE_TYPE[source_type] + IMPORTANCE_BY_KIND[kind]
    return round(min(1.0, max(0.0, raised)), 2)
