"""The sentence embedder in the process: tokenizer, dynamic batching, ONNX Runtime.

Vectors are batch-invariant (architecture §5): weights are stored in int8 and restored to float32 when the session
starts, every activation is float32, so that a text gets the same vector alone and among others (within 1e-5).
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from services.common.adapters.onnx.batching import BatchPolicy, DynamicBatcher
from services.common.adapters.onnx.session import OnnxEncoder, TokenIds
from services.common.calibration import PiecewiseLinearCalibration
from services.common.model_repository import (
    ModelConfig,
    ModelEntry,
    ModelRepository,
    ModelRepositoryError,
    open_repository,
)
from services.common.ports.embedding import Calibration
from services.common.settings.inference import InferenceSettings

TOKENIZER_FILE: Final = "tokenizer.json"
CHARS_PER_TOKEN: Final = 64
"""A text is cut to this many characters per readable token before it is tokenised; ordinary text has 4 to 6."""
IN_PLACE_CHARS: Final = 4_000
"""Up to this many characters (well under a millisecond) are tokenised on the event loop, more in a thread."""
SLICE_ITEMS: Final = 512
"""A call queues at most this many texts at once, so that one caller never fills the queue."""


class OnnxEmbeddingModel:
    """``EmbeddingModel`` over ONNX Runtime in the process; belongs to one event loop.

    Texts beyond the model's ``max_tokens`` are truncated at the end. The empty text is embedded as the two special
    tokens alone.
    """

    def __init__(self, entry: ModelEntry, encoder: OnnxEncoder, tokenizer: Tokenizer, policy: BatchPolicy) -> None:
        if entry.calibration is None or entry.max_tokens is None:
            msg = f"MANIFEST.json: the embedding model {entry.name} needs calibration and max_tokens"
            raise ModelRepositoryError(msg)
        self._entry = entry
        self._dimension = encoder.dimension
        self._calibration = PiecewiseLinearCalibration(entry.calibration.raw, entry.calibration.calibrated)
        self._max_chars = entry.max_tokens * CHARS_PER_TOKEN
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(entry.max_tokens)
        self._slice = max(1, min(SLICE_ITEMS, policy.queue_items))
        self._batcher: DynamicBatcher[TokenIds, NDArray[np.float32]] = DynamicBatcher(
            entry.name, encoder.encode, policy
        )

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
        ids = await self._tokenise(texts)
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        for start in range(0, len(ids), self._slice):
            rows = await self._batcher.submit(ids[start : start + self._slice])
            vectors[start : start + len(rows)] = rows
        return vectors

    def token_ids(self, texts: Sequence[str]) -> list[TokenIds]:
        """Return the ids that the encoder reads, special tokens included, truncated to ``max_tokens``."""
        encodings = self._tokenizer.encode_batch([text[: self._max_chars] for text in texts])
        return [tuple(encoding.ids) for encoding in encodings]

    async def close(self) -> None:
        """Stop the worker; idempotent."""
        await self._batcher.close()

    async def _tokenise(self, texts: Sequence[str]) -> list[TokenIds]:
        if sum(map(len, texts)) <= IN_PLACE_CHARS:
            return self.token_ids(texts)
        return await asyncio.to_thread(self.token_ids, texts)


async def open_embedding(settings: InferenceSettings, repository: ModelRepository | None = None) -> OnnxEmbeddingModel:
    """Verify the embedding model's files, load it and return it ready to serve.

    Args:
        settings: names the model; sets threads and the queue's bound.
        repository: where it lies; ``None`` = as the settings say.

    Raises:
        ModelRepositoryError: a file is missing or not the pinned one, or the parts do not fit together.
    """
    return await asyncio.to_thread(_open, settings, repository)


def _open(settings: InferenceSettings, repository: ModelRepository | None) -> OnnxEmbeddingModel:
    source = repository or open_repository(settings)
    entry = source.verified(settings.embedding_model)
    if entry.kind != "embedding":
        msg = f"{entry.name} is a model for {entry.kind}, not for embedding; set GROUNDTRAIL_INFERENCE__EMBEDDING_MODEL"
        raise ModelRepositoryError(msg)
    encoder = OnnxEncoder(source, entry, threads=settings.intra_op_threads)
    tokenizer = _load_tokenizer(source.folder(entry.name) / TOKENIZER_FILE)
    return OnnxEmbeddingModel(entry, encoder, tokenizer, _policy(source.config(entry.name), settings))


def _policy(config: ModelConfig, settings: InferenceSettings) -> BatchPolicy:
    sizes = config.preferred_batch_sizes or (max(config.max_batch_size, 1),)
    return BatchPolicy(
        min_size=sizes[0],
        max_size=sizes[-1],
        max_delay_s=config.max_queue_delay_us / 1e6,
        queue_items=settings.queue_items,
    )


def _load_tokenizer(path: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise ModelRepositoryError(f"{path} cannot be loaded: {error}") from error
