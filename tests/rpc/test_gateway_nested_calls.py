"""What a dispatch asks of the other services: four calls, and what only a retry needs only in a retry (ADR 0013)."""

import uuid

import pytest

from services.common.rpc.pipeline import Pipeline
from tests.fakes.gateway_world import GatewayWorld

FOUR = ["OpenWindow", "BuildEnvelope", "Analyze", "CommitWindow"]


@pytest.fixture
def asked(monkeypatch):
    """Return the RPCs that any service of the process was asked, in their order."""
    seen = []
    inner = Pipeline.begin

    def begin(self, method, context):
        seen.append(method.rpc.rpartition("/")[2])
        return inner(self, method, context)

    monkeypatch.setattr(Pipeline, "begin", begin)
    return seen


async def test_a_dispatch_makes_four_nested_calls(asked):
    world = GatewayWorld()
    async with world.serving() as client:
        answer = (await client.dispatch()).answer
        assert asked == ["Dispatch", *FOUR]
        asked.clear()
        await client.dispatch("And a theft?", session_token=answer.session_token)
    assert asked == ["Dispatch", *FOUR]


async def test_a_retry_asks_besides_how_far_its_window_has_come(asked):
    world = GatewayWorld()
    request_id = str(uuid.uuid4())
    async with world.serving() as client:
        first = await client.dispatch(request_id=request_id)
        asked.clear()
        again = await client.dispatch(request_id=request_id)
    assert asked == ["Dispatch", "OpenWindow", "GetWindow", "CommitWindow"]
    assert again.answer.window == first.answer.window
    assert len(world.script.asked["Analyze"]) == 1
