"""What verification compares as text is what RFC 8785 makes of the event data, whatever the records hold."""

import json
from contextlib import suppress
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from services.common.encoding import canonical_json, sha256_hex
from services.common.ports.sessions import DeferredFact, EdgeRecord, ReportRecord, WindowRecord
from services.common.provenance import report_hash
from services.dag.domain.events import report_data, window_data
from services.dag.domain.record_texts import report_text, window_text
from services.dag.domain.stored_report import cut_report_hash

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
AWKWARD = st.one_of(TEXTS, st.sampled_from(["", '"', "\\", "\n\r\t\b\f", "\x00\x1f\x7f", "\u2028é🧾", '","hmac":"']))
COUNTS = st.integers(0, 2**53 - 1)
FIRST, LAST = datetime(1, 1, 1), datetime(9999, 12, 31)  # noqa: DTZ001 - hypothesis takes naive bounds
MOMENTS = st.datetimes(min_value=FIRST, max_value=LAST, timezones=st.just(UTC))
BUDGETS = st.one_of(st.floats(0, 1), st.sampled_from([0, 1, 0.0, 1.0, -0.0, 1e-7, 1e-5, 0.1, 0.85, 5e-324]))
DEFERRED = st.builds(DeferredFact, AWKWARD, COUNTS)
# What a strategy does not name, hypothesis infers from the annotation: a field that is added is generated too.
WINDOWS = st.builds(
    WindowRecord,
    session_id=AWKWARD,
    window_id=AWKWARD,
    window_number=COUNTS,
    parent_ids=st.lists(AWKWARD, max_size=3).map(tuple),
    strategy=AWKWARD,
    timestamp=MOMENTS,
    opened_by_request=AWKWARD,
    continuation_id=AWKWARD,
    envelope_etag=AWKWARD,
    quality_tier=AWKWARD,
    risk_level=AWKWARD,
    safety_budget=BUDGETS,
    hmac=AWKWARD,
    window_hmac=AWKWARD,
    token_count=COUNTS,
    response_hash=AWKWARD,
    response_text=AWKWARD,
    response_tokens=COUNTS,
    report_id=AWKWARD,
    report_hash=AWKWARD,
    model_fingerprint=AWKWARD,
    facts_included=st.lists(AWKWARD, max_size=3).map(tuple),
    facts_deferred=st.lists(DEFERRED, max_size=3).map(tuple),
    failure_reason=AWKWARD,
)
EDGES = st.builds(
    EdgeRecord,
    session_id=AWKWARD,
    source_id=AWKWARD,
    target_id=AWKWARD,
    transferred_tokens=COUNTS,
    summary_hash=AWKWARD,
)


@given(WINDOWS, st.lists(EDGES, max_size=3, unique_by=lambda edge: edge.source_id))
def test_a_windows_text(window, edges):
    assert window_text(window, edges) == canonical_json(window_data(window, edges)).decode()


@given(st.builds(ReportRecord, AWKWARD, AWKWARD, AWKWARD, AWKWARD, MOMENTS, AWKWARD, AWKWARD))
def test_a_reports_text(report):
    inputs = sha256_hex(report.inputs) if report.inputs else ""
    expected = canonical_json({"report": report_data(report)}).decode()
    assert report_text(report, sha256_hex(report.body), inputs) == expected


HEX = st.text("0123456789abcdef", min_size=64, max_size=64)
VALUES = st.recursive(
    st.one_of(st.none(), st.integers(-9, 9), AWKWARD, st.sampled_from(['"hmac":', '"timings":{'])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["hmac", "timings", "a"]), inner)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abcz", max_size=3), VALUES), HEX, HEX, st.one_of(st.none(), VALUES), st.integers(0, 5))
def test_the_cut_hash_is_the_reports_or_none(fields, digest, mac, timings, damage):
    """Whatever else a body holds, the short way gives the hash of the parsed report, or a hash that is nobody's."""
    ids = {"response_content_hash": digest, "session_id": "crp_sess_1", "window_id": "crp_win_1", "window_number": 1}
    report = fields | ids | ({} if timings is None else {"timings": timings})
    hashed = report_hash(report)
    report |= {"chain_integrity": "CHAIN_INTEGRITY_VALID", "hmac": mac, "report_hash": hashed}
    known = {name: report[name] for name in ("session_id", "window_id", "report_hash", "hmac", "response_content_hash")}
    body = canonical_json(report)
    if body.count(b'"timings":') == ("timings" in report):
        assert cut_report_hash(body, known) == hashed
    name = ["hmac", "report_hash", "session_id", "window_id", "response_content_hash", "a"][damage]
    other = json.loads(body) | {name: "0" * 63 + "x"}
    with suppress(ValueError):  # says nothing, like an empty answer
        assert cut_report_hash(canonical_json(other), known) != hashed
