"""Conversions that both services share."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from crp.common.v1 import text_pb2
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.ports.facts import FactStatus, StaleReason
from services.common.ports.recognition import Entity, EntityKind

_STALE_REASON: Final = {reason: f"STALE_REASON_{reason.value}" for reason in StaleReason}
FACT_STATUS: Final = {status: f"FACT_STATUS_{status.value}" for status in FactStatus}
_ENTITY_KIND: Final = {kind: text_pb2.EntityKind.Value(f"ENTITY_KIND_{kind.value}") for kind in EntityKind}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_S: Final = 86_400


def timestamp(moment: datetime) -> Timestamp:
    """Return the moment, which knows its time zone, as a Timestamp."""
    since = moment - _EPOCH
    return Timestamp(seconds=since.days * _DAY_S + since.seconds, nanos=since.microseconds * 1_000)


def optional_timestamp(moment: datetime | None) -> Timestamp | None:
    """Return the same, or nothing."""
    return None if moment is None else timestamp(moment)


def stale_reason(reason: StaleReason | None) -> str | None:
    """Return why a fact is STALE; nothing for one that is not."""
    return None if reason is None else _STALE_REASON[reason]


def duration(span: timedelta) -> Duration:
    """Return the span as a Duration."""
    message = Duration()
    message.FromTimedelta(span)
    return message


def entity_fields(entity: Entity) -> Mapping[str, Any]:
    """Return the fields of an entity mention: read into the message that holds it, without one of its own.

    A response has hundreds of them; a message each, copied into the fact's, took half the time of writing an envelope.
    """
    return {
        "kind": _ENTITY_KIND[entity.kind],
        "text": entity.text,
        "span": {"start": entity.start, "end": entity.end},
    }
