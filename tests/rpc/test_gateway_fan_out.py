"""FanOut, and a first dispatch that asks for one: parent, children, fan-in (SPEC-004 §6, §7, §16.3)."""

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1 import dispatch_service_pb2_grpc as pb_grpc

from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.errors import ErrorReason, UnavailableError
from services.common.settings import GatewaySettings
from services.gateway.doors.http.fan_out_routes import FAN_OUT as FAN_OUT_PATH
from services.gateway.doors.http.fan_out_routes import FanOutRoutes
from tests.fakes.chat_door import events_of
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.gateway_world import ANSWER, GatewayWorld, headers_of
from tests.patience import patient
from tests.rpc.test_gateway_batch import over_http

PARTS = ("How long are claims files kept?", "Who may read them?", "When are they erased?")
WHOLE = "What do we keep about a claim?"
FAN_OUT = taxonomy.DISPATCH_STRATEGY_FAN_OUT


class Choosy(MemoryLanguageModel):
    """Answers everything but what it cannot answer."""

    def __init__(self, refused):
        super().__init__([ANSWER])
        self.refused = refused

    async def complete(self, request):
        if self.refused and self.refused in request.messages[-1].content:
            raise UnavailableError(ErrorReason.LLM_UNAVAILABLE, "the model is down")
        return await super().complete(request)


async def fan_out(client, queries=PARTS, **fields):
    """Return the events, and the error that ended them, if one did."""
    stub = pb_grpc.DispatchServiceStub(client.channel)
    asked = pb.DispatchRequest(**({"request_id": fresh_uuid(), "query": WHOLE} | fields))
    call = stub.FanOut(
        pb.FanOutRequest(dispatch=asked, queries=queries), metadata=(("authorization", "alice"),), timeout=patient(20)
    )
    events = []
    try:
        async for event in call:
            events.append(event)  # noqa: PERF401 - those before the error count
    except grpc.aio.AioRpcError as error:
        return events, error
    return events, None


async def test_a_task_in_parts_is_one_call():
    world = GatewayWorld()
    fields = {"request_id": fresh_uuid()}
    async with world.serving() as client:
        events, error = await fan_out(client, **fields)
        again, _ = await fan_out(client, **fields)
        verified = await client.verify(events[0].parent.answer.session_id)
    assert error is None
    opened, *inner = world.script.asked["BuildEnvelope"][:4]
    assert not opened.active_fact_ids
    # The parent has the facts of the whole question; its parts are looked for among them, too.
    assert {tuple(one.active_fact_ids) for one in inner} == {tuple(events[0].parent.answer.envelope.fact_ids)}
    assert [event.WhichOneof("event") for event in events] == ["parent", "child", "child", "child", "fan_in"]
    children = {event.child.index: event.child for event in events[1:4]}
    assert [children[index].query for index in range(3)] == list(PARTS)
    windows = [child.response.answer.window for child in children.values()]
    merged = events[-1].fan_in.answer
    assert {window.pattern for window in windows} == {dag_pb2.WINDOW_PATTERN_FAN_OUT}
    assert {tuple(window.parent_ids) for window in windows} == {(events[0].parent.answer.window.window_id,)}
    assert sorted(merged.window.parent_ids) == sorted(window.window_id for window in windows)
    assert headers_of(events[-1].fan_in)["CRP-Context-Window"] == "3/5"
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID
    assert again[-1].fan_in.answer.window == merged.window  # the same windows
    assert len(world.windows()) == 5


async def test_what_is_continued_is_the_parent():
    world = GatewayWorld()
    async with world.serving() as client:
        first = (await client.dispatch()).answer
        fields = {"session_token": first.session_token, "continuation_ids": [first.continuation_id]}
        events, error = await fan_out(client, PARTS[:2], **fields)
    assert error is None
    assert [event.WhichOneof("event") for event in events] == ["child", "child", "fan_in"]
    assert events[0].child.response.answer.window.parent_ids == [first.window.window_id]


async def test_a_child_that_fails_ends_neither_its_siblings_nor_where_it_may_be_missing_the_fan_in():
    for policy in (dispatch_pb2.FAN_IN_POLICY_REQUIRE_ALL, dispatch_pb2.FAN_IN_POLICY_PARTIAL):
        world = GatewayWorld(model=Choosy("read them"))
        async with world.serving() as client:
            events, error = await fan_out(client, fan_in_policy=policy)
        failures = {event.child.query: event.child.failure.reason for event in events if event.HasField("child")}
        assert failures == {PARTS[0]: "", PARTS[1]: "LLM_UNAVAILABLE", PARTS[2]: ""}
        if policy == dispatch_pb2.FAN_IN_POLICY_PARTIAL:
            assert error is None
            merged = events[-1].fan_in
            assert len(merged.answer.window.parent_ids) == 2
            warning = next(one for one in merged.warnings if one.code == "PART_WITHOUT_ANSWER")
            assert "2: LLM_UNAVAILABLE" in warning.message
        else:
            assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
            assert "fan-in" in error.details() or "children" in error.details()


async def test_a_parent_that_is_withheld_is_the_end_of_it():
    world = GatewayWorld()
    world.script.risk = "CRITICAL"
    async with world.serving() as client:
        events, error = await fan_out(client)
    assert error is None
    assert [event.parent.halted.halt_reason for event in events] == ["CRITICAL_HALLUCINATION_RISK"]


@pytest.mark.parametrize(
    ("queries", "fields", "names"),
    [
        (("one",), {}, ["queries"]),
        (("a", "a"), {}, ["queries"]),
        (("a", " "), {"strategies": [taxonomy.DISPATCH_STRATEGY_PUSH]}, ["queries[1]", "strategies"]),
        ((), {}, ["queries"]),
    ],
    ids=["one", "twice", "empty", "no-parts"],
)
async def test_what_is_no_fan_out_is_refused(queries, fields, names):
    world = GatewayWorld()
    async with world.serving() as client:
        _, error = await fan_out(client, queries, **fields)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert all(name in error.details() for name in names)
    assert not world.windows()


async def test_a_first_dispatch_with_fan_out_opens_one():
    world = GatewayWorld()
    query = "How long are claims files kept, and who may read them?"
    async with world.serving() as client:
        response = await client.dispatch(query, strategies=[FAN_OUT])
        plain = await client.dispatch("How long are claims files kept?", strategies=[FAN_OUT])
    assert headers_of(response)["CRP-Context-Strategy"] == "fan-in"
    assert len(response.answer.window.parent_ids) == 2
    assert len(response.model_calls) == 4
    assert headers_of(plain)["CRP-Context-Strategy"] == "push"
    assert [one.code for one in plain.warnings if one.code == "QUESTION_HAS_ONE_PART"]
    assert sorted(window.pattern.value for window in world.windows()) == [
        "FAN_IN",
        "FAN_OUT",
        "FAN_OUT",
        "LINEAR",
        "LINEAR",
    ]


async def test_a_first_fan_out_is_streamed_and_is_an_item_of_a_batch():
    world = GatewayWorld(settings=GatewaySettings(batch_max_running=1, batch_max_running_per_tenant=1))
    query, alice = "How long are claims files kept, and who may read them?", (("authorization", "alice"),)
    async with world.serving() as client:
        stub = pb_grpc.DispatchServiceStub(client.channel)
        asked = [pb.DispatchRequest(request_id=fresh_uuid(), query=query, strategies=[FAN_OUT]) for _ in range(3)]
        call = stub.DispatchStream(pb.DispatchStreamRequest(dispatch=asked[0]), metadata=alice, timeout=patient(20))
        events = [event async for event in call]
        items = (
            await stub.DispatchBatch(pb.DispatchBatchRequest(dispatches=asked[1:]), metadata=alice, timeout=patient(20))
        ).items
    outcome = events[-1].outcome
    assert "".join(event.token for event in events) == outcome.answer.text
    assert len(outcome.answer.window.parent_ids) == 2
    assert [len(item.response.answer.window.parent_ids) for item in items] == [2, 2]


async def test_a_strategy_by_intent_where_the_deployment_wants_it():
    world = GatewayWorld(settings=GatewaySettings(strategy_by_intent=True))
    async with world.serving() as client:
        several = await client.dispatch("How long are claims files kept, and who may read them?")
        simple = await client.dispatch("How long are claims files kept?")
        asked = await client.dispatch(
            "How long are claims files kept, and who may read them?", strategies=[taxonomy.DISPATCH_STRATEGY_PUSH]
        )
    assert headers_of(several)["CRP-Context-Strategy"] == "fan-in"
    assert [one.code for one in several.warnings if one.code == "STRATEGY_BY_INTENT"]
    assert headers_of(simple)["CRP-Context-Strategy"] == headers_of(asked)["CRP-Context-Strategy"] == "push"
    assert not [one for one in simple.warnings if one.code == "STRATEGY_BY_INTENT"]


async def test_a_fan_out_over_http():
    world = GatewayWorld()
    task = {"dispatch": {"query": WHOLE}, "queries": list(PARTS[:2])}
    async with over_http(world, FanOutRoutes) as http:
        answer = await http.post(FAN_OUT_PATH, json=task)
        one = await http.post(FAN_OUT_PATH, json=task | {"queries": ["one"]})
        twice = await http.post(
            FAN_OUT_PATH,
            json={"dispatch": {"query": "x", "safety_policy": "y"}, "queries": ["a", "b"]},
            headers={"CRP-Safety-Policy": "halt-on HIGH"},
        )
        mistyped = await http.post(FAN_OUT_PATH, json={"dispatch": {"question": "x"}})
    events = events_of(answer.text)
    assert [name for name, _ in events] == ["parent", "child", "child", "fan_in", "crp-headers"]
    assert {data["query"] for name, data in events if name == "child"} == set(PARTS[:2])
    assert events[-1][1]["headers"]["CRP-Context-Strategy"] == "fan-in"
    assert (one.status_code, one.json()["error"]["fields"][0]["field"]) == (400, "queries")
    assert twice.json()["error"]["fields"][0]["field"] == "dispatch.safety_policy"
    assert mistyped.json()["error"]["fields"][0]["field"] == "dispatch.question"
