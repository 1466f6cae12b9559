"""Violation reports: what is sent of a dispatch, to whom, what becomes of it, what is dead and what is replayed."""

import asyncio
import base64
import contextlib
import json
import random
from typing import Any

import grpc
import pytest
from crp.gateway.v1 import violation_report_service_pb2 as pb
from crp.gateway.v1 import violation_report_service_pb2_grpc as pb_grpc

from services.common.adapters.http.report_endpoints import NOTE_HEADER, HttpReportEndpoints, note_text
from services.common.adapters.memory.violation_reports import MemoryViolationReportStore
from services.common.encoding import sha256_hex
from services.common.ports.credentials import TenantPolicyRecord
from services.common.ports.event_endpoint import Outcome
from services.common.ports.violation_reports import ReportState
from services.common.rpc.server import RpcServer
from services.common.settings import ReportSettings, ServerSettings, Settings, TelemetrySettings
from services.common.signed_note import Note, NoteKey
from services.common.telemetry import open_telemetry
from services.gateway.doors.grpc.violation_reports import violation_report_service
from services.gateway.reports.sending import ReportSender
from tests.fakes.dag_world import NOW, Refusal, SubjectAuthenticator, fresh_uuid
from tests.fakes.event_receiver import Receiver, in_turn
from tests.fakes.gateway_world import ANSWER, QUESTION, GatewayWorld, Script
from tests.patience import patient

POLICY = "halt-on CRITICAL; warn-on HIGH; report-uri {}"
HERE = ("127.0.0.1",)


@pytest.fixture
async def receiver():
    receiver = await Receiver().listen()
    yield receiver
    await receiver.close()


def settings(**fields):
    made: dict[str, Any] = {
        "allowed_hosts": HERE,
        "private_hosts": HERE,
        "retry_first_s": 0.001,
        "poll_interval_s": 0.02,
    }
    return ReportSettings(**(made | fields))


def world_of(**fields):
    scores = {"composite_score": 0.625, "grounding_pct": 0.5, "fabrication_count": 2}
    return GatewayWorld(script=Script(risk="HIGH", report=scores), report_settings=settings(**fields), reports=Noted())


class Noted(MemoryViolationReportStore):
    """Says when an attempt was settled."""

    def __init__(self):
        super().__init__()
        self.settled = asyncio.Condition()

    async def settle(self, report):
        await super().settle(report)
        async with self.settled:
            self.settled.notify_all()


class Sending:
    """A sender over a world's queue, and the administrators' service."""

    def __init__(self, world, tmp_path, resolver=None):
        self.world = world
        given = {"resolver": resolver} if resolver else {}
        self.endpoints = HttpReportEndpoints(world.report_settings, tmp_path / "report.key", world.dag.clock, **given)
        self.sender = ReportSender(
            world.reports, self.endpoints, world.dag.clock, world.report_settings, random.Random(7).random
        )

    async def __aenter__(self):
        self.sender.start()
        return self

    async def __aexit__(self, *_error):
        await self.sender.close()

    async def until(self, state, count=1):
        settled = self.world.reports.settled
        async with asyncio.timeout(patient(20)), settled:
            await settled.wait_for(lambda: len(self.of(state)) >= count)
        return self.of(state)

    def of(self, state):
        return [report for report in self.world.reports._reports.values() if report.state is state]


def codes(response):
    return [warning.code for warning in response.warnings]


async def test_a_violation_is_reported_signed_and_without_a_word_of_the_answer(receiver, tmp_path):
    world, request_id = world_of(), fresh_uuid()
    async with world.serving() as client, Sending(world, tmp_path) as sending:
        asked = {"request_id": request_id, "safety_policy": POLICY.format(receiver.url)}
        response = await client.dispatch(**asked)
        await receiver.until(lambda: receiver.accepted)
        await client.dispatch(**asked)  # a repeat reports nothing twice
        await sending.until(ReportState.SENT)
        key = NoteKey.parse(await sending.endpoints.key())
    assert len(world.reports._reports) == 1
    (request,) = receiver.requests
    body = json.loads(request.body)
    assert response.answer.text == ANSWER
    assert "VIOLATION_REPORT_NOT_SENT" not in codes(response)
    assert ANSWER not in request.body.decode()
    assert QUESTION not in request.body.decode()
    assert body["crp_version"] == "3.0.0"
    assert body["session_id"] == response.answer.session_id
    assert body["window_id"] == response.answer.window.window_id
    assert body["violation_type"] == response.violations[0].violation_type
    assert body["directive_violated"] == "warn-on HIGH"
    assert (body["risk_level"], body["enforcement"]) == ("HIGH", "WARNED")
    assert (body["hallucination_score"], body["grounding_pct"], body["fabrication_count"]) == (0.625, 0.5, 2)
    assert {"timestamp", "audit_trail_uri"} <= set(body)
    note = Note.parse(base64.b64decode(request.headers[NOTE_HEADER.lower()]).decode())
    kind, report_id, moment, digest = note.text.splitlines()
    assert (report_id, digest) == (body["report_id"], sha256_hex(request.body))
    assert note.text == note_text(report_id, int(moment), request.body)
    assert kind == "groundtrail-violation-report/v1"
    assert note.holds(key, key.name)
    assert oct((tmp_path / "report.key").stat().st_mode)[-3:] == "600"


async def test_a_halted_and_a_held_answer_are_reported_too(receiver, tmp_path):
    world = world_of()
    async with world.serving() as client, Sending(world, tmp_path):
        halted = await client.dispatch(safety_policy=f"halt-on HIGH; report-uri {receiver.url}")
        held = await client.dispatch(safety_policy=f"oversight human-review; warn-on HIGH; report-uri {receiver.url}")
        await receiver.until(lambda: len(receiver.accepted) == 2)
    windows = {json.loads(request.body)["window_id"] for request in receiver.accepted}
    assert windows == {halted.halted.window_id, held.held_for_review.window_id}


async def test_what_only_reports_is_reported(receiver, tmp_path):
    world = world_of()
    async with world.serving() as client, Sending(world, tmp_path):
        only = f"halt-on HIGH; report-uri {receiver.url}"
        response = await client.dispatch(safety_policy="warn-on CRITICAL", safety_policy_report_only=only)
        await receiver.until(lambda: receiver.accepted)
    assert response.answer.text == ANSWER
    assert json.loads(receiver.accepted[0].body)["enforcement"] == "REPORTED"


async def test_a_group_is_the_operators(receiver, tmp_path):
    world = world_of(groups={"desk": receiver.url})
    async with world.serving() as client, Sending(world, tmp_path):
        await client.dispatch(safety_policy="warn-on HIGH; report-to desk")
        unknown = await client.dispatch(safety_policy="warn-on HIGH; report-to elsewhere")
        await receiver.until(lambda: receiver.accepted)
    assert "VIOLATION_REPORT_NOT_SENT" in codes(unknown)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize(
    ("url", "private"),
    [
        ("https://elsewhere.example/reports", HERE),
        ("http://127.0.0.1:{port}/events", ()),  # plain http, and no private host
        ("https://user:word@127.0.0.1/reports", HERE),
        ("ftp://127.0.0.1/reports", HERE),
    ],
)
async def test_what_no_list_allows_is_not_queued_and_said(receiver, tmp_path, url, private):
    world = world_of(private_hosts=private)
    async with world.serving() as client, Sending(world, tmp_path):
        uri = url.format(port=receiver.port)
        response = await client.dispatch(safety_policy=f"warn-on HIGH; report-uri {uri}")
    assert codes(response)[-1] == "VIOLATION_REPORT_NOT_SENT"
    assert world.reports._reports == {}
    assert receiver.requests == []


async def test_a_tenants_own_list_is_added(tmp_path):
    world = world_of(allowed_hosts=(), private_hosts=())
    await world.credentials.put_policy(TenantPolicyRecord("tenant-a", "warn-on HIGH", ("sink.example",), "", 1, NOW))
    async with world.serving() as client:
        response = await client.dispatch(safety_report_uri="https://sink.example/reports")
        strange = await client.dispatch(safety_report_uri="https://sink.example.org/reports")
    assert "VIOLATION_REPORT_NOT_SENT" not in codes(response)
    assert "VIOLATION_REPORT_NOT_SENT" in codes(strange)
    assert [report.host for report in world.reports._reports.values()] == ["sink.example"]


async def test_a_host_that_resolves_to_a_private_address_is_dead_and_nothing_is_sent(receiver, tmp_path):
    async def resolver(_host, _port):
        return ["127.0.0.1"]

    world = world_of(allowed_hosts=("sink.example",), private_hosts=())
    url = f"https://sink.example:{receiver.port}/reports"
    async with world.serving() as client, Sending(world, tmp_path, resolver) as sending:
        await client.dispatch(safety_report_uri=url, safety_policy="warn-on HIGH")
        (dead,) = await sending.until(ReportState.DEAD)
    assert "private address" in dead.problem
    assert dead.attempts == 1
    assert receiver.requests == []


@pytest.mark.parametrize(
    ("answer", "attempts", "problem"),
    [((302, {"Location": "https://elsewhere.example/"}), 1, "redirects are not followed"), ((404, {}), 1, "HTTP 404")],
)
async def test_a_redirect_and_a_refusal_are_dead_at_once(receiver, tmp_path, answer, attempts, problem):
    receiver.answer = in_turn(answer, then=answer)
    world = world_of()
    async with world.serving() as client, Sending(world, tmp_path) as sending:
        await client.dispatch(safety_policy=POLICY.format(receiver.url))
        (dead,) = await sending.until(ReportState.DEAD)
    assert (dead.attempts, len(receiver.requests)) == (attempts, attempts)
    assert problem in dead.problem


async def test_a_slow_endpoint_keeps_no_answer_waiting_and_is_given_up(receiver, tmp_path):
    never = asyncio.Event()

    async def answer(_request):
        await never.wait()

    receiver.answer = answer
    world = world_of(timeout_s=0.2, max_attempts=2, retry_first_s=0.000_001)
    async with world.serving() as client, Sending(world, tmp_path) as sending:
        response = await client.dispatch(safety_policy=POLICY.format(receiver.url))
        assert response.answer.text == ANSWER
        (dead,) = await sending.until(ReportState.DEAD)
        assert sending.sender._attempts[Outcome.UNREACHABLE] == 2
    assert (dead.attempts, dead.problem) == (2, "no answer within 0.2 s")


async def test_a_failing_endpoint_is_tried_again_and_may_recover(receiver, tmp_path):
    receiver.answer = in_turn((500, {}), (429, {"Retry-After": "0"}))
    world = world_of(max_attempts=3, retry_first_s=0.000_001, timeout_s=60)
    async with world.serving() as client, Sending(world, tmp_path) as sending:
        await client.dispatch(safety_policy=POLICY.format(receiver.url))
        (sent,) = await sending.until(ReportState.SENT)
    assert (sent.attempts, len(receiver.requests)) == (3, 3)
    receiver.answer = in_turn(then=(502, {}))
    async with world.serving() as client, Sending(world, tmp_path) as sending:
        await client.dispatch(safety_policy=POLICY.format(receiver.url))
        (dead,) = await sending.until(ReportState.DEAD)
    assert (dead.attempts, dead.problem) == (3, "HTTP 502")


async def test_a_slow_host_keeps_no_other_waiting(receiver, tmp_path):
    slow = await Receiver().listen()
    reached, never = asyncio.Event(), asyncio.Event()

    async def wait(_request):
        reached.set()
        await never.wait()

    slow.answer = wait
    world = world_of(allowed_hosts=("127.0.0.1", "localhost"), private_hosts=("127.0.0.1", "localhost"), timeout_s=60)

    async def resolver(_host, _port):
        return ["127.0.0.1"]

    async with contextlib.AsyncExitStack() as opened:
        opened.push_async_callback(slow.close)
        client = await opened.enter_async_context(world.serving())
        sending = await opened.enter_async_context(Sending(world, tmp_path, resolver))
        await client.dispatch(safety_policy=POLICY.format(f"http://localhost:{slow.port}/"))
        await reached.wait()
        await client.dispatch(safety_policy=POLICY.format(receiver.url))
        await sending.until(ReportState.SENT)
        assert len(sending.of(ReportState.QUEUED)) == 1


async def test_the_queue_is_bounded_and_says_so(receiver):
    world = world_of(max_queued=1)
    async with world.serving() as client:
        first = await client.dispatch(safety_policy=POLICY.format(receiver.url))
        second = await client.dispatch(safety_policy=POLICY.format(receiver.url))
    assert "VIOLATION_REPORT_NOT_SENT" not in codes(first)
    assert "VIOLATION_REPORT_NOT_SENT" in codes(second)
    assert second.answer.text == ANSWER


@contextlib.asynccontextmanager
async def administered(world, sending):
    all_settings = Settings(server=ServerSettings(port=0), telemetry=TelemetrySettings())
    service = violation_report_service(world.reports, sending.endpoints, world.dag.clock, sending.sender)
    telemetry = open_telemetry(all_settings.telemetry, "gateway", "0")
    server = RpcServer([service], all_settings, SubjectAuthenticator(), telemetry)
    await server.start()
    async with grpc.aio.insecure_channel(server.address) as channel:
        yield pb_grpc.ViolationReportServiceStub(channel)
    await server.drain()
    telemetry.close()


async def test_administrators_see_the_dead_and_replay_them(receiver, tmp_path):
    receiver.answer = in_turn((410, {}), (410, {}))
    world = world_of()
    async with world.serving() as client, Sending(world, tmp_path) as sending, administered(world, sending) as desk:
        for _ in range(2):
            await client.dispatch(safety_policy=POLICY.format(receiver.url))
        dead = await sending.until(ReportState.DEAD, 2)
        admin, other = (("authorization", "alice"),), (("authorization", "mallory"),)
        page = await desk.ListDeadReports(pb.ListDeadReportsRequest(page_size=1), metadata=admin)
        rest = await desk.ListDeadReports(
            pb.ListDeadReportsRequest(page_size=1, page_token=page.next_page_token), metadata=admin
        )
        strange = await desk.ListDeadReports(pb.ListDeadReportsRequest(), metadata=other)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await desk.ListDeadReports(pb.ListDeadReportsRequest(), metadata=(("authorization", "writer"),))
        nothing = await desk.ReplayReports(pb.ReplayReportsRequest(request_id=fresh_uuid()), metadata=other)
        one = pb.ReplayReportsRequest(request_id=fresh_uuid(), report_ids=[page.reports[0].report_id])
        replayed = await desk.ReplayReports(one, metadata=admin)
        await sending.until(ReportState.SENT, 1)
        again = await desk.ReplayReports(one, metadata=admin)
        key = await desk.GetReportKey(pb.GetReportKeyRequest(), metadata=admin)
        left = sending.of(ReportState.DEAD)
    assert Refusal.of(refused.value).reason == "ROLE_MISSING"
    ids = [report.report_id for report in (*page.reports, *rest.reports)]
    assert ids == sorted(report.report_id for report in dead)
    assert not rest.next_page_token
    assert page.reports[0].problem == "HTTP 410"
    assert json.loads(page.reports[0].body)["report_id"] == page.reports[0].report_id
    assert (list(strange.reports), nothing.replayed, replayed.replayed, again.replayed) == ([], 0, 1, 0)
    assert [report.report_id for report in left] == ids[1:]
    assert NoteKey.parse(key.key).name == "groundtrail/violation-reports"
