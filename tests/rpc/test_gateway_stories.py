"""The protocol's stories, each told at both doors: over gRPC and over HTTP (SPEC-004, SPEC-005 §18.5 to §20).

A story is written once, over a ``Door``. It checks text, headers, status, audit events and DAG; what both doors told is
compared at its end.
"""

import contextlib
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from crp.dag.v1 import session_service_pb2 as dag
from crp.dag.v1 import session_service_pb2_grpc as dag_grpc
from crp.gateway.v1 import dispatch_service_pb2 as pb
from google.protobuf.json_format import ParseDict

from services.common.errors import ErrorReason, UnavailableError
from services.common.rpc.canonical import message_json
from services.common.settings import GatewaySettings
from services.gateway.doors.http.record_routes import DISPATCH
from tests.fakes.dag_world import Refusal, fresh_uuid
from tests.fakes.gateway_world import ANSWER, ETAG, QUESTION, Fault, GatewayWorld, Script, headers_of
from tests.rpc.test_gateway_http_records import served
from tests.rpc.test_gateway_remedies import BETTER, CLEAN, FIRST, RISKY, flow_steps, gap, plan

WORDS = {"strategies": "DISPATCH_STRATEGY_", "remediation": "REMEDIATION_MODE_", "safety_mode": "SAFETY_MODE_"}
WORDS |= {"fan_in_policy": "FAN_IN_POLICY_", "accept_quality": "QUALITY_TIER_"}
CODES = {304: "OK", 200: "OK", 451: "OK", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED"}
CODES |= {424: "FAILED_PRECONDITION", 503: "UNAVAILABLE"}
OF_THE_CALL = {"crp-context-protocol-version"}
"""Headers that gRPC has in its trailing metadata."""


@dataclass
class Told:
    """What a door answered; ``status`` is HTTP's, ``word`` the outcome's name or the refusal's reason."""

    status: int
    word: str
    body: dict = field(repr=False)
    headers: dict = field(repr=False)

    @property
    def answer(self):
        return self.body["answer"]

    @property
    def text(self):
        return self.answer["text"]

    def same(self):
        """Return what does not hang on ids, hashes and times."""
        return self.status, self.word, self.headers.keys() - OF_THE_CALL, self.body.get("answer", {}).get("text")


@dataclass
class Kept:
    """What is kept of a session: how its windows ended, with number and parents, and the types of its audit events."""

    windows: list
    events: list


@dataclass
class GrpcDoor:
    """Dispatches over gRPC."""

    client: Any
    told: list = field(default_factory=list)

    async def dispatch(self, query=QUESTION, **fields):
        named = {name: _named(name, value) for name, value in fields.items()}
        request = ParseDict({"request_id": fresh_uuid(), "query": query} | named, pb.DispatchRequest())
        given = {one.name: getattr(request, one.name) for one, _ in request.ListFields()}
        try:
            response = await self.client.start(**given)
        except grpc.aio.AioRpcError as error:
            refusal = Refusal.of(error)
            headers = {name: value for name, value in error.trailing_metadata() if name.startswith("crp-")}
            status = next(number for number, code in CODES.items() if code == refusal.code.name)
            self.told.append(Told(status, refusal.reason, {"error": refusal.metadata}, headers))
            return self.told[-1]
        outcome = response.WhichOneof("outcome")
        status = {"answer": 200, "halted": 451, "not_modified": 304}[outcome]
        headers = {name.lower(): value for name, value in headers_of(response).items()}
        self.told.append(Told(status, outcome, message_json(response), headers))
        return self.told[-1]

    async def kept(self, session_id):
        stub = dag_grpc.SessionServiceStub(self.client.channel)
        metadata = (("authorization", "alice"),)
        windows = await stub.GetDag(dag.GetDagRequest(session_id=session_id), metadata=metadata)
        events = await stub.ListAuditEvents(dag.ListAuditEventsRequest(session_id=session_id), metadata=metadata)
        return _kept(message_json(windows), message_json(events))


@dataclass
class HttpDoor:
    """Dispatches over HTTP."""

    http: Any
    told: list = field(default_factory=list)

    async def dispatch(self, query=QUESTION, **fields):
        response = await self.http.post(DISPATCH, json={"query": query} | fields)
        body = response.json() if response.content else {}
        headers = {name: value for name, value in response.headers.items() if name.startswith("crp-")}
        outcome = next((name for name in ("answer", "halted") if body.get(name)), "not_modified")
        word = body["error"]["reason"] if "error" in body else outcome
        self.told.append(Told(response.status_code, word, body, headers))
        return self.told[-1]

    async def kept(self, session_id):
        windows = await self.http.get(f"/v1/sessions/{session_id}/dag")
        events = await self.http.get(f"/v1/sessions/{session_id}/audit")
        return _kept(windows.json(), events.json())


def _named(name, value):
    prefix = WORDS.get(name)
    if prefix is None:
        return value
    return [f"{prefix}{one.upper()}" for one in value] if isinstance(value, list) else f"{prefix}{value.upper()}"


def _kept(windows, events):
    numbers = {one["window_id"]: int(one["window_number"]) for one in windows["windows"]}
    parents = {one: [] for one in numbers}
    for edge in windows.get("edges", ()):
        parents[edge["target_id"]].append(numbers[edge["source_id"]])
    told = [
        (numbers[one["window_id"]], one["status"].removeprefix("WINDOW_STATUS_"), sorted(parents[one["window_id"]]))
        for one in windows["windows"]
    ]
    return Kept(sorted(told), [one["event_type"].removeprefix("AUDIT_EVENT_TYPE_") for one in events["events"]])


async def at_both(make, story):
    """Tell a story at both doors, each over a world of its own, and compare what they told."""
    told = []
    for over_http in (False, True):
        world = make()
        async with contextlib.AsyncExitStack() as stack:
            if over_http:
                door: Any = HttpDoor(await stack.enter_async_context(served(world)))
            else:
                door = GrpcDoor(await stack.enter_async_context(world.serving()))
            await story(door, world)
        told.append([one.same() for one in door.told])
    assert told[0] == told[1]


async def test_a_clean_push():
    async def story(door, world):
        told = await door.dispatch()
        assert (told.status, told.text) == (200, ANSWER)
        assert (told.headers["crp-context-strategy"], told.headers["crp-context-window"]) == ("push", "1/5")
        kept = await door.kept(told.answer["session_id"])
        assert kept.windows == [(1, "COMMITTED", [])]
        assert kept.events[0] == "SESSION_CREATED"
        assert {"DISPATCH_STARTED", "DPE_COMPLETED", "DISPATCH_COMPLETED"} <= set(kept.events)

    await at_both(GatewayWorld, story)


def risky(*analyses, **given):
    return lambda: GatewayWorld(script=Script(analyses=analyses), replies=(FIRST, BETTER), **given)


async def test_high_then_reflexive_then_clean():
    async def story(door, world):
        told = await door.dispatch(safety_policy="warn-on HIGH; upgrade-on-risk reflexive")
        assert (told.status, told.text) == (200, BETTER)
        assert told.headers["crp-context-strategy"] == "reflexive"
        assert told.headers["crp-safety-hallucination-risk"] == "LOW"
        kept = await door.kept(told.answer["session_id"])
        assert kept.windows == [(1, "COMMITTED", [])]
        assert {"RE_DISPATCH", "STRATEGY_UPGRADE"} <= set(kept.events)

    await at_both(risky(RISKY, CLEAN), story)


async def test_critical_is_withheld():
    async def story(door, world):
        told = await door.dispatch()
        assert (told.status, told.word) == (451, "halted")
        assert told.body["halted"]["halt_reason"] == "CRITICAL_HALLUCINATION_RISK"
        assert told.headers["crp-safety-retry-after"] == "oversight-required"
        assert "Secret" not in str(told.body)
        assert "Secret" not in str(told.headers)
        kept = await door.kept(told.headers["crp-context-session-id"])
        assert kept.windows == [(1, "FAILED", [])]
        assert "SAFETY_HALT" in kept.events

    await at_both(lambda: GatewayWorld(Script(risk="CRITICAL"), replies=("Secret text.",)), story)


async def test_a_re_dispatch():
    async def story(door, world):
        told = await door.dispatch(safety_policy="halt-on HIGH; upgrade-on-risk reflexive")
        assert (told.status, told.text) == (200, BETTER)
        assert [one["kept"] for one in told.body["remediations"]] == [True]
        kept = await door.kept(told.answer["session_id"])
        assert kept.events.count("RE_DISPATCH") == 1
        assert len(world.model.requests) == 2

    await at_both(risky(RISKY, CLEAN), story)


async def test_an_auto_continuation():
    async def story(door, world):
        told = await door.dispatch("Fees, and who pays?", remediation="required")
        assert told.text == f"{FIRST}\n\n{BETTER}"
        assert told.headers["crp-context-window"] == "2/5"
        kept = await door.kept(told.answer["session_id"])
        assert kept.windows == [(1, "COMMITTED", []), (2, "COMMITTED", [1])]
        assert "COMPLETENESS_CONTINUATION" in kept.events

    await at_both(risky({"risk": "MEDIUM", "plan": plan(gap("Who pays?"))}, CLEAN), story)


async def test_a_stitch():
    async def story(door, world):
        first = await door.dispatch(remediation="required")
        steps = plan(*flow_steps(first.answer["window"]["window_id"], FIRST))
        world.script.analyses = (CLEAN, {"plan": steps, "report": {"flow_score": 0.2}}, {"report": {"flow_score": 0.8}})
        token = first.answer["session_token"]
        told = await door.dispatch("And?", session_token=token, remediation="required")
        assert told.text == "This leads to mountains.\n\nVolcanoes."
        assert told.headers["crp-quality-flow"] == "0.8; remediation=stitched"
        kept = await door.kept(told.answer["session_id"])
        assert kept.windows == [(1, "COMMITTED", []), (2, "COMMITTED", [1])]
        assert "FLOW_STITCH" in kept.events

    def world():
        replies = (FIRST, "Volcanoes.", "This leads to mountains.")
        return GatewayWorld(Script(analyses=(CLEAN,)), replies=replies, settings=GatewaySettings(max_redispatches=0))

    await at_both(world, story)


async def test_a_fan_out_and_a_partial_fan_in():
    async def story(door, world):
        first = await door.dispatch()
        parent = {"session_token": first.answer["session_token"], "continuation_ids": [first.answer["continuation_id"]]}
        children = [await door.dispatch(f"Part {number}?", **parent, strategies=["fan_out"]) for number in (1, 2)]
        world.script.faults["BuildEnvelope"] = Fault(UnavailableError(ErrorReason.STORE_UNAVAILABLE, "gone"), times=9)
        lost = await door.dispatch("Part 3?", **parent, strategies=["fan_out"])
        world.script.faults.clear()
        assert (lost.status, lost.word) == (503, "STORE_UNAVAILABLE")
        merged = await door.dispatch(
            "All of it?",
            session_token=children[-1].answer["session_token"],
            continuation_ids=[one.answer["continuation_id"] for one in children],
            strategies=["fan_in"],
            fan_in_policy="partial",
        )
        assert (merged.status, merged.text) == (200, ANSWER)
        assert merged.headers["crp-context-strategy"] == "fan-in"
        kept = await door.kept(first.answer["session_id"])
        committed = [(number, parents) for number, status, parents in kept.windows if status == "COMMITTED"]
        assert committed == [(1, []), (2, [1]), (2, [1]), (3, [2, 2])]
        assert [status for _, status, _ in kept.windows].count("FAILED") == 1
        assert {"FAN_OUT_CREATED", "DISPATCH_FAILED", "FAN_IN_MERGED"} <= set(kept.events)

    await at_both(GatewayWorld, story)


async def test_a_budget_to_its_end():
    async def story(door, world):
        told = await door.dispatch(safety_budget=0.1, safety_mode="warn")
        assert (told.status, told.body["halted"]["halt_reason"]) == (451, "SAFETY_BUDGET_DEPLETED")
        assert told.headers["crp-safety-retry-after"] == "0"
        assert "Secret" not in str(told.body)
        kept = await door.kept(told.headers["crp-context-session-id"])
        assert kept.windows == [(1, "COMMITTED", [])]
        assert "SAFETY_BUDGET_DEPLETED" in kept.events

    await at_both(lambda: GatewayWorld(Script(risk="HIGH"), replies=("Secret text.",)), story)


async def test_an_unchanged_envelope_is_304():
    async def story(door, world):
        told = await door.dispatch(if_match=ETAG)
        assert (told.status, told.word) == (304, "not_modified")
        assert told.headers["crp-context-etag"] == ETAG
        assert (world.windows(), world.model.requests) == ([], [])

    await at_both(lambda: GatewayWorld(Script(not_modified=True)), story)


async def test_a_fan_in_over_children_that_are_not_all_there_is_424():
    async def story(door, world):
        first = await door.dispatch()
        parent = {"session_token": first.answer["session_token"], "continuation_ids": [first.answer["continuation_id"]]}
        children = [await door.dispatch(f"Part {number}?", **parent, strategies=["fan_out"]) for number in (1, 2)]
        world.script.faults["BuildEnvelope"] = Fault(UnavailableError(ErrorReason.STORE_UNAVAILABLE, "gone"), times=9)
        assert (await door.dispatch("Part 3?", **parent, strategies=["fan_out"])).status == 503
        world.script.faults.clear()
        told = await door.dispatch(
            "All of it?",
            session_token=children[-1].answer["session_token"],
            continuation_ids=[one.answer["continuation_id"] for one in children],
            strategies=["fan_in"],
        )
        assert (told.status, told.word) == (424, "FAN_IN_INCOMPLETE")
        kept = await door.kept(first.answer["session_id"])
        assert [(number, status) for number, status, _ in kept.windows] == [
            (1, "COMMITTED"),
            (2, "COMMITTED"),
            (2, "COMMITTED"),
            (2, "FAILED"),
        ]
        assert "FAN_IN_MERGED" not in kept.events

    await at_both(GatewayWorld, story)


async def test_a_tier_out_of_reach_is_503():
    async def story(door, world):
        told = await door.dispatch(accept_quality=["s", "a"])
        assert (told.status, told.word) == (503, "QUALITY_UNREACHABLE")
        assert world.model.requests == []
        assert world.statuses() == ["FAILED"]
        assert "DISPATCH_FAILED" in [event.event_type for event in world.events()]

    await at_both(lambda: GatewayWorld(Script(tier="C")), story)


@pytest.mark.parametrize("kind", ["forged", "spent", "expired"])
async def test_a_token_that_does_not_hold_is_401(kind):
    async def story(door, world):
        first = await door.dispatch()
        token = first.answer["session_token"]
        if kind == "spent":
            assert (await door.dispatch("And?", session_token=token)).status == 200
        if kind == "expired":
            world.dag.clock.advance(seconds=3_600)
        body, _, seal = token.rpartition(".")
        told = await door.dispatch("x", session_token=f"{body}.{seal[::-1]}" if kind == "forged" else token)
        word = {"forged": "TOKEN_INVALID", "spent": "TOKEN_SPENT", "expired": "TOKEN_EXPIRED"}[kind]
        assert (told.status, told.word) == (401, word)
        kept = await door.kept(first.answer["session_id"])
        assert [status for _, status, _ in kept.windows] == ["COMMITTED"] * (2 if kind == "spent" else 1)
        assert len(world.model.requests) == len(kept.windows)

    await at_both(GatewayWorld, story)


async def test_a_child_may_not_loosen_the_policy():
    async def story(door, world):
        first = await door.dispatch(safety_policy="halt-on HIGH")
        token = first.answer["session_token"]
        told = await door.dispatch("And?", session_token=token, safety_policy="halt-on CRITICAL")
        assert (told.status, told.word) == (403, "POLICY_RELAXED")
        assert "halt-on HIGH" in str(told.body)
        kept = await door.kept(first.answer["session_id"])
        assert kept.windows == [(1, "COMMITTED", [])]
        assert len(world.model.requests) == 1

    await at_both(GatewayWorld, story)
