"""Turns at the processors: few batches at once, over all models, for the tenant that had least of their time."""

import asyncio
from collections import Counter

from services.common.adapters.onnx.turns import ALONE_AFTER_S, ComputeTurns, processors_turns


class Model:
    """A queue of so many batches of each tenant; the test says when one that was begun is done."""

    def __init__(self, turns, **batches):
        self.turns, self.left, self.begun = turns, Counter(batches), []
        turns.add(self)

    def tenants(self):
        return list(self.left)

    def ready(self):
        return bool(self.left)

    def begin(self, turn):
        self.left[turn.tenant] -= 1
        self.left += Counter()
        self.begun.append(turn)


class Processors:
    """Turns with a clock; computes what was begun, the oldest first."""

    def __init__(self, batches=1):
        self.at = 0.0
        self.turns = ComputeTurns(batches, lambda: self.at)
        self.had = Counter()

    def compute(self, models, seconds):
        model = next(one for one in models if one.begun)
        turn = model.begun.pop(0)
        self.at += seconds[model]
        self.had[turn.tenant] += seconds[model]
        self.turns.done(turn, {turn.tenant: 7}, seconds[model])


def test_a_tenant_at_one_model_gets_as_much_as_one_at_four():
    processors = Processors()
    models = [Model(processors.turns, A=500) for _ in range(3)] + [Model(processors.turns, A=200, B=100)]
    seconds = dict(zip(models, (0.02, 0.03, 0.01, 0.05), strict=True))
    processors.turns.wake()
    while models[3].left["B"]:
        processors.compute(models, seconds)
    assert 0.45 <= processors.had["B"] / processors.had.total() <= 0.55


def test_a_tenant_with_short_batches_has_several_in_turn():
    processors = Processors()
    models = [Model(processors.turns, A=100), Model(processors.turns, B=100)]
    seconds = dict(zip(models, (0.5, 0.05), strict=True))
    processors.turns.wake()
    while models[1].left["B"]:
        processors.compute(models, seconds)
    assert 0.4 <= processors.had["B"] / processors.had.total() <= 0.6


def test_one_batch_goes_ahead_while_nobody_else_asks_and_none_when_somebody_does():
    processors = Processors()
    alone = Model(processors.turns, A=9)
    processors.turns.wake()
    assert [turn.alone for turn in alone.begun] == [True, True]
    other = Model(processors.turns, B=1)
    processors.turns.wake()
    processors.compute([alone], {alone: 1.0})
    assert not other.begun
    processors.compute([alone], {alone: 1.0})
    assert [(turn.tenant, turn.alone) for turn in other.begun] == [("B", False)]
    assert not alone.begun
    processors.compute([other], {other: 0.1})
    assert [turn.alone for turn in alone.begun] == [False]
    processors.compute([alone], {alone: ALONE_AFTER_S + 0.1})
    assert [turn.alone for turn in alone.begun] == [True, True]


def test_what_the_process_asks_itself_leaves_a_tenant_alone():
    processors = Processors()
    one = Model(processors.turns, A=9)
    own = Model(processors.turns, **{"": 1})
    processors.turns.wake()
    assert [turn.alone for turn in (*one.begun, *own.begun)] == [True, True]
    while own.left or own.begun:
        processors.compute([own, one], {one: 0.1, own: 0.1})
    assert [turn.alone for turn in one.begun] == [True, True]


def test_a_model_that_is_gone_gets_no_turn():
    processors = Processors()
    model = Model(processors.turns, A=1)
    processors.turns.remove(model)
    processors.turns.remove(model)
    processors.turns.wake()
    assert not model.begun


async def test_all_models_of_a_loop_share_their_turns():
    assert processors_turns() is processors_turns()
    other = asyncio.to_thread(lambda: asyncio.run(_turns()))
    assert await other is not processors_turns()


async def _turns():
    return processors_turns()
