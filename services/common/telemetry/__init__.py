"""What a process tells about itself: logs, traces and metrics, injected and inert unless settings turn them on.

Apps use two things: ``structlog.get_logger()`` for rare events, and ``note(session_id=…, window_id=…)`` so that the
access line of the running call names them. Ids, counts and digests only; content goes through ``content`` or nowhere.
"""

from services.common.telemetry.logs import configure_logs, content, scrub
from services.common.telemetry.metrics import RpcMetrics
from services.common.telemetry.notes import current_notes, note, open_notes
from services.common.telemetry.traces import follow_trace, inject_trace, open_tracing, span
from services.common.telemetry.wiring import Telemetry, open_telemetry

__all__ = [
    "RpcMetrics",
    "Telemetry",
    "configure_logs",
    "content",
    "current_notes",
    "follow_trace",
    "inject_trace",
    "note",
    "open_notes",
    "open_telemetry",
    "open_tracing",
    "scrub",
    "span",
]
