"""Sources and communities of the knowledge fabric (CRP-SPEC-009 facts). Only writer: the envelope service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, unique
from typing import Protocol

from services.common.errors import ConflictError, ErrorReason
from services.common.ports.outline import OutlineVersion, SourceOutline
from services.common.ports.receipts import Receipt


@unique
class SourceStatus(StrEnum):
    """Life of a source. INGESTING and ERASING are outbox states that a restart finishes or undoes."""

    INGESTING = "INGESTING"
    ACTIVE = "ACTIVE"
    ERASING = "ERASING"
    ERASED = "ERASED"


def uri_taken() -> ConflictError:
    """Return what a second source of one URI is refused with."""
    return ConflictError(
        ErrorReason.COMMIT_RACE, "another process is bringing a document under this uri; nothing was stored, try again"
    )


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """One ingested document of one tenant.

    Attributes:
        document_hash: SHA-256 hex of the document's bytes.
        fact_count: facts of the present version.
        fact_ids_pending: while INGESTING: the ids of the facts being written, so that a restart can tell a complete
            write from half of one.
        stale_on_activation: while INGESTING a changed document: ids of the old version's facts.
        version: counts the source's versions, from 1: its outline's; 0 where none was written (ADR 0113).
    """

    tenant_id: str
    source_id: str
    title: str
    uri: str
    source_type: str
    media_type: str
    document_hash: str
    ingested_at: datetime
    fact_count: int
    status: SourceStatus
    fact_ids_pending: tuple[str, ...] = ()
    stale_on_activation: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    version: int = 0


@dataclass(frozen=True, slots=True)
class CommunityRecord:
    """One Leiden community: its label (unique within a tenant), size and the clustering it belongs to."""

    tenant_id: str
    label: str
    fact_count: int
    epoch: int


@dataclass(frozen=True, slots=True)
class ClusteringRecord:
    """State of a tenant's clustering; ``epoch`` 0 means never clustered."""

    tenant_id: str
    epoch: int
    clustered_at: datetime | None
    facts_at_clustering: int
    embedding_model: str


class KnowledgeGraph(Protocol):
    """Sources and communities, each tenant apart. Durability and errors as in ``FactStore``."""

    async def put_source(self, source: SourceRecord, receipt: Receipt | None = None) -> None:
        """Insert or replace; the receipt is stored in the same transaction.

        With an ERASED one the answers about it are destroyed: they hold its name and hashes of what was sent.
        Those about other sources lose what they quote of it, and so does a receipt that comes later. One that is
        ERASING or ERASED loses its outlines in the same transaction.

        Raises:
            ConflictError: COMMIT_RACE: another source of this tenant, that is not ERASED, has the URI.
        """
        ...

    async def delete_source(self, tenant_id: str, source_id: str) -> None:
        """Remove the record and its outlines; only for undoing an ingestion that was never acknowledged."""
        ...

    async def get_source(self, tenant_id: str, source_id: str) -> SourceRecord | None:
        """Return the source or ``None``."""
        ...

    async def get_sources(self, tenant_id: str, source_ids: Sequence[str]) -> list[SourceRecord]:
        """Return those of the sources that there are, in no order, in one read."""
        ...

    async def find_source(self, tenant_id: str, uri: str) -> SourceRecord | None:
        """Return the source that was ingested under ``uri`` (ERASED ones excepted) or ``None``."""
        ...

    async def page_sources(self, tenant_id: str, *, after: str, limit: int) -> list[SourceRecord]:
        """Return up to ``limit`` sources with ``source_id > after``, ordered by id."""
        ...

    async def unfinished_sources(self) -> list[SourceRecord]:
        """Return INGESTING and ERASING sources of all tenants, for recovery at start."""
        ...

    async def put_outline(self, outline: SourceOutline, *, keep: int) -> None:
        """Insert or replace a version's outline, and remove all but the ``keep`` latest versions' up to this one."""
        ...

    async def delete_outline(self, tenant_id: str, source_id: str, version: int) -> None:
        """Remove a version's outline, if there is one; only for undoing an ingestion that was never acknowledged."""
        ...

    async def get_outline(self, tenant_id: str, source_id: str, version: int) -> SourceOutline | None:
        """Return a version's outline or ``None``."""
        ...

    async def outline_versions(self, tenant_id: str, source_id: str) -> list[OutlineVersion]:
        """Return the versions of a source of which an outline is kept, the latest first."""
        ...

    async def replace_communities(
        self, clustering: ClusteringRecord, communities: Sequence[CommunityRecord], receipt: Receipt | None = None
    ) -> None:
        """Replace the tenant's communities in one transaction."""
        ...

    async def page_communities(self, tenant_id: str, *, after: str, limit: int) -> list[CommunityRecord]:
        """Return up to ``limit`` communities with ``label > after``, ordered by label."""
        ...

    async def clustering(self, tenant_id: str) -> ClusteringRecord:
        """Return the tenant's clustering state; epoch 0 when there is none."""
        ...

    async def clusterings_before(self, moment: datetime, limit: int) -> list[ClusteringRecord]:
        """Return up to ``limit`` clusterings of any tenant that were computed before ``moment``, oldest first."""
        ...

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return what was answered to this request id, while it is kept."""
        ...

    async def check(self) -> None:
        """Return when the store can serve; raise ``UnavailableError`` otherwise."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
