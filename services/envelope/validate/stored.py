"""Rules for the requests of ``crp.ckf.v1`` that read what is stored."""

import re
from collections.abc import Iterable
from typing import Final

from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2

from services.common.rpc.validation import Violations

MAX_FILTERS: Final = 100
MIN_PREFIX_CHARS: Final = 4
UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ZERO_UUID: Final = "00000000-0000-0000-0000-000000000000"


def fact_id(request: knowledge_service_pb2.GetFactRequest) -> None:
    """Check a GetFactRequest."""
    found = Violations()
    found.require(UUID.fullmatch(request.fact_id), "fact_id", "must be a UUID")
    found.raise_if_any()


def source_id(request: knowledge_service_pb2.GetSourceRequest) -> None:
    """Check a GetSourceRequest."""
    found = Violations()
    found.require(UUID.fullmatch(request.source_id), "source_id", "must be a UUID")
    found.raise_if_any()


def list_facts(request: knowledge_service_pb2.ListFactsRequest) -> None:
    """Check the filters of a ListFactsRequest; paging checks itself."""
    found = Violations()
    filters(found, request.source_ids, request.communities)
    known = set(ckf_pb2.FactStatus.values()) - {ckf_pb2.FACT_STATUS_UNSPECIFIED}
    found.require(set(request.statuses) <= known, "statuses", "must be known statuses")
    if request.fact_id_prefix:
        text = "must be the first 4 to 36 characters of a UUID in lower case"
        found.require(_is_uuid_start(request.fact_id_prefix), "fact_id_prefix", text)
    found.raise_if_any()


def _is_uuid_start(text: str) -> bool:
    return len(text) >= MIN_PREFIX_CHARS and UUID.fullmatch(text + _ZERO_UUID[len(text) :]) is not None


def filters(found: Violations, source_ids: Iterable[str], communities: Iterable[str]) -> None:
    """Check what a list or a search is narrowed to."""
    sources, labels = list(source_ids), list(communities)
    found.require(len(sources) <= MAX_FILTERS, "source_ids", f"must have at most {MAX_FILTERS} ids")
    found.require(len(labels) <= MAX_FILTERS, "communities", f"must have at most {MAX_FILTERS} labels")
    uuids(found, "source_ids", sources)


def uuids(found: Violations, path: str, ids: Iterable[str]) -> None:
    """Check ids of facts or sources."""
    for index, value in enumerate(ids):
        found.require(UUID.fullmatch(value), f"{path}[{index}]", "must be a UUID")
