"""``/v1/reviews`` over HTTP, before real services over gRPC (ADR 0148)."""

import contextlib
import uuid
from typing import Any, cast

import httpx
import pytest
from crp.dag.v1.session_service_pb2_grpc import SessionServiceStub
from crp.envelope.v1.envelope_service_pb2_grpc import EnvelopeServiceStub
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub
from crp.gateway.v1.review_service_pb2_grpc import ReviewServiceStub

from services.common.clock import SystemClock
from services.common.rpc.client import Peer, PeerChannel
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.record_routes import DISPATCH, RecordRoutes
from services.gateway.doors.http.review_routes import REVIEWS, ReviewRoutes
from tests.fakes.dag_world import SubjectAuthenticator
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.gateway_world import ANSWER, QUESTION, GatewayWorld
from tests.fakes.open_gate import open_gate
from tests.patience import patient

ASKED = {"query": QUESTION, "safety_policy": "oversight human-review"}
WRITER = {"Authorization": "writer"}
SEEN = {"comment": "read it", "expected_version": 1}


@contextlib.asynccontextmanager
async def served():
    settings = HttpSettings(port=0)
    async with GatewayWorld().serving() as client:
        channel = PeerChannel(client.channel, Peer("here", "here"), patient(20.0))
        gate = open_gate(SubjectAuthenticator())
        stubs = DispatchServiceStub(channel), SessionServiceStub(channel), EnvelopeServiceStub(channel)
        records = RecordRoutes(*stubs, gate, settings, SystemClock())
        reviews = ReviewRoutes(ReviewServiceStub(channel), gate, settings, SystemClock())
        app = create_app(cast("Any", ErcpStub()), gate, settings, SystemClock(), "0.1.0", [records, reviews])
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        headers = {"Authorization": "reviewer"}
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway", headers=headers) as http:
            yield http


async def held(http):
    response = await http.post(DISPATCH, json=ASKED, headers=WRITER)
    assert response.status_code == 202, response.text
    return response


async def test_held_polled_approved_and_had():
    async with served() as http:
        first = await held(http)
        where = first.headers["Location"]
        waiting = await http.get(where, headers=WRITER)
        shown = await http.get(where)
        listed = await http.get(REVIEWS, params={"status": "pending"})
        decided = await http.post(f"{where}/approve", json=SEEN)
        had = await http.get(where, headers=WRITER, params={"wait_ms": 1000})
    assert first.headers["CRP-Safety-Retry-After"] == "oversight-required"
    assert ANSWER not in first.text
    assert ANSWER not in waiting.text
    assert (waiting.status_code, waiting.headers["Location"]) == (202, where)
    assert (shown.status_code, shown.json()["answer_text"]) == (200, ANSWER)
    assert [each["review_id"] for each in listed.json()["reviews"]] == [where.rsplit("/", 1)[1]]
    assert decided.json()["review"]["decided_by"] == "reviewer"
    assert (had.status_code, had.json()["response"]["answer"]["text"]) == (200, ANSWER)
    assert had.headers["CRP-Set-Session"]


async def test_a_rejected_answer_is_451_for_its_caller_by_either_path():
    async with served() as http:
        where = (await held(http)).headers["Location"]
        key = str(uuid.uuid4())
        body = {"review_id": where.rsplit("/", 1)[1], "decision": "rejected", **SEEN}
        decided = await http.post("/v1/reviews:decide", json=body, headers={"Idempotency-Key": key})
        again = await http.post("/v1/reviews:decide", json=body, headers={"Idempotency-Key": key})
        late = await http.post(f"{where}/reject", json=SEEN)
        had = await http.get(where, headers=WRITER)
    assert decided.json() == again.json()
    assert (late.status_code, late.json()["error"]["reason"]) == (409, "ETAG_STALE")
    assert had.status_code == 451
    assert had.headers["CRP-Safety-Retry-After"] == "oversight-required"
    assert had.json()["response"]["halted"]["halt_reason"] == "REVIEW_REJECTED"


@pytest.mark.parametrize(
    ("subject", "status", "reason"), [("writer", 403, "ROLE_MISSING"), ("mallory", 404, "REVIEW_NOT_FOUND")]
)
async def test_who_may_not_decide_is_told_why(subject, status, reason):
    async with served() as http:
        where = (await held(http)).headers["Location"]
        response = await http.post(f"{where}/approve", json=SEEN, headers={"Authorization": subject})
    assert (response.status_code, response.json()["error"]["reason"]) == (status, reason)


async def test_a_parameter_or_field_that_there_is_not_is_named():
    async with served() as http:
        listed = await http.get(REVIEWS, params={"state": "pending"})
        where = (await held(http)).headers["Location"]
        decided = await http.post(f"{where}/approve", json={"comment": ""})
    assert listed.json()["error"]["fields"][0]["field"] == "state"
    assert {each["field"] for each in decided.json()["error"]["fields"]} == {"comment", "expected_version"}
