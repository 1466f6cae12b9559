"""What every encoder says of the backend that computes it: its queue, whether it is loaded, whether it can serve."""

from services.common.adapters.encoders.backend import EncoderBackend
from services.common.queue_counts import QueueCounts


class BackedEncoder:
    """An encoder over a backend of its own or a shared one.

    Args:
        backend: computes.
    """

    def __init__(self, backend: EncoderBackend) -> None:
        self._backend = backend

    @property
    def queue_counts(self) -> QueueCounts:
        """What the queue in front of the model counts."""
        return self._backend.counts

    @property
    def at_rest(self) -> bool:
        """Whether its first use would load it."""
        return self._backend.at_rest

    async def check(self) -> None:
        """Return when the model can serve.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        await self._backend.check()

    async def close(self) -> None:
        """Release the backend; idempotent."""
        await self._backend.close()
