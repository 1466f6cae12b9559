"""Locks by key, the time that is left, and work that is finished although its caller has gone."""

import asyncio

import pytest

from services.common.concurrency import KeyedLock, deadline_within, remaining_s, uninterrupted
from services.common.context import CallContext, Caller, current_call, set_current_call
from services.common.progress import Done, open_progress
from tests.patience import patient

CALLER = Caller("acme", "key", frozenset(), "key")


def call(deadline: float | None = None) -> CallContext:
    return CallContext(CALLER, "r1", "/x", deadline=deadline)


async def test_calls_with_one_key_run_one_after_the_other_in_their_order():
    locks, order = KeyedLock(), []

    async def enter(name: str) -> None:
        async with locks.lock("acme", "s1"):
            order.append(f"{name} in")
            await asyncio.sleep(0)
            order.append(f"{name} out")

    await asyncio.gather(*(enter(name) for name in "abc"))
    assert order == [f"{name} {way}" for name in "abc" for way in ("in", "out")]


async def test_other_keys_do_not_wait():
    locks = KeyedLock()
    async with locks.lock("acme", "s1"), locks.lock("acme", "s2"), locks.lock("acmes", "1"), locks.lock("acme"):
        pass


async def test_who_waited_is_told():
    locks, told = KeyedLock(), []

    async def enter() -> None:
        async with locks.lock("k") as waited:
            told.append(waited)
            await asyncio.sleep(0)

    await asyncio.gather(enter(), enter())
    await enter()
    assert told == [False, True, False]


async def test_a_lock_outlives_who_was_cancelled_while_waiting_and_is_forgotten_after_the_last():
    locks = KeyedLock()
    async with locks.lock("k"):
        waiting = asyncio.create_task(locks.lock("k").__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert len(locks) == 1
    async with asyncio.timeout(patient(1)), locks.lock("k"):
        pass
    assert len(locks) == 0


async def test_an_error_gives_the_lock_back():
    locks = KeyedLock()
    with pytest.raises(ZeroDivisionError):
        async with locks.lock("k"):
            1 / 0  # noqa: B018 - what breaks is of no matter
    async with asyncio.timeout(patient(1)), locks.lock("k") as waited:
        assert not waited


async def test_without_a_deadline_nothing_says_how_much_time_is_left():
    set_current_call(call())
    assert remaining_s() is None


async def test_what_is_left_counts_from_now_and_goes_below_nothing():
    now = asyncio.get_running_loop().time()
    set_current_call(call(now + 50))
    assert 49 < remaining_s() <= 50
    set_current_call(call(now - 50))
    assert remaining_s() <= -50


@pytest.mark.parametrize(
    ("own", "within", "least", "most"), [(None, 5, 4, 5), (50, 5, 4, 5), (3, 5, 2, 3), (50, -1, -2, -1)]
)
async def test_inside_the_nearer_deadline_counts_and_afterwards_the_own(own, within, least, most):
    now = asyncio.get_running_loop().time()
    before = call(None if own is None else now + own)
    set_current_call(before)
    with deadline_within(within):
        assert least < remaining_s() <= most
    assert current_call() is before


async def test_the_own_deadline_is_back_after_an_error():
    before = call()
    set_current_call(before)
    with pytest.raises(ZeroDivisionError), deadline_within(5):
        1 / 0  # noqa: B018 - what breaks is of no matter
    assert current_call() is before


async def test_no_bound_changes_nothing():
    before = call()
    set_current_call(before)
    with deadline_within(None):
        assert current_call() is before


@pytest.mark.parametrize("times", [1, 3])
async def test_a_cancelled_caller_is_told_when_the_work_is_done(times):
    began, go, done = asyncio.Event(), asyncio.Event(), []

    async def work() -> None:
        began.set()
        await go.wait()
        done.append("written")

    caller = asyncio.create_task(uninterrupted(work()))
    await began.wait()
    for _ in range(times):
        caller.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert not caller.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert done == ["written"]


async def test_what_the_work_returns_or_raises_reaches_the_caller():
    async def fine() -> int:
        return 7

    async def broken() -> int:
        raise ZeroDivisionError

    assert await uninterrupted(fine()) == 7
    with pytest.raises(ZeroDivisionError):
        await uninterrupted(broken())


async def test_while_the_work_runs_nobody_says_that_nothing_was_written():
    progress = open_progress()
    began, go = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        await go.wait()

    caller = asyncio.create_task(uninterrupted(work()))
    await began.wait()
    assert progress.done is Done.UNKNOWN
    go.set()
    await caller
