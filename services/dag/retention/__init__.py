"""Retention: what is due is done, by a sweep in the background or on request (ADR 0104)."""

from services.dag.retention.acting import Acted, Applied, DuePage, Outcome, Retention, WalkPlace
from services.dag.retention.holds import Hold, Holds
from services.dag.retention.metrics import SweepMetrics, count
from services.dag.retention.sweep import RetentionSweep, SweepParts

__all__ = [
    "Acted",
    "Applied",
    "DuePage",
    "Hold",
    "Holds",
    "Outcome",
    "Retention",
    "RetentionSweep",
    "SweepMetrics",
    "SweepParts",
    "WalkPlace",
    "count",
]
