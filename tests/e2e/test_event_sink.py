"""The dag service as a process that streams: killed between commits, started again, and nothing is missing."""

import json
from collections import defaultdict

import grpc
import pytest
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc

from tests.e2e.processes import environment, start
from tests.fakes.dag_world import Client
from tests.fakes.event_receiver import KEY, Receiver

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture
async def receiver():
    receiver = await Receiver().listen()
    yield receiver
    await receiver.close()


@pytest.fixture
def env(tmp_path, receiver):
    key = tmp_path / "sink.key"
    key.write_text(KEY)
    key.chmod(0o600)
    sink = {
        "URL": receiver.url,
        "ALLOWED_HOSTS": json.dumps(["127.0.0.1"]),
        "PRIVATE_HOSTS": json.dumps(["127.0.0.1"]),
        "SIGNING_KEY_FILE": str(key),
        "POLL_INTERVAL_S": "0.05",
        "LEASE_S": "1",
    }
    named = {f"GROUNDTRAIL_EVENT_SINK__{name}": value for name, value in sink.items()}
    return environment(tmp_path / "data", **named)


async def listed(client, session_id):
    request = pb.ListAuditEventsRequest(session_id=session_id, page_size=1000)
    return [event.event_id for event in (await client.call("ListAuditEvents", request)).events]


async def test_every_acknowledged_step_reaches_the_endpoint_though_the_service_is_killed(tmp_path, receiver, env):
    sessions, tokens = [], {}
    for round_number in range(3):
        server = start(tmp_path, f"dag-{round_number}", "dag", "--insecure-local", env=env)
        async with grpc.aio.insecure_channel(server.address) as channel:
            client = Client(pb_grpc.SessionServiceStub(channel))
            first = await client.window()
            sessions.append(first.session.session_id)
            tokens[sessions[-1]] = first.session_token
            for session_id in sessions:
                answer = await client.window(tokens[session_id])
                tokens[session_id] = answer.session_token
            if round_number < 2:
                server.kill()
                continue
            expected = {session_id: await listed(client, session_id) for session_id in sessions}
            total = sum(map(len, expected.values()))
            await receiver.until(
                lambda n=total: len({event["event_id"] for event in receiver.events}) == n, timeout_s=60
            )
        assert server.stop() == 0
    arrived = defaultdict(list)
    for event in receiver.events:
        if event["event_id"] not in arrived[event["session_id"]]:
            arrived[event["session_id"]].append(event["event_id"])
    assert arrived == expected
    assert all(request.signed_with() for request in receiver.requests)
