"""Intrinsic importance of facts by the kind of their source (CRP-SPEC-009)."""

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
CARRIED_IMPORTANCE: Final = 0.95
"""Importance of a former window's summary or response, unless the request says otherwise (SPEC-003 §14.1)."""
