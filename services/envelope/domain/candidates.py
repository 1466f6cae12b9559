"""The facts that one build chooses from, and what the phases learn about them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from services.common.ports.facts import FactStatus, StaleReason
from services.common.ports.recognition import Entity


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate fact (SPEC-003 §2).

    Attributes:
        token_count: in the target model's tokenizer, numbering included.
        community: Leiden label, with its namespace for a shared fact; empty when it belongs to none.
        status: ACTIVE or STALE; a fact past its ttl is STALE.
        stale_reason: why it is STALE; ``None`` when it is not.
        ended_at: since when it holds no more; ``None`` when it does, or does not yet (``holding``).
        valid_from: first moment at which it holds, ``valid_to`` the first at which it does not; ``None`` = open.
        expires_at: when it turns STALE by itself; ``None`` = never.
        memory_tier: 0 active, 1 from the session, 2 warm, 3 found by search (SPEC-003 §5.2 step 1.4).
        namespace: the shared namespace that it stands in; empty for the tenant's own.
        tool: the tool that answered so; empty for what is stored.
    """

    fact_id: str
    content: str
    content_hash: str
    source_id: str
    token_count: int
    importance_weight: float
    ingested_at: datetime
    embedding: NDArray[np.float32] = field(compare=False, repr=False)
    status: FactStatus = FactStatus.ACTIVE
    expires_at: datetime | None = None
    community: str = ""
    source_location: str = ""
    entities: Sequence[Entity] = ()
    memory_tier: int = 3
    carried_from_window_id: str = ""
    transfer_type: str = ""
    namespace: str = ""
    stale_reason: StaleReason | None = None
    ended_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    tool: str = ""

    @property
    def is_stored(self) -> bool:
        """Say whether it is a fact of the knowledge fabric: neither handed on nor what a tool answered."""
        return not self.carried_from_window_id and not self.tool

    @property
    def is_current(self) -> bool:
        """Say whether it holds, for all that is known: what is merely old does (ADR 0109)."""
        return self.stale_reason in {None, StaleReason.EXPIRED}

    @property
    def is_carried(self) -> bool:
        """Say whether a former window handed it on."""
        return bool(self.carried_from_window_id)

    @property
    def diversity_group(self) -> str:
        """Return what the diversity bonus counts by: the community, or the source for facts of none.

        Facts that no clustering has seen yet would otherwise count as one huge community; by source they still serve
        the bonus's purpose, to prevent single-source dominance (SPEC-003 §6.2).
        """
        return self.community or f"source:{self.source_id}"


@dataclass(frozen=True, slots=True)
class RankedFact:
    """A candidate with its scores, all 0.0-1.0 (SPEC-003 §6)."""

    candidate: Candidate
    relevance_score: float
    freshness_score: float
    diversity_bonus: float
    composite_score: float


def effective_status(status: FactStatus, ingested_at: datetime, ttl: timedelta | None, now: datetime) -> FactStatus:
    """Return the status at ``now``: an ACTIVE fact past its time to live counts as STALE (CRP-SPEC-009)."""
    if status is FactStatus.ACTIVE and ttl is not None and now > ingested_at + ttl:
        return FactStatus.STALE
    return status


def expires_at(status: FactStatus, ingested_at: datetime, ttl: timedelta | None, now: datetime) -> datetime | None:
    """Return when a fact that is ACTIVE at ``now`` turns STALE by itself; ``None`` = never, or it is so already."""
    if status is not FactStatus.ACTIVE or ttl is None or now > ingested_at + ttl:
        return None
    return ingested_at + ttl
