"""``crp.ckf.v1`` to and from the knowledge apps' values."""

from datetime import timedelta
from typing import Final

from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2
from google.protobuf.duration_pb2 import Duration

from services.common.ports.facts import FactFilter, FactRecord
from services.common.ports.graph import CommunityRecord
from services.common.rpc.enums import RETRIEVAL_MODES
from services.common.taxonomy import RetrievalMode
from services.envelope.convert.common import (
    FACT_STATUS,
    timestamp,
)
from services.envelope.convert.ingestion import report_message
from services.envelope.convert.stored import SOURCE_TYPE, fact_message, source_message
from services.envelope.knowledge_app import KnowledgeState, SearchOutcome
from services.envelope.requests import (
    ClusteringOutcome,
    EraseOutcome,
    FactEntries,
    FactEntry,
    IngestOutcome,
    SourceDocument,
)

_SOURCE_TYPE_BACK: Final = {ckf_pb2.SourceType.Value(name): kind for kind, name in SOURCE_TYPE.items()}
DEFAULT_SEARCH_LIMIT: Final = 10


def source_document(request: knowledge_service_pb2.IngestSourceRequest) -> SourceDocument:
    """Read a validated IngestSourceRequest."""
    return SourceDocument(
        uri=request.uri,
        title=request.title.strip(),
        media_type=request.media_type,
        source_type=_SOURCE_TYPE_BACK.get(request.source_type),
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


def search_terms(request: knowledge_service_pb2.SearchFactsRequest) -> tuple[RetrievalMode | None, FactFilter, int]:
    """Read mode, filters and limit of a validated SearchFactsRequest; no mode where the server is to choose."""
    where = FactFilter(source_ids=tuple(request.source_ids), communities=tuple(request.communities))
    return RETRIEVAL_MODES.get(request.mode), where, request.limit or DEFAULT_SEARCH_LIMIT


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
