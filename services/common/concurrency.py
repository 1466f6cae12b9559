"""What calls on one event loop need of each other: a lock for each thing, the time that is left, work that is finished.

Of one process alone: what keeps two processes apart is each store's own guard.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from services.common.context import current_call, set_current_call
from services.common.progress import writing

ResultT = TypeVar("ResultT")


class _Entry:
    """A lock, and how many have it or wait for it."""

    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0


class KeyedLock:
    """One lock for each key, kept only while somebody has it or waits for it; who comes first has it first.

    Users are counted: a weak mapping keeps the lock of a cancelled waiter, which its own error refers to for ever.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[str, ...], _Entry] = {}

    def __len__(self) -> int:
        """Return how many keys somebody has or waits for."""
        return len(self._entries)

    @asynccontextmanager
    async def lock(self, *key: str) -> AsyncIterator[bool]:
        """Wait until nobody else has the key, and have it until the end of the block.

        Args:
            key: its parts, for example a tenant's id and a session's; another number of parts is another key.

        Yields:
            Whether somebody else had it when this call came.
        """
        entry = self._entries.setdefault(key, _Entry())
        entry.users += 1
        waited = entry.lock.locked()
        try:
            async with entry.lock:
                yield waited
        finally:
            entry.users -= 1
            if not entry.users:
                del self._entries[key]


def remaining_s() -> float | None:
    """Return the seconds until the running call's deadline, below 0 past it; ``None`` without deadline or call."""
    try:
        deadline = current_call().deadline
    except LookupError:
        return None
    return None if deadline is None else deadline - asyncio.get_running_loop().time()


@contextmanager
def deadline_within(seconds: float | None) -> Iterator[None]:
    """Let what runs inside see a deadline of at most ``seconds`` from now, never a later one than the call's own.

    Args:
        seconds: may be negative: then the time is up; ``None`` changes nothing.

    Raises:
        LookupError: there is no running call.
    """
    if seconds is None:
        yield
        return
    call = current_call()
    until = asyncio.get_running_loop().time() + seconds
    deadline = until if call.deadline is None else min(until, call.deadline)
    set_current_call(replace(call, deadline=deadline))
    try:
        yield
    finally:
        set_current_call(call)


async def uninterrupted(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run writes that belong together to their end even when the caller has gone: half of them would have to be undone.

    A cancellation takes effect after ``work``, so that locks around this call are kept until then.
    """
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
