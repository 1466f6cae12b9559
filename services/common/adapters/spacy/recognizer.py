"""Named entities by spaCy's small English model, made complete by patterns.

Only the component ``ner`` is loaded. spaCy computes in one worker thread, off the event loop; calls take turns after
as many texts as the model's ``config.pbtxt`` puts into a batch, and one that is cancelled stops there.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from services.common.adapters.spacy.spans import merge
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.model_repository import ModelEntry, ModelRepository, ModelRepositoryError, open_repository
from services.common.ports.recognition import Entity, EntityKind
from services.common.settings.inference import InferenceSettings

PIECE_CHARS: Final = 20_000
"""Longer texts are read in pieces, cut at white space: spaCy's memory grows with the length of a document."""
_EXCLUDED: Final = ("tok2vec", "tagger", "parser", "senter", "attribute_ruler", "lemmatizer")
_KINDS: Final = {
    "PERSON": EntityKind.PERSON,
    "ORG": EntityKind.ORGANISATION,
    "GPE": EntityKind.LOCATION,
    "LOC": EntityKind.LOCATION,
    "FAC": EntityKind.LOCATION,
    "DATE": EntityKind.DATE,
    "TIME": EntityKind.TIME,
    "MONEY": EntityKind.MONEY,
    "PERCENT": EntityKind.PERCENT,
    "QUANTITY": EntityKind.QUANTITY,
    "CARDINAL": EntityKind.NUMBER,
    "ORDINAL": EntityKind.NUMBER,
    "PRODUCT": EntityKind.PRODUCT,
    "EVENT": EntityKind.EVENT,
    "LAW": EntityKind.LAW,
    "NORP": EntityKind.OTHER,
    "WORK_OF_ART": EntityKind.OTHER,
    "LANGUAGE": EntityKind.OTHER,
}


class SpacyEntityRecognizer:
    """``EntityRecognizer`` over a spaCy pipeline; belongs to one event loop.

    Args:
        entry: the model's manifest entry.
        pipeline: the loaded spaCy ``Language``.
        executor: the one thread that may use it.
        turn_texts: texts that one turn of a call computes.
        queue_texts: texts that may wait for their turn before calls are refused.
    """

    def __init__(
        self, entry: ModelEntry, pipeline: Any, executor: ThreadPoolExecutor, *, turn_texts: int, queue_texts: int
    ) -> None:
        self._entry = entry
        self._pipeline = pipeline
        self._executor = executor
        self._turn_texts = turn_texts
        self._queue_texts = queue_texts
        self._waiting = 0
        self._closed = False

    @property
    def fingerprint(self) -> str:
        """``name@version+sha256:<16 hex>`` over the pipeline's files."""
        return self._entry.fingerprint

    async def recognize(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Return for each text its entities, ordered by start, not overlapping, every digit in exactly one.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE: spaCy failed, or the recogniser was closed.
        """
        found: list[tuple[Entity, ...]] = []
        for start in range(0, len(texts), self._turn_texts):
            found += await self._turn(texts[start : start + self._turn_texts])
        return found

    async def close(self) -> None:
        """Release the thread; idempotent."""
        self._closed = True
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _turn(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        if self._closed:
            raise self._unavailable("closed")
        if self._waiting >= self._queue_texts:
            raise LimitExceededError(
                ErrorReason.QUEUE_FULL,
                f"The queue of model {self._entry.name} is full; retry later.",
                retry_after_s=1.0,
                model=self._entry.name,
                queue_texts=str(self._queue_texts),
            )
        self._waiting += len(texts)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, self._compute, texts)
        finally:
            self._waiting -= len(texts)

    def _compute(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        pieces = [(row, offset, piece) for row, text in enumerate(texts) for offset, piece in _pieces(text)]
        found: list[list[Entity]] = [[] for _ in texts]
        try:
            # The zone frees the words that these texts added to spaCy's vocabulary.
            with self._pipeline.memory_zone():
                documents = self._pipeline.pipe(piece for _, _, piece in pieces)
                for (row, offset, _), document in zip(pieces, documents, strict=True):
                    found[row] += (_entity(span, offset) for span in document.ents)
        except Exception as error:
            raise self._unavailable(type(error).__name__) from error
        return [merge(text, entities) for text, entities in zip(texts, found, strict=True)]

    def _unavailable(self, cause: str) -> UnavailableError:
        return UnavailableError(
            ErrorReason.MODEL_UNAVAILABLE,
            f"Model {self._entry.name} cannot compute: {cause}.",
            model=self._entry.name,
            cause=cause,
        )


async def open_recognizer(
    settings: InferenceSettings, repository: ModelRepository | None = None
) -> SpacyEntityRecognizer:
    """Verify the recogniser's files, load it and return it ready to serve.

    Raises:
        ModelRepositoryError: a file is missing or not the pinned one, or spaCy cannot load it.
    """
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ner-inference")
    loop = asyncio.get_running_loop()
    try:
        entry, pipeline, turn_texts = await loop.run_in_executor(executor, _load, settings, repository)
    except BaseException:
        executor.shutdown(wait=False)
        raise
    return SpacyEntityRecognizer(entry, pipeline, executor, turn_texts=turn_texts, queue_texts=settings.ner_queue_texts)


def _load(settings: InferenceSettings, repository: ModelRepository | None) -> tuple[ModelEntry, Any, int]:
    source = repository or open_repository(settings)
    entry = source.verified(settings.ner_model)
    if entry.kind != "entity_recognition":
        msg = f"{entry.name} is a model for {entry.kind}; set GROUNDTRAIL_INFERENCE__NER_MODEL"
        raise ModelRepositoryError(msg)
    config = source.config(entry.name)
    return entry, _load_pipeline(source.folder(entry.name) / "1"), max(config.max_batch_size, 1)


def _load_pipeline(folder: Path) -> Any:
    import spacy

    try:
        return spacy.load(folder, exclude=_EXCLUDED)
    except Exception as error:
        raise ModelRepositoryError(f"{folder} cannot be loaded: {error}") from error


def _pieces(text: str) -> list[tuple[int, str]]:
    pieces = []
    start = 0
    while len(text) - start > PIECE_CHARS:
        cut = start + PIECE_CHARS
        while cut > start and not text[cut - 1].isspace():
            cut -= 1
        if cut == start:
            cut = start + PIECE_CHARS
        pieces.append((start, text[start:cut]))
        start = cut
    pieces.append((start, text[start:]))
    return pieces


def _entity(span: Any, offset: int) -> Entity:
    start, end = offset + span.start_char, offset + span.end_char
    return Entity(_KINDS.get(span.label_, EntityKind.OTHER), span.text, start, end)
