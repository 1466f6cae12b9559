"""Work beside the event loop: its result, its turn, and its end."""

import asyncio
import importlib
import itertools
import random
import sys
import threading
from dataclasses import replace
from typing import Any

import pytest

from services.common.computing import ComputePool, WorkEndedError, compute
from services.common.context import CallContext, Caller, set_current_call
from tests.patience import patient

ENDED_S = 30
"""Far longer than it takes; only a failure waits so long."""


class Spinning:
    """Work that computes until it is ended or let go."""

    def __init__(self):
        self.began = threading.Event()
        self.let_go = False
        self.turns = 0
        self.ended_by = None

    def __call__(self):
        self.began.set()
        try:
            while not self.let_go:
                self.turns += 1
        except BaseException as error:
            self.ended_by = type(error)
            raise
        return True


async def until(condition):
    async with asyncio.timeout(ENDED_S):
        while not condition():  # noqa: ASYNC110 - what threads do sets no event of this loop
            await asyncio.sleep(0.005)


async def cancelled(task):
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def at_rest(pool):
    return pool.load() == (0, 0)


async def test_the_result_comes_back():
    assert await compute(sorted, [3, 1, 2]) == [1, 2, 3]
    assert await compute(threading.get_ident) != threading.get_ident()


async def test_an_error_comes_back():
    with pytest.raises(ZeroDivisionError):
        await compute(lambda: 1 / 0)


async def test_work_that_would_end_the_process_is_an_error():
    with pytest.raises(RuntimeError, match="SystemExit"):
        await compute(sys.exit)


async def test_what_nobody_waits_for_is_ended():
    pool, work = ComputePool(), Spinning()
    task = asyncio.create_task(pool.run(work))
    await until(work.began.is_set)
    await cancelled(task)
    await until(lambda: at_rest(pool))
    assert work.ended_by is WorkEndedError
    assert await pool.run(lambda: "still serves") == "still serves"


async def test_a_deadline_ends_it_as_well():
    pool, work = ComputePool(), Spinning()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await pool.run(work)
    await until(lambda: at_rest(pool))


async def test_what_waits_and_nobody_waits_for_never_begins():
    pool, first, second = ComputePool(threads=1), Spinning(), Spinning()
    running = asyncio.create_task(pool.run(first))
    await until(first.began.is_set)
    waiting = asyncio.create_task(pool.run(second))
    await until(lambda: pool.load() == (1, 1))
    await cancelled(waiting)
    assert pool.load() == (1, 0)
    first.let_go = True
    assert await running
    assert await pool.run(lambda: True)
    assert not second.began.is_set()


async def test_work_that_catches_every_exception_is_ended():
    pool, caught, began = ComputePool(), [], threading.Event()

    def stubborn():
        began.set()
        while True:
            try:
                for _ in itertools.count():
                    pass
            except Exception as error:  # noqa: BLE001 - what is tested
                caught.append(error)

    task = asyncio.create_task(pool.run(stubborn))
    await until(began.is_set)
    await cancelled(task)
    await until(lambda: at_rest(pool))
    assert not caught


async def test_an_end_that_gets_lost_is_delivered_again():
    pool, lost, began = ComputePool(), [], threading.Event()

    def loses():
        began.set()
        while True:
            try:
                for _ in itertools.count():
                    pass
            except WorkEndedError as error:
                lost.append(error)
                if len(lost) == 3:
                    raise

    task = asyncio.create_task(pool.run(loses))
    await until(began.is_set)
    await cancelled(task)
    await until(lambda: at_rest(pool))
    assert len(lost) == 3


async def test_an_import_is_not_broken_off(tmp_path, monkeypatch):
    """An import that is broken off may leave its lock behind, and the module unusable for everybody."""
    (tmp_path / "slow_to_import.py").write_text("import held\nheld.began.set()\nwhile not held.open: held.turns += 1\n")
    held: Any = type(sys)("held")
    held.began, held.open, held.turns = threading.Event(), False, 0
    monkeypatch.setitem(sys.modules, "held", held)
    monkeypatch.syspath_prepend(tmp_path)
    pool, spinning = ComputePool(), Spinning()

    def work():
        importlib.import_module("slow_to_import")
        spinning()

    task = asyncio.create_task(pool.run(work))
    await until(held.began.is_set)
    await cancelled(task)
    before = held.turns
    await until(lambda: held.turns > before)
    assert pool.load() == (1, 0)
    held.open = True
    await until(lambda: at_rest(pool))
    assert sys.modules.pop("slow_to_import")


async def test_locks_held_with_a_with_statement_are_free_after_an_end():
    pool, lock = ComputePool(), threading.Lock()
    for _ in range(20):
        began = threading.Event()

        def work(began=began):
            began.set()
            while True:
                with lock:
                    pass

        task = asyncio.create_task(pool.run(work))
        await until(began.is_set)
        await cancelled(task)
        await until(lambda: at_rest(pool))
        assert lock.acquire(timeout=ENDED_S)
        lock.release()


async def test_ends_that_meet_the_end_of_the_work_break_nothing():
    """Cancelled at any moment, the last instructions of the work included; what follows gets its own results."""
    pool, drawn = ComputePool(), random.Random(7)

    async def one(number):
        task = asyncio.create_task(pool.run(sum, range(number % 3_000)))
        await asyncio.sleep(drawn.choice((0, 0, 0.0002, 0.0005)))
        if number % 2:
            task.cancel()
        return await asyncio.gather(task, return_exceptions=True)

    for number in range(600):
        (found,) = await one(number)
        assert found == sum(range(number % 3_000)) or (number % 2 and isinstance(found, asyncio.CancelledError))
    await until(lambda: at_rest(pool))


async def test_one_computes_alone_for_its_turn():
    pool, first, second = ComputePool(threads=2, turn_s=3600), Spinning(), Spinning()
    tasks = [asyncio.create_task(pool.run(work)) for work in (first, second)]
    await until(first.began.is_set)
    await asyncio.sleep(0.05)
    assert not second.began.is_set()
    first.let_go = second.let_go = True
    assert all(await asyncio.gather(*tasks))


async def test_after_its_turn_another_joins_in():
    pool, works = ComputePool(threads=2, turn_s=0.01), [Spinning() for _ in range(3)]
    tasks = [asyncio.create_task(pool.run(work)) for work in works]
    await until(works[1].began.is_set)
    assert pool.load() == (2, 1)
    for work in works:
        work.let_go = True
    assert all(await asyncio.gather(*tasks))


async def test_tenants_take_turns():
    pool, first, order = ComputePool(threads=1), Spinning(), []
    blocking = asyncio.create_task(pool.run(first))
    await until(first.began.is_set)
    call = CallContext(Caller("greedy", "", frozenset(), ""), "", "")

    async def ask(tenant):
        set_current_call(replace(call, caller=replace(call.caller, tenant_id=tenant)))
        await pool.run(order.append, tenant)

    tasks = [asyncio.create_task(ask(tenant)) for tenant in ("greedy", "greedy", "greedy", "modest", "third")]
    await until(lambda: pool.load() == (1, 5))
    first.let_go = True
    await asyncio.gather(blocking, *tasks)
    assert order == ["greedy", "modest", "third", "greedy", "greedy"]


async def test_a_tenant_that_had_long_work_waits_for_others_until_they_had_as_much():
    pool, order = ComputePool(threads=1), []
    call = CallContext(Caller("", "", frozenset(), ""), "", "")

    async def ask(tenant, work, *args):
        set_current_call(replace(call, caller=replace(call.caller, tenant_id=tenant)))
        await pool.run(work, *args)

    first = Spinning()
    tasks = [asyncio.create_task(ask("greedy", first))]
    await until(first.began.is_set)
    tasks += [asyncio.create_task(ask(tenant, order.append, tenant)) for tenant in ["greedy"] + ["modest"] * 20]
    await until(lambda: pool.load() == (1, 21))
    await asyncio.sleep(0.3)  # far more than all of the other's work takes
    first.let_go = True
    await asyncio.gather(*tasks)
    assert order == ["modest"] * 20 + ["greedy"]


async def test_what_was_computed_leaves_the_interpreter_as_it_was():
    """An exception that is taken back is looked for ever after; where calls are traced no call gets past that."""

    def traced():
        sys.settrace(lambda *_: None)
        try:
            return sum(abs(number) for number in range(100))
        finally:
            sys.settrace(None)

    pool = ComputePool(threads=1)
    for spinning in (Spinning(), Spinning(), Spinning()):
        assert await pool.run(abs, -1) == 1
        assert await asyncio.wait_for(pool.run(traced), patient(10)) == 4950
        task = asyncio.create_task(pool.run(spinning))
        await until(spinning.began.is_set)
        await cancelled(task)
        assert await asyncio.wait_for(pool.run(traced), patient(10)) == 4950
