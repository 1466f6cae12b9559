"""How new a fact is (SPEC-003 §6.4)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

TEMPORAL_HORIZON_DAYS: Final = 90.0
_DAY: Final = timedelta(days=1)


def horizon_days(default_days: float, *, time_sensitive: bool) -> float:
    """Return the age at which freshness reaches 0: the default, or 90 days for a time-sensitive query."""
    return TEMPORAL_HORIZON_DAYS if time_sensitive else default_days


def age_days(now: datetime, ingested_at: datetime) -> float:
    """Return the age in days, with fractions; a fact from the future has age 0."""
    return max(0.0, (now - ingested_at) / _DAY)


def ages_days(now: datetime, ingested_at: Iterable[datetime]) -> NDArray[np.float64]:
    """Return the same for many facts."""
    ages = np.array([(now - moment) / _DAY for moment in ingested_at], dtype=np.float64)
    return np.maximum(0.0, ages)


def freshness_scores(days: NDArray[np.float64], horizon: float, stale: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return 1 - age / horizon for each fact, not below 0; a STALE fact has 0 (CRP-SPEC-009)."""
    return np.where(stale, 0.0, np.maximum(0.0, 1.0 - days / horizon))


def freshness_score(days: float, horizon: float, *, stale: bool) -> float:
    """Return the same for one fact."""
    return float(freshness_scores(np.array([days]), horizon, np.array([stale]))[0])
