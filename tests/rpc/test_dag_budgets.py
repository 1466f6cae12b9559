"""Budgets of agents' sessions: delegation under the circuit breaker, and what flows back (SPEC-004 §15.2; ADR 0103)."""

import json
from dataclasses import replace

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb
from crp.dpe.v1 import quality_pb2
from prometheus_client import CollectorRegistry

from services.common.errors import ErrorReason, UnavailableError
from services.common.settings.dag import DagSettings
from services.common.taxonomy import ChainIntegrity
from services.dag.domain.keys import MasterKey
from services.dag.master_keys import FixedMasterKeys
from tests.fakes.dag_world import MASTER, NOW, CountingIds, World, commit_request, fitting_report, fresh_uuid

FAN_OUT = taxonomy.DISPATCH_STRATEGY_FAN_OUT
FAN_IN = taxonomy.DISPATCH_STRATEGY_FAN_IN
REFLEXIVE = taxonomy.DISPATCH_STRATEGY_REFLEXIVE
STATES = {0.55: "CLOSED", 0.5: "HALF_OPEN", 0.15: "HALF_OPEN", 0.1: "OPEN", 0.05: "OPEN"}


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


def create(parent, **fields):
    return pb.CreateSessionRequest(request_id=fresh_uuid(), agent_session_parent=parent.session.session_id, **fields)


def opening(token="", **fields):
    values = {"request_id": fresh_uuid(), "session_token": token, "available_budget_tokens": 1000}
    return pb.OpenWindowRequest(**(values | fields))


async def agent_of(client, parent, **fields):
    return await client.call("CreateSession", create(parent, **fields))


async def left(client, answer):
    """What a session has left, and its breaker."""
    found = await client.call("GetDag", pb.GetDagRequest(session_id=answer.session.session_id))
    return found.session.safety_budget, taxonomy.BreakerState.Name(found.session.circuit_breaker)[14:]


def events(world, answer, kind):
    held = world.held(answer.session.session_id).events
    return [json.loads(event.data) for event in held if event.event_type == kind]


async def valid(world, *answers):
    for answer in answers:
        verification = await world.reads.verify("tenant-a", answer.session.session_id)
        assert verification.integrity in {ChainIntegrity.VALID, ChainIntegrity.UNVERIFIED}, verification


async def test_an_agent_that_has_as_much_left_as_who_sent_it_lowers_nothing(world, client):
    parent = await client.window(risk="HIGH")
    answer = await client.window((await agent_of(client, parent)).session_token)
    assert answer.safety_budget == parent.safety_budget == 0.85
    assert events(world, parent, "SAFETY_BUDGET_LOWERED") == []


# Delegation.


@pytest.mark.parametrize(("budget", "state"), STATES.items(), ids=map(str, STATES))
async def test_nothing_is_delegated_unless_the_breaker_is_closed(client, budget, state):
    parent = await client.commit(await client.open(safety_budget_ceiling=budget))
    assert await left(client, parent) == (budget, state)
    asks = [("CreateSession", create(parent)), ("OpenWindow", opening(agent_session_parent=parent.session.session_id))]
    asks += [
        ("OpenWindow", opening(parent.session_token, strategy=f"DISPATCH_STRATEGY_{strategy}"))
        for strategy in ("FAN_OUT", "HIERARCHICAL", "BATCH")
    ]
    for rpc, ask in asks:
        if state == "CLOSED":
            await client.call(rpc, ask)
            continue
        refusal = await client.fails(rpc, ask)
        assert (refusal.code.name, refusal.reason) == ("FAILED_PRECONDITION", "DELEGATION_SUSPENDED")
        expected = {"safety_budget": f"{budget:g}", "circuit_breaker": state}
        assert expected.items() <= refusal.metadata.items()


async def test_a_line_a_branch_and_a_fan_in_are_no_delegation(client):
    root = await client.window()
    children = [await client.open(root.session_token, strategy=FAN_OUT) for _ in range(2)]
    children = [
        await client.commit(child, risk=risk) for child, risk in zip(children, ("CRITICAL", "CRITICAL"), strict=True)
    ]
    low = await client.window(children[0].session_token, risk="HIGH")
    assert (low.safety_budget, low.circuit_breaker) == (0.5, taxonomy.BREAKER_STATE_HALF_OPEN)
    pointers = [low.continuation_id, children[1].continuation_id]
    merged = await client.window(low.session_token, continuation_ids=pointers, strategy=FAN_IN)
    checked = await client.open(merged.session_token, strategy=REFLEXIVE)
    await client.open(merged.session_token, strategy=REFLEXIVE, branch=True)
    assert checked.circuit_breaker == taxonomy.BREAKER_STATE_HALF_OPEN


async def test_a_ceiling_for_the_child_is_not_the_budget_of_who_delegates(client):
    parent = await client.window()
    child = await client.open(parent.session_token, strategy=FAN_OUT, safety_budget_ceiling=0.3)
    assert (child.safety_budget, child.circuit_breaker) == (0.3, taxonomy.BREAKER_STATE_HALF_OPEN)
    agent = await agent_of(client, parent, safety_budget_ceiling=0.3)
    assert (agent.session.safety_budget, agent.session.circuit_breaker) == (0.3, taxonomy.BREAKER_STATE_HALF_OPEN)


async def test_a_session_without_windows_hands_on_no_more_than_it_was_given(client):
    first = await agent_of(client, await client.window(risk="HIGH"), safety_budget_ceiling=0.7)
    second = await agent_of(client, first)
    assert second.session.safety_budget == 0.7
    assert (await client.open(second.session_token)).safety_budget == 0.7


async def test_the_state_stands_in_every_answer(client):
    opened = await client.open(safety_budget_ceiling=0.6)
    committed = await client.commit(opened, risk="HIGH")
    assert (opened.circuit_breaker, committed.circuit_breaker) == (
        taxonomy.BREAKER_STATE_CLOSED,
        taxonomy.BREAKER_STATE_HALF_OPEN,
    )
    assert committed.session.circuit_breaker == taxonomy.BREAKER_STATE_HALF_OPEN


@pytest.mark.parametrize(
    ("profile", "budget", "halts"),
    [("spec-004", 0.05, False), ("spec-004", 0.0, True), ("spec-012", 0.1, True), ("spec-012", 0.100001, False)],
)
async def test_a_window_that_starts_with_a_spent_budget_says_so(profile, budget, halts):
    async with World(settings=DagSettings(budget_profile=profile)).serving() as client:
        opened = await client.open(safety_budget_ceiling=budget)
        assert opened.halt_reason == ("SAFETY_BUDGET_DEPLETED" if halts else "")


# Flowing back.


async def test_each_commit_that_spends_lowers_the_parent_and_both_trails_say_so(world, client):
    parent = await client.window(risk="HIGH")
    agent = await client.window(agent_session_parent=parent.session.session_id, risk="MEDIUM")
    assert (agent.safety_budget, await left(client, parent)) == (0.80, (0.80, "CLOSED"))
    agent = await client.window(agent.session_token, risk="CRITICAL")
    assert (agent.safety_budget, await left(client, parent)) == (0.45, (0.45, "HALF_OPEN"))
    lowered = events(world, parent, "SAFETY_BUDGET_LOWERED")
    assert [(e["safety_budget_before"], e["safety_budget"], e["circuit_breaker"]) for e in lowered] == [
        (0.85, 0.80, "CLOSED"),
        (0.80, 0.45, "HALF_OPEN"),
    ]
    spent = {"session_id": agent.session.session_id, "window_id": agent.window.window_id}
    assert (lowered[1]["agent_session_id"], lowered[1]["spent_in"]) == (agent.session.session_id, spent)
    returned = events(world, agent, "SAFETY_BUDGET_RETURNED")
    above = parent.session.session_id
    assert [(e["safety_budget"], e["lowered"]) for e in returned] == [
        (0.80, [{"session_id": above, "safety_budget_before": 0.85}]),
        (0.45, [{"session_id": above, "safety_budget_before": 0.80}]),
    ]
    synthesis = await client.window(parent.session_token)
    assert synthesis.safety_budget == 0.45
    await valid(world, parent, agent)


async def test_what_costs_nothing_leaves_the_parent_untouched(world, client):
    parent = await client.window(risk="HIGH")
    before = world.held(parent.session.session_id).record
    agent = await client.window(agent_session_parent=parent.session.session_id)
    await client.window(agent.session_token)
    assert world.held(parent.session.session_id).record == before
    assert events(world, agent, "SAFETY_BUDGET_RETURNED") == []


async def test_the_minimum_is_taken_in_whatever_order_agents_return(world, client):
    parent = await client.window(risk="HIGH")
    agents = [await agent_of(client, parent) for _ in range(3)]
    for agent, risk, expected in zip(agents, ("HIGH", "CRITICAL", "MEDIUM"), (0.70, 0.50, 0.50), strict=True):
        await client.window(agent.session_token, risk=risk)
        assert (await left(client, parent))[0] == expected
    assert len(events(world, parent, "SAFETY_BUDGET_LOWERED")) == 2


async def test_it_goes_up_to_the_root_in_one_write(world, client):
    sessions = [await client.window()]
    for _ in range(3):
        sessions.append(await client.window(agent_session_parent=sessions[-1].session.session_id))
    versions = [world.held(each.session.session_id).record.version for each in sessions]
    last = await client.window(sessions[-1].session_token, risk="CRITICAL")
    assert [await left(client, each) for each in sessions] == [(0.65, "CLOSED")] * 4
    now = [world.held(each.session.session_id).record.version for each in sessions]
    assert now == [version + 1 for version in versions[:-1]] + [versions[-1] + 2]  # opened and committed
    ids = [each.session.session_id for each in sessions]
    (returned,) = events(world, last, "SAFETY_BUDGET_RETURNED")
    assert [each["session_id"] for each in returned["lowered"]] == ids[2::-1]
    agents = [events(world, each, "SAFETY_BUDGET_LOWERED")[0]["agent_session_id"] for each in sessions[:-1]]
    assert agents == ids[1:]
    await valid(world, *sessions)


async def test_a_window_that_was_open_meanwhile_is_charged_from_the_minimum(client):
    parent = await client.window()
    synthesis = await client.open(parent.session_token)
    agent = await client.window(agent_session_parent=parent.session.session_id, risk="CRITICAL")
    assert (synthesis.safety_budget, agent.safety_budget) == (1.0, 0.65)
    assert (await client.commit(synthesis, risk="MEDIUM")).safety_budget == 0.60


async def test_a_ceiling_comes_back_as_the_minimum_of_section_15_2(client):
    parent = await client.window()
    agent = await agent_of(client, parent, safety_budget_ceiling=0.62)
    assert (await left(client, parent))[0] == 1.0  # nothing was answered yet
    await client.window(agent.session_token)
    assert (await left(client, parent))[0] == 0.62
    ceiling = await client.open(parent.session_token, safety_budget_ceiling=0.31)
    assert ceiling.safety_budget == 0.31


async def test_a_repeated_commit_returns_once(world, client):
    parent = await client.window()
    request = commit_request(await client.open(agent_session_parent=parent.session.session_id), risk="HIGH")
    first = await client.call("CommitWindow", request)
    held = world.held(parent.session.session_id).record
    assert await client.call("CommitWindow", request) == first
    assert world.held(parent.session.session_id).record == held


async def test_a_spent_agent_leaves_its_parent_a_spent_budget(client):
    parent = await client.window()
    agent = await agent_of(client, parent)
    for _ in range(3):
        agent = await client.window(agent.session_token, risk="CRITICAL")
    assert (agent.halt_reason, agent.session.status) == (
        "SAFETY_BUDGET_DEPLETED",
        dag_pb2.SESSION_STATUS_COMPLETED,
    )
    assert await left(client, parent) == (0.0, "OPEN")
    assert (await client.fails("CreateSession", create(parent))).metadata["circuit_breaker"] == "OPEN"
    opened = await client.open(parent.session_token)
    assert (opened.safety_budget, opened.halt_reason) == (0.0, "SAFETY_BUDGET_DEPLETED")


@pytest.mark.parametrize("end", ["TerminateSession", "EraseSession"])
async def test_a_parent_that_ended_stays_as_it_is_and_is_passed_over(world, client, end):
    top = await client.window()
    parent = await client.window(agent_session_parent=top.session.session_id)
    agent = await client.window(agent_session_parent=parent.session.session_id)
    kinds = {"TerminateSession": pb.TerminateSessionRequest, "EraseSession": pb.EraseSessionRequest}
    ended = kinds[end](request_id=fresh_uuid(), session_id=parent.session.session_id, reason="done")
    await client.call(end, ended)
    before = world.held(parent.session.session_id).record
    agent = await client.window(agent.session_token, risk="HIGH")
    assert world.held(parent.session.session_id).record == before
    assert await left(client, top) == (0.85, "CLOSED")
    (lowered,) = events(world, top, "SAFETY_BUDGET_LOWERED")
    assert lowered["agent_session_id"] == parent.session.session_id
    await valid(world, top, agent)


class Failing:
    """A store that is out of reach for every write that touches one session."""

    def __init__(self, store, session_id):
        self._store, self._session_id = store, session_id

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def write(self, *changes):
        if any(change.session.session_id == self._session_id for change in changes):
            raise UnavailableError(ErrorReason.STORE_UNAVAILABLE, "down")
        await self._store.write(*changes)


@pytest.mark.parametrize("down", [0, 1, 2], ids=["top", "parent", "agent"])
async def test_one_that_cannot_be_written_leaves_all_as_they_were(world, client, down):
    sessions = [await client.window()]
    for _ in range(2):
        sessions.append(await client.window(agent_session_parent=sessions[-1].session.session_id))
    pending = await client.open(sessions[-1].session_token)
    ids = [each.session.session_id for each in sessions]
    before = [(world.held(each).record, len(world.held(each).events)) for each in ids]
    world.app._writer._store = Failing(world.store, ids[down])
    request = commit_request(pending, risk="HIGH")
    assert (await client.fails("CommitWindow", request)).reason == "STORE_UNAVAILABLE"
    assert [(world.held(each).record, len(world.held(each).events)) for each in ids] == before
    world.app._writer._store = world.store
    assert (await client.call("CommitWindow", request)).safety_budget == 0.85
    assert [(await left(client, each))[0] for each in sessions] == [0.85] * 3
    await valid(world, *sessions)


async def test_a_parent_that_does_not_verify_is_not_written_over(world, client):
    parent = await client.window()
    agent = await client.open(agent_session_parent=parent.session.session_id)
    world.tamper(parent.session.session_id, parent.window.window_id, strategy="pull")
    before = world.held(parent.session.session_id).record
    committed = await client.commit(agent, risk="HIGH")
    assert committed.safety_budget == 0.85
    assert world.held(parent.session.session_id).record == before
    assert events(world, committed, "SAFETY_BUDGET_RETURNED") == []


async def test_sessions_that_point_at_each_other_end(world, client):
    """What no write makes and a hand in the store may: the way up goes through no session twice."""
    parent = await client.window()
    agent = await client.open(agent_session_parent=parent.session.session_id)
    held = world.held(parent.session.session_id)
    held.record = replace(held.record, parent_session_id=agent.session.session_id)
    assert (await client.commit(agent, risk="HIGH")).safety_budget == 0.85


async def test_an_ended_agent_returns_what_an_earlier_version_did_not(world, client):
    parent = await client.window()
    agent = await client.open(agent_session_parent=parent.session.session_id)

    async def of_before(*_):
        return None

    upward, world.app._returns.upward = world.app._returns.upward, of_before
    committed = await client.commit(agent, risk="HIGH")
    world.app._returns.upward = upward
    assert (await left(client, parent))[0] == 1.0
    end = pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=committed.session.session_id, reason="done")
    await client.call("TerminateSession", end)
    assert (await left(client, parent))[0] == 0.85
    last = [event.event_type for event in world.held(committed.session.session_id).events[-2:]]
    assert last == ["SAFETY_BUDGET_RETURNED", "SESSION_TERMINATED"]
    await valid(world, parent, committed)


async def test_an_agent_that_answered_nothing_returns_nothing(client):
    parent = await client.window()
    agent = await agent_of(client, parent, safety_budget_ceiling=0.2)
    end = pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=agent.session.session_id, reason="done")
    await client.call("TerminateSession", end)
    assert (await left(client, parent))[0] == 1.0


async def test_another_tenants_session_is_no_parent(world, client):
    parent = await client.window()
    for rpc, ask in (
        ("CreateSession", create(parent)),
        ("OpenWindow", opening(agent_session_parent=parent.session.session_id)),
    ):
        assert (await client.fails(rpc, ask, subject="mallory")).reason == "SESSION_NOT_FOUND"
    # One of the same id in the other tenant's store is another session.
    world.store._sessions["tenant-m", parent.session.session_id] = replace(
        world.held(parent.session.session_id),
        record=replace(world.held(parent.session.session_id).record, tenant_id="tenant-m"),
    )
    await client.window(agent_session_parent=parent.session.session_id, risk="HIGH")
    assert world.held(parent.session.session_id, "tenant-m").record.budget_ceiling == 1.0
    assert (await left(client, parent))[0] == 0.85


async def test_sessions_under_different_master_keys():
    second = MasterKey(2, bytes(range(32, 64)))
    world = World()
    async with world.serving() as client:
        parent = await client.window()
    rotated = replace_keys(world, {1: replace(MASTER, retired_at=NOW), 2: second})
    async with rotated.serving() as client:
        agent = await client.window(agent_session_parent=parent.session.session_id, risk="HIGH")
        assert (agent.session.key_version, parent.session.key_version) == (2, 1)
        assert (await left(client, parent))[0] == 0.85
        await valid(rotated, parent, agent)
    without = replace_keys(rotated, {2: second})
    async with without.serving() as client:
        opened = await client.open(agent.session_token)
        refusal = await client.fails("CommitWindow", commit_request(opened, risk="HIGH"))
        assert (refusal.code.name, refusal.reason) == ("UNAVAILABLE", "SERVICE_UNAVAILABLE")
        assert refusal.metadata["key_version"] == "1"
        status = await client.call("GetDag", pb.GetDagRequest(session_id=agent.session.session_id))
        assert [window.status for window in status.windows][-1] == dag_pb2.WINDOW_STATUS_PENDING


def replace_keys(world, keys):
    return World(
        store=world.store, clock=world.clock, ids=CountingIds(prefix=f"k{len(keys)}x"), keys=FixedMasterKeys(keys)
    )


async def test_an_agent_that_goes_on_elsewhere_has_no_parent_there():
    """A token names no parent (§10.1): what is spent in another store comes up when the session is back (ADR 0103)."""
    here, there = World(), World(ids=CountingIds(prefix="y"))
    async with here.serving() as home, there.serving() as away:
        parent = await home.window()
        agent = await home.window(agent_session_parent=parent.session.session_id)
        moved = await away.window(agent.session_token, risk="HIGH")
        assert (moved.safety_budget, moved.session.parent_session_id) == (0.85, "")
        assert (await left(home, parent))[0] == 1.0


@pytest.mark.parametrize("ceiling", [1.0, 0.99, 0.3])
async def test_a_ceiling_that_is_changed_in_the_store_is_found(world, client, ceiling):
    parent = await client.window()
    await client.window(agent_session_parent=parent.session.session_id, risk="HIGH")
    held = world.held(parent.session.session_id)
    assert held.record.budget_ceiling == 0.85
    held.record = replace(held.record, budget_ceiling=ceiling)
    found = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=parent.session.session_id))
    assert (found.integrity, found.fault.record_kind) == (taxonomy.CHAIN_INTEGRITY_BROKEN, "session")
    assert (await client.fails("CreateSession", create(parent))).reason == "CHAIN_BROKEN"


async def test_callers_cannot_write_the_events_themselves(client):
    parent = await client.window()
    for kind in ("RETURNED", "LOWERED"):
        ask = pb.AppendEventRequest(
            request_id=fresh_uuid(),
            session_id=parent.session.session_id,
            data="{}",
            event_type=f"AUDIT_EVENT_TYPE_SAFETY_BUDGET_{kind}",
        )
        assert (await client.fails("AppendEvent", ask)).reason == "INVALID_FIELD"


async def test_what_the_service_counts(world, client):
    registry = CollectorRegistry()
    registry.register(world.app.budgets)

    def count(name, **labels):
        return registry.get_sample_value(f"groundtrail_{name}_total", labels)

    parent = await client.window(risk="HIGH")
    request = commit_request(await client.open(agent_session_parent=parent.session.session_id), risk="CRITICAL")
    for _ in range(2):  # a repeated request is answered, and not counted
        await client.call("CommitWindow", request)
    for ask in (create(parent), create(parent)):
        assert (await client.fails("CreateSession", ask)).reason == "DELEGATION_SUSPENDED"
    ask = opening(parent.session_token, strategy=FAN_OUT)
    assert (await client.fails("OpenWindow", ask)).reason == "DELEGATION_SUSPENDED"
    states = {state: count("safety_budget_commits", circuit_breaker=state) for state in ("CLOSED", "HALF_OPEN", "OPEN")}
    assert states == {"CLOSED": 1.0, "HALF_OPEN": 1.0, "OPEN": 0.0}
    assert count("delegations_suspended", circuit_breaker="HALF_OPEN") == 3.0
    assert count("safety_budgets_lowered") == 1.0


# Refusals (ADR 0096).


def refusing(opened, text, risk):
    status = quality_pb2.RELEVANCE_STATUS_REFUSAL
    return fitting_report(opened, text, risk, relevance=quality_pb2.Relevance(status=status))


async def test_forty_refusals_in_a_row_leave_the_budget_untouched():
    world = World(settings=DagSettings(max_windows=41))
    async with world.serving() as client:
        answer = await client.window(risk="HIGH")
        for number in range(40):
            opened = await client.open(answer.session_token)
            risk = ("LOW", "MEDIUM")[number % 2]
            answer = await client.commit(
                opened, "The documents do not say.", report=refusing(opened, "The documents do not say.", risk)
            )
            assert answer.safety_budget == 0.85
        assert len(answer.quality_history) == 41  # a refusal's window has its entry as any other (§13.1)
        await valid(world, answer)


@pytest.mark.parametrize(("risk", "left"), [("HIGH", 0.85), ("CRITICAL", 0.65)])
async def test_a_refusal_that_its_own_report_contradicts_is_charged(client, risk, left):
    opened = await client.open()
    answer = await client.commit(opened, "No.", report=refusing(opened, "No.", risk))
    assert answer.safety_budget == left
