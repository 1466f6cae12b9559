"""The event sink's composition: which lines it writes, where they come from, where they go."""

import json
import uuid
from importlib.metadata import version
from typing import Any, Final

from services.common.composition import Adapters
from services.common.encoding import canonical_json, iso_micros
from services.common.errors import UnreadableRecordError
from services.common.ports.sessions import AuditEventRecord, SessionStore
from services.common.settings.event_sink import EventSinkSettings
from services.dag import convert
from services.dag.exports.ocsf import ocsf_line
from services.dag.sink import EventSink, SinkParts
from services.dag.sink.batching import Attach, Batches, Encode

MEDIA_TYPE: Final = "application/x-ndjson"
TOPIC: Final = "event_sink"


async def open_sink(settings: EventSinkSettings, adapters: Adapters, store: SessionStore) -> EventSink | None:
    """Return the configured sink, started, or ``None`` when none is set; the adapters close it before the store.

    Args:
        settings: of the sink.
        adapters: of the process.
        store: gives events with their data readable.

    Raises:
        SettingsError: a secret or a certificate cannot be used.
    """
    endpoint = await adapters.event_endpoint()
    if endpoint is None:
        return None
    feed = await adapters.event_feed()
    batches = Batches(feed, store, _encoder(settings), MEDIA_TYPE, settings.batch_bytes, attaching(settings))
    sink = EventSink(SinkParts(feed, batches, endpoint, adapters.clock, holder=uuid.uuid4().hex), settings)
    adapters.closing(sink.close)
    sink.start()
    return sink


def attaching(settings: EventSinkSettings) -> Attach | None:
    """Return what puts whole reports into their events' lines, where that is asked for (SPEC-005 §15.4)."""
    if not settings.with_reports:
        return None
    return _with_ocsf_report if settings.format == "ocsf" else _with_report


def _with_report(line: str, body: str) -> str:
    return canonical_json({**json.loads(line), "report": json.loads(body)}).decode()


def _with_ocsf_report(line: str, body: str) -> str:
    fields = json.loads(line)
    fields["unmapped"] = {**fields.get("unmapped", {}), "crp_report": json.loads(body)}
    return canonical_json(fields).decode()


def _encoder(settings: EventSinkSettings) -> Encode:
    if settings.format == "ocsf":
        product_version = version("groundtrail")
        return lambda tenant_id, record: ocsf_line(record, tenant_id, product_version)
    return _ndjson_line


def _ndjson_line(_tenant_id: str, record: AuditEventRecord) -> str:
    """Return the line that an export has.

    An event that cannot be written so, because its data is no JSON or its type is of a later version, is written field
    by field: one event never stops the rest.
    """
    try:
        return convert.export_line(record).line
    except (UnreadableRecordError, ValueError, RecursionError):
        return canonical_json(_bare(record)).decode()


def _bare(record: AuditEventRecord) -> dict[str, Any]:
    try:
        data = json.loads(record.data)
    except (ValueError, RecursionError):
        data = None
    return {
        "event_id": record.event_id,
        "sequence": str(record.sequence),
        "event_type": record.event_type,
        "timestamp": iso_micros(record.timestamp),
        "window_id": record.window_id,
        "data": data,
        "hmac": record.hmac,
        "session_id": record.session_id,
    }
