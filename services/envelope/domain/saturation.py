"""How full the envelope is and what follows from it (SPEC-003 §9, §10.3)."""

from enum import StrEnum, unique
from typing import Final

from services.envelope.domain.quality_tier import SPARSE_SATURATION

REUSE_SATURATION: Final = 0.95
PRESSURE_SATURATION: Final = 0.98
FULL_SATURATION: Final = 0.99
PACKED_SATURATION: Final = 0.85


@unique
class SaturationBand(StrEnum):
    """How the saturation is to be read (SPEC-003 §9.2)."""

    FULLY_SATURATED = "fully saturated"
    NEAR_SATURATED = "near-saturated"
    WELL_PACKED = "well-packed"
    MODERATE = "moderate"
    SPARSE = "sparse"


_BAND_FLOORS: Final = (
    (SaturationBand.FULLY_SATURATED, FULL_SATURATION),
    (SaturationBand.NEAR_SATURATED, REUSE_SATURATION),
    (SaturationBand.WELL_PACKED, PACKED_SATURATION),
    (SaturationBand.MODERATE, SPARSE_SATURATION),
)


def saturation_band(value: float) -> SaturationBand:
    """Return the row of §9.2's table; what lies between two printed ranges (0.985) belongs to the lower one."""
    return next((band for band, floor in _BAND_FLOORS if value >= floor), SaturationBand.SPARSE)


def saturation(token_count: int, token_budget: int) -> float:
    """Return token_count / token_budget (SPEC-003 §9.1); ``token_budget`` is positive."""
    return token_count / token_budget


def recommends_reuse(value: float) -> bool:
    """Say whether continuation windows should reuse the packing: ``reuse-ckf`` (SPEC-003 §9.3)."""
    return value >= REUSE_SATURATION


def is_sparse(value: float) -> bool:
    """Say whether the knowledge covers the query thinly: cache status PARTIAL (SPEC-003 §9.3)."""
    return value < SPARSE_SATURATION


def is_under_pressure(value: float, unpacked: int) -> bool:
    """Say whether a continuation window should be offered for what did not fit (SPEC-003 §10.3)."""
    return value >= PRESSURE_SATURATION and unpacked > 0
