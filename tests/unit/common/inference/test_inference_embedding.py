"""The delivered embedder in the process: golden vectors, batch invariance, long texts, start-up failures."""

import asyncio
import json
import random
import shutil

import numpy as np
import onnx
import pytest

from services.common.adapters.encoders.embedding import open_embedding
from services.common.adapters.onnx.session import OnnxEncoder, available_threads
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.model_repository import ModelRepository, ModelRepositoryError, open_repository
from services.common.resources import resource_path
from services.common.settings.inference import InferenceSettings

SETTINGS = InferenceSettings(intra_op_threads=1)
FOLDER = resource_path("model_repository") / "embedder"


@pytest.fixture
async def model():
    opened = await open_embedding(SETTINGS)
    yield opened
    await opened.close()


async def test_golden_vectors(model):
    golden = json.loads((FOLDER / "golden.json").read_text(encoding="utf-8"))
    assert golden["model"] == model.fingerprint
    vectors = await model.embed([case["text"] for case in golden["cases"]])
    for case, vector in zip(golden["cases"], vectors, strict=True):
        assert model.token_ids([case["text"]]) == [tuple(case["token_ids"])]
        assert np.abs(vector - np.array(case["embedding"])).max() < 1e-4


def test_a_text_is_the_same_alone_and_among_31_others_of_other_lengths():
    entry = open_repository(SETTINGS).verified("embedder")
    encoder = OnnxEncoder(open_repository(SETTINGS), entry, threads=available_threads())
    chance = random.Random(7)
    batch = [
        (101, *(chance.randrange(2000, 20_000) for _ in range(chance.choice((1, 5, 17, 40, 120, 250)))), 102)
        for _ in range(32)
    ]
    together = encoder.encode(batch)
    worst = max(np.abs(encoder.encode([batch[row]])[0][0] - together[row][0]).max() for row in range(0, 32, 3))
    assert worst < 1e-5


def test_weights_are_folded_to_float_and_activations_stay_float():
    graph = onnx.load(FOLDER / "1" / "model.onnx").graph
    kinds = {node.op_type for node in graph.node}
    assert not {kind for kind in kinds if "Quantize" in kind or "Integer" in kind}
    int8 = [t for t in graph.initializer if t.data_type == onnx.TensorProto.INT8]
    assert sum(int(np.prod(t.dims)) for t in int8) == 30_522 * 384 + 6 * (4 * 384 * 384 + 2 * 384 * 1536)


async def test_a_text_that_fits_is_read_at_once_and_one_token_more_in_two_halves(model):
    fits, longer = " ".join(["water"] * 510), " ".join(["water"] * 511)  # one token each, and the two special ones
    assert [len(ids) for ids in model.token_ids([fits, longer])] == [512, 513]
    (vector,) = await model.embed([longer])
    halves = await model.embed([" ".join(["water"] * 255), " ".join(["water"] * 256)])
    mean = (257 * halves[0].astype(np.float64) + 258 * halves[1]) / 515
    assert np.abs(vector - mean / np.linalg.norm(mean)).max() < 1e-6


async def test_the_end_of_a_long_text_counts(model):
    head = " ".join(["water"] * 510)
    first, second = await model.embed([head + " fire and ashes", head + " a contract of insurance"])
    assert first @ second < 0.999


async def test_the_empty_text_is_its_two_special_tokens(model):
    assert model.token_ids([""]) == [(101, 102)]


async def test_a_call_longer_than_the_queue_is_served_in_slices():
    model = await open_embedding(SETTINGS.model_copy(update={"queue_items": 3}))
    texts = [f"number {n}" for n in range(10)]
    assert (await model.embed(texts)).shape == (10, 384)
    await model.close()


async def test_full_queue_and_closed_model_are_told_apart():
    model = await open_embedding(SETTINGS.model_copy(update={"queue_items": 1}))
    with pytest.raises(LimitExceededError) as caught:
        await asyncio.gather(*(model.embed([f"number {n}"]) for n in range(5)))
    assert caught.value.reason is ErrorReason.QUEUE_FULL
    await model.close()
    with pytest.raises(UnavailableError) as closed:
        await model.embed(["x"])
    assert closed.value.reason is ErrorReason.MODEL_UNAVAILABLE


def test_a_batch_that_the_graph_cannot_compute_is_unavailability():
    repository = open_repository(SETTINGS)
    encoder = OnnxEncoder(repository, repository.entry("embedder"), threads=1)
    with pytest.raises(UnavailableError) as caught:
        encoder.encode([(10**9,)])
    assert caught.value.reason is ErrorReason.MODEL_UNAVAILABLE
    assert caught.value.metadata["model"] == "embedder"


# Start-up.


@pytest.fixture
def copied(tmp_path):
    shutil.copytree(FOLDER.parent, tmp_path / "repository")
    return tmp_path / "repository"


def change_manifest(root, change):
    path = root / "MANIFEST.json"
    manifest = json.loads(path.read_text())
    change(manifest["models"][0])
    path.write_text(json.dumps(manifest))


def at(root, **changes):
    return SETTINGS.model_copy(update={"model_repository": root, **changes})


async def test_one_flipped_bit_in_the_weights_stops_the_start(copied):
    path = copied / "embedder" / "1" / "model.onnx"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelRepositoryError, match=r"model\.onnx is not the pinned file: expected sha256"):
        await open_embedding(at(copied))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(calibration=None), "embedder needs calibration"),
        (lambda m: m.update(max_tokens=None), "embedder needs calibration and max_tokens"),
        (lambda m: m["outputs"][0].update(name="vector"), r"output: found \['embedding'\]"),
        (lambda m: m["outputs"][0].update(shape=[-1, 385]), r"output embedding: found float32 \[-1, 384\]"),
        (lambda m: m["inputs"][0].update(dtype="int32"), "input input_ids: found int64"),
    ],
    ids=["no calibration", "no longest input", "another tensor", "another shape", "another type"],
)
async def test_manifest_that_does_not_fit_the_graph_stops_the_start(copied, change, message):
    change_manifest(copied, change)
    with pytest.raises(ModelRepositoryError, match=message):
        await open_embedding(at(copied))


async def test_a_model_of_another_kind_stops_the_start():
    with pytest.raises(ModelRepositoryError, match="GROUNDTRAIL_INFERENCE__EMBEDDING_MODEL"):
        await open_embedding(SETTINGS.model_copy(update={"embedding_model": "ner"}))


async def test_repository_given_by_hand():
    repository = ModelRepository.open(FOLDER.parent)
    model = await open_embedding(SETTINGS, repository)
    assert model.name == "embedder"
    await model.close()
