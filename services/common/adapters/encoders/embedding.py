"""The sentence embedder over any encoder backend: tokenising, windows over long texts, calibration."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.encoders.backed import BackedEncoder
from services.common.adapters.encoders.backend import EncoderBackend, TokenIds
from services.common.adapters.encoders.opening import ModelChoice, open_model
from services.common.adapters.encoders.tokenizer import EncoderTokenizer, off_the_loop
from services.common.adapters.encoders.windows import balanced
from services.common.calibration import PiecewiseLinearCalibration
from services.common.model_repository import ModelEntry, ModelRepository, ModelRepositoryError, open_repository
from services.common.ports.embedding import Calibration
from services.common.settings.inference import InferenceSettings


class EncoderEmbeddingModel(BackedEncoder):
    """``EmbeddingModel`` over an encoder; belongs to one event loop.

    A text beyond the model's ``max_tokens`` is read in windows of equal length, and its vector is the mean of theirs,
    weighted by their tokens and brought back to length 1 (ADR 0032). The empty text is embedded as the special tokens
    alone.

    Args:
        backend: runs the model; its one output is a unit vector.
        tokenizer: the model's own.

    Raises:
        ModelRepositoryError: the manifest lacks what an embedding model needs.
    """

    def __init__(self, backend: EncoderBackend, tokenizer: EncoderTokenizer) -> None:
        super().__init__(backend)
        self._entry = backend.entry
        self._tokenizer = tokenizer
        self._dimension, self._calibration, max_tokens = _essentials(backend.entry)
        self._window = max_tokens - tokenizer.text_specials

    @property
    def name(self) -> str:
        """Name in the model repository."""
        return self._entry.name

    @property
    def fingerprint(self) -> str:
        """``name@version+sha256:<16 hex>`` over weights and tokenizer."""
        return self._entry.fingerprint

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @property
    def calibration(self) -> Calibration:
        """The map of MANIFEST.json for this model."""
        return self._calibration

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), dimension)``; concurrent calls share batches.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        windows = await off_the_loop(texts, self._windows)
        outputs = iter(await self._backend.run([ids for own in windows for ids in own]))
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        for row, own in enumerate(windows):
            parts = [next(outputs)[0] for _ in own]
            vectors[row] = parts[0] if len(parts) == 1 else _mean(parts, own)
        return vectors

    def token_ids(self, texts: Sequence[str]) -> list[TokenIds]:
        """Return each text's ids with special tokens, whole, also beyond ``max_tokens``."""
        return [self._tokenizer.text(ids) for ids in self._tokenizer.ids(texts)]

    def _windows(self, texts: Sequence[str]) -> list[list[TokenIds]]:
        return [
            [self._tokenizer.text(ids[start:end]) for start, end in balanced(len(ids), self._window)]
            for ids in self._tokenizer.ids(texts)
        ]


async def open_embedding(
    settings: InferenceSettings, repository: ModelRepository | None = None
) -> EncoderEmbeddingModel:
    """Verify the embedding model's files, load it and return it ready to serve.

    Args:
        settings: names the model and its backend; sets threads and the queue's bound.
        repository: where it lies; ``None`` = as the settings say.

    Raises:
        ModelRepositoryError: a file is missing or not the pinned one, or the parts do not fit together.
        UnavailableError: MODEL_UNAVAILABLE: Triton did not have the model ready in time.
    """
    source = repository if repository is not None else await asyncio.to_thread(open_repository, settings)
    return await open_model(settings, source, ModelChoice(settings.embedding_model, "embedding"), EncoderEmbeddingModel)


def _essentials(entry: ModelEntry) -> tuple[int, PiecewiseLinearCalibration, int]:
    if entry.calibration is None or entry.max_tokens is None:
        msg = f"MANIFEST.json: the embedding model {entry.name} needs calibration and max_tokens"
        raise ModelRepositoryError(msg)
    if len(entry.outputs) != 1 or len(entry.outputs[0].shape) != 2 or entry.outputs[0].shape[1] < 1:  # noqa: PLR2004
        msg = f"MANIFEST.json: the embedding model {entry.name} needs one output, a vector of a fixed length per text"
        raise ModelRepositoryError(msg)
    calibration = PiecewiseLinearCalibration(entry.calibration.raw, entry.calibration.calibrated)
    return entry.outputs[0].shape[1], calibration, entry.max_tokens


def _mean(parts: Sequence[NDArray[np.float32]], windows: Sequence[TokenIds]) -> NDArray[np.float32]:
    mean = np.average(np.stack(parts).astype(np.float64), axis=0, weights=[len(ids) for ids in windows])
    return (mean / np.linalg.norm(mean)).astype(np.float32)
