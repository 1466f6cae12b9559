"""``EncoderEntailmentModel`` over a tiny encoder that reads 32 tokens: 28 of premise and hypothesis, four special ones.

``yes`` gives entailment a logit of 4, ``no`` contradiction; neutral always has 1.
"""

import asyncio

import numpy as np
import pytest

from services.common.adapters.encoders.entailment import open_entailment
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.model_repository import ModelRepositoryError
from services.common.ports.entailment import CONTRADICTION, ENTAILMENT, NEUTRAL
from services.common.settings.inference import InferenceSettings
from tests.fakes.tiny_encoders import TinyEncoder, write_repository

SETTINGS = InferenceSettings(intra_op_threads=1)
NEUTRAL_LOGITS = (0.0, 1.0, 0.0)
YES = (4.0, 1.0, 0.0)
NO = (0.0, 1.0, 4.0)
FILLER = "w1 w2 w3 w4 "


def softmax(logits, temperature=1.0):
    powers = np.exp(np.array(logits) / temperature)
    return powers / powers.sum()


@pytest.fixture
async def opened(tmp_path):
    models = []

    async def build(encoder=None, **settings):
        repository = write_repository(tmp_path, encoder or TinyEncoder())
        models.append(await open_entailment(SETTINGS.model_copy(update=settings), repository))
        return models[-1]

    yield build
    for model in models:
        await model.close()


@pytest.mark.parametrize(
    ("premise", "hypothesis", "logits"),
    [
        ("w1 yes", "w2", YES),
        ("w1", "no", NO),
        ("", "", NEUTRAL_LOGITS),
        (FILLER * 6 + "w5 w6 w7", "yes", YES),
        (FILLER * 30 + "yes", "w2", YES),
        ("no " + FILLER * 30, "w2", NO),
        (FILLER * 30, "w2", NEUTRAL_LOGITS),
        ("w1", "yes " + FILLER * 8, NEUTRAL_LOGITS),
        ("yes", FILLER * 8, YES),
        ("yes", FILLER * 3 + "no ." + FILLER * 5, (4.0, 1.0, 4.0)),
    ],
    ids=[
        "entailed",
        "contradicted",
        "empty",
        "exactly what is read at once",
        "the window at the end decides",
        "the window at the start decides",
        "no window decides",
        "one piece of two entailed",
        "every piece entailed",
        "a piece that is torn",
    ],
)
async def test_probabilities(opened, premise, hypothesis, logits):
    model = await opened()
    (row,) = await model.classify([(premise, hypothesis)])
    assert row.dtype == np.float32
    if logits == (4.0, 1.0, 4.0):  # least entailment, largest contradiction, neutral the rest
        torn = softmax(logits)
        expected = np.array([torn[0], 1 - 2 * torn[0], torn[2]])
    else:
        expected = softmax(logits)
    assert np.abs(row - expected).max() < 1e-6


async def test_of_two_pieces_the_least_entailment_and_the_largest_contradiction(opened):
    model = await opened()
    (row,) = await model.classify([("w1", "yes " + FILLER * 3 + ". no " + FILLER * 4)])
    assert row[ENTAILMENT] == pytest.approx(softmax(NO)[ENTAILMENT], abs=1e-6)
    assert row[CONTRADICTION] == pytest.approx(softmax(NO)[CONTRADICTION], abs=1e-6)
    assert row[NEUTRAL] == pytest.approx(1 - row[ENTAILMENT] - row[CONTRADICTION], abs=1e-6)


async def test_temperature_and_order_of_labels_are_the_manifests(opened):
    labels = ("contradiction", "entailment", "neutral")
    model = await opened(TinyEncoder(temperature=2.5, labels=labels))
    (row,) = await model.classify([("yes", "w1")])
    of_the_model = softmax(YES, 2.5)  # contradiction, entailment, neutral
    assert np.abs(row - of_the_model[[1, 2, 0]]).max() < 1e-6


async def test_rows_in_order_and_none_for_nothing(opened):
    model = await opened()
    rows = await model.classify([("yes", "w1"), ("no", "w1"), (FILLER * 30, "w1"), ("yes", "w1")])
    assert rows.argmax(axis=1).tolist() == [ENTAILMENT, CONTRADICTION, NEUTRAL, ENTAILMENT]
    assert np.allclose(rows.sum(axis=1), 1.0, atol=1e-6)
    assert (await model.classify([])).shape == (0, 3)


async def test_it_names_itself(opened):
    model = await opened(TinyEncoder(max_tokens=48))
    assert model.max_tokens == 48
    assert model.fingerprint.startswith("nli@1+sha256:")


async def test_a_guilty_pair_fails_its_own_caller(opened):
    model = await opened()
    with pytest.raises(UnavailableError, match="Model nli returned a value that is not a finite number in logits"):
        await model.classify([("yes", "w1"), ("broken", "w1")])
    assert (await model.classify([("yes", "w1")])).argmax() == ENTAILMENT


async def test_another_shape_is_an_error(opened):
    model = await opened(TinyEncoder(wrong_shape=True))
    with pytest.raises(UnavailableError, match=r"the shape \[1, 2\] instead of \[1, 3\] in logits"):
        await model.classify([("yes", "w1")])


async def test_a_long_pair_is_served_by_a_short_queue(opened):
    model = await opened(queue_items=1)
    assert (await model.classify([(FILLER * 30 + "yes", "w1")])).argmax() == ENTAILMENT


async def test_full_queue_and_closed_model_are_told_apart(opened):
    model = await opened(queue_items=1)
    calls = (model.classify([(f"w{number}", "yes")]) for number in range(5))
    results = await asyncio.gather(*calls, return_exceptions=True)
    failures = [result for result in results if isinstance(result, Exception)]
    assert failures
    assert {(type(error), error.reason) for error in failures} == {(LimitExceededError, ErrorReason.QUEUE_FULL)}
    await model.close()
    for call in (model.classify([("w1", "w2")]), model.check()):
        with pytest.raises(UnavailableError, match="shutting down"):
            await call


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"softmax": None}, "nli needs softmax and max_tokens"),
        ({"max_tokens": None}, "nli needs softmax and max_tokens"),
        ({"max_tokens": 12}, "max_tokens of nli leaves 8 tokens for a pair"),
        (
            {"softmax": {"labels": ["yes", "no"], "temperature": 1, "fitted_on": {}, "measured": {}}},
            "the labels of nli are yes, no, not entailment, neutral, contradiction",
        ),
    ],
    ids=["no temperature", "no longest input", "too little room", "other labels"],
)
async def test_a_manifest_that_lacks_something_stops_the_start(tmp_path, change, message):
    repository = write_repository(tmp_path, TinyEncoder(changes=change))
    with pytest.raises(ModelRepositoryError, match=message):
        await open_entailment(SETTINGS, repository)


async def test_a_model_with_two_outputs_is_no_entailment_model(tmp_path):
    softmax_of = {
        "labels": ["entailment", "neutral", "contradiction"],
        "temperature": 1,
        "fitted_on": {},
        "measured": {},
    }
    encoder = TinyEncoder("nli", "grounding", changes={"kind": "entailment", "softmax": softmax_of})
    with pytest.raises(ModelRepositoryError, match="nli needs one output of 3 logits"):
        await open_entailment(SETTINGS, write_repository(tmp_path, encoder))
