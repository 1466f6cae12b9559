"""Whether a fact holds at a moment, why not, and since when (ADR 0109; CRP-SPEC-009).

A fact that is merely older than its ttl still holds for all that is known; one that its source replaced, or whose
validity is over or to come, does not. Only the former is retrieved unless more is asked for.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from services.common.ports.facts import FactRecord, FactStatus, StaleReason
from services.envelope.domain.candidates import effective_status

OUT_OF_TIME: Final = frozenset({StaleReason.SUPERSEDED, StaleReason.NO_LONGER_VALID, StaleReason.NOT_YET_VALID})
"""Reasons for which a fact does not hold."""


@dataclass(frozen=True, slots=True)
class Holding:
    """How a fact stands at a moment.

    Attributes:
        status: as it is shown.
        reason: why it is STALE; ``None`` when it is not.
        ended_at: since when it holds no more; ``None`` when it does, or does not yet.
    """

    status: FactStatus
    reason: StaleReason | None = None
    ended_at: datetime | None = None

    @property
    def is_out_of_time(self) -> bool:
        """Say whether it does not hold, rather than being merely old."""
        return self.reason in OUT_OF_TIME


def holding(fact: FactRecord, now: datetime) -> Holding:
    """Return how a fact stands; what is withheld or erased keeps its status."""
    if fact.status not in {FactStatus.ACTIVE, FactStatus.STALE}:
        return Holding(fact.status)
    if fact.superseded_at is not None and fact.superseded_at <= now:
        return Holding(FactStatus.STALE, StaleReason.SUPERSEDED, fact.ends_at)
    if fact.valid_to is not None and fact.valid_to <= now:
        return Holding(FactStatus.STALE, StaleReason.NO_LONGER_VALID, fact.valid_to)
    if fact.valid_from is not None and fact.valid_from > now:
        return Holding(FactStatus.STALE, StaleReason.NOT_YET_VALID)
    status = effective_status(fact.status, fact.ingested_at, fact.ttl, now)
    return Holding(status, StaleReason.EXPIRED if status is FactStatus.STALE else None)


def shown(fact: FactRecord, now: datetime) -> FactRecord:
    """Return a fact as readers see it at a moment: with its status and reason then."""
    at = holding(fact, now)
    return replace(fact, status=at.status, stale_reason=at.reason)
