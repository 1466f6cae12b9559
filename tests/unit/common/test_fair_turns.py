"""Turns by tenant: equal work for who always waits, nothing saved up by who does not, nothing lost by who goes away."""

import asyncio
from collections import Counter
from contextvars import copy_context

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.context import CallContext, Caller, set_current_call
from services.common.fair_turns import _REMEMBERED, FairShares, FairTurns, current_tenant
from tests.patience import patient


async def drain(turns, requests, *, hold=1):
    """Run (tenant, cost, caller) requests that all wait at once behind a holder; return the order of their turns."""
    order = []

    async def request(tenant, cost, caller):
        async with turns.turn(tenant, cost, caller=caller):
            order.append((tenant, cost, caller))
            for _ in range(hold):
                await asyncio.sleep(0)

    async with turns.turn("holder", 0):
        tasks = [asyncio.create_task(request(*one)) for one in requests]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    return order


async def test_places_are_bounded_and_each_is_held_once():
    turns = FairTurns(3)
    held, most = set(), 0

    async def request():
        nonlocal most
        async with turns.turn("one", 1) as turn:
            assert turn.place not in held
            held.add(turn.place)
            most = max(most, len(held))
            await asyncio.sleep(0)
            held.remove(turn.place)

    await asyncio.gather(*(request() for _ in range(20)))
    assert most == 3
    assert held == set()


async def test_callers_of_a_tenant_take_turns_whatever_they_ask_for():
    order = await drain(FairTurns(1), [("one", 1, caller) for caller in "AAAAABBC"])
    assert "".join(caller for _, _, caller in order) == "ABCABAAA"


async def test_tenants_take_turns_whatever_calls_they_have():
    order = await drain(FairTurns(1), [("many", 1, n) for n in range(6)] + [("few", 1, 0), ("few", 1, 1)])
    assert [tenant for tenant, _, _ in order[:5]] == ["many", "few", "many", "few", "many"]


async def test_turns_are_counted_in_work():
    order = await drain(FairTurns(1), [("large", 10, n) for n in range(3)] + [("small", 2, n) for n in range(10)])
    assert "".join(tenant[0] for tenant, _, _ in order[:12]) == "lssssslsssss"
    served = Counter()
    for tenant, cost, _ in order[:8]:
        served[tenant] += cost
    assert abs(served["large"] - served["small"]) <= 10


async def test_a_tenant_is_served_in_the_order_of_arrival():
    order = await drain(FairTurns(1), [("one", 1, None) for _ in range(3)] + [("one", 2, None)])
    assert [cost for _, cost, _ in order] == [1, 1, 1, 2]


async def test_what_continues_something_begun_goes_first():
    turns = FairTurns(1)
    order = []

    async def request(name, urgent):
        async with turns.turn("one", 1, caller=name, urgent=urgent):
            order.append(name)

    async with turns.turn("holder", 0):
        tasks = [asyncio.create_task(request(name, name == "nested")) for name in ("first", "second", "nested")]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert order == ["nested", "first", "second"]


async def test_a_tenant_holds_no_more_than_its_places_and_leaves_the_others_free():
    turns = FairTurns(4, most_per_tenant=2)
    held = [await turns.take("many", 1) for _ in range(2)]
    waiting = asyncio.create_task(turns.take("many", 1))
    await asyncio.sleep(0)
    assert not waiting.done()
    assert not turns.is_free("many")
    assert turns.is_free("few")
    async with asyncio.timeout(patient(1)):
        turns.give(await turns.take("few", 1))
    assert not waiting.done()
    turns.give(held.pop())
    turns.give(await waiting)
    turns.give(held.pop())
    assert turns.waiting == 0


async def test_a_place_that_its_tenant_may_not_take_goes_to_another():
    turns = FairTurns(3, most_per_tenant=2)
    held = [await turns.take("many", 1) for _ in range(2)]
    held.append(await turns.take("holder", 1))
    many = asyncio.create_task(turns.take("many", 1))
    few = asyncio.create_task(turns.take("few", 100))
    await asyncio.sleep(0)
    turns.give(held.pop())
    await asyncio.wait([few], timeout=patient(1))
    assert few.done()
    assert not many.done()
    for turn in (*held, few.result()):
        turns.give(turn)
    turns.give(await many)


async def test_who_did_not_wait_has_saved_nothing_up():
    turns = FairTurns(1)
    for _ in range(100):
        async with turns.turn("busy", 10):
            pass
    order = await drain(turns, [("busy", 10, n) for n in range(4)] + [("new", 10, n) for n in range(4)])
    assert {tenant for tenant, _, _ in order[:2]} == {"busy", "new"}
    assert {tenant for tenant, _, _ in order[2:4]} == {"busy", "new"}


async def test_who_stops_waiting_takes_no_place():
    turns = FairTurns(1)

    async def request():
        async with turns.turn("other", 1):
            pytest.fail("it was cancelled before its turn")

    async with turns.turn("holder", 1):
        waiting = asyncio.create_task(request())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert turns.waiting == 0
    async with asyncio.timeout(patient(1)), turns.turn("next", 1) as turn:
        assert turn.place == 0


async def test_a_place_given_to_who_is_cancelled_at_that_moment_goes_on():
    turns = FairTurns(1)
    entered = []

    async def request(caller):
        async with turns.turn(caller, 1):
            entered.append(caller)

    async with turns.turn("holder", 1):
        first, second = (asyncio.create_task(request(caller)) for caller in ("first", "second"))
        await asyncio.sleep(0)
    first.cancel()  # the place is its own by now, and it has not run since
    await asyncio.wait([first, second], timeout=patient(1))
    assert first.cancelled()
    assert entered == ["second"]


async def test_waits_can_be_failed_one_by_one_and_urgent_ones_go_on():
    turns = FairTurns(1)
    held = await turns.take("one", 1)
    gone, stays, urgent = (
        asyncio.create_task(turns.take("one", 1, caller=caller, urgent=caller == "urgent"))
        for caller in ("gone", "stays", "urgent")
    )
    await asyncio.sleep(0)
    for caller in ("gone", "urgent", "unknown"):
        turns.fail("one", caller, ValueError(caller))
    turns.fail("nobody", "gone", ValueError("nobody"))
    with pytest.raises(ValueError, match="gone"):
        await gone
    assert turns.waiting == 2
    turns.give(held)
    turns.give(await urgent)
    turns.give(await stays)


@given(
    st.lists(
        st.tuples(st.sampled_from("ABC"), st.integers(1, 20), st.integers(0, 3)),
        min_size=1,
        max_size=80,
    ),
    st.integers(1, 4),
)
async def test_while_two_wait_their_work_differs_by_one_item_at_most(requests, places):
    """Whatever the order of arrival and the costs."""
    turns = FairTurns(places)
    served = Counter()
    largest = max(cost for _, cost, _ in requests)
    async with asyncio.timeout(patient(10)):
        order = await drain(turns, requests)
    assert Counter(order) == Counter(requests)  # nobody starves
    order = order[places - 1 :]  # the first were given their places before the others came
    left = Counter(tenant for tenant, _, _ in order)
    for tenant, cost, _ in order:
        served[tenant] += cost
        left[tenant] -= 1
        for other in "ABC":
            if left[tenant] and left[other]:
                assert abs(served[tenant] - served[other]) <= 2 * largest


@given(st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 20), st.booleans()), max_size=200))
def test_shares_of_who_always_waits_differ_by_one_cost_whoever_comes_and_goes(events):
    shares = FairShares()
    for tenant in "AB":
        shares.join(tenant)
    served, largest = Counter(), 1
    for guest, cost, leaves in events:
        shares.join(f"guest {guest}")
        tenant = shares.least()
        shares.serve(tenant, cost)
        served[tenant] += cost
        largest = max(largest, cost)
        if leaves:
            shares.leave(f"guest {guest}")
        assert abs(served["A"] - served["B"]) <= largest


def test_tenants_that_are_away_are_forgotten_in_the_end():
    shares = FairShares()
    for number in range(5 * _REMEMBERED):
        shares.serve(f"tenant {number}", number)
    assert len(shares._had) <= 2 * _REMEMBERED


def test_the_tenant_is_the_running_calls():
    assert current_tenant() == ""

    def within():
        set_current_call(CallContext(Caller("acme", "", frozenset(), ""), "id", "/rpc"))
        assert current_tenant() == "acme"

    copy_context().run(within)
