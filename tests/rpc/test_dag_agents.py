"""Agents' sessions under an orchestrator's (SPEC-004 §15), and the bound on appended events."""

import asyncio

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.settings.dag import DagSettings
from tests.fakes.dag_world import World, fresh_uuid

FAN_OUT = taxonomy.DISPATCH_STRATEGY_FAN_OUT


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


def create(parent, **fields):
    return pb.CreateSessionRequest(request_id=fresh_uuid(), agent_session_parent=parent.session.session_id, **fields)


async def test_depth_counts_up_and_ends_at_the_limit(client):
    agent = await client.call("CreateSession", pb.CreateSessionRequest(request_id=fresh_uuid()))
    for depth in range(1, 6):
        agent = await client.call("CreateSession", create(agent))
        assert agent.session.loop_depth == depth
    refusal = await client.fails("CreateSession", create(agent))
    assert (refusal.code.name, refusal.reason) == ("RESOURCE_EXHAUSTED", "LOOP_DEPTH_LIMIT")
    assert refusal.metadata["limit"] == "5"
    lower = create(agent, loop_depth=0)
    assert (await client.fails("CreateSession", lower)).reason == "LOOP_DEPTH_LIMIT"


async def test_an_agent_cannot_talk_its_depth_down(client):
    first = await client.window(loop_depth=5)
    request = pb.OpenWindowRequest(
        request_id=fresh_uuid(), session_token=first.session_token, available_budget_tokens=10, loop_depth=6
    )
    assert (await client.fails("OpenWindow", request)).reason == "LOOP_DEPTH_LIMIT"
    assert (await client.open(first.session_token, loop_depth=0)).session.loop_depth == 5


async def test_budgets_of_section_15_2(client):
    """0.85 flows down to three agents; what they leave comes back by itself, and the synthesis starts from 0.30."""
    orchestrator = await client.window(risk="HIGH")
    assert orchestrator.safety_budget == 0.85
    agents = [await client.call("CreateSession", create(orchestrator)) for _ in range(3)]
    returned = []
    for agent, risks in zip(agents, (("HIGH", "MEDIUM"), ("CRITICAL", "HIGH", "MEDIUM"), ("MEDIUM",)), strict=True):
        answer = agent
        for risk in risks:
            answer = await client.window(answer.session_token, risk=risk)
        assert answer.session.parent_session_id == orchestrator.session.session_id
        assert answer.session.loop_depth == 1
        returned.append(answer.safety_budget)
    assert returned == [0.65, 0.30, 0.80]
    synthesis = await client.open(orchestrator.session_token)
    assert (synthesis.safety_budget, synthesis.circuit_breaker) == (0.30, taxonomy.BREAKER_STATE_HALF_OPEN)
    assert (await client.commit(synthesis)).safety_budget == 0.30


async def test_agents_as_branches_of_one_dag(client):
    """§15.1 as one session: each agent's chain is a branch, the synthesis starts from the minimum (§15.2)."""
    orchestrator = await client.window(risk="HIGH")
    a, b, c = [await client.open(orchestrator.session_token, strategy=FAN_OUT, loop_depth=1) for _ in range(3)]
    a = await client.commit(a, risk="MEDIUM")
    a = await client.window(a.session_token, risk="HIGH")
    b = await client.commit(b, risk="CRITICAL")
    b = await client.window(b.session_token, risk="MEDIUM")
    b = await client.window(b.session_token, risk="HIGH")
    c = await client.commit(c, risk="MEDIUM")
    opened = await client.open(
        c.session_token,
        continuation_ids=[a.continuation_id, b.continuation_id, c.continuation_id],
        strategy=taxonomy.DISPATCH_STRATEGY_FAN_IN,
    )
    assert (opened.window.window_number, opened.safety_budget) == (5, 0.30)


@pytest.mark.parametrize("risk", ["CRITICAL", "LOW"])
async def test_no_agent_starts_from_a_session_that_ended(risk):
    world = World(settings=DagSettings(max_windows=1))
    async with world.serving() as client:
        orchestrator = await client.window(risk=risk)
        refusal = await client.fails("CreateSession", create(orchestrator))
        assert (refusal.code.name, refusal.reason) == ("FAILED_PRECONDITION", "SESSION_CLOSED")


async def test_no_agent_starts_from_a_broken_session(world, client):
    orchestrator = await client.window()
    world.tamper(orchestrator.session.session_id, orchestrator.window.window_id, risk_level="LOWER")
    request = pb.OpenWindowRequest(
        request_id=fresh_uuid(), session_token=orchestrator.session_token, available_budget_tokens=1
    )
    assert (await client.fails("OpenWindow", request)).reason == "CHAIN_BROKEN"
    refusal = await client.fails("CreateSession", create(orchestrator))
    assert (refusal.code.name, refusal.reason) == ("DATA_LOSS", "CHAIN_BROKEN")


async def test_an_agent_takes_its_parents_policy_and_may_only_tighten_it(client):
    orchestrator = await client.commit(await client.open(policy_hash="a" * 64))
    plain = await client.call("CreateSession", create(orchestrator))
    assert plain.session.policy_hash == "a" * 64
    refusal = await client.fails("CreateSession", create(orchestrator, policy_hash="b" * 64))
    assert (refusal.code.name, refusal.reason) == ("PERMISSION_DENIED", "POLICY_RELAXED")
    tight = await client.call("CreateSession", create(orchestrator, policy_hash="b" * 64, policy_tightened=True))
    assert tight.session.policy_hash == "b" * 64
    opening = pb.OpenWindowRequest(
        request_id=fresh_uuid(), agent_session_parent=orchestrator.session.session_id, policy_hash="c" * 64
    )
    assert (await client.fails("OpenWindow", opening)).reason == "POLICY_RELAXED"


def append(session_id):
    return pb.AppendEventRequest(
        request_id=fresh_uuid(),
        session_id=session_id,
        data="{}",
        event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
    )


async def test_appended_events_are_bounded_and_the_services_own_are_not():
    world = World(settings=DagSettings(max_session_events=6))
    async with world.serving() as client:
        first = await client.window()
        session_id = first.session.session_id
        answers = await asyncio.gather(
            *(client.call("AppendEvent", append(session_id)) for _ in range(8)), return_exceptions=True
        )
        assert sum(isinstance(answer, pb.AppendEventResponse) for answer in answers) == 2
        refusal = await client.fails("AppendEvent", append(session_id))
        assert (refusal.code.name, refusal.reason) == ("RESOURCE_EXHAUSTED", "EVENT_LIMIT")
        assert refusal.metadata["limit"] == "6"
        second = await client.window(first.session_token)
        assert second.chain_integrity == taxonomy.CHAIN_INTEGRITY_VALID
