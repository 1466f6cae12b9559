"""Conversions that both services share."""

from datetime import datetime, timedelta
from typing import Final

from crp.common.v1 import text_pb2
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.ports.facts import FactStatus
from services.common.ports.recognition import Entity, EntityKind

FACT_STATUS: Final = {status: f"FACT_STATUS_{status.value}" for status in FactStatus}
_ENTITY_KIND: Final = {kind: f"ENTITY_KIND_{kind.value}" for kind in EntityKind}


def timestamp(moment: datetime) -> Timestamp:
    """Return the moment as a Timestamp."""
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def duration(span: timedelta) -> Duration:
    """Return the span as a Duration."""
    message = Duration()
    message.FromTimedelta(span)
    return message


def entity_message(entity: Entity) -> text_pb2.Entity:
    """Return an entity mention."""
    return text_pb2.Entity(
        kind=_ENTITY_KIND[entity.kind],
        text=entity.text,
        span=text_pb2.TextSpan(start=entity.start, end=entity.end),
    )
