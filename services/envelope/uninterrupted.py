"""Writes that belong together are finished even when the caller has gone: half of them would have to be undone."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from services.common.progress import writing

ResultT = TypeVar("ResultT")


async def uninterrupted(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run ``work`` to its end; a cancellation takes effect after it, so that locks held around this call stay held."""
    task = asyncio.create_task(_noted(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:  # being cancelled twice changes nothing
                continue
        if not task.cancelled():
            task.exception()  # retrieved: the caller is told of the cancellation, not of this
        raise


async def _noted(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    with writing():
        return await work
