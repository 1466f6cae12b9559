"""A text has the same bits alone and in every batch, so that a report does not depend on what else runs (ADR 0043)."""

import random

import numpy as np
import pytest

from services.common.adapters.onnx.session import MIN_ROWS, WIDTH_STEP, OnnxEncoder
from services.common.model_repository import open_repository
from services.common.settings.inference import InferenceSettings

SIZES = (2, 3, 5, 8, 13)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["embedder", "nli", "grounding"])
def test_an_item_scores_the_same_bits_in_every_batch(name):
    repository = open_repository(InferenceSettings())
    encoder = OnnxEncoder(repository, repository.verified(name), threads=2)
    draw = random.Random(11)
    # Lengths of every remainder modulo 4: the kernels treat the last columns of an odd width apart.
    items = [tuple(draw.randrange(1_000, 20_000) for _ in range(length)) for length in (3, 6, 7, 11, 16, 19, 29, 50)]
    alone = [encoder.encode([item])[0] for item in items]
    for size in SIZES:
        chosen = [draw.randrange(len(items)) for _ in range(size)]
        for index, outputs in zip(chosen, encoder.encode([items[index] for index in chosen]), strict=True):
            for output, expected in zip(outputs, alone[index], strict=True):
                assert np.array_equal(output, expected)


@pytest.mark.parametrize(("name", "rows"), [("embedder", 1), ("nli", 2), ("grounding", 2)])
def test_one_item_costs_a_second_row_only_where_a_head_needs_it(name, rows, monkeypatch):
    repository = open_repository(InferenceSettings())
    encoder = OnnxEncoder(repository, repository.verified(name), threads=1)
    shapes = []

    class Watched:
        def run(self, outputs, feed, inner=encoder._session):
            shapes.append(feed["input_ids"].shape)
            return inner.run(outputs, feed)

    monkeypatch.setattr(encoder, "_session", Watched())
    encoder.encode([tuple(range(1_000, 1_011))])
    assert shapes == [(rows, 16)]


def test_the_steps_are_what_the_kernels_need():
    assert (WIDTH_STEP % 4, MIN_ROWS) == (0, 2)
