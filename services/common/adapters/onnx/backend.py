"""An encoder in the process: dynamic batching over an ONNX Runtime session.

Results are batch-invariant (architecture §5) as far as the graph is: weights are stored in int8 and restored to float32
when the session starts, every activation is float32, so that an item gets the same outputs alone and among others
(within 1e-5).
"""

import asyncio
from collections.abc import Sequence

from services.common.adapters.encoders.backend import SLICE_ITEMS, Outputs, TokenIds
from services.common.adapters.onnx.batching import BatchPolicy, DynamicBatcher
from services.common.adapters.onnx.session import OnnxEncoder
from services.common.adapters.onnx.turns import ComputeTurns, processors_turns
from services.common.model_repository import ModelConfig, ModelEntry, ModelRepository, ModelRepositoryError, Tensor
from services.common.queue_counts import QueueCounts
from services.common.settings.inference import InferenceSettings


class OnnxBackend:
    """``EncoderBackend`` over ONNX Runtime in the process; belongs to one event loop."""

    def __init__(
        self, entry: ModelEntry, encoder: OnnxEncoder, policy: BatchPolicy, turns: ComputeTurns | None = None
    ) -> None:
        self._entry = entry
        self._slice = max(1, min(SLICE_ITEMS, policy.queue_items))
        self._batcher: DynamicBatcher[TokenIds, Outputs] = DynamicBatcher(entry.name, encoder.encode, policy, turns)

    @property
    def entry(self) -> ModelEntry:
        """The manifest's entry of the model that is served."""
        return self._entry

    @property
    def waiting(self) -> int:
        """How many distinct items are queued and not yet being computed."""
        return self._batcher.waiting

    @property
    def counts(self) -> QueueCounts:
        """What it counts by tenant class."""
        return self._batcher.counts

    async def run(self, items: Sequence[TokenIds]) -> list[Outputs]:
        """Return the outputs of each item, in order; concurrent calls share batches.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        outputs: list[Outputs] = []
        for start in range(0, len(items), self._slice):
            outputs += await self._batcher.submit(items[start : start + self._slice])
        return outputs

    async def check(self) -> None:
        """Return unless it was closed: the model is in this process.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        await self._batcher.submit(())

    async def close(self) -> None:
        """Stop the worker; idempotent."""
        await self._batcher.close()


async def open_onnx_backend(settings: InferenceSettings, repository: ModelRepository, entry: ModelEntry) -> OnnxBackend:
    """Load a verified model and return it ready to serve.

    Raises:
        ModelRepositoryError: the graph cannot be loaded, or it, ``config.pbtxt`` and the manifest do not fit together.
    """
    return await asyncio.to_thread(_open, settings, repository, entry, processors_turns())


async def open_token_states(settings: InferenceSettings, repository: ModelRepository, entry: ModelEntry) -> OnnxBackend:
    """Load a verified embedding model and return it with its token states as the last output.

    Raises:
        ModelRepositoryError: the manifest names no token states, or the graph has no such value.
    """
    if entry.token_states is None:
        raise ModelRepositoryError(f"MANIFEST.json: the embedding model {entry.name} names no token_states")
    return await asyncio.to_thread(_open, settings, repository, entry, processors_turns(), entry.token_states)


def _open(
    settings: InferenceSettings,
    repository: ModelRepository,
    entry: ModelEntry,
    turns: ComputeTurns,
    inner: Tensor | None = None,
) -> OnnxBackend:
    encoder = OnnxEncoder(repository, entry, threads=settings.intra_op_threads, inner=inner)
    return OnnxBackend(encoder.entry, encoder, _policy(repository.config(entry.name), settings), turns)


def _policy(config: ModelConfig, settings: InferenceSettings) -> BatchPolicy:
    sizes = config.preferred_batch_sizes or (max(config.max_batch_size, 1),)
    return BatchPolicy(
        min_size=sizes[0],
        max_size=sizes[-1],
        max_delay_s=config.max_queue_delay_us / 1e6,
        queue_items=settings.queue_items,
    )
