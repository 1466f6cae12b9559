"""The canonical text of a record's event data, written out field by field.

``events`` says what the data of a window's and a report's event is, and RFC 8785 how it is written. Both together are
slow enough to decide what verifying a long chain costs, so the common case is compared as text: what is written here is
``canonical_json`` of ``window_data`` and ``report_data``, and a property test holds them together. A text that differs
proves nothing yet: ``verify`` then compares the values.
"""

from collections.abc import Callable, Sequence
from json.encoder import encode_basestring
from typing import Final

from services.common.encoding import canonical_json, iso_micros
from services.common.ports.sessions import EdgeRecord, ReportRecord, WindowRecord

_quoted: Final[Callable[[str], str]] = encode_basestring
"""RFC 8785 §3.2.2.2 escapes what JSON must and no more, in lower case, as the standard library does."""


def window_text(window: WindowRecord, edges: Sequence[EdgeRecord]) -> str:
    """Return the canonical text of ``window_data(window, edges)``.

    Raises:
        ValueError, TypeError, AttributeError: a field is of another type than the record's.
    """
    q = _quoted
    flows = ",".join(map(_edge_text, sorted(edges, key=_source) if len(edges) > 1 else edges))
    parents = ",".join(map(q, window.parent_ids))
    facts = ",".join(map(q, window.facts_included))
    deferred = ",".join([f"[{q(fact.fact_id)},{fact.token_count}]" for fact in window.facts_deferred])
    return (
        f'{{"edges":[{flows}],"node":{{"continuation_id":{q(window.continuation_id)}'
        f',"envelope_etag":{q(window.envelope_etag)},"facts_deferred":[{deferred}],"facts_included":[{facts}]'
        f',"failure_reason":{q(window.failure_reason)},"hmac":{q(window.hmac)}'
        f',"model_fingerprint":{q(window.model_fingerprint)},"opened_by_request":{q(window.opened_by_request)}'
        f',"parent_ids":[{parents}],"pattern":{q(window.pattern)},"quality_tier":{q(window.quality_tier)}'
        f',"report_hash":{q(window.report_hash)},"report_id":{q(window.report_id)}'
        f',"response_hash":{q(window.response_hash)},"response_tokens":{window.response_tokens}'
        f',"risk_level":{q(window.risk_level)},"safety_budget":{_number(window.safety_budget)}'
        f',"session_id":{q(window.session_id)},"status":{q(window.status)},"strategy":{q(window.strategy)}'
        f',"timestamp":"{iso_micros(window.timestamp)}","token_count":{window.token_count}'
        f',"window_hmac":{q(window.window_hmac)},"window_id":{q(window.window_id)}'
        f',"window_number":{window.window_number}}}}}'
    )


def report_text(report: ReportRecord, body_sha256: str, inputs_sha256: str) -> str:
    """Return the canonical text of the event data that holds ``report_data(report)``.

    Args:
        report: the stored report.
        body_sha256: of its body, 64 hex digits.
        inputs_sha256: of its analysis inputs; empty when there are none.
    """
    q = _quoted
    inputs = f',"inputs_sha256":"{inputs_sha256}"' if inputs_sha256 else ""
    return (
        f'{{"report":{{"body_sha256":"{body_sha256}","created_at":"{iso_micros(report.created_at)}"{inputs}'
        f',"report_hash":{q(report.report_hash)},"report_id":{q(report.report_id)}}}}}'
    )


def _edge_text(edge: EdgeRecord) -> str:
    q = _quoted
    return (
        f'{{"session_id":{q(edge.session_id)},"source_id":{q(edge.source_id)},"summary_hash":{q(edge.summary_hash)}'
        f',"target_id":{q(edge.target_id)},"transfer_type":{q(edge.transfer_type)}'
        f',"transferred_tokens":{edge.transferred_tokens}}}'
    )


def _source(edge: EdgeRecord) -> str:
    return edge.source_id


def _number(value: float) -> str:
    """Return a budget as RFC 8785 prints it: 1 for 1.0; everything unusual the slow way."""
    if value == 1:
        return "1"
    text = repr(value)
    return text if text.startswith("0.") and "e" not in text and text != "0.0" else canonical_json(value).decode()
