"""DispatchBatch over gRPC and HTTP: each item its own window and result, failures by item, the worst case on top."""

import asyncio
import contextlib
import json
from typing import Any, cast

import grpc
import httpx
import pytest
from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1 import dispatch_service_pb2_grpc as pb_grpc

from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.clock import SystemClock
from services.common.rpc.client import Peer, PeerChannel
from services.common.settings import GatewaySettings
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.batch_routes import BATCH, BatchRoutes
from tests.fakes.dag_world import SubjectAuthenticator, fresh_uuid
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.gateway_world import ANSWER, FAULT, QUESTION, GatewayWorld, Hold, Script, contradicting, headers_of
from tests.fakes.open_gate import open_gate
from tests.patience import patient

ALICE = (("authorization", "alice"),)


def asked(count=1, **fields):
    return [pb.DispatchRequest(**({"request_id": fresh_uuid(), "query": QUESTION} | fields)) for _ in range(count)]


def batch(client, items, subject="alice", timeout=patient(30)):
    stub = pb_grpc.DispatchServiceStub(client.channel)
    request = pb.DispatchBatchRequest(dispatches=items)
    return stub.DispatchBatch(request, metadata=(("authorization", subject),), timeout=timeout)


class Parrot(MemoryLanguageModel):
    """Answers by what is asked, fails where it is asked to, and counts how many it answers at once."""

    def __init__(self):
        super().__init__([ANSWER])
        self.running = self.most = 0
        self.begun = asyncio.Event()

    async def complete(self, request):
        self.running += 1
        self.most = max(self.most, self.running)
        self.begun.set()
        try:
            await asyncio.sleep(0.001)
            return await super().complete(request)
        finally:
            self.running -= 1


async def test_a_batch_of_a_hundred_with_three_failures():
    model = Parrot()
    world = GatewayWorld(model=model, settings=GatewaySettings(batch_max_running=6, batch_max_running_per_tenant=6))
    items = asked(100)
    items[7].model = "unknown-1"
    items[50].max_tokens = 0
    items[99].ai_system_id = "nobody"
    async with world.serving() as client:
        call = batch(client, items)
        response = await call
        trailing = dict(await call.trailing_metadata())
        again = await batch(client, items)
    failed = {index: item.failure for index, item in enumerate(response.items) if item.HasField("failure")}
    reasons = {index: failure.reason for index, failure in failed.items()}
    assert reasons == {7: "UNKNOWN_MODEL", 50: "INVALID_FIELD", 99: "AI_SYSTEM_NOT_FOUND"}
    assert [field.field for field in failed[50].fields] == ["max_tokens"]
    assert failed[99].metadata["retryable"] == "false"
    assert failed[99].metadata["x-request-id"] == trailing["x-request-id"]
    answers = [item.response.answer for item in response.items if item.HasField("response")]
    assert {answer.text for answer in answers} == {ANSWER}
    assert len({answer.session_id for answer in answers}) == len(world.windows()) == 97
    assert [item.request_id for item in response.items] == [item.request_id for item in items]
    said = headers_of(response)
    assert (said["CRP-Context-Strategy"], said["CRP-Safety-Hallucination-Risk"]) == ("batch", "LOW")
    assert trailing["crp-context-strategy"] == "batch"
    assert "CRP-Context-Session-Id" not in said
    assert 1 < model.most <= 6
    assert again.items[0].response.answer == response.items[0].response.answer  # a repeat finds what was done
    assert len(world.windows()) == 97


async def test_the_worst_of_the_items_stands_on_top_and_withholds_none_of_the_others():
    world = GatewayWorld(Script(report_of=contradicting), replies=(ANSWER, FAULT, ANSWER))
    async with world.serving() as client:
        first = (await client.dispatch()).answer
        items = asked(2)
        items += asked(1, session_token=first.session_token + "x")
        response = await batch(client, items)
    outcomes = sorted(one.response.WhichOneof("outcome") or one.failure.reason for one in response.items)
    assert outcomes == ["TOKEN_INVALID", "answer", "halted"]
    said = headers_of(response)
    assert said["CRP-Safety-Hallucination-Risk"] == "CRITICAL"
    assert said["CRP-Safety-Retry-After"] == "oversight-required"  # worse than the forged token's 0
    assert "halt-on CRITICAL" in said["CRP-Safety-Policy-Violation"]
    forged = response.items[2].failure
    assert headers_of(forged) == {"CRP-Safety-Retry-After": "0", "CRP-Context-Protocol-Version": "3.0.0"}


async def test_what_is_not_done_in_time_fails_and_the_rest_is_answered():
    hold = Hold("Analyze")
    world = GatewayWorld(Script(hold=hold), settings=GatewaySettings(batch_max_running_per_tenant=2))
    async with world.serving() as client:
        response = await batch(client, asked(3), timeout=patient(1.0))
        hold.release()
    reasons = [item.failure.reason or "answered" for item in response.items]
    assert sorted(reasons) == ["DEADLINE_EXCEEDED", "answered", "answered"]
    late = next(item.failure for item in response.items if item.failure.reason)
    assert late.metadata["next"]
    assert world.statuses() == ["COMMITTED", "COMMITTED", "FAILED"]


async def test_tenants_take_turns_however_long_a_batch_is():
    model = Parrot()
    world = GatewayWorld(model=model, settings=GatewaySettings(batch_max_running=1, batch_max_running_per_tenant=1))
    async with world.serving() as client:
        long = asyncio.ensure_future(batch(client, asked(20)))
        await model.begun.wait()
        short = await batch(client, asked(2), "mallory")
        done_meanwhile = len(model.requests)
        await long
    assert all(item.HasField("response") for item in short.items)
    assert done_meanwhile < 12


async def test_a_batch_that_is_none_is_refused():
    twice = asked(1) * 2
    world = GatewayWorld()
    async with world.serving() as client:
        for items, fields in (
            ([], ["dispatches"]),
            (asked(101), ["dispatches"]),
            (twice, ["dispatches[0].request_id", "dispatches[1].request_id"]),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await batch(client, items)
            assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert all(field in refused.value.details() for field in fields)
    assert not world.windows()


@contextlib.asynccontextmanager
async def over_http(world, kind=BatchRoutes):
    settings = HttpSettings(port=0)
    async with world.serving() as client:
        channel = PeerChannel(client.channel, Peer("here", "here"), patient(20.0))
        gate = open_gate(SubjectAuthenticator())
        routes = kind(pb_grpc.DispatchServiceStub(channel), gate, settings, SystemClock())
        app = create_app(cast("Any", ErcpStub()), gate, settings, SystemClock(), "0.1.0", [routes])
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://gateway", headers={"Authorization": "alice"}
        ) as http:
            yield http


async def test_a_batch_over_http():
    world = GatewayWorld(Script(risk="HIGH"))
    policy, key = {"CRP-Safety-Policy": "halt-on HIGH"}, {"Idempotency-Key": fresh_uuid()}
    body = {"dispatches": [{"query": QUESTION}, {"query": QUESTION, "model": "unknown-1"}]}
    async with over_http(world) as http:
        answered = await http.post(BATCH, json=body, headers=key)
        again = await http.post(BATCH, json=body, headers=key)
        halted = await http.post(BATCH, json=body, headers=policy)
        of_one = await http.post(BATCH, json=body, headers={"CRP-Session-Token": "x.y"})
        twice = await http.post(BATCH, json={"dispatches": [{"query": "x", "safety_policy": "y"}]}, headers=policy)
        unknown = await http.post(BATCH, json={"dispatches": [{"question": "x"}]})
        document = (await http.get("/openapi.json")).json()
    first, second = answered.json()["items"]
    assert answered.status_code == 200, answered.text
    assert first["response"]["answer"]["text"] == ANSWER
    assert second["failure"]["reason"] == "UNKNOWN_MODEL"
    assert answered.headers["CRP-Safety-Hallucination-Risk"] == "HIGH"
    assert again.json()["items"][0]["response"]["answer"]["session_id"] == first["response"]["answer"]["session_id"]
    assert halted.json()["items"][0]["response"]["halted"]["halt_reason"] == "halt-on HIGH"
    assert (halted.status_code, halted.headers["CRP-Safety-Retry-After"]) == (200, "oversight-required")
    assert [of_one.status_code, of_one.json()["error"]["fields"][0]["field"]] == [400, "crp-session-token"]
    assert twice.json()["error"]["fields"][0]["field"] == "dispatches[0].safety_policy"
    assert unknown.json()["error"]["fields"][0]["field"] == "dispatches[0].question"
    assert "BatchedDispatch" in json.dumps(document["paths"][BATCH]) + json.dumps(document["components"]["schemas"])
