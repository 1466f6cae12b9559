"""Jobs that wait for a worker process: the tenants' turns, their bounds, and those who go away."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from services.common.context import CallContext, Caller, set_current_call
from services.common.documents.cutting import WorkerDocumentReader
from services.common.errors import ErrorReason, LimitExceededError
from services.common.workers.errors import QueueFullError
from services.common.workers.pool import WorkerLimits, WorkerPool
from tests.patience import patient

MODULE = "tests.fakes.worker_process"


@asynccontextmanager
async def a_busy_pool(**limits):
    """Yield a pool of one process that has a job of nobody's, and what lets the job end."""
    pool = WorkerPool("test", MODULE, {}, WorkerLimits(1, 512, 30.0, 60.0, **limits))
    holder = asyncio.create_task(pool.run("sleep", 0.3))
    try:
        await until(lambda: pool.counts.busy == 1)
        yield pool, holder
    finally:
        await pool.close()
        await asyncio.gather(holder, return_exceptions=True)


async def until(condition):
    async with asyncio.timeout(patient(30)):
        while not condition():  # noqa: ASYNC110 - processes have no event to wait for
            await asyncio.sleep(0.005)


def asked(pool, tenant, done, cost=1, job="echo", tenant_class="standard"):
    """Return the task of a tenant's job; it writes the tenant down when it has its answer."""

    async def ask():
        call = CallContext(Caller(tenant, "", frozenset(), ""), "id", "/rpc", tenant_class=tenant_class)
        set_current_call(call)
        await pool.run(job, 60 if job == "spin" else 1, cost=cost)
        done.append((tenant, cost))

    return asyncio.create_task(ask())


@pytest.mark.parametrize("cost", [1, 7])
async def test_two_tenants_that_both_wait_share_the_work_equally(cost):
    done = []
    async with a_busy_pool() as (pool, _):
        many = [asked(pool, "greedy", done, cost=7) for _ in range(40)]
        few = [asked(pool, "modest", done, cost=cost) for _ in range(70 // cost)]
        await asyncio.gather(*few)
        had = {tenant: sum(each for name, each in done if name == tenant) for tenant in ("greedy", "modest")}
        await asyncio.gather(*many)
    assert 0.4 <= had["modest"] / sum(had.values()) <= 0.6


async def test_a_single_job_is_next_although_a_hundred_of_another_tenant_wait():
    done = []
    async with a_busy_pool() as (pool, _):
        many = [asked(pool, "greedy", done, cost=1_000) for _ in range(100)]
        await until(lambda: pool.counts.waiting == 100)
        await asyncio.gather(many[0])
        done.clear()
        await asked(pool, "modest", done)
        assert len(done) <= 2  # one of the other tenant had begun
        for task in many:
            task.cancel()
        await asyncio.wait(many)
        assert await pool.run("echo", 1) == [1, 0]
        assert (pool.counts.waiting, pool.counts.busy, pool.counts.running) == (0, 0, 1)


async def test_who_goes_away_while_waiting_leaves_its_room_to_its_tenant():
    done = []
    async with a_busy_pool(queue_cost=10) as (pool, holder):
        first = asked(pool, "acme", done, cost=8)
        await until(lambda: pool.counts.waiting == 1)
        first.cancel()
        await asyncio.wait([first])
        again = asked(pool, "acme", done, cost=8)
        await asyncio.gather(holder, again)
        assert done == [("acme", 8)]


async def test_only_who_fills_its_queue_is_refused():
    done = []
    async with a_busy_pool(queue_cost=10) as (pool, _):
        large = asked(pool, "acme", done, cost=1_000)  # alone it may wait, whatever it costs
        await until(lambda: pool.counts.waiting == 1)
        with pytest.raises(QueueFullError):
            await asked(pool, "acme", done, tenant_class="bulk")
        others = [asked(pool, "beta", done, cost=5) for _ in range(2)]
        await asyncio.gather(large, *others)
        assert sorted(done) == [("acme", 1_000), ("beta", 5), ("beta", 5)]
        await asked(pool, "acme", done)  # there is room again
        assert pool.queue_counts.refused == {"bulk": 1}
        assert pool.queue_counts.work["standard"] == 1_000 + 5 + 5 + 1 + 1
        assert sum(pool.queue_counts.waits["standard"].buckets) == 5


async def test_a_caller_that_is_cancelled_in_the_step_that_gave_it_its_turn_gives_it_on():
    done = []
    async with a_busy_pool() as (pool, holder):
        left, next_one = asked(pool, "acme", done, job="spin"), asked(pool, "acme", done)
        await until(lambda: pool.counts.waiting == 2)
        holder.add_done_callback(lambda _: left.cancel())
        await next_one
        assert left.cancelled()
        assert done == [("acme", 1)]
        await until(lambda: pool.counts.busy == 0)


async def test_documents_beyond_a_tenant_s_share_are_refused_with_the_reason():
    async with a_busy_pool(queue_cost=1) as (pool, _):
        reader = WorkerDocumentReader(pool)
        first = asyncio.create_task(reader.read(b"a text", "text/plain", ""))
        await until(lambda: pool.counts.waiting == 1)
        with pytest.raises(LimitExceededError) as refused:
            await reader.read(b"another", "text/plain", "")
        assert refused.value.reason is ErrorReason.QUEUE_FULL
        assert refused.value.retry_after_s is not None
        first.cancel()
        await asyncio.wait([first])
