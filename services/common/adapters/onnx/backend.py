"""An encoder in the process: dynamic batching over an ONNX Runtime session.

Results are batch-invariant as far as the graph is: weights are stored in int8 and restored to float32
when the session starts, every activation is float32, so that an item gets the same outputs alone and among others
(within 1e-5).
"""

import asyncio
from collections.abc import Sequence

from services.common.adapters.encoders.backend import SLICE_ITEMS, Outputs, TokenIds
from services.common.adapters.encoders.feeds import check_inputs
from services.common.adapters.encoders.golden import check_outputs, read_golden
from services.common.adapters.onnx.batching import BatchPolicy, DynamicBatcher
from services.common.adapters.onnx.on_demand import OnDemandEncoder
from services.common.adapters.onnx.session import OnnxEncoder, lanes_of
from services.common.adapters.onnx.turns import ComputeTurns, processors_turns
from services.common.model_repository import ModelConfig, ModelEntry, ModelRepository, ModelRepositoryError, Tensor
from services.common.queue_counts import QueueCounts
from services.common.settings.inference import InferenceSettings


class OnnxBackend:
    """``EncoderBackend`` over ONNX Runtime in the process; belongs to one event loop."""

    def __init__(
        self, entry: ModelEntry, encoder: OnDemandEncoder, policy: BatchPolicy, turns: ComputeTurns | None = None
    ) -> None:
        self._entry = entry
        self._encoder = encoder
        self._loading: asyncio.Task[OnnxEncoder] | None = None
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
        if items and not self._encoder.is_loaded:
            await self._load()
        outputs: list[Outputs] = []
        for start in range(0, len(items), self._slice):
            outputs += await self._batcher.submit(items[start : start + self._slice])
        return outputs

    @property
    def at_rest(self) -> bool:
        """Whether the encoder is still to be loaded."""
        return not self._encoder.is_loaded

    async def check(self) -> None:
        """Return unless it was closed or could not be loaded; one that nobody asked for yet is no reason to wait.

        A load that failed is tried again here, so that a process that takes no calls for it comes back by itself.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        await self._batcher.submit(())
        if self._encoder.has_failed:
            await self._load()

    async def close(self) -> None:
        """Stop the worker; idempotent."""
        await self._batcher.close()

    async def _load(self) -> None:
        """Load the encoder, once for all who wait, and outside of the batcher: its clock measures computing alone."""
        await self._batcher.submit(())  # raises when it was closed
        if self._loading is None or self._loading.done():
            self._loading = asyncio.create_task(asyncio.to_thread(self._encoder.loaded))
            self._loading.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._loading)  # a caller that goes away does not end what others wait for


async def open_onnx_backend(settings: InferenceSettings, repository: ModelRepository, entry: ModelEntry) -> OnnxBackend:
    """Return a verified model; it is loaded now, or when it is first used, as the settings say.

    Raises:
        ModelRepositoryError: ``config.pbtxt`` and the manifest do not fit together, or the graph of a model that is
            loaded now cannot be loaded or does not fit them.
    """
    return await asyncio.to_thread(_open, settings, repository, entry, processors_turns())


async def open_token_states(settings: InferenceSettings, repository: ModelRepository, entry: ModelEntry) -> OnnxBackend:
    """Load a verified embedding model and return it with its token states as the last output.

    Raises:
        ModelRepositoryError: the manifest names no token states, or the graph has no such value.
    """
    if entry.token_states is None:
        raise ModelRepositoryError(f"MANIFEST.json: the embedding model {entry.name} names no token_states")
    return await asyncio.to_thread(
        _open, settings, repository, entry, processors_turns(), (entry.token_states,), at_once=True
    )


async def open_inner_states(
    settings: InferenceSettings, repository: ModelRepository, entry: ModelEntry, states: Sequence[Tensor]
) -> OnnxBackend:
    """Return a verified model with values from inside its graph as its last outputs; it is loaded by its first use."""
    return await asyncio.to_thread(_open, settings, repository, entry, processors_turns(), states)


def _open(
    settings: InferenceSettings,
    repository: ModelRepository,
    entry: ModelEntry,
    turns: ComputeTurns,
    inner: Sequence[Tensor] = (),
    *,
    at_once: bool = False,
) -> OnnxBackend:
    check_inputs(entry)
    lanes = lanes_of(entry, settings.intra_op_threads) if entry.kind == "embedding" else 1
    policy = _policy(repository.config(entry.name), settings, lanes)

    def load() -> OnnxEncoder:
        repository.verified(entry.name)  # once more: the files may have been changed since they were verified
        encoder = OnnxEncoder(repository, entry, threads=settings.intra_op_threads, inner=inner)
        if entry.own is not None:
            golden = read_golden(repository, entry)
            check_outputs(entry, golden, [encoder.encode([case.token_ids])[0] for case in golden.cases])
        return encoder

    encoder = OnDemandEncoder(entry.name, load)
    if at_once or (settings.load == "start" and not inner):
        encoder.open()
    extended = entry.model_copy(update={"outputs": (*entry.outputs, *inner)})
    return OnnxBackend(extended, encoder, policy, turns)


def _policy(config: ModelConfig, settings: InferenceSettings, lanes: int) -> BatchPolicy:
    sizes = config.preferred_batch_sizes or (max(config.max_batch_size, 1),)
    return BatchPolicy(
        min_size=sizes[0],
        max_size=max(sizes[-1], min(config.max_batch_size, sizes[-1] * lanes)),
        max_delay_s=config.max_queue_delay_us / 1e6,
        queue_items=settings.queue_items,
    )
