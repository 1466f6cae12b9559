"""What an erasure leaves to be verified: digests of the records as they stand without their content (ADR 0055).

The SESSION_ERASED event holds them, so that a window, an edge or a report that is changed afterwards is found, although
the events that held their fields are without data.
"""

from collections.abc import Iterable
from typing import Any

from services.common.encoding import canonical_json, iso_micros, sha256_hex
from services.common.ports.sessions import EdgeRecord, ReportRecord, WindowRecord
from services.dag.domain.events import window_data


def window_digest(window: WindowRecord, edges: Iterable[EdgeRecord]) -> str:
    """Return SHA-256 hex of the canonical node and of the edges into it."""
    return sha256_hex(canonical_json(window_data(window, edges)))


def report_digest(report: ReportRecord) -> str:
    """Return SHA-256 hex of the report's fields other than body and inputs."""
    fields: dict[str, Any] = {
        "session_id": report.session_id,
        "window_id": report.window_id,
        "report_id": report.report_id,
        "report_hash": report.report_hash,
        "created_at": iso_micros(report.created_at),
    }
    return sha256_hex(canonical_json(fields))
