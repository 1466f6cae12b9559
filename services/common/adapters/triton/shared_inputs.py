"""Inputs through POSIX shared memory: one region for each model and process, one place in it for each request.

Only inputs go this way, and outputs come by the wire: after a request was given up, Triton may still read its place,
which then holds another request's ids and harms nobody, since no one reads the answer; outputs that arrive late would
overwrite another request's. Inputs are also the larger part (16 bytes a token, ADR 0033).
"""

import asyncio
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from numpy.typing import NDArray
from tritonclient.grpc import InferInput
from tritonclient.grpc.aio import InferenceServerClient
from tritonclient.utils import InferenceServerException, shared_memory

from services.common.errors import StartupError
from services.common.settings.triton import TritonSettings

ALIGNMENT: Final = 64
ANSWER_S: Final = 5.0
"""Longest wait for Triton's answer to a registration, in seconds."""
READ_S: Final = 60.0
"""How long after a request was given up Triton may still read its inputs, in seconds."""


class SharedInputs:
    """The region of one backend; belongs to one event loop.

    Args:
        model: becomes part of the region's name.
        places: how many requests may be in flight at once.
        place_bytes: the most that the inputs of one request take.

    Raises:
        shared_memory.SharedMemoryException: the region cannot be created.
    """

    def __init__(self, model: str, *, places: int, place_bytes: int) -> None:
        self.name = f"groundtrail-{model}-{os.getpid()}-{secrets.token_hex(4)}"
        self._place_bytes = -(-place_bytes // ALIGNMENT) * ALIGNMENT
        self._bytes = places * self._place_bytes
        self._region: Any = shared_memory.create_shared_memory_region(
            self.name, self.name, self._bytes, create_only=True
        )
        self._registered = False
        self._given_up_at = float("-inf")
        self._lock = asyncio.Lock()

    async def ensure_registered(self, client: InferenceServerClient, timeout_s: float = ANSWER_S) -> None:
        """Make the region known to Triton, unless it is.

        Raises:
            InferenceServerException: Triton is away, or cannot open the region.
        """
        async with self._lock:
            if not self._registered:
                await client.register_system_shared_memory(
                    self.name, f"/{self.name}", self._bytes, client_timeout=min(ANSWER_S, timeout_s)
                )
                self._registered = True

    def forgotten(self, error: InferenceServerException) -> bool:
        """Whether Triton refused a request because it does not know the region: it was started anew meanwhile."""
        if self.name not in (error.message() or ""):
            return False
        self._registered = False
        return True

    def given_up(self) -> None:
        """Note that a request was not answered: Triton may still read its place."""
        self._given_up_at = asyncio.get_running_loop().time()

    def attach(self, place: int, tensors: Sequence[tuple[InferInput, NDArray[Any]]]) -> None:
        """Copy arrays into a place and let the request's inputs point there."""
        offset = place * self._place_bytes
        for tensor, array in tensors:
            shared_memory.set_shared_memory_region(self._region, [array], offset=offset)
            tensor.set_shared_memory(self.name, array.nbytes, offset=offset)
            offset += array.nbytes

    async def close(self, client: InferenceServerClient) -> None:
        """Unregister and unlink the region; idempotent, also when Triton is away.

        Shortly after a request was given up the region is unlinked alone: Triton 2.51 unmaps a region that it
        unregisters even while it reads it. It then keeps the mapping until it ends, and nobody the name.
        """
        region, self._region = self._region, None
        if region is None:
            return
        quiet = asyncio.get_running_loop().time() - self._given_up_at > READ_S
        try:
            if self._registered and quiet:
                with suppress(InferenceServerException):
                    await client.unregister_system_shared_memory(self.name, client_timeout=ANSWER_S)
        finally:
            shared_memory.destroy_shared_memory_region(region)


async def open_shared_inputs(
    client: InferenceServerClient, model: str, *, settings: TritonSettings, place_bytes: int
) -> SharedInputs:
    """Create a region with a place for each request in flight and register it with Triton.

    Raises:
        StartupError: it cannot be created here, or Triton cannot open it.
    """
    try:
        shared = SharedInputs(model, places=settings.requests_in_flight, place_bytes=place_bytes)
    except shared_memory.SharedMemoryException as error:
        raise StartupError(f"GROUNDTRAIL_INFERENCE__TRITON__SHARED_MEMORY: {error}: {error.__cause__}") from error
    try:
        await shared.ensure_registered(client)
    except InferenceServerException as error:
        await shared.close(client)
        raise StartupError(
            f"GROUNDTRAIL_INFERENCE__TRITON__SHARED_MEMORY is set, and Triton at {settings.target} cannot use this "
            f"process's shared memory ({error.message()}); it works on one machine and in one IPC namespace only."
        ) from error
    except BaseException:
        await shared.close(client)
        raise
    return shared
