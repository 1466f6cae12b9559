"""Vectors and entities of many texts: both models at work at once, in full batches of texts of like length (ADR 0113).

Each distinct text is read once. The embedder always has the next batch waiting while it computes one, so that it never
stands still between two; the recogniser goes through the texts on its own. Progress is told while they work.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Final, TypeVar

import numpy as np

from services.common.ports.embedding import EmbeddingModel
from services.common.ports.facts import Vectors
from services.common.ports.recognition import Entity, EntityRecognizer
from services.common.progress import count_to, counted

AHEAD: Final = 2
"""Batches that are with a model at once: one computed, one next."""

ResultT = TypeVar("ResultT")


async def read_texts(
    embedding: EmbeddingModel, recognizer: EntityRecognizer, texts: Sequence[str], batch: int
) -> tuple[Vectors, list[tuple[Entity, ...]]]:
    """Return the texts' vectors, one a row, and their entities, in the order of the texts.

    Raises:
        LimitExceededError: QUEUE_FULL.
        UnavailableError: MODEL_UNAVAILABLE.
    """
    async with _together() as group:
        embedded = group.create_task(embed_texts(embedding, texts, batch))
        recognised = group.create_task(_in_batches(recognizer.recognize, texts, batch, lambda _: None))
    return embedded.result(), recognised.result()


async def embed_texts(model: EmbeddingModel, texts: Sequence[str], batch: int) -> Vectors:
    """Return the texts' vectors, one a row, in the order of the texts. Raises as ``read_texts``."""
    count_to(len(texts))

    async def embed(some: Sequence[str]) -> Sequence[Vectors]:
        return list(await model.embed(some))

    rows = await _in_batches(embed, texts, batch, counted)
    return np.stack(rows) if rows else np.empty((0, model.dimension), dtype=np.float32)


async def _in_batches(
    read: Callable[[Sequence[str]], Awaitable[Sequence[ResultT]]],
    texts: Sequence[str],
    batch: int,
    done: Callable[[int], None],
) -> list[ResultT]:
    """Return what ``read`` gives for each text; the longest first, so that each batch is of one length."""
    places: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(text, []).append(place)
    distinct = sorted(places, key=len, reverse=True)
    found: dict[int, ResultT] = {}
    room = asyncio.Semaphore(AHEAD)

    async def read_one(some: Sequence[str]) -> None:
        try:
            results = await read(some)
        finally:
            room.release()
        for text, result in zip(some, results, strict=True):
            found.update(dict.fromkeys(places[text], result))
        done(sum(len(places[text]) for text in some))

    async with _together() as group:
        for start in range(0, len(distinct), batch):
            await room.acquire()
            group.create_task(read_one(distinct[start : start + batch]))
    return [found[place] for place in range(len(texts))]


class _together(asyncio.TaskGroup):  # noqa: N801 - read as a verb where it is entered
    """A task group that raises the first error itself, not a group that holds it."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
