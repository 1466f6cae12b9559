"""The dynamic batcher: packing, fairness, dedup, cancellation, errors to the right callers, bounds."""

import asyncio
import threading
from collections import Counter
from contextvars import copy_context

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.adapters.onnx.batching import BatchPolicy, DynamicBatcher
from services.common.adapters.onnx.turns import ComputeTurns
from services.common.context import CallContext, Caller, set_current_call
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from tests.patience import patient
from tests.tenth import examples

POLICY = BatchPolicy(min_size=2, max_size=4, max_delay_s=0.01, queue_items=100)


class Model:
    """Doubles items; remembers batches; can be held up, and fails on items that hold ``bad``."""

    def __init__(self, bad=None, short=False):
        self.batches = []
        self.gate = threading.Event()
        self.gate.set()
        self.started = threading.Event()
        self.bad = bad
        self.short = short
        self.at = 0.0

    def __call__(self, items):
        self.batches.append(list(items))
        self.started.set()
        self.at += len(items) * max(map(len, items))  # what it costs, padding included
        assert self.gate.wait(patient(10))
        if any(self.bad in item for item in items if self.bad is not None):
            raise ValueError(f"bad {self.bad}")
        return [item * 2 for item in items][: -1 if self.short else None]


def item(length, name=0):
    return (*([name] * length),)


async def busy(batcher, model, tenant=None):
    """Occupy the model with a first item, so that what follows queues up; return the task."""
    model.gate.clear()
    task = of_tenant(tenant, batcher, [(99,)]) if tenant else asyncio.create_task(batcher.submit([(99,)]))
    await asyncio.to_thread(model.started.wait)
    return task


async def test_results_keep_the_order():
    batcher = DynamicBatcher("m", Model(), POLICY)
    items = [item(n, n) for n in (5, 1, 3, 2, 4, 9, 7)]
    assert await batcher.submit(items) == [i * 2 for i in items]
    assert await batcher.submit([]) == []
    await batcher.close()


async def test_batches_are_cut_from_the_longest_down_and_hold_similar_lengths():
    model = Model()
    batcher = DynamicBatcher("m", model, POLICY)
    lengths = [100, 90, 80, 70, 60, 20, 10, 30]
    await batcher.submit([item(n) for n in lengths])
    assert [[len(i) for i in batch] for batch in model.batches] == [[70, 80, 90, 100], [30, 60], [10, 20]]
    await batcher.close()


async def test_concurrent_calls_share_a_batch():
    model = Model()
    batcher = DynamicBatcher("m", model, POLICY)
    results = await asyncio.gather(*(batcher.submit([item(3, name)]) for name in range(4)))
    assert results == [[item(6, name)] for name in range(4)]
    assert len(model.batches) == 1
    await batcher.close()


async def test_the_first_waits_for_company_no_longer_than_the_delay():
    loop = asyncio.get_running_loop()
    batcher = DynamicBatcher("m", Model(), BatchPolicy(min_size=2, max_size=4, max_delay_s=0.05, queue_items=9))
    await asyncio.gather(batcher.submit([item(1)]), batcher.submit([item(2)]))  # calls meet here
    started = loop.time()
    await batcher.submit([item(1)])
    alone = loop.time() - started
    started = loop.time()
    await batcher.submit([item(1), item(2)])
    assert alone >= 0.045
    assert loop.time() - started < 0.045
    await batcher.close()


async def test_who_asks_alone_does_not_wait_for_company(monkeypatch):
    model = Model()
    batcher = DynamicBatcher("m", model, BatchPolicy(min_size=4, max_size=4, max_delay_s=30.0, queue_items=9))
    async with asyncio.timeout(patient(10)):
        for name in range(5):  # one after the other
            assert await batcher.submit([item(1, name)]) == [item(2, name)]
    held = await busy(batcher, model)
    other = asyncio.create_task(batcher.submit([item(1, 7)]))
    await asyncio.sleep(0)
    model.gate.set()
    await held
    done, _ = await asyncio.wait([other], timeout=0.05)
    assert not done  # two calls have met: a third may come
    monkeypatch.setattr("services.common.adapters.onnx.batching.MEETING_S", 0.0)
    late = await asyncio.gather(other, batcher.submit([item(1, 8), item(1, 9), item(1, 10)]))
    assert late == [[item(2, 7)], [item(2, 8), item(2, 9), item(2, 10)]]
    await batcher.close()


async def test_equal_items_are_computed_once():
    model = Model()
    batcher = DynamicBatcher("m", model, POLICY)
    first, second = await asyncio.gather(batcher.submit([item(3), item(3)]), batcher.submit([item(3), item(4)]))
    assert first == [item(6), item(6)]
    assert second == [item(6), item(8)]
    assert sorted(len(i) for batch in model.batches for i in batch) == [3, 4]
    await batcher.close()


async def test_a_short_call_does_not_wait_for_the_whole_of_a_long_one():
    model = Model()
    batcher = DynamicBatcher("m", model, POLICY)
    held = await busy(batcher, model)
    long = asyncio.create_task(batcher.submit([item(40, name) for name in range(40)]))
    await asyncio.sleep(0)
    short = asyncio.create_task(batcher.submit([item(5, 77)]))
    await asyncio.sleep(0)
    model.gate.set()
    await short
    assert not long.done()
    before = next(at for at, batch in enumerate(model.batches) if item(5, 77) in batch)
    assert before <= 3  # the first, and of the long call's at most one that went ahead and one in its turn
    await asyncio.gather(long, held)
    await batcher.close()


async def test_cancelled_caller_takes_its_items_along():
    model = Model()
    batcher = DynamicBatcher("m", model, POLICY)
    held = await busy(batcher, model)
    gone = asyncio.create_task(batcher.submit([item(1, 1), item(2, 2)]))
    stays = asyncio.create_task(batcher.submit([item(2, 2), item(3, 3)]))
    await asyncio.sleep(0)
    assert batcher.waiting == 3
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert batcher.waiting == 2
    model.gate.set()
    assert await stays == [item(4, 2), item(6, 3)]
    assert item(1, 1) not in [i for batch in model.batches for i in batch]
    await held
    await batcher.close()


async def test_cancelling_a_running_item_leaves_others_alone():
    model = Model()
    batcher = DynamicBatcher("m", model, POLICY)
    held = await busy(batcher, model)
    held.cancel()
    with pytest.raises(asyncio.CancelledError):
        await held
    model.gate.set()
    assert await batcher.submit([item(2)]) == [item(4)]
    await batcher.close()


async def test_errors_reach_the_guilty_caller_alone():
    model = Model(bad=13)
    batcher = DynamicBatcher("m", model, POLICY)
    results = await asyncio.gather(
        batcher.submit([item(2, 1)]),
        batcher.submit([item(2, 13)]),
        batcher.submit([item(2, 3)]),
        return_exceptions=True,
    )
    assert results[0] == [item(4, 1)]
    assert isinstance(results[1], ValueError)
    assert results[2] == [item(4, 3)]
    assert await batcher.submit([item(5)]) == [item(10)]
    await batcher.close()


async def test_failed_call_frees_the_rest_of_its_items():
    model = Model(bad=13)
    batcher = DynamicBatcher("m", model, POLICY)
    with pytest.raises(ValueError, match="bad 13"):
        await batcher.submit([item(100, 13), *(item(n, n) for n in range(1, 40))])
    assert batcher.waiting == 0
    await batcher.close()


async def test_a_model_that_loses_results_is_unavailable():
    batcher = DynamicBatcher("m", Model(short=True), POLICY)
    with pytest.raises(UnavailableError):
        await batcher.submit([item(2)])
    await batcher.close()


async def test_full_queue_refuses_with_a_time_and_queues_nothing():
    model = Model()
    batcher = DynamicBatcher("m", model, BatchPolicy(min_size=1, max_size=2, max_delay_s=0.0, queue_items=3))
    held = await busy(batcher, model)
    waiting = asyncio.create_task(batcher.submit([item(1, 1), item(1, 2)]))
    await asyncio.sleep(0)
    with pytest.raises(LimitExceededError) as caught:
        await batcher.submit([item(1, 3), item(1, 4)])
    assert caught.value.reason is ErrorReason.QUEUE_FULL
    assert caught.value.retry_after_s >= 0.05
    assert caught.value.metadata == {"model": "m", "queue_items": "3"}
    assert batcher.waiting == 2
    model.gate.set()
    await asyncio.gather(held, waiting)
    assert await batcher.submit([item(1, 3), item(1, 4)]) == [item(2, 3), item(2, 4)]
    await batcher.close()


async def test_close_fails_those_who_wait_and_refuses_new_ones():
    model = Model()
    batcher = DynamicBatcher("m", model, POLICY)
    held = await busy(batcher, model)
    waiting = asyncio.create_task(batcher.submit([item(2)]))
    await asyncio.sleep(0)
    closing = asyncio.create_task(batcher.close())
    await asyncio.sleep(0)
    model.gate.set()
    await closing
    for task in (held, waiting):
        with pytest.raises(UnavailableError):
            await task
    with pytest.raises(UnavailableError) as caught:
        await batcher.submit([item(1)])
    assert caught.value.reason is ErrorReason.MODEL_UNAVAILABLE
    await batcher.close()


@pytest.mark.tenth(inside=True)
@settings(max_examples=examples(40), deadline=None)
@given(
    calls=st.lists(st.lists(st.tuples(st.integers(1, 120), st.integers(0, 3)), max_size=12), min_size=1, max_size=8),
    cancelled=st.sets(st.integers(0, 7)),
)
def test_every_call_gets_its_own_results_whatever_the_mix(calls, cancelled):
    async def scenario():
        model = Model()
        batcher = DynamicBatcher("m", model, POLICY)
        wanted = [[item(length, name) for length, name in call] for call in calls]
        tasks = [asyncio.create_task(batcher.submit(items)) for items in wanted]
        await asyncio.sleep(0)
        for index in cancelled:
            if index < len(tasks):
                tasks[index].cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        await batcher.close()
        for index, (items, result) in enumerate(zip(wanted, results, strict=True)):
            if isinstance(result, asyncio.CancelledError):
                assert index in cancelled
            else:
                assert result == [i * 2 for i in items]
        assert all(len(batch) <= POLICY.max_size for batch in model.batches)
        computed = [i for batch in model.batches for i in batch]
        assert len(computed) == len(set(computed))
        assert batcher.waiting == 0

    asyncio.run(scenario())


def of_tenant(tenant, batcher, items):
    """Start a submit as a call of the tenant does; return its task."""

    def start():
        set_current_call(CallContext(Caller(tenant, "", frozenset(), ""), "id", "/rpc", tenant_class=f"class {tenant}"))
        return asyncio.create_task(batcher.submit(items))

    return copy_context().run(start)


async def served_before(lengths):
    """Let tenants submit so many calls of items; return what each was served while all of them had items left."""
    model = Model()
    policy = BatchPolicy(min_size=2, max_size=4, max_delay_s=0.01, queue_items=400)
    batcher = DynamicBatcher("m", model, policy, ComputeTurns(1, lambda: model.at))
    held = await busy(batcher, model)
    tasks = [
        of_tenant(tenant, batcher, [item(length, (tenant, call, n)) for n, length in enumerate(own)])
        for tenant, calls in lengths.items()
        for call, own in enumerate(calls)
    ]
    await asyncio.sleep(0)
    model.gate.set()
    await asyncio.gather(held, *tasks)
    await batcher.close()
    left = Counter({tenant: sum(map(len, calls)) for tenant, calls in lengths.items()})
    served = Counter()
    for batch in model.batches[1:]:
        left.subtract(one[0][0] for one in batch)
        if min(left.values()) <= 0:
            break
        served.update(one[0][0] for one in batch for _ in one)
    return served


@pytest.mark.parametrize(
    "lengths",
    [
        pytest.param({"A": [[9] * 10] * 9, "B": [[9] * 90]}, id="many-calls"),
        pytest.param({"A": [[9] * 300], "B": [[9] * 60]}, id="many-items"),
        pytest.param({"A": [[100] * 60], "B": [[10] * 300]}, id="long-items"),
        pytest.param({"A": [list(range(1, 80))] * 3, "B": [[40] * 60]}, id="mixed-lengths"),
    ],
)
async def test_tenants_get_equal_work_whatever_they_bring(lengths):
    served = await served_before(lengths)
    assert 0.4 <= served["A"] / served.total() <= 0.6


async def test_a_call_of_another_tenant_is_in_one_of_the_next_batches():
    model = Model()
    batcher = DynamicBatcher("m", model, POLICY)
    held = await busy(batcher, model)
    flood = [of_tenant("A", batcher, [item(50, (call, n)) for n in range(9)]) for call in range(10)]
    short = of_tenant("B", batcher, [item(5, "b")])
    await asyncio.sleep(0)
    model.gate.set()
    await short
    assert next(at for at, batch in enumerate(model.batches) if item(5, "b") in batch) <= 2
    await asyncio.gather(held, *flood)
    await batcher.close()


async def test_a_full_queue_refuses_the_tenant_that_filled_it_alone():
    model = Model()
    batcher = DynamicBatcher("m", model, BatchPolicy(min_size=2, max_size=4, max_delay_s=0.01, queue_items=5))
    held = await busy(batcher, model, "C")
    full = of_tenant("A", batcher, [item(3, n) for n in range(5)])
    await asyncio.sleep(0)
    with pytest.raises(LimitExceededError) as refused:
        await of_tenant("A", batcher, [item(3, 9)])
    other = of_tenant("B", batcher, [item(3, name) for name in "abcde"])
    await asyncio.sleep(0)
    assert batcher.waiting == 10
    model.gate.set()
    await asyncio.gather(held, full, other)
    assert refused.value.reason is ErrorReason.QUEUE_FULL
    assert batcher.counts.refused == {"class A": 1}
    assert batcher.counts.work == {"class C": 1, "class A": 15, "class B": 15}
    assert {name: sum(waits.buckets) for name, waits in batcher.counts.waits.items()} == {
        "class C": 1,
        "class A": 1,
        "class B": 1,
    }
    assert (await of_tenant("A", batcher, [item(3, 9)])) == [item(6, 9)]
    await batcher.close()


async def test_an_item_of_two_tenants_stays_with_the_one_that_still_waits():
    model = Model()
    batcher = DynamicBatcher("m", model, BatchPolicy(min_size=2, max_size=4, max_delay_s=0.01, queue_items=2))
    held = await busy(batcher, model)
    gone = of_tenant("A", batcher, [item(3, 1), item(3, 2)])
    stays = of_tenant("B", batcher, [item(3, 1)])
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.wait([gone])
    assert batcher.waiting == 1
    again = of_tenant("A", batcher, [item(3, 4), item(3, 5)])
    await asyncio.sleep(0)
    assert batcher.waiting == 3
    model.gate.set()
    assert await stays == [item(6, 1)]
    await asyncio.gather(held, again)
    await batcher.close()
