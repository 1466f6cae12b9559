"""The encoders on the Triton that GROUNDTRAIL_TEST_TRITON names. Unset: skipped. Set, and nobody answers: failed."""

import asyncio
import json
from multiprocessing import shared_memory
from pathlib import Path

import numpy as np
import pytest

from services.common.adapters.encoders.opening import open_backend
from services.common.adapters.triton.backend import open_triton_backend
from services.common.errors import StartupError, UnavailableError
from services.common.model_repository import ModelRepository, ModelRepositoryError
from services.common.model_repository.manifest import Manifest
from services.common.settings.inference import InferenceSettings
from services.common.settings.triton import TritonSettings
from tests.integration.triton_target import triton_target
from tools.real_servers.triton import MODEL_REPOSITORY, encoders

pytestmark = [pytest.mark.needs_triton, pytest.mark.timeout(180)]
KINDS = ("embedding", "entailment", "grounding", "injection")
LENGTHS = (3, 17, 40, 64, 127, 128, 250, 9, 33, 480, 5, 21, 90, 12, 64, 7)


@pytest.fixture
def settings():
    connection = TritonSettings(target=triton_target(), timeout_s=60.0)  # busy machines run these tests too
    return InferenceSettings(backend="triton", triton=connection, intra_op_threads=1)


@pytest.fixture(params=encoders(MODEL_REPOSITORY))
def entry(request):
    return ModelRepository.open(MODEL_REPOSITORY).entry(request.param)


@pytest.fixture
async def backends(settings, entry):
    """Yield the same model on Triton and in the process."""
    repository = ModelRepository.open(MODEL_REPOSITORY)
    opened = [
        await open_backend(chosen, repository, entry.name, entry.kind)
        for chosen in (settings, settings.model_copy(update={"backend": "onnx"}))
    ]
    yield opened
    for backend in opened:
        await backend.close()


def items_of(lengths, entry):
    """Return items of ordinary ids, none longer than the model reads; the same on every machine."""
    chance = np.random.default_rng(20_250_101)
    return [tuple(chance.integers(1_000, 20_000, min(length, entry.max_tokens)).tolist()) for length in lengths]


def assert_close(found, expected):
    for one, other in zip(found, expected, strict=True):
        for own, wanted in zip(one, other, strict=True):
            np.testing.assert_allclose(own, wanted, atol=1e-4, rtol=0)


async def test_outputs_are_those_of_the_process(backends, entry):
    triton, onnx = backends
    items = items_of(LENGTHS, entry)
    assert_close(await triton.run(items), await onnx.run(items))


async def test_an_item_alone_and_among_others_is_the_same(backends, entry):
    triton, _ = backends
    items = items_of(LENGTHS, entry)
    together = await triton.run(items)
    for item, expected in list(zip(items, together, strict=True))[::5]:
        (alone,) = await triton.run([item])
        for own, wanted in zip(alone, expected, strict=True):
            np.testing.assert_allclose(own, wanted, atol=1e-5, rtol=0)


async def test_concurrent_callers_get_their_own(backends, entry):
    triton, _ = backends
    items = items_of(LENGTHS, entry)
    expected = await triton.run(items)
    found = await asyncio.gather(*(triton.run([item]) for item in items))
    assert_close([own for (own,) in found], expected)


async def test_shared_memory_gives_the_same_and_leaves_nothing(settings, entry):
    connection = settings.triton.model_copy(update={"shared_memory": True})
    repository = ModelRepository.open(MODEL_REPOSITORY)
    try:
        shared = await open_backend(
            settings.model_copy(update={"triton": connection}), repository, entry.name, entry.kind
        )
    except StartupError as error:
        pytest.skip(f"GROUNDTRAIL_TEST_TRITON names a Triton that shares no memory with this process: {error}")
    plain = await open_backend(settings, repository, entry.name, entry.kind)
    name = shared._shared.name
    items = items_of(LENGTHS, entry)
    assert_close(await shared.run(items), await plain.run(items))
    await shared.close()
    with pytest.raises(FileNotFoundError):
        shared_memory.SharedMemory(name)
    await plain.close()


def altered(root: Path, entry, old: str, new: str, **changes) -> ModelRepository:
    """Return a repository that describes the model otherwise than Triton serves it."""
    folder = root / entry.name
    folder.mkdir()
    config = (MODEL_REPOSITORY / entry.name / "config.pbtxt").read_text(encoding="utf-8")
    assert old in config
    (folder / "config.pbtxt").write_text(config.replace(old, new), encoding="utf-8")
    return ModelRepository(root, Manifest(schema_version=1, models=(entry.model_copy(update=changes),)))


async def test_a_repository_that_says_otherwise_keeps_the_process_from_starting(settings, entry, tmp_path):
    output = entry.outputs[0]
    renamed = output.model_copy(update={"name": "other"})
    repository = altered(tmp_path, entry, f'"{output.name}"', '"other"', outputs=(renamed, *entry.outputs[1:]))
    with pytest.raises(ModelRepositoryError, match=f"output other is missing; output {output.name} is not expected"):
        await open_triton_backend(settings, repository, repository.entry(entry.name))


async def test_another_largest_batch_keeps_the_process_from_starting(settings, entry, tmp_path):
    largest = ModelRepository.open(MODEL_REPOSITORY).config(entry.name).max_batch_size
    repository = altered(tmp_path, entry, f"max_batch_size: {largest}", f"max_batch_size: {largest - 1}")
    with pytest.raises(ModelRepositoryError, match=f"max_batch_size is {largest}, not {largest - 1}"):
        await open_triton_backend(settings, repository, repository.entry(entry.name))


async def test_what_triton_refuses_is_an_error_without_retry(backends):
    triton, _ = backends
    with pytest.raises(UnavailableError) as failed:
        await triton.run([(1, 99_999_999, 2)])  # no such word
    assert failed.value.metadata["cause"] == "internal"
    assert failed.value.retry_after_s is None


async def test_a_call_that_is_cancelled_leaves_the_server_serving(backends, entry):
    triton, _ = backends
    running = asyncio.create_task(triton.run(items_of([200] * 64, entry)))
    for _ in range(20):  # turns of the loop: it has been sent by then
        await asyncio.sleep(0)
    was_under_way = running.cancel()
    await asyncio.wait([running])
    assert running.cancelled() is was_under_way
    await triton.check()
    assert len(await triton.run([(5, 6, 7)])) == 1


def test_every_encoder_has_a_known_kind():
    entries = {entry.name: entry for entry in ModelRepository.open(MODEL_REPOSITORY).models}
    served = encoders(MODEL_REPOSITORY)
    assert served
    assert {entries[name].kind for name in served} <= set(KINDS)
    assert json.loads((MODEL_REPOSITORY / "MANIFEST.json").read_text(encoding="utf-8"))["schema_version"] == 1
