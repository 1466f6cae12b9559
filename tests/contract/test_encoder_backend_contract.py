"""What every ``EncoderBackend`` must do, over every backend, with every encoder of the delivered repository (ADR 0032).

ONNX Runtime in the process always runs; Triton runs where GROUNDTRAIL_TEST_TRITON names one that serves the same
repository. What a backend does with NaN and other shapes is tested on graphs that give them, which no delivered model
does: ``test_onnx_backend.py``, and for Triton against a server that lies.
"""

import asyncio
import json
from functools import cache

import numpy as np
import pytest
import pytest_asyncio

from services.common.adapters.encoders.opening import COMMANDS, open_backend
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.adapters.onnx.session import OnnxEncoder
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.model_repository import open_repository
from services.common.settings.inference import InferenceSettings
from services.common.settings.triton import TritonSettings
from tests.integration.triton_target import triton_target

INVARIANCE = 1e-5
"""Largest difference of an output between an item alone and among others."""
TOLERANCE = 1e-4
"""Largest difference of an output between backends that compute in float32 (ADR 0032)."""
LENGTHS = (3, 9, 250, 17, 40, 64, 5, 127, 33, 21, 90, 12, 7, 48, 180, 28, 3, 11, 19, 72, 6, 14, 55, 8, 100, 30, 4)
ENCODERS = [
    model.name
    for model in open_repository(InferenceSettings()).models
    if model.kind in COMMANDS and any(one.name == "input_ids" for one in model.inputs)
]
BACKENDS = ["onnx", pytest.param("triton", marks=[pytest.mark.needs_triton, pytest.mark.timeout(180)])]

pytestmark = pytest.mark.asyncio(loop_scope="module")


def settings_for(backend, **changes):
    triton = TritonSettings(target=triton_target(), timeout_s=60.0) if backend == "triton" else TritonSettings()
    return InferenceSettings(backend=backend, triton=triton, intra_op_threads=1, **changes)


async def opened(backend, name, **changes):
    repository = open_repository(InferenceSettings())
    return await open_backend(settings_for(backend, **changes), repository, name, repository.entry(name).kind)


@pytest.fixture(scope="module", params=BACKENDS)
def kind_of_backend(request):
    return request.param


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=ENCODERS)
async def backend(request, kind_of_backend):
    made = await opened(kind_of_backend, request.param)
    yield made
    await made.close()


@cache
def golden(name):
    path = open_repository(InferenceSettings()).folder(name) / "golden.json"
    return json.loads(path.read_text(encoding="utf-8"))


def items_of(lengths, seed=20_250_101):
    """Return items of ordinary ids; the same on every machine."""
    chance = np.random.default_rng(seed)
    return [tuple(chance.integers(1_000, 20_000, length).tolist()) for length in lengths]


def furthest(one, other):
    """Return the largest difference of a value between two items' outputs."""
    return max(float(np.abs(a - b).max(initial=0.0)) for a, b in zip(one, other, strict=True))


async def test_golden_outputs(backend):
    cases, tolerance = golden(backend.entry.name)["cases"], golden(backend.entry.name)["tolerance"]
    assert golden(backend.entry.name)["model"] == backend.entry.fingerprint
    found = await backend.run([tuple(case["token_ids"]) for case in cases])
    for case, outputs in zip(cases, found, strict=True):
        for tensor, values in zip(backend.entry.outputs, outputs, strict=True):
            np.testing.assert_allclose(values, case[tensor.name], atol=tolerance, rtol=0, err_msg=tensor.name)


async def test_golden_token_ids(backend):
    tokenizer = EncoderTokenizer.load(open_repository(InferenceSettings()), backend.entry.name)
    for case in golden(backend.entry.name)["cases"]:
        texts = tokenizer.ids([case["text"]] if "text" in case else case["pair"])
        assert (tokenizer.text(*texts) if "text" in case else tokenizer.pair(*texts)) == tuple(case["token_ids"])


async def test_outputs_are_float_of_the_items_own_length(backend):
    for item, outputs in zip(items_of((3, 17, 5)), await backend.run(items_of((3, 17, 5))), strict=True):
        expected = [tuple(len(item) if n < 0 else n for n in tensor.shape[1:]) for tensor in backend.entry.outputs]
        assert [values.shape for values in outputs] == expected
        assert {values.dtype for values in outputs} == {np.dtype(np.float32)}


async def test_an_item_is_the_same_alone_and_among_31_others(backend):
    """The others go in calls of their own, so that batches form across callers."""
    items = items_of(LENGTHS)
    watched = items[:5]
    calls = await asyncio.gather(backend.run(watched), *(backend.run([item]) for item in items[5:]))
    for item, among in zip(watched, calls[0], strict=True):
        (alone,) = await backend.run([item])
        assert furthest(alone, among) < INVARIANCE


async def test_concurrent_callers_get_their_own(backend):
    items = items_of((4, 9, 6, 12, 5, 20, 7, 8))
    expected = await backend.run(items)
    found = await asyncio.gather(*(backend.run([item, items[0]]) for item in items))
    for (own, first), wanted in zip(found, expected, strict=True):
        assert furthest(own, wanted) < INVARIANCE
        assert furthest(first, expected[0]) < INVARIANCE


async def test_equal_items_get_equal_outputs(backend):
    item, other = items_of((9, 5))
    one, _, two = await backend.run([item, other, item])
    assert furthest(one, two) == 0.0


async def test_the_longest_item_is_read_and_nothing_gives_nothing(backend):
    ((first, *_),) = await backend.run(items_of((backend.entry.max_tokens,)))
    assert np.isfinite(first).all()
    assert await backend.run([]) == []


async def test_a_cancelled_call_leaves_the_others_their_results(backend):
    (expected,) = await backend.run(items_of((6,)))
    gone = asyncio.create_task(backend.run(items_of((200,) * 12, seed=5)))
    stays = asyncio.create_task(backend.run(items_of((6,))))
    for _ in range(20):  # turns of the loop: both have been sent by then
        await asyncio.sleep(0)
    was_under_way = gone.cancel()
    await asyncio.wait([gone])
    assert gone.cancelled() is was_under_way
    assert furthest((await stays)[0], expected) < INVARIANCE
    await backend.check()


async def test_what_the_model_cannot_compute_is_unavailability(backend):
    with pytest.raises(UnavailableError) as caught:
        await backend.run([(0, 99_999_999, 2)])  # no such word
    assert caught.value.reason is ErrorReason.MODEL_UNAVAILABLE
    trunk = open_repository(InferenceSettings()).trunk(backend.entry)
    assert caught.value.metadata["model"] == trunk.name  # what failed is the graph, whatever model asked


# With settings of their own: one model is enough.


async def test_a_full_queue_refuses_and_says_when_to_come_back(kind_of_backend):
    backend = await opened(kind_of_backend, "embedder", queue_items=1)
    calls = (backend.run([item]) for item in items_of((60,) * 40))
    results = await asyncio.gather(*calls, return_exceptions=True)
    await backend.close()
    refused = [result for result in results if isinstance(result, Exception)]
    assert refused
    assert {(type(error), error.reason) for error in refused} == {(LimitExceededError, ErrorReason.QUEUE_FULL)}
    assert all(error.retry_after_s > 0 and error.metadata["model"] == "embedder" for error in refused)


async def test_a_call_longer_than_the_queue_is_served(kind_of_backend):
    backend = await opened(kind_of_backend, "embedder", queue_items=3)
    assert len(await backend.run(items_of(range(3, 13)))) == 10
    await backend.close()


async def test_a_closed_backend_says_so(kind_of_backend):
    backend = await opened(kind_of_backend, "embedder")
    await backend.close()
    await backend.close()
    for call in (backend.run([(101, 102)]), backend.check()):
        with pytest.raises(UnavailableError, match="shutting down"):
            await call


@pytest.mark.tenth
@pytest.mark.parametrize("name", ENCODERS)
async def test_one_session_gives_the_same_alone_and_in_a_batch_of_32(name):
    repository = open_repository(InferenceSettings())
    encoder = OnnxEncoder(repository, repository.trunk(repository.entry(name)), threads=1)
    batch = items_of(3 + number * number // 16 for number in range(32))
    together = encoder.encode(batch)
    for row in (0, 9, 20, 31):
        assert furthest(encoder.encode([batch[row]])[0], together[row]) < INVARIANCE


@pytest.mark.needs_triton
@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", ENCODERS)
async def test_backends_agree(name):
    backends = [await opened(kind, name) for kind in ("triton", "onnx")]
    items = items_of(min(length, backends[0].entry.max_tokens) for length in (3, 17, 64, 127, 250, 480))
    one, other = [await backend.run(items) for backend in backends]
    for backend in backends:
        await backend.close()
    assert max(map(furthest, one, other)) < TOLERANCE
