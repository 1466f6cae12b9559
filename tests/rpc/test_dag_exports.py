"""Exports over gRPC, from sessions that the service itself made: OCSF, the three drawings, and the sink as composed."""

import asyncio
import hashlib
import hmac
import json
from contextlib import asynccontextmanager
from dataclasses import replace

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc

from services.common.rpc.main import running_server
from services.common.settings import ServerSettings, Settings, SettingsError, StoreSettings, TelemetrySettings
from services.dag.compose import build
from tests.fakes.dag_world import Client, World, fresh_uuid
from tests.fakes.event_receiver import Receiver, in_turn
from tests.fakes.event_sinks import sink_settings
from tests.patience import patient
from tests.unit.dag import independent
from tests.unit.dag.exports.test_exports_ocsf import violations

FAN_OUT = taxonomy.DISPATCH_STRATEGY_FAN_OUT
FAN_IN = taxonomy.DISPATCH_STRATEGY_FAN_IN
OCSF = pb.AUDIT_EXPORT_FORMAT_OCSF


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


async def fanned_session(client):
    """A root, two parallel children, one of them risky, and the window that merges them."""
    root = await client.window()
    opened = [await client.open(root.session_token, strategy=FAN_OUT) for _ in range(2)]
    children = [await client.commit(opened[0], risk="HIGH", tier="B"), await client.commit(opened[1])]
    request = pb.OpenWindowRequest(
        request_id=fresh_uuid(),
        session_token=children[0].session_token,
        continuation_ids=[child.continuation_id for child in children],
        strategy=FAN_IN,
        available_budget_tokens=1000,
    )
    merged = await client.call("OpenWindow", request)
    await client.commit(merged)
    return root.session.session_id


async def exported(client, session_id, form, subject="alice"):
    call = client.stub.ExportAudit(
        pb.ExportAuditRequest(session_id=session_id, format=form),
        metadata=(("authorization", subject),),
        timeout=patient(20),
    )
    return [response.line async for response in call]


async def test_the_trail_as_ocsf(world, client):
    session_id = await fanned_session(client)
    events = [json.loads(line) for line in await exported(client, session_id, OCSF)]
    assert [found for event in events for found in violations(event)] == []
    assert [event["metadata"]["sequence"] for event in events] == list(range(len(events)))
    by_type = {event["unmapped"]["crp_event_type"]: event for event in events}
    assert {"SESSION_CREATED", "FAN_OUT_CREATED", "FAN_IN_MERGED", "DISPATCH_COMPLETED"} <= set(by_type)
    assert {event["src_endpoint"]["uid"] for event in events} == {session_id}
    assert {event["metadata"]["tenant_uid"] for event in events} == {"tenant-a"}
    completed = [event for event in events if event["unmapped"]["crp_event_type"] == "DISPATCH_COMPLETED"]
    assert [event["unmapped"]["crp_risk_level"] for event in completed] == ["LOW", "HIGH", "LOW", "LOW"]
    assert [event["severity_id"] for event in completed] == [1, 4, 1, 1]
    assert {event["dst_endpoint"]["uid"] for event in completed} == {"extractive@1"}
    assert by_type["SESSION_CREATED"]["actor"]["session"]["credential_uid"] == "crp_gw_test_alice123"


async def test_the_chain_holds_in_ocsf_alone_and_the_key_is_not_in_it(world, client):
    session_id = await fanned_session(client)
    lines = await exported(client, session_id, OCSF)
    secret = world.keys._current.secret
    key = independent.session_key(secret.hex(), session_id, "hmac")
    previous = ""
    for line in lines:
        held = json.loads(line)["unmapped"]
        material = "".join(
            (held["crp_event_type"], held["crp_timestamp"], held["crp_data_sha256"], held["crp_window_id"], previous)
        )
        previous = hmac.new(key, material.encode(), hashlib.sha256).hexdigest()
        assert previous == held["crp_hmac"]
    everything = "\n".join(lines)
    assert key.hex() not in everything
    assert secret.hex() not in everything


async def test_ocsf_and_ndjson_hold_the_same_events(client):
    session_id = await fanned_session(client)
    ndjson = [json.loads(line) for line in await exported(client, session_id, pb.AUDIT_EXPORT_FORMAT_NDJSON)]
    ocsf = [json.loads(line) for line in await exported(client, session_id, OCSF)]
    own = [line for line in ndjson if "event_id" in line]
    assert [line["event_id"] for line in own] == [line["metadata"]["uid"] for line in ocsf]
    assert [line["data"] for line in own] == [line["unmapped"]["crp_data"] for line in ocsf]


async def test_another_tenants_trail_is_not_exported(client):
    session_id = await fanned_session(client)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await exported(client, session_id, OCSF, "mallory")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_a_broken_chain_is_a_critical_incident_for_a_siem(world, client):
    first = await client.window()
    session_id = first.session.session_id
    events = world.held(session_id).events
    events[1] = replace(events[1], data='{"node":{}}')
    request = pb.OpenWindowRequest(
        request_id=fresh_uuid(), session_token=first.session_token, available_budget_tokens=10
    )
    assert (await client.fails("OpenWindow", request)).reason == "CHAIN_BROKEN"
    last = json.loads((await exported(client, session_id, OCSF))[-1])
    assert (last["unmapped"]["crp_event_type"], last["severity_id"]) == ("SESSION_TERMINATED", 5)


@pytest.mark.parametrize(
    ("form", "begins"),
    [
        (pb.DAG_FORMAT_DOT, "digraph "),
        (pb.DAG_FORMAT_MERMAID, "flowchart TD\n"),
        (pb.DAG_FORMAT_JSON_GRAPH, '{\n  "graph": {'),
    ],
)
async def test_the_dag_drawn(client, form, begins):
    session_id = await fanned_session(client)
    plain = await client.call("GetDag", pb.GetDagRequest(session_id=session_id))
    assert plain.rendered == ""
    drawn = await client.call("GetDag", pb.GetDagRequest(session_id=session_id, format=form))
    assert drawn.rendered.startswith(begins)
    for window in plain.windows:
        assert window.window_id in drawn.rendered
    for word in ("FAN_OUT", "FAN_IN", "Risk=HIGH", "RESULT_ONLY" if "RESULT_ONLY" in str(plain) else "FULL_CONTEXT"):
        assert word in drawn.rendered
    drawn.rendered = ""
    assert drawn == plain


async def test_an_unknown_form_is_refused(client):
    session_id = (await client.window()).session.session_id
    refusal = await client.fails("GetDag", pb.GetDagRequest(session_id=session_id, format=99))
    assert (refusal.reason, refusal.fields) == ("INVALID_FIELD", ("format",))


@asynccontextmanager
async def process(folder, sink):
    settings = Settings(
        server=ServerSettings(port=0, insecure_local=True, drain_grace_s=5),
        store=StoreSettings(data_dir=folder),
        telemetry=TelemetrySettings(http_port=0),
        event_sink=sink,
    )
    async with running_server("dag", build, settings) as server:
        channel = grpc.aio.insecure_channel(server.address)
        yield Client(pb_grpc.SessionServiceStub(channel)), server
        await channel.close()


async def http(server, path):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.telemetry_port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    writer.close()
    return answer.partition("\r\n\r\n")[2]


@pytest.mark.parametrize("form", ["ndjson", "ocsf"])
async def test_the_service_streams_what_it_exports(tmp_path, form):
    receiver = await Receiver(in_turn((500, {}))).listen()
    sink = sink_settings(tmp_path, receiver.url, format=form)
    async with process(tmp_path, sink) as (client, server):
        session_id = await fanned_session(client)
        lines = await exported(client, session_id, OCSF if form == "ocsf" else pb.AUDIT_EXPORT_FORMAT_NDJSON)
        expected = [line for line in map(json.loads, lines) if form == "ocsf" or "event_id" in line]
        await receiver.until(lambda: len(receiver.events) == len(expected))
        assert receiver.events == expected
        assert "groundtrail_event_sink_sent_total" in await http(server, "/metrics")
        details = json.loads(await http(server, "/readyz"))
        assert details["ready"]
        assert details["details"]["event_sink"].startswith("sending")
    await receiver.close()


async def test_an_endpoint_that_is_down_leaves_the_service_ready_and_says_so(tmp_path):
    gone = await Receiver().listen()
    await gone.close()
    async with process(tmp_path, sink_settings(tmp_path, gone.url)) as (client, server):
        await client.window()
        found = ""
        while "unreachable" not in found:
            state = json.loads(await http(server, "/readyz"))
            found = state["details"]["event_sink"]
        assert state["ready"]


async def test_a_secret_that_others_can_read_stops_the_start(tmp_path):
    settings = sink_settings(tmp_path, "http://127.0.0.1:1/x")
    settings.signing_key_file.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        async with process(tmp_path, settings):
            pass
