"""How new a fact is (SPEC-003 §6.4)."""

from datetime import datetime, timedelta
from typing import Final

TEMPORAL_HORIZON_DAYS: Final = 90.0
_DAY: Final = timedelta(days=1)


def horizon_days(default_days: float, *, time_sensitive: bool) -> float:
    """Return the age at which freshness reaches 0: the default, or 90 days for a time-sensitive query."""
    return TEMPORAL_HORIZON_DAYS if time_sensitive else default_days


def age_days(now: datetime, ingested_at: datetime) -> float:
    """Return the age in days, with fractions; a fact from the future has age 0."""
    return max(0.0, (now - ingested_at) / _DAY)


def freshness_score(days: float, horizon: float, *, stale: bool) -> float:
    """Return 1 - age / horizon, not below 0; a STALE fact has 0 (CRP-SPEC-009)."""
    if stale:
        return 0.0
    return max(0.0, 1.0 - days / horizon)
