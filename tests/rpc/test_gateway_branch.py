"""A branch through the gateway: a sibling of a reflexive window (SPEC-004 §1.2)."""

import grpc
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2

from tests.fakes.gateway_world import GatewayWorld

REFLEXIVE = taxonomy.DISPATCH_STRATEGY_REFLEXIVE


async def test_a_branch_stands_beside_a_reflexive_window():
    world = GatewayWorld()
    async with world.serving() as client:
        root = (await client.dispatch()).answer
        where = {"session_token": root.session_token, "continuation_ids": [root.continuation_id]}
        checked = (await client.dispatch("Is it so?", strategies=[REFLEXIVE], **where)).answer
        refined = (await client.dispatch("And now?", strategies=[REFLEXIVE], branch=True, **where)).answer
        verified = await client.verify(root.session_id)
    assert refined.window.pattern == dag_pb2.WINDOW_PATTERN_BRANCH
    assert refined.window.parent_ids == checked.window.parent_ids == [root.window.window_id]
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID


async def test_a_branch_of_another_strategy_or_of_nothing_is_refused():
    world = GatewayWorld()
    async with world.serving() as client:
        root = (await client.dispatch()).answer
        where = {"session_token": root.session_token, "branch": True}
        push = await client.fails(strategies=[taxonomy.DISPATCH_STRATEGY_PUSH], **where)
        first = await client.fails(strategies=[REFLEXIVE], branch=True)
        alone = await client.fails(strategies=[REFLEXIVE], **where)
    assert (push.code, push.fields) == (grpc.StatusCode.INVALID_ARGUMENT, ("branch",))
    assert first.fields == ("branch",)
    assert alone.reason == "UNSUPPORTED_STRATEGY"
