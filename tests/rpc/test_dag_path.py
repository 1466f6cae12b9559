"""A session's life over gRPC: open, commit, continue, verify, end (SPEC-004 §4, §5, §9-§11, §13)."""

import json
import re
from datetime import UTC

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.encoding import base64url_decode, canonical_json, iso_micros, sha256_hex
from services.common.provenance import report_hash
from services.common.settings.dag import DagSettings
from tests.fakes.dag_world import TIERS, World, fresh_uuid
from tests.patience import patient
from tests.unit.dag import independent

A, B, C, D = (TIERS[tier] for tier in "ABCD")


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


async def verify(client, session_id):
    return await client.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id))


async def event_types(client, session_id):
    listed = await client.call("ListAuditEvents", pb.ListAuditEventsRequest(session_id=session_id, page_size=1000))
    return [dag_pb2.AuditEventType.Name(e.event_type).removeprefix("AUDIT_EVENT_TYPE_") for e in listed.events]


async def test_the_first_window(client):
    opened = await client.open()
    assert re.fullmatch(r"crp_sess_[A-Za-z0-9]{32}", opened.session.session_id)
    assert re.fullmatch(r"crp_win_[A-Za-z0-9]{16}", opened.window.window_id)
    assert opened.window.status == dag_pb2.WINDOW_STATUS_PENDING
    assert (opened.window.window_number, list(opened.window.parent_ids)) == (1, [])
    assert opened.chain_integrity == taxonomy.CHAIN_INTEGRITY_UNVERIFIED
    assert (opened.safety_budget, opened.window_position) == (1.0, "1/5")
    assert (list(opened.facts_seen), list(opened.parents), list(opened.prior_windows)) == ([], [], [])
    committed = await client.commit(opened)
    assert committed.chain_integrity == taxonomy.CHAIN_INTEGRITY_UNVERIFIED
    assert committed.lineage == opened.window.window_id
    assert committed.dag_root == f"dag:{opened.window.window_id}"
    assert re.fullmatch(r"crp_cont_[A-Za-z0-9]{32}", committed.continuation_id)
    assert re.fullmatch(r"crp_trail_[A-Za-z0-9]{32}", committed.audit_trail_id)
    assert committed.set_session == (
        f"token={committed.session_token}; Path=/; Max-Age=3600; Signed; SameSite=Strict; Window=1; QualityHistory=A"
    )
    assert await event_types(client, opened.session.session_id) == [
        "SESSION_CREATED",
        "DISPATCH_STARTED",
        "DPE_COMPLETED",
        "DISPATCH_COMPLETED",
    ]


async def test_the_second_window(client):
    first = await client.window(text="The limit is 500 euros.")
    opened = await client.open(first.session_token, continuation_ids=[first.continuation_id])
    assert opened.chain_integrity == taxonomy.CHAIN_INTEGRITY_VALID
    assert (opened.window.window_number, list(opened.window.parent_ids)) == (2, [first.window.window_id])
    assert list(opened.facts_seen) == ["f-1", "f-2"]
    assert list(opened.quality_history) == [A]
    prior = pb.PriorWindow(window_id=first.window.window_id, window_number=1, text="The limit is 500 euros.")
    assert list(opened.prior_windows) == [prior]
    assert list(opened.parents) == [
        pb.ParentContext(
            window_id=first.window.window_id,
            window_number=1,
            response_text="The limit is 500 euros.",
            transfer_type=dag_pb2.TRANSFER_TYPE_FULL_CONTEXT,
            transferred_tokens=52,
            deferred_fact_ids=["f-3"],
            transferred_fact_ids=["f-1", "f-2"],
        )
    ]
    second = await client.commit(opened, "It was raised in 2025.", risk="MEDIUM", tier="B")
    assert second.chain_integrity == taxonomy.CHAIN_INTEGRITY_VALID
    assert second.lineage == f"{first.window.window_id} -> {second.window.window_id}"
    assert second.dag_root == f"dag:{first.window.window_id}"
    assert list(second.quality_history) == [A, B]
    assert second.set_session.endswith("Window=2; QualityHistory=A,B")
    assert (second.safety_budget, second.budget_warning, second.human_review_required) == (0.95, "", False)
    assert second.degradation.level == dag_pb2.DEGRADATION_LEVEL_FIRST_DROP
    verified = await verify(client, second.session.session_id)
    assert verified == pb.VerifyChainResponse(
        integrity=taxonomy.CHAIN_INTEGRITY_VALID,
        windows_verified=2,
        windows_total=2,
        events_verified=8,
        events_total=8,
        tips=[second.window.hmac],
    )


async def test_hmacs_are_those_of_the_specification(world, client):
    """Recomputed from what the API shows and the master key, by the second writing of the formulas."""
    first = await client.window(text="Über 500 €.")
    second = await client.window(first.session_token, text="Zweite Antwort.")
    key = independent.session_key(world.keys._current.secret.hex(), first.session.session_id, "hmac")
    parents = []
    for committed, text in ((first, "Über 500 €."), (second, "Zweite Antwort.")):
        node = committed.window
        fields = {
            "session_id": node.session_id,
            "window_number": node.window_number,
            "timestamp": iso_micros(node.timestamp.ToDatetime(tzinfo=UTC)),
            "response_text": text,
            "report_hash": node.report_hash,
        }
        assert node.hmac == independent.window(key, fields, parents) == node.hmac_chain_tip
        assert node.window_hmac == independent.window(key, fields, [])
        parents = [node.hmac]
    listed = await client.call("ListAuditEvents", pb.ListAuditEventsRequest(session_id=first.session.session_id))
    previous = ""
    for event in listed.events:
        fields = {
            "event_type": dag_pb2.AuditEventType.Name(event.event_type).removeprefix("AUDIT_EVENT_TYPE_"),
            "timestamp": iso_micros(event.timestamp.ToDatetime(tzinfo=UTC)),
            "data": event.data,
            "window_id": event.window_id,
        }
        assert event.hmac == independent.event(key, fields, previous)
        assert event.data.encode() == canonical_json(json.loads(event.data))
        previous = event.hmac


async def test_the_token_carries_the_state(world, client):
    first = await client.window(tier="A")
    second = await client.window(first.session_token, tier="B", risk="HIGH")
    payload = json.loads(base64url_decode(second.session_token.partition(".")[0]))
    assert payload | {"iat": 0, "exp": 0, "nonce": ""} == {
        "v": 3,
        "sid": second.session.session_id,
        "win": 2,
        "qh": ["A", "B"],
        "sb": 0.85,
        "ct": "sha256:" + second.window.hmac,
        "cid": second.continuation_id,
        "dag": "LINEAR",
        "str": "push",
        "pol": "",
        "ckf": "",
        "scope": "crp_gw_test_alice123",
        "ten": payload["ten"],
        "lim": [5, 10, 50, 5],
        "iat": 0,
        "exp": 0,
        "nonce": "",
        "kv": 1,
        "org": [
            [await world.store.store_id(), end.window.window_number, end.window.hmac[:32]] for end in (second, first)
        ],
    }
    assert payload["exp"] - payload["iat"] == 3600


async def test_the_token_alone_continues(client):
    first = await client.window()
    opened = await client.open(first.session_token)
    assert list(opened.window.parent_ids) == [first.window.window_id]


async def test_the_report_is_kept_with_hmac_and_integrity(client):
    opened = await client.open()
    committed = await client.commit(opened)
    found = await client.call("GetReport", pb.GetReportRequest(report_id=committed.report_id))
    assert found.report.hmac == committed.window.hmac
    assert found.report.chain_integrity == taxonomy.CHAIN_INTEGRITY_UNVERIFIED
    assert found.report.claims_total == 2
    body = json.loads(found.canonical_json)
    assert found.canonical_json.encode() == canonical_json(body)
    assert report_hash(body) == committed.window.report_hash == found.summary.report_hash
    assert found.summary.window_id == committed.window.window_id


async def test_the_last_window_ends_the_session():
    world = World(settings=DagSettings(max_windows=2))
    async with world.serving() as client:
        first = await client.window()
        second = await client.window(first.session_token)
        assert second.continuation_id == ""
        assert second.window_position == "2/2"
        assert second.session.status == dag_pb2.SESSION_STATUS_COMPLETED
        assert second.halt_reason == ""
        refusal = await client.fails("OpenWindow", reopen(second.session_token))
        assert (refusal.code.name, refusal.reason) == ("FAILED_PRECONDITION", "SESSION_CLOSED")
        assert refusal.metadata["status"] == "COMPLETED"
        assert (await event_types(client, second.session.session_id))[-1] == "SESSION_TERMINATED"
        verified = await verify(client, second.session.session_id)
        assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID


def reopen(token, **fields):
    values = {"request_id": fresh_uuid(), "session_token": token, "available_budget_tokens": 1000}
    return pb.OpenWindowRequest(**(values | fields))


async def test_a_spent_budget_ends_the_session(client):
    committed = await client.window(risk="CRITICAL")
    assert (committed.safety_budget, committed.budget_warning) == (0.65, "")
    committed = await client.window(committed.session_token, risk="CRITICAL")
    assert (committed.safety_budget, committed.budget_warning, committed.human_review_required) == (
        0.30,
        "caution",
        False,
    )
    committed = await client.window(committed.session_token, risk="CRITICAL")
    assert (committed.safety_budget, committed.budget_warning) == (0.0, "low")
    assert committed.human_review_required
    assert committed.halt_reason == "SAFETY_BUDGET_DEPLETED"
    assert committed.continuation_id == ""
    assert committed.session.status == dag_pb2.SESSION_STATUS_COMPLETED
    assert (await event_types(client, committed.session.session_id))[-2:] == [
        "SAFETY_BUDGET_DEPLETED",
        "SESSION_TERMINATED",
    ]


async def test_spec_012_profile_ends_the_session_at_a_tenth():
    world = World(settings=DagSettings(budget_profile="spec-012"))
    async with world.serving() as client:
        opened = await client.open(safety_budget_ceiling=0.15)
        committed = await client.commit(opened, risk="MEDIUM")
        assert (committed.safety_budget, committed.halt_reason) == (0.10, "SAFETY_BUDGET_DEPLETED")


async def test_a_ceiling_lowers_and_never_raises(client):
    opened = await client.open(safety_budget_ceiling=0.85)
    assert opened.safety_budget == 0.85
    first = await client.commit(opened, risk="MEDIUM")
    second = await client.open(first.session_token, safety_budget_ceiling=0.99)
    assert second.safety_budget == 0.80


async def test_quality_trend(client):
    committed = await client.window(tier="B")
    levels = [committed.degradation.level]
    for tier in "CDD":
        committed = await client.window(committed.session_token, tier=tier)
        levels.append(committed.degradation.level)
    names = [dag_pb2.DegradationLevel.Name(level).removeprefix("DEGRADATION_LEVEL_") for level in levels]
    assert names == ["NONE", "FIRST_DROP", "CRITICAL", "PERSISTENT"]
    reopened = await client.open(committed.session_token)
    assert reopened.degradation.level == dag_pb2.DEGRADATION_LEVEL_PERSISTENT
    assert reopened.degradation.advice


async def test_transfer_is_recorded_on_the_edge(client):
    opened = await client.open()
    first = await client.commit(opened, response_tokens=700)
    second = await client.open(first.session_token, available_budget_tokens=1000)
    assert second.parents[0].transfer_type == dag_pb2.TRANSFER_TYPE_FACTS_ONLY
    assert second.parents[0].response_text == ""
    assert list(second.parents[0].skipped) == [
        "FULL_CONTEXT: 712 tokens are over 60% of 1000",
        "SUMMARY: no summariser is available",
    ]
    found = await client.call("GetDag", pb.GetDagRequest(session_id=first.session.session_id))
    assert list(found.edges) == [
        dag_pb2.WindowEdge(
            source_id=first.window.window_id,
            target_id=second.window.window_id,
            transfer_type=dag_pb2.TRANSFER_TYPE_FACTS_ONLY,
            transferred_tokens=12,
        )
    ]
    assert [list(window.child_ids) for window in found.windows] == [[second.window.window_id], []]


async def test_a_failed_window_gives_its_parent_back(client):
    first = await client.window()
    opened = await client.open(first.session_token)
    failed = await client.call(
        "FailWindow",
        pb.FailWindowRequest(
            request_id=fresh_uuid(),
            session_id=opened.session.session_id,
            window_id=opened.window.window_id,
            reason="LLM_UNAVAILABLE",
        ),
    )
    assert (failed.window.status, failed.window.failure_reason) == (dag_pb2.WINDOW_STATUS_FAILED, "LLM_UNAVAILABLE")
    second = await client.window(first.session_token)
    assert second.window.window_number == 2
    verified = await verify(client, second.session.session_id)
    assert (verified.integrity, verified.windows_total) == (taxonomy.CHAIN_INTEGRITY_VALID, 2)


async def test_an_abandoned_window_does_not_block_for_ever(world, client):
    first = await client.window()
    abandoned = await client.open(first.session_token)
    world.clock.advance(seconds=899)
    assert (await client.fails("OpenWindow", reopen(first.session_token))).reason == "TOKEN_SPENT"
    world.clock.advance(seconds=2)
    second = await client.window(first.session_token)
    assert second.chain_integrity == taxonomy.CHAIN_INTEGRITY_VALID
    found = await client.call(
        "GetWindow",
        pb.GetWindowRequest(session_id=first.session.session_id, window_id=abandoned.window.window_id),
    )
    assert (found.window.status, found.window.failure_reason) == (dag_pb2.WINDOW_STATUS_FAILED, "ABANDONED")


async def test_a_session_can_begin_without_a_window(client):
    created = await client.call(
        "CreateSession", pb.CreateSessionRequest(request_id=fresh_uuid(), safety_budget_ceiling=0.5)
    )
    assert created.session.window_count == 0
    assert created.set_session.endswith("Window=0")
    empty = await verify(client, created.session.session_id)
    assert (empty.integrity, empty.events_verified) == (taxonomy.CHAIN_INTEGRITY_UNVERIFIED, 1)
    opened = await client.open(created.session_token)
    assert opened.session.session_id == created.session.session_id
    assert (opened.window.window_number, opened.safety_budget) == (1, 0.5)
    refusal = await client.fails("OpenWindow", reopen(created.session_token))
    assert refusal.reason == "TOKEN_SPENT"
    committed = await client.commit(opened)
    second = await client.window(committed.session_token)
    assert second.chain_integrity == taxonomy.CHAIN_INTEGRITY_VALID


async def test_an_agents_session_inherits_budget_and_depth(client):
    orchestrator = await client.window(risk="HIGH")
    opened = await client.open(agent_session_parent=orchestrator.session.session_id)
    assert (opened.session.loop_depth, opened.safety_budget) == (1, 0.85)
    assert opened.session.parent_session_id == orchestrator.session.session_id


async def test_a_terminated_session_keeps_its_chain(client):
    first = await client.window()
    opened = await client.open(first.session_token)
    request = pb.TerminateSessionRequest(
        request_id=fresh_uuid(), session_id=first.session.session_id, reason="the user asked for it"
    )
    ended = await client.call("TerminateSession", request)
    assert ended.session.status == dag_pb2.SESSION_STATUS_TERMINATED
    found = await client.call(
        "GetWindow", pb.GetWindowRequest(session_id=first.session.session_id, window_id=opened.window.window_id)
    )
    assert found.window.status == dag_pb2.WINDOW_STATUS_FAILED
    verified = await verify(client, first.session.session_id)
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID
    again = pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=first.session.session_id, reason="again")
    assert (await client.fails("TerminateSession", again)).reason == "SESSION_CLOSED"


async def test_reads(client):
    first = await client.window()
    second = await client.window(first.session_token, text="Second.")
    session_id = first.session.session_id
    ids = {"session_id": session_id, "window_id": second.window.window_id}
    bare = await client.call("GetWindow", pb.GetWindowRequest(**ids), "reader")
    assert not bare.HasField("response_text")
    assert bare.window == second.window
    full = await client.call("GetWindow", pb.GetWindowRequest(**ids, include_response=True), "reader")
    assert full.response_text == "Second."
    assert sha256_hex(full.response_text) == full.window.response_hash
    assert [edge.source_id for edge in full.parent_edges] == [first.window.window_id]
    lineage = await client.call("GetLineage", pb.GetLineageRequest(**ids), "reader")
    assert lineage.lineage == second.lineage
    assert list(lineage.window_ids) == [first.window.window_id, second.window.window_id]
    dag = await client.call("GetDag", pb.GetDagRequest(session_id=session_id), "reader")
    assert [window.window_number for window in dag.windows] == [1, 2]
    assert dag.session.window_count == 2


async def test_event_and_report_pages(client):
    first = await client.window()
    second = await client.window(first.session_token)
    session_id = first.session.session_id
    seen, token = [], ""
    while True:
        page = await client.call(
            "ListAuditEvents", pb.ListAuditEventsRequest(session_id=session_id, page_size=3, page_token=token)
        )
        seen += [event.sequence for event in page.events]
        token = page.next_page_token
        if not token:
            break
    assert seen == list(range(8))
    reports = await client.call("ListReports", pb.ListReportsRequest(session_id=session_id, page_size=1))
    rest = await client.call(
        "ListReports", pb.ListReportsRequest(session_id=session_id, page_size=1, page_token=reports.next_page_token)
    )
    assert {reports.reports[0].report_id, rest.reports[0].report_id} == {first.report_id, second.report_id}
    assert rest.next_page_token == ""
    everything = await client.call("ListReports", pb.ListReportsRequest())
    assert len(everything.reports) == 2


async def test_export_is_the_trail_without_the_key(world, client):
    first = await client.window()
    request = pb.ExportAuditRequest(session_id=first.session.session_id)
    lines = [
        line.line
        async for line in client.stub.ExportAudit(request, metadata=(("authorization", "reader"),), timeout=patient(5))
    ]
    records = [record for record in map(json.loads, lines) if "record" not in record]
    assert [record["event_type"] for record in records] == [
        "AUDIT_EVENT_TYPE_SESSION_CREATED",
        "AUDIT_EVENT_TYPE_DISPATCH_STARTED",
        "AUDIT_EVENT_TYPE_DPE_COMPLETED",
        "AUDIT_EVENT_TYPE_DISPATCH_COMPLETED",
    ]
    assert records[-1]["data"]["node"]["hmac"] == first.window.hmac
    assert not any("\n" in line for line in lines)
    key = independent.session_key(world.keys._current.secret.hex(), first.session.session_id, "hmac").hex()
    assert key not in "".join(lines)


async def test_appended_events_join_the_chain(client):
    first = await client.window()
    appended = await client.call(
        "AppendEvent",
        pb.AppendEventRequest(
            request_id=fresh_uuid(),
            session_id=first.session.session_id,
            event_type=dag_pb2.AUDIT_EVENT_TYPE_PII_DETECTED,
            window_id=first.window.window_id,
            data='{ "b": 2, "a": [1.0] }',
        ),
    )
    assert (appended.event.sequence, appended.event.data) == (4, '{"a":[1],"b":2}')
    verified = await verify(client, first.session.session_id)
    assert (verified.integrity, verified.events_verified) == (taxonomy.CHAIN_INTEGRITY_VALID, 5)


async def test_a_policy_can_be_tightened_on_the_way(client):
    opened = await client.open(policy_hash="a" * 64)
    first = await client.commit(opened)
    second = await client.open(first.session_token, policy_hash="b" * 64, policy_tightened=True)
    assert second.session.policy_hash == "b" * 64
    committed = await client.commit(second)
    third = await client.open(committed.session_token)
    assert third.session.policy_hash == "b" * 64
    verified = await verify(client, first.session.session_id)
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID
