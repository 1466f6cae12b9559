"""One dispatch among several of a call: what it comes to, failures included, so that the others go on (SPEC-004 §16.3).

Each runs in a task of its own, with its own progress: what a failed one left behind is told of it alone.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Final, Protocol, TypeAlias

import structlog

from services.common.concurrency import remaining_s
from services.common.errors import CrpError, DeadlineError, internal_error
from services.common.lateness import late, told_truly
from services.common.progress import open_progress
from services.common.telemetry import open_notes
from services.gateway.dispatch.outlet import Outlet
from services.gateway.domain.command import DispatchCommand, DispatchResult

CameTo: TypeAlias = DispatchResult | CrpError


class Dispatches(Protocol):
    """Dispatches one query, as ``DispatchApp`` does."""

    async def dispatch(self, command: DispatchCommand, outlet: Outlet | None = None) -> DispatchResult:
        """Answer one query."""
        ...


_MOST_KEPT_S: Final = 2.0
_KEPT_SHARE: Final = 0.1


def ends_at() -> float | None:
    """Return the event loop's time by which what a call waits for has to end, so that it can still answer.

    A tenth of its time is kept for that, at most 2 s; ``None`` = it has all the time.
    """
    left = remaining_s()
    if left is None:
        return None
    return asyncio.get_running_loop().time() + left - kept_s(left)


def kept_s(left_s: float) -> float:
    """Return how much of the seconds that are left is kept for the answer."""
    return min(_MOST_KEPT_S, max(0.0, left_s) * _KEPT_SHARE)


async def settled(dispatching: Awaitable[DispatchResult], until: float | None) -> CameTo:
    """Return what a dispatch comes to, or why it comes to nothing; to be run as a task.

    Args:
        dispatching: the dispatch.
        until: the event loop's time at which it is ended; ``None`` = never.

    Raises:
        asyncio.CancelledError: the whole call was given up.
    """
    progress, timer = open_progress(), asyncio.timeout_at(until)
    open_notes()
    try:
        async with timer:
            return await dispatching
    except TimeoutError:
        error: CrpError = late(progress)
        if not timer.expired():
            raise
    except CrpError as failure:
        error = failure
    except Exception:  # noqa: BLE001 - logged; the others go on
        structlog.get_logger("groundtrail").exception("a dispatch among several failed unexpectedly")
        error = internal_error()
    return told_truly(error, progress) if isinstance(error, DeadlineError) else error


async def end(tasks: list["asyncio.Task[CameTo]"]) -> None:
    """Cancel what still runs and wait until its windows are given up."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    for task in running:
        with suppress(asyncio.CancelledError):
            await asyncio.wait({task})
