"""A text has the same bits alone and in every batch, so that a report does not depend on what else runs (ADR 0044)."""

import random

import numpy as np
import pytest

from services.common.adapters.onnx.session import OnnxEncoder
from services.common.model_repository import open_repository
from services.common.settings.inference import InferenceSettings
from tests.tenth import tenth

ROWS = (2, 3, 5, 8, 13, 32)
LENGTHS = (3, 6, 7, 11, 16, 19, 29, 50, 97, 128)
"""Of every remainder modulo 4, up to the most that every encoder reads."""


def opened(name, threads):
    repository = open_repository(InferenceSettings())
    return OnnxEncoder(repository, repository.verified(name), threads=threads)


@pytest.mark.tenth
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ["embedder", "nli", "grounding"])
def test_an_item_scores_the_same_bits_in_every_batch(name, threads):
    encoder = opened(name, threads)
    draw = random.Random(11)
    items = [tuple(draw.randrange(1_000, 20_000) for _ in range(length)) for length in LENGTHS]
    alone = [encoder.encode([item])[0] for item in items]
    for rows in ROWS:
        # Most batches are narrow, so that each width stands beside many others.
        longest = draw.randrange(1, len(items)) if rows > ROWS[0] else len(items)
        chosen = [draw.randrange(longest) for _ in range(rows)]
        for index, outputs in zip(chosen, encoder.encode([items[index] for index in chosen]), strict=True):
            for output, expected in zip(outputs, alone[index], strict=True):
                assert np.array_equal(output, expected)


@pytest.mark.slow
@pytest.mark.tenth(inside=True)
@pytest.mark.parametrize("name", ["embedder", "nli", "grounding"])
def test_no_width_changes_a_bit(name):
    encoder = opened(name, 1)  # one lane: both items stand in one batch
    draw = random.Random(12)
    for length in (5, 6, 7, 8):
        item, *others = (tuple(draw.randrange(1_000, 20_000) for _ in range(size)) for size in (length, *range(9, 38)))
        alone = encoder.encode([item])[0]
        for other in tenth(f"widths beside {length} tokens", others, name=lambda tokens: str(len(tokens))):
            for output, expected in zip(encoder.encode([other, item])[1], alone, strict=True):
                assert np.array_equal(output, expected)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [("embedder", [(1, 12), (2, 20)]), ("nli", [(1, 11), (2, 17)]), ("grounding", [(1, 11), (2, 17)])],
)
def test_nothing_is_computed_beyond_the_items_but_an_embedders_step(name, shapes, monkeypatch):
    encoder = opened(name, 1)
    seen = []

    class Watched:
        def run(self, outputs, feed, options, inner=encoder._session):
            seen.append(feed["input_ids"].shape)
            return inner.run(outputs, feed, options)

    monkeypatch.setattr(encoder, "_session", Watched())
    encoder.encode([tuple(range(1_000, 1_011))])
    encoder.encode([tuple(range(1_000, 1_017)), tuple(range(1_000, 1_006))])
    assert seen == shapes
