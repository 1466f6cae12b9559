"""How far a call is, while it is at work: looked at a few times a second, told when it has changed."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar

from services.common.progress import Progress, current_progress

EVERY_S: Final = 0.5
"""Time between two looks, in seconds."""

ResultT = TypeVar("ResultT")


@asynccontextmanager
async def telling(
    work: Coroutine[Any, Any, ResultT],
) -> AsyncIterator[tuple[AsyncIterator[Progress], "asyncio.Task[ResultT]"]]:
    """Begin the work; give what is told of it until it is done, and the work itself. It ends with the block."""
    task = asyncio.create_task(work)
    try:
        yield _changes(task), task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


async def _changes(task: "asyncio.Task[Any]") -> AsyncIterator[Progress]:
    progress = current_progress()
    told: tuple[str, int, int] | None = None
    while not task.done():
        await asyncio.wait({task}, timeout=EVERY_S)
        if progress is None or task.done():
            continue
        seen = (progress.stage, progress.counted, progress.total)
        if seen != told:
            told = seen
            yield progress
