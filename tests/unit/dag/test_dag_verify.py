"""Full-chain verification: whatever stored field is changed, dropped, swapped or added, it is found and named."""

import copy
import json
from dataclasses import fields, replace
from datetime import datetime, timedelta
from enum import Enum

import pytest

from services.common.encoding import canonical_json
from services.common.ports.sessions import (
    AuditEventRecord,
    DeferredFact,
    EdgeRecord,
    ReportRecord,
    SessionRecord,
    SessionSnapshot,
    WindowRecord,
)
from services.common.settings.dag import DagSettings
from services.common.taxonomy import ChainIntegrity
from services.dag.domain.chain import Macs
from services.dag.domain.events import PendingEvent, chain_events, report_data, window_data
from services.dag.domain.keys import session_hmac_key
from services.dag.domain.verification import StoredChain
from services.dag.domain.verify import verify_chain
from tests.fakes.dag_world import World, fresh_uuid


async def build():
    """Three committed windows, one failed and one pending, and an event that a caller appended."""
    from crp.dag.v1 import dag_pb2
    from crp.dag.v1 import session_service_pb2 as pb

    world = World(settings=DagSettings(max_windows=9))
    async with world.serving() as client:
        first = await client.window(tier="A", text="First answer.\n\nIts end.")
        second = await client.window(first.session_token, tier="B", risk="MEDIUM", text="Second answer.")
        given_up = await client.open(second.session_token)
        await client.call(
            "FailWindow",
            pb.FailWindowRequest(
                request_id=fresh_uuid(),
                session_id=first.session.session_id,
                window_id=given_up.window.window_id,
                reason="r",
            ),
        )
        third = await client.window(second.session_token, tier="B", text="Third answer.")
        await client.call(
            "AppendEvent",
            pb.AppendEventRequest(
                request_id=fresh_uuid(),
                session_id=first.session.session_id,
                data='{"tool":"search"}',
                event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
            ),
        )
        await client.open(third.session_token)
    stored = await world.app.chains.load("tenant-a", first.session.session_id)
    return stored, session_hmac_key(world.keys._current, first.session.session_id)


@pytest.fixture(scope="module")
def chain():
    import asyncio

    return asyncio.run(build())


def verify(chain, snapshot=None, events=None, reports=None, max_windows=1000):
    stored, key = chain
    events = stored.events if events is None else tuple(events)
    base = stored.snapshot if snapshot is None else snapshot
    changed = StoredChain(base, events, stored.reports if reports is None else tuple(reports), stored.leaves)
    return verify_chain(changed, key, max_windows)


def with_windows(chain, windows):
    stored = chain[0].snapshot
    ordered = sorted(windows, key=lambda w: (w.window_number, w.window_id))
    return SessionSnapshot(stored.session, tuple(ordered), stored.edges, stored.last_event)


def test_the_chain_is_valid(chain):
    found = verify(chain)
    assert (found.integrity, found.fault) == (ChainIntegrity.VALID, None)
    assert (found.windows_verified, found.windows_total) == (3, 3)
    assert found.events_verified == found.events_total == len(chain[0].events) == 18
    third = next(w for w in chain[0].snapshot.windows if w.window_number == 3 and w.hmac)
    assert found.tips == (third.hmac,)


def other(value):
    """A value of the same type that differs."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, Enum):
        return next(member for member in type(value) if member is not value)
    if isinstance(value, datetime):
        return value + timedelta(microseconds=1)
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return ("0" if value[-1] != "0" else "1").join([value[:-1], ""]) if value else "x"
    if isinstance(value, tuple):
        return (*value, DeferredFact("f-x", 1)) if value and isinstance(value[0], DeferredFact) else (*value, "x")
    raise AssertionError(f"no mutation for {type(value)}")


ENDS_THE_TRAIL = {"session_id", "version", "trail_mac"}
"""Session fields that are checked with the trail's end, before the session's own."""


def names(record_type, leave_out=()):
    kept = [field.name for field in fields(record_type) if field.compare]  # stores do not keep what is not compared
    return [name for name in kept if name not in leave_out]


@pytest.mark.parametrize("name", names(SessionRecord))
def test_every_session_field_is_covered(chain, name):
    stored = chain[0].snapshot
    session = replace(stored.session, **{name: other(getattr(stored.session, name))})
    found = verify(chain, SessionSnapshot(session, stored.windows, stored.edges, stored.last_event))
    assert found.integrity is ChainIntegrity.BROKEN
    kind = "event" if name in ENDS_THE_TRAIL else "session"
    assert found.fault.record_kind == kind


@pytest.mark.parametrize("position", range(5))
@pytest.mark.parametrize("name", names(WindowRecord))
def test_every_window_field_is_covered(chain, name, position):
    windows = list(chain[0].snapshot.windows)
    changed = replace(windows[position], **{name: other(getattr(windows[position], name))})
    found = verify(chain, with_windows(chain, [*windows[:position], changed, *windows[position + 1 :]]))
    assert found.integrity is ChainIntegrity.BROKEN
    assert (found.fault.record_kind, found.fault.record_id) == ("window", windows[position].window_id)


@pytest.mark.parametrize("name", names(EdgeRecord))
def test_every_edge_field_is_covered(chain, name):
    stored = chain[0].snapshot
    for position, edge in enumerate(stored.edges):
        changed = replace(edge, **{name: other(getattr(edge, name))})
        edges = (*stored.edges[:position], changed, *stored.edges[position + 1 :])
        found = verify(chain, SessionSnapshot(stored.session, stored.windows, edges, stored.last_event))
        assert found.integrity is ChainIntegrity.BROKEN
        assert found.fault.record_kind == "edge"
        moved = {f"{e.source_id} -> {e.target_id}" for e in (edge, changed)}
        assert found.fault.record_id in moved


@pytest.mark.parametrize("name", names(AuditEventRecord))
def test_every_event_field_is_covered(chain, name):
    events = chain[0].events
    for position, event in enumerate(events):
        changed = replace(event, **{name: other(getattr(event, name))})
        found = verify(chain, events=[*events[:position], changed, *events[position + 1 :]])
        assert found.integrity is ChainIntegrity.BROKEN
        assert (found.fault.record_kind, found.fault.record_id) == ("event", str(position))
        assert found.events_verified == position


@pytest.mark.parametrize("name", names(ReportRecord))
def test_every_report_field_is_covered(chain, name):
    reports = chain[0].reports
    for position, report in enumerate(reports):
        changed = replace(report, **{name: other(getattr(report, name))})
        found = verify(chain, reports=[*reports[:position], changed, *reports[position + 1 :]])
        assert found.integrity is ChainIntegrity.BROKEN
        assert (found.fault.record_kind, found.fault.record_id) == ("report", report.report_id)


@pytest.mark.parametrize("what", ["hmac", "chain_integrity", "timings", "claims_total", "risk_level"])
def test_every_part_of_a_reports_body_is_covered(chain, what):
    report = chain[0].reports[0]
    body = json.loads(report.body) | {what: "changed"}
    changed = replace(report, body=canonical_json(body).decode())
    found = verify(chain, reports=[changed, *chain[0].reports[1:]])
    assert (found.fault.record_kind, found.fault.record_id) == ("report", report.report_id)


def test_dropped_windows_are_found(chain):
    windows = chain[0].snapshot.windows
    for dropped in windows:
        found = verify(chain, with_windows(chain, [window for window in windows if window is not dropped]))
        assert (found.fault.record_kind, found.fault.record_id) == ("window", dropped.window_id)
        assert "missing" in found.fault.detail


def test_added_windows_are_found(chain):
    windows = chain[0].snapshot.windows
    added = replace(windows[0], window_id="crp_win_" + "z" * 16)
    found = verify(chain, with_windows(chain, [*windows, added]))
    assert (found.fault.record_id, found.fault.detail) == (added.window_id, "is not in the audit chain")


def test_dropped_and_added_edges_are_found(chain):
    stored = chain[0].snapshot
    for edge in stored.edges:
        rest = tuple(kept for kept in stored.edges if kept is not edge)
        found = verify(chain, SessionSnapshot(stored.session, stored.windows, rest, stored.last_event))
        assert (found.fault.record_kind, found.fault.detail) == ("edge", "is missing")
    orphan = replace(stored.edges[0], target_id="crp_win_" + "z" * 16)
    found = verify(chain, SessionSnapshot(stored.session, stored.windows, (*stored.edges, orphan), stored.last_event))
    assert found.fault.record_kind == "edge"


def test_dropped_truncated_and_swapped_events_are_found(chain):
    events = list(chain[0].events)
    for position in range(len(events)):
        dropped = verify(chain, events=events[:position] + events[position + 1 :])
        assert (dropped.fault.record_kind, dropped.fault.record_id) == ("event", str(position))
        truncated = verify(chain, events=events[:position])
        assert (truncated.fault.record_kind, truncated.fault.record_id) == ("event", str(position))
    for position in range(len(events) - 1):
        swapped = copy.copy(events)
        swapped[position], swapped[position + 1] = (
            replace(events[position + 1], sequence=position),
            replace(events[position], sequence=position + 1),
        )
        found = verify(chain, events=swapped)
        assert (found.fault.record_kind, found.fault.record_id) == ("event", str(position))


def test_dropped_swapped_and_added_reports_are_found(chain):
    reports = list(chain[0].reports)
    assert verify(chain, reports=reports[1:]).fault.detail == "is missing"
    swapped = [
        replace(reports[0], body=reports[1].body, report_hash=reports[1].report_hash),
        replace(reports[1], body=reports[0].body, report_hash=reports[0].report_hash),
        reports[2],
    ]
    assert verify(chain, reports=swapped).fault.record_kind == "report"
    added = replace(reports[0], report_id="another")
    found = verify(chain, reports=[*reports, added])
    assert (found.fault.record_id, found.fault.detail) == ("another", "belongs to no committed window")


def test_swapped_responses_are_found(chain):
    windows = list(chain[0].snapshot.windows)
    one, two = windows[0], windows[1]
    windows[0] = replace(one, response_text=two.response_text, response_hash=two.response_hash)
    windows[1] = replace(two, response_text=one.response_text, response_hash=one.response_hash)
    assert verify(chain, with_windows(chain, windows)).fault.record_id == one.window_id


def test_another_key_fits_nothing(chain):
    stored, key = chain
    found = verify_chain(stored, bytes(reversed(key)), 1000)
    assert (found.fault.record_kind, found.fault.record_id) == ("event", "0")


def test_above_the_limit_the_latest_windows_are_recomputed_and_the_result_is_partial(chain):
    found = verify(chain, max_windows=2)
    assert (found.integrity, found.windows_verified, found.windows_total) == (ChainIntegrity.PARTIAL, 2, 3)
    assert found.partial_reason == "only the latest 2 of 3 windows were recomputed"
    assert verify(chain, max_windows=3).integrity is ChainIntegrity.VALID


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '{"a":1e400}', "[" * 5000])
def test_rubbish_in_a_body_is_a_fault_and_not_a_crash(chain, body):
    report = replace(chain[0].reports[0], body=body)
    found = verify(chain, reports=[report, *chain[0].reports[1:]])
    assert (found.fault.record_kind, found.fault.record_id) == ("report", report.report_id)


def test_a_naive_timestamp_is_a_fault_and_not_a_crash(chain):
    windows = list(chain[0].snapshot.windows)
    windows[0] = replace(windows[0], timestamp=windows[0].timestamp.replace(tzinfo=None))
    assert verify(chain, with_windows(chain, windows)).fault.record_id == windows[0].window_id


class TestSomeoneWithTheKeyRewroteTheTrail:
    """The audit chain is consistent again, but what it says is not true of the content: each hash is recomputed."""

    def rewritten(self, chain, number, node=None, report=None):
        """Change window ``number`` and its report, and chain every event anew with the right key."""
        stored, key = chain
        window = next(w for w in stored.snapshot.windows if w.window_number == number and w.hmac)
        changed = replace(window, **(node or {}))
        reports = [replace(r, **report) if report and r.window_id == window.window_id else r for r in stored.reports]
        edges = [edge for edge in stored.snapshot.edges if edge.target_id == window.window_id]
        drafts = []
        for event in stored.events:
            data = json.loads(event.data)
            if event.window_id == window.window_id and event.event_type == "DISPATCH_COMPLETED":
                data = window_data(changed, edges)
            if event.window_id == window.window_id and event.event_type == "DPE_COMPLETED":
                data = {"report": report_data(next(r for r in reports if r.window_id == window.window_id))}
            drafts.append((event, PendingEvent(event.event_type, event.window_id, data)))
        events = []
        for event, draft in drafts:
            last = events[-1] if events else None
            (renewed,) = chain_events([draft], event.session_id, last, event.timestamp, key)
            events.append(replace(renewed, salt=event.salt))
        windows = [changed if w is window else w for w in stored.snapshot.windows]
        base = with_windows(chain, windows)
        seal = Macs(key).trail(base.session.version, len(events), events[-1].hmac)
        session = replace(base.session, trail_mac=seal)
        snapshot = SessionSnapshot(session, base.windows, base.edges, events[-1])
        return window, verify(chain, snapshot, events, reports)

    def test_rewriting_nothing_is_valid(self, chain):
        _, found = self.rewritten(chain, 2)
        assert found.integrity is ChainIntegrity.VALID

    @pytest.mark.parametrize(
        ("node", "detail"),
        [
            pytest.param({"response_text": "x"}, "has a response that does not match its response_hash", id="text"),
            pytest.param({"hmac": "0" * 64}, "is not the report of its window", id="hmac"),
            pytest.param({"window_hmac": "0" * 64}, "has a window_hmac that does not match its content", id="alone"),
            pytest.param({"report_hash": "0" * 64}, "has a body that does not match its report_hash", id="report"),
        ],
    )
    def test_a_rewritten_window(self, chain, node, detail):
        _, found = self.rewritten(chain, 2, node)
        assert (found.integrity, found.fault.detail) == (ChainIntegrity.BROKEN, detail)

    def test_a_rewritten_hmac_with_its_report(self, chain):
        report = next(r for r in chain[0].reports if json.loads(r.body)["window_number"] == 2)
        body = json.loads(report.body) | {"hmac": "0" * 64}
        window, found = self.rewritten(chain, 2, {"hmac": "0" * 64}, {"body": canonical_json(body).decode()})
        assert (found.fault.record_kind, found.fault.record_id) == ("window", window.window_id)
        assert found.fault.detail == "has an hmac that does not match its content and parents"

    def test_a_rewritten_report(self, chain):
        report = next(r for r in chain[0].reports if json.loads(r.body)["window_number"] == 2)
        body = json.loads(report.body) | {"claims_total": 9}
        _, found = self.rewritten(chain, 2, report={"body": canonical_json(body).decode()})
        assert found.fault.detail == "has a body that does not match its report_hash"

    def test_what_else_is_consistent_still_differs_from_the_log(self, chain):
        stored, _ = chain
        window, found = self.rewritten(chain, 2, {"model_fingerprint": "another@1"})
        assert (found.integrity, found.fault.record_kind) == (ChainIntegrity.BROKEN, "leaf")
        place = next(place for place, leaf in enumerate(stored.leaves) if leaf.record_id == window.window_id)
        assert found.fault.record_id == window.window_id
        assert found.fault.detail == "has a salted hash that is not that of its record"
        assert stored.leaves[place].position == 2

    def test_a_rewritten_number_breaks_an_hmac_or_an_invariant(self, chain):
        window, found = self.rewritten(chain, 2, {"window_number": 7})
        assert found.integrity is ChainIntegrity.BROKEN
        assert found.fault.record_id == window.window_id
