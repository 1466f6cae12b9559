"""ONNX Runtime in the process as an encoder backend: any number of outputs, slices, threads, what a fault costs."""

import asyncio

import pytest

from services.common.adapters.encoders.opening import open_backend
from services.common.adapters.onnx.session import OnnxEncoder, available_threads, lanes_of
from services.common.errors import ErrorReason, UnavailableError
from services.common.settings.inference import InferenceSettings
from tests.fakes.tiny_encoders import TinyEncoder, token_id, write_repository

SETTINGS = InferenceSettings(intra_op_threads=1)
YES, NO, BROKEN, WORD = (token_id(word) for word in ("yes", "no", "broken", "w1"))


@pytest.fixture
def repository(tmp_path):
    return write_repository(tmp_path, TinyEncoder("grounding", "grounding"), TinyEncoder("short", wrong_shape=True))


@pytest.fixture
async def opened(repository):
    backends = []

    async def build(**settings):
        backends.append(await open_backend(SETTINGS.model_copy(update=settings), repository, "grounding", "grounding"))
        return backends[-1]

    yield build
    for backend in backends:
        await backend.close()


def values(outputs):
    return [part.tolist() for part in outputs]


async def test_a_pooled_output_and_one_per_token_in_order(opened):
    backend = await opened()
    found = await backend.run([(YES, NO), (WORD,), (WORD, WORD, NO)])
    assert [values(outputs) for outputs in found] == [
        [[4.0], [0.0, 4.0]],
        [[0.0], [0.0]],
        [[0.0], [0.0, 0.0, 4.0]],
    ]


async def test_a_call_longer_than_the_queue_is_served_in_slices(opened):
    backend = await opened(queue_items=3)
    items = [(WORD,) * length for length in range(1, 11)]
    assert [len(tokens) for _, tokens in await backend.run(items)] == list(range(1, 11))


async def test_a_broken_item_fails_its_own_caller_alone(opened):
    backend = await opened()
    good, bad = await asyncio.gather(
        backend.run([(YES,), (NO,)]), backend.run([(WORD, BROKEN)]), return_exceptions=True
    )
    assert [values(outputs) for outputs in good] == [[[4.0], [0.0]], [[0.0], [4.0]]]
    assert isinstance(bad, UnavailableError)
    assert bad.metadata == {"model": "grounding", "output": "support_logit"}


async def test_a_cancelled_call_takes_its_items_out_of_the_queue(opened):
    backend = await opened()
    first = asyncio.create_task(backend.run([(WORD,) * length for length in range(1, 65)]))
    await asyncio.sleep(0)
    second = asyncio.create_task(backend.run([(YES,)]))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert backend.waiting <= 1
    assert values((await second)[0]) == [[4.0], [0.0]]


async def test_a_closed_backend_says_so_also_to_a_check(opened):
    backend = await opened()
    await backend.check()
    await backend.close()
    for call in (backend.check(), backend.run([(YES,)])):
        with pytest.raises(UnavailableError, match="Model grounding is shutting down"):
            await call


def test_another_shape_at_run_time_is_unavailability(repository):
    encoder = OnnxEncoder(repository, repository.entry("short"), threads=1)
    with pytest.raises(
        UnavailableError, match=r"Model short returned the shape \[2, 2\] instead of \[2, 3\] in logits"
    ):
        encoder.encode([(YES,), (NO,)])


def test_what_the_graph_cannot_compute_is_unavailability(repository):
    encoder = OnnxEncoder(repository, repository.entry("grounding"), threads=1)
    with pytest.raises(UnavailableError, match="Model grounding failed to compute a batch of 1 texts") as caught:
        encoder.encode([(10**9,)])
    assert caught.value.reason is ErrorReason.MODEL_UNAVAILABLE


@pytest.mark.parametrize(("asked", "used"), [(0, available_threads()), (1, 1), (3, 3)], ids=["all", "one", "three"])
def test_threads_of_one_inference(repository, asked, used):
    entry = repository.entry("grounding")
    encoder = OnnxEncoder(repository, entry, threads=asked)
    assert encoder._session.get_session_options().intra_op_num_threads + lanes_of(entry, asked) - 1 == used
