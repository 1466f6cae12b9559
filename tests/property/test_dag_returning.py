"""32 agents' sessions of one parent end at once, through two instances on one store (SPEC-004 §15.2; ADR 0103)."""

import asyncio
import json
import random

import pytest

from services.common.ports.sessions import SessionStatus
from services.common.rpc.canonical import message_json
from services.common.taxonomy import ChainIntegrity
from services.dag.beginning import CreateCommand
from services.dag.domain.budget import after_window
from services.dag.domain.committing import CommitCommand
from services.dag.domain.opening import OpenCommand
from services.dag.reading import SessionReads
from tests.fakes.dag_world import report_for
from tests.property.test_dag_writers import Client, stores  # noqa: F401 - the fixture

AGENTS = 32
RISKS = ("LOW", "MEDIUM", "HIGH", "CRITICAL")


async def commit(client, opened, risk):
    window, text = opened.window, f"answer of {opened.window.window_id}"
    report = report_for(window.session_id, window.window_id, window.window_number, text, risk)
    ask = CommitCommand(window.session_id, window.window_id, text, message_json(report), risk, "A", response_tokens=9)
    return await client.call("commit_window", ask)


async def held(client, session_id):
    return (await client.app.chains.snapshot("tenant-a", session_id)).session


async def trail(store, session_id, kind):
    events = await store.page_events("tenant-a", session_id, after_sequence=-1, limit=10_000)
    return [json.loads(event.data) for event in events if event.event_type == kind]


@pytest.mark.tenth
@pytest.mark.parametrize("instances", [2, AGENTS])
@pytest.mark.parametrize("depth", [1, 3])
async def test_thirty_two_agents_end_at_once(stores, depth, instances):  # noqa: F811
    """Whatever the order, the parent ends at the minimum, every trail verifies, and the two sides tell the same.

    Each instance has queues of its own, as in a process of its own.
    """
    rng = random.Random(depth)
    clients = [Client(stores[number % 2]) for number in range(instances)]
    above = [await commit(clients[0], await clients[0].open("", "push"), "LOW")]
    for _ in range(depth - 1):
        ask = OpenCommand("push", "r", parent_session_id=above[-1].session.session_id)
        above.append(await commit(clients[0], await clients[0].call("open_window", "", ask), "LOW"))
    parent_id = above[-1].session.session_id
    agents = [
        await clients[n % instances].call("create_session", CreateCommand(parent_session_id=parent_id))
        for n in range(AGENTS)
    ]

    async def work(number, agent):
        client, token, answer = clients[number % instances], agent.issued.session_token, None
        for risk in rng.choices(RISKS, k=2):
            answer = await commit(client, await client.open(token, "push"), risk)
            token = answer.issued.session_token
            if answer.session.status is not SessionStatus.OPEN:
                return answer.window.safety_budget
        await client.call("terminate_session", agent.session.session_id, "done")
        return answer.window.safety_budget

    left = await asyncio.gather(*(work(number, agent) for number, agent in enumerate(agents)))
    reads = SessionReads(stores[0], clients[0].app.chains)
    for each in above:
        assert (await held(clients[0], each.session.session_id)).budget_ceiling == min(left)
        assert (await reads.verify("tenant-a", each.session.session_id)).integrity is ChainIntegrity.VALID
        lowered = await trail(stores[0], each.session.session_id, "SAFETY_BUDGET_LOWERED")
        budgets = [1.0, *(event["safety_budget"] for event in lowered)]
        assert budgets == sorted(set(budgets), reverse=True)  # each event lowers it, none is lost
        assert budgets[:-1] == [event["safety_budget_before"] for event in lowered]
    told = {}
    for agent in agents:
        assert (await reads.verify("tenant-a", agent.session.session_id)).integrity is ChainIntegrity.VALID
        for event in await trail(stores[0], agent.session.session_id, "SAFETY_BUDGET_RETURNED"):
            told[event["lowered"][0]["safety_budget_before"]] = event["safety_budget"]
    own = await trail(stores[0], parent_id, "SAFETY_BUDGET_LOWERED")
    assert told == {event["safety_budget_before"]: event["safety_budget"] for event in own}
    assert min(left) < after_window(1.0, "MEDIUM")
