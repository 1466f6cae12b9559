"""``TokenVectorModel`` over any encoder backend: what the embedder makes of each token before it pools (ADR 0067)."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.encoders.backend import EncoderBackend, Outputs, TokenIds
from services.common.adapters.encoders.opening import verified_entry
from services.common.adapters.encoders.tokenizer import EncoderTokenizer, off_the_loop
from services.common.adapters.encoders.windows import balanced
from services.common.model_repository import ModelRepository, ModelRepositoryError, open_repository
from services.common.queue_counts import QueueCounts
from services.common.settings.inference import InferenceSettings


class EncoderTokenVectorModel:
    """Token vectors; belongs to one event loop.

    A text beyond the model's ``max_tokens`` is read in windows of equal length, one after the other (ADR 0032).

    Args:
        backend: runs the model; its last output is a vector per token.
        tokenizer: the model's own.

    Raises:
        ModelRepositoryError: the manifest lacks what token vectors need.
    """

    def __init__(self, backend: EncoderBackend, tokenizer: EncoderTokenizer) -> None:
        entry = backend.entry
        states = entry.outputs[-1].shape if entry.outputs else ()
        if entry.max_tokens is None or len(states) != 3 or states[1] >= 0:  # noqa: PLR2004 - text, token, number
            raise ModelRepositoryError(f"MANIFEST.json: {entry.name} needs max_tokens and a last output per token")
        self._backend = backend
        self._tokenizer = tokenizer
        self._dimension = states[2]
        self._window = entry.max_tokens - tokenizer.text_specials

    @property
    def fingerprint(self) -> str:
        """``name@version+sha256:<16 hex>`` over weights and tokenizer."""
        return self._backend.entry.fingerprint

    async def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return per text unit vectors of its tokens, special tokens left out; concurrent calls share batches.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        windows = await off_the_loop(texts, self._windows)
        items = [self._tokenizer.text(ids) for own in windows for ids in own if ids]
        outputs = iter(await self._backend.run(items))
        return [self._joined([self._units(ids, next(outputs)) for ids in own if ids]) for own in windows]

    @property
    def queue_counts(self) -> QueueCounts:
        """What the queue in front of the model counts."""
        return self._backend.counts

    async def check(self) -> None:
        """Return when the model can serve.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        await self._backend.check()

    async def close(self) -> None:
        """Release the backend; idempotent."""
        await self._backend.close()

    def _windows(self, texts: Sequence[str]) -> list[list[TokenIds]]:
        return [
            [ids[start:end] for start, end in balanced(len(ids), self._window)] for ids in self._tokenizer.ids(texts)
        ]

    def _units(self, ids: TokenIds, outputs: Outputs) -> NDArray[np.float32]:
        first = self._tokenizer.text_start
        states = outputs[-1][first : first + len(ids)]
        lengths = np.linalg.norm(states, axis=1, keepdims=True)
        return np.asarray(states / np.where(lengths == 0.0, 1.0, lengths), dtype=np.float32)

    def _joined(self, parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        return np.concatenate(parts) if parts else np.empty((0, self._dimension), dtype=np.float32)


async def open_token_vectors(
    settings: InferenceSettings, repository: ModelRepository | None = None
) -> EncoderTokenVectorModel:
    """Verify the embedding model's files and load it a second time, with its token states as an output.

    ONNX Runtime in the process computes them whatever backend serves the other models: Triton serves the delivered
    graph, which gives the pooled vector alone (ADR 0067).

    Args:
        settings: names the model; sets threads and the queue's bound.
        repository: where it lies; ``None`` = as the settings say.

    Raises:
        ModelRepositoryError: a file is missing or not the pinned one, or the model names no token states.
    """
    from services.common.adapters.onnx.backend import open_token_states

    source = repository if repository is not None else await asyncio.to_thread(open_repository, settings)
    entry = await asyncio.to_thread(verified_entry, source, settings.embedding_model, "embedding")
    backend = await open_token_states(settings, source, entry)
    try:
        return EncoderTokenVectorModel(backend, await asyncio.to_thread(EncoderTokenizer.load, source, entry.name))
    except Exception:
        await backend.close()
        raise
