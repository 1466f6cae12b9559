"""What a source's record holds while it is being written, so that a restart can finish or undo the write.

The order of an ingestion: the record becomes INGESTING (with everything below), the facts are written, the old ones are
marked as superseded, the record becomes ACTIVE. What an undo needs of the former version rides in the record's
metadata under one reserved key, and leaves with the activation.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

from services.common.encoding import iso_micros, parse_iso_micros
from services.common.ports.graph import SourceRecord, SourceStatus
from services.envelope.domain.supersession import VersionChange

RESERVED_PREFIX: Final = "groundtrail."
"""Metadata keys of callers never begin with this."""

_FORMER_KEY: Final = RESERVED_PREFIX + "former"
_KEY: Final = RESERVED_PREFIX + "key"


def keyed(metadata: Mapping[str, str], key: str) -> dict[str, str]:
    """Return a source's metadata with the key of its facts' ids, which no caller sees and erasure drops (ADR 0112)."""
    return {**metadata, **({_KEY: key} if key else {})}


def key_of(record: SourceRecord) -> str:
    """Return the key of a source's facts' ids; empty for one that has none."""
    return record.metadata.get(_KEY, "")


def ingesting(
    record: SourceRecord,
    former: SourceRecord | None,
    change: VersionChange,
    ended: Mapping[str, datetime | None] = MappingProxyType({}),
    ends: Mapping[datetime, Sequence[str]] = MappingProxyType({}),
) -> SourceRecord:
    """Return the INGESTING form of ``record``, the version that is about to be written.

    Args:
        record: the new version.
        former: the one before.
        change: what becomes of the facts.
        ended: since when facts were superseded, or were to be, before this version; ``None`` = they were not.
        ends: when facts that are superseded end; those that are not named do with the ingestion.
    """
    again = (*change.revived, *change.reinstated)
    memo = {
        "revived": {fact_id: None if (at := ended.get(fact_id)) is None else iso_micros(at) for fact_id in again},
        "ended": {fact_id: iso_micros(at) for fact_id in change.stale if (at := ended.get(fact_id)) is not None},
        "ends": {iso_micros(end): list(fact_ids) for end, fact_ids in ends.items() if end != record.ingested_at},
        "former": None if former is None else _to_json(former),
    }
    return replace(
        record,
        status=SourceStatus.INGESTING,
        fact_ids_pending=change.written,
        stale_on_activation=change.stale,
        metadata={**record.metadata, _FORMER_KEY: json.dumps(memo)},
    )


def ends_in(record: SourceRecord) -> dict[datetime, tuple[str, ...]]:
    """Return when the facts end that an INGESTING record's version lacks."""
    memo = json.loads(record.metadata[_FORMER_KEY]).get("ends", {})  # absent where an earlier program wrote it
    ends = {parse_iso_micros(end): tuple(fact_ids) for end, fact_ids in memo.items()}
    named = {fact_id for fact_ids in ends.values() for fact_id in fact_ids}
    return {**ends, record.ingested_at: tuple(one for one in record.stale_on_activation if one not in named)}


def visible_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's own metadata."""
    return {key: value for key, value in metadata.items() if not key.startswith(RESERVED_PREFIX)}


def activated(record: SourceRecord) -> SourceRecord:
    """Return the ACTIVE form of an INGESTING record."""
    return replace(
        record,
        status=SourceStatus.ACTIVE,
        fact_ids_pending=(),
        stale_on_activation=(),
        metadata={key: value for key, value in record.metadata.items() if key != _FORMER_KEY},
    )


@dataclass(frozen=True, slots=True)
class FormerVersion:
    """What an undo goes back to.

    Attributes:
        record: the version before; ``None`` for a new source.
        revived: ids that were stored before, with when they had been superseded; ``None`` = they had not been.
        ended: facts that the version lacks, and that were to end already, with when.
    """

    record: SourceRecord | None
    revived: Mapping[str, datetime | None]
    ended: Mapping[str, datetime] = field(default_factory=dict)


def former_version(record: SourceRecord) -> FormerVersion:
    """Return the version before an INGESTING record."""
    memo = json.loads(record.metadata[_FORMER_KEY])
    former = None if memo["former"] is None else _from_json(record, memo["former"])
    revived = memo["revived"]
    if isinstance(revived, list):  # written by a former program: they had been STALE, nobody knows since when
        return FormerVersion(former, dict.fromkeys(revived, record.ingested_at))
    ended = {key: parse_iso_micros(at) for key, at in memo.get("ended", {}).items()}
    again = {key: None if at is None else parse_iso_micros(at) for key, at in revived.items()}
    return FormerVersion(former, again, ended)


def _to_json(record: SourceRecord) -> dict[str, object]:
    return {
        "title": record.title,
        "source_type": record.source_type,
        "media_type": record.media_type,
        "document_hash": record.document_hash,
        "ingested_at": iso_micros(record.ingested_at),
        "fact_count": record.fact_count,
        "metadata": dict(record.metadata),
        "version": record.version,
    }


def _from_json(present: SourceRecord, memo: dict[str, object]) -> SourceRecord:
    metadata = memo["metadata"]
    return SourceRecord(
        tenant_id=present.tenant_id,
        source_id=present.source_id,
        uri=present.uri,
        title=str(memo["title"]),
        source_type=str(memo["source_type"]),
        media_type=str(memo["media_type"]),
        document_hash=str(memo["document_hash"]),
        ingested_at=parse_iso_micros(str(memo["ingested_at"])),
        fact_count=int(str(memo["fact_count"])),
        status=SourceStatus.ACTIVE,
        metadata=dict(metadata) if isinstance(metadata, dict) else {},
        version=int(str(memo.get("version", 0))),  # absent where an earlier program wrote it
    )
