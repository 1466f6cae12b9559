"""Fan-out, fan-in and branches over gRPC (SPEC-004 §1.2, §6, §7, §11, §16.3, appendix A; ADR 0050, ADR 0051)."""

import asyncio
import itertools
import json
from datetime import UTC
from typing import Any

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.encoding import base64url_decode, iso_micros
from services.common.settings.dag import DagSettings
from tests.fakes.dag_world import CountingIds, World, commit_request, fresh_uuid
from tests.unit.dag import independent

FAN_OUT = taxonomy.DISPATCH_STRATEGY_FAN_OUT
FAN_IN = taxonomy.DISPATCH_STRATEGY_FAN_IN
REFLEXIVE = taxonomy.DISPATCH_STRATEGY_REFLEXIVE
PARTIAL = pb.FAN_IN_POLICY_PARTIAL


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


async def fanned(client, parent, count, **fields):
    """Open ``count`` children of a committed window."""
    return [await client.open(parent.session_token, strategy=FAN_OUT, **fields) for _ in range(count)]


def merge_request(parents, **fields):
    values: dict[str, Any] = {
        "request_id": fresh_uuid(),
        "session_token": parents[0].session_token,
        "continuation_ids": [parent.continuation_id for parent in parents],
        "strategy": FAN_IN,
        "available_budget_tokens": 1000,
    }
    return pb.OpenWindowRequest(**(values | fields))


async def merged(client, parents, **fields):
    return await client.call("OpenWindow", merge_request(parents, **fields))


def missing(refusal):
    return refusal.metadata["window_id"], refusal.metadata["status"]


async def fail(client, opened):
    ids = {"session_id": opened.session.session_id, "window_id": opened.window.window_id}
    await client.call("FailWindow", pb.FailWindowRequest(request_id=fresh_uuid(), reason="LLM_UNAVAILABLE", **ids))


async def events(client, session_id, *types):
    listed = await client.call("ListAuditEvents", pb.ListAuditEventsRequest(session_id=session_id, page_size=1000))
    names = [(dag_pb2.AuditEventType.Name(e.event_type).removeprefix("AUDIT_EVENT_TYPE_"), e) for e in listed.events]
    return [event for name, event in names if name in types]


async def valid(client, session_id):
    found = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id))
    assert found.integrity == taxonomy.CHAIN_INTEGRITY_VALID, found
    return found


async def appendix_a(client):
    """The session of appendix A: three children, one of them continued, then merged."""
    root = await client.window(tier="A")
    a, b, c = await fanned(client, root, 3)
    a = await client.commit(a, "A.", tier="A", risk="MEDIUM")
    b = await client.commit(b, "B.", tier="A", risk="MEDIUM")
    c = await client.commit(c, "C.", tier="B")
    a3 = await client.window(a.session_token, text="A3.", tier="B", risk="HIGH")
    opened = await merged(client, [a3, b, c])
    w4 = await client.commit(opened, "All.", tier="B")
    return root, a, b, c, a3, opened, w4


async def test_appendix_a(client):
    root, a, b, c, a3, opened, w4 = await appendix_a(client)
    numbers = [w.window.window_number for w in (root, a, b, c, a3, w4)]
    assert numbers == [1, 2, 2, 2, 3, 4]
    patterns = [dag_pb2.WindowPattern.Name(w.window.pattern).removeprefix("WINDOW_PATTERN_") for w in (root, a, a3, w4)]
    assert patterns == ["LINEAR", "FAN_OUT", "LINEAR", "FAN_IN"]
    one, two_a, two_b, two_c, three, four = (w.window.window_id for w in (root, a, b, c, a3, w4))
    assert w4.lineage == f"{one} -> [{two_a} -> {three}, {two_b}, {two_c}] -> {four}"
    assert w4.set_session.endswith("Window=4; QualityHistory=A,[A,A,B],[B],B")
    assert (opened.safety_budget, w4.safety_budget) == (0.80, 0.80)
    assert list(w4.window.parent_ids) == sorted([three, two_b, two_c])
    assert [dag_pb2.TransferType.Name(p.transfer_type) for p in opened.parents] == ["TRANSFER_TYPE_RESULT_ONLY"] * 3
    assert [p.window_id for p in opened.parents] == sorted([three, two_b, two_c])
    assert opened.prior_windows[0].text == "The limit is 500 euros."
    assert {p.text for p in opened.prior_windows} == {"The limit is 500 euros.", "A.", "B.", "C.", "A3."}
    payload = json.loads(base64url_decode(w4.session_token.partition(".")[0]))
    assert (payload["win"], payload["dag"], payload["qh"]) == (4, "FAN_IN", ["A", "[A,A,B]", "[B]", "B"])
    found = await valid(client, root.session.session_id)
    assert (found.windows_verified, list(found.tips)) == (6, [w4.window.hmac])
    fifth = await client.window(w4.session_token, tier="A")
    assert fifth.lineage == f"{w4.lineage} -> {fifth.window.window_id}"
    assert fifth.set_session.endswith("QualityHistory=A,[A,A,B],[B],B,A")


async def test_events_of_fan_out_and_fan_in(client):
    root, a, b, c, a3, _, w4 = await appendix_a(client)
    session_id = root.session.session_id
    (created,) = await events(client, session_id, "FAN_OUT_CREATED")
    assert created.window_id == root.window.window_id
    assert json.loads(created.data) == {
        "first_child_id": a.window.window_id,
        "max_fan_out": 10,
        "safety_budget": 1.0,
    }
    (merge,) = await events(client, session_id, "FAN_IN_MERGED")
    assert merge.window_id == w4.window.window_id
    parents = {w.window.window_id: {"hmac": w.window.hmac, "safety_budget": w.safety_budget} for w in (a3, b, c)}
    assert json.loads(merge.data) == {"parents": parents, "fan_in_policy": "require-all", "left_out": []}


async def test_the_fan_in_hmac_is_that_of_the_specification(world, client):
    root, _, b, c, a3, _, w4 = await appendix_a(client)
    key = independent.session_key(world.keys._current.secret.hex(), root.session.session_id, "hmac")
    node = w4.window
    fields = {
        "session_id": node.session_id,
        "window_number": 4,
        "timestamp": iso_micros(node.timestamp.ToDatetime(tzinfo=UTC)),
        "response_text": "All.",
        "report_hash": node.report_hash,
    }
    assert node.hmac == independent.window(key, fields, [c.window.hmac, a3.window.hmac, b.window.hmac])


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
async def test_the_order_in_which_siblings_finish_changes_nothing(order):
    """Same ids and clock for the same windows; only the order of the commits differs."""
    world = World()
    async with world.serving() as client:
        root = await client.window()
        children = await fanned(client, root, 3)
        done = {}
        for index in order:
            done[index] = await client.commit(children[index], f"{index}.", tier="ABC"[index], risk="MEDIUM")
        opened = await merged(client, [done[index] for index in order])
        seen = [
            (
                child.window.window_number,
                list(child.window.parent_ids),
                list(child.facts_seen),
                [prior.window_id for prior in child.prior_windows],
                child.safety_budget,
            )
            for child in children
        ]
        assert seen == [(2, [root.window.window_id], ["f-1", "f-2"], [root.window.window_id], 1.0)] * 3
        assert [p.window_id for p in opened.parents] == sorted(child.window.window_id for child in children)
        synthesis = await client.commit(opened)
        assert synthesis.set_session.endswith("Window=3; QualityHistory=A,[A,B,C],A")
        assert synthesis.safety_budget == 0.95
        ids = ", ".join(sorted(child.window.window_id for child in children))
        assert synthesis.lineage == f"{root.window.window_id} -> [{ids}] -> {synthesis.window.window_id}"
        assert [done[index].quality_history[-1] for index in range(3)] == [2, 3, 4]


async def test_a_child_that_is_opened_late_sees_nothing_of_its_siblings(client):
    root = await client.window()
    (early,) = await fanned(client, root, 1)
    await client.commit(early, facts_included=["f-9"], tier="D", risk="CRITICAL")
    (late,) = await fanned(client, root, 1)
    assert (list(late.facts_seen), late.safety_budget) == (["f-1", "f-2"], 1.0)
    assert [prior.window_id for prior in late.prior_windows] == [root.window.window_id]
    assert late.degradation.level == dag_pb2.DEGRADATION_LEVEL_NONE


async def test_a_fan_out_of_eleven(world, client):
    root = await client.window()
    await fanned(client, root, 10)
    before = len(world.held(root.session.session_id).windows)
    request = reopen(root.session_token, strategy=FAN_OUT)
    refusal = await client.fails("OpenWindow", request)
    assert (refusal.code.name, refusal.reason) == ("RESOURCE_EXHAUSTED", "FAN_OUT_LIMIT")
    assert refusal.metadata["limit"] == "10"
    assert len(world.held(root.session.session_id).windows) == before


def reopen(token, **fields):
    values: dict[str, Any] = {"request_id": fresh_uuid(), "session_token": token, "available_budget_tokens": 1000}
    return pb.OpenWindowRequest(**(values | fields))


async def test_a_failed_or_abandoned_child_gives_its_place_back():
    world = World(settings=DagSettings(max_fan_out=2))
    async with world.serving() as client:
        root = await client.window()
        first, _ = await fanned(client, root, 2)
        await fail(client, first)
        third, *_ = await fanned(client, root, 1)
        world.clock.advance(seconds=901)
        await client.commit(third)
        (fourth,) = await fanned(client, root, 1)
        found = await client.call("GetDag", pb.GetDagRequest(session_id=root.session.session_id))
        states = [dag_pb2.WindowStatus.Name(w.status).removeprefix("WINDOW_STATUS_") for w in found.windows]
        assert sorted(states) == ["COMMITTED", "COMMITTED", "FAILED", "FAILED", "PENDING"]
        assert fourth.window.window_number == 2


async def test_a_slow_sibling_is_not_failed_while_there_is_room(world, client):
    root = await client.window()
    (slow,) = await fanned(client, root, 1)
    world.clock.advance(seconds=901)
    await fanned(client, root, 1)
    committed = await client.commit(slow)
    assert committed.window.status == dag_pb2.WINDOW_STATUS_COMMITTED


async def test_thirty_two_openings_at_once_give_ten_children(world, client):
    root = await client.window()

    async def opening():
        try:
            return await client.open(root.session_token, strategy=FAN_OUT)
        except grpc.aio.AioRpcError as error:
            return error

    answers = await asyncio.gather(*(opening() for _ in range(32)))
    children = [answer for answer in answers if isinstance(answer, pb.OpenWindowResponse)]
    assert len(children) == 10
    committed = await asyncio.gather(*(client.commit(child) for child in children))
    assert {done.window.window_number for done in committed} == {2}
    opened = await merged(client, committed)
    await client.commit(opened)
    assert (await valid(client, root.session.session_id)).windows_verified == 12


async def test_two_instances_on_one_store_do_not_open_an_eleventh():
    here = World(settings=DagSettings(max_fan_out=3))
    there = World(store=here.store, ids=CountingIds(prefix="y"), settings=DagSettings(max_fan_out=3))
    async with here.serving() as one, there.serving() as two:
        root = await one.window()

        async def opening(client):
            try:
                return await client.open(root.session_token, strategy=FAN_OUT)
            except grpc.aio.AioRpcError as error:
                return error

        answers = await asyncio.gather(*(opening(client) for client in (one, two) for _ in range(4)))
        assert sum(isinstance(answer, pb.OpenWindowResponse) for answer in answers) == 3
        await valid(one, root.session.session_id)


async def test_a_fan_out_and_a_line_do_not_mix(client):
    root = await client.window()
    await fanned(client, root, 1)
    refusal = await client.fails("OpenWindow", reopen(root.session_token))
    assert (refusal.code.name, refusal.reason) == ("UNAUTHENTICATED", "TOKEN_SPENT")
    other = await client.window()
    await client.open(other.session_token)
    refusal = await client.fails("OpenWindow", reopen(other.session_token, strategy=FAN_OUT))
    assert refusal.reason == "TOKEN_SPENT"


@pytest.mark.parametrize("strategy", ["HIERARCHICAL", "BATCH"])
async def test_sub_queries_and_independent_queries_are_a_fan_out(client, strategy):
    root = await client.window()
    strategy = taxonomy.DispatchStrategy.Value(f"DISPATCH_STRATEGY_{strategy}")
    opened = [await client.open(root.session_token, strategy=strategy) for _ in range(2)]
    assert {o.window.pattern for o in opened} == {dag_pb2.WINDOW_PATTERN_FAN_OUT}
    committed = [await client.commit(o) for o in opened]
    synthesis = await merged(client, committed, strategy=strategy)
    assert synthesis.window.pattern == dag_pb2.WINDOW_PATTERN_FAN_IN


async def test_after_a_fan_in_every_token_of_the_fan_out_is_spent(client):
    root = await client.window()
    a, b = [await client.commit(child) for child in await fanned(client, root, 2)]
    opened = await merged(client, [a, b])
    for token, strategy in ((a.session_token, 0), (b.session_token, 0), (root.session_token, FAN_OUT)):
        refusal = await client.fails("OpenWindow", reopen(token, strategy=strategy))
        assert (refusal.reason, refusal.metadata["window_id"]) == ("TOKEN_SPENT", opened.window.window_id)
    refusal = await client.fails("OpenWindow", merge_request([a, b]))
    assert refusal.reason == "TOKEN_SPENT"
    await fail(client, opened)
    again = await merged(client, [b, a])
    assert again.window.window_number == 3


async def test_an_abandoned_fan_in_gives_way(world, client):
    """A client that died between OpenWindow and CommitWindow of the synthesis can try again, or go on fanning out."""
    root = await client.window()
    a, b = [await client.commit(child) for child in await fanned(client, root, 2)]
    first = await merged(client, [a, b])
    world.clock.advance(seconds=901)
    second = await merged(client, [a, b])
    world.clock.advance(seconds=901)
    (c,) = await fanned(client, root, 1)
    found = await client.call("GetDag", pb.GetDagRequest(session_id=root.session.session_id))
    failed = {w.window_id for w in found.windows if w.status == dag_pb2.WINDOW_STATUS_FAILED}
    assert failed == {first.window.window_id, second.window.window_id}
    refusal = await client.fails("OpenWindow", merge_request([a, b]))
    assert missing(refusal) == (c.window.window_id, "PENDING")
    await merged(client, [a, b, await client.commit(c)])
    await valid(client, root.session.session_id)


async def test_a_fan_in_needs_every_sibling(client):
    root = await client.window()
    a, b, c = await fanned(client, root, 3)
    a, b = await client.commit(a), await client.commit(b)
    for policy in (0, PARTIAL):
        refusal = await client.fails("OpenWindow", merge_request([a, b], fan_in_policy=policy))
        assert (refusal.code.name, refusal.reason) == ("FAILED_PRECONDITION", "FAN_IN_INCOMPLETE")
        assert missing(refusal) == (c.window.window_id, "PENDING")
    c = await client.commit(c)
    for policy in (0, PARTIAL):
        refusal = await client.fails("OpenWindow", merge_request([a, b], fan_in_policy=policy))
        assert (refusal.reason, refusal.metadata["status"]) == ("FAN_IN_INCOMPLETE", "NOT_NAMED")
    await merged(client, [c, a, b])


async def test_a_failed_child_needs_the_partial_policy(client):
    root = await client.window()
    a, b, c = await fanned(client, root, 3)
    await fail(client, c)
    a, b = await client.commit(a), await client.commit(b)
    refusal = await client.fails("OpenWindow", merge_request([a, b]))
    assert missing(refusal) == (c.window.window_id, "FAILED")
    opened = await merged(client, [a, b], fan_in_policy=PARTIAL)
    synthesis = await client.commit(opened)
    (merge,) = await events(client, root.session.session_id, "FAN_IN_MERGED")
    assert json.loads(merge.data)["left_out"] == [c.window.window_id]
    assert json.loads(merge.data)["fan_in_policy"] == "partial"
    assert c.window.window_id not in synthesis.lineage
    await valid(client, root.session.session_id)


async def test_one_survivor_can_be_merged_alone(client):
    root = await client.window()
    a, b = await fanned(client, root, 2)
    await fail(client, b)
    a = await client.commit(a)
    opened = await merged(client, [a], fan_in_policy=PARTIAL)
    assert opened.window.pattern == dag_pb2.WINDOW_PATTERN_FAN_IN
    assert (await client.commit(opened)).lineage.count("[") == 0


async def test_an_abandoned_child_counts_as_failed(world, client):
    root = await client.window()
    a, b = await fanned(client, root, 2)
    a = await client.commit(a)
    world.clock.advance(seconds=901)
    refusal = await client.fails("OpenWindow", merge_request([a]))
    assert refusal.metadata["status"] == "ABANDONED"
    await merged(client, [a], fan_in_policy=PARTIAL)
    ids = {"session_id": root.session.session_id, "window_id": b.window.window_id}
    found = await client.call("GetWindow", pb.GetWindowRequest(**ids))
    assert (found.window.status, found.window.failure_reason) == (dag_pb2.WINDOW_STATUS_FAILED, "ABANDONED")


async def test_a_child_that_spends_its_budget_ends_its_branch_alone(client):
    root = await client.window()
    lowered = {"strategy": FAN_OUT, "safety_budget_ceiling": 0.30}
    a, b = [await client.open(root.session_token, **lowered) for _ in range(2)]
    a = await client.commit(a, risk="CRITICAL")
    assert (a.safety_budget, a.halt_reason, a.continuation_id) == (0.0, "SAFETY_BUDGET_DEPLETED", "")
    assert a.session.status == dag_pb2.SESSION_STATUS_OPEN
    refusal = await client.fails("OpenWindow", reopen(a.session_token))
    assert (refusal.reason, refusal.metadata["status"]) == ("SESSION_CLOSED", "BRANCH_ENDED")
    b = await client.commit(b)
    assert b.safety_budget == 0.30
    refusal = await client.fails("OpenWindow", merge_request([b]))
    assert (refusal.reason, refusal.metadata["status"]) == ("FAN_IN_INCOMPLETE", "ENDED")
    synthesis = await client.commit(await merged(client, [b], fan_in_policy=PARTIAL), risk="CRITICAL")
    assert synthesis.session.status == dag_pb2.SESSION_STATUS_COMPLETED


async def test_children_at_the_last_depth_get_no_pointer_and_leave_the_session_open():
    world = World(settings=DagSettings(max_windows=2))
    async with world.serving() as client:
        root = await client.window()
        first, second = await fanned(client, root, 2)
        for child in (second, first):
            committed = await client.commit(child)
            assert (committed.continuation_id, committed.window_position) == ("", "2/2")
            assert committed.session.status == dag_pb2.SESSION_STATUS_OPEN
            refusal = await client.fails("OpenWindow", reopen(committed.session_token))
            assert (refusal.code.name, refusal.reason) == ("RESOURCE_EXHAUSTED", "WINDOW_LIMIT")
        (third,) = await fanned(client, root, 1)
        assert third.window.window_number == 2


async def test_a_fan_in_is_no_deeper_than_allowed():
    world = World(settings=DagSettings(max_windows=3))
    async with world.serving() as client:
        root = await client.window()
        a, b = [await client.commit(child) for child in await fanned(client, root, 2)]
        synthesis = await client.commit(await merged(client, [a, b]))
        assert (synthesis.continuation_id, synthesis.session.status) == ("", dag_pb2.SESSION_STATUS_COMPLETED)


async def test_the_node_limit_holds_across_branches():
    world = World(settings=DagSettings(max_dag_nodes=4))
    async with world.serving() as client:
        root = await client.window()
        await fanned(client, root, 3)
        refusal = await client.fails("OpenWindow", reopen(root.session_token, strategy=FAN_OUT))
        assert (refusal.reason, refusal.metadata["limit"]) == ("DAG_NODE_LIMIT", "4")


async def test_limits_are_checked_before_the_chain_is_read():
    """A session over a limit is refused although its chain is broken: nothing of it was read or verified."""
    for limit, reason in (
        ({"max_dag_nodes": 3}, "DAG_NODE_LIMIT"),
        ({"max_fan_out": 2}, "FAN_OUT_LIMIT"),
        ({"max_loop_depth": 0}, "LOOP_DEPTH_LIMIT"),
    ):
        world = World(settings=DagSettings(**limit))
        async with world.serving() as client:
            root = await client.window()
            await fanned(client, root, 2)
            world.tamper(root.session.session_id, root.window.window_id, quality_tier="S")
            depth = {"loop_depth": 1} if "max_loop_depth" in limit else {}
            refusal = await client.fails("OpenWindow", reopen(root.session_token, strategy=FAN_OUT, **depth))
            assert refusal.reason == reason
            assert world.held(root.session.session_id).record.status.value == "OPEN"


async def test_a_full_fan_out_that_was_taken_is_spent_and_not_full():
    world = World(settings=DagSettings(max_fan_out=2))
    async with world.serving() as client:
        root = await client.window()
        await merged(client, [await client.commit(child) for child in await fanned(client, root, 2)])
        refusal = await client.fails("OpenWindow", reopen(root.session_token, strategy=FAN_OUT))
        assert refusal.reason == "TOKEN_SPENT"


async def test_a_session_that_ends_fails_what_is_still_pending(client):
    root = await client.commit(await client.open(safety_budget_ceiling=0.30))
    checked = await client.open(root.session_token, strategy=REFLEXIVE)
    branch = await client.open(root.session_token, strategy=REFLEXIVE, branch=True)
    synthesis = await merged(client, [await client.commit(checked)])
    ended = await client.commit(synthesis, risk="CRITICAL")
    assert ended.session.status == dag_pb2.SESSION_STATUS_COMPLETED
    ids = {"session_id": root.session.session_id, "window_id": branch.window.window_id}
    found = await client.call("GetWindow", pb.GetWindowRequest(**ids))
    assert (found.window.status, found.window.failure_reason) == (dag_pb2.WINDOW_STATUS_FAILED, "SESSION_TERMINATED")
    await valid(client, root.session.session_id)


async def test_nested_fan_outs(client):
    root = await client.window()
    a, b = await fanned(client, root, 2)
    a, b = await client.commit(a), await client.commit(b)
    a1, a2 = [await client.commit(child) for child in await fanned(client, a, 2)]
    inner = await client.commit(await merged(client, [a2, a1]))
    outer = await client.commit(await merged(client, [b, inner]))
    one, two_a, two_b, m = (w.window.window_id for w in (root, a, b, inner))
    below = f"[{a1.window.window_id}, {a2.window.window_id}]"
    assert outer.lineage == f"{one} -> [{two_a} -> {below} -> {m}, {two_b}] -> {outer.window.window_id}"
    assert outer.set_session.endswith("Window=5; QualityHistory=A,[A,A],[A,A],[A],A")
    await valid(client, root.session.session_id)


async def test_a_fan_in_may_take_two_levels_at_once(client):
    root = await client.window()
    a, b = [await client.commit(child) for child in await fanned(client, root, 2)]
    a1, a2 = [await client.commit(child) for child in await fanned(client, a, 2)]
    refusal = await client.fails("OpenWindow", merge_request([a1, b]))
    assert missing(refusal) == (a2.window.window_id, "NOT_NAMED")
    outer = await client.commit(await merged(client, [a1, b, a2]))
    one, two_a, two_b = (w.window.window_id for w in (root, a, b))
    inner = f"{two_a} -> [{a1.window.window_id}, {a2.window.window_id}]"
    assert outer.lineage == f"{one} -> [{inner}, {two_b}] -> {outer.window.window_id}"


async def test_a_failure_that_an_inner_fan_in_left_out_is_settled(client):
    root = await client.window()
    a, b = [await client.commit(child) for child in await fanned(client, root, 2)]
    a1, a2 = await fanned(client, a, 2)
    await fail(client, a2)
    inner = await client.commit(await merged(client, [await client.commit(a1)], fan_in_policy=PARTIAL))
    opened = await merged(client, [inner, b])
    assert opened.window.window_number == 5


async def test_an_ancestor_and_its_descendant_cannot_be_merged(world, client):
    """The nearest that a caller can come to a cycle (§3.3): a window among its own ancestors' parents."""
    root = await client.window()
    a, b = [await client.commit(child) for child in await fanned(client, root, 2)]
    a3 = await client.window(a.session_token)
    for parents in ([a3, root, b], [a3, a, b]):
        refusal = await client.fails("OpenWindow", merge_request(parents))
        assert (refusal.code.name, refusal.reason) == ("UNAUTHENTICATED", "TOKEN_SPENT")
    await valid(client, root.session.session_id)


async def test_a_fan_in_names_windows_of_one_session_only(client):
    root, other = await client.window(), await client.window()
    a, b = [await client.commit(child) for child in await fanned(client, root, 2)]
    for foreign in (other.continuation_id, "crp_cont_" + "g" * 32):
        ids = [a.continuation_id, b.continuation_id, foreign]
        refusal = await client.fails("OpenWindow", merge_request([a, b], continuation_ids=ids))
        assert (refusal.code.name, refusal.reason) == ("NOT_FOUND", "CONTINUATION_NOT_FOUND")
        assert refusal.metadata["continuation_id"] == foreign


async def test_the_token_must_be_of_a_merged_window(client):
    root = await client.window()
    a, b, c = [await client.commit(child) for child in await fanned(client, root, 3)]
    refusal = await client.fails("OpenWindow", merge_request([a, b], session_token=c.session_token))
    assert refusal.reason == "TOKEN_INVALID"
    refusal = await client.fails("OpenWindow", merge_request([a, b, c], session_token=root.session_token))
    assert refusal.reason == "TOKEN_SPENT"


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"strategy": FAN_IN}, id="a fan-in of nothing"),
        pytest.param({"strategy": REFLEXIVE, "branch": True}, id="a branch of nothing"),
    ],
)
async def test_a_root_has_no_parents(client, fields):
    refusal = await client.fails("OpenWindow", pb.OpenWindowRequest(request_id=fresh_uuid(), **fields))
    assert (refusal.code.name, refusal.reason) == ("FAILED_PRECONDITION", "UNSUPPORTED_STRATEGY")


async def test_a_session_without_a_window_has_nothing_to_merge(client):
    created = await client.call("CreateSession", pb.CreateSessionRequest(request_id=fresh_uuid()))
    for fields in ({"strategy": FAN_IN}, {"strategy": REFLEXIVE, "branch": True}):
        refusal = await client.fails("OpenWindow", reopen(created.session_token, **fields))
        assert refusal.reason == "UNSUPPORTED_STRATEGY"
    refusal = await client.fails("OpenWindow", reopen(created.session_token, continuation_ids=["crp_cont_" + "g" * 32]))
    assert refusal.reason == "CONTINUATION_NOT_FOUND"
    first = await client.open(created.session_token, strategy=FAN_OUT)
    assert first.window.pattern == dag_pb2.WINDOW_PATTERN_LINEAR
    refusal = await client.fails("OpenWindow", reopen(created.session_token, strategy=FAN_OUT))
    assert refusal.reason == "TOKEN_SPENT"


async def test_a_line_is_no_fan_in(client):
    first = await client.window()
    refusal = await client.fails("OpenWindow", merge_request([first]))
    assert (refusal.code.name, refusal.reason) == ("FAILED_PRECONDITION", "UNSUPPORTED_STRATEGY")


async def test_a_fan_out_has_one_parent(client):
    root = await client.window()
    a, b = [await client.commit(child) for child in await fanned(client, root, 2)]
    refusal = await client.fails("OpenWindow", merge_request([a, b], strategy=FAN_OUT))
    assert refusal.reason == "UNSUPPORTED_STRATEGY"


async def test_several_pointers_are_a_fan_in_whatever_the_strategy(client):
    root = await client.window()
    a, b = [await client.commit(child) for child in await fanned(client, root, 2)]
    opened = await merged(client, [a, b], strategy=taxonomy.DISPATCH_STRATEGY_PUSH)
    assert opened.window.pattern == dag_pb2.WINDOW_PATTERN_FAN_IN


async def test_a_branch_stands_beside_a_reflexive_window(client):
    root = await client.window()
    refused = reopen(root.session_token, strategy=REFLEXIVE, branch=True)
    assert (await client.fails("OpenWindow", refused)).reason == "UNSUPPORTED_STRATEGY"
    checked = await client.open(root.session_token, strategy=REFLEXIVE)
    refined = await client.open(root.session_token, strategy=REFLEXIVE, branch=True)
    assert refined.window.pattern == dag_pb2.WINDOW_PATTERN_BRANCH
    assert (refined.window.window_number, list(refined.window.parent_ids)) == (2, [root.window.window_id])
    assert checked.window.pattern == dag_pb2.WINDOW_PATTERN_LINEAR
    await client.commit(checked, "Checked.")
    refined = await client.commit(refined, "Refined.")
    third = await client.window(refined.session_token)
    assert third.lineage == " -> ".join(w.window.window_id for w in (root, refined, third))
    assert third.set_session.endswith("QualityHistory=A,A,A")
    await valid(client, root.session.session_id)


async def test_branches_count_against_the_fan_out_limit():
    world = World(settings=DagSettings(max_fan_out=2))
    async with world.serving() as client:
        root = await client.window()
        await client.open(root.session_token, strategy=REFLEXIVE)
        await client.open(root.session_token, strategy=REFLEXIVE, branch=True)
        refusal = await client.fails("OpenWindow", reopen(root.session_token, strategy=REFLEXIVE, branch=True))
        assert refusal.reason == "FAN_OUT_LIMIT"


async def test_a_branch_of_another_strategy_is_refused(client):
    root = await client.window()
    refusal = await client.fails("OpenWindow", reopen(root.session_token, branch=True))
    assert (refusal.reason, refusal.fields) == ("INVALID_FIELD", ("branch",))


async def test_branches_can_be_merged(client):
    root = await client.window()
    checked = await client.open(root.session_token, strategy=REFLEXIVE)
    refined = await client.open(root.session_token, strategy=REFLEXIVE, branch=True)
    checked, refined = await client.commit(checked), await client.commit(refined)
    synthesis = await merged(client, [checked])
    assert synthesis.window.window_number == 3
    for request in (
        merge_request([refined]),
        reopen(root.session_token, strategy=REFLEXIVE, branch=True),
    ):
        refusal = await client.fails("OpenWindow", request)
        assert (refusal.reason, refusal.metadata["window_id"]) == ("TOKEN_SPENT", synthesis.window.window_id)
    await fail(client, synthesis)
    assert len((await merged(client, [checked, refined])).parents) == 2


async def test_each_branch_has_its_own_policy(client):
    """A sibling that tightens its policy neither loosens nor tightens the others (CRP-SPEC-006 facts, ADR 0051)."""
    root = await client.commit(await client.open(policy_hash="a" * 64))
    strict = {"policy_hash": "b" * 64, "policy_tightened": True}
    (tight,) = await fanned(client, root, 1, **strict)
    assert tight.session.policy_hash == "a" * 64
    (plain,) = await fanned(client, root, 1)
    tight, plain = await client.commit(tight), await client.commit(plain)
    policies = [json.loads(base64url_decode(w.session_token.partition(".")[0]))["pol"] for w in (tight, plain)]
    assert policies == ["b" * 64, "a" * 64]
    refusal = await client.fails("OpenWindow", merge_request([plain, tight]))
    assert (refusal.code.name, refusal.reason) == ("PERMISSION_DENIED", "POLICY_RELAXED")
    assert refusal.metadata["parent_policy_hash"] == "b" * 64
    opened = await merged(client, [plain, tight], **strict)
    synthesis = await client.commit(opened)
    assert synthesis.session.policy_hash == "b" * 64


async def test_a_sibling_of_a_relayed_branch_is_not_taken_for_a_loss(client):
    """SPEC-004 §10.2: an instance that took the session over by one child's token does not know the other child."""
    root = await client.window()
    a, b = [await client.commit(child) for child in await fanned(client, root, 2)]
    there = World(ids=CountingIds(prefix="y"))
    async with there.serving() as elsewhere:
        third = await elsewhere.window(a.session_token)
        assert third.window.window_number == 3
        refusal = await elsewhere.fails("OpenWindow", reopen(b.session_token))
        assert (refusal.code.name, refusal.reason) == ("NOT_FOUND", "CONTINUATION_NOT_FOUND")
        assert there.held(root.session.session_id).record.status.value == "OPEN"
        await elsewhere.window(third.session_token)


async def test_a_repeated_fan_out_request_opens_one_child(world, client):
    root = await client.window()
    request = reopen(root.session_token, strategy=FAN_OUT)
    answers = [await client.call("OpenWindow", request) for _ in range(3)]
    assert len({answer.window.window_id for answer in answers}) == 1
    assert len(world.held(root.session.session_id).windows) == 2


async def test_a_tampered_sibling_is_named(world, client):
    root, _, b, *_ = await appendix_a(client)
    world.tamper(root.session.session_id, b.window.window_id, safety_budget=1.0)
    found = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=root.session.session_id))
    assert (found.fault.record_kind, found.fault.record_id) == ("window", b.window.window_id)


async def test_a_broken_branch_closes_the_session_for_every_sibling(world, client):
    root = await client.window()
    a, b = await fanned(client, root, 2)
    a = await client.commit(a)
    world.tamper(root.session.session_id, a.window.window_id, response_text="Changed.")
    refusal = await client.fails("CommitWindow", commit_request(b))
    assert (refusal.code.name, refusal.reason) == ("DATA_LOSS", "CHAIN_BROKEN")
    assert world.held(root.session.session_id).record.status.value == "BROKEN"
