"""The door: budgets, places in turn, deadlines that cannot be met, and who is never refused or kept waiting."""

import asyncio

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest

from services.common.context import CallContext, Caller
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.rpc.admission import Admission
from services.common.settings import ServerSettings
from services.common.telemetry.admission import AdmissionCounts
from tests.patience import patient


class Door:
    """An admission with a clock that tests turn."""

    def __init__(self, **settings):
        defaults = {"max_heavy_calls": 4, "max_heavy_calls_per_tenant": 2, "overload_retry_s": 0.5}
        self.at = 100.0
        self.registry = CollectorRegistry()
        self.admission = Admission(
            ServerSettings(**(defaults | settings)), AdmissionCounts(self.registry), lambda: self.at
        )

    async def enter(self, tenant, units=10, *, left=None, request_id="", computes=True, nested=False):
        deadline = None if left is None else self.at + left
        caller = Caller(tenant, "", frozenset(), "")
        call = CallContext(caller, request_id or f"{tenant} {self.at}", "/rpc", deadline, tenant_class=f"of-{tenant}")
        return await self.admission.enter(call, units, computes=computes, nested=nested)

    def begin(self, tenant, units=10, **more):
        return asyncio.create_task(self.enter(tenant, units, **more))

    def leave(self, ticket, *, done=True):
        self.admission.leave(ticket, done=done)

    async def work(self, tenant, units, seconds):
        """Let a call of the tenant compute alone."""
        ticket = await self.enter(tenant, units)
        self.at += seconds
        self.leave(ticket)

    def metrics(self):
        return generate_latest(self.registry).decode()


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


async def refusal(waiting):
    with pytest.raises(LimitExceededError) as caught:
        await waiting
    assert caught.value.retry_after_s >= 0.5
    return caught.value


async def test_work_over_the_tenants_budget_is_refused_and_let_in_again():
    door = Door(max_admitted_work=1000, max_admitted_work_per_tenant=100)
    first = await door.enter("A", 60)
    error = await refusal(door.enter("A", 50))
    assert (error.reason, error.metadata["scope"], error.metadata["limit"]) == (ErrorReason.WORK_LIMIT, "tenant", "100")
    second = await door.enter("A", 40)
    door.leave(first)
    door.leave(second)
    door.leave(await door.enter("A", 100))
    assert 'groundtrail_admission_refused_total{reason="WORK_LIMIT",tenant_class="of-A"} 1.0' in door.metrics()
    assert 'groundtrail_admitted_work_total{tenant_class="of-A"} 200.0' in door.metrics()
    assert 'groundtrail_admitted_work_in_flight{tenant_class="of-A"} 0.0' in door.metrics()


async def test_a_call_that_is_its_tenants_only_one_is_admitted_whatever_it_costs():
    door = Door(max_admitted_work=100, max_admitted_work_per_tenant=100)
    huge = await door.enter("A", 10_000)
    other = await door.enter("B", 10_000)
    error = await refusal(door.enter("B", 1))
    assert error.metadata["scope"] == "tenant"
    door.leave(huge)
    door.leave(other)


async def test_the_process_is_full_only_for_those_who_have_more_than_their_share():
    door = Door(max_admitted_work=95, max_admitted_work_per_tenant=80)
    tickets = [await door.enter("A", 70, computes=False), await door.enter("B", 20, computes=False)]
    error = await refusal(door.enter("A", 10, computes=False))
    assert (error.reason, error.metadata["scope"]) == (ErrorReason.WORK_LIMIT, "process")
    tickets.append(await door.enter("B", 20, computes=False))
    for ticket in tickets:
        door.leave(ticket)


async def test_a_tenant_computes_in_its_places_and_another_need_not_wait():
    door = Door()
    held = [await door.enter("A") for _ in range(2)]
    waiting = door.begin("A")
    await settle()
    assert not waiting.done()
    async with asyncio.timeout(patient(1)):
        door.leave(await door.enter("B"))
    assert not waiting.done()
    door.leave(held.pop())
    door.leave(await waiting)
    door.leave(held.pop())


async def test_waiting_is_counted_by_class():
    door = Door()
    held = [await door.enter("A") for _ in range(2)]
    waiting = door.begin("A")
    await settle()
    assert 'groundtrail_admission_waiting{tenant_class="of-A"} 1.0' in door.metrics()
    door.at += 3.0
    door.leave(held.pop())
    door.leave(await waiting)
    assert 'groundtrail_admission_waiting{tenant_class="of-A"} 0.0' in door.metrics()
    assert 'groundtrail_admission_wait_seconds_sum{tenant_class="of-A"} 3.0' in door.metrics()
    door.leave(held.pop())


async def test_a_call_that_would_end_late_is_refused_at_once():
    door = Door()
    await door.work("A", 100, 1.0)  # 100 units a second
    held = [await door.enter("A", 100) for _ in range(2)]
    # all of 200, its own 100, 100 of whose call computes beside it, half of that for who may come; 3 s more
    error = await refusal(door.enter("A", 100, left=2.0))
    assert error.reason is ErrorReason.DEADLINE_UNREACHABLE
    assert (error.metadata["needed_ms"], error.metadata["left_ms"]) == ("6000", "2000")
    assert error.retry_after_s == 7.0
    waits = [door.begin("A", 100, left=9.5), door.begin("A", 100)]
    await settle()
    assert not any(one.done() for one in waits)
    for ticket in held:
        door.leave(ticket)
    for one in waits:
        door.leave(await one)


async def test_others_that_wait_are_counted_as_much_as_oneself():
    door = Door(max_heavy_calls=2, max_heavy_calls_per_tenant=2)
    await door.work("A", 100, 1.0)
    held = [await door.enter("A", 100) for _ in range(2)]
    flood = [door.begin("A", 100) for _ in range(20)]
    await settle()
    error = await refusal(door.enter("B", 100, left=2.9))  # 100 of its own, and no more than that of A's 2,100
    assert error.metadata["needed_ms"] == "2000"
    waiting = door.begin("B", 100, left=3.1)
    await settle()
    door.leave(held.pop())
    door.leave(await waiting)  # before the flood
    door.leave(held.pop())
    for one in flood:
        door.leave(await one)


async def flood(door, tenant, *, left, others=0.0, seconds=1.0):
    """Let a tenant wait in line until it is refused, and serve it; return how many waited and how many were refused.

    ``others`` is the share of the process that somebody takes who came after the line had formed.
    """
    await door.work(tenant, 100, seconds)  # 100 units take so many seconds of the process
    held = [await door.enter(tenant, 100) for _ in range(2)]
    waiting = []
    while True:
        waiting.append(door.begin(tenant, 100, left=left))
        await settle()
        if waiting[-1].done():
            await refusal(waiting.pop())
            break
    late, served = 0, len(waiting)
    while held or any(not one.done() for one in waiting):
        door.at += seconds / (1.0 - others)
        door.leave(held.pop(0))
        await settle()
        for one in [one for one in waiting if one.done()]:
            waiting.remove(one)
            if one.exception() is not None:
                late += 1
            else:
                ticket = one.result()
                late += ticket.call.deadline - door.at < seconds / (1.0 - others)
                held.append(ticket)
    return served, late


@pytest.mark.parametrize("others", [0.0, 0.25, 0.5])
async def test_what_is_promised_is_held_though_others_come_who_take_up_to_half(others):
    waited, late = await flood(Door(), "A", left=40.0, others=others)
    assert waited >= 13  # a third of what would just do with nobody else
    assert late == 0


class Sharing:
    """What is admitted computes side by side: tenants share the process equally, and so do the calls of one.

    Args:
        door: lets calls in.
        units_per_s: that the process does.
    """

    def __init__(self, door, units_per_s):
        self.door = door
        self.units_per_s = units_per_s
        self.admitted = []  # of (tenant, task)
        self.late = []  # tenants of what was admitted and ended late, or was sent away
        self._did = {}  # units by ticket

    async def call(self, tenant, units, left=60.0):
        """Begin a call, unless it is refused at once."""
        task = self.door.begin(tenant, units, left=left)
        await settle()
        if task.done() and task.exception() is not None:
            await refusal(task)
        else:
            self.admitted.append((tenant, task))

    def in_flight(self, tenant=""):
        """Return how many calls have not ended: of a tenant, of all when it is not named."""
        return sum(1 for whose, _ in self.admitted if tenant in {"", whose})

    async def advance(self, seconds=0.25):
        """Compute for so long, and take out what has ended."""
        self.door.at += seconds
        tickets = [(whose, task.result()) for whose, task in self.admitted if task.done()]
        tenants = [whose for whose, _ in tickets]
        for whose, ticket in tickets:
            share = self.units_per_s / len(set(tenants)) / tenants.count(whose)
            self._did[ticket] = self._did.get(ticket, 0.0) + share * seconds
            if self._did[ticket] >= ticket.units:
                self.late += [whose] * (self.door.at > ticket.call.deadline)
                self.door.leave(ticket)
        await settle()
        self.late += [whose for whose, task in self.admitted if task.done() and task.exception() is not None]
        self.admitted = [(whose, task) for whose, task in self.admitted if not self._is_over(task)]

    def _is_over(self, task):
        return task.done() and (task.exception() is not None or task.result().turn is None)


@pytest.mark.parametrize(
    ("units", "least"),
    [
        (3200, 8),  # what computes without having to wait: four, and four after these
        (1600, 14),
        (400, 60),
    ],
)
async def test_of_a_flood_beside_short_calls_all_that_is_admitted_ends_in_time(units, least):
    door = Door(max_heavy_calls=16, max_heavy_calls_per_tenant=4, max_admitted_work_per_tenant=10**6)
    process, flooded = Sharing(door, 700.0), 0
    for tenant in "AB" * 4:
        await process.call(tenant, 800)
    while process.in_flight():
        await process.advance()
    end = door.at + 45.0
    while door.at < end:
        if not process.in_flight("other"):
            await process.call("other", 400)
        for _ in range(5):
            before = process.in_flight()
            await process.call("flooder", units, left=40.0)
            flooded += process.in_flight() - before
        await process.advance()
    while process.in_flight():
        await process.advance()
    assert process.late == []
    assert flooded >= least


async def test_a_tenant_whose_calls_take_longer_than_others_is_promised_less():
    door = Door(max_heavy_calls=4, max_heavy_calls_per_tenant=2)
    quick, slow = [[await door.enter(tenant, 100) for _ in range(2)] for tenant in "BA"]
    door.at += 2.0
    for ticket in quick:
        door.leave(ticket)
    door.at += 6.0
    for ticket in slow:
        door.leave(ticket)
    held = [await door.enter("A", 100) for _ in range(2)] + [await door.enter("B", 100) for _ in range(2)]
    needed = [int((await refusal(door.enter(tenant, 100, left=0.1))).metadata["needed_ms"]) for tenant in "AB"]
    assert needed[0] > 1.2 * needed[1]
    for ticket in held:
        door.leave(ticket)


async def test_nobody_is_refused_for_time_without_a_measured_pace_or_without_a_wait():
    door = Door()
    held = [await door.enter("A", 10**5, left=0.01) for _ in range(2)]
    waiting = door.begin("A", 10**5, left=0.01)
    await settle()
    assert not waiting.done()  # nothing was measured
    door.leave(held.pop(), done=False)
    held.append(await waiting)
    for ticket in held:
        door.leave(ticket, done=False)
    await door.work("A", 100, 1.0)
    door.leave(await door.enter("A", 10**6, left=0.01))  # it need not wait


async def test_who_waits_and_cannot_be_served_in_time_any_more_is_sent_away():
    door = Door()
    held = [await door.enter("A", 100) for _ in range(2)]
    soon, late, patient = (door.begin("A", 100, left=left) for left in (10.0, 2.5, None))
    await settle()
    door.at += 2.0
    door.leave(held.pop())  # 100 units in 2 s, two at once: 100 units a second
    error = await refusal(late)
    assert error.reason is ErrorReason.DEADLINE_UNREACHABLE
    held.append(await soon)
    await settle()
    assert not patient.done()
    door.leave(held.pop())
    door.leave(held.pop())
    door.leave(await patient)
    assert 'reason="DEADLINE_UNREACHABLE",tenant_class="of-A"} 1.0' in door.metrics()


async def test_a_nested_call_is_never_refused_and_goes_first():
    door = Door(max_admitted_work=100, max_admitted_work_per_tenant=100)
    dispatch = await door.enter("A", 90, computes=False, request_id="dispatch")
    held = [await door.enter("A", 5) for _ in range(2)]
    waiting = door.begin("A", 0)
    nested = door.begin("A", 10_000, left=0.001, request_id="dispatch", nested=True)
    await settle()
    assert not nested.done()
    door.leave(held.pop())
    done, _ = await asyncio.wait([nested, waiting], return_when=asyncio.FIRST_COMPLETED, timeout=patient(1))
    assert done == {nested}
    door.leave(await nested)
    door.leave(await waiting)
    for ticket in (*held, dispatch):
        door.leave(ticket)
    assert 'groundtrail_admitted_work_in_flight{tenant_class="of-A"} 0.0' in door.metrics()


async def test_a_call_that_holds_a_place_never_waits_for_its_own_nested_ones():
    door = Door(max_heavy_calls=1, max_heavy_calls_per_tenant=1)
    outer = await door.enter("A", request_id="one")
    async with asyncio.timeout(patient(1)):
        inner = await door.enter("A", request_id="one", nested=True)
        innermost = await door.enter("A", request_id="one", nested=True)
    for ticket in (innermost, inner, outer):
        door.leave(ticket)
    async with asyncio.timeout(patient(1)):
        door.leave(await door.enter("B"))


async def test_who_is_cancelled_in_line_leaves_nothing_behind():
    door = Door(max_admitted_work=100, max_admitted_work_per_tenant=100)
    held = [await door.enter("A") for _ in range(2)]
    gone = door.begin("A", 80)
    await settle()
    gone.cancel()
    await asyncio.wait([gone])
    waiting = door.begin("A", 80)
    await settle()
    for ticket in held:
        door.leave(ticket)
    door.leave(await waiting)
    assert 'groundtrail_admitted_work_in_flight{tenant_class="of-A"} 0.0' in door.metrics()


async def test_a_drain_sends_away_who_was_not_begun_and_lets_nested_calls_wait():
    door = Door()
    dispatch = await door.enter("A", computes=False, request_id="dispatch")
    held = [await door.enter("A") for _ in range(2)]
    waiting = door.begin("A")
    nested = door.begin("A", request_id="dispatch", nested=True)
    await settle()
    door.admission.refuse_waiting()
    door.admission.refuse_waiting()
    with pytest.raises(UnavailableError) as refused:
        await waiting
    assert refused.value.reason is ErrorReason.SERVICE_UNAVAILABLE
    assert refused.value.retry_after_s == 0.5
    assert not nested.done()
    for ticket in held:
        door.leave(ticket)
    door.leave(await nested)
    door.leave(dispatch)


async def test_a_place_can_be_given_back_before_the_call_ends():
    door = Door(max_heavy_calls=1, max_heavy_calls_per_tenant=1)
    slow = await door.enter("A")
    door.admission.give_place(slow, done=False)
    async with asyncio.timeout(patient(1)):
        door.leave(await door.enter("A"))
    door.leave(slow)
    door.leave(await door.enter("A"))


@given(
    st.lists(
        st.tuples(st.sampled_from("ABC"), st.integers(0, 50), st.booleans(), st.integers(0, 3)),
        max_size=60,
    )
)
@example([("A", 0, False, 0)] * 4)
async def test_whatever_comes_and_goes_everything_is_given_back(calls):
    door = Door(max_heavy_calls=3, max_heavy_calls_per_tenant=2)

    async def run(tenant, units, cancelled, steps):
        task = door.begin(tenant, units, left=units + 1.0)
        for _ in range(steps):
            await asyncio.sleep(0)
        if cancelled:
            task.cancel()
        await asyncio.wait([task])
        if not task.cancelled() and task.exception() is None:
            await asyncio.sleep(0)
            door.at += 0.1
            door.leave(task.result())

    async with asyncio.timeout(patient(10)):
        await asyncio.gather(*(run(*one) for one in calls))
        tickets = [await door.enter(tenant) for tenant in "AAB"]  # all places are free again
    for ticket in tickets:
        door.leave(ticket)
    for line in door.metrics().splitlines():
        if line.startswith(("groundtrail_admitted_work_in_flight{", "groundtrail_admission_waiting{")):
            assert line.endswith(" 0.0")
