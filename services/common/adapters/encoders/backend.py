"""The seam between text and tensors: what ONNX Runtime in the process and Triton both do."""

from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.model_repository import ModelEntry
from services.common.queue_counts import QueueCounts

SLICE_ITEMS: Final = 512
"""A call queues at most this many items at once, so that one caller never fills the queue."""

TokenIds: TypeAlias = tuple[int, ...]
Outputs: TypeAlias = tuple[NDArray[np.float32], ...]
"""One array per output of the manifest, in its order, for one item: the batch dimension is gone, and an output that has
one value per token (dims ``[-1]``) is as long as the item, padding removed."""


class EncoderBackend(Protocol):
    """Runs one model of the repository.

    Batches concurrent calls, and checks that what comes back is finite and of its shape (``outputs.checked``).
    """

    @property
    def entry(self) -> ModelEntry:
        """The manifest's entry of the model that is served."""
        ...

    @property
    def counts(self) -> QueueCounts:
        """What its queue counts by tenant class."""
        ...

    async def run(self, items: Sequence[TokenIds]) -> list[Outputs]:
        """Return the outputs of each item, in order. No item is longer than ``entry.max_tokens``.

        A call of more items than ``SLICE_ITEMS``, or than may wait, is served in slices, one after the other.

        Raises:
            LimitExceededError: QUEUE_FULL; nothing of the slice was queued.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        ...

    @property
    def at_rest(self) -> bool:
        """Whether the model is loaded by its first use and has not been used."""
        ...

    async def check(self) -> None:
        """Return when the model can serve.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        ...

    async def close(self) -> None:
        """Release what it holds; idempotent."""
        ...
