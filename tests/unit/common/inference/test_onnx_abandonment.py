"""A batch that nobody waits for any more is ended; one that anybody waits for is not."""

import asyncio
import threading

import pytest

from services.common.adapters.onnx.abandonment import AbandonedError, Abandonment, ended_by
from services.common.adapters.onnx.batching import BatchPolicy, DynamicBatcher
from services.common.model_repository import open_repository
from services.common.settings import InferenceSettings
from tests.unit.common.inference.test_onnx_bits import opened

LONGEST_S = 30
ONE_A_BATCH = BatchPolicy(min_size=1, max_size=1, max_delay_s=0.0, queue_items=100)
TOGETHER = BatchPolicy(min_size=2, max_size=2, max_delay_s=LONGEST_S, queue_items=100)


class EndedError(Exception):
    """What a model raises that is ended."""


class Model:
    """Computes until it is let go or ended."""

    def __init__(self):
        self.batches = []
        self.began = threading.Semaphore(0)
        self.go = threading.Event()
        self.was_ended = []

    def __call__(self, items):
        self.batches.append(list(items))
        ended = threading.Event()

        def end():
            ended.set()
            self.go.set()

        with ended_by(end):
            self.began.release()
            assert self.go.wait(LONGEST_S)
        self.was_ended.append(ended.is_set())
        if ended.is_set():
            self.go.clear()
            raise EndedError
        return [item * 2 for item in items]

    async def begun(self):
        assert await asyncio.to_thread(self.began.acquire, timeout=LONGEST_S)


async def left(task):
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_batch_that_is_left_is_ended_and_the_next_one_runs():
    model = Model()
    batcher = DynamicBatcher("m", model, ONE_A_BATCH)
    task = asyncio.create_task(batcher.submit([(1,)]))
    await model.begun()
    await left(task)
    following = asyncio.create_task(batcher.submit([(2,)]))
    await model.begun()  # the first has ended, the thread is one alone
    model.go.set()
    assert await following == [(2, 2)]
    assert model.was_ended == [True, False]
    await batcher.close()


async def test_a_batch_that_another_waits_for_goes_on():
    model = Model()
    batcher = DynamicBatcher("m", model, TOGETHER)
    first = asyncio.create_task(batcher.submit([(1,)]))
    second = asyncio.create_task(batcher.submit([(2,)]))
    await model.begun()
    await left(first)
    model.go.set()
    assert await second == [(2, 2)]
    assert model.was_ended == [False]
    await batcher.close()


async def test_an_item_that_two_wait_for_goes_on_when_one_leaves():
    model = Model()
    batcher = DynamicBatcher("m", model, ONE_A_BATCH)
    first = asyncio.create_task(batcher.submit([(1,)]))
    await model.begun()
    second = asyncio.create_task(batcher.submit([(1,)]))
    await asyncio.sleep(0)
    await left(first)
    model.go.set()
    assert await second == [(1, 1)]
    assert len(model.batches) == 1
    await batcher.close()


async def test_what_was_ended_is_computed_anew_for_whoever_asks_then():
    model = Model()
    batcher = DynamicBatcher("m", model, ONE_A_BATCH)
    first = asyncio.create_task(batcher.submit([(1,)]))
    await model.begun()
    await left(first)
    again = asyncio.create_task(batcher.submit([(1,)]))
    await model.begun()
    model.go.set()
    assert await again == [(1, 1)]
    await batcher.close()


async def test_a_batch_handed_over_ahead_and_left_never_begins():
    model = Model()
    batcher = DynamicBatcher("m", model, ONE_A_BATCH)
    first = asyncio.create_task(batcher.submit([(1,)]))
    ahead = asyncio.create_task(batcher.submit([(2,)]))
    await model.begun()
    assert batcher.waiting == 0
    await left(ahead)
    model.go.set()
    assert await first == [(1, 1)]
    await batcher.close()
    assert model.batches == [[(1,)]]


def test_what_is_asked_before_it_begins_never_begins():
    abandonment = Abandonment()
    abandonment.ask()
    with pytest.raises(AbandonedError), abandonment.heeded():
        raise AssertionError("begun")


def test_an_inference_of_onnx_runtime_ends():
    """One that takes long is ended by another thread, and the session computes on."""
    encoder = opened("embedder", 1)
    longest = open_repository(InferenceSettings()).entry("embedder").max_tokens or 512
    texts = [tuple([1_000 + at % 500 for at in range(longest)])] * 64
    abandonment = Abandonment()
    failures = []

    def computing():
        try:
            with abandonment.heeded():
                encoder.encode(texts)
        except Exception as error:  # noqa: BLE001 - looked at below
            failures.append(error)

    before = encoder.encode([(1_000, 1_001)])
    thread = threading.Thread(target=computing)
    thread.start()
    while not abandonment._end:
        pass
    abandonment.ask()
    thread.join(LONGEST_S)
    assert not thread.is_alive()
    assert [type(error).__name__ for error in failures] == ["UnavailableError"]
    after = encoder.encode([(1_000, 1_001)])
    assert all((one == other).all() for one, other in zip(before[0], after[0], strict=True))
