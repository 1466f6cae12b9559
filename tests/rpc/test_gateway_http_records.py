"""``/v1/dispatch`` and what is kept of it over HTTP, before real services over gRPC (ADR 0144)."""

import contextlib
import json
import uuid
from typing import Any, cast

import httpx
import pytest
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1.session_service_pb2_grpc import SessionServiceStub
from crp.dpe.v1 import report_pb2
from crp.envelope.v1.envelope_service_pb2_grpc import EnvelopeServiceStub
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub

from services.common.clock import SystemClock
from services.common.errors import ErrorReason, UnavailableError
from services.common.rpc.client import Peer, PeerChannel
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.record_routes import DISPATCH, RecordRoutes
from tests.fakes.chat_door import events_of
from tests.fakes.dag_world import SubjectAuthenticator
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.gateway_world import ANSWER, ETAG, FAULT, QUESTION, Fault, GatewayWorld, Script, contradicting
from tests.fakes.open_gate import open_gate
from tests.patience import patient

ASKED = {"query": QUESTION}


@contextlib.asynccontextmanager
async def served(world=None):
    world = world or GatewayWorld()
    settings = HttpSettings(port=0)
    async with world.serving() as client:
        channel = PeerChannel(client.channel, Peer("here", "here"), patient(20.0))
        gate = open_gate(SubjectAuthenticator())
        stubs = DispatchServiceStub(channel), SessionServiceStub(channel), EnvelopeServiceStub(channel)
        routes = RecordRoutes(*stubs, gate, settings, SystemClock())
        app = create_app(cast("Any", ErcpStub()), gate, settings, SystemClock(), "0.1.0", [routes])
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        headers = {"Authorization": "alice"}
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway", headers=headers) as http:
            yield http


async def test_a_dispatch_and_everything_that_is_kept_of_it():
    async with served() as http:
        response = await http.post(DISPATCH, json=ASKED)
        assert response.status_code == 200, response.text
        answer = response.json()["answer"]
        session = answer["session_id"]
        report = await http.get(response.headers["CRP-Provenance-Report-URI"])
        brief = await http.get(f"/v1/reports/{answer['report']['report_id']}", params={"view": "none"})
        dag = await http.get(f"/v1/sessions/{session}/dag", params={"format": "mermaid"})
        audit = await http.get(response.headers["CRP-Compliance-Audit-Trail-URI"], params={"page_size": 2})
    assert answer["text"] == ANSWER
    assert response.headers["CRP-Context-Session-Id"] == session
    assert report.json()["report"]["report_id"] == answer["report"]["report_id"]
    assert brief.json()["canonical_json"] == ""
    assert [window["window_id"] for window in dag.json()["windows"]] == [answer["window"]["window_id"]]
    assert dag.json()["rendered"]
    assert "claims_by_type" in answer["report"]
    assert isinstance(answer["report"]["attribution_breakdown"], dict)
    assert len(audit.json()["events"]) == 2
    assert audit.json()["next_page_token"]


async def test_headers_are_read_and_outcomes_have_their_status():
    async with served(GatewayWorld(Script(risk="HIGH"))) as http:
        halted = await http.post(DISPATCH, json=ASKED, headers={"CRP-Safety-Policy": "halt-on HIGH"})
        twice = await http.post(
            DISPATCH, json=ASKED | {"safety_policy": "halt-on LOW"}, headers={"CRP-Safety-Policy": "halt-on HIGH"}
        )
    async with served(GatewayWorld(Script(not_modified=True))) as http:
        same = await http.post(DISPATCH, json=ASKED | {"if_match": ETAG})
    assert (halted.status_code, halted.json()["halted"]["halt_reason"]) == (451, "halt-on HIGH")
    assert halted.headers["CRP-Safety-Retry-After"] == "oversight-required"
    assert (twice.status_code, twice.json()["error"]["fields"][0]["field"]) == (400, "safety_policy")
    assert (same.status_code, same.content, same.headers["CRP-Context-ETag"]) == (304, b"", ETAG)


@pytest.mark.parametrize(
    ("asked", "field", "told"),
    [
        ("page_size=abc", "page_size", "must be a whole number from 0 to 4294967295"),
        ("page_size=1&page_size=2", "page_size", "must be given once"),
        ("pages=1", "pages", "is no parameter here; known are session_id, "),
    ],
)
async def test_a_wrong_parameter_is_told_what_is_right(asked, field, told):
    async with served(GatewayWorld()) as http:
        response = await http.get(f"/v1/sessions/crp_sess_0000000000000000/audit?{asked}")
    (fault,) = {one["field"]: one for one in response.json()["error"]["fields"]}.values()
    assert (response.status_code, fault["field"]) == (400, field)
    assert fault["description"].startswith(told)


async def test_a_request_id_of_the_body_counts_like_that_of_a_call_over_grpc():
    world, named = GatewayWorld(), str(uuid.uuid4())
    async with served(world) as http:
        first, again = [await http.post(DISPATCH, json=ASKED | {"request_id": named}) for _ in range(2)]
        other = await http.post(DISPATCH, json={"query": "Another?", "request_id": named})
        both = await http.post(DISPATCH, json=ASKED | {"request_id": named}, headers={"Idempotency-Key": named.upper()})
        odd = await http.post(DISPATCH, json=ASKED | {"request_id": "abc"})
        differs = await http.post(
            DISPATCH, json=ASKED | {"request_id": named}, headers={"Idempotency-Key": str(uuid.uuid4())}
        )
    reports = {each.json()["answer"]["report"]["report_id"] for each in (first, again, both)}
    assert len(reports) == 1
    assert world.statuses() == ["COMMITTED"]
    assert (other.status_code, other.json()["error"]["reason"]) == (424, "REQUEST_ID_REUSED")
    for refused in (odd, differs):
        assert (refused.status_code, refused.json()["error"]["reason"]) == (400, "INVALID_FIELD")
        assert [each["field"] for each in refused.json()["error"]["fields"]] == ["request_id"]
    assert "Idempotency-Key" in differs.text


async def test_facts_that_do_not_hold_are_asked_for_in_the_body():
    world = GatewayWorld()
    async with served(world) as http:
        for more in ({"include_superseded": True, "retrieval_mode": "text"}, {}):
            response = await http.post(DISPATCH, json=ASKED | more)
            assert response.status_code == 200, response.text
        document = (await http.get("/openapi.json")).json()
    asked = world.script.asked["BuildEnvelope"]
    assert [(one.include_superseded, one.retrieval_mode) for one in asked] == [(True, 2), (False, 0)]
    fields = document["components"]["schemas"]["DispatchRequest"]["properties"]
    assert {"include_superseded", "retrieval_mode"} <= fields.keys()


async def test_a_streamed_dispatch_in_events_of_the_contract():
    long = f"{ANSWER} Call the police first."
    stage = report_pb2.StageOutcome(number=1, status=taxonomy_pb2.STAGE_STATUS_COMPLETED)
    world = GatewayWorld(Script(report={"stages": [stage]}), replies=(long,))
    async with served(world) as http:
        response = await http.post(DISPATCH, json=ASKED | {"stream": True})
        refused = await http.post(DISPATCH, json=ASKED | {"stream": True, "model": "unknown-1"})
        wrong = await http.post(DISPATCH, json=ASKED | {"stream": "yes"})
    events = events_of(response.text)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert response.headers["CRP-Stream-Safety-Mode"] == "hold-back"
    assert "".join(data["token"] for name, data in events if name == "token") == long
    assert [name for name, _ in events[-3:]] == ["stage", "outcome", "crp-headers"]
    assert events[-2][1]["answer"]["text"] == long
    assert events[-1][1]["headers"]["CRP-Set-Session"]
    assert (refused.status_code, refused.json()["error"]["reason"]) == (400, "UNKNOWN_MODEL")
    assert (wrong.status_code, wrong.json()["error"]["fields"][0]["field"]) == (400, "stream")


async def test_a_fault_of_a_streamed_dispatch_stands_in_its_outcome_or_its_error():
    world = GatewayWorld(Script(report_of=contradicting), replies=(f"{ANSWER} {FAULT}",))
    async with served(world) as http:
        halted = events_of((await http.post(DISPATCH, json=ASKED | {"stream": True})).text)
    lost = Fault(UnavailableError(ErrorReason.STORE_UNAVAILABLE, "gone"), times=9)
    async with served(GatewayWorld(Script(faults={"CommitWindow": lost}), replies=(f"{ANSWER} Pay soon.",))) as http:
        failed = await http.post(DISPATCH, json=ASKED | {"stream": True})
    assert [data["token"] for name, data in halted if name == "token"] == [f"{ANSWER} "]
    assert halted[-2][1]["halted"]["halt_reason"] == "CRITICAL_HALLUCINATION_RISK"
    assert (failed.status_code, failed.json()["error"]["reason"]) == (503, "STORE_UNAVAILABLE")


async def test_a_preview_opens_no_window():
    world = GatewayWorld()
    asked = {"query": QUESTION, "model": "gpt-4o", "grounding_mode": "context_strict", "include_superseded": "true"}
    async with served(world) as http:
        found = await http.get("/v1/envelope/preview", params=asked)
        wrong = [
            await http.get("/v1/envelope/preview", params=asked | more)
            for more in ({"include_superseded": "yes"}, {"max_envelope_tokens": "-1"}, {"nothing": "1"})
        ]
    assert found.json()["preview"]["facts_included"] == 2
    (request,) = world.script.asked["PreviewEnvelope"]
    assert (request.query, request.model, request.grounding_mode) == (QUESTION, "gpt-4o", 1)
    assert request.include_superseded
    assert [one.json()["error"]["fields"][0]["field"] for one in wrong] == [
        "include_superseded",
        "max_envelope_tokens",
        "nothing",
    ]
    assert world.windows() == []


async def test_a_repeat_under_its_key_is_the_same_answer():
    name = {"Idempotency-Key": str(uuid.uuid4())}
    async with served() as http:
        first, again = [await http.post(DISPATCH, json=ASKED, headers=name) for _ in range(2)]
    assert first.json()["answer"]["window"] == again.json()["answer"]["window"]


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("/v1/reports/none", 404, "REPORT_NOT_FOUND"),
        ("/v1/sessions/crp_sess_0000000000000000/dag", 404, "SESSION_NOT_FOUND"),
        ("/v1/sessions/crp_sess_0000000000000000/dag?format=oil", 400, "INVALID_FIELD"),
        ("/v1/sessions/crp_sess_0000000000000000/audit?page_size=-1", 400, "INVALID_FIELD"),
        ("/v1/sessions/crp_sess_0000000000000000/audit?colour=red", 400, "INVALID_FIELD"),
        ("/v1/reports/none?report_id=other", 400, "INVALID_FIELD"),
    ],
)
async def test_what_is_not_there_or_cannot_be_read_is_said(path, status, reason):
    async with served() as http:
        response = await http.get(path)
    assert (response.status_code, response.json()["error"]["reason"]) == (status, reason)


async def test_another_tenants_session_is_not_there():
    async with served() as http:
        session = (await http.post(DISPATCH, json=ASKED)).json()["answer"]["session_id"]
        response = await http.get(f"/v1/sessions/{session}/audit", headers={"Authorization": "mallory"})
    assert (response.status_code, response.json()["error"]["reason"]) == (404, "SESSION_NOT_FOUND")


async def test_the_document_names_them_with_their_parameters():
    async with served() as http:
        document = (await http.get("/openapi.json")).json()
    paths = document["paths"]
    assert paths[DISPATCH]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    assert "earlier_questions" in document["components"]["schemas"]["DispatchRequest"]["properties"]
    (place, *more) = paths["/v1/sessions/{session_id}/dag"]["get"]["parameters"]
    assert (place["name"], place["in"], place["required"]) == ("session_id", "path", True)
    assert "mermaid" in more[0]["schema"]["enum"]


async def test_the_whole_trail_as_lines_for_a_siem():
    async with served() as http:
        session = (await http.post(DISPATCH, json=ASKED)).json()["answer"]["session_id"]
        path = f"/v1/sessions/{session}/audit"
        lines = await http.get(path, params={"format": "ocsf"})
        paged = await http.get(path, params={"page_size": 1000})
        refused = [
            await http.get(path, params={"format": "ocsf"} | more, headers=headers)
            for more, headers in (
                ({"with_content": "true"}, {}),
                ({"page_size": "2"}, {}),
                ({"format": "xml"}, {}),
                ({}, {"Authorization": "mallory"}),
            )
        ]
    found = [json.loads(line) for line in lines.text.splitlines()]
    assert (lines.status_code, lines.headers["content-type"]) == (200, "application/x-ndjson")
    assert lines.headers["content-disposition"] == f'attachment; filename="{session}.ocsf"'
    assert {one["class_uid"] for one in found} == {6003}
    assert len(found) == len(paged.json()["events"])
    assert [one.status_code for one in refused] == [400, 400, 400, 404]
    assert refused[3].json()["error"]["reason"] == "SESSION_NOT_FOUND"
