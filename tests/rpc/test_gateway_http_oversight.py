"""``/v1/feedback`` and ``/v1/violation-reports`` over HTTP, before the real services over gRPC."""

import contextlib
from dataclasses import replace
from typing import Any, cast

import grpc
import httpx
import pytest
from crp.gateway.v1.feedback_service_pb2_grpc import FeedbackServiceStub
from crp.gateway.v1.violation_report_service_pb2_grpc import ViolationReportServiceStub

from services.common.adapters.memory.feedback import MemoryFeedbackStore
from services.common.clock import SystemClock
from services.common.ports.violation_reports import OutgoingReport, ReportState
from services.common.rpc.client import Peer, PeerChannel
from services.common.rpc.server import RpcServer
from services.common.settings import ServerSettings, Settings, TelemetrySettings
from services.common.settings.http import HttpSettings
from services.common.telemetry import open_telemetry
from services.gateway.doors.grpc.feedback import feedback_service
from services.gateway.doors.grpc.violation_reports import violation_report_service
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.oversight_routes import FEEDBACK, REPORTS, OversightRoutes
from services.gateway.ports import JudgedClaim
from tests.fakes.dag_world import NOW, SubjectAuthenticator, fresh_uuid
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.open_gate import open_gate
from tests.patience import patient
from tests.rpc.test_gateway_reports import Noted

REPORT = "4d9e6f60-3b58-4b6c-9d6f-0a3a9b0f2c11"


class Reports:
    """Stored reports: one claim, found contradicted."""

    async def claim(self, report_id, claim_id):
        return JudgedClaim("crp_sess_" + "A" * 16, "CONTRADICTED")


class Key:
    """Endpoints of which the key alone is asked for."""

    async def key(self):
        return "groundtrail+1+abc"


@pytest.fixture
async def http_of():
    async with contextlib.AsyncExitStack() as stack:

        async def opened(store):
            settings = Settings(server=ServerSettings(port=0), telemetry=TelemetrySettings())
            telemetry = open_telemetry(settings.telemetry, "gateway", "0")
            services = [
                feedback_service(MemoryFeedbackStore(), cast("Any", Reports()), SystemClock()),
                violation_report_service(store, cast("Any", Key()), SystemClock()),
            ]
            server = RpcServer(services, settings, SubjectAuthenticator(), telemetry)
            await server.start()
            stack.callback(telemetry.close)
            stack.push_async_callback(server.drain)
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(server.address))
            peer = PeerChannel(channel, Peer("here", "here"), patient(20.0))
            stubs: tuple[Any, Any] = FeedbackServiceStub(peer), ViolationReportServiceStub(peer)
            gate = open_gate(SubjectAuthenticator())
            routes = OversightRoutes(*stubs, gate, HttpSettings(port=0), SystemClock())
            app = create_app(cast("Any", ErcpStub()), gate, HttpSettings(port=0), SystemClock(), "0.1.0", [routes])
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            headers = {"Authorization": "alice"}
            return await stack.enter_async_context(
                httpx.AsyncClient(transport=transport, base_url="http://gateway", headers=headers)
            )

        yield opened


async def test_feedback_is_given_and_listed(http_of):
    http = await http_of(Noted())
    said = {"report_id": REPORT, "claim_id": "c1", "judgement": "wrong", "expected_verdict": "supported"}
    given = await http.post(FEEDBACK, json=said)
    listed = await http.get(FEEDBACK, params={"report_id": REPORT})
    mistyped = await http.post(FEEDBACK, json=said | {"judgment": "wrong"})
    reader = await http.post(FEEDBACK, json=said, headers={"Authorization": "reader"})
    assert given.status_code == 200, given.text
    assert given.json()["feedback"]["expected_verdict"] == "CLAIM_VERDICT_SUPPORTED"
    assert listed.json()["feedback"] == [given.json()["feedback"]]
    assert [one["field"] for one in mistyped.json()["error"]["fields"]] == ["judgment"]
    assert (reader.status_code, reader.json()["error"]["reason"]) == (403, "ROLE_MISSING")


async def test_dead_reports_are_listed_and_replayed(http_of):
    store = Noted()
    body = OutgoingReport("tenant-a", fresh_uuid(), "https://x.example/", "x.example", b"{}", NOW, NOW)
    dead = [replace(body, report_id=fresh_uuid(), state=ReportState.DEAD) for _ in range(3)]
    await store.file([body, *dead], 10)
    for report in dead:
        await store.settle(report)
    http = await http_of(store)
    page = await http.get(f"{REPORTS}/dead", params={"page_size": 2})
    rest = await http.get(f"{REPORTS}/dead", params={"page_size": 2, "page_token": page.json()["next_page_token"]})
    one = await http.post(f"{REPORTS}:replay", json={"report_ids": [dead[0].report_id]})
    others = await http.post(f"{REPORTS}:replay", json={})
    key = await http.get(f"{REPORTS}/key")
    writer = await http.get(f"{REPORTS}/dead", headers={"Authorization": "writer"})
    assert page.status_code == 200, page.text
    found = [report["report_id"] for report in (*page.json()["reports"], *rest.json()["reports"])]
    assert found == sorted(report.report_id for report in dead)
    assert (one.json()["replayed"], others.json()["replayed"]) == (1, 2)
    assert key.json() == {"key": "groundtrail+1+abc"}
    assert (writer.status_code, writer.json()["error"]["reason"]) == (403, "ROLE_MISSING")
