"""What a tenant has in a pair of stores, as digests that two pairs can be compared by.

A digest covers what a store promises to give back: of a fact everything but its counted accesses, of a tombstone what
erasure leaves. It does not depend on the order in which a store gives its facts.
"""

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from services.common.computing import compute
from services.common.encoding import SHA256_PREFIX, iso_micros
from services.common.ports.facts import FactFilter, FactRecord, FactStatus, FactStore
from services.common.ports.graph import ClusteringRecord, CommunityRecord, KnowledgeGraph, SourceRecord
from services.common.ports.outline import SourceOutline
from services.envelope.domain.state import state_entry, state_hash

PAGE: Final = 500
_ALL: Final = FactFilter(statuses=tuple(FactStatus))


@dataclass(frozen=True, slots=True)
class Stores:
    """The two stores that make up a knowledge base: facts are of no use without their sources."""

    facts: FactStore
    graph: KnowledgeGraph


@dataclass(frozen=True, slots=True)
class FactMark:
    """A fact without its content."""

    digest: bytes
    source_id: str
    status: FactStatus
    modified_at: datetime
    content_hash: str
    embedding_model: str


@dataclass(slots=True)
class Picture:
    """One tenant's knowledge in one pair of stores.

    Attributes:
        facts: by id, tombstones included.
        sources: by id, erased ones included.
        outlines: digests by source and version.
        clustering: its state.
        communities: digest over the clustering and all communities.
        community_count: how many there are.
    """

    clustering: ClusteringRecord
    facts: dict[str, FactMark] = field(default_factory=dict)
    sources: dict[str, SourceRecord] = field(default_factory=dict)
    outlines: dict[tuple[str, int], bytes] = field(default_factory=dict)
    communities: bytes = b""
    community_count: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether the tenant has nothing here."""
        return not (self.facts or self.sources or self.clustering.epoch)

    def state_hash(self, model: str) -> str:
        """Return the state hash over all facts (SPEC-003 §11.3)."""
        entries = [state_entry(key, one.content_hash, one.modified_at, one.status) for key, one in self.facts.items()]
        return state_hash(entries, self.clustering.epoch, model)

    def content_hash(self, facts: Iterable[str], sources: AbstractSet[str], *, communities: bool) -> str:
        """Return ``sha256:`` and 64 hex digits over everything of these facts and sources."""
        whole = hashlib.sha256()
        for kind, digests in (
            (b"facts", (self.facts[key].digest for key in facts if key in self.facts)),
            (b"sources", (source_digest(self.sources[key]) for key in sources if key in self.sources)),
            (b"outlines", self.outlines_of(sources).values()),
            (b"communities", [self.communities] if communities else []),
        ):
            found = sorted(digests)
            whole.update(kind + b":%d:" % len(found) + b"".join(found))
        return SHA256_PREFIX + whole.hexdigest()

    def outlines_of(self, sources: AbstractSet[str]) -> dict[tuple[str, int], bytes]:
        """Return the digests of the outlines of some sources."""
        return {key: digest for key, digest in self.outlines.items() if key[0] in sources}


async def take_picture(stores: Stores, tenant_id: str, advance: Callable[[int], None]) -> Picture:
    """Read everything that a tenant has.

    Args:
        stores: where.
        tenant_id: whose.
        advance: told of each batch how many facts it had.
    """
    clustering = await stores.graph.clustering(tenant_id)
    picture = Picture(clustering)
    async for page in fact_pages(stores.facts, tenant_id):
        picture.facts.update(await compute(_marks, page))
        advance(len(page))
    async for source in sources_of(stores.graph, tenant_id):
        picture.sources[source.source_id] = source
        async for outline in outlines_of(stores.graph, source):
            picture.outlines[source.source_id, outline.about.version] = await compute(outline_digest, outline)
    communities = [one async for one in communities_of(stores.graph, tenant_id)]
    picture.communities = _digest([asdict(clustering), [asdict(one) for one in communities]])
    picture.community_count = len(communities)
    return picture


async def fact_pages(facts: FactStore, tenant_id: str) -> AsyncIterator[list[FactRecord]]:
    """Yield all facts of a tenant, tombstones included."""
    after = ""
    while page := await facts.page(tenant_id, _ALL, after=after, limit=PAGE):
        yield page
        after = page[-1].fact_id


async def sources_of(graph: KnowledgeGraph, tenant_id: str) -> AsyncIterator[SourceRecord]:
    """Yield all sources of a tenant, erased ones included."""
    after = ""
    while page := await graph.page_sources(tenant_id, after=after, limit=PAGE):
        for source in page:
            yield source
        after = page[-1].source_id


async def outlines_of(graph: KnowledgeGraph, source: SourceRecord) -> AsyncIterator[SourceOutline]:
    """Yield the outlines that are kept of a source, the earliest first."""
    for about in reversed(await graph.outline_versions(source.tenant_id, source.source_id)):
        outline = await graph.get_outline(source.tenant_id, source.source_id, about.version)
        if outline is not None:
            yield outline


async def communities_of(graph: KnowledgeGraph, tenant_id: str) -> AsyncIterator[CommunityRecord]:
    """Yield all communities of a tenant."""
    after = ""
    while page := await graph.page_communities(tenant_id, after=after, limit=PAGE):
        for community in page:
            yield community
        after = page[-1].label


def fact_digest(fact: FactRecord) -> bytes:
    """Return 32 bytes over everything of a fact but its accesses; of a tombstone over what erasure leaves."""
    left = [fact.fact_id, fact.source_id, fact.status.value, iso_micros(fact.modified_at)]
    if fact.status is FactStatus.DELETED:
        return _digest(left)
    times = [fact.ingested_at, fact.superseded_at, fact.valid_from, fact.valid_to]
    entities = [[one.kind.value, one.text, one.start, one.end] for one in fact.entities]
    told = [fact.content, fact.content_hash, fact.source_location, fact.importance_weight, fact.community_label]
    model = [fact.embedding_model, fact.embedding.astype("<f4").tobytes().hex()]
    return _digest([left, times, told, model, fact.ttl, entities, dict(fact.metadata)])


def source_digest(source: SourceRecord) -> bytes:
    """Return 32 bytes over everything of a source."""
    return _digest(asdict(replace(source, metadata=dict(source.metadata))))


def outline_digest(outline: SourceOutline) -> bytes:
    """Return 32 bytes over everything of an outline."""
    return _digest(asdict(outline))


def _marks(page: Sequence[FactRecord]) -> Mapping[str, FactMark]:
    return {
        fact.fact_id: FactMark(
            fact_digest(fact), fact.source_id, fact.status, fact.modified_at, fact.content_hash, fact.embedding_model
        )
        for fact in page
    }


def _digest(value: Any) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode()).digest()


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return iso_micros(value)
    return value // timedelta(microseconds=1) if isinstance(value, timedelta) else str(value)
