"""``/v1/admin/policy`` over HTTP, before the real service over gRPC (ADR 0152)."""

import contextlib
import uuid
from typing import Any, cast

import httpx
from crp.gateway.v1.admin_service_pb2_grpc import AdminServiceStub

from services.common.clock import SystemClock
from services.common.rpc.client import Peer, PeerChannel
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.policy_routes import POLICY, PolicyRoutes
from tests.fakes.dag_world import SubjectAuthenticator
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.open_gate import open_gate
from tests.patience import patient
from tests.rpc.test_gateway_policy_trial import world_of


@contextlib.asynccontextmanager
async def served(world):
    settings = HttpSettings(port=0)
    async with world.serving() as client:
        channel = PeerChannel(client.channel, Peer("here", "here"), patient(20.0))
        gate = open_gate(SubjectAuthenticator())
        routes = PolicyRoutes(AdminServiceStub(channel), gate, settings, SystemClock())
        app = create_app(cast("Any", ErcpStub()), gate, settings, SystemClock(), "0.1.0", [routes])
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        headers = {"Authorization": "alice"}
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway", headers=headers) as http:
            yield client, http


async def test_a_policy_is_tried_then_set_then_in_force():
    async with served(world_of("HIGH")) as (client, http):
        await client.dispatch()
        tried = await http.post(f"{POLICY}:try", json={"safety_policy": "halt-on HIGH"})
        key = str(uuid.uuid4())
        body = {"policy": {"safety_policy": "halt-on HIGH"}, "expected_version": 0}
        kept = [await http.put(POLICY, json=body, headers={"Idempotency-Key": key}) for _ in range(2)]
        late = await http.put(POLICY, json=body)
        shown = await http.get(POLICY)
        halted = await client.dispatch()
    assert (tried.status_code, tried.json()["halted"], tried.json()["windows"]) == (200, 1, 1)
    assert kept[0].json() == kept[1].json()
    assert shown.json()["policy"] == kept[0].json()["policy"]
    assert (late.status_code, late.json()["error"]["reason"]) == (409, "ETAG_STALE")
    assert halted.halted.halt_reason == "halt-on HIGH"


async def test_what_is_refused_is_named():
    async with served(world_of("HIGH")) as (_, http):
        unknown = await http.post(f"{POLICY}:try", json={"safety_policy": "stop-on HIGH"})
        mistyped = await http.post(f"{POLICY}:try", json={"policy": "halt-on HIGH"})
        writer = await http.get(POLICY, headers={"Authorization": "writer"})
    assert (unknown.status_code, unknown.json()["error"]["reason"]) == (400, "UNKNOWN_DIRECTIVE")
    assert [one["field"] for one in mistyped.json()["error"]["fields"]] == ["policy"]
    assert (writer.status_code, writer.json()["error"]["reason"]) == (403, "ROLE_MISSING")
