"""What every ``EntailmentModel`` must do: over an encoder worked out by hand, and the delivered one on each backend."""

import asyncio

import numpy as np
import pytest

from services.common.adapters.encoders.entailment import open_entailment
from services.common.model_repository import open_repository
from services.common.ports.entailment import CONTRADICTION, ENTAILMENT, NEUTRAL
from services.common.settings.inference import InferenceSettings
from services.common.settings.triton import TritonSettings
from tests.fakes.tiny_encoders import TinyEncoder, write_repository
from tests.integration.triton_target import triton_target

LABEL_MARGIN = 0.02
"""Backends agree on the label where the two largest probabilities are further apart than this (ADR 0032)."""
DELIVERED = any(model.name == "nli" for model in open_repository(InferenceSettings()).models)
WITHOUT = pytest.mark.skipif(not DELIVERED, reason="the repository holds no nli; python -m training.nli makes it")
ON_TRITON = [WITHOUT, pytest.mark.needs_triton, pytest.mark.timeout(180)]
PAIRS = (
    ("A man sleeps on a bench in the park.", "A man is asleep."),
    ("A man sleeps on a bench in the park.", "A man is wide awake."),
    ("A man sleeps on a bench in the park.", "The man has two sisters."),
    ("The fee is 40 EUR for members and 55 EUR for guests.", "Guests pay 40 EUR."),
    ("Two dogs run along the beach.", "Two animals are outdoors."),
    ("", "Article 22 GDPR"),
    ("yes no", "w1 w2"),
    ("Ünïcödé 😀", ""),
)
FILLER = (
    "The cafeteria opens at noon and serves soup. "
    "Tickets for the exhibition can be bought at the desk. "
    "The library closes early on public holidays. "
    "Trains to the airport leave every quarter of an hour. "
    "The new bridge was finished two years late. "
    "Visitors are asked to leave large bags in the lockers. "
    "The committee will publish its minutes in the spring. "
    "Rain is expected in the north of the country. "
    "The museum shop sells postcards and small prints. "
    "A second car park will be built behind the station. "
    "The council voted for lower speed limits. "
    "Prices of vegetables rose slightly in August. "
    "The orchestra plays works by young composers. "
    "Guided tours are offered in four languages. "
    "The swimming pool is being repaired until June. "
    "The bakery on the corner has a new owner. "
    "Students receive a discount on weekday afternoons. "
    "The lift to the tower holds eight people. "
    "The river froze twice in the last century. "
    "Coffee is served on the terrace in summer. "
    "The town hall keeps its old clock. "
    "Letters must be handed in before four. "
    "The theatre added a matinee on Sundays. "
    "The northern gate is locked at night. "
)


async def opened(backend):
    triton = TritonSettings(target=triton_target(), timeout_s=60.0) if backend == "triton" else TritonSettings()
    return await open_entailment(InferenceSettings(backend=backend, triton=triton, intra_op_threads=1))


@pytest.fixture(
    params=["worked out by hand", pytest.param("onnx", marks=WITHOUT), pytest.param("triton", marks=ON_TRITON)]
)
async def model(request, tmp_path):
    if request.param == "worked out by hand":
        made = await open_entailment(InferenceSettings(intra_op_threads=1), write_repository(tmp_path, TinyEncoder()))
    else:
        made = await opened(request.param)
    yield made
    await made.close()


@pytest.fixture(params=[pytest.param("onnx", marks=WITHOUT), pytest.param("triton", marks=ON_TRITON)])
async def delivered(request):
    made = await opened(request.param)
    yield made
    await made.close()


async def test_rows_are_probabilities_in_order(model):
    rows = await model.classify(PAIRS)
    assert rows.shape == (len(PAIRS), 3)
    assert rows.dtype == np.float32
    assert rows.min() >= 0.0
    assert np.allclose(rows.sum(axis=1), 1.0, atol=1e-6)
    for row, pair in zip(rows, PAIRS, strict=True):
        assert np.abs((await model.classify([pair]))[0] - row).max() < 1e-5


async def test_nothing_gives_no_rows(model):
    assert (await model.classify([])).shape == (0, 3)


async def test_concurrent_calls_get_their_own_rows(model):
    expected = await model.classify(PAIRS)
    found = await asyncio.gather(*(model.classify([pair]) for pair in PAIRS))
    assert np.abs(np.concatenate(found) - expected).max() < 1e-5


async def test_premise_and_hypothesis_are_not_exchanged(model):
    entailed, other = await model.classify([("yes two dogs run", "dogs"), ("dogs", "no two cats sleep")])
    assert not np.allclose(entailed, other, atol=1e-3)


async def test_very_long_texts_are_allowed(model):
    rows = await model.classify([("word " * 3_000, "word " * 600)])
    assert np.isfinite(rows).all()
    assert rows.sum() == pytest.approx(1.0, abs=1e-6)


async def test_it_names_weights_and_longest_input(model):
    name, _, digest = model.fingerprint.partition("+sha256:")
    assert name.startswith("nli@")
    assert len(digest) == 16
    assert model.max_tokens > 16


async def test_plain_pairs_get_their_label(delivered):
    rows = await delivered.classify(PAIRS[:3])
    assert rows.argmax(axis=1).tolist() == [ENTAILMENT, CONTRADICTION, NEUTRAL]


@pytest.mark.parametrize("place", ["start", "middle", "end"])
async def test_what_bears_it_out_is_found_anywhere_in_a_long_premise(delivered, place):
    told = "A man sleeps on a bench in the park. "
    half = FILLER.index("The orchestra")
    premise = {"start": told + FILLER, "middle": FILLER[:half] + told + FILLER[half:], "end": FILLER + told}[place]
    found, without = await delivered.classify([(premise, "A man is asleep."), (FILLER, "A man is asleep.")])
    assert found.argmax() == ENTAILMENT
    assert without[ENTAILMENT] < found[ENTAILMENT]


@WITHOUT
@pytest.mark.needs_triton
@pytest.mark.timeout(180)
async def test_backends_agree_on_the_label_outside_the_margin():
    pairs = [(premise, hypothesis) for premise, _ in PAIRS for _, hypothesis in PAIRS]
    models = [await opened(backend) for backend in ("triton", "onnx")]
    one, other = [await model.classify(pairs) for model in models]
    for model in models:
        await model.close()
    ordered = np.sort(other, axis=1)
    clear = ordered[:, 2] - ordered[:, 1] > LABEL_MARGIN
    assert clear.sum() > len(pairs) // 2
    assert (one.argmax(axis=1) == other.argmax(axis=1))[clear].all()
    assert np.abs(one - other).max() < LABEL_MARGIN / 2
