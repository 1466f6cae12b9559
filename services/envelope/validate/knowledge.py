"""Rules for ``crp.ckf.v1`` requests."""

import re
from collections.abc import Mapping
from typing import Final

from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2
from google.protobuf.duration_pb2 import Duration

from services.common.names import ALLOWED, is_plain_name
from services.common.rpc.validation import Violations
from services.envelope.domain.validity import of_metadata
from services.envelope.outbox import RESERVED_PREFIX
from services.envelope.validate.search_modes import known_mode
from services.envelope.validate.stored import MAX_FILTERS, UUID, filters, uuids

MAX_URI_CHARS: Final = 2048
MAX_TITLE_CHARS: Final = 512
MAX_LOCATION_CHARS: Final = 1024
MAX_FACT_CHARS: Final = 65_536
MAX_FACTS: Final = 1000
MAX_SEARCH_HITS: Final = 100
MAX_DIFF_FACTS: Final = 1000
MAX_METADATA: Final = 64
MAX_KEY_CHARS: Final = 128
MAX_VALUE_CHARS: Final = 1024
MAX_TTL_SECONDS: Final = 100 * 365 * 86_400
MAX_NANOS: Final = 999_999_999

_WORD: Final = re.compile(r"\w")


def ingest_source(request: knowledge_service_pb2.IngestSourceRequest) -> None:
    """Check an IngestSourceRequest; what its bytes are is the parser's to say."""
    found = Violations()
    found.require_request_id(request.request_id)
    _uri_and_title(found, request.uri, request.title)
    found.require(request.source_type in ckf_pb2.SourceType.values(), "source_type", "must name a kind of document")
    found.require(request.content, "content", "must not be empty")
    _metadata(found, "metadata", request.metadata)
    if request.HasField("importance_weight"):
        _ratio(found, "importance_weight", request.importance_weight)
    if request.HasField("ttl"):
        _ttl(found, "ttl", request.ttl)
    most = len(request.supersedes_uris) <= MAX_FILTERS
    found.require(most, "supersedes_uris", f"must have at most {MAX_FILTERS} uris")
    for index, uri in enumerate(request.supersedes_uris[:MAX_FILTERS]):
        path = f"supersedes_uris[{index}]"
        found.require(0 < len(uri) <= MAX_URI_CHARS, path, f"must have 1 to {MAX_URI_CHARS} characters")
        found.require(uri != request.uri, path, "must not be the document's own uri: a new version replaces the former")
    found.raise_if_any()


def preview_ingestion(request: knowledge_service_pb2.PreviewIngestionRequest) -> None:
    """Check a PreviewIngestionRequest; paging checks itself."""
    found = Violations()
    _uri_and_title(found, request.uri, "")
    found.require(request.content, "content", "must not be empty")
    found.raise_if_any()


def diff_sources(request: knowledge_service_pb2.DiffSourcesRequest) -> None:
    """Check a DiffSourcesRequest."""
    found = Violations()
    for name, side in (("before", request.before), ("after", request.after)):
        which = side.WhichOneof("side")
        found.require(which, name, "must be a stored source or a document")
        if which == "stored":
            is_uuid = UUID.fullmatch(side.stored.source_id)
            found.require(is_uuid, f"{name}.stored.source_id", "must be a UUID")
        elif which == "document":
            _name(found, f"{name}.document.name", side.document.name)
            found.require(side.document.content, f"{name}.document.content", "must not be empty")
    found.require(request.limit <= MAX_DIFF_FACTS, "limit", f"must be 1 to {MAX_DIFF_FACTS}")
    found.raise_if_any()


def _name(found: Violations, path: str, name: str) -> None:
    found.require(0 < len(name) <= MAX_URI_CHARS, path, f"must have 1 to {MAX_URI_CHARS} characters")
    found.require(is_plain_name(name), path, ALLOWED)


def ingest_facts(request: knowledge_service_pb2.IngestFactsRequest) -> None:
    """Check an IngestFactsRequest."""
    found = Violations()
    found.require_request_id(request.request_id)
    _uri_and_title(found, request.uri, request.title)
    _source_type(found, request.source_type)
    found.require(0 < len(request.facts) <= MAX_FACTS, "facts", f"must have 1 to {MAX_FACTS} facts")
    for index, fact in enumerate(request.facts[:MAX_FACTS]):
        _fact(found, f"facts[{index}]", fact)
    found.raise_if_any()


def _fact(found: Violations, path: str, fact: knowledge_service_pb2.FactInput) -> None:
    found.require(_WORD.search(fact.content), f"{path}.content", "must hold at least one word")
    found.require(len(fact.content) <= MAX_FACT_CHARS, f"{path}.content", f"at most {MAX_FACT_CHARS} characters")
    found.require(
        len(fact.source_location) <= MAX_LOCATION_CHARS,
        f"{path}.source_location",
        f"must have at most {MAX_LOCATION_CHARS} characters",
    )
    found.require(is_plain_name(fact.source_location), f"{path}.source_location", ALLOWED)
    _metadata(found, f"{path}.metadata", fact.metadata)
    uuids(found, f"{path}.supersedes_fact_ids", fact.supersedes_fact_ids)
    if fact.HasField("importance_weight"):
        _ratio(found, f"{path}.importance_weight", fact.importance_weight)
    if fact.HasField("ttl"):
        _ttl(found, f"{path}.ttl", fact.ttl)


def change_fact(
    request: knowledge_service_pb2.QuarantineFactRequest | knowledge_service_pb2.RestoreFactRequest,
) -> None:
    """Check a request that changes a fact's status."""
    found = Violations()
    found.require_request_id(request.request_id)
    found.require(UUID.fullmatch(request.fact_id), "fact_id", "must be a UUID")
    found.raise_if_any()


def erase_source(request: knowledge_service_pb2.EraseSourceRequest) -> None:
    """Check an EraseSourceRequest."""
    found = Violations()
    found.require_request_id(request.request_id)
    found.require(UUID.fullmatch(request.source_id), "source_id", "must be a UUID")
    found.raise_if_any()


def rebuild(request: knowledge_service_pb2.RebuildCommunitiesRequest) -> None:
    """Check a RebuildCommunitiesRequest."""
    found = Violations()
    found.require_request_id(request.request_id)
    found.raise_if_any()


def search_facts(request: knowledge_service_pb2.SearchFactsRequest, max_query_chars: int) -> None:
    """Check a SearchFactsRequest."""
    found = Violations()
    found.require(request.query.strip(), "query", "must not be empty")
    found.require(len(request.query) <= max_query_chars, "query", f"must have at most {max_query_chars} characters")
    known_mode(found, "mode", request.mode)
    found.require(request.limit <= MAX_SEARCH_HITS, "limit", f"must be 1 to {MAX_SEARCH_HITS}")
    filters(found, request.source_ids, request.communities)
    found.raise_if_any()


def get_state(request: knowledge_service_pb2.GetStateRequest) -> None:
    """Check a GetStateRequest."""
    found = Violations()
    found.require(len(request.communities) <= MAX_FILTERS, "communities", f"must have at most {MAX_FILTERS} labels")
    found.raise_if_any()


def _uri_and_title(found: Violations, uri: str, title: str) -> None:
    found.require(0 < len(uri) <= MAX_URI_CHARS, "uri", f"must have 1 to {MAX_URI_CHARS} characters")
    found.require(uri == uri.strip(), "uri", "must not begin or end with white space")
    found.require(len(title) <= MAX_TITLE_CHARS, "title", f"must have at most {MAX_TITLE_CHARS} characters")
    found.require(is_plain_name(uri), "uri", ALLOWED)
    found.require(is_plain_name(title), "title", ALLOWED)


def _source_type(found: Violations, value: int) -> None:
    known = set(ckf_pb2.SourceType.values()) - {ckf_pb2.SOURCE_TYPE_UNSPECIFIED}
    found.require(value in known, "source_type", "must name what kind of document it is")


def _metadata(found: Violations, path: str, metadata: Mapping[str, str]) -> None:
    found.require(len(metadata) <= MAX_METADATA, path, f"must have at most {MAX_METADATA} entries")
    for key, value in metadata.items():
        found.require(0 < len(key) <= MAX_KEY_CHARS, path, f"keys must have 1 to {MAX_KEY_CHARS} characters")
        found.require(len(value) <= MAX_VALUE_CHARS, path, f"values must have at most {MAX_VALUE_CHARS} characters")
        found.require(is_plain_name(key), path, f"keys {ALLOWED}")
        found.require(not key.startswith(RESERVED_PREFIX), path, f"keys must not begin with {RESERVED_PREFIX}")
    try:
        of_metadata(metadata)
    except ValueError as error:
        found.add(path, str(error))


def _ratio(found: Violations, path: str, value: float) -> None:
    found.require(0.0 <= value <= 1.0, path, "must be 0.0 to 1.0")


def _ttl(found: Violations, path: str, ttl: Duration) -> None:
    regular = 0 <= ttl.nanos <= MAX_NANOS and 0 <= ttl.seconds <= MAX_TTL_SECONDS
    found.require(regular and (ttl.seconds or ttl.nanos), path, "must be positive and at most 100 years")
