"""Agents' sessions under an orchestrator's (SPEC-004 §15), and the bound on appended events."""

import asyncio
import json
from dataclasses import replace

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.settings.dag import DagSettings
from tests.fakes.dag_world import World, fresh_uuid

FAN_OUT = taxonomy.DISPATCH_STRATEGY_FAN_OUT
FAN_IN = taxonomy.DISPATCH_STRATEGY_FAN_IN


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


def open_request(parent, **fields):
    values = {"request_id": fresh_uuid(), "session_token": parent.session_token, "available_budget_tokens": 1000}
    return pb.OpenWindowRequest(**(values | fields))


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


def merging(parent, *agents, **fields):
    """A synthesis of agents' own sessions behind the orchestrator's window."""
    named = [agent.session.session_id for agent in agents]
    return {"strategy": FAN_IN, "agent_sessions": named, "available_budget_tokens": 1000} | fields


async def agent_under(client, parent, *answers, risk="LOW"):
    """A session under another one, with a window for each answer; its latest."""
    opened = await client.open(agent_session_parent=parent.session.session_id)
    latest = await client.commit(opened, answers[0], risk=risk)
    for answer in answers[1:]:
        latest = await client.commit(await client.open(latest.session_token), answer, risk=risk)
    return latest


async def test_a_fan_in_merges_the_latest_answers_of_agents_own_sessions(world, client):
    """§15.1: agents with chains of two, three and one windows; the synthesis is the orchestrator's second window."""
    orchestrator = await client.window()
    a = await agent_under(client, orchestrator, "A began.", "A found.\n\nA concludes.", risk="MEDIUM")
    b = await agent_under(client, orchestrator, "B began.", "B went on.", "B concludes.")
    c = await agent_under(client, orchestrator, "C concludes.")
    opened = await client.open(orchestrator.session_token, **merging(orchestrator, a, b, c))
    own, *agents = opened.parents
    assert own.window_id == orchestrator.window.window_id
    assert [each.response_text for each in agents] == ["A concludes.", "B concludes.", "C concludes."]
    assert {each.transfer_type for each in agents} == {dag_pb2.TRANSFER_TYPE_RESULT_ONLY}
    assert [each.window_id for each in agents] == [each.window.window_id for each in (a, b, c)]
    assert list(opened.window.parent_ids) == [orchestrator.window.window_id]
    assert (opened.window.window_number, opened.safety_budget) == (2, min(a.safety_budget, 1.0))
    synthesis = await client.commit(opened, "All of it.")
    events = world.held(orchestrator.session.session_id).events
    (merged,) = [json.loads(event.data) for event in events if event.event_type == "FAN_IN_MERGED"]
    assert merged["agents"] == {
        each.window.window_id: {
            "hmac": each.window.hmac,
            "safety_budget": each.safety_budget,
            "session_id": each.session.session_id,
        }
        for each in (a, b, c)
    }
    for session in (synthesis, a, b, c):
        request = pb.VerifyChainRequest(session_id=session.session.session_id)
        assert (await client.call("VerifyChain", request)).integrity == taxonomy.CHAIN_INTEGRITY_VALID
    # The agents' sessions go on: nothing of theirs was taken.
    assert (await client.window(c.session_token)).window.window_number == 2


async def test_the_dag_shows_which_answers_of_agents_were_merged(client):
    orchestrator = await client.window()
    a = await agent_under(client, orchestrator, "A began.", "A concludes.", risk="MEDIUM")
    b = await agent_under(client, orchestrator, "B concludes.")
    synthesis = await client.open(orchestrator.session_token, **merging(orchestrator, a, b))
    request = pb.GetDagRequest(session_id=orchestrator.session.session_id, format=pb.DAG_FORMAT_DOT)
    for _ in range(2):  # while it is pending, and once it is committed
        found = await client.call("GetDag", request)
        assert sorted(found.agents, key=lambda each: each.session_id) == list(found.agents)
        assert {each.window_id: (each.target_id, each.session_id, each.hmac) for each in found.agents} == {
            each.window.window_id: (synthesis.window.window_id, each.session.session_id, each.window.hmac)
            for each in (a, b)
        }
        assert {each.session_id: each.safety_budget for each in found.agents} == {
            each.session.session_id: each.safety_budget for each in (a, b)
        }
        assert a.session.session_id in found.rendered
        if synthesis.window.status == dag_pb2.WINDOW_STATUS_PENDING:
            synthesis = await client.commit(synthesis, "All of it.")
    own = await client.call("GetDag", pb.GetDagRequest(session_id=a.session.session_id))
    assert not own.agents
    erased = pb.EraseSessionRequest(
        request_id=fresh_uuid(), session_id=orchestrator.session.session_id, reason="asked for"
    )
    await client.call("EraseSession", erased)
    assert not (await client.call("GetDag", request)).agents


async def test_an_event_that_names_agents_as_nobody_writes_them_is_an_unreadable_record(world, client):
    orchestrator = await client.window()
    agent = await agent_under(client, orchestrator, "Done.")
    await client.open(orchestrator.session_token, **merging(orchestrator, agent))
    session_id = orchestrator.session.session_id
    held = world.held(session_id)
    at = next(i for i, event in enumerate(held.events) if '"agents"' in event.data)
    held.events[at] = replace(held.events[at], data='{"agents":{"crp_win_x":7}}')
    refusal = await client.fails("GetDag", pb.GetDagRequest(session_id=session_id))
    assert (refusal.reason, refusal.metadata["record_id"]) == ("RECORD_UNREADABLE", str(held.events[at].sequence))


async def test_agents_chains_are_recomputed_after_every_other_refusal(world, client):
    """What is refused anyway recomputes nothing, and leaves a broken session as it found it."""
    orchestrator, stranger = await client.window(), await client.window()
    world.tamper(stranger.session.session_id, stranger.window.window_id, risk_level="CRITICAL")
    asked = open_request(orchestrator, **merging(orchestrator, stranger))
    assert (await client.fails("OpenWindow", asked)).reason == "UNSUPPORTED_STRATEGY"
    found = await client.call("GetDag", pb.GetDagRequest(session_id=stranger.session.session_id))
    assert found.session.status == dag_pb2.SESSION_STATUS_OPEN
    agent = await agent_under(client, orchestrator, "Done.")
    world.tamper(agent.session.session_id, agent.window.window_id, risk_level="CRITICAL")
    asked = open_request(orchestrator, **merging(orchestrator, agent))
    assert (await client.fails("OpenWindow", asked)).reason == "CHAIN_BROKEN"
    found = await client.call("GetDag", pb.GetDagRequest(session_id=agent.session.session_id))
    assert found.session.status == dag_pb2.SESSION_STATUS_BROKEN


async def test_what_an_agent_has_not_answered_is_waited_for_or_left_out(client):
    orchestrator = await client.window()
    done = await agent_under(client, orchestrator, "Done.")
    silent = await client.call("CreateSession", create(orchestrator))
    asking = merging(orchestrator, done, silent)
    refusal = await client.fails("OpenWindow", open_request(orchestrator, **asking))
    told = (refusal.code.name, refusal.reason, refusal.metadata["session_id"], refusal.metadata["status"])
    assert told == ("FAILED_PRECONDITION", "FAN_IN_INCOMPLETE", silent.session.session_id, "NO_ANSWER")
    assert "window_id" not in refusal.metadata
    partial = asking | {"fan_in_policy": pb.FAN_IN_POLICY_PARTIAL}
    nobody = partial | {"agent_sessions": [silent.session.session_id]}
    assert (await client.fails("OpenWindow", open_request(orchestrator, **nobody))).reason == "FAN_IN_INCOMPLETE"
    pending = await client.open(done.session_token)
    refusal = await client.fails("OpenWindow", open_request(orchestrator, **partial))
    assert (refusal.reason, refusal.metadata["window_id"]) == ("FAN_IN_INCOMPLETE", pending.window.window_id)
    await client.commit(pending, "Done again.")
    opened = await client.open(orchestrator.session_token, **partial)
    assert [parent.response_text for parent in opened.parents[1:]] == ["Done again."]
    assert list(opened.agents_left_out) == [silent.session.session_id]


async def test_a_window_that_nobody_will_commit_any_more_is_not_waited_for(world, client):
    orchestrator = await client.window()
    agent = await agent_under(client, orchestrator, "Done.")
    await client.open(agent.session_token)
    asked = merging(orchestrator, agent)
    assert (await client.fails("OpenWindow", open_request(orchestrator, **asked))).reason == "FAN_IN_INCOMPLETE"
    world.clock.advance(seconds=901)
    opened = await client.open(orchestrator.session_token, **asked)
    assert [parent.response_text for parent in opened.parents[1:]] == ["Done."]


async def test_an_answer_stands_though_what_came_behind_it_failed(client):
    orchestrator = await client.window()
    agent = await agent_under(client, orchestrator, "Began.", "Done.")
    failing = await client.open(agent.session_token)
    ids = {"session_id": agent.session.session_id, "window_id": failing.window.window_id}
    await client.call("FailWindow", pb.FailWindowRequest(request_id=fresh_uuid(), reason="TIMEOUT", **ids))
    opened = await client.open(orchestrator.session_token, **merging(orchestrator, agent))
    assert [parent.response_text for parent in opened.parents[1:]] == ["Done."]
    assert not opened.agents_left_out


async def test_the_windows_and_the_agents_that_are_merged_share_the_budget(client):
    """§12.2: a summary takes at most 30% of what its parent has, here a third of 300 tokens."""
    long = await client.commit(await client.open(), "At length.\n\nThe conclusion.", response_tokens=1000)
    agents = [await agent_under(client, long, "Done.") for _ in range(2)]
    asked = merging(long, *agents, available_budget_tokens=300, summariser_available=True)
    own, *_ = (await client.open(long.session_token, **asked)).parents
    assert (own.transfer_type, own.summary_tokens) == (dag_pb2.TRANSFER_TYPE_SUMMARY, 30)


async def test_only_sessions_under_this_one_are_merged_and_only_by_a_fan_in(world, client):
    orchestrator = await client.window()
    agent = await agent_under(client, orchestrator, "Done.")
    below = await agent_under(client, agent, "Deeper.")
    stranger = await client.window()
    for other in (below, stranger, orchestrator):
        refusal = await client.fails("OpenWindow", open_request(orchestrator, **merging(orchestrator, other)))
        assert (refusal.code.name, refusal.reason) == ("FAILED_PRECONDITION", "UNSUPPORTED_STRATEGY")
    asked = open_request(orchestrator, **merging(orchestrator, agent, strategy=FAN_OUT))
    assert (await client.fails("OpenWindow", asked)).reason == "UNSUPPORTED_STRATEGY"
    asked = open_request(orchestrator, **merging(orchestrator, agent, agent_sessions=["crp_sess_" + "0" * 32]))
    assert (await client.fails("OpenWindow", asked)).reason == "SESSION_NOT_FOUND"
    asked = open_request(orchestrator, **merging(orchestrator, agent, agent, agent, session_token=""))
    refusal = await client.fails("OpenWindow", asked)
    assert (refusal.reason, set(refusal.fields)) == ("INVALID_FIELD", {"agent_sessions"})
    world.tamper(agent.session.session_id, agent.window.window_id, risk_level="LOWER")
    asked = open_request(orchestrator, **merging(orchestrator, agent))
    assert (await client.fails("OpenWindow", asked)).reason == "CHAIN_BROKEN"


async def test_an_erased_agents_session_is_not_merged_and_no_more_ends_than_a_window_may_have_children():
    world = World(settings=DagSettings(max_fan_out=1))
    async with world.serving() as client:
        orchestrator = await client.window()
        one, two = [await agent_under(client, orchestrator, "Done.") for _ in range(2)]
        asked = open_request(orchestrator, **merging(orchestrator, one, two))
        assert (await client.fails("OpenWindow", asked)).reason == "FAN_OUT_LIMIT"
        erase = pb.EraseSessionRequest(request_id=fresh_uuid(), session_id=one.session.session_id, reason="asked for")
        await client.call("EraseSession", erase)
        asked = open_request(orchestrator, **merging(orchestrator, one))
        assert (await client.fails("OpenWindow", asked)).reason == "SESSION_CLOSED"
