"""Sessions that keep ERCP traces: named by tenant and trace, joined again, free of charge, with their own limits."""

import re

import pytest
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.ids import is_trace_session, trace_session_id
from services.common.settings.dag import DagSettings
from tests.fakes.dag_world import World, fresh_uuid

TRACE = "8f14e45f-ceea-4672-8d5e-0a1b2c3d4e5f"


@pytest.fixture
async def client():
    async with World(settings=DagSettings(max_windows=2, max_trace_windows=4)).serving() as client:
        yield client


async def join(client, subject="alice", trace_id=TRACE, **fields):
    request = pb.CreateSessionRequest(request_id=fresh_uuid(), trace_id=trace_id, **fields)
    return await client.call("CreateSession", request, subject)


async def test_the_id_follows_from_tenant_and_trace(client):
    begun = await join(client)
    assert begun.session.session_id == trace_session_id("tenant-a", TRACE)
    assert re.fullmatch(r"crp_sess_[A-Za-z0-9]{28}", begun.session.session_id)
    assert (await join(client, "mallory")).session.session_id != begun.session.session_id
    plain = await client.call("CreateSession", pb.CreateSessionRequest(request_id=fresh_uuid()))
    assert [is_trace_session(each.session.session_id) for each in (begun, plain)] == [True, False]


async def test_joining_gives_a_token_for_the_latest_window(client):
    begun = await join(client)
    await client.window(begun.session_token, text="first")
    joined = await join(client)
    assert joined.session == (await join(client)).session
    assert joined.session.window_count == 1
    second = await client.window(joined.session_token, text="second")
    assert second.window.window_number == 2
    assert second.window.parent_ids
    verdict = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=begun.session.session_id))
    assert (verdict.windows_verified, verdict.events_verified) == (2, verdict.events_total)


async def test_drafts_cost_no_safety_budget(client):
    committed = await client.window((await join(client)).session_token, risk="CRITICAL")
    assert committed.safety_budget == 1.0
    other = await client.window(risk="CRITICAL")
    assert other.safety_budget == 0.65


async def test_limits_of_their_own(client):
    token = (await join(client)).session_token
    for _ in range(4):
        committed = await client.window(token)
        token = committed.session_token
    assert committed.session.status == dag_pb2.SESSION_STATUS_COMPLETED


async def test_another_credential_cannot_join(client):
    await join(client)
    request = pb.CreateSessionRequest(request_id=fresh_uuid(), trace_id=TRACE)
    assert (await client.fails("CreateSession", request, "alice-2")).reason == "TOKEN_SCOPE_MISMATCH"


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"trace_id": "t"}, "trace_id"), ({"agent_session_parent": "crp_sess_" + "a" * 32}, "agent_session_parent")],
)
async def test_refusals(client, fields, field):
    request = pb.CreateSessionRequest(**({"request_id": fresh_uuid(), "trace_id": TRACE} | fields))
    assert field in (await client.fails("CreateSession", request)).fields


async def test_an_operators_event_is_kept(client):
    session_id = (await join(client)).session.session_id
    event = pb.AppendEventRequest(
        request_id=fresh_uuid(),
        session_id=session_id,
        event_type=dag_pb2.AUDIT_EVENT_TYPE_ERCP_OPERATOR,
        data='{"trace_event":{}}',
    )
    kept = (await client.call("AppendEvent", event)).event
    assert kept.event_type == dag_pb2.AUDIT_EVENT_TYPE_ERCP_OPERATOR
