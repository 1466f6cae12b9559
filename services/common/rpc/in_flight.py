"""Which calls are in flight, so that a drain lets them finish, calls of theirs to this same process included.

gRPC's own stop refuses every new call at once. In the embedded mode a dispatch or an ERCP run calls the other services
over gRPC in its own process: it would lose them in the middle. So a drain first refuses what comes from outside and
waits, up to the grace period, until nothing is in flight; a nested call is let in while its outer one runs.
"""

import asyncio

from services.common.errors import ErrorReason, UnavailableError


class CallsInFlight:
    """Counts calls by request id, which nested calls share with the call that they are part of; on one event loop."""

    def __init__(self, retry_s: float) -> None:
        self._retry_s = retry_s
        self._running: dict[str, int] = {}
        self._idle: asyncio.Event | None = None

    def enter(self, request_id: str, *, nested: bool) -> None:
        """Take a call on.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the process is draining and the call is no part of one in flight.
        """
        running = self._running.get(request_id, 0)
        if self._idle is not None and not (nested and running):
            raise UnavailableError(
                ErrorReason.SERVICE_UNAVAILABLE,
                "this process is stopping and takes no new calls; another one, or the next, will",
                retry_after_s=self._retry_s,
            )
        self._running[request_id] = running + 1

    def leave(self, request_id: str) -> None:
        """Undo ``enter``."""
        running = self._running[request_id] - 1
        if running:
            self._running[request_id] = running
            return
        del self._running[request_id]
        if self._idle is not None and not self._running:
            self._idle.set()

    async def drain(self, grace_s: float) -> None:
        """Take on no new calls from now on, and wait until none is in flight, ``grace_s`` seconds at most."""
        self._idle = asyncio.Event()
        if not self._running:
            return
        try:
            async with asyncio.timeout(grace_s):
                await self._idle.wait()
        except TimeoutError:
            return
