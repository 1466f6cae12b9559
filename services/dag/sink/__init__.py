"""The event sink: every audit event to one endpoint, at least once, in each session's order (ADR 0057)."""

from services.dag.sink.metrics import SinkMetrics
from services.dag.sink.streaming import EventSink, SinkParts

__all__ = ["EventSink", "SinkMetrics", "SinkParts"]
