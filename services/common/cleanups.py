"""Work that must go on after the call that asked for it was cancelled or ran out of time."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import structlog

from services.common.context import CallContext, current_call, set_current_call
from services.common.errors import CrpError, ErrorReason


class Cleanups:
    """Runs cleanups in tasks of their own, each with time of its own.

    Args:
        seconds: longest time of one cleanup.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running: set[asyncio.Task[None]] = set()
        self._log = structlog.get_logger("groundtrail")

    async def run(self, cleanup: Coroutine[Any, Any, None]) -> None:
        """Run ``cleanup`` with the running call's identity; it goes on when the waiting call is cancelled once more."""
        task = asyncio.create_task(self._bounded(cleanup, current_call()), name="give-up-window")
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        await asyncio.wait({task})

    async def close(self) -> None:
        """Wait for what is running."""
        if self._running:
            await asyncio.wait(self._running)

    async def _bounded(self, cleanup: Coroutine[Any, Any, None], call: CallContext) -> None:
        set_current_call(replace(call, deadline=asyncio.get_running_loop().time() + self._seconds))
        try:
            async with asyncio.timeout(self._seconds):
                await cleanup
        except (CrpError, TimeoutError) as error:
            # A window that is no longer pending was committed or given up already: nothing is left to do.
            if reason_of(error) != ErrorReason.WINDOW_NOT_PENDING:
                self._log.warning("window not given up", request_id=call.request_id, reason=reason_of(error))


def reason_of(error: BaseException) -> str:
    """Return the error's stable reason, or its type's name: never its text."""
    return error.reason.value if isinstance(error, CrpError) else type(error).__name__
