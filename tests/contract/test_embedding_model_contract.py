"""What every ``EmbeddingModel`` must do, over every adapter."""

import asyncio

import numpy as np
import pytest

from services.common.adapters.encoders.embedding import open_embedding
from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.settings.inference import InferenceSettings
from services.common.settings.triton import TritonSettings
from tests.integration.triton_target import triton_target

TEXTS = (
    "Water damage must be reported within three days.",
    "Report water damage no later than three days after it happened.",
    "The cafeteria opens at noon.",
    "",
    "Ünïcödé 😀 text",
)


TRITON = pytest.param("triton", marks=[pytest.mark.needs_triton, pytest.mark.timeout(180)])


@pytest.fixture(params=["memory", "onnx", TRITON])
async def model(request):
    if request.param == "memory":
        yield MemoryEmbeddingModel()
        return
    triton = TritonSettings(target=triton_target(), timeout_s=60.0) if request.param == "triton" else TritonSettings()
    opened = await open_embedding(InferenceSettings(backend=request.param, triton=triton, intra_op_threads=1))
    yield opened
    await opened.close()


async def test_unit_vectors_of_the_stated_dimension_in_order(model):
    vectors = await model.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), model.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for row, text in enumerate(TEXTS):
        assert np.allclose((await model.embed([text]))[0], vectors[row], atol=1e-5)


async def test_nothing_gives_no_rows(model):
    assert (await model.embed([])).shape == (0, model.dimension)


async def test_the_same_text_twice_gives_the_same_vector(model):
    first, second = await model.embed([TEXTS[0], TEXTS[0]])
    assert np.array_equal(first, second)


async def test_near_texts_are_nearer(model):
    vectors = await model.embed(TEXTS)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


async def test_concurrent_calls_get_their_own_rows(model):
    expected = await model.embed(TEXTS)
    results = await asyncio.gather(*(model.embed([text]) for text in TEXTS))
    assert np.allclose(np.concatenate(results), expected, atol=1e-5)


async def test_a_very_long_text_is_allowed(model):
    (vector,) = await model.embed(["word " * 20_000])
    assert np.isfinite(vector).all()


async def test_calibration_is_monotone_on_the_unit_interval(model):
    cosines = np.linspace(-1, 1, 401, dtype=np.float32)
    calibrated = model.calibration.apply(cosines)
    assert np.all(np.diff(calibrated) >= 0)
    assert (calibrated.min(), calibrated.max()) == (0.0, 1.0)


async def test_fingerprint_names_model_version_and_digest(model):
    name, _, digest = model.fingerprint.partition("+sha256:")
    assert name.startswith(f"{model.name}@")
    assert len(digest) == 16
    assert int(digest, 16) >= 0
