"""``crp.ckf.v1`` to and from the knowledge apps' values."""

from datetime import timedelta
from typing import Final

from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2
from google.protobuf.duration_pb2 import Duration

from services.common.ports.facts import FactFilter, FactRecord, FactStatus
from services.common.ports.graph import CommunityRecord, SourceRecord, SourceStatus
from services.common.rpc.enums import RETRIEVAL_MODES
from services.common.taxonomy import RetrievalMode
from services.envelope.convert.common import (
    FACT_STATUS,
    duration,
    entity_fields,
    optional_timestamp,
    stale_reason,
    timestamp,
)
from services.envelope.convert.ingestion import report_message
from services.envelope.domain.importance import SourceType
from services.envelope.domain.namespaces import shown_namespace
from services.envelope.knowledge_app import KnowledgeState, SearchOutcome
from services.envelope.outbox import visible_metadata
from services.envelope.outlines import present_version
from services.envelope.requests import (
    ClusteringOutcome,
    EraseOutcome,
    FactEntries,
    FactEntry,
    IngestOutcome,
    SourceDocument,
)

_SOURCE_TYPE: Final = {kind: f"SOURCE_TYPE_{kind.value}" for kind in SourceType}
_SOURCE_TYPE_BACK: Final = {ckf_pb2.SourceType.Value(name): kind for kind, name in _SOURCE_TYPE.items()}
_SOURCE_STATUS: Final = {status: f"SOURCE_STATUS_{status.value}" for status in SourceStatus}
_FACT_STATUS_BACK: Final = {ckf_pb2.FactStatus.Value(name): status for status, name in FACT_STATUS.items()}
_LISTED: Final = (FactStatus.ACTIVE, FactStatus.STALE, FactStatus.QUARANTINED)
DEFAULT_SEARCH_LIMIT: Final = 10


def source_document(request: knowledge_service_pb2.IngestSourceRequest) -> SourceDocument:
    """Read a validated IngestSourceRequest."""
    return SourceDocument(
        uri=request.uri,
        title=request.title.strip(),
        media_type=request.media_type,
        source_type=_SOURCE_TYPE_BACK[request.source_type],
        content=request.content,
        metadata=dict(request.metadata),
        importance_weight=request.importance_weight if request.HasField("importance_weight") else None,
        ttl=_ttl(request.ttl) if request.HasField("ttl") else None,
        supersedes_uris=tuple(request.supersedes_uris),
    )


def fact_entries(request: knowledge_service_pb2.IngestFactsRequest) -> FactEntries:
    """Read a validated IngestFactsRequest."""
    return FactEntries(
        uri=request.uri,
        title=request.title.strip(),
        source_type=_SOURCE_TYPE_BACK[request.source_type],
        facts=tuple(
            FactEntry(
                content=fact.content.strip(),
                source_location=fact.source_location,
                importance_weight=fact.importance_weight if fact.HasField("importance_weight") else None,
                ttl=_ttl(fact.ttl) if fact.HasField("ttl") else None,
                metadata=dict(fact.metadata),
                supersedes_fact_ids=tuple(fact.supersedes_fact_ids),
            )
            for fact in request.facts
        ),
    )


def _ttl(message: Duration) -> timedelta:
    return message.ToTimedelta()


def list_filter(request: knowledge_service_pb2.ListFactsRequest) -> FactFilter:
    """Read the filters of a validated ListFactsRequest."""
    statuses = tuple(_FACT_STATUS_BACK[status] for status in request.statuses)
    return FactFilter(tuple(request.source_ids), tuple(request.communities), statuses or _LISTED)


def search_terms(request: knowledge_service_pb2.SearchFactsRequest) -> tuple[RetrievalMode | None, FactFilter, int]:
    """Read mode, filters and limit of a validated SearchFactsRequest; no mode where the server is to choose."""
    where = FactFilter(source_ids=tuple(request.source_ids), communities=tuple(request.communities))
    return RETRIEVAL_MODES.get(request.mode), where, request.limit or DEFAULT_SEARCH_LIMIT


def fact_message(fact: FactRecord) -> ckf_pb2.Fact:
    """Return a fact as the wire shows it: without its vector."""
    return ckf_pb2.Fact(
        fact_id=fact.fact_id,
        content=fact.content,
        content_hash=fact.content_hash,
        source_id=fact.source_id,
        source_location=fact.source_location,
        importance_weight=fact.importance_weight,
        community_label=fact.community_label,
        ingested_at=timestamp(fact.ingested_at),
        modified_at=timestamp(fact.modified_at),
        access_count=fact.access_count,
        last_accessed_at=timestamp(fact.last_accessed_at) if fact.last_accessed_at else None,
        ttl=duration(fact.ttl) if fact.ttl is not None else None,
        status=FACT_STATUS[fact.status],
        entities=[entity_fields(entity) for entity in fact.entities],
        embedding_model=fact.embedding_model,
        metadata=dict(fact.metadata),
        namespace=shown_namespace(fact.tenant_id),
        stale_reason=stale_reason(fact.stale_reason),
        superseded_at=optional_timestamp(fact.superseded_at),
        valid_from=optional_timestamp(fact.valid_from),
        valid_to=optional_timestamp(fact.valid_to),
    )


def source_message(source: SourceRecord) -> ckf_pb2.Source:
    """Return a source; what the outbox keeps in its metadata is not shown."""
    return ckf_pb2.Source(
        source_id=source.source_id,
        title=source.title,
        uri=source.uri,
        source_type=_SOURCE_TYPE[SourceType(source.source_type)],
        media_type=source.media_type,
        document_hash=source.document_hash,
        ingested_at=timestamp(source.ingested_at),
        fact_count=source.fact_count,
        status=_SOURCE_STATUS[source.status],
        metadata=visible(source),
        version=present_version(source),
    )


def visible(source: SourceRecord) -> dict[str, str]:
    """Return the caller's own metadata."""
    return visible_metadata(source.metadata)


def community_message(community: CommunityRecord) -> ckf_pb2.Community:
    """Return a community."""
    return ckf_pb2.Community(label=community.label, fact_count=community.fact_count, epoch=community.epoch)


def ingest_source_response(outcome: IngestOutcome) -> knowledge_service_pb2.IngestSourceResponse:
    """Return what an ingestion did."""
    return knowledge_service_pb2.IngestSourceResponse(
        source=source_message(outcome.source),
        facts_created=outcome.facts_created,
        facts_stale=outcome.facts_stale,
        facts_unchanged=outcome.facts_unchanged,
        unchanged=outcome.unchanged,
        warnings=outcome.warnings,
        report=None if outcome.report is None else report_message(outcome.report),
    )


def ingest_facts_response(outcome: IngestOutcome) -> knowledge_service_pb2.IngestFactsResponse:
    """Return what an ingestion of facts did."""
    return knowledge_service_pb2.IngestFactsResponse(
        source=source_message(outcome.source),
        fact_ids=outcome.fact_ids,
        facts_created=outcome.facts_created,
        facts_stale=outcome.facts_stale,
        facts_unchanged=outcome.facts_unchanged,
        warnings=outcome.warnings,
    )


def search_response(outcome: SearchOutcome) -> knowledge_service_pb2.SearchFactsResponse:
    """Return the hits with the mode that found them."""
    return knowledge_service_pb2.SearchFactsResponse(
        hits=[knowledge_service_pb2.SearchHit(fact=fact_message(hit.fact), score=hit.score) for hit in outcome.hits],
        mode=RETRIEVAL_MODES.number(outcome.mode),
        keyword_fallback=outcome.keyword_fallback,
        warnings=outcome.warnings,
    )


def erase_response(outcome: EraseOutcome) -> knowledge_service_pb2.EraseSourceResponse:
    """Return what was erased."""
    return knowledge_service_pb2.EraseSourceResponse(
        source=source_message(outcome.source), facts_erased=outcome.facts_erased
    )


def quarantine_response(fact: FactRecord) -> knowledge_service_pb2.QuarantineFactResponse:
    """Return the fact's status."""
    return knowledge_service_pb2.QuarantineFactResponse(fact_id=fact.fact_id, status=FACT_STATUS[fact.status])


def restore_response(fact: FactRecord) -> knowledge_service_pb2.RestoreFactResponse:
    """Return the fact's status."""
    return knowledge_service_pb2.RestoreFactResponse(fact_id=fact.fact_id, status=FACT_STATUS[fact.status])


def rebuild_response(outcome: ClusteringOutcome) -> knowledge_service_pb2.RebuildCommunitiesResponse:
    """Return what a clustering gave."""
    return knowledge_service_pb2.RebuildCommunitiesResponse(
        epoch=outcome.epoch,
        community_count=outcome.community_count,
        fact_count=outcome.fact_count,
        unclustered_fact_count=outcome.unclustered_fact_count,
    )


def state_response(state: KnowledgeState) -> knowledge_service_pb2.GetStateResponse:
    """Return the state."""
    clustered_at = state.clustering.clustered_at
    return knowledge_service_pb2.GetStateResponse(
        state_hash=state.state_hash,
        active_fact_count=state.active,
        stale_fact_count=state.stale,
        quarantined_fact_count=state.quarantined,
        clustering_epoch=state.clustering.epoch,
        clustered_at=timestamp(clustered_at) if clustered_at else None,
        embedding_model=state.embedding_model,
    )
