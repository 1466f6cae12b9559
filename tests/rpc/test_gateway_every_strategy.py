"""Every strategy with a scripted provider and with the answerer without a model: text, headers, events, DAG."""

from collections import Counter

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as dag
from crp.dag.v1 import session_service_pb2_grpc as dag_grpc
from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1 import dispatch_service_pb2_grpc as pb_grpc

from services.common.streaming.replies import streaming
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.gateway_world import GatewayWorld, Script, headers_of
from tests.patience import patient
from tests.rpc.test_gateway_courses import PARTS, WHOLE, Asked, answerer, parts_of

ALICE = (("authorization", "alice"),)
SAID = {PARTS[0]: "Seven days for an accident.", PARTS[1]: "48 hours for a theft.", WHOLE: "Both."}
QUOTED = ("within 7 days", "within 48 hours")
SHAPES = {
    "push": ["LINEAR"],
    "pull": ["LINEAR"],
    "reflexive": ["LINEAR"],
    "agentic": ["LINEAR"],
    "hierarchical": ["LINEAR", "FAN_OUT", "FAN_OUT", "FAN_IN"],
    "fan-out": ["LINEAR", "FAN_OUT", "FAN_OUT", "FAN_IN"],
    "batch": ["LINEAR"],
    "streaming": ["LINEAR"],
}
"""Patterns of the windows that a first question opens, in the order of their numbers."""


async def asked(client, name):
    """Ask by the strategy, or by the call that is one; the response."""
    stub = pb_grpc.DispatchServiceStub(client.channel)
    request = pb.DispatchRequest(request_id=fresh_uuid(), query=WHOLE)
    if name == "batch":
        batch = pb.DispatchBatchRequest(dispatches=[request])
        (item,) = (await stub.DispatchBatch(batch, metadata=ALICE, timeout=patient(20))).items
        return item.response
    if name == "streaming":
        call = stub.DispatchStream(pb.DispatchStreamRequest(dispatch=request), metadata=ALICE, timeout=patient(20))
        events = [event async for event in call]
        outcome = events[-1].outcome
        assert "".join(event.token for event in events) == outcome.answer.text
        return outcome
    if name == "fan-out":
        parts = pb.FanOutRequest(dispatch=request, queries=PARTS)
        events = [event async for event in stub.FanOut(parts, metadata=ALICE, timeout=patient(20))]
        assert [event.WhichOneof("event") for event in events] == ["parent", "child", "child", "fan_in"]
        return events[-1].fan_in
    strategy = taxonomy.DispatchStrategy.Value(f"DISPATCH_STRATEGY_{name.upper().replace('-', '_')}")
    return await client.dispatch(WHOLE, strategies=[strategy])


async def fanned_in(client):
    """Merge two windows of a caller's own by their pointers; the response."""
    root = (await client.dispatch(WHOLE)).answer
    behind = {"session_token": root.session_token, "continuation_ids": [root.continuation_id]}
    fan_out, fan_in = taxonomy.DISPATCH_STRATEGY_FAN_OUT, taxonomy.DISPATCH_STRATEGY_FAN_IN
    children = [(await client.dispatch(part, **behind, strategies=[fan_out])).answer for part in PARTS]
    merging = {"session_token": children[0].session_token, "continuation_ids": [c.continuation_id for c in children]}
    return await client.dispatch(WHOLE, **merging, strategies=[fan_in])


def world_of(generative):
    return GatewayWorld(
        script=Script(parts=parts_of, hands_on=True), model=streaming(Asked(SAID)) if generative else answerer()
    )


async def drawn(client, session_id):
    request = dag.GetDagRequest(session_id=session_id)
    return await dag_grpc.SessionServiceStub(client.channel).GetDag(request, metadata=ALICE, timeout=patient(20))


@pytest.mark.parametrize("generative", [True, False], ids=["provider", "no-model"])
@pytest.mark.parametrize("name", [*SHAPES, "fan-in"])
async def test_text_headers_events_and_dag(name, generative):
    world = world_of(generative)
    async with world.serving() as client:
        response = await (fanned_in(client) if name == "fan-in" else asked(client, name))
        verified = await client.verify(response.answer.session_id)
        graph = await drawn(client, response.answer.session_id)
    answer, said, shape = response.answer, headers_of(response), SHAPES.get(name, SHAPES["fan-out"])
    # The text is what the provider said to the whole question, or quotes the documents: to each part where it is asked.
    quoted = sum(quote in answer.text for quote in QUOTED)
    if generative:
        assert answer.text == "Both."
    else:
        assert quoted >= (2 if name == "hierarchical" else 1), answer.text
    # The headers name what ran; a fan-out ends with its fan-in, a batch and a stream ran push.
    ran = {"fan-out": "fan-in", "batch": "push", "streaming": "push"}.get(name, name)
    assert said["CRP-Context-Strategy"] == ran
    depth = 3 if "FAN_IN" in shape else 1
    assert said["CRP-Context-Window"] == f"{depth}/5"
    assert said["CRP-Provenance-HMAC"] == f"sha256:{answer.window.hmac}"
    assert said["CRP-Context-Session-Id"] == answer.session_id
    # The DAG has the windows that the strategy opens, and every edge into the answer.
    patterns = [dag_pb2.WindowPattern.Name(one.pattern).removeprefix("WINDOW_PATTERN_") for one in graph.windows]
    assert patterns == shape
    into = {edge.source_id for edge in graph.edges if edge.target_id == answer.window.window_id}
    assert into == set(answer.window.parent_ids)
    # The trail has a beginning and an end of each window, and the events of what was taken apart and put together.
    kinds = Counter(event.event_type for event in world.events())
    assert kinds["DISPATCH_STARTED"] == kinds["DISPATCH_COMPLETED"] == kinds["DPE_COMPLETED"] == len(shape)
    assert (kinds["FAN_OUT_CREATED"], kinds["FAN_IN_MERGED"]) == ((1, 1) if "FAN_IN" in shape else (0, 0))
    assert kinds["AGENT_LOOP_ITERATION"] == (name == "agentic")
    assert verified.windows_verified == len(shape)
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID
