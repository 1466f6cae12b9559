"""A window against its latest event, its content against its hashes, and its HMACs (SPEC-004 §9.1-§9.4)."""

from collections.abc import Sequence
from typing import Any

from services.common.encoding import sha256_hex
from services.common.ports.sessions import EdgeRecord, ReportRecord, WindowRecord
from services.dag.domain import chain
from services.dag.domain.events import report_data, window_data
from services.dag.domain.record_texts import report_text, window_text
from services.dag.domain.stored_report import cut_report_hash, read_body
from services.dag.domain.walk import BadRecordError, Walk, computed, is_text, parsed


def check_record(walk: Walk, window: WindowRecord) -> None:
    """Compare node and edges with the window's latest event: as text, and field by field when that differs."""
    name = window.window_id
    text = walk.window_texts.get(name)
    if text is None:
        raise BadRecordError("window", name, "is not in the audit chain")
    edges = walk.dag.edges_into(name)
    if not is_text(text, window_text, window, edges):
        state = parsed("window", name, text)
        found = computed("window", name, window_data, window, edges)
        if found["node"] != state["node"]:
            names = [field for field, value in found["node"].items() if value != state["node"].get(field)]
            raise BadRecordError("window", name, f"differs from its latest event in {', '.join(names)}")
        _check_edges(edges, found["edges"], state["edges"])
    if window.response_text and not window.report_id:
        raise BadRecordError("window", name, "holds a response that was never committed")


def _check_edges(edges: Sequence[EdgeRecord], found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    for edge, data in zip(sorted(edges, key=lambda edge: edge.source_id), found, strict=True):
        if data not in expected:
            raise BadRecordError("edge", f"{edge.source_id} -> {edge.target_id}", "differs from its window's event")
    for data in expected:
        if data not in found:
            raise BadRecordError("edge", f"{data['source_id']} -> {data['target_id']}", "is missing")


def check_content(walk: Walk, window: WindowRecord, report: ReportRecord | None) -> None:
    """Recompute the response hash and the report hash from the stored content."""
    if not chain.same(sha256_hex(window.response_text), window.response_hash):
        raise BadRecordError("window", window.window_id, "has a response that does not match its response_hash")
    if report is None:
        raise BadRecordError("report", window.report_id, "is missing")
    name = report.report_id
    body = computed("report", name, report.body.encode)
    hashes = (sha256_hex(body), computed("report", name, sha256_hex, report.inputs) if report.inputs else "")
    text = walk.report_texts.get(window.window_id, "{}")
    if not is_text(text, report_text, report, *hashes):
        found = computed("report", name, report_data, report)
        if found != parsed("report", name, text).get("report"):
            raise BadRecordError("report", name, "differs from its DPE_COMPLETED event")
    expected = {
        "session_id": window.session_id,
        "window_id": window.window_id,
        "report_hash": window.report_hash,
        "hmac": window.hmac,
        "response_content_hash": window.response_hash,
    }
    if not is_text(window.report_hash, cut_report_hash, body, expected):
        fields, hashed = computed("report", name, read_body, report.body)
        if not chain.same(hashed, window.report_hash):
            raise BadRecordError("report", name, "has a body that does not match its report_hash")
        if any(fields.get(member) != value for member, value in expected.items()):
            raise BadRecordError("report", name, "is not the report of its window")
    owner = (window.session_id, window.window_id, window.report_hash)
    if (report.session_id, report.window_id, report.report_hash) != owner:
        raise BadRecordError("report", name, "is not the report of its window")


def check_hmac(walk: Walk, window: WindowRecord) -> None:
    """Recompute the chained HMAC over the stored parents' (SPEC-004 §9.1-§9.3) and the window's own."""
    parents = [walk.dag.by_id.get(parent) for parent in window.parent_ids]
    hmacs = [parent.hmac for parent in parents if parent is not None and parent.hmac]
    if len(hmacs) != len(parents):
        raise BadRecordError("window", window.window_id, "has a parent without an hmac")
    chained, alone = walk.macs.window(window, hmacs)
    if not chain.same(chained, window.hmac):
        raise BadRecordError("window", window.window_id, "has an hmac that does not match its content and parents")
    if not chain.same(alone, window.window_hmac):
        raise BadRecordError("window", window.window_id, "has a window_hmac that does not match its content")
