"""Vectors and entities of many texts: batches of like length, one ahead, each text once, errors as they are."""

import asyncio
from typing import Any

import numpy as np
import pytest

from services.common.errors import ErrorReason, UnavailableError
from services.common.progress import open_progress
from services.envelope.text_reading import AHEAD, embed_texts, read_texts


class Model:
    """Gives a text's length as its vector; remembers what it was asked, and how many calls it had at once."""

    dimension = 1

    def __init__(self, error=None):
        self.batches, self.most, self._now, self._error = [], 0, 0, error

    async def _read(self, texts):
        self.batches.append(list(texts))
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0.001)
        self._now -= 1
        if self._error is not None and len(self.batches) > 1:
            raise self._error
        return texts

    async def embed(self, texts):
        return np.array([[len(text)] for text in await self._read(texts)], dtype=np.float32)

    async def recognize(self, texts):
        return [(text,) for text in await self._read(texts)]


def made(error: Exception | None = None) -> Any:
    return Model(error)


TEXTS = ["a" * (1 + 7 * number % 23) for number in range(50)]


async def test_results_are_in_the_order_of_the_texts_and_each_is_read_once():
    embedder, recognizer = made(), made()
    vectors, entities = await read_texts(embedder, recognizer, TEXTS, 4)
    assert [int(vector[0]) for vector in vectors] == [len(text) for text in TEXTS]
    assert entities == [(text,) for text in TEXTS]
    for model in (embedder, recognizer):
        asked = [text for batch in model.batches for text in batch]
        assert sorted(asked) == sorted(set(TEXTS))
        assert [len(text) for text in asked] == sorted(map(len, asked), reverse=True)
        assert all(len(batch) == 4 for batch in model.batches[:-1])
        assert model.most == AHEAD


async def test_progress_counts_every_text():
    progress = open_progress()
    await embed_texts(made(), TEXTS, 4)
    assert (progress.counted, progress.total, progress.seconds_left) == (50, 50, 0.0)


async def test_no_text_is_no_vector():
    vectors, entities = await read_texts(made(), made(), [], 4)
    assert (vectors.shape, entities) == ((0, 1), [])


@pytest.mark.parametrize("which", [0, 1])
async def test_what_a_model_raises_comes_out_as_it_is_and_ends_the_other(which):
    error = UnavailableError(ErrorReason.MODEL_UNAVAILABLE, "gone")
    models = [made(), made()]
    models[which] = made(error)
    with pytest.raises(UnavailableError, match="gone"):
        await read_texts(models[0], models[1], TEXTS, 2)
    assert len(models[1 - which].batches) < 12
    await asyncio.sleep(0.01)
    assert all(model._now == 0 for model in models) or len(asyncio.all_tasks()) == 1


async def test_a_caller_who_leaves_takes_the_work_along():
    model = made()
    task = asyncio.create_task(embed_texts(model, TEXTS, 1))
    await asyncio.sleep(0.002)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    asked = len(model.batches)
    await asyncio.sleep(0.01)
    assert len(model.batches) == asked < 23
