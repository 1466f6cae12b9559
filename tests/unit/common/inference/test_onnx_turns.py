"""Turns at the processors: few batches at once, over all models, for the tenant that had least of their time."""

import asyncio
from collections import Counter

from services.common.adapters.onnx.turns import ALONE_AFTER_S, ComputeTurns


class Clock:
    def __init__(self):
        self.at = 0.0

    def __call__(self):
        return self.at


class Queue:
    """Stands for a model: so many batches of each tenant, each of so many seconds."""

    def __init__(self, turns, clock, batches, seconds, log):
        self.turns, self.clock, self.left, self.seconds, self.log = turns, clock, Counter(batches), seconds, log

    async def work(self):
        while self.left:
            turn = await self.turns.turn(lambda: list(self.left))
            self.left[turn.tenant] -= 1
            self.left += Counter()
            await asyncio.sleep(0)
            self.clock.at += self.seconds
            self.log.append((turn.tenant, self.seconds))
            self.turns.done(turn, {turn.tenant: 7}, self.seconds)


async def test_a_tenant_at_one_model_gets_as_much_as_one_at_four():
    clock, log = Clock(), []
    turns = ComputeTurns(1, clock)
    queues = [Queue(turns, clock, {"A": 200}, 0.02, log) for _ in range(3)]
    queues += [Queue(turns, clock, {"A": 100, "B": 100}, 0.05, log)]
    await asyncio.gather(*(queue.work() for queue in queues))
    until = max(at for at, (tenant, _) in enumerate(log) if tenant == "B")
    had = Counter()
    for tenant, seconds in log[:until]:
        had[tenant] += seconds
    assert 0.45 <= had["B"] / had.total() <= 0.55


async def test_one_batch_goes_ahead_while_nobody_else_asks():
    clock = Clock()
    turns = ComputeTurns(1, clock)
    first, second = await turns.turn(lambda: ["A"]), await turns.turn(lambda: ["A"])
    third = asyncio.create_task(turns.turn(lambda: ["A"]))
    await asyncio.sleep(0)
    assert not third.done()
    other = asyncio.create_task(turns.turn(lambda: ["B"]))
    await asyncio.sleep(0)
    turns.done(first, {"A": 1}, 1.0)
    await asyncio.sleep(0)
    assert not other.done()
    assert not third.done()
    turns.done(second, {"A": 1}, 1.0)
    await asyncio.sleep(0)
    assert other.done()
    assert not third.done()
    turns.done(other.result(), {"B": 1}, 1.0)
    turns.done(await third, {"A": 1}, 1.0)
    clock.at += ALONE_AFTER_S + 0.1
    await turns.turn(lambda: ["A"])
    async with asyncio.timeout(1):
        await turns.turn(lambda: ["A"])


async def test_who_goes_away_leaves_its_turn():
    turns = ComputeTurns(1, Clock())
    held = [await turns.turn(lambda: ["A"]), await turns.turn(lambda: ["A"])]
    waits, given = (asyncio.create_task(turns.turn(lambda: ["A"])) for _ in range(2))
    await asyncio.sleep(0)
    waits.cancel()
    await asyncio.wait([waits])
    turns.done(held.pop(), {"A": 1}, 1.0)
    given.cancel()  # it has its turn, and has not run since
    await asyncio.wait([given])
    assert given.cancelled()
    async with asyncio.timeout(1):
        assert (await turns.turn(lambda: ["A"])).tenant == "A"


async def test_a_model_whose_callers_are_gone_gets_an_empty_turn():
    turns = ComputeTurns(1, Clock())
    async with asyncio.timeout(1):
        turn = await turns.turn(list)
        turns.done(turn, {}, 0.0)
        assert turn.tenant == ""
        assert (await turns.turn(lambda: ["A"])).tenant == "A"
