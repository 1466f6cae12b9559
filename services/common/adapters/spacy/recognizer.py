"""Named entities by spaCy's small English model, made complete by patterns.

Reading happens off the event loop, in a process of its own that can be ended (``text_workers``), or in one thread for
tools that read one text after another. Calls take turns after as many texts as the model's ``config.pbtxt`` puts into a
batch, and one that is cancelled stops there.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from services.common.adapters.spacy.reading import SpacyReading
from services.common.adapters.text_workers import TextWorkers
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.fair_turns import current_tenant
from services.common.model_repository import ModelEntry, ModelRepository, ModelRepositoryError, open_repository
from services.common.ports.recognition import Entity
from services.common.queue_counts import QueueCounts, current_class
from services.common.settings.inference import InferenceSettings
from services.common.workers.errors import WorkerError


class Reader(Protocol):
    """Reads the texts of one turn, off the event loop."""

    def entities(self, texts: Sequence[str]) -> Awaitable[list[tuple[Entity, ...]]]:
        """Return for each text its entities; whatever it raises, the model cannot compute."""
        ...

    async def close(self) -> None:
        """Release what it has; idempotent."""
        ...


class ThreadReader:
    """Reads in one thread of this process.

    Args:
        reading: the loaded pipeline.
    """

    def __init__(self, reading: SpacyReading) -> None:
        self.reading = reading
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ner-inference")

    def entities(self, texts: Sequence[str]) -> Awaitable[list[tuple[Entity, ...]]]:
        """Return for each text its entities."""
        return asyncio.get_running_loop().run_in_executor(self._executor, self.reading.entities, texts)

    async def close(self) -> None:
        """Release the thread."""
        self._executor.shutdown(wait=False, cancel_futures=True)


class WorkerReader:
    """Reads in processes that others use too; whoever made them closes them.

    Args:
        workers: the processes.
    """

    def __init__(self, workers: TextWorkers) -> None:
        self._workers = workers

    def entities(self, texts: Sequence[str]) -> Awaitable[list[tuple[Entity, ...]]]:
        """Return for each text its entities."""
        return self._workers.entities(texts)

    async def close(self) -> None:
        """Need nothing."""


class SpacyEntityRecognizer:
    """``EntityRecognizer`` over a spaCy pipeline; belongs to one event loop.

    Args:
        entry: the model's manifest entry.
        reader: reads the texts.
        turn_texts: texts that one turn of a call computes.
        queue_texts: texts of one tenant that may wait or be read before its calls are refused.
        counts: of the queue in front of the reader.
    """

    def __init__(
        self, entry: ModelEntry, reader: Reader, *, turn_texts: int, queue_texts: int, counts: QueueCounts | None = None
    ) -> None:
        self._entry = entry
        self._reader = reader
        self._turn_texts = turn_texts
        self._queue_texts = queue_texts
        self._counts = counts or QueueCounts(entry.name)
        self._waiting: Counter[str] = Counter()  # by tenant
        self._closed = False

    @property
    def fingerprint(self) -> str:
        """``name@version+sha256:<16 hex>`` over the pipeline's files."""
        return self._entry.fingerprint

    async def recognize(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Return for each text its entities, ordered by start, not overlapping, every digit in exactly one.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE: spaCy failed or took too long, or the recogniser was closed.
        """
        found: list[tuple[Entity, ...]] = []
        for start in range(0, len(texts), self._turn_texts):
            found += await self._turn(texts[start : start + self._turn_texts])
        return found

    async def close(self) -> None:
        """Release the thread or the process; idempotent."""
        self._closed = True
        await self._reader.close()

    async def _turn(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        if self._closed:
            raise self._unavailable("closed")
        tenant = current_tenant()
        if self._waiting[tenant] >= self._queue_texts:
            self._counts.full(current_class())
            raise LimitExceededError(
                ErrorReason.QUEUE_FULL,
                f"The queue of model {self._entry.name} is full; retry later.",
                retry_after_s=1.0,
                model=self._entry.name,
                queue_texts=str(self._queue_texts),
            )
        self._waiting[tenant] += len(texts)
        try:
            return await self._reader.entities(texts)
        except WorkerError as error:
            raise self._unavailable(error.told) from error
        except Exception as error:
            raise self._unavailable(type(error).__name__) from error
        finally:
            self._waiting[tenant] -= len(texts)
            if not self._waiting[tenant]:
                del self._waiting[tenant]

    def _unavailable(self, cause: str) -> UnavailableError:
        return UnavailableError(
            ErrorReason.MODEL_UNAVAILABLE,
            f"Model {self._entry.name} cannot compute: {cause}.",
            model=self._entry.name,
            cause=cause,
        )


async def open_recognizer(
    settings: InferenceSettings, repository: ModelRepository | None = None, workers: TextWorkers | None = None
) -> SpacyEntityRecognizer:
    """Verify the recogniser's files and return it ready to serve.

    Args:
        settings: which model, and how much may wait.
        repository: of the models; the settings' when not given.
        workers: the processes that read, started when they are first needed; a thread of this one when not given.

    Raises:
        ModelRepositoryError: a file is missing or not the pinned one, or spaCy cannot load it.
    """
    entry, folder, turn_texts = await asyncio.to_thread(_verified, settings, repository)
    if workers is not None:
        workers.read_with(str(folder), entry)
        reader: Reader = WorkerReader(workers)
    else:
        reader = ThreadReader(await asyncio.to_thread(SpacyReading.load, folder / "1"))
    return SpacyEntityRecognizer(
        entry,
        reader,
        turn_texts=turn_texts,
        queue_texts=settings.ner_queue_texts,
        counts=None if workers is None else workers.queue_counts,
    )


def _verified(settings: InferenceSettings, repository: ModelRepository | None) -> tuple[ModelEntry, Path, int]:
    source = repository or open_repository(settings)
    entry = source.verified(settings.ner_model)
    if entry.kind != "entity_recognition":
        msg = f"{entry.name} is a model for {entry.kind}; set GROUNDTRAIL_INFERENCE__NER_MODEL"
        raise ModelRepositoryError(msg)
    config = source.config(entry.name)
    return entry, source.folder(entry.name), max(config.max_batch_size, 1)
