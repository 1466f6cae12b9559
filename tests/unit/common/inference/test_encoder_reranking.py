"""``EncoderReranker`` over a tiny encoder that reads 32 tokens: ``yes`` gives a logit of 4, every other word 0."""

import numpy as np
import pytest

from services.common.adapters.encoders.opening import open_backend
from services.common.adapters.encoders.reranking import EncoderReranker
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.settings.inference import InferenceSettings
from tests.fakes.tiny_encoders import TinyEncoder, write_repository

SETTINGS = InferenceSettings(intra_op_threads=1)
FILLER = "w1 w2 w3 w4 "


class CountedBackend:
    """Passes on, and remembers how many items each call had."""

    def __init__(self, backend):
        self.backend = backend
        self.calls = []

    @property
    def entry(self):
        return self.backend.entry

    async def run(self, items):
        self.calls.append(len(items))
        return await self.backend.run(items)


@pytest.fixture
async def build(tmp_path):
    backends = []

    async def build_(**settings):
        repository = write_repository(tmp_path, TinyEncoder(name="grounding", kind="grounding"))
        used = SETTINGS.model_copy(update=settings)
        backends.append(await open_backend(used, repository, "grounding", "grounding"))
        counted = CountedBackend(backends[-1])
        return EncoderReranker(counted, EncoderTokenizer.load(repository, "grounding")), counted

    yield build_
    for backend in backends:
        await backend.close()


def logistic(value):
    return 1 / (1 + np.exp(-value))


@pytest.mark.parametrize(
    ("query", "passage", "logit"),
    [
        ("w1", "w2 yes", 4.0),
        ("w1", "w2", 0.0),
        ("yes", "w2", 4.0),
        ("w1", FILLER * 30 + "yes", 4.0),
        ("w1", "yes " + FILLER * 30, 4.0),
        (FILLER * 4 + "yes", "w2", 4.0),
        ("yes " + FILLER * 8, "w1 w2", 4.0 / 3),
        ("", "", 0.0),
    ],
    ids=[
        "in the passage",
        "nowhere",
        "in the query",
        "the last window counts",
        "the first window counts",
        "a query that fits",
        "pieces of a query are averaged",
        "empty",
    ],
)
async def test_scores(build, query, passage, logit):
    model, _ = await build()
    (score,) = await model.score([(query, passage)])
    assert score == pytest.approx(logistic(logit), abs=1e-6)


async def test_all_pairs_go_to_the_encoder_in_one_call(build):
    model, backend = await build()
    scores = await model.score([("w1", "yes"), ("w2", "w3"), ("w1", FILLER * 30), ("w1", "yes")])
    assert len(backend.calls) == 1
    assert backend.calls[0] > 4
    assert scores.dtype == np.float32
    assert scores == pytest.approx([logistic(4), 0.5, 0.5, logistic(4)], abs=1e-6)
    assert (await model.score([])).shape == (0,)
    assert model.fingerprint.startswith("grounding@1+sha256:")


async def test_a_broken_output_is_an_error_and_never_a_score(build):
    model, _ = await build()
    with pytest.raises(UnavailableError) as caught:
        await model.score([("w1", "broken")])
    assert caught.value.reason is ErrorReason.MODEL_UNAVAILABLE


async def test_a_full_queue_is_said(build):
    model, backend = await build(queue_items=1)
    await model.score([("w1", f"w{number}") for number in range(6)])  # in slices, as every call

    async def full(_items):
        raise LimitExceededError(ErrorReason.QUEUE_FULL, "full", retry_after_s=1.0)

    backend.run = full
    with pytest.raises(LimitExceededError):
        await model.score([("w1", "w2")])
