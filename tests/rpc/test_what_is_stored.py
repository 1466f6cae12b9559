"""For every RPC what its call would be said to have stored, had its time been up when it was done."""

import pytest
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as dag
from crp.gateway.v1 import admin_service_pb2 as admin
from ercp.v1 import ercp_pb2
from ercp.v1 import ercp_service_pb2 as ercp

from services.common.errors import ErrorReason, UnavailableError
from services.common.progress import Done
from services.common.rpc.pipeline import Pipeline
from tests.fakes.dag_world import World as DagWorld
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.envelope_world import World as EnvelopeWorld
from tests.fakes.ercp_world import BAD, GOOD, ErcpWorld
from tests.fakes.gateway_world import GatewayWorld
from tests.rpc.test_ercp_operators import PROBLEM
from tests.rpc.test_runtime_admin import serving as admin_serving

FACTS = "# Claims\n\nReports of theft reach the office within 7 days.\n\nFiles are kept for 10 years.\n"


@pytest.fixture
def ends(monkeypatch):
    """What each call left behind, by RPC, in the order of their ends."""
    found, end = {}, Pipeline.end

    def noting(pipeline, call):
        found.setdefault(call.method.rpc.rpartition("/")[2], []).append(call.progress.done)
        end(pipeline, call)

    monkeypatch.setattr(Pipeline, "end", noting)
    return found


def stored(ends):
    return {rpc for rpc, done in ends.items() if set(done) == {Done.STORED}}


def nothing(ends):
    return {rpc for rpc, done in ends.items() if set(done) == {Done.NOTHING}}


async def test_sessions(ends):
    async with DagWorld().serving() as client:
        await client.call("CreateSession", dag.CreateSessionRequest(request_id=fresh_uuid()))
        committed = await client.window()
        session_id, token = committed.session.session_id, committed.session_token
        opened = await client.open(token, continuation_ids=[committed.continuation_id])
        failing = dag.FailWindowRequest(
            request_id=fresh_uuid(), session_id=session_id, window_id=opened.window.window_id, reason="given up"
        )
        await client.call("FailWindow", failing)
        event = dag.AppendEventRequest(
            request_id=fresh_uuid(),
            session_id=session_id,
            event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
            data="{}",
        )
        await client.fails("AppendEvent", dag.AppendEventRequest())
        assert ends.pop("AppendEvent") == [Done.NOTHING]
        await client.call("AppendEvent", event)
        for rpc in ("GetDag", "VerifyChain", "ListAuditEvents"):
            await client.call(rpc, getattr(dag, f"{rpc}Request")(session_id=session_id))
        ending = dag.TerminateSessionRequest(request_id=fresh_uuid(), session_id=session_id, reason="r")
        await client.call("TerminateSession", ending)
        erasing = dag.EraseSessionRequest(request_id=fresh_uuid(), session_id=session_id, reason="r")
        await client.call("EraseSession", erasing)
    assert stored(ends) == {
        "CreateSession", "OpenWindow", "CommitWindow", "FailWindow", "AppendEvent", "TerminateSession", "EraseSession"
    }  # fmt: skip
    assert nothing(ends) == {"GetDag", "VerifyChain", "ListAuditEvents"}


async def test_knowledge(ends):
    async with EnvelopeWorld().serving() as client:
        alice = client()
        source = (await alice.ingest(FACTS)).source
        await alice.ingest(FACTS)  # the same bytes again
        entry = {"content": "The fee is 5 euros."}
        await alice.call("IngestFacts", uri="facts", title="t", source_type="SOURCE_TYPE_INTERNAL", facts=[entry])
        fact = (await alice.facts())[0]
        await alice.call("QuarantineFact", fact_id=fact.fact_id)
        await alice.call("RestoreFact", fact_id=fact.fact_id)
        await alice.call("RebuildCommunities")
        await alice.build("How long are files kept?")
        await alice.call("PreviewEnvelope", query="How long are files kept?", model="gpt-4o")
        await alice.call("CountTokens", texts=["a"], model="gpt-4o")
        await alice.call("SearchFacts", query="files")
        await alice.call("GetState")
        await alice.call("EraseSource", source_id=source.source_id)
    assert stored(ends) == {
        "IngestSource", "IngestFacts", "QuarantineFact", "RestoreFact", "RebuildCommunities", "EraseSource"
    }  # fmt: skip
    assert nothing(ends) == {
        "ListFacts", "BuildEnvelope", "PreviewEnvelope", "CountTokens", "SearchFacts", "GetState"
    }  # fmt: skip


async def test_administration(ends):
    async with admin_serving() as call:
        made = await call("CreateApiKey", admin.CreateApiKeyRequest(request_id=fresh_uuid(), label="l", roles=[1]))
        revoking = admin.RevokeApiKeyRequest(request_id=fresh_uuid(), key_id=made.key.key_id)
        await call("RevokeApiKey", revoking)
        await call(
            "SetTenantPolicy", admin.SetTenantPolicyRequest(request_id=fresh_uuid(), policy={"safety_policy": ""})
        )
        await call("GetTenantPolicy", admin.GetTenantPolicyRequest())
        await call("ListApiKeys", admin.ListApiKeysRequest())
    assert stored(ends) == {"CreateApiKey", "RevokeApiKey", "SetTenantPolicy"}
    assert nothing(ends) == {"GetTenantPolicy", "ListApiKeys"}


async def test_dispatch(ends):
    async with GatewayWorld().serving() as client:
        await client.dispatch()
    assert ends["Dispatch"] == [Done.STORED]
    assert ends["BuildEnvelope"] == ends["Analyze"] == [Done.NOTHING]


async def test_a_dispatch_whose_window_is_given_up(ends):
    """It is not known what of it was stored: a window was opened, and failed."""
    world = GatewayWorld(replies=(UnavailableError(ErrorReason.LLM_UNAVAILABLE, "down"),))
    async with world.serving() as client:
        await client.fails()
    assert ends["OpenWindow"] == ends["FailWindow"] == [Done.STORED]
    assert ends["Dispatch"] == [Done.UNKNOWN]


async def test_a_dispatch_that_is_refused_before_its_window_is_opened(ends):
    async with GatewayWorld().serving() as client:
        await client.fails(query="")
    assert ends == {"Dispatch": [Done.NOTHING]}


async def test_the_constraint_loop(ends):
    async with ErcpWorld(replies=(BAD, GOOD)).serving() as client:
        verified = await client.call("Verify", ercp.VerifyRequest(request_id=fresh_uuid(), reasoning_text=GOOD))
        same = ercp.StabilizeRequest(request_id=fresh_uuid(), reasoning_prev=GOOD, reasoning_curr=GOOD)
        await client.call("Stabilize", same)
        error = ercp_pb2.Error(error_id="e1", type=ercp_pb2.ERROR_TYPE_CONTRADICTION, span=[0, 4], confidence=0.9)
        extracting = ercp.ExtractConstraintsRequest(request_id=fresh_uuid(), reasoning_text=GOOD, errors=[error])
        await client.call("ExtractConstraints", extracting)
        await client.call("Generate", ercp.GenerateRequest(request_id=fresh_uuid(), problem=PROBLEM))
        await client.trace(verified.trace_id)
        await client.run()
    assert {"Verify", "Stabilize", "ExtractConstraints", "Generate"} <= stored(ends)
    assert "GetTrace" in nothing(ends)
    assert ends["Run"] == [Done.UNKNOWN]
