"""What a source's record holds while it is being written, so that a restart can finish or undo the write.

The order of an ingestion: the record becomes INGESTING (with everything below), the facts are written, the old ones
become STALE, the record becomes ACTIVE. What an undo needs of the former version rides in the record's metadata under
one reserved key, and leaves with the activation.
"""

import json
from dataclasses import replace
from typing import Final

from services.common.encoding import iso_micros, parse_iso_micros
from services.common.ports.graph import SourceRecord, SourceStatus
from services.envelope.domain.supersession import VersionChange

RESERVED_PREFIX: Final = "groundtrail."
"""Metadata keys of callers never begin with this."""

_FORMER_KEY: Final = RESERVED_PREFIX + "former"


def ingesting(record: SourceRecord, former: SourceRecord | None, change: VersionChange) -> SourceRecord:
    """Return the INGESTING form of ``record``, the version that is about to be written."""
    memo = {"revived": list(change.revived), "former": None if former is None else _to_json(former)}
    return replace(
        record,
        status=SourceStatus.INGESTING,
        fact_ids_pending=change.written,
        stale_on_activation=change.stale,
        metadata={**record.metadata, _FORMER_KEY: json.dumps(memo)},
    )


def activated(record: SourceRecord) -> SourceRecord:
    """Return the ACTIVE form of an INGESTING record."""
    return replace(
        record,
        status=SourceStatus.ACTIVE,
        fact_ids_pending=(),
        stale_on_activation=(),
        metadata={key: value for key, value in record.metadata.items() if key != _FORMER_KEY},
    )


def former_version(record: SourceRecord) -> tuple[SourceRecord | None, tuple[str, ...]]:
    """Return the version before an INGESTING record, ``None`` for a new source, and the ids that were revived."""
    memo = json.loads(record.metadata[_FORMER_KEY])
    former = None if memo["former"] is None else _from_json(record, memo["former"])
    return former, tuple(memo["revived"])


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
