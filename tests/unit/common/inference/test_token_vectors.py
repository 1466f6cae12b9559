"""Token vectors of the delivered embedder: what they are, and that its file and its pooled vectors stay as they are."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from services.common.adapters.encoders.token_vectors import EncoderTokenVectorModel, open_token_vectors
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.adapters.onnx.backend import open_token_states
from services.common.adapters.onnx.declaration import output_declaration
from services.common.adapters.onnx.session import OnnxEncoder
from services.common.model_repository import ModelRepositoryError, Tensor, open_repository
from services.common.settings.inference import InferenceSettings

SETTINGS = InferenceSettings(intra_op_threads=1)
SHORT = "Water damage must be reported within three days."
LONG = " ".join(f"word{number}" for number in range(400))


@pytest.fixture(scope="module")
def repository():
    return open_repository(SETTINGS)


@pytest.fixture
async def model():
    made = await open_token_vectors(SETTINGS)
    yield made
    await made.close()


def test_the_declaration_is_what_onnx_itself_would_write():
    for shape in ((-1, -1, 384), (-1, 3), (1, 300, 70_000)):
        value = helper.make_tensor_value_info("inner.value", TensorProto.FLOAT, [n if n > 0 else None for n in shape])
        expected = onnx.ModelProto()
        expected.graph.output.append(value)
        found = onnx.ModelProto.FromString(output_declaration(Tensor(name="inner.value", dtype="float32", shape=shape)))
        assert found == expected
    with pytest.raises(ModelRepositoryError, match="must be float32"):
        output_declaration(Tensor(name="x", dtype="int64", shape=(-1,)))


def test_the_pooled_vector_has_the_same_bits_with_and_without_the_further_output(repository):
    entry = repository.verified("embedder")
    plain = OnnxEncoder(repository, entry, threads=1)
    opened = OnnxEncoder(repository, entry, threads=1, inner=(entry.token_states,))
    chance = np.random.default_rng(7)
    batch = [tuple(chance.integers(1_000, 20_000, length).tolist()) for length in (3, 9, 17, 40, 5, 127, 33, 21)]
    for one, (pooled, states) in zip(plain.encode(batch), opened.encode(batch), strict=True):
        assert np.array_equal(one[0], pooled)
        mean = states.astype(np.float64).mean(axis=0)
        assert np.allclose(mean / np.linalg.norm(mean), pooled, atol=1e-6)


async def test_a_unit_vector_for_each_token_without_the_special_ones(model, repository):
    vectors = await model.token_vectors([SHORT, "", "Water"])
    count = len(EncoderTokenizer.load(repository, "embedder").ids([SHORT])[0])
    assert [each.shape for each in vectors] == [(count, 384), (0, 384), (1, 384)]
    assert vectors[0].dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors[0], axis=1), 1.0, atol=1e-5)
    assert model.fingerprint == repository.entry("embedder").fingerprint


async def test_a_text_has_the_same_vectors_in_any_company(model):
    alone = (await model.token_vectors([SHORT]))[0]
    among = await model.token_vectors(["short", SHORT, LONG, *(f"text {number}" * number for number in range(12))])
    assert np.array_equal(alone, among[1])


async def test_a_long_text_is_read_whole(model, repository):
    count = len(EncoderTokenizer.load(repository, "embedder").ids([LONG])[0])
    assert count > 510
    (vectors,) = await model.token_vectors([LONG])
    assert vectors.shape == (count, 384)


async def test_a_repository_without_token_states_says_so(repository):
    entry = repository.entry("embedder").model_copy(update={"token_states": None})
    with pytest.raises(ModelRepositoryError, match="names no token_states"):
        await open_token_states(SETTINGS, repository, entry)
    wrong = repository.entry("embedder").token_states.model_copy(update={"name": "nowhere"})
    entry = repository.entry("embedder").model_copy(update={"token_states": wrong})
    with pytest.raises(ModelRepositoryError, match="cannot be loaded"):
        await open_token_states(SETTINGS, repository, entry)


async def test_a_backend_that_gives_no_vector_per_token_is_refused(repository):
    class Pooled:
        entry = repository.entry("embedder")

    with pytest.raises(ModelRepositoryError, match="a last output per token"):
        EncoderTokenVectorModel(Pooled(), EncoderTokenizer.load(repository, "embedder"))
