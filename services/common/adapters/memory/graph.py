"""``KnowledgeGraph`` in dictionaries, for tests and as the reference of the contract suite."""

from collections.abc import Sequence
from datetime import datetime

from services.common.adapters.memory.receipts import MemoryReceipts
from services.common.ports.graph import ClusteringRecord, CommunityRecord, SourceRecord, SourceStatus, uri_taken
from services.common.ports.outline import OutlineVersion, SourceOutline
from services.common.ports.receipts import ERASING_RPC, Receipt
from services.common.quotations import quoted_sources, unquoted

_ERASED = (SourceStatus.ERASING, SourceStatus.ERASED)


class MemoryKnowledgeGraph:
    """Sources and communities of all tenants in one process's memory."""

    def __init__(self) -> None:
        self._sources: dict[tuple[str, str], SourceRecord] = {}
        self._communities: dict[str, list[CommunityRecord]] = {}
        self._clusterings: dict[str, ClusteringRecord] = {}
        self._outlines: dict[tuple[str, str], dict[int, SourceOutline]] = {}
        self._receipts = MemoryReceipts()
        self._answered: dict[tuple[str, str], set[tuple[str, str]]] = {}

    async def put_source(self, source: SourceRecord, receipt: Receipt | None = None) -> None:
        """Insert or replace."""
        receipt = self._standing(receipt)
        self._receipts.check(receipt)
        standing = await self.find_source(source.tenant_id, source.uri)
        if source.status is SourceStatus.ERASED:
            for asked in self._answered.pop((source.tenant_id, source.source_id), set()):
                self._receipts.scrub(source.tenant_id, *asked)
            self._receipts.unquote(source.tenant_id, source.source_id)
        elif standing is not None and standing.source_id != source.source_id:
            raise uri_taken()
        self._sources[source.tenant_id, source.source_id] = source
        if source.status in _ERASED:
            self._outlines.pop((source.tenant_id, source.source_id), None)
        self._receipts.put(receipt)
        if receipt is not None and receipt.rpc != ERASING_RPC:
            answered = self._answered.setdefault((source.tenant_id, source.source_id), set())
            answered.add((receipt.rpc, receipt.request_id))

    async def delete_source(self, tenant_id: str, source_id: str) -> None:
        """Remove the record."""
        self._sources.pop((tenant_id, source_id), None)
        self._outlines.pop((tenant_id, source_id), None)

    async def get_source(self, tenant_id: str, source_id: str) -> SourceRecord | None:
        """Return the source or ``None``."""
        return self._sources.get((tenant_id, source_id))

    async def get_sources(self, tenant_id: str, source_ids: Sequence[str]) -> list[SourceRecord]:
        """Return those of the sources that there are."""
        found = (self._sources.get((tenant_id, source_id)) for source_id in dict.fromkeys(source_ids))
        return [source for source in found if source is not None]

    async def find_source(self, tenant_id: str, uri: str) -> SourceRecord | None:
        """Return the newest source of this URI that is not ERASED."""
        found = [
            source for source in self._of(tenant_id) if source.uri == uri and source.status is not SourceStatus.ERASED
        ]
        return max(found, key=lambda source: (source.ingested_at, source.source_id), default=None)

    async def page_sources(self, tenant_id: str, *, after: str, limit: int) -> list[SourceRecord]:
        """Return the next sources by id."""
        return [source for source in self._of(tenant_id) if source.source_id > after][:limit]

    async def unfinished_sources(self) -> list[SourceRecord]:
        """Return INGESTING and ERASING sources of all tenants."""
        open_states = {SourceStatus.INGESTING, SourceStatus.ERASING}
        return [self._sources[key] for key in sorted(self._sources) if self._sources[key].status in open_states]

    async def put_outline(self, outline: SourceOutline, *, keep: int) -> None:
        """Insert or replace a version's outline; keep the latest."""
        about = outline.about
        kept = self._outlines.setdefault((about.tenant_id, about.source_id), {})
        kept[about.version] = outline
        for version in [version for version in kept if version <= about.version - keep]:
            del kept[version]

    async def delete_outline(self, tenant_id: str, source_id: str, version: int) -> None:
        """Remove a version's outline."""
        self._outlines.get((tenant_id, source_id), {}).pop(version, None)

    async def get_outline(self, tenant_id: str, source_id: str, version: int) -> SourceOutline | None:
        """Return a version's outline or ``None``."""
        return self._outlines.get((tenant_id, source_id), {}).get(version)

    async def outline_versions(self, tenant_id: str, source_id: str) -> list[OutlineVersion]:
        """Return the versions that are kept, the latest first."""
        kept = self._outlines.get((tenant_id, source_id), {})
        return [kept[version].about for version in sorted(kept, reverse=True)]

    async def replace_communities(
        self, clustering: ClusteringRecord, communities: Sequence[CommunityRecord], receipt: Receipt | None = None
    ) -> None:
        """Replace the tenant's communities."""
        if any(community.tenant_id != clustering.tenant_id for community in communities):
            raise ValueError("communities of another tenant")
        self._receipts.check(receipt)
        self._clusterings[clustering.tenant_id] = clustering
        self._communities[clustering.tenant_id] = sorted(communities, key=lambda community: community.label)
        self._receipts.put(receipt)

    async def page_communities(self, tenant_id: str, *, after: str, limit: int) -> list[CommunityRecord]:
        """Return the next communities by label."""
        return [found for found in self._communities.get(tenant_id, []) if found.label > after][:limit]

    async def clusterings_before(self, moment: datetime, limit: int) -> list[ClusteringRecord]:
        """Return the oldest clusterings before a moment."""
        aged = [(one.clustered_at, one.tenant_id) for one in self._clusterings.values() if one.clustered_at is not None]
        return [self._clusterings[tenant_id] for at, tenant_id in sorted(aged) if at < moment][:limit]

    async def clustering(self, tenant_id: str) -> ClusteringRecord:
        """Return the clustering state; epoch 0 when there is none."""
        return self._clusterings.get(tenant_id, ClusteringRecord(tenant_id, 0, None, 0, ""))

    async def get_receipt(self, tenant_id: str, rpc: str, request_id: str) -> Receipt | None:
        """Return a remembered answer."""
        return self._receipts.get(tenant_id, rpc, request_id)

    async def check(self) -> None:
        """Memory can always serve."""

    async def close(self) -> None:
        """Nothing to release."""

    def _standing(self, receipt: Receipt | None) -> Receipt | None:
        """Return the receipt without the words of sources that were erased since it was made."""
        if receipt is None:
            return None
        quoted = {one: self._sources.get((receipt.tenant_id, one)) for one in quoted_sources(receipt)}
        return unquoted(receipt, {one for one, source in quoted.items() if source and source.status in _ERASED})

    def _of(self, tenant_id: str) -> list[SourceRecord]:
        return [self._sources[key] for key in sorted(self._sources) if key[0] == tenant_id]
