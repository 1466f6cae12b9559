"""Fan-out and fan-in through the gateway, agents' headers, the trend of quality (SPEC-004 §6, §7, §13.2, §14, §15)."""

import asyncio

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2, session_service_pb2, session_service_pb2_grpc
from crp.gateway.v1 import dispatch_pb2

from services.common.errors import ErrorReason, UnavailableError
from services.common.settings import GatewaySettings
from services.gateway.domain.prompt import MERGE_NOTICE
from tests.fakes.dag_world import TIERS, fresh_uuid
from tests.fakes.gateway_world import GatewayWorld, Script, headers_of

FAN_OUT = taxonomy.DISPATCH_STRATEGY_FAN_OUT
FAN_IN = taxonomy.DISPATCH_STRATEGY_FAN_IN
SYNTHESIS = "What follows from all of it?"


def continuing(answer, **fields):
    return {"session_token": answer.session_token, "continuation_ids": [answer.continuation_id]} | fields


def merging(answers, **fields):
    """A synthesis of several windows: any one of their tokens, every one of their pointers (§14.4)."""
    ids = [answer.continuation_id for answer in answers]
    return {"session_token": answers[0].session_token, "continuation_ids": ids} | fields


async def fanned(client, parent, count=3):
    """Continue one window with several requests at once: the same token, the same pointer (§14.3)."""
    asked = (client.dispatch(f"Part {n}?", **continuing(parent, strategies=[FAN_OUT])) for n in range(count))
    return await asyncio.gather(*asked)


async def test_parallel_requests_with_one_token_become_siblings():
    world = GatewayWorld()
    async with world.serving() as client:
        parent = (await client.dispatch()).answer
        children = await fanned(client, parent)
        verified = await client.verify(parent.session_id)
    windows = [child.answer.window for child in children]
    assert {window.window_number for window in windows} == {2}
    assert len({window.window_id for window in windows}) == 3
    assert [list(window.parent_ids) for window in windows] == [[parent.window.window_id]] * 3
    assert {window.pattern for window in windows} == {dag_pb2.WINDOW_PATTERN_FAN_OUT}
    assert {headers_of(child)["CRP-Context-Strategy"] for child in children} == {"fan-out"}
    assert {headers_of(child)["CRP-Context-Window"] for child in children} == {"2/5"}
    assert len({child.answer.continuation_id for child in children}) == 3
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID
    assert [event["first_child_id"] in {w.window_id for w in windows} for event in world.events_of("FAN_OUT_CREATED")]


async def test_a_fan_in_merges_every_child_and_its_headers_say_so():
    world = GatewayWorld()
    async with world.serving() as client:
        parent = (await client.dispatch()).answer
        children = [child.answer for child in await fanned(client, parent)]
        response = await client.dispatch(SYNTHESIS, **merging(children, strategies=[FAN_IN]))
        spent = await client.fails("x", **continuing(children[1]))
        verified = await client.verify(parent.session_id)
    answer, said = response.answer, headers_of(response)
    ids = sorted(child.window.window_id for child in children)
    assert sorted(answer.window.parent_ids) == ids
    assert answer.window.pattern == dag_pb2.WINDOW_PATTERN_FAN_IN
    assert said["CRP-Context-Window"] == "3/5"
    assert said["CRP-Context-Strategy"] == "fan-in"
    lineage = said["CRP-Provenance-Window-Lineage"]
    assert lineage.startswith(f"{parent.window.window_id} -> [")
    assert lineage.endswith(f"] -> {answer.window.window_id}")
    assert all(window_id in lineage for window_id in ids)
    assert said["CRP-Set-Session"].endswith("QualityHistory=A,[A,A,A],A")
    assert said["CRP-Provenance-Chain-Integrity"] == "VALID"
    assert (verified.integrity, verified.windows_verified) == (taxonomy.CHAIN_INTEGRITY_VALID, 5)
    assert (spent.code, spent.reason) == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_SPENT")
    build = world.script.asked["BuildEnvelope"][-1]
    assert sorted(fact.source_window_id for fact in build.carried_facts) == ids
    assert {fact.transfer_type for fact in build.carried_facts} <= {"RESULT_ONLY", "SUMMARY"}
    assert world.events_of("FAN_IN_MERGED")
    # No search finds the parents' facts again, so they are handed on; the model is asked to merge, not to go on.
    held = {fact for window in world.windows() if window.window_id in ids for fact in window.facts_included}
    assert held
    assert set(build.transferred_fact_ids) == held
    asked = world.model.requests[-1]
    assert asked.prior_texts == ()
    assert MERGE_NOTICE in asked.messages[0].content


async def test_several_continuation_ids_without_a_strategy_are_a_fan_in():
    world = GatewayWorld()
    async with world.serving() as client:
        parent = (await client.dispatch()).answer
        children = [child.answer for child in await fanned(client, parent, 2)]
        response = await client.dispatch(SYNTHESIS, **merging(children))
    assert headers_of(response)["CRP-Context-Strategy"] == "fan-in"
    assert response.answer.window.pattern == dag_pb2.WINDOW_PATTERN_FAN_IN


@pytest.mark.parametrize(
    ("strategy", "count"),
    [(taxonomy.DISPATCH_STRATEGY_PUSH, 2), (FAN_OUT, 2), (FAN_IN, 0)],
    ids=["push", "fan-out", "fan-in"],
)
async def test_a_strategy_that_does_not_take_so_many_parents_is_refused(strategy, count):
    world = GatewayWorld()
    async with world.serving() as client:
        parent = (await client.dispatch()).answer
        ids = [parent.continuation_id, "crp_cont_" + "x" * 32][:count]
        fields = {"session_token": parent.session_token, "continuation_ids": ids}
        refusal = await client.fails(strategies=[strategy], **fields)
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert refusal.fields == ("strategies",)
    assert len(world.windows()) == 1


async def test_children_inherit_the_whole_budget_and_a_fan_in_the_smallest():
    risks = ({"risk": "LOW"}, {"risk": "MEDIUM"}, {"risk": "HIGH"}, {"risk": "LOW"})
    world = GatewayWorld(script=Script(analyses=risks))
    async with world.serving() as client:
        parent = (await client.dispatch(safety_budget=0.85)).answer
        medium = await client.dispatch("1?", **continuing(parent, strategies=[FAN_OUT]))
        high = await client.dispatch("2?", **continuing(parent, strategies=[FAN_OUT]))
        merged = await client.dispatch(SYNTHESIS, **merging([medium.answer, high.answer]))
    budgets = [headers_of(each)["CRP-Agent-Safety-Budget"] for each in (medium, high, merged)]
    assert budgets == ["0.8", "0.7", "0.7"]


async def test_an_agent_says_its_depth_and_budget_and_can_only_be_stricter():
    world = GatewayWorld()
    async with world.serving() as client:
        parent = (await client.dispatch(safety_budget=0.85)).answer
        fields = {"agent_session_parent": parent.session_id, "loop_depth": 1, "safety_budget": 0.99}
        child = await client.dispatch("Part?", **continuing(parent, strategies=[FAN_OUT], **fields))
        sub = await client.dispatch("Alone?", agent_session_parent=parent.session_id)
        deep = await client.fails("Deep?", **continuing(parent, strategies=[FAN_OUT], loop_depth=6))
    said = headers_of(child)
    assert (said["CRP-Agent-Loop-Depth"], said["CRP-Agent-Safety-Budget"]) == ("1", "0.85")
    assert [request.loop_depth for request in world.script.asked["Analyze"]] == [0, 1, 1]
    other = headers_of(sub)
    assert other["CRP-Agent-Session-Parent"] == parent.session_id
    assert (other["CRP-Agent-Loop-Depth"], other["CRP-Agent-Safety-Budget"]) == ("1", "0.85")
    assert (deep.code, deep.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LOOP_DEPTH_LIMIT")


async def test_a_child_that_fails_leaves_its_siblings_and_a_partial_fan_in_goes_on_without_it():
    down = UnavailableError(ErrorReason.LLM_UNAVAILABLE, "down")
    world = GatewayWorld(replies=("One.", "Two.", down, "Three.", "All."))
    async with world.serving() as client:
        parent = (await client.dispatch()).answer
        first = (await client.dispatch("1?", **continuing(parent, strategies=[FAN_OUT]))).answer
        lost = await client.fails("2?", **continuing(parent, strategies=[FAN_OUT]))
        third = (await client.dispatch("3?", **continuing(parent, strategies=[FAN_OUT]))).answer
        refusal = await client.fails(SYNTHESIS, **merging([first, third]))
        partial = dispatch_pb2.FAN_IN_POLICY_PARTIAL
        response = await client.dispatch(SYNTHESIS, **merging([first, third], fan_in_policy=partial))
    assert lost.reason == "LLM_UNAVAILABLE"
    assert refusal.reason == "FAN_IN_INCOMPLETE"
    assert len(response.answer.window.parent_ids) == 2
    assert world.statuses() == ["COMMITTED"] * 4 + ["FAILED"]


async def test_more_children_than_the_limit_are_refused():
    world = GatewayWorld()
    async with world.serving() as client:
        parent = (await client.dispatch()).answer
        await fanned(client, parent, 10)
        refusal = await client.fails("11?", **continuing(parent, strategies=[FAN_OUT]))
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "FAN_OUT_LIMIT")


async def degraded(client, script, tiers):
    """Answer one window after the other, each with its tier, and return the last response."""
    fields, response = {}, None
    for tier in tiers:
        script.tier = tier
        response = await client.dispatch("And?", **fields)
        fields = continuing(response.answer)
    return response, fields


@pytest.mark.parametrize(
    ("tiers", "code"),
    [("AA", None), ("AB", "QUALITY_DEGRADING"), ("ABC", "QUALITY_DEGRADING"), ("BCD", "QUALITY_CRITICAL")],
)
async def test_the_trend_of_quality_is_told(tiers, code):
    world = GatewayWorld()
    async with world.serving() as client:
        response, _ = await degraded(client, world.script, tiers)
    codes = [warning.code for warning in response.warnings if warning.code.startswith("QUALITY_")]
    assert codes == ([] if code is None else [code])
    assert headers_of(response)["CRP-Context-Quality-Tier"] == tiers[-1]


@pytest.mark.parametrize(("tiers", "warned"), [("AA", []), ("AB", []), ("ABC", ["SUSTAINED"]), ("BCD", ["CRITICAL"])])
async def test_falling_quality_recommends_hierarchical_and_warns_the_audit_trail(tiers, warned):
    world = GatewayWorld()
    async with world.serving() as client:
        response, _ = await degraded(client, world.script, tiers)
    data = world.events_of("QUALITY_DEGRADED")
    assert [each["degradation"] for each in data[-1:]] == warned
    assert {each["recommended_strategy"] for each in data} <= {"hierarchical"}
    recommended = [warning for warning in response.warnings if warning.code == "STRATEGY_RECOMMENDED"]
    assert ["hierarchical" in warning.message for warning in recommended] == [True] * len(warned)


@pytest.mark.parametrize("refuse", [True, False])
async def test_persistent_deficiency_may_be_refused(refuse):
    world = GatewayWorld(settings=GatewaySettings(refuse_degraded=refuse))
    async with world.serving() as client:
        last, fields = await degraded(client, world.script, "CDD")
        if refuse:
            refusal = await client.fails("And?", **fields)
            assert (refusal.code, refusal.reason) == (grpc.StatusCode.UNAVAILABLE, "QUALITY_DEGRADED")
            assert refusal.metadata["degradation"] == "PERSISTENT"
            assert len(world.model.requests) == 3
            assert world.statuses() == ["COMMITTED"] * 3 + ["FAILED"]
        else:
            assert (await client.dispatch("And?", **fields)).answer.text
    codes = [warning.code for warning in last.warnings]
    assert "QUALITY_CRITICAL" in codes
    assert ("CONTINUATION_REFUSED" in codes) is refuse
    assert TIERS["D"] == last.answer.window.quality_tier


async def test_a_synthesis_of_agents_own_sessions_gets_their_conclusions_and_says_who_has_none():
    world = GatewayWorld(replies=("The plan.", "A began.\n\nA concludes.", "B concludes.", "All of it."))
    async with world.serving() as client:
        sessions = session_service_pb2_grpc.SessionServiceStub(client.channel)
        root = (await client.dispatch()).answer
        agents = [
            (await client.dispatch(f"Part {n}?", agent_session_parent=root.session_id)).answer.session_id
            for n in range(2)
        ]
        beginning = session_service_pb2.CreateSessionRequest(
            request_id=fresh_uuid(), agent_session_parent=root.session_id
        )
        begun = await sessions.CreateSession(beginning, metadata=(("authorization", "alice"),))
        silent = begun.session.session_id
        named = {"session_token": root.session_token, "agent_sessions": [*agents, silent]}
        refused = await client.fails(SYNTHESIS, **named)
        wrong = await client.fails(SYNTHESIS, **named, strategies=[taxonomy.DISPATCH_STRATEGY_PUSH])
        alone = await client.fails(SYNTHESIS, agent_sessions=agents)
        partly = await client.dispatch(SYNTHESIS, **named, fan_in_policy=dispatch_pb2.FAN_IN_POLICY_PARTIAL)
        verified = await client.verify(root.session_id)
    assert (refused.reason, refused.metadata["session_id"]) == ("FAN_IN_INCOMPLETE", silent)
    assert (wrong.reason, wrong.fields) == ("INVALID_FIELD", ("strategies",))
    assert (alone.reason, alone.fields) == ("INVALID_FIELD", ("agent_sessions",))
    carried = world.script.asked["BuildEnvelope"][-1].carried_facts
    assert [each.content for each in carried][1:] == ["A concludes.", "B concludes."]
    assert MERGE_NOTICE in world.model.requests[-1].messages[0].content
    said = headers_of(partly)
    assert (said["CRP-Context-Strategy"], said["CRP-Context-Window"]) == ("fan-in", "2/5")
    (left_out,) = [each.message for each in partly.warnings if each.code == "PART_WITHOUT_ANSWER"]
    assert silent in left_out
    (merged,) = world.events_of("FAN_IN_MERGED")
    assert {each["session_id"] for each in merged["agents"].values()} == set(agents)
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID
