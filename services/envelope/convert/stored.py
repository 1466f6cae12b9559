"""Stored facts and sources, to the messages of ``crp.ckf.v1``."""

from collections.abc import Sequence
from typing import Final

from crp.ckf.v1 import ckf_pb2, ingestion_pb2, knowledge_service_pb2

from services.common.documents.document import NOWHERE, Place
from services.common.documents.facts.draft import FactKind
from services.common.ports.facts import FactFilter, FactRecord, FactStatus
from services.common.ports.graph import SourceRecord, SourceStatus
from services.common.ports.outline import OutlineVersion
from services.envelope.convert.common import (
    FACT_STATUS,
    duration,
    entity_fields,
    optional_timestamp,
    stale_reason,
    timestamp,
)
from services.envelope.domain.importance import SourceType
from services.envelope.domain.namespaces import shown_namespace
from services.envelope.domain.outlines import Standing
from services.envelope.outbox import visible_metadata
from services.envelope.outlines import present_version

SOURCE_TYPE: Final = {kind: f"SOURCE_TYPE_{kind.value}" for kind in SourceType}
_SOURCE_STATUS: Final = {status: f"SOURCE_STATUS_{status.value}" for status in SourceStatus}
_FACT_STATUS_BACK: Final = {ckf_pb2.FactStatus.Value(name): status for status, name in FACT_STATUS.items()}
_FACT_KIND: Final = {kind.value: f"FACT_KIND_{kind.value}" for kind in FactKind}
_LISTED: Final = (FactStatus.ACTIVE, FactStatus.STALE, FactStatus.QUARANTINED)
_EDGES: Final = ("left", "top", "right", "bottom")


def list_filter(request: knowledge_service_pb2.ListFactsRequest) -> FactFilter:
    """Read the filters of a validated ListFactsRequest."""
    statuses = tuple(_FACT_STATUS_BACK[status] for status in request.statuses)
    return FactFilter(tuple(request.source_ids), tuple(request.communities), statuses or _LISTED)


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
        source_type=SOURCE_TYPE[SourceType(source.source_type)],
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


def place_message(place: Place) -> ingestion_pb2.FactPlace | None:
    """Return a place; ``None`` for one of which nothing is known."""
    if place == NOWHERE:
        return None
    rows, columns = place.rows or (0, 0), place.columns or (0, 0)
    return ingestion_pb2.FactPlace(
        page=place.page,
        box=None if place.box is None else ingestion_pb2.PageBox(**dict(zip(_EDGES, place.box, strict=True))),
        path=place.path,
        table=place.table,
        first_row=rows[0],
        last_row=rows[1],
        first_column=columns[0],
        last_column=columns[1],
    )


def fact_kind(kind: str) -> str:
    """Return the wire's name of a kind; unspecified for what this program does not know."""
    return _FACT_KIND.get(kind, "FACT_KIND_UNSPECIFIED")


def fact_response(fact: ckf_pb2.Fact, standing: Standing | None) -> knowledge_service_pb2.GetFactResponse:
    """Return a fact, with where it stands where that is known."""
    if standing is None:
        return knowledge_service_pb2.GetFactResponse(fact=fact)
    return knowledge_service_pb2.GetFactResponse(
        fact=fact,
        previous_fact_id="".join(standing.previous[:1]),
        next_fact_id="".join(standing.next[:1]),
        section=standing.entry.section,
        place=place_message(standing.entry.place),
        kind=fact_kind(standing.entry.kind),
    )


def version_messages(versions: Sequence[OutlineVersion]) -> list[ingestion_pb2.SourceVersion]:
    """Return the versions of a source."""
    return [
        ingestion_pb2.SourceVersion(
            version=one.version,
            document_hash=one.document_hash,
            ingested_at=timestamp(one.ingested_at),
            fact_count=one.fact_count,
        )
        for one in versions
    ]
