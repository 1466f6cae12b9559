"""Where facts and their vectors live (CRP-SPEC-003 §2, §5). Only writer: the envelope service."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum, unique
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.ports.recognition import Entity

Vectors: TypeAlias = NDArray[np.float32]


@unique
class FactStatus(StrEnum):
    """Life of a fact. DELETED and QUARANTINED are never retrieved; STALE is by readers that ask for it, freshness 0."""

    ACTIVE = "ACTIVE"
    STALE = "STALE"
    DELETED = "DELETED"
    QUARANTINED = "QUARANTINED"


@unique
class StaleReason(StrEnum):
    """Why a fact counts as STALE (ADR 0109): EXPIRED says that it is old, the others that it does not hold now."""

    SUPERSEDED = "SUPERSEDED"
    NO_LONGER_VALID = "NO_LONGER_VALID"
    NOT_YET_VALID = "NOT_YET_VALID"
    EXPIRED = "EXPIRED"


ERASED_HASH: Final = "0" * 64
"""Stands for the hash of a content that was erased: its SHA-256 would confirm a guess (SPEC-003 §17.2, ADR 0112)."""


@dataclass(frozen=True, slots=True)
class FactRecord:
    """One fact of one tenant.

    Attributes:
        fact_id: UUID.
        content_hash: 64 lower-case hex digits, SHA-256 of the UTF-8 content; ``ERASED_HASH`` of a DELETED fact.
        source_location: where in the source, e.g. ``p. 3`` or ``# Claims > ## Deadlines``.
        importance_weight: 0.0-1.0 inclusive.
        community_label: label of its Leiden community; empty while it is in none.
        ttl: after ``ingested_at + ttl`` the fact counts as STALE; ``None`` = never.
        entities: offsets in ``content``, computed at ingestion.
        embedding: unit vector, shape ``(dimension,)``, float32; computed at ingestion.
        embedding_model: fingerprint of the model that made ``embedding``.
        superseded_at: when its source replaced it, or will; whatever its status is; ``None`` = it stands in its source.
        valid_from: first moment at which it holds; ``None`` = always has.
        valid_to: first moment at which it holds no more; ``None`` = never.
        stale_reason: why it is STALE at the moment of reading; readers set it, stores neither keep nor return it.
    """

    tenant_id: str
    fact_id: str
    content: str
    content_hash: str
    source_id: str
    source_location: str
    importance_weight: float
    ingested_at: datetime
    modified_at: datetime
    status: FactStatus
    embedding: Vectors = field(compare=False, repr=False)
    embedding_model: str = ""
    community_label: str = ""
    access_count: int = 0
    last_accessed_at: datetime | None = None
    ttl: timedelta | None = None
    entities: Sequence[Entity] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    superseded_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    stale_reason: StaleReason | None = None

    @property
    def ends_at(self) -> datetime | None:
        """First moment at which it holds no more, for whatever reason; ``None`` = none is known."""
        return min((end for end in (self.superseded_at, self.valid_to) if end is not None), default=None)


@dataclass(frozen=True, slots=True)
class TimeFilter:
    """Which facts a read sees by when they hold (ADR 0109).

    Attributes:
        at: the moment; a fact that begins at it holds, one that ends at it does not.
        ended: facts that hold no more at that moment are seen too.
        coming: facts that do not hold yet are seen too.
    """

    at: datetime
    ended: bool = False
    coming: bool = False

    def sees(self, fact: FactRecord) -> bool:
        """Say whether a read under this filter may see the fact; stores filter alike in their own queries."""
        ends = fact.ends_at
        if not self.ended and ends is not None and ends <= self.at:
            return False
        return self.coming or fact.valid_from is None or fact.valid_from <= self.at


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts a read may see; empty tuples, and no time, mean no restriction."""

    source_ids: tuple[str, ...] = ()
    communities: tuple[str, ...] = ()
    statuses: tuple[FactStatus, ...] = (FactStatus.ACTIVE, FactStatus.STALE)
    time: TimeFilter | None = None


@dataclass(frozen=True, slots=True)
class FactHit:
    """One search result; ``score`` is raw cosine in [-1, 1] or BM25 (higher is better), as the method says."""

    fact: FactRecord
    score: float


@dataclass(frozen=True, slots=True)
class StateEntry:
    """What the state hash is made of (ADR 0006)."""

    fact_id: str
    content_hash: str
    modified_at: datetime
    status: FactStatus


def check_embedding(fact: FactRecord, dimension: int) -> None:
    """Refuse a vector that cannot be compared with others; every store does so before it writes anything.

    Raises:
        ValueError: it has another dimension, or a component that is no finite number.
    """
    if fact.embedding.shape != (dimension,):
        raise ValueError(f"fact {fact.fact_id}: vector of shape {fact.embedding.shape}, not ({dimension},)")
    if not np.isfinite(fact.embedding).all():
        at = int(np.flatnonzero(~np.isfinite(fact.embedding))[0])
        raise ValueError(f"fact {fact.fact_id}: embedding[{at}] is {fact.embedding[at]}; it must be a finite number")


def check_queries(queries: Vectors, dimension: int) -> None:
    """Refuse query vectors that nothing can be compared with; every store does so before it searches.

    Raises:
        ValueError: they are no matrix, have another dimension, or a component that is no finite number.
    """
    if queries.ndim != 2 or queries.shape[1] != dimension:  # noqa: PLR2004 - a matrix
        raise ValueError(f"queries of shape {queries.shape}, not (q, {dimension})")
    if not np.isfinite(queries).all():
        row, at = (int(place) for place in np.argwhere(~np.isfinite(queries))[0])
        raise ValueError(f"queries[{row}][{at}] is {queries[row, at]}; it must be a finite number")


class FactStore(Protocol):
    """Facts and vectors of all tenants, each tenant apart.

    Every method is confined to ``tenant_id``: another tenant's ids are simply not found. A method that returns has
    made its writes durable (they survive ``kill -9``) and visible to the next read. Raises ``UnavailableError``
    (STORE_UNAVAILABLE) when the backend is down and ``LimitExceededError`` (STORAGE_FULL) when it cannot grow;
    either way nothing of the write is visible.
    """

    async def upsert(self, facts: Sequence[FactRecord]) -> None:
        """Insert or replace by ``fact_id``, all or nothing for each tenant; callers write one tenant's. Idempotent.

        Raises:
            ValueError: a vector has another dimension, or a component that is no finite number; nothing is written.
        """
        ...

    async def get(self, tenant_id: str, fact_ids: Sequence[str]) -> list[FactRecord]:
        """Return the known ones among ``fact_ids`` in the given order, whatever their status but DELETED."""
        ...

    async def page(self, tenant_id: str, where: FactFilter, *, after: str, limit: int) -> list[FactRecord]:
        """Return up to ``limit`` facts with ``fact_id > after``, ordered by ``fact_id``."""
        ...

    async def search(
        self, tenant_id: str, queries: Vectors, *, limit: int, where: FactFilter | None = None
    ) -> list[list[FactHit]]:
        """Return for each row of ``queries`` (shape ``(q, dimension)``) up to ``limit`` hits by cosine, best first.

        Never returns DELETED or QUARANTINED facts. Ties are broken by ``fact_id``.

        Raises:
            ValueError: a query has another dimension, or a component that is no finite number; also in an empty store.
        """
        ...

    async def search_text(
        self, tenant_id: str, query: str, *, limit: int, where: FactFilter | None = None
    ) -> list[FactHit]:
        """Return up to ``limit`` hits by BM25 over the words of ``query``, best first; any text is a valid query."""
        ...

    async def set_status(self, tenant_id: str, fact_ids: Sequence[str], status: FactStatus, *, at: datetime) -> int:
        """Set status and ``modified_at`` of known facts; return how many changed."""
        ...

    async def supersede(self, tenant_id: str, fact_ids: Sequence[str], *, ended_at: datetime, at: datetime) -> int:
        """Mark facts as replaced since ``ended_at``: ACTIVE ones become STALE, QUARANTINED ones stay withheld.

        Where ``ended_at`` lies behind ``at`` the facts stand until then, and ACTIVE ones stay so. What has ended before
        ``at`` already, or is DELETED, is left alone. Sets ``modified_at`` to ``at``; returns how many were marked.
        """
        ...

    async def reinstate(self, tenant_id: str, fact_ids: Sequence[str], *, at: datetime) -> int:
        """Take the mark of ``supersede`` off: STALE facts become ACTIVE; return how many had it."""
        ...

    async def next_turn(self, tenant_id: str, after: datetime) -> datetime | None:
        """Return the first moment behind ``after`` at which an ACTIVE fact begins to hold or ends to, or ``None``."""
        ...

    async def set_communities(self, tenant_id: str, labels: Mapping[str, str]) -> None:
        """Set ``community_label`` by fact id; does not touch ``modified_at``. After a failure some may be set."""
        ...

    async def touch(self, tenant_id: str, fact_ids: Sequence[str], *, at: datetime) -> None:
        """Count an access (``access_count``, ``last_accessed_at``); the state hash does not change. Best effort."""
        ...

    async def fact_ids_of_source(self, tenant_id: str, source_id: str) -> list[str]:
        """Return the ids of the source's facts that are not DELETED, ordered."""
        ...

    async def erase_source(self, tenant_id: str, source_id: str, *, at: datetime) -> int:
        """Destroy content, entities and vectors of the source's facts and leave tombstones (DELETED); return how many.

        From the return on no method gives the content again, also not from an index that still holds the vector.
        """
        ...

    async def delete(self, tenant_id: str, fact_ids: Sequence[str]) -> None:
        """Remove facts without a trace; only for undoing an ingestion that was never acknowledged."""
        ...

    async def count(self, tenant_id: str, where: FactFilter | None = None) -> int:
        """Return the number of facts that match."""
        ...

    def state_entries(self, tenant_id: str, communities: Sequence[str] = ()) -> AsyncIterator[StateEntry]:
        """Yield the entries of the tenant, tombstones included, ordered by ``fact_id``; empty = all communities."""
        ...

    def embeddings(self, tenant_id: str) -> AsyncIterator[tuple[list[str], Vectors]]:
        """Yield retrievable facts' ids and vectors in blocks, ordered by ``fact_id`` (for clustering and rebuilds)."""
        ...

    async def check(self) -> None:
        """Return when the store can serve; raise ``UnavailableError`` otherwise. For readiness."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
