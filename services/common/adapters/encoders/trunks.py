"""One trunk for several models: a backend that is opened once and gives each model the outputs of its own (ADR 0150).

A model that is ``served_by`` another has no graph. What runs the other computes its outputs as well, so that weights
lie in memory once and pairs of both tasks share batches.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from services.common.adapters.encoders.backend import EncoderBackend, Outputs, TokenIds
from services.common.model_repository import ModelEntry
from services.common.queue_counts import QueueCounts


class OutputView:
    """``EncoderBackend`` of a model over the one that serves it: the same batches, the model's own outputs.

    Args:
        backend: runs the trunk; closed with the view.
        entry: the model's own; its outputs stand among the trunk's.
    """

    def __init__(self, backend: EncoderBackend, entry: ModelEntry) -> None:
        self._backend = backend
        self._entry = entry
        names = [tensor.name for tensor in backend.entry.outputs]
        self._places: Final = tuple(names.index(tensor.name) for tensor in entry.outputs)

    @property
    def entry(self) -> ModelEntry:
        """The manifest's entry of the model, not of the trunk."""
        return self._entry

    @property
    def counts(self) -> QueueCounts:
        """What the trunk's queue counts, for all of its models together."""
        return self._backend.counts

    async def run(self, items: Sequence[TokenIds]) -> list[Outputs]:
        """Return the model's outputs of each item, in order.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE.
        """
        return [tuple(outputs[place] for place in self._places) for outputs in await self._backend.run(items)]

    @property
    def at_rest(self) -> bool:
        """Whether the trunk is loaded by its first use and has not been used."""
        return self._backend.at_rest

    async def check(self) -> None:
        """Return when the trunk can serve.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        await self._backend.check()

    async def close(self) -> None:
        """Release the trunk; idempotent."""
        await self._backend.close()


class SharedBackends:
    """Backends that several models of one process use; each is opened by its first user and closed by its last."""

    def __init__(self) -> None:
        self._shared: dict[str, tuple[EncoderBackend, set[object]]] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def lease(self, name: str, open_backend: Callable[[], Awaitable[EncoderBackend]]) -> EncoderBackend:
        """Return the backend of a model, opened now when nobody uses it; closing the lease gives it back."""
        async with self._locks[name]:
            if name not in self._shared:
                self._shared[name] = (await open_backend(), set())
            backend, users = self._shared[name]
            user = object()
            users.add(user)
        return _Lease(backend, lambda: self._release(name, user))

    async def _release(self, name: str, user: object) -> None:
        async with self._locks[name]:
            if name not in self._shared:
                return
            backend, users = self._shared[name]
            users.discard(user)
            if not users:
                del self._shared[name]
                await backend.close()


class _Lease(OutputView):
    """A backend with all of its outputs; closing it closes the backend only when it was the last."""

    def __init__(self, backend: EncoderBackend, release: Callable[[], Awaitable[None]]) -> None:
        super().__init__(backend, backend.entry)
        self._release = release

    async def close(self) -> None:
        """Give it back; idempotent."""
        await self._release()
